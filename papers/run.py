"""Run an experiment: those of its jobs whose outcomes are missing, or were made by other sources."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from . import store
from .experiments import EXPERIMENTS, load_experiment
from .report import Part
from .report.pages import write_page
from .store import Job, job_key
from .versions import changed_files
from .workers import Methods, describe, n_processors, run_jobs

Progress = Callable[[str, int, int], None]  # what is being done, outcomes made, outcomes in all


def run(
    name: str,
    out: Path,
    *,
    runs: int | None = None,
    quick: bool = False,
    fresh: bool = False,
    stale: bool = False,
    workers: int | None = None,
    progress: Progress = lambda *_: None,
) -> list[Part]:
    """Run an experiment and return its tables and figures, which are also written to the folder `out`.

    `runs` is by default the experiment's own number, and 1 if `quick`. Outcomes are kept in
    ``out/outcomes.jsonl`` and not made again while the sources they depend on are the same, unless `fresh`.
    With `stale` those of other sources count too, and the page says so.
    """
    experiment = load_experiment(name)
    file = Path(str(experiment.__file__))
    runs = runs or (1 if quick else EXPERIMENTS[name].runs)
    out.mkdir(parents=True, exist_ok=True)
    outcomes = out / "outcomes.jsonl"
    known = {} if fresh else store.read(outcomes)
    usable = {key for key, record in known.items() if stale or not changed_files(record.version.files, file)}
    cells = cells_of(experiment, runs, quick)
    missing = []
    for job, methods in cells:
        absent = {m: uses for m, uses in methods.items() if (job_key(job), m) not in usable}
        if absent or (not methods and (job_key(job), "") not in usable):
            missing.append((job, absent))
    total = sum(len(methods) or 1 for _, methods in cells)
    done = total - sum(len(methods) or 1 for _, methods in missing)
    progress(describe(missing[0][0]) if missing else "done", done, total)

    def on_message(message: str) -> None:
        progress(message, done, total)

    for records in run_jobs(name, missing, workers or n_processors(), on_message):
        store.append(outcomes, records)
        done += len(records)
        progress(describe(records[0].job), done, total)
    store.rewrite(outcomes, store.read(outcomes).values())
    return write_page(name, out)


def cells_of(experiment: ModuleType, runs: int, quick: bool) -> list[tuple[Job, Methods]]:
    """The jobs of an experiment as JSON holds them, with the methods that each compares."""
    jobs = [json.loads(json.dumps(job)) for job in experiment.jobs(runs, quick)]
    methods: Callable[..., Methods] = getattr(experiment, "methods", lambda **_: {})
    return [(job, methods(**job)) for job in jobs]
