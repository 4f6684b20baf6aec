"""Partitions of Spark, learned by executors and merged in a tree; the driver collects a few states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ..core.params import ParamError
from ..distributed.fit import as_plan, fit_task, prepare, task
from ..distributed.jobs import Job, unit_task
from ..distributed.partial import Partial, Task, merge_in_order

_SAMPLE = 100_000  # rows of which the schema is made
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
        It is not changed. One that learns row by row is learned by one task, partition after partition.
    data : DataFrame, path, glob, list of paths, or Plan
        Files are read by the executors, under the same names.
    target, weight : str or None
        Columns of the targets and of the sample weights.
    features : str or None
        A column of vectors (dense or sparse) or arrays; None for all other columns, as `read` takes them.
    classes : sequence or None
        All labels of a classifier. None takes those of the first rows; of vectors, of all.
    candidates : int or None
        As of `streamsieve.dask.fit`.
    count : bool, default=True
        Count the rows of each partition first: then the model does not depend on the partitioning, to the
        last bit. A frame that gives its rows in another order each time has to be cached for it.
    unit : int or str, default="256MB"
        Files: size of a unit.
    **options
        Of `read`, for files and plain columns: categorical, missing, schema, ...

    Returns
    -------
    estimator
        An ordinary fitted estimator.
    """
    spark = SparkSession.active()
    if not isinstance(data, DataFrame):
        named = {} if target is None else {"target": target}
        units = as_plan(data, unit, {**options, **named, **({} if weight is None else {"weight": weight})})
        made = unit_task(units, prepare(estimator, units, classes), estimator)
        numbers = spark.range(0, len(units), 1, len(units))
        return fit_task(made, lambda task: _run_units(task, numbers, units), candidates)
    if target is None:
        raise ParamError("target", None, "expected the column to predict.")
    made, frame = _task(estimator, data, target, weight, features, classes, options)
    return fit_task(made, lambda task: _run(task, frame, features, count), candidates)


def _task(
    estimator: Any, data: Any, target: str, weight: Any, features: Any, classes: Any, options: dict[str, Any]
) -> tuple[Task, Any]:
    """What executors are given, and the columns that they need."""
    if features is None:
        sample = data.limit(_SAMPLE).toArrow()
        return task(estimator, sample, target=target, weight=weight, classes=classes, **options), data
    frame = data.select(features, target, *([] if weight is None else [weight]))
    first = frame.select(features).head()
    if first is None:
        raise ValueError("There is not a single row in all partitions.")
    if classes is None and estimator._task_name == "classification":
        classes = [row[0] for row in frame.select(target).distinct().collect()]
    return task(estimator, p=len(first[0]), classes=classes), frame


def _run(made: Task, frame: Any, features: str | None, count: bool = True, first: int = 0) -> Partial:
    """Learn all rows of a frame, of which the first has this number."""
    if not made.merges:
        return made.from_bytes(_learn(made, frame.coalesce(1), features, {0: 0}).collect()[0].state)
    rows: dict[int, int] = {}
    if made.by_rows and count:
        counted = frame.mapInArrow(_count, "number long, n long").collect()
        for number, n in sorted((row.number, row.n) for row in counted):
            rows[number], first = first, first + n
    states = _learn(made, frame, features, rows)
    return _reduce(made, states, frame.rdd.getNumPartitions() if not rows else len(rows))


def _learn(made: Task, frame: Any, features: str | None, rows: dict[int, int]) -> Any:
    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        number = TaskContext.get().partitionId()
        part = made.zero(number, rows.get(number))
        for batch in batches:
            part.update(batch if features is None else _arrays(batch))
        yield _batch(number, part)

    return frame.mapInArrow(learn, _STATE)


def _run_units(made: Task, numbers: Any, units: Any) -> Partial:
    """Learn files, a unit in each task."""
    job = Job(units, made)
    if not made.merges:
        return merge_in_order(_in_turn(job))

    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _batch(number, job.part(number))

    return _reduce(made, numbers.mapInArrow(learn, _STATE), len(units))


