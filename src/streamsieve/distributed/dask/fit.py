"""Fit an estimator on a cluster."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import Any

from ...core.params import ParamError
from ..fit import as_plan, fit_task, make_folder, prepare
from ..jobs import Job, unit_task
from ..partial import Partial, Task
from ..plan import Plan
from .blocks import collection_leaves, kind_of
from .run import Leaves, Progress, Waiting, file_leaves, import_distributed, run_serially, run_tree


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
        a loss other than the squared one, workers send the rows of the candidates, as many as `memory` holds.
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
    if kind_of(data) == "files":
        if y is not None or sample_weight is not None:
            raise ParamError("y", y, "expected None for files; name the columns as target and weight.")
        units = as_plan(data, unit, options)
        made = unit_task(units, prepare(estimator, units, classes), estimator)
        run = plan_run(client, units, make_folder(folder), progress, **limits)
        return fit_task(made, run, candidates)
    if folder is not None:
        raise ParamError("folder", folder, "expected for files only; persist a collection instead.")
    made, leaves = collection_leaves(client, estimator, data, y, sample_weight, classes, narrow, options)
    return fit_task(made, _run(client, leaves, progress, **limits), candidates)


def plan_run(
    client: Any, units: Plan, folder: str | None = None, progress: Progress | None = None, **limits: float
) -> Callable[[Task], Partial]:
    """What learns all units of files by a task."""
    return _run(
        client, lambda made, token: file_leaves(client, Job(units, made, folder), token), progress, **limits
    )


def _run(
    client: Any, leaves: Callable[[Task, str], Leaves], progress: Progress | None, **limits: float
) -> Callable[[Task], Partial]:
    """What learns all leaves by a task: in parallel where they merge, else in turn."""

    def run(made: Task) -> Partial:
        token = uuid.uuid4().hex[:12]
        with client.as_current():  # `wait` asks for no client
            waiting, found = Waiting(client, **limits), leaves(made, token)
            if made.merges:
                return run_tree(client, found, token, waiting, progress)
            return run_serially(client, found, waiting, progress)

    return run
