"""Outcomes on disk, a line a job, each with the version of the code that made it and the files it used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .versions import Version, used_digest

Job = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a job gave, in how many seconds, with which files of the library and their digest."""

    value: Any
    seconds: float
    used: tuple[str, ...] = ()
    digest: str = ""


@dataclass(frozen=True)
class Record:
    """A job, its outcome, and the version of the code that made it."""

    job: Job
    outcome: Outcome
    version: Version

    def made_by(self, version: Version) -> bool:
        """Whether this version would give it again: as long as all files that it used are as they were."""
        if self.version == version:
            return True
        same_experiment = self.version.experiment == version.experiment
        used = self.outcome.used
        return same_experiment and bool(used) and used_digest(used) == self.outcome.digest


def job_key(job: Job) -> str:
    return json.dumps(job, sort_keys=True)


class Store:
    """The file ``outcomes.jsonl``, which only grows: a change that is undone finds its outcomes."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def append(self, record: Record) -> None:
        done = record.outcome
        line = {"job": record.job, "outcome": done.value, "seconds": round(done.seconds, 3)}
        line |= {"used": done.used, "digest": done.digest}
        with self.file.open("a", encoding="utf-8") as file:
            # the newline comes first, so that a line cut short by a kill spoils only itself
            file.write("\n" + json.dumps(line | asdict(record.version)))

    def find(self, version: Version, stale: bool = False) -> dict[str, Record]:
        """Records by `job_key`: the last of this version or, with `stale`, else the last of any other."""
        records = list(self._read())
        found = {job_key(r.job): r for r in records} if stale else {}
        return found | {job_key(r.job): r for r in records if r.made_by(version)}

    def _read(self) -> Iterator[Record]:
        if not self.file.exists():
            return
        for text in self.file.read_text(encoding="utf-8").split("\n"):
            try:
                line = json.loads(text)
            except json.JSONDecodeError:  # empty, or cut short
                continue
            used, digest = tuple(line.get("used", ())), line.get("digest", "")
            outcome = Outcome(line["outcome"], line.get("seconds", 0.0), used, digest)
            yield Record(line["job"], outcome, Version.of_record(line))
