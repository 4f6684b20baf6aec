"""Jobs on all processors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from time import perf_counter

from .experiments import load_experiment
from .progress import Listener, labelled, listen, listening
from .store import Job, Outcome
from .versions import library_hashes, used_digest, used_files


def describe(job: Job) -> str:
    return ", ".join(f"{name} {value}" for name, value in job.items())


def run_job(name: str, job: Job) -> Outcome:
    """The outcome of one job, as it would be read back from JSON."""
    library_hashes()  # before its modules are loaded: what is edited from now on is not what ran
    start = perf_counter()
    with labelled(describe(job)):
        value = json.loads(json.dumps(load_experiment(name).measure(**job)))
    used = used_files()
    return Outcome(value, perf_counter() - start, used, used_digest(used))


def run_jobs(name: str, jobs: list[Job], workers: int, listener: Listener) -> Iterator[tuple[Job, Outcome]]:
    """Jobs with outcomes, in the order in which they finish; `listener` gets their messages."""
    if workers <= 1 or len(jobs) <= 1:
        for job in jobs:
            with listening(listener):
                outcome = run_job(name, job)
            yield job, outcome
        return
    context = get_context("spawn")
    messages = context.SimpleQueue()
    size = min(workers, len(jobs))
    with _one_thread_each(), ProcessPoolExecutor(size, context, listen, (messages.put,)) as pool:
        running: dict[Future[Outcome], Job] = {pool.submit(run_job, name, job): job for job in jobs}
        try:
            while running:
                for future in wait(running, timeout=0.5, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
                while not messages.empty():
                    listener(messages.get())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise


def n_processors() -> int:
    """`OMP_NUM_THREADS`, or the processors that this process may use."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdigit() and int(limit) > 0:
        return int(limit)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started within use one thread: the jobs themselves fill the processors."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
