"""`plan`: cuts a source into units, which workers read independently; the cuts are deterministic."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..core.params import ParamError, size_of
from ..sources import BadData, Stream, read
from ..sources.files import Bytes, File, find, for_arrow, open_bytes
from ..sources.inputs import FORMATS
from ..sources.readers.text import PADDING, chunks

_WINDOW = 1 << 18  # bytes in which the end of a row is looked for, and rows after it
_LARGEST_WINDOW = 1 << 26
_ROWS = 20  # of CSV that must have the cells of the header after a cut
_COUNTED = 1 << 32  # bytes in which lines are counted to name the line of an error

#: Options of `read` that depend on the number of a row in the source, which a unit does not know.
WHOLE_SOURCE = {
    "passes": 1, "shuffle_buffer": 0, "random_state": 0, "skip": 0, "limit": None, "hold_out": 0,
    "held": False,
}  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Shared by all units of a plan: how to read them.

    Attributes
    ----------
    options : dict
        Options of `read`.
    format : str
    table : dict
        Columns of a table, their schema and, for CSV, the delimiter; {} for other formats.
    marks : dict
        Size and digest of each file, to check that a worker reads the same file.
    """

    options: dict[str, Any]
    format: str
    table: dict[str, Any]
    marks: dict[str, Any]


@dataclass(frozen=True)
class Unit:
    """A part of a source: some bytes at line ends, some row groups, or whole files.

    Attributes
    ----------
    number : int
        Its number in the source, from 0.
    files : tuple of str
        One file, unless the format consists of several files.
    start, stop : int
        Bytes, or row groups, from `start` up to `stop`; None for the end of the file.
    rows_before : int
        Number of rows of the file before it, if the format provides it.
    layout : Layout
    row : int or None
        Number of rows of all files before it; None if the format does not provide it.
    """

    number: int
    files: tuple[str, ...]
    start: int
    stop: int | None
    rows_before: int
    layout: Layout
    row: int | None = None

    def __str__(self) -> str:
        name = ", ".join(self.files)
        if self.start == 0 and self.stop is None:
            return f"unit {self.number} ({name})"
        what = "row groups" if self.layout.format == "parquet" else "bytes"
        end = "the end" if self.stop is None else f"{self.stop:,}"
        return f"unit {self.number} ({what} {self.start:,} to {end} of {name})"

    def open(self, **options: Any) -> Stream:
        """The stream of its rows; ValueError if a file has changed since the plan was made."""
        stream = read(list(self.files), **{**self.layout.options, "format": self.layout.format, **options})
        for file, now in zip(self.files, _marks(stream)):
            if now != self.layout.marks[file]:
                raise ValueError(f"{file} is not the file that the plan was made of; plan again.")
        stream.restrict(self.place(), self.stop, self.layout.table)
        return stream

    def place(self) -> dict[str, Any]:
        """Its start, as a place of its reader."""
        if not self.start:
            return {}
        if self.layout.format == "parquet":
            return {"file": 0, "group": self.start, "row": 0, "past": self.rows_before}
        return {"file": 0, "offset": self.start, "line": 1}

    def locate(self, error: BadData) -> BadData:
        """An error of reading with the line counted from the start of the file."""
        if not self.start or error.line is None or self.layout.format == "parquet":
            return error
        if self.start > _COUNTED:
            reason = f"{error.reason} (line {error.line} after byte {self.start:,})"
            return BadData(reason, error.file, None, error.column, error.text, error.advice)
        line = error.line + _lines_before(self.files[0], self.start)
        return BadData(error.reason, error.file, line, error.column, error.text, error.advice)


