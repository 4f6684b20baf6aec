"""Work through an experiment's jobs on all processors, and write down what came of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from .. import __version__
from .._input import threads
from . import EXPERIMENTS, _tune, module
from ._causes import CAUSES
from ._report import LEGEND, VERDICTS, Figure, Note, Outcomes, Part

Progress = Callable[[str, int, int], None]  # what is being done, jobs done, jobs in all


def run(
    name: str,
    *,
    runs: int = 5,
    quick: bool = False,
    out: Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    progress: Progress = lambda *_: None,
) -> list[Part]:
    """Run an experiment; its tables and figures, also written to the folder `out` where one is given.

    Outcomes are kept in ``out/outcomes.jsonl``, a line a job, and not computed again by the same version,
    unless `fresh`.
    """
    experiment = module(name)
    jobs = [json.loads(json.dumps(job)) for job in experiment.jobs(runs, quick)]
    stamp = f"{__version__} {hashlib.sha256(Path(str(experiment.__file__)).read_bytes()).hexdigest()[:12]}"
    store = None if out is None else out / "outcomes.jsonl"
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    known = {} if store is None or fresh else _known(store, stamp)
    todo = [job for job in jobs if _key(job) not in known]
    done = len(jobs) - len(todo)
    progress(_told(todo[0]) if todo else "done", done, len(jobs))
    workers = threads() if workers is None else workers

    def tell(what: str) -> None:
        progress(what, done, len(jobs))

    for job, outcome, seconds in _work(name, todo, workers, tell):
        known[_key(job)] = outcome
        if store is not None:
            line = {"job": job, "outcome": outcome, "seconds": round(seconds, 3), "version": stamp}
            with store.open("a") as file:
                file.write("\n" + json.dumps(line))
        done += 1
        progress(_told(job), done, len(jobs))
    parts: list[Part] = experiment.report(Outcomes([(job, known[_key(job)]) for job in jobs]))
    if name in CAUSES:
        parts = [*parts, Note(CAUSES[name])]
    if out is not None:
        command = f"streamsieve experiment {name} --scale {'quick' if quick else 'paper'} --runs {runs}"
        write(f"## {name}\n\n`{command}`\n", parts, out)
    return parts


def write(told: str, parts: list[Part], out: Path) -> None:
    """`results.md`, which begins with what is told, `results.json` and, with matplotlib, the pictures."""
    (out / "results.md").write_text("\n".join([told, *(part.markdown() for part in parts)]))
    (out / "results.json").write_text(json.dumps([part.json() for part in parts], indent=1) + "\n")
    for part in parts:
        if isinstance(part, Figure):
            try:
                part.draw(out)
            except ImportError as missing:
                raise ImportError(
                    f"{missing}: the numbers of {part.title!r} are in {out / 'results.json'}; for its "
                    "picture pip install 'streamsieve[plot]' and run again, which computes nothing twice."
                ) from missing


def gather(out: Path) -> Path:
    """One page beside the folder `out`, with all that experiments have written there."""
    names = [name for name in EXPERIMENTS if (out / name / "results.md").exists()]
    texts = [(out / name / "results.md").read_text() for name in names]
    linked = [text.replace("](", f"]({out.name}/{name}/") for name, text in zip(names, texts)]
    rows = [
        f"| [{name}](#{name}) | {' | '.join(str(_verdicts(out / name).count(v)) for v in VERDICTS if v)} |"
        for name in names
    ]
    page = out.parent / f"{out.name}.md"
    page.write_text("\n".join([INTRODUCTION, *rows, "", *linked]))
    return page


INTRODUCTION = f"""# The papers' experiments

Each section begins with the command that prints it. The published figure stands in brackets beside ours:
{LEGEND}
± is the standard error of the mean. Seconds are not judged: the published ones are another machine's. Where
we are worse, a list after the tables of the experiment says why.

| experiment | {" | ".join(f"{name} {sign}" for name, sign in VERDICTS.items() if name)} |
|---|--:|--:|--:|"""


def _verdicts(folder: Path) -> list[str]:
    """Of all cells of an experiment's tables that are judged."""
    parts = json.loads((folder / "results.json").read_text())
    cells = [c for part in parts for row in part.get("rows", []) for c in row if isinstance(c, dict)]
    return [c["verdict"] for c in cells if c.get("verdict")]


_said: list[Callable[[str], None]] = []  # who hears what a job says on its way


def _listen(to: Callable[[str], None]) -> None:
    _said[:] = [to]


def _say(job: str, words: str) -> None:
    for hear in _said:
        hear(f"{job}: {words}")


def measured(name: str, job: dict[str, Any]) -> tuple[Any, float]:
    """One job's outcome, as it would be read back, and its seconds."""
    _tune.told[:] = [partial(_say, _told(job))]
    start = perf_counter()
    outcome = module(name).measure(**job)
    return json.loads(json.dumps(outcome)), perf_counter() - start


def _work(
    name: str, todo: list[dict[str, Any]], workers: int, tell: Callable[[str], None]
) -> Iterator[tuple[dict[str, Any], Any, float]]:
    """Jobs with outcomes and seconds, as they are finished; `tell` is given what they say on their way."""
    if workers <= 1 or len(todo) <= 1:
        _listen(tell)
        for job in todo:
            yield (job, *measured(name, job))
        return
    context = get_context("spawn")
    words = context.SimpleQueue()
    size = min(workers, len(todo))
    with _one_thread_each(), ProcessPoolExecutor(size, context, _listen, (words.put,)) as pool:
        running: dict[Future[tuple[Any, float]], dict[str, Any]] = {
            pool.submit(measured, name, job): job for job in todo
        }
        try:
            while running:
                for future in wait(running, timeout=0.5, return_when=FIRST_COMPLETED).done:
                    yield (running.pop(future), *future.result())
                while not words.empty():
                    tell(words.get())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise


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


def _known(store: Path, stamp: str) -> dict[str, Any]:
    """Outcomes of this version by job; a last line that was cut short is not one."""
    if not store.exists():
        return {}
    found = {}
    for text in store.read_text().split("\n"):
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        if line.get("version") == stamp:
            found[_key(line["job"])] = line["outcome"]
    return found


def _key(job: dict[str, Any]) -> str:
    return json.dumps(job, sort_keys=True)


def _told(job: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in job.items())
