"""Outcomes in a file, a line each, with the commit and the hashes of the sources that made them.

`outcomes.jsonl` has two kinds of lines. A *version* has an id, a commit and the hashes of the files that its
outcomes depend on; an outcome names its job, the method where the job has several, and its version. So a
mended method costs its own outcomes, and a page can name what has changed since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Job = dict[str, Any]


@dataclass(frozen=True)
class Version:
    """The commit and the hashes of the files that outcomes depend on."""

    commit: str
    files: dict[str, str]

    @property
    def id(self) -> str:
        return hashlib.sha256(_line(self.files).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Record:
    """A job, the method of it that was measured ("" for all that it measures), and what came of it."""

    job: Job
    method: str
    value: Any
    seconds: float
    version: Version

    @property
    def key(self) -> tuple[str, str]:
        return job_key(self.job), self.method


def job_key(job: Job) -> str:
    return json.dumps(job, sort_keys=True)


def append(file: Path, records: Iterable[Record]) -> None:
    """Add outcomes to a file."""
    known = {version.id for version in _read(file)[0].values()}
    lines = []
    for record in records:
        version = record.version
        if version.id not in known:
            lines.append({"version": version.id, "commit": version.commit, "files": version.files})
            known.add(version.id)
        line = {"job": record.job, "outcome": record.value, "seconds": round(record.seconds, 3)}
        lines.append(line | ({"method": record.method} if record.method else {}) | {"made": version.id})
    with file.open("a", encoding="utf-8") as out:
        # the newline comes first, so that a line cut short by a kill spoils only itself
        out.write("".join(f"\n{_line(line)}" for line in lines))


def read(file: Path) -> dict[tuple[str, str], Record]:
    """The last outcome of each job and method."""
    versions, lines = _read(file)
    records = [
        Record(line["job"], line.get("method", ""), line["outcome"], line["seconds"], versions[line["made"]])
        for line in lines
        if line["made"] in versions
    ]
    return {record.key: record for record in records}


def rewrite(file: Path, records: Iterable[Record]) -> None:
    """Leave only these outcomes in a file, in their order."""
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    append(new, records)
    new.replace(file)


def _read(file: Path) -> tuple[dict[str, Version], list[dict[str, Any]]]:
    """Versions by their id, and the lines of outcomes."""
    versions: dict[str, Version] = {}
    outcomes: list[dict[str, Any]] = []
    for text in file.read_text(encoding="utf-8").split("\n") if file.exists() else ():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:  # empty, or cut short
            continue
        if "files" in line:
            versions[line["version"]] = Version(line["commit"], line["files"])
        else:
            outcomes.append(line)
    return versions, outcomes


def _line(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"))
