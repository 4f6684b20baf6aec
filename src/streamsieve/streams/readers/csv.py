"""Delimited text: header, which columns hold text, and rows parsed natively."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...params import Advice, ParamError
from ..bad_data import MISSING_VALUE, NOT_A_NUMBER, BadData, shortened
from ..files import File
from ..prefetch import parallel_map
from ..table import Table, TableReader
from .base import TABLE, Batch, Format
from .text import MISSING, Chunk, Files, bad_text

SAMPLE = 1000  # rows that tell which columns hold text
DECIMAL_COMMA = re.compile(rb'[+-]?\d+,\d+(?=[";\t\r\n| ])')
DIRTY = 9  # numbers for each text from which on a text is taken for a number that is misspelt


@dataclass
class Csv(TableReader, Files):
    """Rows of cells, quoted as RFC 4180 has it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        default = "\t" if self.options.format == "tsv" else ","
        self.delimiter = default if self.options.delimiter is None else self.options.delimiter
        if len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n.+-0123456789eE':
            raise ParamError(
                "delimiter", self.delimiter, "expected one character that is no part of a number or quote."
            )

    def read_file(self, file: File, at: dict[str, Any]) -> Iterator[Batch]:
        parse = partial(self._parse, file)
        for chunk, parsed in parallel_map(parse, self._body(file, at), self.options.threads):
            yield self._batch(chunk, *parsed)

    def _body(self, file: File, at: dict[str, Any]) -> Generator[Chunk]:
        """Chunks without the header."""
        separator, empty = ord(self.delimiter), True
        for chunk in self.chunks(file, at, lambda text, n: _core.csv_whole_rows(text, n, separator)):
            empty = False
            if "offset" not in at and chunk.line == 1 and chunk.n:
                chunk = self._header(file, chunk)
            if chunk.n or chunk.bad:
                yield chunk
        if empty and not at:
            raise BadData("the file is empty; expected a header and rows", file.name)

    def _header(self, file: File, chunk: Chunk) -> Chunk:
        """The chunk without the header, which settles the columns or must agree with the first file's."""
        separator = ord(self.delimiter)
        end = _core.csv_whole_rows(chunk.text, chunk.n, separator, True)
        first = chunk.text[:end].tobytes().decode("utf-8", "backslashreplace")
        try:
            cells = next(csv.reader(io.StringIO(first, newline=""), delimiter=self.delimiter), [])
        except csv.Error as error:
            raise BadData(f"the header cannot be read: {error}", file.name, 1) from None
        if self.options.header:
            names = [cell.strip() for cell in cells]
            lines = _core.lines(chunk.text, end)
            chunk = Chunk(
                chunk.text[end:], chunk.n - end, chunk.offset + end, chunk.line + lines, chunk.lines - lines,
                *chunk[5:],
            )  # fmt: skip
            if not all(names):
                raise BadData(f"cell {names.index('') + 1} of the header is empty", file.name, 1)
        else:
            names = [str(c) for c in range(len(cells))]
        if self.table is not None:
            if names != self.table.columns:
                odd = next((a for a, b in zip(names, self.table.columns) if a != b), f"{len(names)} columns")
                raise BadData(
                    f"the columns are not those of {self.table.file}, first at {shortened(odd)!r}",
                    file.name,
                    1,
                )
            return chunk
        unknown = set(self.options.categorical) - set(names)
        if unknown:
            raise BadData(f"there is no column {min(unknown)!r} to take as categorical", file.name, 1)
        counts = np.zeros((len(names), 3), dtype=np.int64)
        _core.csv_texts(chunk.text, chunk.n, separator, SAMPLE, counts)
        self._settle(self._table(file, chunk, names, counts))
        return chunk

    def _table(self, file: File, chunk: Chunk, names: list[str], counts: NDArray[np.int64]) -> Table:
        """The table of columns that hold text or numbers; BadData for numbers with a few texts among them."""
        numbers, texts, first = counts.T
        named = np.isin(names, self.options.categorical)
        dirty = (texts > 0) & (numbers >= DIRTY * texts) & ~named
        is_text = (texts > 0) | named
        if self.options.skip_bad:
            is_text &= ~dirty  # rows with these cells are skipped
        table = Table(names, np.flatnonzero(is_text).tolist(), self.options, file.name)
        for c in np.flatnonzero(is_text & (texts > 0) & ~named):
            comma = DECIMAL_COMMA.match(chunk.text[first[c] : first[c] + 40].tobytes())
            if c not in table.text_columns or not (dirty[c] or comma):
                continue
            if dirty[c]:
                seen = f", as {numbers[c]:,} of the first {numbers[c] + texts[c]:,} cells of its column are"
                fix = "correct it, pass {} for a column of words, or {}"
                advice = Advice(fix, "categorical", ("on_bad_row", "skip"))
            else:
                seen = ": it has a decimal comma"
                advice = Advice("write numbers with a point, or pass {} for a column of words", "categorical")
            quoted = first[c] > 0 and chunk.text[first[c] - 1] == ord('"')
            raise bad_text(
                file,
                chunk,
                NOT_A_NUMBER,
                int(first[c]),
                column=names[c],
                ends=b'"' if quoted else (self.delimiter + "\r\n").encode(),
                as_before=seen,
                advice=advice,
            )
        return table

    def _parse(self, file: File, chunk: Chunk) -> tuple[Chunk, Parsed]:
        """What does not depend on the chunks before."""
        table, options = self.table, self.options
        assert table is not None  # the header came first
        # A row takes a byte for each column, if they are all empty; one more is room for a row that is bad.
        room = min(chunk.lines, chunk.n // max(len(table.columns), 1) + 1)
        X, others = np.empty((room, len(table.numbers))), np.empty((room, len(table.others)))
        codes = np.empty((room, len(table.coded)), dtype=np.int32)
        weight = -1 if table.weight is None else int(table.roles[table.weight])
        rows, bad, fault, where, column, met = _core.csv(
            chunk.text, chunk.n, ord(self.delimiter), table.roles, table.missing(MISSING[options.missing]),
            weight, options.skip_bad, X, others, codes,
        )  # fmt: skip
        error = None
        if fault:
            ends = (self.delimiter + "\r\n").encode()
            number, words = column in table.numbers, {"columns": len(table.columns), "as_before": ""}
            advice = None
            if fault == NOT_A_NUMBER and number:
                words["as_before"] = ", as in the rows before"
                advice = Advice("pass {} for a column of words", "categorical")
            elif fault == MISSING_VALUE and column in (table.target, table.weight, table.cluster):
                advice = Advice("every row needs one: correct it, or pass {}", ("on_bad_row", "skip"))
            name = table.columns[column]
            error = bad_text(file, chunk, fault, where, column=name, ends=ends, advice=advice, **words)
        values = [[_decoded(chunk.text[begin:end].tobytes()) for begin, end in places] for places in met]
        return chunk, Parsed((X[:rows], others[:rows], codes[:rows], values), bad, error)

    def _batch(self, chunk: Chunk, numbers: tuple[Any, ...], bad: int, error: BadData | None) -> Batch:
        assert self.table is not None
        place = {"offset": chunk.offset, "line": chunk.line, "met": len(self.table.met)}
        return Batch(place, self.table.examples(*numbers), bad + chunk.bad, chunk.read, error)


class Parsed(NamedTuple):
    numbers: tuple[Any, ...]  # of `Table.examples`
    bad: int
    error: BadData | None


def _decoded(raw: bytes) -> str:
    if raw.startswith(b'"'):  # quotes inside are doubled
        raw = raw[1:-1].replace(b'""', b'"')
    return raw.decode("utf-8", "backslashreplace")


_OPTIONS = (*TABLE, "categorical", "delimiter", "header")
FORMATS = [Format("csv", Csv, _OPTIONS, ("csv",)), Format("tsv", Csv, _OPTIONS, ("tsv", "tab"))]
