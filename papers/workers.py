"""Jobs on all processors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from time import process_time

from .experiments import load_experiment
from .progress import Listener, labelled, listen, listening
from .store import Job, Record, current_commit

Progress = Callable[[str, int, int], None]  # what is being done, outcomes made, outcomes in all
Jobs = list[tuple[Job, list[str]]]  # each with the methods to measure; none if it measures all at once


def describe(job: Job) -> str:
    return ", ".join(f"{name} {value}" for name, value in job.items())


def run_job(name: str, job: Job, methods: list[str]) -> list[Record]:
    """The outcome of one job, as it would be read back from JSON; a record for each of `methods`.

    Where `methods` is empty the experiment measures all at once, and there is one record.
    """
    commit = current_commit()  # before the experiment is imported: what is edited from now on is not run
    experiment = load_experiment(name)
    start = process_time()
    with labelled(describe(job)):
        value = json.loads(json.dumps(experiment.measure(**job, **({"methods": methods} if methods else {}))))
    seconds = process_time() - start
    if not methods:
        return [Record(job, "", value, seconds, commit)]
    return [Record(job, method, value[method], seconds / len(methods), commit) for method in methods]


def run_jobs(name: str, jobs: Jobs, workers: int, listener: Listener) -> Iterator[list[Record]]:
    """The outcomes of the jobs, in the order in which they finish; `listener` gets their messages."""
    if workers <= 1 or len(jobs) <= 1:
        for job, methods in jobs:
            with listening(listener):
                records = run_job(name, job, methods)
            yield records
        return
    context = get_context("spawn")
    messages = context.SimpleQueue()
    size = min(workers, len(jobs))
    with _one_thread_each(), ProcessPoolExecutor(size, context, listen, (messages.put,)) as pool:
        running: set[Future[list[Record]]] = {pool.submit(run_job, name, *each) for each in jobs}
        try:
            while running:
                done = wait(running, timeout=0.5, return_when=FIRST_COMPLETED).done
                running -= done
                for future in done:
                    yield future.result()
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
