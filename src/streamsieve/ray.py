"""Estimators on Ray: `fit` for datasets of `ray.data` and for files. Needs the extra `ray`.

Tasks learn blocks where they are and merge with their neighbours; the driver gets the last state alone. A
task whose worker dies is run again, to the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from .core.params import ParamError
from .distributed.fit import as_plan, fit_task, prepare, task
from .distributed.jobs import Job, unit_task
from .distributed.partial import Partial, Task
from .distributed.plan import Plan

try:
    import ray
except ImportError:
    raise ImportError("streamsieve.ray needs ray: pip install 'streamsieve[ray]'.") from None

__all__ = ["fit"]

_SAMPLE = 100_000  # rows of which the schema is made
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
        It is not changed. One that learns row by row is learned block after block.
    data : ray.data.Dataset, path, glob, list of paths, or Plan
        Files are read by the workers, under the same names.
    target, weight : str or None
        Columns of the targets and of the sample weights.
    classes : sequence or None
        All labels of a classifier, where the first 10,000 rows do not show them.
    candidates : int or None
        As of `streamsieve.dask.fit`.
    unit : int or str, default="256MB"
        Files: size of a unit.
    **options
        Of `read`: categorical, missing, schema, ...

    Returns
    -------
    estimator
        An ordinary fitted estimator: the same, to the last bit, for any blocks and workers.
    """
    if isinstance(data, Plan | str | os.PathLike | list | tuple):
        named = {} if target is None else {"target": target}
        units = as_plan(data, unit, {**options, **named, **({} if weight is None else {"weight": weight})})
        made = unit_task(units, prepare(estimator, units, classes), estimator)
        return fit_task(made, lambda made: _run_units(made, units), candidates)
    if target is None:
        raise ParamError("target", None, "expected the column to predict.")
    sample = ray.get(data.limit(_SAMPLE).to_arrow_refs())
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
    """Learn the blocks of a dataset as it makes them."""
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
    """Merge neighbours, two subtrees of one height as soon as both are submitted."""
    most = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    whole: list[tuple[int, Any]] = []
    running: list[Any] = []
    for state in states:
        running.append(state)
        height = 0
        while whole and whole[-1][0] == height:
            state, height = _merge.remote(held, whole.pop()[1], state), height + 1
        whole.append((height, state))
        if len(running) > most:
            _, running = ray.wait(running, num_returns=len(running) - most)
    if not whole:
        return made.zero(row=0)
    last = whole.pop()[1]
    while whole:
        last = _merge.remote(held, whole.pop()[1], last)
    return made.from_bytes(_get(last))


def _get(reference: Any) -> Any:
    """What a task returned; its own error where it failed."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
