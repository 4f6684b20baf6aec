"""Delimited text: header, schema from some rows, and rows parsed natively."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.params import Advice, ParamError
from ...core.words import counted
from ..bad_data import INFINITE, MISSING_VALUE, NO_INFINITY, NOT_A_NUMBER, BadData, shortened
from ..cells import STYLES, Array, as_numbers
from ..dialect import (
    BINARIES,
    DELIMITERS,
    LOOKED_AT,
    Shape,
    decode,
    find_delimiter,
    narrow_encoding,
    preamble,
    shape_of,
)
from ..files import SIZE, Bytes, File, Piece, sample_texts
from ..infer import MixedColumn, Sample, has_decimal_comma
from ..prefetch import parallel_map
from ..schema import column_names
from ..table import FILL, TableReader
from ..together import Words
from .base import SCHEMA, Batch, Format
from .text import PADDING, Chunk, Files, Text, bad_text


class Dialect(NamedTuple):
    """Format of a text file."""

    delimiter: str
    encoding: str
    names: list[str]  # of its columns
    preamble: int = 0  # bytes before the header, or before the rows where there is none

    @property
    def separator(self) -> int:
        return ord(self.delimiter)


@dataclass
class Csv(TableReader, Files):
    """Rows of cells, quoted as in RFC 4180."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._delimiter = ""  # as found
        given = self.options.delimiter
        if given is not None and (len(given.encode()) != 1 or given in '"\r\n.+-0123456789eE'):
            raise ParamError(
                "delimiter", given, "expected one character that is not part of a number or a quote."
            )

    def read_file(self, file: File, at: dict[str, Any]) -> Iterator[Batch]:
        source = Bytes(file)
        try:
            dialect = self._dialect(source)
            self._settle_columns(source, dialect)
            self._delimiter = dialect.delimiter
        except BaseException:
            source.close()
            raise
        parse = partial(self._parse, file, dialect)
        for chunk, parsed in parallel_map(parse, self._body(source, dialect, at), self.options.threads):
            yield self._batch(chunk, parsed, file, dialect)

    def state(self) -> dict[str, Any]:
        state = super().state()
        return state and {**state, "delimiter": self._delimiter}

    # ---------------------------------------------------------------- how it is written

    def _dialect(self, source: Bytes) -> Dialect:
        """Delimiter, encoding and names, from the start of a file; BadData if it has no header."""
        options = self.options
        raw = source.head(LOOKED_AT)
        ended = len(raw) < LOOKED_AT
        raw = raw.removeprefix(b"\xef\xbb\xbf")
        if not raw.strip():
            raise BadData("the file is empty; expected a header and rows", source.file.name)
        binary = next((what for start, what in BINARIES.items() if raw.startswith(start)), None)
        if binary is not None:
            raise BadData(f"expected text, found {binary}", source.file.name)
        encoding = source.encoding or narrow_encoding(raw, ended)
        single = "utf-8" if source.encoding else encoding
        text = decode(raw, single)
        default = "\t" if options.format == "tsv" else ","
        before, given = preamble(text)
        skipped = len(text[:before].encode("utf-8" if single == "utf-8" else "cp1252", "replace"))
        text = text[before:]
        delimiter = options.delimiter or given or find_delimiter(text, default, ended)
        shape = shape_of(text, delimiter, ended)
        if not options.header:
            width = shape.width or len(shape.header)
            return Dialect(delimiter, encoding, [str(c) for c in range(width)], skipped)
        header = self._whole_header(source, shape, encoding, skipped) if not ended else shape.header
        if not header:
            raise BadData("the header cannot be read", source.file.name, 1)
        if shape.share >= 0.9 and shape.width == len(header) + 1:
            # R leaves out the name of its row names; others end each row with a delimiter
            header = [*header, ""] if shape.tail_empty else ["", *header]
        elif shape.share >= 0.9 and shape.width == len(header) - 1 and not header[-1].strip():
            header = header[:-1]
        return Dialect(delimiter, encoding, column_names(header), skipped)

    def _whole_header(self, source: Bytes, shape: Shape, encoding: str, skipped: int) -> list[str]:
        """The header, which may be longer than the inspected text."""
        size = LOOKED_AT
        while size < 1 << 26:
            raw = source.head(size)
            text = _padded(raw.removeprefix(b"\xef\xbb\xbf")[skipped:])
            n = len(text) - PADDING
            end = _core.csv_whole_rows(text, n, ord(shape.delimiter), True)
            if end or len(raw) < size:
                line = decode(text[: end or n].tobytes(), "utf-8" if source.encoding else encoding)
                try:
                    csv.field_size_limit(max(csv.field_size_limit(), size))
                    rows = csv.reader(io.StringIO(line, newline=""), delimiter=shape.delimiter)
                    return next((row for row in rows if row), [])
                except csv.Error as error:
                    raise BadData(f"the header cannot be read: {error}", source.file.name, 1) from None
            size *= 4
        return shape.header

    def _settle_columns(self, source: Bytes, dialect: Dialect) -> None:
        """Infer the schema from the first file; the columns of other files must agree with it."""
        file = source.file
        if self.table is None:
            try:
                self.table_of(dialect.names, lambda: self._sample(source, dialect), file.name)
            except MixedColumn as error:
                raise self._mixed(error, source, dialect) from None
            if self.options.schema is not None:
                self._find_styles(source, dialect)
        elif dialect.names != self.table.columns:
            pairs = zip(dialect.names, self.table.columns)
            odd = next((a for a, b in pairs if a != b), f"{len(dialect.names)} columns")
            raise BadData(
                f"the columns are not those of {self.table.file}, first at {shortened(odd)!r}", file.name, 1
            )

    def _find_styles(self, source: Bytes, dialect: Dialect) -> None:
        """Number format of this file, which may differ from that of the file of the schema."""
        table = self.table
        assert table is not None
        text = decode(source.head(LOOKED_AT), "utf-8" if source.encoding else dialect.encoding)
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter)
        with suppress(csv.Error):
            cells = [row for row in itertools.islice(rows, 1, 200) if len(row) == len(dialect.names)]
            for c in (*table.numbers, *table.others):
                known = table.style(c)
                order = (known, *(style for style in STYLES if style != known))
                found = {style: as_numbers([row[c] for row in cells], style).word.sum() for style in order}
                table.styles[c] = STYLES.index(min(order, key=lambda style: found[style]))

    # ---------------------------------------------------------------- the sample

    def _sample(self, source: Bytes, dialect: Dialect) -> Sample:
        pieces, coverage = sample_texts(source, self.files)
        texts = [self._rows_of(piece, dialect) for piece in pieces]
        names = dialect.names
        counts = np.zeros((len(names), 3), dtype=np.int64)
        for text, n in texts:
            some = np.zeros_like(counts)
            _core.csv_texts(text, n, dialect.separator, n, some)
            counts[:, :2] += some[:, :2]
        is_text = (counts[:, 1] > 0) | np.isin(names, self.options.categorical)
        columns = self._columns(texts, dialect, is_text)
        if has_decimal_comma(columns):  # with decimal commas 1.234 means 1234: check the format
            numbers = [values for values in columns if isinstance(values, np.ndarray)]
            is_text[~is_text] = [bool((np.floor(x) != x)[~np.isnan(x)].any()) for x in numbers]
            columns = self._columns(texts, dialect, is_text)
        rows = len(columns[0].codes if isinstance(columns[0], Words) else columns[0]) if columns else 0  # type: ignore[arg-type]
        found: dict[str, str] = {}
        if self.options.delimiter is None and dialect.delimiter != ("\t" if self._tabs else ","):
            found["delimiter"] = DELIMITERS.get(dialect.delimiter, dialect.delimiter)
        if dialect.encoding != "utf-8":
            found["encoding"] = dialect.encoding
        return Sample(names, columns, rows, coverage, found)

    def _columns(
        self, texts: list[tuple[Text, int]], dialect: Dialect, is_text: NDArray[np.bool_]
    ) -> list[Array | Words | None]:
        parts = [self._cells(text, n, dialect, is_text) for text, n in texts]
        columns: list[Array | Words | None] = []
        for c in range(len(is_text)):
            each = [part[c] for part in parts]
            columns.append(_joined(each) if is_text[c] else np.concatenate(each))  # type: ignore[arg-type]
        return columns

    @property
    def _tabs(self) -> bool:
        return self.options.format == "tsv"

    def _rows_of(self, piece: Piece, dialect: Dialect) -> tuple[Text, int]:
        """The complete rows of a piece of text, without the header."""
        raw = piece.text.removeprefix(b"\xef\xbb\xbf") if piece.start else piece.text
        text = _padded(raw)
        n = len(text) - PADDING
        if not piece.end:
            n = _core.csv_whole_rows(text, n, dialect.separator) or n
        start = self._header_end(text, n, dialect) if piece.start else 0
        return text[start:], n - start

    def _header_end(self, text: Text, n: int, dialect: Dialect) -> int:
        """The start of the first row after the header; empty lines are skipped."""
        start = min(dialect.preamble, n)
        if not self.options.header:
            return start
        while start < n and text[start] in b"\r\n":
            start += 1
        end: int = _core.csv_whole_rows(text[start:], n - start, dialect.separator, True)
        return start + end if end else n

    def _cells(self, text: Text, n: int, dialect: Dialect, is_text: NDArray[np.bool_]) -> list[Array | Words]:
        """The numbers, or words, of each column; rows that cannot be read are left out."""
        p = len(is_text)
        room = min(int(_core.lines(text, n)), n // max(p, 1) + 1)
        numbers, words = np.flatnonzero(~is_text), np.flatnonzero(is_text)
        X, codes = np.empty((room, len(numbers))), np.empty((room, len(words)), dtype=np.int32)
        roles = np.empty(p, dtype=np.int32)
        roles[numbers], roles[words] = np.arange(len(numbers)), ~np.arange(len(words), dtype=np.int32)
        rows, _, _, _, _, _, met = _core.csv(
            text, n, dialect.separator, roles, np.full(p, FILL, dtype=np.uint8), np.zeros(p, dtype=np.uint8),
            np.full(p, np.nan), -1, True, X, np.empty((room, 0)), codes, np.zeros((p, 2), dtype=np.int64),
        )  # fmt: skip
        out: list[Array | Words] = [np.ascontiguousarray(X[:rows, j]) for j in range(len(numbers))]
        by_place = dict(zip(numbers.tolist(), out))
        for k, c in enumerate(words.tolist()):
            values = [_decoded(text[a:b].tobytes(), dialect.encoding) for a, b in met[k]]
            by_place[c] = Words(values, np.ascontiguousarray(codes[:rows, k]))
        return [by_place[c] for c in range(p)]

    def _mixed(self, error: MixedColumn, source: Bytes, dialect: Dialect) -> BadData:
        """The error for too many words among the numbers of a column, which names the first of them."""
        line = None
        text = decode(source.head(SIZE), "utf-8" if source.encoding else dialect.encoding)
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter)
        with suppress(csv.Error):  # a cell of more than 131,072 letters comes before it
            for row in rows:
                if len(row) > error.column and row[error.column].strip(" \t") == error.word:
                    line = rows.line_num
                    break
        return error.bad_data(dialect.names, source.file.name, line)

    # ---------------------------------------------------------------- rows

    def _body(self, source: Bytes, dialect: Dialect, at: dict[str, Any]) -> Generator[Chunk]:
        """Chunks without the header."""
        separator = dialect.separator
        for chunk in self.chunks(source, at, lambda text, n: _core.csv_whole_rows(text, n, separator)):
            if "offset" not in at and chunk.line == 1 and chunk.n:
                end = self._header_end(chunk.text, chunk.n, dialect)
                lines = _core.lines(chunk.text, end)
                chunk = Chunk(
                    chunk.text[end:], chunk.n - end, chunk.offset + end, chunk.line + lines,
                    chunk.lines - lines, *chunk[5:],
                )  # fmt: skip
            if chunk.n or chunk.bad:
                yield chunk

    def _parse(self, file: File, dialect: Dialect, chunk: Chunk) -> tuple[Chunk, Parsed]:
        """The part of parsing that does not depend on previous chunks."""
        table, options = self.table, self.options
        assert table is not None  # the header came first
        # An empty row has at least one byte for each column; one more byte is for a bad row.
        room = min(chunk.lines, chunk.n // max(len(table.columns), 1) + 1)
        X, others = np.empty((room, len(table.numbers))), np.empty((room, len(table.others)))
        codes = np.empty((room, len(table.coded)), dtype=np.int32)
        weight = -1 if table.weight is None else int(table.roles[table.weight])
        odd = np.zeros((len(table.columns), 2), dtype=np.int64)
        rows, bad, unlabelled, fault, where, column, met = _core.csv(
            chunk.text, chunk.n, dialect.separator, table.roles, table.gaps, table.styles, table.fills,
            weight, options.skip_bad, X, others, codes, odd,
        )  # fmt: skip
        error = None
        if fault:
            words = {"columns": len(table.columns), "as_before": ""}
            advice = None
            if fault == NOT_A_NUMBER and column in table.numbers:
                words["as_before"] = ", as in the rows before"
                advice = Advice("pass {} for a column of words", "categorical")
            elif fault == INFINITE:
                advice = NO_INFINITY
            elif fault == MISSING_VALUE and column in (table.target, table.weight, table.cluster):
                advice = Advice("every row needs one: correct it, or pass {}", ("on_bad_row", "skip"))
            error = self._error(file, dialect, chunk, fault, where, column, advice, **words)
        values = [
            [_decoded(chunk.text[begin:end].tobytes(), dialect.encoding) for begin, end in places]
            for places in met
        ]
        return chunk, Parsed((X[:rows], others[:rows], codes[:rows], values), bad, unlabelled, odd, error)

    def _error(
        self, file: File, dialect: Dialect, chunk: Chunk, fault: int, where: int, column: int,
        advice: Advice | None, **words: Any,
    ) -> BadData:  # fmt: skip
        assert self.table is not None
        ends = (dialect.delimiter + "\r\n").encode()
        name = self.table.columns[column]
        return bad_text(file, chunk, fault, where, column=name, ends=ends, advice=advice, **words)

    def _batch(self, chunk: Chunk, parsed: Parsed, file: File, dialect: Dialect) -> Batch:
        assert self.table is not None
        error = parsed.error
        column = self.too_many_odd(parsed.odd[:, 0], len(parsed.numbers[0]))
        if column is not None and error is None:
            many = int(self.odd[column])
            error = self._error(
                file, dialect, chunk, NOT_A_NUMBER, int(parsed.odd[column, 1]), column,
                Advice("pass {} for words, {} to read words as missing", "categorical", "numeric"),
                as_before=f"; {counted(many, 'word')} so far in this column of numbers",
            )  # fmt: skip
        examples = self.table.examples(*parsed.numbers)
        return Batch(chunk.place, examples, parsed.bad + chunk.bad, chunk.read, error, parsed.unlabelled)


class Parsed(NamedTuple):
    numbers: tuple[Any, ...]  # of `Table.examples`
    bad: int
    unlabelled: int
    odd: NDArray[np.int64]  # words among numbers: how many in each column, and where the first is
    error: BadData | None


def _joined(parts: list[Words]) -> Words:
    """Words of consecutive rows."""
    if len(parts) == 1:
        return parts[0]
    places: dict[str, int] = {}
    codes = []
    for part in parts:
        at = [places.setdefault(value, len(places)) for value in part.values]
        codes.append(np.array([*at, -1], dtype=np.int32)[part.codes])
    return Words(list(places), np.concatenate(codes))


def _padded(raw: bytes) -> Text:
    """Text that ends with a newline, with the padding that the parser needs."""
    end = b"" if raw.endswith(b"\n") else b"\n"
    return np.frombuffer(raw + end + b"\n" * PADDING, dtype=np.uint8)


def _decoded(raw: bytes, encoding: str) -> str:
    if raw.startswith(b'"'):  # quotes inside are doubled
        raw = raw[1:-1].replace(b'""', b'"')
    return decode(raw, "utf-8" if encoding.startswith("utf") else encoding)


_OPTIONS = (*SCHEMA, "delimiter", "header")
FORMATS = [Format("csv", Csv, _OPTIONS, ("csv",)), Format("tsv", Csv, _OPTIONS, ("tsv", "tab"))]
