"""Reports as files: a page an experiment, and one page that leads to them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..causes import CAUSES
from ..experiments import EXPERIMENTS
from ..versions import PAPERS, checkout_digest, experiment_digest, library_digest
from . import Figure, Note, Part, Provenance, Table
from .tables import KEY, LEGEND, REMARKS, VERDICTS, WORSE, Contest, causes_note, unbroken

JUDGED = [verdict for verdict in VERDICTS if verdict]

INTRODUCTION = """# The papers' experiments: results

What this library's methods give in the experiments of five works, beside the published figures. One command
writes this page, a page for each experiment and the pictures:

```shell
python -m papers all --out {out}
```

{cost}

It continues where it was stopped. `python -m papers NAME` runs one experiment; `python -m papers report`
with the same `--out` computes nothing and writes the pages anew from the stored figures. Where there are
fewer runs than in print, or shorter streams, it is for the time they take: `--runs` sets another number.
Every page ends with the sources that made its figures, and says whether the experiment has changed since.
"""

JUDGING = f"""## How figures are judged

In the tables the published figure stands in brackets beside ours, with a sign:

{LEGEND}

Errors of the published figures are not counted, and seconds not judged: those are another machine's. A
contest is a setting with published figures: our best method beside the best published figure of any method.
"""


def write_results(name: str, command: str, parts: Sequence[Part], out: Path) -> None:
    """`results.md`, `results.json` and, with matplotlib, the pictures."""
    _write(name, command, parts, out)
    for part in parts:
        if isinstance(part, Figure):
            try:
                part.draw(out)
            except ImportError as error:
                raise ImportError(
                    f"{error}: the numbers of {part.title!r} are in {out / 'results.json'}; for its "
                    "picture pip install 'streamsieve[plot]' and run again, which computes nothing twice."
                ) from error


def rewrite_results(name: str, out: Path, pictures: bool = False) -> str:
    """`results.md` and `results.json` anew from the figures in the latter: judged anew, with today's causes.

    For a change of the judging or of a cause; nothing is computed, and pictures are drawn if `pictures`.
    Returns whether the sources of now made the figures.
    """
    stored = json.loads((out / "results.json").read_text())
    read = [part for record in stored if (part := _read_part(name, record)) is not None]
    made = [part for part in read if isinstance(part, Provenance)]
    parts: list[Part] = [part for part in read if not isinstance(part, Provenance)]
    if name in CAUSES:
        parts.append(causes_note(CAUSES[name], parts))
    (write_results if pictures else _write)(name, _command(out), [*parts, *made], out)
    sources = {digest for part in made for digest in part.sources()}
    if not sources:
        return "made by sources that were not recorded."
    now = sources <= {checkout_digest(), library_digest()}  # an installed library has a digest of its own
    library = "the library's sources of now" if now else "other sources of the library than those of now"
    return f"made by {library}. {made[0].state()}"


def _command(out: Path) -> str:
    """The command that a page was made by."""
    found = re.search(r"`(python -m papers [^`]*)`", (out / "results.md").read_text())
    return found[1] if found else ""


def _read_part(name: str, record: dict[str, Any]) -> Part | None:
    """The part of a report that a record was made of; None for the causes, which are those of now."""
    if "rows" in record:
        return Table.from_json(record)
    if "panels" in record:
        return Figure.from_json(record)
    if "points" in record:
        title = record["title"]
        return None if title in (WORSE, REMARKS) else Note(record["points"], title)
    file = PAPERS / "experiments" / f"{name}.py"
    return Provenance.from_json(record, experiment_digest(file) if file.exists() else "")


def _write(name: str, command: str, parts: Sequence[Part], out: Path) -> None:
    shows = f"{EXPERIMENTS[name].shows}.\n\n" if name in EXPERIMENTS else ""
    figures = _figures([part for part in parts if isinstance(part, Table)])
    overview = f"../../{out.parent.name}.md"
    links = f"[All results]({overview})."
    if figures:
        links = f"Figures, [judged]({overview}#how-figures-are-judged): {_counts(figures)}. {links}"
    header = f"# {name}\n\n{shows}`{command}`\n\n{links}\n"
    (out / "results.md").write_text("\n".join([header, *(part.markdown() for part in parts)]))
    (out / "results.json").write_text(json.dumps([part.json() for part in parts], indent=1) + "\n")


def _figures(tables: Sequence[Table]) -> Counter[str]:
    """How often figures are judged better, equal, undecided and worse."""
    return +Counter({verdict: sum(table.count(verdict) for table in tables) for verdict in JUDGED})


@dataclass(frozen=True)
class Summary:
    """An experiment on the page of all: its tables and the command that made them."""

    name: str
    tables: list[Table]
    command: str
    seconds: float

    @classmethod
    def read(cls, name: str, folder: Path) -> Summary:
        records = json.loads((folder / "results.json").read_text())
        tables = [Table.from_json(record) for record in records if "rows" in record]
        seconds = sum(record.get("seconds", 0.0) for record in records if "outcomes" in record)
        return cls(name, tables, _command(folder), seconds)

    @property
    def runs(self) -> str:
        found = re.search(r"--runs (\d+)", self.command)
        return found[1] if found else "-"

    @property
    def figures(self) -> Counter[str]:
        return _figures(self.tables)

    @property
    def contests(self) -> list[Contest]:
        return [contest for table in self.tables for contest in table.contests()]

    @property
    def minutes(self) -> float | None:
        """On two cores: of the outcomes where it was recorded, else as known."""
        return self.seconds / 120 if self.seconds else EXPERIMENTS[self.name].paper_minutes


def write_overview(out: Path) -> Path:
    """One page beside the folder `out`, with a summary of the experiments in it and links to their pages."""
    summaries = [
        Summary.read(name, out / name) for name in EXPERIMENTS if (out / name / "results.json").exists()
    ]
    page = out.parent / f"{out.name}.md"
    kinds = dict.fromkeys(EXPERIMENTS[summary.name].kind for summary in summaries)
    parts = [INTRODUCTION.format(out=_relative(out), cost=_cost(summaries))]
    parts += _headline(summaries)
    for kind in kinds:
        parts.append(_group(kind, [s for s in summaries if EXPERIMENTS[s.name].kind == kind], out.name))
    parts += [*_lost(summaries), *_undecided(summaries), JUDGING]
    names = "\n".join(f"{out.name}/{summary.name}/results" for summary in summaries)
    parts.append(f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```\n")
    page.write_text("\n".join(parts))
    return page


def _relative(out: Path) -> str:
    return f"docs/{out.name}" if out.parent.name == "docs" else out.name


def _cost(summaries: Sequence[Summary]) -> str:
    known = [s.minutes for s in summaries if s.minutes is not None]
    unknown = [s.name for s in summaries if s.minutes is None]
    cost = f"On two cores {len(known)} of {len(summaries)} experiments take about {sum(known) / 60:.1f} hours"
    cost += " together, in part scaled from shorter runs"
    if unknown:
        cost += f"; the time of the others was not recorded ({', '.join(unknown)})"
    return f"{cost}."


def _headline(summaries: Sequence[Summary]) -> Iterator[str]:
    contests = [contest for summary in summaries for contest in summary.contests]
    counts = Counter(_outcome(contest) for contest in contests)
    if contests:
        yield (
            f"**Of {len(contests)} contests our best method is better than the best published figure of any "
            f"method in {counts['better']}, equal in {counts['equal']} and worse in {counts['worse']}; "
            f"{counts['undecided']} are undecided, and {counts['once']} were run only once, which decides "
            "nothing.** [How this is judged](#how-figures-are-judged).\n"
        )
    figures = _figures([table for summary in summaries for table in summary.tables])
    if figures:
        yield f"All judged figures, of every method: {_counts(figures)}.\n"


def _counts(figures: Mapping[str, int]) -> str:
    """What was judged how often, in words."""
    *most, last = [f"{n} {verdict}" for verdict, n in figures.items() if n]
    return f"{', '.join(most)} and {last}" if most else last


def _outcome(contest: Contest) -> str:
    return "once" if contest.ours.runs == 1 else contest.ours.verdict


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> str:
    lines = (columns, ["--:" if column in right else "---" for column in columns], *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _group(kind: str, summaries: Sequence[Summary], folder: str) -> str:
    """A heading and a table; with contests where there are any."""
    outcomes = {"better": "▲", "equal": "≈", "undecided": "?", "worse": "▼", "once": "run once"}
    contested = any(summary.contests for summary in summaries)
    rows = []
    for s in summaries:
        row = [f"[{s.name}]({folder}/{s.name}/results.md)", EXPERIMENTS[s.name].shows, s.runs]
        if contested:
            counts = Counter(map(_outcome, s.contests))
            row += [str(counts[o]) if s.contests else "-" for o in outcomes]
        rows.append(row)
    numbers = ["runs", *(outcomes.values() if contested else ())]
    table = _table(["experiment", "what it shows", *numbers], rows, numbers)
    key = f"Contests by outcome: {KEY[:-1]}; - where there is none.\n\n" if contested else ""
    return f"## {kind}\n\n{key}{table}"


def _listed(summaries: Sequence[Summary], outcome: str, behind: bool = False) -> str:
    """A table of the contests with this outcome, or of those in which our figure is behind; "" for none."""
    rows = [
        [s.name, c.measure, c.setting, c.method, unbroken(c.ours)]
        for s in summaries
        for c in s.contests
        if _outcome(c) == outcome and (c.behind or not behind)
    ]
    return _table(["experiment", "measured", "setting", "our best", "ours (published)"], rows) if rows else ""


def _lost(summaries: Sequence[Summary]) -> Iterator[str]:
    lost = _listed(summaries, "worse")
    if lost:
        yield f"## Lost contests\n\nThe page of the experiment says why.\n\n{lost}"


def _undecided(summaries: Sequence[Summary]) -> Iterator[str]:
    undecided, behind = _listed(summaries, "undecided"), _listed(summaries, "once", behind=True)
    if undecided:
        yield f"## Undecided contests\n\nMore runs may decide them.\n\n{undecided}"
    if behind:
        yield f"Of those that were run once our figure is behind the published one in these:\n\n{behind}"
