"""Dask arrays, data frames and bags as units."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.params import ParamError
from .. import tasks
from ..fit import task
from ..partial import Task
from ..plan import Plan
from .run import Leaves, block_leaves


def kind_of(data: Any) -> str:
    """array, frame, bag or files."""
    name = type(data).__name__
    if isinstance(data, Plan | str | os.PathLike | list | tuple):
        return "files"
    module = type(data).__module__
    if module.startswith("dask.array"):
        return "array"
    if module.startswith("dask.bag"):
        return "bag"
    if hasattr(data, "npartitions") and hasattr(data, "map_partitions"):
        return "frame"
    raise TypeError(
        f"data is a {name}; pass a Dask array, data frame or bag, or the names of files that the workers see."
    )


def like_chunks(values: Any, X: Any, name: str) -> Any:
    """The delayed blocks of targets or weights, cut as the rows of X are; None for None."""
    if values is None:
        return [None] * X.numblocks[0]
    import dask.array as da

    if not hasattr(values, "dask"):
        values = da.from_array(np.asarray(values), chunks=(X.chunks[0], *((-1,) * (np.ndim(values) - 1))))
    values = values.to_dask_array() if hasattr(values, "to_dask_array") else values
    if values.ndim > 1 and values.numblocks[1] > 1:
        values = values.rechunk({1: -1})
    if not np.isnan(X.chunks[0]).any() and not np.isnan(values.chunks[0]).any():
        if sum(values.chunks[0]) != sum(X.chunks[0]):
            raise ValueError(f"X has {sum(X.chunks[0])} rows and {name} {sum(values.chunks[0])}.")
        values = values.rechunk({0: X.chunks[0]})
    elif len(values.chunks[0]) != len(X.chunks[0]):
        raise ValueError(
            f"X has {len(X.chunks[0])} chunks and {name} {len(values.chunks[0])}; cut both alike."
        )
    return values.to_delayed().ravel().tolist()


def labels_of(client: Any, lazy: Any) -> Any:
    """All labels of a lazy collection, computed by the workers."""
    found = client.compute(lazy).result()
    return np.unique(np.asarray(found))


def collection_leaves(
    client: Any,
    estimator: Any,
    data: Any,
    y: Any,
    weight: Any,
    classes: Any,
    narrow: tuple[str, str] | None,
    options: dict[str, Any],
) -> tuple[Task, Callable[[Task], Leaves]]:
    """What is to be learned from a Dask collection, and what makes its leaves."""
    kind, classify = kind_of(data), estimator._task_name == "classification"
    if narrow is not None and kind != "frame":
        raise ParamError("narrow", narrow, "expected for data frames only.")
    if y is None:
        raise ParamError("y", None, "expected the targets, or the name of their column.")
    extra: tuple[Any, ...] = ()
    blocks: list[tuple[Any, ...]]
    q = None
    if kind == "array":
        import dask.array as da

        X = data.rechunk({1: -1}) if data.numblocks[1] > 1 else data
        if options:
            raise ParamError(min(options), options[min(options)], "expected for files, frames and bags only.")
        if classify and classes is None:
            classes = np.unique(y) if not hasattr(y, "dask") else labels_of(client, da.unique(da.asarray(y)))
        q = None if y.ndim == 1 else y.shape[1]
        targets, weights = like_chunks(y, X, "y"), like_chunks(weight, X, "sample_weight")
        blocks = list(zip(X.to_delayed().ravel().tolist(), targets, weights))
        work: Any = tasks.block_part
    elif narrow is not None:
        if not data.known_divisions:
            raise ValueError("A narrow frame must be indexed by its rows: frame.set_index('row') first.")
        if classify and classes is None:
            classes = labels_of(client, data[data[narrow[0]] == y][narrow[1]].unique())
        blocks, work, extra = [(part,) for part in data.to_delayed()], tasks.narrow_part, (y, tuple(narrow))
    elif isinstance(y, str) or kind == "bag":
        if classify and classes is None:
            lazy = data.pluck(y).distinct() if kind == "bag" else data[y].unique()
            classes = labels_of(client, lazy)
        named = {"target": y} | ({} if weight is None else {"weight": weight})
        blocks, work, extra = (
            [(part,) for part in data.to_delayed()],
            tasks.table_part,
            ({**options, **named},),
        )
    else:
        if classify and classes is None:
            classes = labels_of(client, y.unique())
        series = [[None] * data.npartitions if s is None else s.to_delayed() for s in (y, weight)]
        if any(len(s) != data.npartitions for s in series):
            raise ValueError(
                f"X has {data.npartitions} partitions and y {len(series[0])}; partition both alike."
            )
        blocks, work, extra = list(zip(data.to_delayed(), *series)), tasks.joined_part, (options,)
    made = task(estimator, p=data.shape[1] if kind == "array" else None, q=q, classes=classes)

    def leaves(made: Task) -> Leaves:
        if made.columns is not None and narrow is not None:
            raise ParamError("candidates", len(made.columns.numbers), "expected None for narrow frames.")
        return block_leaves(client, made, blocks, work, extra)

    return made, leaves
