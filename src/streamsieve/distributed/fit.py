"""Fit an estimator partition by partition: on this machine, or with any engine that can run a `Task`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.params import ParamError
from ..core.rows import read_frame
from ..core.tasks import Classification, Regression
from ..sources import read
from ..sources.files import is_query
from ..sources.readers.frames import SAMPLE, as_frames
from ..training.model import Model
from ..training.source import as_labels
from .jobs import Job, unit_task
from .partial import Partial, Task, leaf_rows, merge_in_order
from .parts import Columns, Part, check_mergeable, fitted, named
from .plan import WHOLE_SOURCE, Plan, plan

_FIRST_ROWS = 10_000  # looked at to find the labels
_SAMPLE_VALUES = 1 << 22  # Spark's driver, which has 1 GB by default, holds them several times
_LEAST_SAMPLE = 1000  # rows


def missing_numbers(estimator: Any) -> str:
    """What to do with missing numbers of tables by default."""
    model = estimator if isinstance(estimator, Model) else estimator._new_model()
    return str(model.method.missing_numbers)


def prepare(estimator: Any, source: Plan | None = None, classes: Any = None, *, dense: bool = False) -> Model:
    """The task for `accumulate`: the method of an estimator, and what it predicts.

    Parameters
    ----------
    estimator : estimator or Model
        Its fitted state is ignored.
    source : Plan or None
        Source of the labels of a classifier: its first 10,000 rows.
    classes : sequence or None
        All labels, if the first rows may not contain all of them.
    dense : bool, default=False
        Whether all units must have the same columns.
    """
    dense = dense or (source is not None and source.layout.format == "npy")
    model = estimator
    if not isinstance(estimator, Model):
        if getattr(estimator, "class_weight", None) is not None:
            raise ParamError(
                "class_weight",
                estimator.class_weight,
                "expected None where units are learned by workers: put the weights of the classes into the "
                "units' "
                "own weights.",
            )
        model = type(estimator)(**estimator.get_params(deep=False))._to_model()
    method: Any = model.method.with_values()
    if "grow" in method.params and not dense:
        method.grow = True  # units bring features that those before have not met
    if model.task_name == "regression":
        if classes is not None:
            raise ParamError("classes", classes, "expected for classifiers only.")
        return Model(method, "regression", model.task or Regression())
    if classes is None and model.task is not None:
        return Model(method, "classification", model.task)
    if classes is None:
        if source is None:
            raise ParamError("classes", None, "expected all labels.")
        classes = _first_labels(source)
    return Model(method, "classification", Classification.of(classes))


def _first_labels(source: Plan) -> Any:
    targets, rows = [], 0
    for unit in source:
        with named(unit):
            for examples in unit.open(n_jobs=1).blocks():
                targets.append(as_labels(examples.y))
                rows += examples.n
                if rows >= _FIRST_ROWS:
                    return np.concatenate(targets)
    return np.concatenate(targets)


def task(
    estimator: Any,
    sample: Any = None,
    *,
    target: Any = None,
    weight: Any = None,
    p: int | None = None,
    q: int | None = None,
    classes: Any = None,
    **options: Any,
) -> Task:
    """The task that is sent to every worker.

    Parameters
    ----------
    estimator : estimator
        It is not changed.
    sample : frame, Arrow stream or None
        The first rows, from which the schema (at most 100,000 rows) and the labels of a classifier are
        inferred. None for arrays.
    target, weight : str or None
        Columns of the targets and of the sample weights.
    p, q : int or None
        Arrays: the number of features, and of targets if `y` has several columns.
    classes : sequence or None
        All labels, if the first rows may not contain all of them.
    **options
        Options of `read`: columns, categorical, missing, schema, ...

    Returns
    -------
    Task

    Examples
    --------
    >>> import pandas as pd
    >>> from streamsieve import OLSthRegressor, distributed
    >>> frame = pd.DataFrame({"a": [1.0, 2, 3, 5], "b": [2.0, 1, 2, 1], "y": [1.0, 2, 3, 5]})
    >>> task = distributed.task(OLSthRegressor(1), frame, target="y")
    >>> left, right = task.zero(row=0).update(frame[:1]), task.zero(row=1).update(frame[1:])
    >>> left.merge(right).finish().get_feature_names_out()
    array(['a'], dtype=object)
    """
    if sample is None:
        like = prepare(estimator, None, classes, dense=p is not None)
        if q is not None and isinstance(like.task, Regression):
            like.task = Regression(q, False)
        return Task(like, leaf=leaf_rows(p) if p is not None else 0, estimator=estimator, p=p)
    for name, default in WHOLE_SOURCE.items():
        if options.get(name, default) != default:
            raise ParamError(name, None, "expected on one machine only: partitions do not know all rows.")
    if target is None:
        raise ParamError("target", None, "expected the column to predict.")
    options = {"missing": missing_numbers(estimator), **options, "target": target}
    options |= {} if weight is None else {"weight": weight}
    stream = read(list(as_frames(sample)), **options)
    labels, rows = [], 0
    for examples in stream.blocks():
        labels.append(as_labels(examples.y))
        rows += examples.n
        if rows >= _FIRST_ROWS:
            break
    if classes is None and estimator._task_name == "classification":
        classes = np.concatenate(labels)
    like = prepare(estimator, None, classes)
    table = stream.layout()
    options.pop("schema", None)
    made = Task(like, table=table, options=options, estimator=estimator)
    return replace(made, leaf=leaf_rows(len(made.names or ())))


def fit(
    estimator: Any,
    source: Any,
    *,
    unit: int | str = "256MB",
    classes: Any = None,
    candidates: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Any:
    """Fit an estimator unit by unit, on this machine.

    The result is bit-for-bit that of `streamsieve.dask`, `spark` and `ray` on the same rows: with the same
    plan for text, and with any partitioning for Parquet files, frames and Arrow streams.

    Parameters
    ----------
    estimator : estimator
        An estimator on running averages, or `Sieve`; it is not changed.
    source : path, glob, list of them, Plan, or anything with an Arrow stream
        A frame of polars (also lazy), pandas or pyarrow, a relation of DuckDB, a table of Ibis, ... is read
        block by block, once for each pass.
    unit : int or str, default="256MB"
        As in `plan`.
    classes : sequence or None
        All labels, if the first 10,000 rows may not contain all of them.
    candidates : int or None
        As in `streamsieve.dask.fit`.
    folder : path or None
        Folder for finished units of files; if the same call is repeated, it skips them.
    progress : callable or None
        Called after each unit with the number of finished units and of all units.
    **options
        Options of `plan` or of `read`: target, format, ...

    Returns
    -------
    estimator
        Fitted.
    """
    if not _is_files(source):
        made = task(estimator, _first_frames(source), classes=classes, **options)
        return fit_task(made, lambda task: task.zero(row=0).update(source), candidates)
    folder = make_folder(folder)
    made, units = files_task(estimator, source, unit, classes, **options)

    def run(task: Task) -> Partial:
        job = Job(units, task, folder)
        return merge_in_order(parts(job, range(len(units)), progress))

    return fit_task(made, run, candidates)


def _is_files(source: Any) -> bool:
    """Whether a source is a plan, or files that are cut into units."""
    if isinstance(source, list | tuple):
        return all(isinstance(one, str | os.PathLike) for one in source)
    return isinstance(source, Plan | os.PathLike) or (isinstance(source, str) and not is_query(source))


def _first_frames(source: Any) -> list[Any]:
    """The first rows of a source that can be read again, as frames: those that the schema is made of."""
    if iter_once(source):
        raise TypeError(
            f"source is a {type(source).__name__}, which can be read only once; pass it to partial_fit."
        )
    first: list[Any] = []
    missing = None
    for native in as_frames(source):
        frame = read_frame(native)
        missing = sample_rows(len(frame.columns)) if missing is None else missing
        first.append(frame[:missing].to_native())
        missing -= len(first[-1])
        if missing <= 0:
            break
    return first


def sample_rows(columns: int) -> int:
    """Rows of a frame that the schema is made of: 100,000, or fewer of a wide one."""
    return int(np.clip(_SAMPLE_VALUES // max(columns, 1), _LEAST_SAMPLE, SAMPLE))


def iter_once(source: Any) -> bool:
    """Whether a source can be read only once: a reader of Arrow batches, an iterator."""
    return hasattr(source, "read_next_batch") or isinstance(source, Iterator)


def files_task(
    estimator: Any, source: Any, unit: int | str, classes: Any, *, target: Any = None, weight: Any = None,
    **options: Any,
) -> tuple[Task, Plan]:  # fmt: skip
    """The job of every worker that reads files, and the units of the files."""
    options |= {name: value for name, value in (("target", target), ("weight", weight)) if value is not None}
    if not isinstance(source, Plan):
        options.setdefault("missing", missing_numbers(estimator))
    units = as_plan(source, unit, options)
    return unit_task(units, prepare(estimator, units, classes), estimator), units


def as_plan(source: Any, unit: int | str, options: dict[str, Any]) -> Plan:
    """The plan, or a new plan of the files."""
    if not isinstance(source, Plan):
        return plan(source, unit, **options)
    if options:
        raise ParamError(min(options), options[min(options)], "expected in the call of plan.")
    return source


def make_folder(folder: str | os.PathLike[str] | None) -> str | None:
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
    return None if folder is None else os.path.abspath(folder)


def parts(
    job: Job, numbers: Iterable[int], progress: Callable[[int, int], None] | None = None
) -> Iterator[Partial]:
    """The parts of some units, in order; for a method that cannot be merged, that of all units so far."""
    numbers = list(numbers)
    before: Partial | None = None
    for done, number in enumerate(numbers, 1):
        if job.task.merges:
            yield job.part(number)
        else:
            before = job.learn_next(before, number)
        if progress is not None:
            progress(done, len(numbers))
    if before is not None:
        yield before


def fit_task(made: Task, run: Callable[[Task], Partial], candidates: int | None = None) -> Any:
    """The estimator of a task, fitted by an engine in one or several passes; see `learn`.

    The tasks that `run` is given have no estimator: return their merged result, without calling `finish`.
    """
    sent = replace(made, estimator=None)  # to unpickle it, every worker would import scikit-learn: 1 s
    return fitted(made.estimator, *learn(sent, run, candidates), (made.table or {}).get("schema"))


def learn(
    made: Task, run: Callable[[Task], Partial], candidates: int | None = None
) -> tuple[Part, Columns | None]:
    """Learn a source in as many passes as the method needs.

    Parameters
    ----------
    made : Task
    run : callable
        The engine: learns all rows with a given task. If `Task.merges` is false, one worker learns them in
        order; otherwise partitions can be learned in parallel.
    candidates : int or None
        Number of columns that are averaged.

    Returns
    -------
    Part, Columns or None
        The learned part, and the candidates of the averages.
    """
    like, method = made.like, made.like.method
    if candidates is not None and not method.screens and not method.merges:
        raise ParamError("candidates", candidates, f"expected None: {like.name} needs no p^2 averages.")
    if not method.screens and candidates is None:
        if made.merges:
            check_mergeable(like)
        return run(made).whole(), None
    from .sieves import learn_averages, learn_sieve

    if method.screens:
        return learn_sieve(made, run, candidates), None
    return learn_averages(made, run, candidates)
