"""Estimators on Ray: `fit` for datasets of `ray.data` and for files. Needs the extra `ray`.

Tasks learn blocks where they are stored and merge neighbours; the driver receives only the final state. If a
worker dies, its task is run again, with the same result.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from .distributed.fit import files_task, fit_task, sample_rows, task
from .distributed.jobs import Job
from .distributed.partial import Partial, Task, Tree
from .distributed.plan import Plan

try:
    import ray
except ImportError:
    raise ImportError("streamsieve.ray needs ray: pip install 'streamsieve[ray]'.") from None

__all__ = ["fit"]

_AHEAD = 2  # blocks for each processor that wait to be learned
_RETRIES = 5  # of a task whose worker died


def fit(
    estimator: Any,
    data: Any,
    target: str | None = None,
    *,
    weight: str | None = None,
    classes: Any = None,
    candidates: int | None = None,
    unit: int | str = "256MB",
    **options: Any,
) -> Any:
    """Fit an estimator by the workers of Ray.

    Parameters
    ----------
    estimator : estimator
        It is not changed. A row-wise learner is fitted block after block.
    data : ray.data.Dataset, path, glob, list of paths, or Plan
        Files are read by the workers under the same paths.
    target, weight : str or None
        Columns of the targets and of the sample weights.
    classes : sequence or None
        All labels of a classifier, if the first 10,000 rows may not contain all of them.
    candidates : int or None
        As in `streamsieve.dask.fit`.
    unit : int or str, default="256MB"
        Files: size of a unit.
    **options
        Options of `read`: categorical, missing, schema, ...

    Returns
    -------
    estimator
        A fitted estimator: bit-for-bit the same for any blocks and workers.
    """
    if isinstance(data, Plan | str | os.PathLike | list | tuple):
        made, units = files_task(estimator, data, unit, classes, target=target, weight=weight, **options)
        return fit_task(made, lambda made: _run_units(made, units), candidates)
    sample = ray.get(data.limit(sample_rows(len(data.columns()))).to_arrow_refs())
    made = task(estimator, sample, target=target, weight=weight, classes=classes, **options)
    return fit_task(made, lambda made: _run(made, data), candidates)


@ray.remote(max_retries=_RETRIES)
def _learn(made: Task, number: int, row: int, block: Any, at: slice) -> bytes:
    return made.zero(number, row).update(block[at]).to_bytes()


@ray.remote(max_retries=_RETRIES)
def _learn_next(made: Task, before: Partial | None, block: Any, at: slice) -> Partial:
    return (made.zero() if before is None else before.copy()).update(block[at])


@ray.remote(max_retries=_RETRIES)
def _learn_unit(job: Job, number: int) -> bytes:
    return job.part(number).to_bytes()


@ray.remote(max_retries=_RETRIES)
def _learn_next_unit(job: Job, before: Partial | None, number: int) -> Partial:
    return job.learn_next(before, number)


@ray.remote(max_retries=_RETRIES)
def _merge(made: Task, left: bytes, right: bytes) -> bytes:
    return made.from_bytes(left).merge(made.from_bytes(right)).to_bytes()


def _run(made: Task, data: Any) -> Partial:
    """Learn the blocks of a dataset while they are computed."""
    held = ray.put(made)
    if not made.merges:
        before = None
        for _, _, *block in _blocks(data):
            before = _learn_next.remote(held, before, *block)
        return made.zero() if before is None else _get(before)
    return _merged(made, held, (_learn.remote(held, *block) for block in _blocks(data)))


def _run_units(made: Task, units: Plan) -> Partial:
    """Learn files, a unit in each task."""
    held, job = ray.put(made), ray.put(Job(units, made))
    if made.merges:
        return _merged(made, held, (_learn_unit.remote(job, number) for number in range(len(units))))
    before = None
    for number in range(len(units)):
        before = _learn_next_unit.remote(job, before, number)
    return _get(before)


def _blocks(data: Any) -> Iterator[tuple[int, int, Any, slice]]:
    """The blocks of a dataset in their order: number, rows before it, reference, and which of its rows."""
    context = data.context
    before, context.execution_options.preserve_order = context.execution_options.preserve_order, True
    try:
        number = row = 0
        for bundle in data.iter_internal_ref_bundles():
            cuts = getattr(bundle, "slices", None) or [None] * len(bundle.block_refs)
            for block, about, cut in zip(bundle.block_refs, bundle.metadata, cuts):
                start, stop = (0, about.num_rows) if cut is None else (cut.start_offset, cut.end_offset)
                yield number, row, block, slice(start, stop)
                number, row = number + 1, row + stop - start
    finally:
        context.execution_options.preserve_order = before


def _merged(made: Task, held: Any, states: Iterator[Any]) -> Partial:
    """Merge the states that tasks make, while few more of these are submitted than there are processors."""
    most = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    parts, running = Tree(lambda left, right: _merge.remote(held, left, right)), list[Any]()
    for state in states:
        parts.add(state)
        running.append(state)
        if len(running) > most:
            _, running = ray.wait(running, num_returns=len(running) - most)
    whole = parts.whole()
    return made.zero(row=0) if whole is None else made.from_bytes(_get(whole))


def _get(reference: Any) -> Any:
    """The result of a task; raises its error if it failed."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
