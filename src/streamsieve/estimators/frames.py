"""Data frames with words, dates or missing values, read by a schema as files are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.method import Method
from ..core.rows import Rows, as_rows, read_frame
from ..sources import read
from ..sources.schema import Schema


def frame_schema(X: Any, method: Method) -> Schema | None:
    """The schema of a frame; None if it holds only numbers without missing values, which are used as given.

    A frame of numbers with missing values keeps all its columns, as numbers.
    """
    import narwhals as nw

    frame = read_frame(X)
    numeric = [dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values()]
    options = {}
    if all(numeric):
        if method.nan_ok or not np.isnan(np.asarray(as_rows(X, nan_ok=True)[0].values)).any():
            return None
        options = {"numeric": [str(name) for name in frame.columns]}
    stream = read(X, missing=method.missing_numbers, **options)  # type: ignore[arg-type]
    for _ in stream.blocks():
        break
    return stream.schema


def rows_of_frame(X: Any, schema: Schema) -> Rows:
    """The rows of a frame, by a schema."""
    if not len(read_frame(X)):
        return Rows(np.empty((0, len(schema.feature_names))))
    return Rows.concat([examples.rows for examples in read(X, schema=schema).blocks()])


def columns_of(schema: Schema) -> list[str]:
    """The columns of the schema that frames must have: all but target, weight and cluster."""
    return [column.name for column in schema.columns if column.kind not in ("target", "weight", "cluster")]
