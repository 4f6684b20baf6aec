"""Tables and figures of an experiment, and how they are written: Markdown, JSON, pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

VERDICTS = {"better": "▲", "equal": "≈", "worse": "▼", "": ""}
LEGEND = "▲ better, ≈ equal within the run-to-run error (95%, Student's t), ▼ worse than published."


@dataclass(frozen=True)
class Cell:
    """Figures of all runs, and the published one; `better` tells which way is up.

    Seconds are another machine's where they are published, and not judged.
    """

    values: Sequence[float]
    published: float | None = None
    better: str = "more"  # or "less", or "" where it is not judged
    digits: int = 1

    @property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)

    @property
    def error(self) -> float | None:
        """Standard error of the mean, None for a single run."""
        n = len(self.values)
        if n < 2:
            return None
        mean = self.mean
        return math.sqrt(math.fsum((v - mean) ** 2 for v in self.values) / (n - 1) / n)

    @property
    def verdict(self) -> str:
        """Against the published figure, by the 95% interval of our own runs, and to the digits shown."""
        if not self.better or self.published is None or self.error is None:
            return ""
        from scipy.special import stdtrit

        gain = (self.mean - self.published) * (1 if self.better == "more" else -1)
        if abs(gain) <= max(stdtrit(len(self.values) - 1, 0.975) * self.error, 0.5 * 10.0**-self.digits):
            return "equal"
        return "better" if gain > 0 else "worse"

    def __str__(self) -> str:
        if not self.values:
            return "-" if self.published is None else f"- ({self.published:.{self.digits}f})"
        text = f"{self.mean:.{self.digits}f}"
        if self.error is not None:
            text += f" ± {self.error:.{self.digits}f}"
        if self.published is not None:
            text += f" ({f'{self.published:.{self.digits}f} {VERDICTS[self.verdict]}'.rstrip()})"
        return text

    def json(self) -> dict[str, Any]:
        if not self.values:
            return {"published": self.published}
        shown = {"mean": self.mean, "stderr": self.error, "runs": len(self.values)}
        return shown | {"published": self.published, "verdict": self.verdict}


@dataclass(frozen=True)
class Table:
    """Rows of words and cells under column names, and what holds for all of them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    note: str = ""

    def legend(self) -> str:
        judged = any(isinstance(c, Cell) and c.values and c.verdict for row in self.rows for c in row)
        shown = any(isinstance(c, Cell) and c.published is not None for row in self.rows for c in row)
        return " ".join(
            filter(None, [self.note, "In brackets: published." if shown else "", LEGEND if judged else ""])
        )

    def markdown(self) -> str:
        lines = [f"### {self.title}", "", " | ".join(["", *self.columns, ""]).strip()]
        lines.append("|" + "|".join("---" if i == 0 else "--:" for i in range(len(self.columns))) + "|")
        lines += [" | ".join(["", *map(str, row), ""]).strip() for row in self.rows]
        return "\n".join([*lines, "", self.legend()]).rstrip() + "\n"

    def json(self) -> dict[str, Any]:
        rows = [[c.json() if isinstance(c, Cell) else c for c in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows, "note": self.note}


@dataclass(frozen=True)
class Panel:
    """Lines by name: their x and their y. Names that start with "published" are drawn dashed."""

    title: str
    xlabel: str
    ylabel: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    xlog: bool = False
    ylog: bool = False
    markers: bool = True


@dataclass(frozen=True)
class Figure:
    """Panels side by side, saved as `name`.png."""

    name: str
    title: str
    panels: Sequence[Panel]
    note: str = ""
    columns: int = 3

    def markdown(self) -> str:
        return f"### {self.title}\n\n![{self.title}]({self.name}.png)\n\n{self.note}".rstrip() + "\n"

    def json(self) -> dict[str, Any]:
        panels = [
            {
                "title": p.title,
                "x": p.xlabel,
                "y": p.ylabel,
                "lines": {k: list(v) for k, v in p.lines.items()},
            }
            for p in self.panels
        ]
        return {"title": self.title, "panels": panels, "note": self.note}

    def draw(self, folder: Path) -> Path:
        """Save the picture; needs matplotlib."""
        from matplotlib.figure import Figure as Canvas

        wide = min(self.columns, len(self.panels))
        tall = -(-len(self.panels) // wide)
        canvas = Canvas(figsize=(4.4 * wide, 3.4 * tall + 0.5), layout="constrained")
        axes = canvas.subplots(tall, wide, squeeze=False).ravel()
        names = list(dict.fromkeys(name for panel in self.panels for name in panel.lines))
        colour = {name: f"C{i % 10}" for i, name in enumerate(n for n in names if not _published(n))}
        for ax, panel in zip(axes, self.panels):
            for i, name in enumerate(names):
                if name not in panel.lines:
                    continue
                own = name.removeprefix("published ")
                x, y = panel.lines[name]
                ax.plot(
                    x,
                    y,
                    color=colour.get(own, "0.4"),
                    linestyle="--" if _published(name) else "-",
                    marker="osD^vP*X<>"[i % 10] if panel.markers and not _published(name) else None,
                    markersize=4,
                    linewidth=1.4,
                    label=name,
                )
            ax.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
            ax.set_xscale("log" if panel.xlog else "linear")
            ax.set_yscale("log" if panel.ylog else "linear")
            ax.grid(alpha=0.3)
        for ax in axes[len(self.panels) :]:
            ax.set_axis_off()
        handles: dict[str, Any] = {}
        for ax in axes:
            for handle, label in zip(*ax.get_legend_handles_labels()):
                handles.setdefault(label, handle)
        if len(handles) > 1:
            canvas.legend(
                handles.values(),
                handles.keys(),
                loc="outside lower center",
                ncols=min(6, len(handles)),
                fontsize=8,
            )
        file = folder / f"{self.name}.png"
        canvas.savefig(file, dpi=130)
        return file


@dataclass(frozen=True)
class Note:
    """What the figures do not say themselves: where they are worse than published, and why."""

    points: Sequence[str]
    title: str = "Where it is worse than published, and why"

    def markdown(self) -> str:
        return "\n".join([f"### {self.title}", "", *(f"- {point}" for point in self.points)]) + "\n"

    def json(self) -> dict[str, Any]:
        return {"title": self.title, "points": list(self.points)}


def _published(name: str) -> bool:
    return name.startswith("published ")


@dataclass(frozen=True)
class Outcomes:
    """Jobs and what came of them."""

    pairs: list[tuple[dict[str, Any], Any]] = field(default_factory=list)

    def where(self, **match: Any) -> Outcomes:
        """Those whose job has these values."""
        want = {name: list(v) if isinstance(v, tuple) else v for name, v in match.items()}
        return Outcomes([(j, o) for j, o in self.pairs if all(j.get(n) == v for n, v in want.items())])

    def values(self, *at: Any) -> list[Any]:
        """outcome[at[0]][at[1]]... of each; those that lack it are left out."""
        found = []
        for _, outcome in self.pairs:
            for name in at:
                outcome = outcome.get(str(name)) if isinstance(outcome, dict) else None
            if outcome is not None:
                found.append(outcome)
        return found

    def cell(
        self,
        *at: Any,
        published: float | None = None,
        better: str = "more",
        digits: int = 1,
    ) -> Cell:
        return Cell(self.values(*at), published, better, digits)

    def runs(self) -> int:
        """The most jobs that differ in nothing but their seed."""
        counts: dict[str, int] = {}
        for job, _ in self.pairs:
            key = repr({name: value for name, value in job.items() if name != "seed"})
            counts[key] = counts.get(key, 0) + 1
        return max(counts.values(), default=0)

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Any]]:
        return iter(self.pairs)


Part = Table | Figure | Note


def printed(text: str) -> list[list[list[Any]]]:
    """Published numbers, a row a line, its parts divided by "|", after which it may go on; "-" is None."""
    lines = text.replace("|\n", "|").strip().splitlines()
    rows = [[part.split() for part in line.split("|")] for line in lines]
    return [[[None if w == "-" else float(w) for w in part] for part in row] for row in rows]


class clock:
    """Adds the time spent within to a name, or begins it anew."""

    def __init__(self, seconds: dict[Any, float], name: Any, begin: bool = False) -> None:
        self.seconds, self.name = seconds, name
        if begin:
            seconds[name] = 0.0

    def __enter__(self) -> None:
        self.start = perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.name] += perf_counter() - self.start
