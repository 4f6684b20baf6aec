"""Fit an estimator on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ...core.params import ParamError
from ..fit import files_task, fit_task, make_folder
from ..jobs import Job
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

    Workers learn units (of files) or partitions independently, and the parts are merged in the order of their
    numbers. The result is bit-for-bit the same for any number of workers and any order of their work, even if
    workers die. It equals the result of one machine up to rounding, including the folds of cross-validation.

    Estimators that learn row by row cannot be merged. They learn the units one after another, with
    bit-for-bit the result of one machine. `Sieve` and `candidates` make two passes.

    Parameters
    ----------
    estimator : estimator
        It is not changed.
    data : dask array, dask data frame, dask bag of dicts, path, glob, list of paths, or Plan
        Files are read by the workers under the same paths.
    y : dask array or series, or str
        Targets, or the name of their column (key); None for files, which have `target`.
    sample_weight : dask array or series, str, or None
        Weights, or the name of their column (key).
    client : distributed.Client or None
        None: the client that was created last.
    classes : sequence or None
        All labels of a classifier. None: they are computed; for files, the labels of the first 10,000 rows.
    candidates : int or None
        Number of candidates, for more features than averages of all features allow. In a first pass, every
        unit votes for the features that its own `Sieve` ranks highest. In the second pass, only this number
        of features is averaged: those with the most votes or the largest marginal correlations. The estimator
        is then fitted on these columns of X, whose numbers are in `candidates_`. `Sieve` does this
        automatically if its `memory` requires it, and its model is for all columns; with a loss other than
        the squared one, workers send the rows of the candidates, as many as `memory` allows.
    narrow : (str, str) or None
        For a narrow frame: its index is the row, and these columns are the feature (a name, or a number from
        0) and the value. `y` is the feature that is the target.
    unit : int or str, default="256MB"
        Files: size of a unit.
    folder : path or None
        Files: a folder that all workers see, for finished units; if the same call is repeated, it skips them.
    timeout, worker_timeout : float, default=3600, 120
        Seconds without a finished unit, and without any worker, after which `UnitError` is raised.
    progress : callable or None
        Called with the number of finished units and of all units.
    **options
        Options of `read`, for files (`target`, `format`, ...), frames and bags.

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
        made, units = files_task(estimator, data, unit, classes, **options)
        run = plan_run(client, units, make_folder(folder), progress, **limits)
        return fit_task(made, run, candidates)
    if folder is not None:
        raise ParamError("folder", folder, "expected for files only; persist a collection instead.")
    made, leaves = collection_leaves(client, estimator, data, y, sample_weight, classes, narrow, options)
    return fit_task(made, _run(client, leaves, progress, **limits), candidates)


def plan_run(
    client: Any, units: Plan, folder: str | None = None, progress: Progress | None = None, **limits: float
) -> Callable[[Task], Partial]:
    """A function that learns all units of files with a task."""
    return _run(client, lambda made: file_leaves(client, Job(units, made, folder)), progress, **limits)


def _run(
    client: Any, leaves: Callable[[Task], Leaves], progress: Progress | None, **limits: float
) -> Callable[[Task], Partial]:
    """A function that learns all leaves with a task: in parallel if they can be merged, otherwise in
    order."""

    def run(made: Task) -> Partial:
        with client.as_current():  # `wait` asks for no client
            waiting, found = Waiting(client, **limits), leaves(made)
            if made.merges:
                return run_tree(found, waiting, progress)
            return run_serially(found, waiting, progress)

    return run
