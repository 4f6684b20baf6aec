"""Tables as data frames: Parquet and Arrow files, and frames from Python, read with narwhals."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.params import Advice
from ...core.rows import check_distinct, read_frame
from ..bad_data import BadData
from ..cells import Array, as_numbers
from ..files import File, for_arrow, is_remote, open_bytes
from ..infer import MixedColumn, Sample
from ..queries import query_frames
from ..table import Table, TableReader
from ..together import Words
from ..values import Found, coded, column_of, make_rows
from .base import SCHEMA, Batch, Format
from .text import Files

PIECE = 4096  # rows taken out of a frame at a time
SAMPLE = 100_000  # rows from which the schema is made, fewer of a wide table:
SAMPLE_VALUES, LEAST_SAMPLE = 1 << 24, 1000  # 128 MB of doubles; 5,000 columns would be 4 GB, but enough
#   rows to tell rare values from others
GROUPS = 16  # row groups they are taken from
EXACT = 1 << 53  # integers up to this one are exact as doubles
Groups = Callable[[list[str]], Iterator[Any]]


@dataclass
class Tabular(TableReader):
    """A reader of frames."""

    #: Rows of the whole source before these, where pieces are to be cut at multiples of `PIECE` in it.
    offset: int | None = field(default=None, init=False)

    def stop_of(self, row: int, past: int) -> int:
        """End of the piece that begins at a row of a frame; `past` rows precede the frame."""
        return row + PIECE - (0 if self.offset is None else (self.offset + past + row) % PIECE)

    def examples_of(self, native: Any, row: int | None = None) -> Iterator[tuple[int, Found]]:
        """The pieces of a frame that begins at this row of the whole source, and their numbers of rows."""
        frame = read_frame(native)
        table, at, self.offset = self.check_columns(frame.columns, self.title()), 0, row
        while at < len(frame):
            stop = min(len(frame), self.stop_of(at, 0))
            yield stop - at, self.piece(frame[at:stop], table, (row or 0) + at, self.title())
            at = stop

    def settle_columns(self, columns: Sequence[str], frame: Any, coverage: str, name: str) -> Table:
        """Infer the schema from a narwhals frame of some of the columns, or use the one that is known."""

        def sample() -> Sample:
            held = {str(name): series for name, series in zip(frame.columns, frame.iter_columns())}
            found = [sample_of(held[name]) if name in held else None for name in columns]
            return Sample(list(columns), found, len(frame), coverage, {})

        try:
            return self.table_of(columns, sample, name)
        except MixedColumn as error:
            raise error.bad_data(columns, name) from None

    def check_columns(self, columns: Iterable[Any], name: str) -> Table:
        """The table; an error if the columns of a frame differ from those of the first frame."""
        table = self.table
        assert table is not None
        if [str(column) for column in columns] != table.columns:
            raise BadData(f"the columns are not those of the first frame of {table.file}", name)
        return table

    def piece(self, frame: Any, table: Table, first: int, name: str) -> Found:
        """Rows of a narwhals frame that begins with row `first` of the source."""
        # by position: names of pandas' columns may be numbers, and frame[0] is a row
        at = {str(name): i for i, name in enumerate(frame.columns)}
        native, no_words = frame.to_native(), np.zeros(len(frame), dtype=bool)
        column = native.column if hasattr(native, "combine_chunks") else None  # of a table of Arrow

        def series(c: int) -> Any:
            return frame[:, at[table.columns[c]]]

        numbers = {}
        for c in {*table.numbers, *table.others}:
            x = None if column is None else doubles_of(column(at[table.columns[c]]))
            try:
                numbers[c] = numbers_of(series(c), table.style(c)) if x is None else (x, no_words)
            except ValueError as error:  # Arrow does not round integers
                raise BadData(
                    f"integers beyond 2^53 are not exact in float64: {error}",
                    name,
                    column=table.columns[c],
                    advice=Advice("leave the column out ({}), or store it as double", "drop"),
                ) from error
        words = {c: words_of(series(c)) for c in table.coded}
        return make_rows(self, len(frame), numbers, words, lambda i: first + i + 1, name)


def sample_rows(columns: int) -> int:
    """Rows of a table with this number of columns from which the schema is made."""
    return int(np.clip(SAMPLE_VALUES // max(columns, 1), LEAST_SAMPLE, SAMPLE))


def sample_of(series: Any) -> Array | Words | None:
    """A column of a frame by its type: numbers, words, dates as words; None for lists and the like."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        try:
            x = numbers_of(series, "plain")[0]
        except ValueError:  # integers that are not exact as doubles; reading them raises an error
            x = np.asarray(series.to_numpy(), dtype=np.float64)
        infinite = np.isinf(x)
        return np.where(infinite, np.nan, x) if infinite.any() else x  # an error when it is read
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object) or dtype.is_temporal():
        if dtype == nw.Object:  # pandas' columns of anything
            return column_of(series.to_list())
        return Words(*words_of(series))
    return None


