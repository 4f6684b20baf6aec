"""Tables that come as data frames: Parquet and Arrow files, and frames from Python, all through narwhals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._bad import BadData
from ._checks import sound
from ._files import File
from ._reader import Batch, Reader
from ._rows import Rows
from ._table import Table
from ._text import Files

PIECE = 4096  # rows taken out of a frame at a time


@dataclass
class Tabular(Reader):
    """A reader of frames with the same columns, of which the first settles what becomes of each."""

    table: Table | None = field(default=None, init=False)

    def state(self) -> dict[str, Any]:
        return {} if self.table is None else self.table.state()

    def restore(self, state: dict[str, Any], at: dict[str, Any]) -> None:
        self._settle(Table.restored(state, at.get("met"), self.options, self.title()) if state else None)

    def _settle(self, table: Table | None) -> None:
        self.table = table
        self.names = None if table is None else table.names
        self.width = 0 if table is None else len(table.names if table.fixed else table.numbers)

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
                f"values of type {others[c]} are no numbers; leave the column out (drop)",
                name,
                column=columns[c],
            )
        return table

    def piece(self, frame: Any, first: int, name: str) -> tuple[Rows, int]:
        """Rows of a narwhals frame that begins with row `first` of the source, and how many were bad."""
        import narwhals as nw

        table = self.columns_for(frame, name)
        series = list(frame.iter_columns())
        features, others = (np.empty((len(frame), len(places))) for places in (table.numbers, table.others))
        for matrix, places in ((features, table.numbers), (others, table.others)):
            for j, c in enumerate(places):
                matrix[:, j] = series[c].cast(nw.Float64).to_numpy()
        codes = np.empty((len(frame), len(table.coded)), dtype=np.int32)
        values = []
        for k, c in enumerate(table.coded):
            seen: dict[str, int] = {}
            for i, value in enumerate(series[c].to_list()):
                gone = value is None or value != value
                codes[i, k] = -1 if gone else seen.setdefault(str(value), len(seen))
            values.append(list(seen))
        keep, bad = sound(features, others, codes, table, self.options, first, name)
        if bad:
            features, others, codes = features[keep], others[keep], codes[keep]
        return table.rows(features, others, codes, values), bad


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
            groups = _parquet(file) if self.options.format == "parquet" else _arrow(file, pa)
            total = next(groups)
            past = 0
            for group, batches in enumerate(groups):
                row = 0
                for batch in batches if group >= at.get("group", 0) else ():
                    batch.validate(full=True)  # a damaged file must not be read beyond its buffers
                    for start in range(0, len(batch), PIECE):
                        part = batch[start : start + PIECE]
                        if group > at.get("group", 0) or row >= at.get("row", 0):
                            met = 0 if self.table is None else len(self.table.met)
                            frame = nw.from_native(pa.Table.from_batches([part]), eager_only=True)
                            rows, bad = self.piece(frame, past + row, file.name)
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


def _parquet(file: File) -> Iterator[Any]:
    """The number of rows, then the record batches of each row group."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(file.path, buffer_size=1 << 20) as parquet:
        yield parquet.metadata.num_rows
        for group in range(parquet.num_row_groups):
            yield parquet.iter_batches(batch_size=PIECE, row_groups=[group])


def _arrow(file: File, pa: Any) -> Iterator[Any]:
    """The same of an Arrow file, or of an Arrow stream, whose number of rows is not known."""
    with pa.memory_map(file.path) as raw:
        try:
            reader = pa.ipc.open_file(raw)
        except pa.ArrowInvalid:
            raw.seek(0)
            yield 0
            for batch in pa.ipc.open_stream(raw):
                yield [batch]
            return
        yield sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
        for i in range(reader.num_record_batches):
            yield [reader.get_batch(i)]


@dataclass
class Frames(Tabular):
    """Data frames from Python: a place is the number of a frame and a row in it."""

    source: Iterable[Any]

    def __post_init__(self) -> None:
        self.again = not isinstance(self.source, Iterator)

    def mark(self) -> Any:
        return "frames"

    def title(self) -> str:
        return "the frames"

    def batches(self, at: dict[str, Any]) -> Iterator[Batch]:
        import narwhals as nw

        past = 0
        for number, native in enumerate(self.source):
            if number < at.get("frame", 0):
                continue
            frame = nw.from_native(native, eager_only=True)
            past = max(past, at.get("past", 0))
            for row in range(at.get("row", 0) if number == at.get("frame", 0) else 0, len(frame), PIECE):
                met = 0 if self.table is None else len(self.table.met)
                rows, bad = self.piece(frame[row : row + PIECE], past + row, self.title())
                yield Batch({"frame": number, "row": row, "met": met, "past": past}, rows, bad, 0)
            past += len(frame)
