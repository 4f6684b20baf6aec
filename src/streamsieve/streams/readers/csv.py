"""Delimited text: header, which columns hold text, and rows parsed natively."""

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ... import _core
from ..bad_data import BadData
from ..files import File
from ..prefetch import parallel_map
from ..table import Table, TableReader
from .base import TABLE, Batch, Format
from .text import MISSING, Chunk, Files, bad_text

SAMPLE = 1000  # rows that tell which columns hold text


@dataclass
class Csv(TableReader, Files):
    """Rows of cells, quoted as RFC 4180 has it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.delimiter = self.options.delimiter or ("\t" if self.options.format == "tsv" else ",")
        if len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n.+-0123456789eE':
            raise ValueError(
                f"delimiter={self.delimiter!r}; pass one character that is no part of a number or quote."
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
        cells = next(csv.reader(io.StringIO(first, newline=""), delimiter=self.delimiter), [])
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
                    f"the columns are not those of {self.table.file}, first at {odd!r}", file.name, 1
                )
            return chunk
        texts = np.zeros(len(names), dtype=np.uint8)
        _core.csv_texts(chunk.text, chunk.n, separator, SAMPLE, texts)
        unknown = set(self.options.categorical) - set(names)
        if unknown:
            raise BadData(f"there is no column {min(unknown)!r} to take as categorical", file.name, 1)
        texts[[names.index(name) for name in self.options.categorical]] = 1
        self._settle(Table(names, np.flatnonzero(texts).tolist(), self.options, file.name))
        return chunk

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
            hint = ", as in the rows before; pass categorical= for a column of words"
            hint = hint if column in table.numbers else ""
            words = {"columns": len(table.columns), "hint": hint}
            if column in (table.target, table.weight):
                words["missing"] = "no row goes without; mend it, or pass on_bad_row='skip'"
            error = bad_text(file, chunk, fault, where, column=table.columns[column], ends=ends, **words)
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
