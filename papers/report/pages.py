"""Reports as files: a page an experiment, and one page that leads to them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import store
from ..causes import read_causes
from ..experiments import EXPERIMENTS, load_experiment
from ..store import Job, Record, job_key
from . import Figure, Outcomes, Part, Sources, Table
from .earlier import Earlier, stale_figures
from .sources import Made, group
from .tables import KEY, LEGEND, VERDICTS, Contest, causes_note, unbroken

JUDGED = [verdict for verdict in VERDICTS if verdict]

INTRODUCTION = """# The papers' experiments: results

This library repeats the experiments of five works and compares its figures with the published ones. One
command writes this page, a page for each experiment and the pictures:

```shell
python -m papers all --out {out}
```

{cost}

The outcomes are stored in the repository, in the folder of each experiment. A run computes only outcomes that
are missing or stale. `python -m papers check` computes a sample of the outcomes again and compares them with
the stored ones. An outcome is *stale* if the two differ. Each page ends with the commits that computed its
figures, and the commits that checked them. `python -m papers NAME` runs one experiment.
`python -m papers report` writes the pages again without computing anything. Some experiments take
long. They have fewer runs or shorter streams than in print; `--runs` sets the number of runs.

A *contest* is one setting with published figures. It compares our best method with the best published figure
of any method. A figure is *earlier* if its outcomes were not stored or are stale.
"""

JUDGING = f"""## How figures are judged

In the tables the published figure follows ours in brackets, with a sign:

{LEGEND}

