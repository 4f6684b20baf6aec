"""Fit an estimator on a cluster."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import Any

from ...core.params import ParamError
from ...training.model import Model
from ..fit import as_plan, fitted, learn, make_folder, prepare, table_width
from ..parts import Columns, Job, Part
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
    if kind_of(data) == "files":
        if y is not None or sample_weight is not None:
            raise ParamError("y", y, "expected None for files; name the columns as target and weight.")
        units = as_plan(data, unit, options)
        like = prepare(estimator, units, classes)
        return fitted(
            estimator, *fit_plan(client, units, like, make_folder(folder), progress, candidates, **limits)
        )
    if folder is not None:
        raise ParamError("folder", folder, "expected for files only; persist a collection instead.")
    like, leaves, width = collection_leaves(
        client, estimator, data, y, sample_weight, classes, narrow, options
    )
    return fitted(estimator, *_learn(client, like, leaves, progress, candidates, width, **limits))


def fit_plan(
    client: Any,
    units: Plan,
    like: Model,
    folder: str | None = None,
    progress: Progress | None = None,
    candidates: int | None = None,
    **limits: float,
) -> tuple[Part, Columns | None]:
    """What all units of files give."""

    def leaves(like: Model, columns: Columns | None, token: str) -> Leaves:
        return file_leaves(client, Job(units, like, folder, columns), token)

    return _learn(client, like, leaves, progress, candidates, table_width(units), **limits)


def _learn(
    client: Any,
    like: Model,
    leaves: Callable[[Model, Columns | None, str], Leaves],
    progress: Progress | None,
    candidates: int | None,
    width: int | None,
    **limits: float,
) -> tuple[Part, Columns | None]:
    """Learn all leaves: in parallel where parts merge, in two passes for candidates, else in turn."""

    def run(like: Model, columns: Columns | None) -> Part:
        token = uuid.uuid4().hex[:12]
        return run_tree(client, leaves(like, columns, token), token, Waiting(client, **limits), progress)

    def serially(like: Model) -> Part:
        token = uuid.uuid4().hex[:12]
        return run_serially(client, leaves(like, None, token), Waiting(client, **limits), progress)

    with client.as_current():  # `wait` asks for no client
        return learn(like, run, serially, candidates, width)
