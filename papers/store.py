"""Outcomes in a file, a line each: the job, the method of it, what was measured, and the commit that did."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Job = dict[str, Any]
CHECKOUT = Path(__file__).resolve().parents[1]
VARIED = {"seed", "ns", "n"}  # what differs between the jobs of a setting: the run, and numbers of rows


@dataclass(frozen=True)
class Record:
    """A job, the method of it that was measured ("" for all that it measures), and the outcome.

    `commit` made it. `checked` is the last commit that gave the same again, `stale` the one that gave
    something else for an outcome of the same setting; "" for none.
    """

    job: Job
    method: str
    value: Any
    seconds: float
    commit: str
    checked: str = ""
    stale: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return job_key(self.job), self.method

    @property
    def setting(self) -> tuple[str, str]:
        """What it has in common with the outcomes of other runs and numbers of rows."""
        return job_key({name: value for name, value in self.job.items() if name not in VARIED}), self.method


def job_key(job: Job) -> str:
    return json.dumps(job, sort_keys=True)


def append(file: Path, records: Iterable[Record]) -> None:
    """Add outcomes to a file."""
    lines = []
    for record in records:
        line = {"job": record.job, "method": record.method, "outcome": record.value}
        line |= {"seconds": round(record.seconds, 3), "commit": record.commit}
        line |= {"checked": record.checked, "stale": record.stale}
        lines.append({name: value for name, value in line.items() if value != ""})
    with file.open("a", encoding="utf-8") as out:
        # the newline comes first, so that a line cut short by a kill spoils only itself
        out.write("".join(f"\n{json.dumps(line, separators=(',', ':'))}" for line in lines))


def read(file: Path) -> dict[tuple[str, str], Record]:
    """The last outcome of each job and method."""
    records = []
    for text in file.read_text(encoding="utf-8").split("\n") if file.exists() else ():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:  # empty, or cut short
            continue
        line = {"method": "", "commit": ""} | line
        records.append(Record(value=line.pop("outcome"), **line))
    return {record.key: record for record in records}


def rewrite(file: Path, records: Iterable[Record]) -> None:
    """Leave only these outcomes in a file, in their order."""
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    append(new, records)
    new.replace(file)


@cache
def current_commit() -> str:
    """The commit that is checked out, with "+" where its sources were edited; "" outside of a repository."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(CHECKOUT), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        edited = git("status", "--porcelain", "--", "src", "cpp", "papers", "CMakeLists.txt")
        return git("rev-parse", "--short=7", "HEAD") + ("+" if edited else "")
    except (OSError, subprocess.CalledProcessError):
        return ""
