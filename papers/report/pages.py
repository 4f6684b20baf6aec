"""Reports as files: a page an experiment, and one page of all."""

from __future__ import annotations

import json
from pathlib import Path

from ..experiments import EXPERIMENTS
from . import Figure, Part
from .tables import LEGEND, VERDICTS

INTRODUCTION = f"""# The papers' experiments

Each section begins with the command that prints it. The published figure stands in brackets beside ours:
{LEGEND}
± is the standard error of the mean. Seconds are not judged: the published ones are another machine's. Where
we are worse, a list after the tables of the experiment says why.

| experiment | {" | ".join(f"{name} {sign}" for name, sign in VERDICTS.items() if name)} |
|---|--:|--:|--:|"""


def write_results(header: str, parts: list[Part], out: Path) -> None:
    """`results.md`, which begins with the header, `results.json` and, with matplotlib, the pictures."""
    (out / "results.md").write_text("\n".join([header, *(part.markdown() for part in parts)]))
    (out / "results.json").write_text(json.dumps([part.json() for part in parts], indent=1) + "\n")
    for part in parts:
        if isinstance(part, Figure):
            try:
                part.draw(out)
            except ImportError as error:
                raise ImportError(
                    f"{error}: the numbers of {part.title!r} are in {out / 'results.json'}; for its "
                    "picture pip install 'streamsieve[plot]' and run again, which computes nothing twice."
                ) from error


def write_overview(out: Path) -> Path:
    """One page beside the folder `out`, with the results of all experiments in it."""
    names = [name for name in EXPERIMENTS if (out / name / "results.md").exists()]
    texts = [(out / name / "results.md").read_text() for name in names]
    linked = [text.replace("](", f"]({out.name}/{name}/") for name, text in zip(names, texts)]
    rows = [
        f"| [{name}](#{name}) | {' | '.join(str(_verdicts(out / name).count(v)) for v in VERDICTS if v)} |"
        for name in names
    ]
    page = out.parent / f"{out.name}.md"
    page.write_text("\n".join([INTRODUCTION, *rows, "", *linked]))
    return page


def _verdicts(folder: Path) -> list[str]:
    """The verdicts of all cells of an experiment's tables that have one."""
    parts = json.loads((folder / "results.json").read_text())
    cells = [c for part in parts for row in part.get("rows", []) for c in row if isinstance(c, dict)]
    return [c["verdict"] for c in cells if c.get("verdict")]
