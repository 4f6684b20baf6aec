"""Whether stored outcomes still hold: of each setting and method, one is computed again and compared.

What comes out the same is marked as checked. Where it does not, the new outcome takes its place, and the
other outcomes of that setting and method are stale until they are computed again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import store
from .store import Record, current_commit
from .workers import Jobs, Progress, describe, run_jobs

UNTIMED = {"seconds"}  # what differs between runs of the same code
#: Relative difference between equal outcomes. Other processors and BLAS move sums by 1e-12 or so and what
#: solvers make of them by more; a changed rule moves errors by 1e-4 and more.
SAME = 1e-6
ZERO = 1e-9  # below this, numbers are equal to zero: distances from optimality are of rounding alone


@dataclass(frozen=True)
class Checked:
    """An outcome that was computed again: the figures that differ, as "figure: stored -> computed"."""

    record: Record
    moved: list[str]

    def summary(self) -> str:
        """In a line, with the first figures that differ."""
        shown = "; ".join(self.moved[:3]) + (
            f" and {len(self.moved) - 3} more" if len(self.moved) > 3 else ""
        )
        return f"{', '.join(filter(None, (self.record.method, describe(self.record.job))))}: {shown}"


def check(file: Path, name: str, workers: int, progress: Progress) -> list[Checked]:
    """Check the outcomes of an experiment that are stored in `file`; what was found is stored there, too."""
    records = store.read(file)
    sample = cheapest([record for record in records.values() if not record.stale], current_commit())
    found: list[Checked] = []
    jobs = {store.job_key(r.job): r.job for r in sample}
    methods = {key: [r.method for r in sample if r.method and store.job_key(r.job) == key] for key in jobs}
    todo: Jobs = [(job, methods[key]) for key, job in jobs.items()]
    progress("check", 0, len(sample))

    def on_message(message: str) -> None:
        progress(f"check {message}", len(found), len(sample))

    for again in run_jobs(name, todo, workers, on_message):
        for new in again:
            old = records[new.key]
            moved = list(differences(old.value, new.value))
            found.append(Checked(old, moved))
            if not moved:
                records[old.key] = replace(old, checked=new.commit)
                continue
            for key, other in records.items():
                if other.setting == old.setting:
                    records[key] = replace(other, stale=new.commit)
            records[old.key] = new
        store.rewrite(file, records.values())
        progress(f"check {describe(again[0].job)}", len(found), len(sample))
    return found


def cheapest(records: list[Record], commit: str) -> list[Record]:
    """Of each setting and method the outcome that took least time, if `commit` has made or checked none."""
    least: dict[tuple[str, str], Record] = {}
    for record in sorted(records, key=lambda record: record.seconds):
        least.setdefault(record.setting, record)
    known = {
        r.setting for r in records if commit and not commit.endswith("+") and commit in (r.commit, r.checked)
    }
    return [record for setting, record in least.items() if setting not in known]


def differences(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """The figures of two outcomes that differ, but for seconds."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            if name not in UNTIMED:
                yield from differences(old.get(name), new.get(name), f"{at} {name}".strip())
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new)):
            yield from differences(a, b, f"{at}[{i}]")
    elif isinstance(old, int | float) and isinstance(new, int | float):
        both_nan = math.isnan(old) and math.isnan(new)
        if not (both_nan or math.isclose(old, new, rel_tol=SAME, abs_tol=ZERO)):
            yield f"{at}: {old:.6g} -> {new:.6g}"
    elif old != new:
        yield f"{at}: {old} -> {new}"
