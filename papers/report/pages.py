"""Reports as files: a page an experiment, and one page of all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..causes import CAUSES
from ..experiments import EXPERIMENTS
from . import Figure, Note, Part, Provenance, Table
from .tables import LEGEND, VERDICTS

INTRODUCTION = f"""# The papers' experiments

Each section begins with the command that prints it. The published figure stands in brackets beside ours:
{LEGEND}
± is the standard error of the mean. Seconds are not judged: the published ones are another machine's. Where
we are worse, a list after the tables of the experiment says why. Contests are settings with published figures
that were run more than once; counted are those in which our best method is at or above the best published
figure of any method, within the error. Where there are fewer runs than in print, or shorter streams, it is
for the time they take; the commands run as many as they are told to.

| experiment | {" | ".join(f"{name} {sign}" for name, sign in VERDICTS.items() if name)} | contests |
|---|--:|--:|--:|--:|--:|"""


def write_results(header: str, parts: list[Part], out: Path) -> None:
    """`results.md`, which begins with the header, `results.json` and, with matplotlib, the pictures."""
    _write(header, parts, [part.json() for part in parts], out)
    for part in parts:
        if isinstance(part, Figure):
            try:
                part.draw(out)
            except ImportError as error:
                raise ImportError(
                    f"{error}: the numbers of {part.title!r} are in {out / 'results.json'}; for its "
                    "picture pip install 'streamsieve[plot]' and run again, which computes nothing twice."
                ) from error


def rewrite_results(name: str, out: Path) -> None:
    """`results.md` and `results.json` anew from the figures in the latter: judged anew, with today's causes.

    For a change of the judging or of a cause; nothing is computed and no picture drawn.
    """
    stored = json.loads((out / "results.json").read_text())
    header = (out / "results.md").read_text().partition("\n### ")[0]
    parts: list[Part] = []
    records: list[dict[str, Any]] = []
    for record in stored:
        part = _read_part(record)
        if part is not None:
            parts.append(part)
            records.append(record if isinstance(part, Figure) else part.json())
    if name in CAUSES:
        at = len(parts) - isinstance(parts[-1], Provenance)
        parts.insert(at, Note(CAUSES[name]))
        records.insert(at, parts[at].json())
    _write(header, parts, records, out)


def _read_part(record: dict[str, Any]) -> Part | None:
    """The part of a report that a record was made of; None for the causes, which are those of now."""
    if "rows" in record:
        return Table.from_json(record)
    if "panels" in record:
        return Figure(record["name"], record["title"], (), record["note"])  # its picture is drawn already
    if "points" in record and record["title"] != Note.title:
        return Note(record["points"], record["title"])
    return Provenance(record["version"], record["outcomes"]) if "version" in record else None


def _write(header: str, parts: list[Part], records: list[dict[str, Any]], out: Path) -> None:
    (out / "results.md").write_text("\n".join([header, *(part.markdown() for part in parts)]))
    (out / "results.json").write_text(json.dumps(records, indent=1) + "\n")


def write_overview(out: Path) -> Path:
    """One page beside the folder `out`, with the results of all experiments in it."""
    names = [name for name in EXPERIMENTS if (out / name / "results.md").exists()]
    texts = [(out / name / "results.md").read_text() for name in names]
    linked = [text.replace("](", f"]({out.name}/{name}/") for name, text in zip(names, texts)]
    rows, lost = [], []
    held = total = 0
    for name in names:
        tables = _tables(out / name)
        verdicts = [c.verdict for t in tables for row in t.rows for c in row if not isinstance(c, str)]
        contests = [contest for table in tables for contest in table.contests()]
        worse = [contest for contest in contests if contest.ours.verdict == "worse"]
        counts = " | ".join(str(verdicts.count(v)) for v in VERDICTS if v)
        score = f"{len(contests) - len(worse)} of {len(contests)}" if contests else "-"
        rows.append(f"| [{name}](#{name}) | {counts} | {score} |")
        lost += [f"- {name}: {c.setting}: {c.method} {c.ours}" for c in worse]
        held, total = held + len(contests) - len(worse), total + len(contests)
    summary = (
        f"Our best method is at or above the published best, within the error, in {held} of {total} contests."
    )
    if lost:
        summary = "\n".join([f"{summary} The others:", "", *lost])
    page = out.parent / f"{out.name}.md"
    page.write_text("\n".join([INTRODUCTION, *rows, "", *([summary, ""] if total else []), *linked]))
    return page


def _tables(folder: Path) -> list[Table]:
    parts = json.loads((folder / "results.json").read_text())
    return [Table.from_json(part) for part in parts if "rows" in part]
