"""Tables of figures beside the published ones, as Markdown and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

VERDICTS = {"better": "▲", "equal": "≈", "undecided": "?", "worse": "▼", "": ""}
NARROW = 0.05  # of the published figure: an interval that is wider cannot tell whether ours is equal
LEGEND = (
    "▲ better, ▼ worse than published (95%, Student's t, our runs); otherwise ≈ equal where that interval is "
    "at most 5% of the published figure to either side, ? undecided where it is wider."
)
KEY = "▲ better, ▼ worse, ≈ equal, ? undecided."
# Columns and methods that are not this library's: their published figures count, what we measured does not.
FOREIGN = ("Lasso", "OMP", "RFE (all rows held)")


@dataclass(frozen=True)
class Cell:
    """Figures of all runs, and the published one; `better` tells which way is up.

    Seconds are another machine's where they are published, and not judged. `summary` replaces the values
    where only their mean, its standard error and their number are stored.
    """

    values: Sequence[float]
    published: float | None = None
    better: str = "more"  # or "less", or "" where it is not judged
    digits: int = 1
    summary: tuple[float, float | None, int] | None = None

    @property
    def runs(self) -> int:
        return self.summary[2] if self.summary else len(self.values)

    @property
    def mean(self) -> float:
        return self.summary[0] if self.summary else math.fsum(self.values) / len(self.values)

    @property
    def error(self) -> float | None:
        """Standard error of the mean, None for a single run."""
        if self.summary:
            return self.summary[1]
        n = len(self.values)
        if n < 2:
            return None
        mean = self.mean
        return math.sqrt(math.fsum((v - mean) ** 2 for v in self.values) / (n - 1) / n)

    @property
    def verdict(self) -> str:
        """Against the published figure, by the 95% interval of our own runs, and to the digits shown."""
        if not self.better or self.published is None or not self.runs or self.error is None:
            return ""
        from scipy.special import stdtrit

        gain = (self.mean - self.published) * (1 if self.better == "more" else -1)
        shown = 0.5 * 10.0**-self.digits
        interval = stdtrit(self.runs - 1, 0.975) * self.error
        if abs(gain) <= max(interval, shown):
            return "equal" if interval <= max(NARROW * abs(self.published), shown) else "undecided"
        return "better" if gain > 0 else "worse"

    def __str__(self) -> str:
        if not self.runs:
            return "-" if self.published is None else f"- ({self.published:.{self.digits}f})"
        text = f"{self.mean:.{self.digits}f}"
        if self.error is not None:
            text += f" ± {self.error:.{self.digits}f}"
        if self.published is not None:
            text += f" ({f'{self.published:.{self.digits}f} {VERDICTS[self.verdict]}'.rstrip()})"
        return text

    def json(self) -> dict[str, Any]:
        how = {"published": self.published, "better": self.better, "digits": self.digits}
        if not self.runs:
            return how
        return {"mean": self.mean, "stderr": self.error, "runs": self.runs, "verdict": self.verdict} | how

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Cell:
        """The cell that `json` was written of; its verdict is judged anew."""
        summary = (stored["mean"], stored["stderr"], stored["runs"]) if "mean" in stored else None
        return cls((), stored["published"], stored["better"], stored["digits"], summary)


@dataclass(frozen=True)
class Contest:
    """Of one setting, what our best method has, and the best published figure of any method."""

    setting: str
    ours: Cell  # its published figure is the best one
    method: str


@dataclass(frozen=True)
class Table:
    """Rows of words and cells under column names, and what holds for all of them.

    `contest` says where methods compete: "row" for all judged cells of a row, or a column, in which the rows
    with the same words left of the column "method" do.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    note: str = ""
    contest: str = ""

    def legend(self) -> str:
        cells = [c for row in self.rows for c in row if isinstance(c, Cell)]
        judged = any(c.verdict for c in cells)
        shown = any(c.published is not None for c in cells)
        return " ".join(
            filter(None, [self.note, "In brackets: published." if shown else "", KEY if judged else ""])
        )

    def markdown(self) -> str:
        lines = [f"### {self.title}", "", " | ".join(["", *self.columns, ""]).strip()]
        lines.append("|" + "|".join("---" if i == 0 else "--:" for i in range(len(self.columns))) + "|")
        lines += [" | ".join(["", *map(str, row), ""]).strip() for row in self.rows]
        return "\n".join([*lines, "", self.legend()]).rstrip() + "\n"

    def json(self) -> dict[str, Any]:
        rows = [[c.json() if isinstance(c, Cell) else c for c in row] for row in self.rows]
        shown = {"title": self.title, "columns": list(self.columns), "rows": rows, "note": self.note}
        return shown | ({"contest": self.contest} if self.contest else {})

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Table:
        rows = [[Cell.from_json(c) if isinstance(c, dict) else c for c in row] for row in stored["rows"]]
        return cls(stored["title"], stored["columns"], rows, stored["note"], stored.get("contest", ""))

    def contests(self) -> Iterator[Contest]:
        """Of every setting that was run more than once and has published figures."""
        for setting, entries in self._entries():
            judged = [(m, c) for m, c in entries if c.better]
            published = [c.published for _, c in judged if c.published is not None]
            ours = [(m, c) for m, c in judged if c.runs > 1 and m not in FOREIGN]
            if not published or not ours:
                continue
            best = max if judged[0][1].better == "more" else min
            method, cell = best(ours, key=lambda entry: entry[1].mean)
            summary = cell.mean, cell.error, cell.runs
            yield Contest(setting, Cell((), best(published), cell.better, cell.digits, summary), method)

    def _entries(self) -> Iterator[tuple[str, list[tuple[str, Cell]]]]:
        """By setting the methods with their cells."""
        if self.contest == "row":
            words: list[str] = []
            for row in self.rows:
                first = next((i for i, c in enumerate(row) if isinstance(c, Cell)), len(row))
                # a row that continues a setting leaves its first words out
                words = [str(w) or old for w, old in zip(row[:first], words or [""] * first)]
                cells = [(m, c) for m, c in zip(self.columns, row) if isinstance(c, Cell)]
                yield ", ".join(words), cells
        elif self.contest:
            method, column = self.columns.index("method"), self.columns.index(self.contest)
            for labels, rows in groupby(self.rows, key=lambda row: tuple(map(str, row[:method]))):
                cells = [(str(r[method]), c) for r in rows if isinstance(c := r[column], Cell)]
                yield f"{', '.join(labels)}", cells


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
