"""What a worker runs, as plain functions of their arguments; the engine only calls them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core.rows import Rows, as_rows
from ..sources import BadData, read
from ..training.model import Model
from ..training.trainer import Block
from .parts import Columns, Job, Part, finish, fresh, learn_blocks, named, one_blas_thread


def block_part(like: Model, number: int, X: Any, y: Any, weight: Any, columns: Columns | None = None) -> Part:
    """The part of a block of an array, dense or sparse."""
    with named(f"unit {number}"), one_blas_thread():
        model = fresh(like)
        rows = as_rows(X, nan_ok=model.nan_ok, limit=model.method.limit)[0]
        rows = rows if columns is None else columns.select(rows)
        if len(rows) != len(y) or (weight is not None and len(weight) != len(y)):
            raise ValueError(f"X has {len(rows)} rows and y {len(y)}; cut both into the same chunks.")
        n = learn_blocks(model, [Block(rows, np.asarray(y), None if weight is None else np.asarray(weight))])
        return finish(model, number, n, 0, None)


def table_part(like: Model, number: int, rows: Any, options: dict[str, Any]) -> Part:
    """The part of a data frame, or of a sequence of dicts; `options` are those of `read`."""
    with named(f"unit {number}"), one_blas_thread():
        model = fresh(like)
        rows = rows if hasattr(rows, "columns") else list(rows)
        if not len(rows):
            return finish(model, number, 0, 0, None)
        stream = read([rows] if hasattr(rows, "columns") else rows, **options)
        n = learn_blocks(model, (Block(*examples) for examples in stream.blocks()))
        return finish(model, number, n, stream.rows_bad, list(stream.feature_names or []))


def joined_part(like: Model, number: int, frame: Any, y: Any, weight: Any, options: dict[str, Any]) -> Part:
    """The part of a data frame whose targets (and weights) are series of their own."""
    with named(f"unit {number}"):
        if len(frame) != len(y) or (weight is not None and len(weight) != len(y)):
            raise ValueError(f"X has {len(frame)} rows and y {len(y)}; partition both alike.")
        more = {TARGET: np.asarray(y)} | ({} if weight is None else {WEIGHT: np.asarray(weight)})
        frame = frame.assign(**more)
    names = {"target": TARGET} | ({} if weight is None else {"weight": WEIGHT})
    return table_part(like, number, frame, {**options, **names})


TARGET, WEIGHT = "target of streamsieve", "weight of streamsieve"  # columns beside those of the frame


def narrow_part(like: Model, number: int, frame: Any, target: Any, columns: tuple[str, str]) -> Part:
    """The part of a narrow frame: one line (row, feature, value) for each value, the index being the row."""
    with named(f"unit {number}"), one_blas_thread():
        model = fresh(like)
        if not len(frame):
            return finish(model, number, 0, 0, None)
        rows, y, names = from_narrow(frame, target, columns)
        n = learn_blocks(model, [Block(rows, y)])
        return finish(model, number, n, 0, names)


def from_narrow(frame: Any, target: Any, columns: tuple[str, str]) -> tuple[Rows, Any, list[str] | None]:
    """Rows, targets and the names of the features; numbered features have no names."""
    feature, value = frame[columns[0]].to_numpy(), frame[columns[1]].to_numpy(dtype=np.float64)
    ids, row = np.unique(frame.index.to_numpy(), return_inverse=True)
    is_target = feature == target
    count = np.bincount(row[is_target], minlength=len(ids))
    if not (count == 1).all():
        bad = int(np.argmax(count != 1))
        raise BadData(f"row {ids[bad]} has {count[bad]} values of the target {target!r}; expected one")
    y = np.empty(len(ids))
    y[row[is_target]] = value[is_target]
    row, value, feature = row[~is_target], value[~is_target], feature[~is_target]
    numbered = np.issubdtype(feature.dtype, np.integer)
    if numbered:
        names, place = None, feature.astype(np.int64)
        if len(place) and place.min() < 0:
            raise BadData(f"feature {place.min()} is negative")
        p = int(place.max(initial=-1)) + 1
    else:
        first: dict[str, int] = {}
        place = np.array([first.setdefault(str(name), len(first)) for name in feature], dtype=np.int64)
        names, p = list(first), len(first)
    order = np.lexsort((place, row))
    row, place = row[order], place[order]
    twice = np.flatnonzero((np.diff(row) == 0) & (np.diff(place) == 0))
    if len(twice):
        what = place[twice[0]] if names is None else names[place[twice[0]]]
        raise BadData(f"row {ids[row[twice[0]]]} has two values of the feature {what}")
    indptr = np.zeros(len(ids) + 1, dtype=np.int32)
    np.cumsum(np.bincount(row, minlength=len(ids)), out=indptr[1:])
    return Rows(p=p, csr=(indptr, place.astype(np.int32), value[order])), y, names


# ---------------------------------------------------------------- learners that cannot be merged


def learn_next(job: Job, before: Part | None, number: int) -> Part:
    """Go on learning with the next unit: what one machine would do, bit for bit."""
    unit = job.plan[number]
    with named(unit), one_blas_thread():
        stream = unit.open(n_jobs=1)
        model = fresh(job.like if before is None else before.model)
        rows = learn_blocks(model, (Block(*examples) for examples in stream.blocks()))
        names = stream.feature_names
        part = finish(model, number, rows, stream.rows_bad, None if names is None else list(names))
        if before is not None:
            part = replace(part, first=0, rows=before.rows + rows, rows_bad=before.rows_bad + part.rows_bad)
        return part


def learn_next_block(like: Model, before: Part | None, number: int, X: Any, y: Any, weight: Any) -> Part:
    """Go on learning with the next block of an array."""
    start = like if before is None else before.model
    part = block_part(start, number, X, y, weight)
    return part if before is None else replace(part, first=0, rows=before.rows + part.rows)
