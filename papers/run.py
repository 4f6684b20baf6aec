"""Run an experiment: its jobs, those that are not stored yet, and its report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from .causes import CAUSES
from .experiments import EXPERIMENTS, load_experiment
from .report import Note, Outcomes, Part, Provenance
from .report.pages import write_results
from .report.tables import causes_note
from .store import Record, Store, job_key
from .versions import current_version
from .workers import describe, n_processors, run_jobs

Progress = Callable[[str, int, int], None]  # what is being done, jobs done, jobs in all


def run(
    name: str,
    out: Path,
    *,
    runs: int | None = None,
    quick: bool = False,
    fresh: bool = False,
    stale: bool = False,
    stored: bool = False,
    workers: int | None = None,
    progress: Progress = lambda *_: None,
) -> list[Part]:
    """Run an experiment and return its tables and figures, which are also written to the folder `out`.

    `runs` is by default the experiment's own number, and 1 if `quick`.
    Outcomes are stored in ``out/outcomes.jsonl`` and not computed again by the same version of the code,
    unless `fresh`. With `stale` those of other versions are used too, where there are no others, and the
    report says so. With `stored` nothing is computed: the report has the jobs that are stored, and says how
    many are not.
    """
    experiment = load_experiment(name)
    runs = runs or (1 if quick else EXPERIMENTS[name].runs)
    jobs = [json.loads(json.dumps(job)) for job in experiment.jobs(runs, quick)]
    total = len(jobs)
    version = current_version(Path(str(experiment.__file__)))
    out.mkdir(parents=True, exist_ok=True)
    store = Store(out / "outcomes.jsonl")
    records = {} if fresh else store.find(version, stale)
    missing = [job for job in jobs if job_key(job) not in records]
    done = len(jobs) - len(missing)
    if stored:
        if not done:
            raise FileNotFoundError(f"{store.file} has no outcome of {name}; run it without --stored.")
        missing, jobs = [], [job for job in jobs if job_key(job) in records]
    left_out = total - len(jobs)
    progress(describe(missing[0]) if missing else "done", done, len(jobs))

    def on_message(message: str) -> None:
        progress(message, done, len(jobs))

    for job, outcome in run_jobs(name, missing, workers or n_processors(), on_message):
        record = Record(job, outcome, version)
        records[job_key(job)] = record
        store.append(record)
        done += 1
        progress(describe(job), done, len(jobs))
    used = [records[job_key(job)] for job in jobs]
    parts: list[Part] = experiment.report(Outcomes([(r.job, r.outcome.value) for r in used]))
    if left_out:
        point = f"{left_out} of {total} jobs of this command have not been run; their rows are missing."
        parts = [*parts, Note([point], "What is not here")]
    if name in CAUSES:
        parts = [*parts, causes_note(CAUSES[name], parts)]
    counts = Counter(str(version if record.made_by(version) else record.version) for record in used)
    commits = dict.fromkeys(commit for record in used if (commit := record.version.commit))
    seconds = sum(record.outcome.seconds for record in used)
    parts = [*parts, Provenance(str(version), counts, list(commits), seconds, version.experiment)]
    command = f"python -m papers {name} --scale {'quick' if quick else 'paper'} --runs {runs}"
    write_results(name, command, parts, out)
    return parts