#: Numbers of Arrow, and how NumPy reads them.
_NUMBERS = {"double": "f8", "float": "f4", **{f"int{8 * n}": f"i{n}" for n in (1, 2, 4, 8)},
            **{f"uint{8 * n}": f"u{n}" for n in (1, 2, 4, 8)}}  # fmt: skip


def doubles_of(column: Any) -> Array | None:
    """A column of Arrow as doubles, without importing pandas as `to_numpy` does.

    None if values are missing, are not numbers, or are integers beyond 2^53, which are not exact.
    """
    kind = _NUMBERS.get(str(column.type))
    if kind is None or column.null_count or not len(column):
        return None
    size = int(kind[1])
    parts = [
        np.frombuffer(chunk.buffers()[1], kind, len(chunk), size * chunk.offset)
        for chunk in column.chunks
        if len(chunk)
    ]
    x = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if kind in ("i8", "u8") and not -EXACT <= x.min() <= x.max() <= EXACT:
        return None
    return x.astype(np.float64, copy=False)


def numbers_of(series: Any, style: str) -> tuple[Array, NDArray[np.bool_]]:
    """A column as numbers, NaN for other values, and which values are words."""
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        native = series.to_native()
        x = doubles_of(native) if hasattr(native, "chunks") else None
        if x is None:
            x = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return x, np.zeros(len(x), dtype=bool)
    names, codes = words_of(series)
    found = as_numbers(names, style)
    return np.append(found.x, np.nan)[codes], np.append(found.word, False)[codes]


def words_of(series: Any) -> tuple[list[str], NDArray[np.int32]]:
    """A column as words: the distinct words, and the index of each row's word."""
    import narwhals as nw

    if series.dtype == nw.Date or series.dtype == nw.Datetime:
        days = series.cast(nw.Datetime("ms")).to_numpy().astype("datetime64[ms]")
        found, inverse = np.unique(days, return_inverse=True)
        gone = np.isnat(found)
        texts = [str(day).replace("T", " ") for day in found[~gone]]
        place = np.where(gone, -1, np.cumsum(~gone) - 1)
        return ordered(texts, place[inverse])
    if series.dtype == nw.Duration:
        days = series.to_numpy().astype("timedelta64[ms]").astype(np.float64) / 86_400_000
        return coded([None if day < -1e15 else float(day) for day in days.tolist()])
    return coded(series.to_list())


def ordered(values: list[str], codes: Any) -> tuple[list[str], NDArray[np.int32]]:
    """The same with the words in order of appearance, as for text."""
    used, first = np.unique(codes[codes >= 0], return_index=True)
    order = used[np.argsort(first)]
    place = np.full(len(values) + 1, -1, dtype=np.int32)
    place[order] = np.arange(len(order))
    return [values[v] for v in order.tolist()], place[codes]


