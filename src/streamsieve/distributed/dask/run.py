"""Units as futures of a cluster: merged in a tree by their numbers, or learned one after another."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from .. import tasks
from ..jobs import Job
from ..partial import Partial, Task, Tree, merge
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


class Leaves:
    """The units of a source as calls of the workers: `work(held, number, *values(number))` gives a part.

    Parameters
    ----------
    client : Client
    held : Job or Task
    n : int
        Number of units.
    work, work_next, values : callable
        See above; `work_next`, for learners whose parts cannot be merged, gets what was learned before as
        second argument, and is None where there is no such call.
    title : callable
        Name of a unit in errors.
    """

    def __init__(self, client: Any, held: Any, n: int, work: Any, work_next: Any, values: Any, title: Any):
        self.client, self.n, self.title, self.values = client, n, title, values
        self.work, self.work_next, self.token = work, work_next, uuid.uuid4().hex[:12]
        # a task, and no scattered data: it is computed again where the worker that held it dies
        self.held = client.submit(_same, held, key=f"streamsieve-job-{self.token}", pure=False)

    def submit(self, number: int, *before: Any) -> Any:
        """The future of a unit's part, or of all parts so far: then with that of those before it."""
        work, key = self.work_next if before else self.work, f"streamsieve-unit-{number}-{self.token}"
        values = self.values(number)
        return self.client.submit(work, self.held, *before, number, *values, key=key, pure=False)


def _same(value: Any) -> Any:
    return value


def file_leaves(client: Any, job: Job) -> Leaves:
    title = lambda number: str(job.plan[number])  # noqa: E731
    return Leaves(client, job, len(job.plan), Job.part, Job.learn_next, lambda _: (), title)


def block_leaves(client: Any, made: Task, blocks: Sequence[Any], work: Any, extra: tuple[Any, ...]) -> Leaves:
    """Leaves of lazy blocks: each a tuple of delayed values (or None) that `work` gets, and `extra`."""

    def values(number: int) -> list[Any]:
        computed = iter(client.compute([value for value in blocks[number] if value is not None]))
        return [None if value is None else next(computed) for value in blocks[number]] + list(extra)

    work_next = tasks.learn_next_block if work is tasks.block_part else None
    return Leaves(client, made, len(blocks), work, work_next, values, "unit {0} (partition {0})".format)


class Waiting:
    """Waits for futures with a time limit; errors name the units that are not finished."""

    def __init__(self, client: Any, timeout: float = 3600.0, worker_timeout: float = 120.0) -> None:
        self.client, self.timeout, self.worker_timeout = client, timeout, worker_timeout
        self.worked = self.alive = time.monotonic()
        self.threads = 1

    def look(self, titles: Callable[[], str]) -> None:
        """Check that there are workers; UnitError if there have been none for too long."""
        now, cores = time.monotonic(), {}
        try:
            if self.client.status == "running":
                cores = self.client.sync(self.client.scheduler.ncores, workers=None, callback_timeout=_CALL)
        except (OSError, TimeoutError):
            pass
        self.threads, self.alive = max(1, sum(cores.values())), now if cores else self.alive
        for what, limit, last in (
            ("There has been no worker", self.worker_timeout, self.alive),
            ("No unit was finished", self.timeout, self.worked),
        ):
            if now - last > limit:
                raise UnitError(f"{what} for {now - last:.0f} s; not finished: {titles()}.")

    def some(self, futures: Sequence[Any], titles: Callable[[], str]) -> list[Any]:
        """The finished futures, at least one."""
        wait = import_distributed().wait
        while True:
            try:
                done = wait(list(futures), timeout=_POLL, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                done = [future for future in futures if future.done()]
            if done:
                self.worked = time.monotonic()
                return list(done)
            self.look(titles)

    def one(self, future: Any, title: str) -> Any:
        """The same future, once it is done; UnitError if it failed."""
        self.some([future], lambda: title)
        _check(future, title)
        return future

    def gather(self, future: Any) -> Partial:
        try:
            part: Partial = future.result(timeout=self.timeout)
        except TimeoutError:
            raise UnitError(f"The result did not arrive within {self.timeout:.0f} s.") from None
        return part


def _check(future: Any, title: str) -> None:
    """Raise the error of a future; UnitError if a worker died or the future was lost."""
    if future.status == "finished":
        return
    error = future.exception(timeout=_CALL) if future.status == "error" else None
    if isinstance(error, UnitError | ValueError | MemoryError):
        raise error
    reason = f"{type(error).__name__}: {error}" if error is not None else f"its future is {future.status}"
    if type(error).__name__ == "KilledWorker":
        reason = f"the workers that had it died, one after the other ({error})"
    raise UnitError(f"U{title[1:]}: {reason}.") from error


def run_tree(leaves: Leaves, waiting: Waiting, progress: Progress | None) -> Partial:
    """Accumulate all units and merge them in the tree of their numbers.

    A future is released as soon as the task that uses it is submitted. The workers then store only the parts
    that are not merged yet, about log2(n), and the scheduler can compute each of them again.
    """
    client, n, running = leaves.client, leaves.n, dict[Any, int]()
    parts = Tree(lambda left, right: client.submit(merge, left, right, pure=False, priority=10))
    finished = 0

    def titles() -> str:
        found = [leaves.title(number) for number in sorted(running.values())] or [f"units 0 to {n - 1}"]
        return ", ".join(found[:4]) + (f" and {len(found) - 4} more" if len(found) > 4 else "")

    def collect() -> None:
        nonlocal finished
        for future in waiting.some(list(running), titles):
            _check(future, leaves.title(running.pop(future)))
            finished += 1
            if progress is not None:
                progress(finished, n)
            if finished % 16 == 1:
                waiting.look(titles)

    waiting.look(titles)
    try:
        for number in range(n):
            while len(running) >= waiting.threads:  # more units would only wait for their neighbours
                collect()
            running[future := leaves.submit(number)] = number
            parts.add(future)
            del future
        while running:
            collect()
        return waiting.gather(waiting.one(parts.whole(), titles()))
    finally:
        for future in (*running, *parts.subtrees):
            future.release()  # `cancel` fails where nobody wants what depends on a future


def run_serially(leaves: Leaves, waiting: Waiting, progress: Progress | None) -> Partial:
    """Learn all units one after another, on the worker that has the previous result."""
    if leaves.work_next is None:
        raise ValueError("A learner that cannot be merged reads files or arrays here; pass one of them.")
    before = None
    try:
        for number in range(leaves.n):
            before = waiting.one(leaves.submit(number, before), leaves.title(number))
            if progress is not None:
                progress(number + 1, leaves.n)
        return waiting.gather(before)
    finally:
        if before is not None:
            before.release()
