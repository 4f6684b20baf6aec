"""Units as futures of a cluster: merged in a tree by their numbers, or learned one after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import tasks
from ..jobs import Job
from ..partial import Partial, Task, merge, tree
from ..parts import UnitError

_POLL = 1.0  # seconds between looks at the cluster while nothing finishes
_CALL = 30.0  # seconds that the scheduler may take to answer

Progress = Callable[[int, int], None]


def import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError("streamsieve.dask needs dask: pip install 'streamsieve[dask]'.") from None
    return distributed


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
        return client.submit(Job.part, held, number, key=key, pure=False)

    def submit_next(before: Any, number: int) -> Any:
        key = f"streamsieve-unit-{number}-{token}"
        return client.submit(Job.learn_next, held, before, number, key=key, pure=False)

    return Leaves(len(job.plan), submit, submit_next, lambda number: str(job.plan[number]))


def _same(value: Any) -> Any:
    return value


def block_leaves(
    client: Any,
    made: Task,
    blocks: Sequence[tuple[Any, ...]],
    work: Any,
    extra: tuple[Any, ...],
    token: str,
) -> Leaves:
    """Leaves of lazy blocks: each a tuple of delayed values (or None) that `work` gets."""
    held = client.submit(_same, made, key=f"streamsieve-job-{token}", pure=False)

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


def run_tree(client: Any, leaves: Leaves, token: str, waiting: Waiting, progress: Progress | None) -> Partial:
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
        return gather(ready[wide], waiting)
    finally:
        client.cancel([*running, *ready.values()])


def run_serially(client: Any, leaves: Leaves, waiting: Waiting, progress: Progress | None) -> Partial:
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
        return gather(before, waiting)
    finally:
        client.cancel([before] if before is not None else [])


def gather(future: Any, waiting: Waiting) -> Partial:
    try:
        part: Partial = future.result(timeout=waiting.timeout)
    except TimeoutError:
        raise UnitError(f"The result did not arrive within {waiting.timeout:.0f} s.") from None
    return part
