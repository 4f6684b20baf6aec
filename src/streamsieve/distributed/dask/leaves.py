"""The units of a source as futures of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...training.model import Model
from .. import tasks
from ..job import Job


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


def file_leaves(client: Any, job: Job, token: str) -> Leaves:
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


def block_leaves(
    client: Any,
    like: Model,
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
