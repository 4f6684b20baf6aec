"""Estimators on a Dask cluster: workers accumulate units or partitions and merge them in their order."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from ..fitted import FittedModel
from ..params import ParamError
from ..rows import as_rows
from ..tasks import Regression
from . import tasks
from .fit import Job, as_plan, fitted, learn, make_folder, prepare, table_width
from .parts import Columns, Part, UnitError, merge, tree
from .plan import Plan

_POLL = 1.0  # seconds between looks at the cluster while nothing finishes
_CALL = 30.0  # seconds that the scheduler may take to answer

Progress = Callable[[int, int], None]


def import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError("streamsieve.dask needs dask: pip install 'streamsieve[dask]'.") from None
    return distributed


# ---------------------------------------------------------------- what is read


@dataclass(frozen=True)
class Leaves:
    """The units of a source: how many, and what starts one.

    Attributes
    ----------
    n : int
    submit : callable
        From a client and a unit's number to the future of its part.
    submit_next : callable or None
        The same for learners whose parts cannot be merged: with the future of what was learned before.
    title : callable
        What errors call a unit.
    """

    n: int
    submit: Callable[..., Any]
    submit_next: Callable[..., Any] | None
    title: Callable[[int], str]


def _file_leaves(client: Any, job: Job, token: str) -> Leaves:
    # a task, and no scattered data: it is computed again where the worker that held it dies
    held = client.submit(_same, job, key=f"streamsieve-job-{token}", pure=False)

    def submit(number: int) -> Any:
        key = f"streamsieve-unit-{number}-{token}"
        return client.submit(tasks.unit_part, held, number, key=key, pure=False)

    def submit_next(before: Any, number: int) -> Any:
        key = f"streamsieve-unit-{number}-{token}"
        return client.submit(tasks.learn_next, held, before, number, key=key, pure=False)

    return Leaves(len(job.plan), submit, submit_next, lambda number: str(job.plan[number]))


def _same(value: Any) -> Any:
    return value


def _block_leaves(
    client: Any,
    like: FittedModel,
    blocks: Sequence[tuple[Any, ...]],
    work: Any,
    extra: tuple[Any, ...],
    token: str,
) -> Leaves:
    """Leaves of lazy blocks: each a tuple of delayed values (or None) that `work` gets."""
    held = client.submit(_same, like, key=f"streamsieve-job-{token}", pure=False)

    def futures(number: int) -> list[Any]:
        lazy = [value for value in blocks[number] if value is not None]
        computed = iter(client.compute(lazy))
        return [None if value is None else next(computed) for value in blocks[number]]

    def submit(number: int) -> Any:
        key = f"streamsieve-unit-{number}-{token}"
        return client.submit(work, held, number, *futures(number), *extra, key=key, pure=False)

    def submit_next(before: Any, number: int) -> Any:
        key = f"streamsieve-unit-{number}-{token}"
        return client.submit(
            tasks.learn_next_block, held, before, number, *futures(number), key=key, pure=False
        )

    serial = submit_next if work is tasks.block_part else None
    return Leaves(len(blocks), submit, serial, lambda number: f"unit {number} (partition {number})")


# ---------------------------------------------------------------- the run


class Waiting:
    """Waits for futures, each time for a limited time; errors name the units that are not finished."""

    def __init__(self, client: Any, timeout: float = 3600.0, worker_timeout: float = 120.0) -> None:
        self.client, self.timeout, self.worker_timeout = client, timeout, worker_timeout
        self.worked = self.alive = time.monotonic()
        self.threads = 1

    def look(self, title: Callable[[], str]) -> None:
        """See whether there are workers; UnitError if there have been none for too long."""
        now = time.monotonic()
        try:
            cores = {}
            if self.client.status == "running":
                cores = self.client.sync(self.client.scheduler.ncores, workers=None, callback_timeout=_CALL)
        except (OSError, TimeoutError):
            cores = {}
        self.threads = max(1, sum(cores.values()))
        if cores:
            self.alive = now
        if now - self.alive > self.worker_timeout:
            raise UnitError(
                f"There has been no worker for {now - self.alive:.0f} s; not finished: {title()}."
            )
        if now - self.worked > self.timeout:
            raise UnitError(f"No unit was finished for {now - self.worked:.0f} s; not finished: {title()}.")

    def some(self, futures: Sequence[Any], title: Callable[[], str]) -> list[Any]:
        """Those that are done, at least one."""
        wait = import_distributed().wait
        while True:
            try:
                done = wait(list(futures), timeout=_POLL, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                done = [future for future in futures if future.done()]
            if done:
                self.worked = time.monotonic()
                return list(done)
            self.look(title)


def _check(future: Any, title: str) -> None:
    """Raise the error of a future; UnitError where a worker died or the future was lost."""
    if future.status == "finished":
        return
    error = future.exception(timeout=_CALL) if future.status == "error" else None
    if isinstance(error, UnitError | ValueError | MemoryError):
        raise error
    if type(error).__name__ == "KilledWorker":
        raise UnitError(
            f"U{title[1:]}: the workers that had it died, one after the other ({error})."
        ) from error
    reason = f"{type(error).__name__}: {error}" if error is not None else f"its future is {future.status}"
    raise UnitError(f"U{title[1:]}: {reason}.") from error


def _span_title(span: tuple[int, int], leaves: Leaves) -> str:
    first, last = span
    return leaves.title(first) if last == first + 1 else f"units {first} to {last - 1}"


def run_tree(client: Any, leaves: Leaves, token: str, waiting: Waiting, progress: Progress | None) -> Part:
    """Accumulate all units and merge them in the tree of their numbers.

    A future is let go as soon as what uses it is submitted: the workers then hold the parts that wait for
    their neighbour, about log2(n) in all, and the scheduler knows how to make each again.
    """
    n, wide = leaves.n, (0, leaves.n)
    partner = {child: pair for pair in tree(n) for child in pair}
    running: dict[Any, tuple[int, int]] = {}
    ready: dict[tuple[int, int], Any] = {}
    started = finished = 0

    def title() -> str:
        spans = [_span_title(span, leaves) for span in sorted(running.values())]
        return ", ".join(spans[:4]) + (f" and {len(spans) - 4} more" if len(spans) > 4 else "")

    waiting.look(title)
    try:
        while wide not in ready:
            under_way = sum(last - first == 1 for first, last in running.values())
            while started < n and under_way < waiting.threads:  # more would wait for their neighbours
                running[leaves.submit(started)] = (started, started + 1)
                started, under_way = started + 1, under_way + 1
            for future in waiting.some(list(running), title):
                span = running.pop(future)
                _check(future, _span_title(span, leaves))
                if span[1] == span[0] + 1:
                    finished += 1
                    if progress is not None:
                        progress(finished, n)
                    if finished % 16 == 1:
                        waiting.look(title)
                ready[span] = future
                if span not in partner:
                    continue
                left, right = partner[span]
                if left in ready and right in ready:
                    key = f"streamsieve-merge-{left[0]}-{right[1]}-{token}"
                    pair = ready.pop(left), ready.pop(right)
                    running[client.submit(merge, *pair, key=key, pure=False, priority=10)] = (
                        left[0],
                        right[1],
                    )
                    del pair
            del future
        return _gather(ready[wide], waiting)
    finally:
        client.cancel([*running, *ready.values()])


def run_serially(client: Any, leaves: Leaves, waiting: Waiting, progress: Progress | None) -> Part:
    """Learn all units one after the other, on whichever worker has what was learned before."""
    if leaves.submit_next is None:
        raise ValueError("A learner that cannot be merged reads files or arrays here; pass one of them.")
    before = None
    try:
        for number in range(leaves.n):
            future = leaves.submit_next(before, number)
            waiting.some([future], lambda number=number: leaves.title(number))  # type: ignore[misc]
            _check(future, leaves.title(number))
            before = future
            if progress is not None:
                progress(number + 1, leaves.n)
        return _gather(before, waiting)
    finally:
        client.cancel([before] if before is not None else [])


def _gather(future: Any, waiting: Waiting) -> Part:
    try:
        part: Part = future.result(timeout=waiting.timeout)
    except TimeoutError:
        raise UnitError(f"The result did not arrive within {waiting.timeout:.0f} s.") from None
    return part


# ---------------------------------------------------------------- collections


def _kind(data: Any) -> str:
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


def _like_chunks(values: Any, X: Any, name: str) -> Any:
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


def _labels(client: Any, lazy: Any) -> Any:
    """All labels of a lazy collection, computed by the workers."""
    found = client.compute(lazy).result()
    return np.unique(np.asarray(found))


def _collection_leaves(
    client: Any,
    estimator: Any,
    data: Any,
    y: Any,
    weight: Any,
    classes: Any,
    narrow: tuple[str, str] | None,
    options: dict[str, Any],
) -> tuple[FittedModel, Callable[[FittedModel, Columns | None, str], Leaves], int | None]:
    """What is to be learned from a Dask collection, what makes its leaves, and its width where known."""
    kind, classify = (
        _kind(data),
        hasattr(estimator, "predict_one") and "Classifier" in type(estimator).__name__,
    )
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
            classes = np.unique(y) if not hasattr(y, "dask") else _labels(client, da.unique(da.asarray(y)))
        q = None if y.ndim == 1 else y.shape[1]
        targets, weights = _like_chunks(y, X, "y"), _like_chunks(weight, X, "sample_weight")
        blocks = list(zip(X.to_delayed().ravel().tolist(), targets, weights))
        work: Any = tasks.block_part
    elif narrow is not None:
        if not data.known_divisions:
            raise ValueError("A narrow frame must be indexed by its rows: frame.set_index('row') first.")
        if classify and classes is None:
            classes = _labels(client, data[data[narrow[0]] == y][narrow[1]].unique())
        blocks, work, extra = [(part,) for part in data.to_delayed()], tasks.narrow_part, (y, tuple(narrow))
    elif isinstance(y, str) or kind == "bag":
        if classify and classes is None:
            lazy = data.pluck(y).distinct() if kind == "bag" else data[y].unique()
            classes = _labels(client, lazy)
        named = {"target": y} | ({} if weight is None else {"weight": weight})
        blocks, work, extra = (
            [(part,) for part in data.to_delayed()],
            tasks.table_part,
            ({**options, **named},),
        )
    else:
        if classify and classes is None:
            classes = _labels(client, y.unique())
        series = [[None] * data.npartitions if s is None else s.to_delayed() for s in (y, weight)]
        if any(len(s) != data.npartitions for s in series):
            raise ValueError(
                f"X has {data.npartitions} partitions and y {len(series[0])}; partition both alike."
            )
        blocks, work, extra = list(zip(data.to_delayed(), *series)), tasks.joined_part, (options,)
    like = prepare(estimator, None, classes, dense=kind == "array")
    if q is not None and isinstance(like.task, Regression):
        like.task = Regression(q, False)

    def leaves(like: FittedModel, columns: Columns | None, token: str) -> Leaves:
        more = extra
        if columns is not None:
            if narrow is not None:
                raise ParamError("candidates", len(columns.numbers), "expected None for narrow frames.")
            more = (columns,) if kind == "array" else ({**extra[0], "feature_names": columns.names},)
        return _block_leaves(client, like, blocks, work, more, token)

    return like, leaves, data.shape[1] if kind == "array" else None


# ---------------------------------------------------------------- for users


def fit(
    estimator: Any,
    data: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    client: Any = None,
    classes: Any = None,
    candidates: int | None = None,
    narrow: tuple[str, str] | None = None,
    unit: int | str = "256MB",
    folder: str | os.PathLike[str] | None = None,
    timeout: float = 3600.0,
    worker_timeout: float = 120.0,
    progress: Progress | None = None,
    **options: Any,
) -> Any:
    """Fit an estimator on the workers of a Dask cluster.

    Every worker accumulates units (of files) or partitions on its own, and parts merge by their numbers: the
    result is the same, to the last bit, for any number of workers and any order of their work, also where
    workers die in between. It equals one machine to rounding, folds of cross-validation included.

    Estimators that learn row by row cannot be merged. They go through the units one after the other, with
    the result of one machine, bit for bit. `Sieve` and `candidates` make two passes.

    Parameters
    ----------
    estimator : estimator
        It is not changed.
    data : dask array, dask data frame, dask bag of dicts, path, glob, list of paths, or Plan
        Files are read by the workers, under the same names.
    y : dask array or series, or str
        Targets, or the name of their column (key); None for files, which have `target`.
    sample_weight : dask array or series, str, or None
        Weights, or the name of their column (key).
    client : distributed.Client or None
        None takes the one that was made last.
    classes : sequence or None
        All labels of a classifier. None computes them, or takes those of the first 10,000 rows of files.
    candidates : int or None
        Two passes, for more features than averages of all can hold: in the first every unit votes for those
        that its own `Sieve` finds strongest, in the second averages are made of so many, those with the most
        votes or the largest marginal correlation. The estimator is then of these columns of X, whose numbers
        are in `candidates_`. `Sieve` does so by itself, as its `memory` demands, and is of all columns; with
        a loss other than the squared one it reads the candidates' rows in turn.
    narrow : (str, str) or None
        The frame is narrow: its index is the row, and these columns hold the feature (a name, or a number
        from 0) and the value. `y` is the feature that is the target.
    unit : int or str, default="256MB"
        Files: size of a unit.
    folder : path or None
        Files: a folder that all workers see, for finished units; the same call skips them when started again.
    timeout, worker_timeout : float, default=3600, 120
        Seconds without a finished unit, and without any worker, after which `UnitError` is raised.
    progress : callable or None
        Called with the number of finished units and that of all.
    **options
        Of `read`, for files (`target`, `format`, ...), frames and bags.

    Returns
    -------
    estimator
        An ordinary fitted estimator of the same class and parameters.
    """
    client = import_distributed().get_client() if client is None else client
    limits = {"timeout": timeout, "worker_timeout": worker_timeout}
    if _kind(data) == "files":
        if y is not None or sample_weight is not None:
            raise ParamError("y", y, "expected None for files; name the columns as target and weight.")
        units = as_plan(data, unit, options)
        like = prepare(estimator, units, classes)
        return fitted(
            estimator, *fit_plan(client, units, like, make_folder(folder), progress, candidates, **limits)
        )
    if folder is not None:
        raise ParamError("folder", folder, "expected for files only; persist a collection instead.")
    like, leaves, width = _collection_leaves(
        client, estimator, data, y, sample_weight, classes, narrow, options
    )
    return fitted(estimator, *_learn(client, like, leaves, progress, candidates, width, **limits))


def fit_plan(
    client: Any,
    units: Plan,
    like: FittedModel,
    folder: str | None = None,
    progress: Progress | None = None,
    candidates: int | None = None,
    **limits: float,
) -> tuple[Part, Columns | None]:
    """What all units of files give."""

    def leaves(like: FittedModel, columns: Columns | None, token: str) -> Leaves:
        return _file_leaves(client, Job(units, like, folder, columns), token)

    return _learn(client, like, leaves, progress, candidates, table_width(units), **limits)


def _learn(
    client: Any,
    like: FittedModel,
    leaves: Callable[[FittedModel, Columns | None, str], Leaves],
    progress: Progress | None,
    candidates: int | None,
    width: int | None,
    **limits: float,
) -> tuple[Part, Columns | None]:
    """Learn all leaves: in parallel where parts merge, in two passes for candidates, else in turn."""

    def run(like: FittedModel, columns: Columns | None) -> Part:
        token = uuid.uuid4().hex[:12]
        return run_tree(client, leaves(like, columns, token), token, Waiting(client, **limits), progress)

    def serially(like: FittedModel) -> Part:
        token = uuid.uuid4().hex[:12]
        return run_serially(client, leaves(like, None, token), Waiting(client, **limits), progress)

    with client.as_current():  # `wait` asks for no client
        return learn(like, run, serially, candidates, width)


class DaskSelector:
    """An estimator of this library, fitted on a Dask cluster; predictions and selections stay lazy.

    Parameters
    ----------
    estimator : estimator
        Of any method; see `streamsieve.dask.fit`.
    client : distributed.Client or None, default=None
        None takes the one that was made last.
    unit, folder, timeout, worker_timeout
        As of `streamsieve.dask.fit`.

    Attributes
    ----------
    estimator_ : estimator
        The ordinary fitted estimator; its other attributes (`coef_`, `classes_`, ...) are found here too.

    Examples
    --------
    >>> import dask.array as da                                              # doctest: +SKIP
    >>> from streamsieve import OLSthRegressor
    >>> from streamsieve.dask import DaskSelector                            # doctest: +SKIP
    >>> selector = DaskSelector(OLSthRegressor(10)).fit(X, y)                # doctest: +SKIP
    >>> selector.transform(X).compute()                                      # doctest: +SKIP
    """

    def __init__(
        self,
        estimator: Any,
        client: Any = None,
        *,
        unit: int | str = "256MB",
        folder: str | os.PathLike[str] | None = None,
        timeout: float = 3600.0,
        worker_timeout: float = 120.0,
    ) -> None:
        self.estimator, self.client, self.unit, self.folder = estimator, client, unit, folder
        self.timeout, self.worker_timeout = timeout, worker_timeout

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` those of the estimator too, as ``estimator__k``."""
        names = ("estimator", "client", "unit", "folder", "timeout", "worker_timeout")
        own = {name: getattr(self, name) for name in names}
        nested = self.estimator.get_params(deep=True) if deep else {}
        return own | {f"estimator__{name}": value for name, value in nested.items()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the estimator (``estimator__k``)."""
        for name, value in params.items():
            if name.startswith("estimator__"):
                self.estimator.set_params(**{name.removeprefix("estimator__"): value})
            elif name in self.get_params(deep=False):
                setattr(self, name, value)
            else:
                raise ParamError(name, value, f"expected one of {', '.join(self.get_params(deep=False))}.")
        return self

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Self:
        """Fit on a Dask collection, or on files; `options` are those of `streamsieve.dask.fit`."""
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "estimator"}
        self.estimator_ = fit(self.estimator, X, y, sample_weight=sample_weight, **settings, **options)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; has it been fitted?")
        return getattr(self.estimator_, name)

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    def predict(self, X: Any) -> Any:
        """Predicted targets or labels: lazy for a Dask array (an array) or data frame (a series)."""
        return self._lazy(X, "predict")

    def decision_function(self, X: Any) -> Any:
        """Scores of a classifier, lazy as those of `predict`."""
        return self._lazy(X, "decision_function")

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, lazy as those of `predict`."""
        return self._lazy(X, "predict_proba")

    def transform(self, X: Any) -> Any:
        """The selected columns: lazy for a Dask array or data frame."""
        if not hasattr(X, "dask"):
            return self.estimator_.transform(X)
        if getattr(self.estimator_, "interactions", False):
            raise ValueError("transform of a Dask collection selects columns; it makes no interactions.")
        support = self.estimator_.get_support(indices=True)
        if _kind(X) == "frame":
            return X[[X.columns[j] for j in support]]
        return X[:, support]

    def _lazy(self, X: Any, name: str) -> Any:
        if not hasattr(X, "dask"):
            return getattr(self.estimator_, name)(X)
        few = Predictor.of(self.estimator_, name)
        sample = few(np.zeros((1, self.estimator_.n_features_in_)))
        if _kind(X) == "frame":
            names = getattr(self.estimator_, "feature_names_in_", None)
            frame = X if names is None else X[list(names)]
            return frame.map_partitions(
                partial(_predicted_frame, few), meta=_predicted_frame(few, frame._meta)
            )
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        if sample.ndim == 1:
            return X.map_blocks(few, drop_axis=1, dtype=sample.dtype, meta=sample[:0])
        return X.map_blocks(
            few, chunks=(X.chunks[0], (sample.shape[1],)), dtype=sample.dtype, meta=sample[:0]
        )


@dataclass(frozen=True)
class Predictor:
    """What predicts rows without the averages behind the model, so that little is sent."""

    support: Any
    coef: Any
    intercept: Any
    task: Any
    name: str
    probabilities: Any

    @classmethod
    def of(cls, estimator: Any, name: str) -> Any:
        """Of a fitted estimator: the selected weights, or all of it where products or means are needed."""
        if getattr(estimator, "interactions", False) or getattr(estimator, "missing", "error") == "mean":
            return partial(_call, estimator, name)
        coef, intercept = estimator.method_.coefficients()
        support = np.flatnonzero(coef.any(axis=0))
        probabilities = type(estimator.method_).probabilities if name == "predict_proba" else None
        if name == "predict_proba" and not hasattr(estimator, name):
            raise AttributeError(f"{type(estimator).__name__} has no predict_proba with this loss.")
        slim = type(estimator.method_)(**estimator.method_.values) if probabilities else None
        return cls(support, np.ascontiguousarray(coef[:, support].T), intercept, estimator._task, name, slim)

    def __call__(self, X: Any) -> Any:
        rows = as_rows(X)[0].columns(self.support)
        scores = rows.scores(self.coef, self.intercept)
        if self.name == "predict":
            return self.task.decode(scores)
        if self.name == "predict_proba":
            return self.probabilities.probabilities(scores)
        return scores[:, 0] if scores.shape[1] == 1 else scores


def _call(estimator: Any, name: str, X: Any) -> Any:
    return getattr(estimator, name)(X)


def _predicted_frame(predict: Any, frame: Any) -> Any:
    import pandas as pd

    values = predict(frame.to_numpy(dtype=np.float64))
    return (pd.Series if values.ndim == 1 else pd.DataFrame)(values, index=frame.index)
