"""Partitions of Spark, learned by executors and merged in a tree; the driver collects a few states."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ..core.params import ParamError
from ..distributed.fit import files_task, fit_task, parts, sample_rows, task
from ..distributed.jobs import Job
from ..distributed.partial import Partial, Task, merge_in_order
from ..distributed.plan import Plan

_FAN = 8  # states that are merged by one task, and collected in the end
_STATE = "number long, state binary"


def fit(
    estimator: Any,
    data: Any,
    target: str | None = None,
    *,
    weight: str | None = None,
    features: str | None = None,
    classes: Any = None,
    candidates: int | None = None,
    count: bool = True,
    unit: int | str = "256MB",
    **options: Any,
) -> Any:
    """Fit an estimator by the executors of Spark.

    Parameters
    ----------
    estimator : estimator
        It is not changed. A row-wise learner is fitted by one task, partition after partition.
    data : DataFrame, path, glob, list of paths, or Plan
        Files are read by the executors under the same paths.
    target, weight : str or None
        Columns of the targets and of the sample weights.
    features : str or None
        A column of vectors (dense or sparse) or arrays; None: all other columns, encoded as by `read`.
    classes : sequence or None
        All labels of a classifier. None: the labels of the first rows; for vectors, of all rows.
    candidates : int or None
        As in `streamsieve.dask.fit`.
    count : bool, default=True
        If True, count the rows of each partition first; the model is then bit-for-bit independent of the
        partitioning. A frame whose row order is not deterministic must be cached.
    unit : int or str, default="256MB"
        Files: size of a unit.
    **options
        Options of `read`, for files and plain columns: categorical, missing, schema, ...

    Returns
    -------
    estimator
        An ordinary fitted estimator.
    """
    if not isinstance(data, DataFrame):
        made, units = files_task(estimator, data, unit, classes, target=target, weight=weight, **options)
        return fit_task(made, lambda made: _run_units(made, units), candidates)
    frame = needed_columns(data, target, weight, features)
    made = frame_task(estimator, frame, target, weight, features, classes, **options)
    return fit_task(made, lambda made: run_frame(made, frame, features, count), candidates)


def needed_columns(frame: Any, target: str | None, weight: str | None, features: str | None) -> Any:
    """Vectors, targets and weights, in this order; all columns if there are no vectors."""
    if target is None:
        raise ParamError("target", None, "expected the column to predict.")
    return frame if features is None else frame.select(features, target, *([weight] if weight else []))


def frame_task(
    estimator: Any, frame: Any, target: Any, weight: Any, features: Any, classes: Any, **options: Any
) -> Task:
    """The task that is sent to executors."""
    if features is None:
        sample = frame.limit(sample_rows(len(frame.columns))).toArrow()
        return task(estimator, sample, target=target, weight=weight, classes=classes, **options)
    first = frame.select(features).head()
    if first is None:
        raise ValueError("There is not a single row in all partitions.")
    if classes is None and estimator._task_name == "classification":
        classes = [row[0] for row in frame.select(target).distinct().collect()]
    return task(estimator, p=len(first[0]), classes=classes)


def run_frame(made: Task, frame: Any, features: str | None, count: bool = True, first: int = 0) -> Partial:
    """Learn all rows of a frame, of which the first has this number."""
    if not made.merges:
        return run_in_turn(made.zero(), frame, features)
    rows = _first_rows(frame, first) if made.by_rows and count else {}
    return _reduce(made, _learn(made, frame, features, rows), len(rows) or frame.rdd.getNumPartitions())


def _first_rows(frame: Any, first: int) -> dict[int, int]:
    """The number of the first row of each partition."""
    if "Exchange" in frame._jdf.queryExecution().executedPlan().toString():
        counted = frame.mapInArrow(_count, "number long, n long").collect()
        n = len(counted)
    else:  # no shuffle, whose partitions depend on the columns: files are counted without reading any
        counted = frame.groupBy(F.spark_partition_id().alias("number")).agg(F.count("*").alias("n")).collect()
        n = frame.rdd.getNumPartitions()
    sizes = {row.number: row.n for row in counted}
    return dict(enumerate(np.cumsum([first, *(sizes.get(i, 0) for i in range(n - 1))]).tolist()))


def run_in_turn(before: Partial, frame: Any, features: str | None) -> Partial:
    """Continue to learn with all rows of a frame, in one task."""

    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        part = _update(before, batches, features)
        yield _batch(0, pickle.dumps(part))  # not `to_bytes`, after which no more rows can come

    part: Partial = pickle.loads(frame.coalesce(1).mapInArrow(learn, _STATE).head().state)
    return part


def _update(part: Partial, batches: Iterator[Any], features: str | None) -> Partial:
    for batch in batches:
        part.update(batch if features is None else _arrays(batch))
    return part


def _learn(made: Task, frame: Any, features: str | None, rows: dict[int, int]) -> Any:
    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        number = TaskContext.get().partitionId()
        yield _batch(number, _update(made.zero(number, rows.get(number)), batches, features).to_bytes())

    return frame.mapInArrow(learn, _STATE)


def _run_units(made: Task, units: Plan) -> Partial:
    """Learn files, a unit in each task."""
    job, n = Job(units, made), len(units)
    if not made.merges:
        return merge_in_order(parts(job, range(n)))

    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _batch(number, job.part(number).to_bytes())

    numbers = SparkSession.active().range(0, n, 1, n)
    return _reduce(made, numbers.mapInArrow(learn, _STATE), n)


def _count(batches: Iterator[Any]) -> Iterator[Any]:
    n = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"number": [TaskContext.get().partitionId()], "n": [n]})


def _batch(number: int, state: bytes) -> Any:
    return pa.RecordBatch.from_pydict({"number": [number], "state": [state]})


def _reduce(made: Task, states: Any, n: int) -> Partial:
    """Merge neighbours, some in each task, until few are left to be collected."""

    def join(key: Any, table: Any) -> Any:
        order = np.argsort(table.column("number").to_numpy())
        merged = merge_in_order(made.from_bytes(table.column("state")[int(i)].as_buffer()) for i in order)
        return pa.Table.from_batches([_batch(key[0].as_py(), merged.to_bytes())])

    while n > _FAN:
        key = F.floor(F.col("number") / _FAN).alias("group")  # Spark refuses a second column "number"
        states, n = states.groupBy(key).applyInArrow(join, _STATE), -(-n // _FAN)
    return merge_in_order(
        made.from_bytes(row.state) for row in sorted(states.collect(), key=lambda row: row.number)
    )


def _arrays(batch: Any) -> tuple[Any, ...]:
    """Vectors, targets and weights of a record batch."""
    from scipy.sparse import csr_array

    column, *others = batch.columns
    rest = [other.to_numpy(zero_copy_only=False) for other in others]
    if not pa.types.is_struct(column.type):
        return np.array(column.to_pylist(), dtype=np.float64).reshape(len(batch), -1), *rest
    kind, size, indices, values = (column.field(i) for i in range(4))
    dense = kind.to_numpy(zero_copy_only=False) == 1
    if dense.all():
        return values.flatten().to_numpy().reshape(len(batch), -1), *rest
    lengths = values.value_lengths().to_numpy()
    p = int(np.where(dense, lengths, size.fill_null(0))[0])
    of = [np.arange(p) if is_dense else row for is_dense, row in zip(dense, indices.to_pylist())]
    csr = values.flatten().to_numpy(), np.concatenate(of), np.r_[0, np.cumsum(lengths)]
    return csr_array(csr, (len(batch), p)), *rest
