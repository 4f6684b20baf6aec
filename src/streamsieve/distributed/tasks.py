"""What a worker runs on a partition, as plain functions of their arguments; the engine only calls them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.rows import Rows
from ..sources import BadData, read
from ..training.trainer import Block
from .jobs import learn_blocks, stream_partial
from .partial import Partial, Task
from .parts import finish, fresh, named, one_blas_thread

TARGET, WEIGHT = "target of streamsieve", "weight of streamsieve"  # columns added to those of the frame


def block_part(task: Task, number: int, X: Any, y: Any, weight: Any) -> Partial:
    """What a block of an array gives, dense or sparse."""
    return task.zero(number).update((X, y, weight)).sealed()


def table_part(task: Task, number: int, rows: Any, options: dict[str, Any]) -> Partial:
    """What a data frame gives, or a sequence of dicts; `options` are those of `read`."""
    rows = rows if hasattr(rows, "columns") else list(rows)
    if not len(rows):
        return task.zero(number).sealed()
    if task.columns is not None:
        options = {**options, "feature_names": task.columns.names}
    with named(f"unit {number} (partition {number})"), one_blas_thread():
        stream = read([rows] if hasattr(rows, "columns") else rows, **options)
        return stream_partial(task, number, stream)


def joined_part(task: Task, number: int, frame: Any, y: Any, weight: Any, options: dict[str, Any]) -> Partial:
    """What a data frame gives whose targets (and weights) are series of their own."""
    with named(f"unit {number}"):
        if len(frame) != len(y) or (weight is not None and len(weight) != len(y)):
            raise ValueError(f"X has {len(frame)} rows and y {len(y)}; partition both alike.")
        more = {TARGET: np.asarray(y)} | ({} if weight is None else {WEIGHT: np.asarray(weight)})
        frame = frame.assign(**more)
    names = {"target": TARGET} | ({} if weight is None else {"weight": WEIGHT})
    return table_part(task, number, frame, {**options, **names})


def narrow_part(task: Task, number: int, frame: Any, target: Any, columns: tuple[str, str]) -> Partial:
    """What a narrow frame gives: one line (row, feature, value) for each value, the index being the row."""
    part = task.zero(number)
    with named(f"unit {number}"):
        if not len(frame):
            return part.sealed()
        rows, y, names = from_narrow(frame, target, columns)
        model = fresh(task.like)
        n = learn_blocks(model, [Block(rows, y)])
        return Partial(task, number, number + 1, False, [finish(model, number, n, 0, names)])


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


def learn_next_block(task: Task, before: Partial | None, number: int, X: Any, y: Any, weight: Any) -> Partial:
    """Go on learning with the next block of an array."""
    part = task.zero() if before is None else before.copy()
    part.update((X, y, weight))
    part.last = number + 1
    return part
