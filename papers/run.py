"""Run an experiment: check the outcomes that are stored, and compute those that are missing or stale."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from . import store
from .check import check
from .experiments import EXPERIMENTS, load_experiment
from .report import Part
from .report.pages import write_page
from .store import job_key
from .workers import Jobs, Progress, describe, n_processors, run_jobs


def run(
    name: str,
    out: Path,
    *,
    runs: int | None = None,
    quick: bool = False,
    fresh: bool = False,
    unchecked: bool = False,
    workers: int | None = None,
    progress: Progress = lambda *_: None,
) -> list[Part]:
    """Run an experiment and return its tables and figures, which are also written to the folder `out`.

    `runs` is by default the experiment's own number, and 1 if `quick`. Outcomes are kept in
    ``out/outcomes.jsonl`` and not computed again unless a check finds that they have changed (not made if
    `unchecked`), or `fresh`.
    """
    experiment = load_experiment(name)
    runs = runs or (1 if quick else EXPERIMENTS[name].runs)
    workers = workers or n_processors()
    out.mkdir(parents=True, exist_ok=True)
    file = out / "outcomes.jsonl"
    if not (fresh or unchecked):
        check(file, name, workers, progress)
    known = {} if fresh else {key for key, record in store.read(file).items() if not record.stale}
    cells = cells_of(experiment, runs, quick)
    missing: Jobs = []
    for job, methods in cells:
        absent = [method for method in methods or [""] if (job_key(job), method) not in known]
        if absent:
            missing.append((job, absent if methods else []))
    total = sum(len(methods) or 1 for _, methods in cells)
    done = total - sum(len(methods) or 1 for _, methods in missing)
    progress(describe(missing[0][0]) if missing else "done", done, total)

    def on_message(message: str) -> None:
        progress(message, done, total)

    for records in run_jobs(name, missing, workers, on_message):
        store.append(file, records)
        done += len(records)
        progress(describe(records[0].job), done, total)
    store.rewrite(file, store.read(file).values())
    return write_page(name, out)


def cells_of(experiment: ModuleType, runs: int, quick: bool) -> Jobs:
    """The jobs of an experiment as JSON holds them, with the methods that each compares."""
    jobs = [json.loads(json.dumps(job)) for job in experiment.jobs(runs, quick)]
    methods: Callable[..., list[str]] = getattr(experiment, "methods", lambda **_: [])
    return [(job, methods(**job)) for job in jobs]