The standard errors of the published figures are not used. Seconds are not judged: the published ones are from
another machine.
"""


def write_page(name: str, out: Path, pictures: bool = True) -> list[Part]:
    """Write `results.md`, `results.json` and the pictures of an experiment, from the outcomes in `out`.

    Nothing is computed. Needs matplotlib if `pictures`. Returns the parts of the page.
    """
    experiment = load_experiment(name)
    records = list(store.read(out / "outcomes.jsonl").values())
    outcomes = Outcomes(merge_methods([record for record in records if not record.stale]))
    parts: list[Part] = experiment.report(outcomes) if outcomes else []
    made = group(records)
    unkept = Earlier.read(out / "earlier.json").without(parts)
    unkept.write(out / "earlier.json")
    sources = [unkept]
    if any(record.stale for record in records):
        everything = experiment.report(Outcomes(merge_methods(records)))
        sources.insert(0, stale_figures(everything).without(parts))
    for earlier in sources:
        if earlier.parts:
            parts, titles = earlier.add(parts)
            if earlier is unkept:
                made.append(Made(titles, 0, unkept.commit, Counter()))
    if causes := [cause for cause in read_causes() if cause.experiment == name]:
        parts.append(causes_note([cause.markdown() for cause in causes], parts))
    seconds = sum(record.seconds for record in records)
    parts.append(Sources(made, seconds, max(outcomes.runs(), unkept.runs)))
    _write(name, parts, out)
    for part in parts:
        if pictures and isinstance(part, Figure):
            try:
                part.draw(out)
            except ImportError as error:
                raise ImportError(
                    f"{error}: the numbers of {part.title!r} are in {out / 'results.json'}; for its "
                    "picture pip install 'streamsieve[plot]' and run again, which computes nothing twice."
                ) from error
    return parts


def merge_methods(records: Sequence[Record]) -> list[tuple[Job, Any]]:
    """Jobs with their outcomes; those of several methods by the names of these."""
    merged: dict[str, tuple[Job, Any]] = {}
    for record in records:
        value = {record.method: record.value} if record.method else record.value
        before = merged.get(job_key(record.job), (record.job, {}))[1]
        merged[job_key(record.job)] = record.job, before | value if record.method else value
    return list(merged.values())


def _write(name: str, parts: Sequence[Part], out: Path) -> None:
    shows = f"{EXPERIMENTS[name].shows}.\n\n" if name in EXPERIMENTS else ""
    figures = _figures([part for part in parts if isinstance(part, Table)])
    overview = f"../../{out.parent.name}.md"
    links = f"[All results]({overview})."
    if figures:
        links = f"Figures, [judged]({overview}#how-figures-are-judged): {_counts(figures)}. {links}"
    header = f"# {name}\n\n{shows}`python -m papers {name}`\n\n{links}\n"
    (out / "results.md").write_text("\n".join([header, *(part.markdown() for part in parts)]))
    (out / "results.json").write_text(json.dumps([part.json() for part in parts], indent=1) + "\n")


def _figures(tables: Sequence[Table], earlier: bool | None = None) -> Counter[str]:
    """How often figures are judged better, equal, undecided and worse; all, or those that are `earlier`."""
    return +Counter({verdict: sum(table.count(verdict, earlier) for table in tables) for verdict in JUDGED})


@dataclass(frozen=True)
class Summary:
    """An experiment on the page of all: its tables, how many runs they have, and their seconds."""

    name: str
    tables: list[Table]
    runs: int
    seconds: float

    @classmethod
    def read(cls, name: str, folder: Path) -> Summary:
        records = json.loads((folder / "results.json").read_text())
        tables = [Table.from_json(record) for record in records if "rows" in record]
        made = next((record for record in records if "made" in record), {"runs": 0, "seconds": 0})
        return cls(name, tables, made["runs"], made["seconds"])

    @property
    def figures(self) -> Counter[str]:
        return _figures(self.tables)

    @property
    def contests(self) -> list[Contest]:
        return [contest for table in self.tables for contest in table.contests()]

    @property
    def all_runs(self) -> str:
        """How many runs the contests have, or else the experiment."""
        runs = {contest.ours.runs for contest in self.contests} or {self.runs}
        return str(*runs) if len(runs) == 1 else f"{min(runs)} to {max(runs)}"

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
    cost += " together. Some of these times are extrapolated from shorter runs"
    if unknown:
        cost += f". The time of the others was not recorded ({', '.join(unknown)})"
    return f"{cost}."


def _headline(summaries: Sequence[Summary]) -> Iterator[str]:
    contests = [contest for summary in summaries for contest in summary.contests]
    current = [contest for contest in contests if not contest.ours.earlier]
    earlier = [contest for contest in contests if contest.ours.earlier]
    if current:
        counts = Counter(map(_outcome, current))
        once = f", and {counts['once']} were run only once" if counts["once"] else ""
        yield (
            f"**Of {len(current)} contests our best method is better than the best published figure of any "
            f"method in {counts['better']}, equal in {counts['equal']} and worse in {counts['worse']}; "
            f"{counts['undecided']} are undecided{once}.** [How this is judged](#how-figures-are-judged).\n"
        )
        best = Counter(contest.method for contest in current if _outcome(contest) in ("better", "equal"))
        if best:
            named = [f"{method} {n}" for method, n in best.most_common()]
            yield f"Our best methods in the contests that are better or equal: {', '.join(named)}.\n"
    if earlier:
        counts = Counter(map(_outcome, earlier))
        judged = {word: counts[word] for word in JUDGED if counts[word]}
        judged |= {"run once": counts["once"]} if counts["once"] else {}
        yield (
            f"{len(earlier)} more contests are judged by earlier figures ({_counts(judged)}). They are not "
            "counted above.\n"
        )
    tables = [table for summary in summaries for table in summary.tables]
    figures, before = _figures(tables, earlier=False), _figures(tables, earlier=True)
    if figures:
        apart = f"; of earlier ones: {_counts(before)}" if before else ""
        yield f"All judged figures, of every method: {_counts(figures)}{apart}.\n"


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
    outcomes = {
        "better": "▲",
        "equal": "≈",
        "undecided": "?",
        "worse": "▼",
        "once": "run once",
        "earlier": "earlier",
    }
    contested = any(summary.contests for summary in summaries)
    rows = []
    for s in summaries:
        row = [f"[{s.name}]({folder}/{s.name}/results.md)", EXPERIMENTS[s.name].shows, s.all_runs]
        if contested:
            counts = Counter("earlier" if c.ours.earlier else _outcome(c) for c in s.contests)
            row += [str(counts[o]) if s.contests else "-" for o in outcomes]
        rows.append(row)
    numbers = ["runs", *(outcomes.values() if contested else ())]
    table = _table(["experiment", "what it shows", *numbers], rows, numbers)
    apart = "- if the experiment has no contests"
    key = f"Contests by outcome: {KEY[:-1]}; {apart}.\n\n" if contested else ""
    return f"## {kind}\n\n{key}{table}"


def _listed(summaries: Sequence[Summary], outcome: str, behind: bool = False) -> str:
    """A table of the contests with this outcome, or of those in which our figure is behind; "" for none."""
    rows = [
        [
            *(s.name + " (earlier)" * c.ours.earlier, c.measure, c.setting, c.method),
            *(unbroken(c.ours), str(c.ours.runs)),
        ]
        for s in summaries
        for c in s.contests
        if _outcome(c) == outcome and (c.behind or not behind)
    ]
    columns = ["experiment", "measured", "setting", "our best", "ours (published)", "runs"]
    return _table(columns, rows, columns[-1:]) if rows else ""


def _lost(summaries: Sequence[Summary]) -> Iterator[str]:
    lost = _listed(summaries, "worse")
    if lost:
        yield f"## Lost contests\n\nThe page of each experiment gives the causes.\n\n{lost}"


def _undecided(summaries: Sequence[Summary]) -> Iterator[str]:
    undecided, behind = _listed(summaries, "undecided"), _listed(summaries, "once", behind=True)
    if undecided:
        yield f"## Undecided contests\n\nMore runs may decide these contests.\n\n{undecided}"
    if behind:
        yield f"Contests that were run only once, with a worse figure than the published one:\n\n{behind}"