@dataclass(frozen=True)
class Plan:
    """The units of a source, in order.

    Attributes
    ----------
    units : tuple of Unit
    digest : str
        Identifies the plan: files, options and cuts. Two machines that plan the same files get the same
        digest.
    """

    units: tuple[Unit, ...]
    digest: str

    def __len__(self) -> int:
        return len(self.units)

    def __iter__(self) -> Iterator[Unit]:
        return iter(self.units)

    def __getitem__(self, number: int) -> Unit:
        return self.units[number]

    @property
    def layout(self) -> Layout:
        return self.units[0].layout

    def shard(self, index: int, of: int) -> range:
        """The numbers of the units of shard `index`, 0 to `of` - 1: consecutive, and about equally many."""
        return range(index * len(self) // of, (index + 1) * len(self) // of)


def plan(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    unit: int | str = "256MB",
    *,
    scan: bool = False,
    **options: Any,
) -> Plan:
    """Cut files into units, in a fixed order.

    Plain svmlight, CSV and TSV are cut into ranges of bytes at line ends, Parquet into row groups; any other
    file, also text packed with gzip, bz2 or zstd, is one unit. The plan depends only on the files and the
    arguments, so that every machine that sees the files makes the same plan. Only the first rows and some
    bytes at each cut are read.

    Parameters
    ----------
    source : path, glob, or list of them
    unit : int or str, default="256MB"
        Approximate size of a unit: bytes, or a text such as "256MB" in powers of 1024.
    scan : bool, default=False
        CSV: read all files once to find the rows. Otherwise a cut is put at a line end after which rows have
        as many cells as the header. The cut is verified when the previous unit is read; a wrong cut raises an
        error (a quoted cell of several lines can look like rows).
    **options
        Options of `read`: target, format, columns, n_features, ... Options that count rows of the whole
        source (skip, limit, hold_out, shuffle_buffer, passes) are not supported.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import os, tempfile
    >>> from streamsieve import distributed
    >>> file = os.path.join(tempfile.mkdtemp(), "rows.csv")
    >>> with open(file, "w") as f:
    ...     _ = f.write("a,b,y\\n" + "1.5,2,3\\n2.5,1,4\\n1.5,1,4\\n2.5,2,4\\n" * 250)
    >>> plan = distributed.plan(file, unit=4000, target="y")
    >>> [(unit.start, unit.stop) for unit in plan]
    [(0, 4006), (4006, None)]
    """
    try:
        size = size_of(unit)
    except ValueError:
        size = 0
    if size < 1:
        raise ParamError("unit", unit, "expected bytes, or a text such as '256MB'.")
    for name, default in WHOLE_SOURCE.items():
        if options.pop(name, default) != default:
            raise ParamError(
                name, None, "expected on one machine only: a unit does not know the rows before it."
            )
    files = find(source)
    for file in files:
        if file.path is None or file.size is None:
            raise ValueError(f"{file.name} can be read only once; units need files.")
    names = tuple(str(file.path) for file in files)
    stream = read(list(names), limit=1, **options)  # errors of later rows are those of a unit
    kind = stream.mark["format"]
    first = stream.blocks()
    for examples in first:
        if examples.y is None:
            raise ParamError("target", None, "expected the column to predict.")
        break
    layout = Layout(options, kind, stream.layout(), dict(zip(names, _marks(stream))))
    first.close()  # type: ignore[attr-defined]
    cuts: list[tuple[tuple[str, ...], int, int | None, int]] = [(names, 0, None, 0)]
    if not FORMATS[kind].with_tables:
        cuts = [((str(file.path),), *cut) for file in files for cut in _cuts(file, layout, size, scan)]
    before = _rows_before(names) if kind == "parquet" else {}
    units = tuple(
        Unit(number, *cut, layout, before[cut[0][0]] + cut[3] if before else None)
        for number, cut in enumerate(cuts)
    )
    ends = [[unit.start, unit.stop] for unit in units]
    mark = [list(layout.marks.values()), kind, layout.table, sorted(map(repr, options.items())), ends]
    return Plan(units, hashlib.sha256(json.dumps(mark).encode()).hexdigest())


def _marks(stream: Stream) -> list[dict[str, Any]]:
    """Name, size and digest of the files of a stream; not their times, which differ between copies."""
    return [{key: mark[key] for key in ("name", "size", "digest")} for mark in stream.mark["source"]]


def _cuts(file: File, layout: Layout, size: int, scan: bool) -> Iterator[tuple[int, int | None, int]]:
    """Start, stop and rows before each unit of a file."""
    if layout.format == "parquet":
        yield from _row_groups(file, size)
        return
    starts = [0]
    if layout.format in ("svmlight", "csv", "tsv") and not _packed(file):
        starts += sorted(set(_line_ends(file, layout, size, scan)))
    yield from ((start, stop, 0) for start, stop in zip(starts, [*starts[1:], None]))


def _packed(file: File) -> bool:
    with closing(Bytes(file)) as source:
        return not source.plain


def _row_groups(file: File, size: int) -> Iterator[tuple[int, int | None, int]]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(for_arrow(str(file.path))) as parquet:
        groups = [parquet.metadata.row_group(g) for g in range(parquet.num_row_groups)]
        start = rows = held = held_rows = 0
        for g, group in enumerate(groups):
            held += sum(group.column(c).total_compressed_size for c in range(group.num_columns))
            held_rows += group.num_rows
            if held >= size or g == len(groups) - 1:
                yield start, None if g == len(groups) - 1 else g + 1, rows
                start, rows, held, held_rows = g + 1, rows + held_rows, 0, 0
        if not groups:
            yield 0, None, 0


def _rows_before(names: tuple[str, ...]) -> dict[str, int]:
    """Rows of the Parquet files before each; {} if one is named twice."""
    from pyarrow.parquet import ParquetFile

    before, rows = {}, 0
    for name in names:
        before[name] = rows
        with ParquetFile(for_arrow(name)) as parquet:
            rows += parquet.metadata.num_rows
    return before if len(before) == len(names) else {}


def _line_ends(file: File, layout: Layout, size: int, scan: bool) -> Iterator[int]:
    """Bytes at which rows begin, about `size` apart."""
    assert file.size is not None
    if layout.format != "svmlight" and scan:
        yield from _scanned(file, layout, size)
        return
    with open_bytes(str(file.path)) as stream:
        for at in range(size, file.size, size):
            found = _row_start(stream, at, layout)
            if found is not None and found < file.size:
                yield found


def _row_start(stream: Any, at: int, layout: Layout) -> int | None:
    """The start of a row at or after a byte, if it can be determined; otherwise None."""
    window = _WINDOW
    while window <= _LARGEST_WINDOW:
        stream.seek(at - 1)
        text = stream.read(window)
        whole = len(text) < window  # up to the end of the file
        after = text.find(b"\n") + 1
        if layout.format == "svmlight" or b'"' not in text:
            if after:
                return at - 1 + after
        else:
            for _ in range(1000):
                if not after:
                    break
                if _has_cells(text[after:], layout, whole):
                    return at - 1 + after
                after = text.find(b"\n", after) + 1
        if whole:
            return None
        window *= 4
    return None


def _has_cells(text: bytes, layout: Layout, whole: bool) -> bool:
    """Whether the rows of a text, except for an incomplete last row, have as many cells as the header."""
    delimiter = layout.table["delimiter"]
    rows = csv.reader(
        io.StringIO(text.decode("utf-8", "replace"), newline=""), delimiter=delimiter, strict=True
    )
    found: list[bool] = []
    try:
        for row in rows:
            found.append(len(row) == len(layout.table["columns"]))
            if len(found) > _ROWS:
                break
    except csv.Error:
        return False
    checked = found if whole else found[:-1]
    return bool(checked) and all(checked)


def _scanned(file: File, layout: Layout, size: int) -> Iterator[int]:
    separator = ord(layout.table["delimiter"])
    target = size
    with closing(Bytes(file)) as source:
        step = max(PADDING, min(size // 8, 1 << 22))
        for chunk in chunks(source, {}, step, True, lambda text, n: _core.csv_whole_rows(text, n, separator)):
            end = chunk.offset + chunk.n
            if end >= target and end < (file.size or 0):
                yield end
                target = end + size


def _lines_before(path: str, stop: int) -> int:
    lines, text = 0, np.zeros((1 << 22) + PADDING, dtype=np.uint8)
    with open_bytes(path) as stream:
        while stop > 0 and (n := stream.readinto(memoryview(text.data)[: min(stop, 1 << 22)])):  # type: ignore[attr-defined]
            lines, stop = lines + int(np.count_nonzero(text[:n] == 10)), stop - n
    return lines
