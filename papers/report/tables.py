"""Tables of figures beside the published ones, as Markdown and JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
class Note:
    """What the figures do not say themselves: where they are worse than published, and why."""

    points: Sequence[str]
    title: str = "Where it is worse than published, and why"

    def markdown(self) -> str:
        return "\n".join([f"### {self.title}", "", *(f"- {point}" for point in self.points)]) + "\n"

    def json(self) -> dict[str, Any]:
        return {"title": self.title, "points": list(self.points)}


@dataclass(frozen=True)
class Provenance:
    """Which version of the code made how many of the outcomes, beside the version of now."""

    current: str
    counts: Mapping[str, int]

    def markdown(self) -> str:
        stale = {version: count for version, count in self.counts.items() if version != self.current}
        if not stale:
            return f"Made by {self.current}.\n"
        made = "; ".join(f"{count} by {version}" for version, count in stale.items())
        return (
            f"**Stale**: {sum(stale.values())} of {sum(self.counts.values())} outcomes were made by other "
            f"sources than {self.current}: {made}.\n"
        )

    def json(self) -> dict[str, Any]:
        return {"version": self.current, "outcomes": dict(self.counts)}
