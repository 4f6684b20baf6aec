"""Jobs on all processors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from time import process_time

from .experiments import load_experiment
from .progress import Listener, labelled, listen, listening
from .store import Job, Record, Version
from .versions import current_commit, library_hashes, used_hashes

Methods = dict[str, tuple[str, ...]]  # by the name in the tables, the library's methods that it runs


def describe(job: Job) -> str:
    return ", ".join(f"{name} {value}" for name, value in job.items())


def run_job(name: str, job: Job, methods: Methods) -> list[Record]:
    """What comes of one job, as it would be read back from JSON; a record for each of `methods`.

    Where `methods` is empty the experiment measures all at once, and there is one record.
    """
    library_hashes()  # before its modules are loaded: what is edited from now on is not what ran
    experiment = load_experiment(name)
    file = Path(str(experiment.__file__))
    start = process_time()
    with labelled(describe(job)):
        given = {"methods": list(methods)} if methods else {}
        value = json.loads(json.dumps(experiment.measure(**job, **given)))
    seconds = process_time() - start
    if not methods:
        return [Record(job, "", value, seconds, Version(current_commit(), used_hashes(file)))]
    share = seconds / len(methods)
    return [
        Record(job, method, value[method], share, Version(current_commit(), used_hashes(file, uses)))
        for method, uses in methods.items()
    ]


def run_jobs(
    name: str, jobs: list[tuple[Job, Methods]], workers: int, listener: Listener
) -> Iterator[list[Record]]:
    """What comes of the jobs, in the order in which they finish; `listener` gets their messages."""
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
