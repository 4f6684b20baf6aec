"""Format of a text file: its encoding, delimiter and header."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from typing import NamedTuple

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
LOOKED_AT = 1 << 16  # bytes from which the delimiter is detected
ROWS = 100  # rows, at most

#: Files that are not text, by their first bytes: what they are, and what to do.
BINARIES = {
    b"PK\x03\x04": "a zip archive of several files, or a workbook of a spreadsheet; unpack it, or save its "
    "sheet as CSV",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel; save its sheet as CSV",
    b"[{": "a JSON array; write one object per line, as pandas does by to_json(lines=True, orient='records')",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF",
    b"SQLite format 3\0": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
}

_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def wide_encoding(start: bytes) -> str | None:
    """The encoding of text with two bytes per character, from its first bytes; None for others."""
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    some = start[:64]
    if len(some) < 4 or b"\0" not in some:
        return None
    even, odd = some[0::2], some[1::2]
    if odd.count(0) == len(odd) and 0 not in even:
        return "utf-16-le"
    if even.count(0) == len(even) and 0 not in odd:
        return "utf-16-be"
    return None


def narrow_encoding(text: bytes, ended: bool) -> str:
    """UTF-8, or Windows' superset of latin-1 for other input."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(text, final=ended)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def preamble(text: str) -> tuple[int, str | None]:
    """Number of characters before the header, and the delimiter of Excel's line `sep=;`.

    Lines that begin with # are comments. If the last of them has as many cells as the next line, it is the
    header, as in tables of genes.
    """
    at, comment, delimiter = 0, None, None
    for line in text.splitlines(keepends=True):
        inside, named = line.strip(), line.strip("\r\n")
        if at == 0 and named[:4].lower() == "sep=" and len(named) == 5:
            delimiter = named[4]
        elif inside.startswith("#"):
            comment = at, line
        elif named:
            if comment is not None and _cells(comment[1]) == _cells(line):
                return comment[0], delimiter
            return at, delimiter
        at += len(line)
    return 0, delimiter


def _cells(line: str) -> int:
    return max(line.count(delimiter) for delimiter in DELIMITERS if delimiter != " ")


def decode(raw: bytes, encoding: str) -> str:
    """A cell or header as text; bytes that are not UTF-8 are read as Windows' superset of latin-1."""
    if encoding == "utf-8":
        try:
            return raw.decode()
        except UnicodeDecodeError:
            pass
    return raw.decode("cp1252", "backslashreplace")


class Recoded(io.RawIOBase):
    """UTF-16 as UTF-8."""

    def __init__(self, raw: io.RawIOBase, encoding: str) -> None:
        self._raw, self._decoder = raw, codecs.getincrementaldecoder(encoding)("backslashreplace")
        self._rest, self._first = b"", True

    def readable(self) -> bool:
        return True

    def readinto(self, view: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            raw = self._raw.read(1 << 20)
            text = self._decoder.decode(raw or b"", final=not raw)
            if self._first and text:
                text, self._first = text.removeprefix("\ufeff"), False
            self._rest = text.encode("utf-8", "backslashreplace")
            if not raw:
                break
        n = min(len(view), len(self._rest))
        view[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


class Shape(NamedTuple):
    """The cells of the first rows of a text, by a delimiter."""

    delimiter: str
    header: list[str]
    width: int  # cells of most rows after the first
    share: float  # of the rows that have so many
    tail_empty: bool  # whether the last cells of these are


def shape_of(text: str, delimiter: str, ended: bool) -> Shape:
    """The header and the number of cells of the rows after it; the last row may be cut off unless `ended`."""
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) > ROWS:
                break
    except csv.Error:  # a cell of more than 131,072 letters, or a NUL byte
        pass
    if not ended and len(rows) > 2 and len(rows) <= ROWS:
        rows.pop()
    if not rows:
        return Shape(delimiter, [], 0, 0.0, False)
    widths = Counter(map(len, rows[1:])) or Counter([len(rows[0])])
    width, count = widths.most_common(1)[0]
    empty = all(not row[-1].strip() for row in rows[1:] if len(row) == width)
    return Shape(delimiter, rows[0], width, count / max(1, len(rows) - 1), empty)


def find_delimiter(text: str, default: str, ended: bool) -> str:
    """What separates the cells: the default, unless another one gives more cells, the same in all rows."""
    best = shape_of(text, default, ended)
    for delimiter in DELIMITERS:
        if delimiter == default:
            continue
        other = shape_of(text, delimiter, ended)
        fits = other.width > 1 and other.share >= 0.9 and len(other.header) in (other.width, other.width - 1)
        if not fits:
            continue
        poor = best.width < 2 or best.share < 0.9 or len(best.header) not in (best.width, best.width - 1)
        if delimiter == " " and not (best.width < 2 and other.share == 1):  # words of a text are not cells
            continue
        # 1;1,68 is two cells by either mark, but only by one of them the header x;y has as many
        wider = (other.width, len(other.header)) > (best.width, len(best.header))
        if poor or (wider and other.share >= best.share):
            best = other
    return best.delimiter
