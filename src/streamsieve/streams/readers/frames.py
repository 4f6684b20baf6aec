"""Tables that come as data frames: Parquet and Arrow files, and frames from Python, all through narwhals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...params import Advice
from ...rows import read_frame
from ..bad_data import BadData
from ..checks import good_rows
from ..examples import Examples
from ..files import File
from ..table import Table, TableReader
from .base import TABLE, Batch, Format
from .text import Files

PIECE = 4096  # rows taken out of a frame at a time
Groups = Callable[[list[str]], Iterator[Any]]


@dataclass
class Tabular(TableReader):
    """A reader of frames."""

    def columns_for(self, frame: Any, name: str) -> Table:
        """What becomes of the columns of a narwhals frame; an error where they are not those of the first."""
        import narwhals as nw

        columns = [str(column) for column in frame.columns]
        texts, others = [], {}
        for c, dtype in enumerate(frame.schema.values()):
            if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
                texts.append(c)
            elif not (dtype.is_numeric() or dtype == nw.Boolean):
                others[c] = dtype
        if self.table is None:
            self._settle(Table(columns, texts, self.options, name))
        table = self.table
        assert table is not None
        if columns != table.columns or texts != table.texts:
            raise BadData(
                f"the columns or their types are not those of the first frame of {table.file}", name
            )
        for c in sorted(others.keys() & {*table.numbers, *table.others}):
            raise BadData(
                f"values of type {others[c]} are no numbers",
                name,
                column=columns[c],
                advice=Advice("leave the column out ({})", "drop"),
            )
        return table

    def piece(self, frame: Any, table: Table, first: int, name: str) -> tuple[Examples, int]:
        """Rows of a narwhals frame that begins with row `first` of the source, and how many were bad."""
        import narwhals as nw

        at = {column: c for c, column in enumerate(table.columns)}
        # not by name: pandas' may be numbers, and frame[0] is a row
        series = {at[str(name)]: values for name, values in zip(frame.columns, frame.iter_columns())}
        features, others = (np.empty((len(frame), len(places))) for places in (table.numbers, table.others))
        for matrix, places in ((features, table.numbers), (others, table.others)):
            for j, c in enumerate(places):
                try:
                    matrix[:, j] = series[c].cast(nw.Float64).to_numpy()
                except ValueError as error:  # Arrow rounds no integer
                    raise BadData(
                        f"integers beyond 2^53 are not exact in float64: {error}",
                        name,
                        column=table.columns[c],
                        advice=Advice("leave the column out ({}), or store it as double", "drop"),
                    ) from error
        codes = np.empty((len(frame), len(table.coded)), dtype=np.int32)
        values = []
        for k, c in enumerate(table.coded):
            seen: dict[str, int] = {}
            for i, value in enumerate(series[c].to_list()):
                gone = value is None or value != value
                codes[i, k] = -1 if gone else seen.setdefault(str(value), len(seen))
            values.append(list(seen))
        keep, bad = good_rows(features, others, codes, table, self.options, first, name)
        if bad:
            features, others, codes = features[keep], others[keep], codes[keep]
        return table.examples(features, others, codes, values), bad


@dataclass
class FrameFiles(Tabular, Files):
    """Parquet and Arrow files: a place is a row group (or record batch) and a row in it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(file.path is None for file in self.files):
            raise ValueError(f"{self.options.format} cannot be read from standard input; pass a file.")

    def read_file(self, file: File, at: dict[str, Any]) -> Iterator[Batch]:
        import narwhals as nw

        pa = _pyarrow(self.options.format)
        try:
            total, schema, groups = _parquet(file) if self.options.format == "parquet" else _arrow(file, pa)
            table = self.columns_for(read_frame(schema.empty_table()), file.name)
            past = 0
            for group, batches in enumerate(groups(table.used())):
                if file.stop is not None and group >= file.stop:
                    break
                row = 0
                for batch in batches if group >= at.get("group", 0) else ():
                    batch.validate(full=True)  # a damaged file must not be read beyond its buffers
                    for start in range(0, len(batch), PIECE):
                        part = batch[start : start + PIECE]
                        if group > at.get("group", 0) or row >= at.get("row", 0):
                            met = len(table.met)
                            frame = nw.from_native(pa.Table.from_batches([part]), eager_only=True)
                            rows, bad = self.piece(frame, table, past + row, file.name)
                            place = {"group": group, "row": row, "met": met, "past": past}
                            read = int((file.size or 0) * min(1.0, (past + row + len(part)) / max(1, total)))
                            yield Batch(place, rows, bad, read)
                        row += len(part)
                past = past + row if group >= at.get("group", 0) else at["past"]
        except (pa.ArrowException, OSError) as error:
            raise BadData(f"not a readable {self.options.format} file: {error}", file.name) from error


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"Reading {what} needs pyarrow: pip install 'streamsieve[io]'.") from None
    return pyarrow


def _parquet(file: File) -> tuple[int, Any, Groups]:
    """The number of rows, the schema, and what reads some columns: record batches of each row group."""
    from pyarrow.parquet import ParquetFile

    parquet = ParquetFile(file.path, buffer_size=1 << 20)

    def groups(columns: list[str]) -> Iterator[Any]:
        with parquet:
            for group in range(parquet.num_row_groups):
                yield parquet.iter_batches(batch_size=PIECE, row_groups=[group], columns=columns)

    return parquet.metadata.num_rows, parquet.schema_arrow, groups


def _arrow(file: File, pa: Any) -> tuple[int, Any, Groups]:
    """The same of an Arrow file, or of an Arrow stream, whose number of rows is not known."""
    raw = pa.OSFile(file.path)  # not mapped: what others truncate meanwhile is then an error, no SIGBUS
    try:
        source = pa.ipc.open_file(raw)
    except pa.ArrowInvalid:
        raw.seek(0)
        source = pa.ipc.open_stream(raw)
        return 0, source.schema, lambda columns: ([batch.select(columns)] for batch in source)

    def batches() -> Iterator[Any]:  # one at a time: to get a batch that is packed is to unpack it
        return (source.get_batch(i) for i in range(source.num_record_batches))

    with pa.memory_map(file.path) as mapped:  # counted without reading the columns
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
            table = self.columns_for(frame, self.title())
            for row in range(at.get("row", 0) if number == at.get("frame", 0) else 0, len(frame), PIECE):
                met = len(table.met)
                rows, bad = self.piece(frame[row : row + PIECE], table, past + row, self.title())
                yield Batch({"frame": number, "row": row, "met": met, "past": past}, rows, bad, 0)
            past += len(frame)


FORMATS = [
    Format("parquet", FrameFiles, TABLE, ("parquet", "pq"), b"PAR1"),
    Format("arrow", FrameFiles, TABLE, ("arrow", "feather", "ipc", "arrows"), b"ARROW1"),
]
FRAMES = Format("frames", Frames, TABLE)
