"""Outcomes on disk, a line a job, each with the version of the code that made it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .versions import Version

Job = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """What a job gave, in how many seconds, by which version of the code."""

    job: Job
    outcome: Any
    seconds: float
    version: Version


def job_key(job: Job) -> str:
    return json.dumps(job, sort_keys=True)


class Store:
    """The file ``outcomes.jsonl``, which only grows: a change that is undone finds its outcomes."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def append(self, record: Record) -> None:
        line = {"job": record.job, "outcome": record.outcome, "seconds": round(record.seconds, 3)}
        with self.file.open("a", encoding="utf-8") as file:
            # the newline comes first, so that a line cut short by a kill spoils only itself
            file.write("\n" + json.dumps(line | asdict(record.version)))

    def find(self, version: Version, stale: bool = False) -> dict[str, Record]:
        """Records by `job_key`: the last of this version or, with `stale`, else the last of any other."""
        records = list(self._read())
        found = {job_key(r.job): r for r in records} if stale else {}
        return found | {job_key(r.job): r for r in records if r.version == version}

    def _read(self) -> Iterator[Record]:
        if not self.file.exists():
            return
        for text in self.file.read_text(encoding="utf-8").split("\n"):
            try:
                line = json.loads(text)
            except json.JSONDecodeError:  # empty, or cut short
                continue
            yield Record(line["job"], line["outcome"], line.get("seconds", 0.0), Version.of_record(line))