@dataclass
class FrameFiles(Tabular, Files):
    """Parquet and Arrow files: a place is a row group (or record batch) and a row in it."""

    from_stdin = False

    def read_file(self, file: File, at: dict[str, Any]) -> Iterator[Batch]:
        import narwhals as nw

        pa = _pyarrow(self.options.format)
        try:
            sampled = self._settle_columns(file, pa) if self.table is None else {}
            total, schema, groups = self._opened(file, pa)
            table = self.check_columns(schema.names, file.name)
            past = 0
            for group, batches in enumerate(groups(table.used())):
                if file.stop is not None and group >= file.stop:
                    break
                row, batches = 0, sampled.pop(group, batches)
                for batch in batches if group >= at.get("group", 0) else ():
                    batch.validate(full=True)  # a damaged file must not be read beyond its buffers
                    start = 0
                    while start < len(batch):
                        part = batch[start : start + self.stop_of(row, past) - row]
                        if group > at.get("group", 0) or row >= at.get("row", 0):
                            frame = nw.from_native(pa.Table.from_batches([part]), eager_only=True)
                            found = self.piece(frame, table, past + row, file.name)
                            place = {"group": group, "row": row, "past": past}
                            read = int((file.size or 0) * min(1.0, (past + row + len(part)) / max(1, total)))
                            yield Batch(place, found.examples, found.bad, read, found.error, found.unlabelled)
                        row, start = row + len(part), start + len(part)
                past = past + row if group >= at.get("group", 0) else at["past"]
        except (pa.ArrowException, OSError) as error:
            raise BadData(f"not a readable {self.options.format} file: {error}", file.name) from error

    def _opened(self, file: File, pa: Any) -> tuple[int, Any, Groups]:
        return _parquet(file) if self.options.format == "parquet" else _arrow(file, pa)

    def _settle_columns(self, file: File, pa: Any) -> dict[int, list[Any]]:
        """Infer the schema from rows of several row groups; for a stream, from its first rows.

        Returns the batches of the row groups that were read whole: they need not be read again.
        """
        total, schema, groups = self._opened(file, pa)
        if self.options.schema is not None:
            check_distinct(schema.names)  # without a table of Arrow, to make which takes pandas
            self.settle_columns(schema.names, None, "whole", file.name)
            return {}
        names = self._needed(schema.names)
        count = _groups(file) if self.options.format == "parquet" else 0
        wanted = {i * count // GROUPS for i in range(GROUPS)} if count > GROUPS else set(range(count))
        room = sample_rows(len(names))
        most = -(-room // max(1, len(wanted))) if count else room
        some, whole, rows, ended = [], dict[int, list[Any]](), 0, True
        for group, batches in enumerate(groups(names)):
            if count and group not in wanted:
                continue
            read, taken = [], 0
            for batch in batches:
                batch.validate(full=True)  # a damaged file must not be read beyond its buffers
                read.append(batch)
                some.append(batch[: most - taken])
                taken += len(some[-1])
                if taken >= most:
                    break
            else:
                if count:
                    whole[group] = read
            rows += taken
            if rows >= room or (count and group >= max(wanted)):
                ended = bool(count) and rows >= total
                break
        table = pa.Table.from_batches(some) if some else schema.empty_table()
        coverage = "whole" if ended and len(self.files) == 1 else "spread" if count else "head"
        self.settle_columns(schema.names, read_frame(table), coverage, file.name)
        return whole

    def _needed(self, names: list[str]) -> list[str]:
        """The columns that may be read."""
        options = self.options
        chosen = {*(names if options.columns is None else options.columns)} - {*options.drop}
        chosen |= {options.target, options.weight, options.cluster, *options.categorical, *options.numeric}
        chosen |= {*options.text, *options.date}
        return [name for place, name in enumerate(names) if name in chosen or place in chosen] or names


def _groups(file: File) -> int:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(for_arrow(str(file.path))) as parquet:
        return int(parquet.num_row_groups)


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"Reading {what} needs pyarrow: pip install 'streamsieve[io]'.") from None
    return pyarrow


def _parquet(file: File) -> tuple[int, Any, Groups]:
    """The number of rows, the schema, and a function that reads record batches of each row group."""
    from pyarrow.parquet import ParquetFile

    parquet = ParquetFile(for_arrow(str(file.path)), buffer_size=1 << 20)

    def groups(columns: list[str]) -> Iterator[Any]:
        with parquet:
            for group in range(parquet.num_row_groups):
                yield parquet.iter_batches(batch_size=PIECE, row_groups=[group], columns=columns)

    return parquet.metadata.num_rows, parquet.schema_arrow, groups


def _arrow(file: File, pa: Any) -> tuple[int, Any, Groups]:
    """The same for an Arrow file, or for an Arrow stream, whose number of rows is not known."""
    path = str(file.path)
    raw = (
        pa.PythonFile(open_bytes(path)) if is_remote(path) else pa.OSFile(path)
    )  # not mapped: truncation by another process then raises an error instead of SIGBUS
    try:
        source = pa.ipc.open_file(raw)
    except pa.ArrowInvalid:
        raw.seek(0)
        source = pa.ipc.open_stream(raw)
        return 0, source.schema, lambda columns: ([batch.select(columns)] for batch in source)

    def batches() -> Iterator[Any]:  # one at a time: reading a compressed batch unpacks it
        return (source.get_batch(i) for i in range(source.num_record_batches))

    with pa.PythonFile(open_bytes(path)) if is_remote(path) else pa.memory_map(path) as mapped:  # counted
        counted = pa.ipc.open_file(mapped)
        rows = sum(counted.get_batch(i).num_rows for i in range(counted.num_record_batches))
    return rows, source.schema, lambda columns: ([batch.select(columns)] for batch in batches())


@dataclass
class Frames(Tabular):
    """Data frames from Python: a place is the number of a frame and a row in it."""

    source: Iterable[Any]

    def __post_init__(self) -> None:
        self.again = not isinstance(self.source, Iterator)

    def fingerprint(self) -> Any:
        return "frames"

    def title(self) -> str:
        return "the frames"

    def batches(self, at: dict[str, Any]) -> Iterator[Batch]:
        past = 0
        for number, native in enumerate(self.source):
            if number < at.get("frame", 0):
                continue
            frame = read_frame(native)
            past = max(past, at.get("past", 0))
            if self.table is None:
                self.settle_columns([str(name) for name in frame.columns], *self._sample(frame), self.title())
            table = self.check_columns(frame.columns, self.title())
            for row in range(at.get("row", 0) if number == at.get("frame", 0) else 0, len(frame), PIECE):
                found = self.piece(frame[row : row + PIECE], table, past + row, self.title())
                place = {"frame": number, "row": row, "past": past}
                yield Batch(place, found.examples, found.bad, 0, found.error, found.unlabelled)
            past += len(frame)

    def _sample(self, first: Any) -> tuple[Any, str]:
        """Rows of all frames of a list, or else of the first frame, and how much of the source they cover."""
        import narwhals as nw

        frames = [read_frame(native) for native in self.source] if isinstance(self.source, list) else [first]
        stride = max(1, -(-sum(map(len, frames)) // SAMPLE))
        # tables of pyarrow have no slices with a step
        some = [frame[np.arange(0, len(frame), stride)] if stride > 1 else frame for frame in frames]
        coverage = "head" if not isinstance(self.source, list) else "whole" if stride == 1 else "spread"
        if len(some) == 1:
            return some[0], coverage
        try:
            return nw.concat(some, how="vertical"), coverage
        except Exception:  # frames of other types raise an error when they are read
            return some[0], "head"


@dataclass
class LazyFrames(Tabular):
    """Frames that are computed while reading: from a polars LazyFrame or an object with an Arrow stream.

    `source` is called for each pass.
    """

    source: Callable[[], Iterator[Any]]

    def fingerprint(self) -> Any:
        return "stream"

    def title(self) -> str:
        return "the stream of frames"

    def batches(self, at: dict[str, Any]) -> Iterator[Batch]:
        frames = self.source()
        if self.table is None:
            first = self._first(frames)
            frames = itertools.chain(first, frames)
        past = 0
        for number, native in enumerate(frames):
            frame = read_frame(native)
            table = self.check_columns(frame.columns, self.title())
            for row in range(0, len(frame), PIECE):
                if (number, row) >= (at.get("frame", 0), at.get("row", 0)):
                    found = self.piece(frame[row : row + PIECE], table, past + row, self.title())
                    place = {"frame": number, "row": row}
                    yield Batch(place, found.examples, found.bad, 0, found.error, found.unlabelled)
            past += len(frame)

    def _first(self, frames: Iterator[Any]) -> list[Any]:
        """The first frames, from which the schema is inferred."""
        import narwhals as nw

        first: list[Any] = []
        rows, room, ended = 0, 1, False
        while rows < room and not ended:
            frame = next(frames, None)
            ended = frame is None
            if frame is not None:
                first.append(frame)
                rows, room = rows + len(frame), sample_rows(len(read_frame(frame).columns))
        if not first:
            raise BadData("there is not a single row", self.title())
        sample = nw.concat([read_frame(frame) for frame in first], how="vertical")
        names = [str(name) for name in sample.columns]
        self.settle_columns(names, sample, "whole" if ended else "head", self.title())
        return first


def lazy_frames(source: Any) -> tuple[Callable[[], Iterator[Any]], bool] | None:
    """A function that opens a lazy source of frames, and whether it can be opened again; None for others."""
    import narwhals as nw

    if nw.dependencies.is_polars_lazyframe(source):
        return lambda: _polars_batches(source), True
    if not hasattr(source, "__arrow_c_stream__") or nw.dependencies.is_into_dataframe(source):
        return None
    pa = _pyarrow("an Arrow stream")
    once = isinstance(source, pa.RecordBatchReader)

    def batches() -> Iterator[Any]:
        if hasattr(source, "to_pyarrow_batches"):  # Ibis: its Arrow stream copies the whole table
            reader = source.to_pyarrow_batches()
        else:
            reader = source if once else pa.RecordBatchReader.from_stream(source)
        for batch in reader:
            if len(batch):
                yield pa.Table.from_batches([batch])

    return batches, not once


def _polars_batches(source: Any) -> Iterator[Any]:
    """The rows of a LazyFrame: in batches if polars supports them, else by its streaming engine."""
    if hasattr(source, "collect_batches"):
        yield from source.collect_batches(maintain_order=True)
    else:
        yield source.collect(engine="streaming")


def as_frames(source: Any) -> Iterator[Any]:
    """The frames of a table: a frame, an Arrow batch or stream, a query, or a list of these."""
    if isinstance(source, list):
        for one in source:
            yield from as_frames(one)
        return
    if isinstance(source, str):
        yield from query_frames(source)
        return
    lazy = lazy_frames(source)
    if lazy is not None:
        yield from lazy[0]()
    elif type(source).__name__ == "RecordBatch":
        yield _pyarrow("record batches").Table.from_batches([source])
    else:
        yield source


FORMATS = [
    Format("parquet", FrameFiles, SCHEMA, ("parquet", "pq"), b"PAR1"),
    Format("arrow", FrameFiles, SCHEMA, ("arrow", "feather", "ipc", "arrows"), b"ARROW1"),
]
FRAMES = Format("frames", Frames, SCHEMA)
LAZY = Format("lazy", LazyFrames, SCHEMA)