def _in_turn(job: Job) -> Iterator[Partial]:
    part = None
    for number in range(len(job.plan)):
        part = job.learn_next(part, number)
    assert part is not None
    yield part


def _count(batches: Iterator[Any]) -> Iterator[Any]:
    n = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"number": [TaskContext.get().partitionId()], "n": [n]})


def _batch(number: int, part: Partial) -> Any:
    state = pa.array([part.to_bytes()], pa.binary())
    return pa.RecordBatch.from_arrays([pa.array([number], pa.int64()), state], ["number", "state"])


def _reduce(made: Task, states: Any, n: int) -> Partial:
    """Merge neighbours, some in each task, until few are left to be collected."""

    def join(key: Any, table: Any) -> Any:
        order = np.argsort(table.column("number").to_numpy())
        parts = [made.from_bytes(table.column("state")[int(i)].as_buffer()) for i in order]
        return pa.Table.from_batches([_batch(key[0].as_py(), merge_in_order(parts))])

    while n > _FAN:
        key = F.floor(F.col("number") / _FAN).alias("number")
        states = states.groupBy(key).applyInArrow(join, _STATE)
        n = -(-n // _FAN)
    return merge_in_order(
        made.from_bytes(row.state) for row in sorted(states.collect(), key=lambda row: row.number)
    )


def _arrays(batch: Any) -> tuple[Any, ...]:
    """Vectors, targets and weights of a record batch."""
    from scipy.sparse import csr_array

    column, *others = batch.columns
    y, weight = (*(other.to_numpy(zero_copy_only=False) for other in others), None)[:2]
    if not pa.types.is_struct(column.type):
        return np.array(column.to_pylist(), dtype=np.float64).reshape(len(batch), -1), y, weight
    kind, size, indices, values = (column.field(i) for i in range(4))
    dense = kind.to_numpy(zero_copy_only=False) == 1
    if dense.all():
        return values.flatten().to_numpy().reshape(len(batch), -1), y, weight
    p = int(np.where(dense, values.value_lengths(), size.fill_null(0))[0])
    of = [np.arange(p) if is_dense else row for is_dense, row in zip(dense, indices.to_pylist())]
    lengths = values.value_lengths().to_numpy()
    X = csr_array(
        (values.flatten().to_numpy(), np.concatenate(of), np.r_[0, np.cumsum(lengths)]), (len(batch), p)
    )
    return X, y, weight


class MicroBatches:
    """Learns the micro-batches of a stream: `stream.writeStream.foreachBatch(MicroBatches(...)).start()`.

    A batch that Spark repeats after a failure is learned once. `model` is the estimator of the rows so far.

    Parameters
    ----------
    estimator, target, weight, features, classes, options
        As of `fit`.
    """

    def __init__(self, estimator: Any, target: str, *, weight: str | None = None, features: str | None = None,
                 classes: Any = None, **options: Any) -> None:  # fmt: skip
        self.arguments = estimator, target, weight, features, classes, options
        self.last = -1
        self.part: Partial | None = None

    def __call__(self, frame: Any, number: int) -> None:
        if number <= self.last or frame.isEmpty():
            return
        estimator, target, weight, features, classes, options = self.arguments
        if self.part is None:
            self.task, _ = _task(estimator, frame, target, weight, features, classes, options)
            if not self.task.like.method.merges:
                raise ValueError(
                    f"{self.task.like.name} needs all rows at once; pass an estimator on averages."
                )
        frame = frame.persist()  # counted, then learned
        part = _run(self.task, frame, features, first=0 if self.part is None else self.part.last)
        frame.unpersist()
        self.part = part if self.part is None else self.part.merge(part)
        self.last = number

    @property
    def model(self) -> Any:
        """The estimator, fitted to all rows so far."""
        if self.part is None:
            raise ValueError("No rows have come yet.")
        return self.part.finish()
