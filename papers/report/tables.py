"""Tables of figures beside the published ones, as Markdown and JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

VERDICTS = {"better": "▲", "equal": "≈", "undecided": "?", "worse": "▼", "": ""}
NARROW = 0.05  # of the published figure: how near ours has to be, with its interval, to be called equal
COARSE = 50  # units of the last digit shown: the least deviation assumed of a run where all runs are equal
LEGEND = f"""\
- ▲ better, ▼ worse: the 95 % interval of our mean (Student's t) does not contain the published figure.
- ≈ equal: the interval contains it, and both ends are within {100 * NARROW:.0f} % of it.
- ? undecided: the interval contains it but is wider than that, or there was only one run.

± is the standard error of the mean. It is 0 if all runs give the same figure. This underestimates the true
variation. For such runs we assume a standard deviation of {100 * NARROW:.0f} % of the published figure, but
at least {COARSE} units of the last digit shown (5 percentage points for one digit). If all runs reach 100
%, the interval is 3 percentage points divided by the number of runs. This is the upper bound if no run
misses any of 100 features."""
KEY = "▲ better, ▼ worse, ≈ equal, ? undecided."
# Columns and methods that are not this library's: their published figures count, what we measured does not.
FOREIGN = ("Lasso", "OMP", "RFE (all rows held)")


@dataclass(frozen=True)
class Cell:
    """Figures of all runs, and the published one; `better` is "more", "less", or "" where it is not judged.

    `summary` replaces the values where only their mean, its standard error and their number are stored.
    `earlier` figures have no current outcomes.
    """

    values: Sequence[float]
    published: float | None = None
    better: str = "more"
    digits: int = 1
    summary: tuple[float, float | None, int] | None = None
    earlier: bool = False

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
    def interval(self) -> float:
        """Half the 95 % interval of the mean; if all runs are equal, their variation is assumed."""
        if self.error is None:
            return math.inf
        from scipy.special import stdtrit

        error = self.error
        if error <= 1e-12 * abs(self.mean):
            if math.isclose(self.mean, 100):
                return 3 / self.runs  # the rule of three, for 100 features a run
            published = self.mean if self.published is None else self.published
            error = max(NARROW * abs(published), COARSE * 10.0**-self.digits) / math.sqrt(self.runs)
        return float(stdtrit(self.runs - 1, 0.975)) * error

    @property
    def verdict(self) -> str:
        """The comparison with the published figure: by our 95 % interval, and to the digits shown."""
        if not self.better or self.published is None or not self.runs:
            return ""
        gain = (self.mean - self.published) * (1 if self.better == "more" else -1)
        shown = 0.5 * 10.0**-self.digits
        if abs(gain) > max(self.interval, shown):
            return "better" if gain > 0 else "worse"
        near = abs(gain) + self.interval <= max(NARROW * abs(self.published), shown)
        return "equal" if near else "undecided"

    def __str__(self) -> str:
        if not self.runs:
            return "-" if self.published is None else f"- ({self.published:.{self.digits}f})"
        digits = min(self.digits, max(0, 5 - len(f"{abs(self.mean):.0f}")))  # five figures are enough
        text = f"{self.mean:.{digits}f}"
        if self.error is not None:
            text += f" ± {self.error:.{digits}f}"
        if self.published is not None:
            text += f" ({f'{self.published:.{digits}f} {VERDICTS[self.verdict]}'.rstrip()})"
        return text

    def json(self) -> dict[str, Any]:
        how = {"published": self.published, "better": self.better, "digits": self.digits}
        if not self.runs:
            return how
        how |= {"earlier": True} if self.earlier else {}
        return {"mean": self.mean, "stderr": self.error, "runs": self.runs, "verdict": self.verdict} | how

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Cell:
        """The cell that `json` was written of; its verdict is judged anew."""
        summary = (stored["mean"], stored["stderr"], stored["runs"]) if "mean" in stored else None
        how = stored["published"], stored["better"], stored["digits"], summary, stored.get("earlier", False)
        return cls((), *how)


@dataclass(frozen=True)
class Contest:
    """Of one setting, what our best method has, and the best published figure of any method."""

    measure: str
    setting: str
    ours: Cell  # its published figure is the best one
    method: str

    @property
    def behind(self) -> bool:
        """Whether our mean is not as good as the published figure, be that certain or not."""
        sign = 1 if self.ours.better == "more" else -1
        return self.ours.published is not None and sign * self.ours.mean < sign * self.ours.published


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
            filter(
                None, [_tidy(self.note), "In brackets: published." if shown else "", KEY if judged else ""]
            )
        )

    def markdown(self) -> str:
        rows = [[unbroken(c) if isinstance(c, Cell) else c for c in row] for row in self.rows]
        numbers = [any(_is_number(row[i]) for row in self.rows) for i in range(len(self.columns))]
        lines = [f"## {self.title}", "", " | ".join(["", *self.columns, ""]).strip()]
        lines.append("|" + "|".join("--:" if number else "---" for number in numbers) + "|")
        lines += [" | ".join(["", *row, ""]).strip() for row in rows]
        return "\n".join([*lines, "", self.legend()]).rstrip() + "\n"

    def json(self) -> dict[str, Any]:
        rows = [[c.json() if isinstance(c, Cell) else c for c in row] for row in self.rows]
        shown = {"title": self.title, "columns": list(self.columns), "rows": rows, "note": self.note}
        return shown | ({"contest": self.contest} if self.contest else {})

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Table:
        rows = [[Cell.from_json(c) if isinstance(c, dict) else c for c in row] for row in stored["rows"]]
        return cls(stored["title"], stored["columns"], rows, stored["note"], stored.get("contest", ""))

    def count(self, verdict: str, earlier: bool | None = None) -> int:
        """How many figures are judged so: of all, or of those that are `earlier` or not."""
        cells = [cell for row in self.rows for cell in row if isinstance(cell, Cell)]
        return sum(cell.verdict == verdict and earlier in (None, cell.earlier) for cell in cells)

    def contests(self) -> Iterator[Contest]:
        """Of every setting that has published figures; where methods were run more than once, of those.

        Earlier figures count only where a setting has no others.
        """
        measure = self.title.partition(":")[0] if self.contest == "row" else self.contest
        for setting, entries in self._entries():
            judged = [(m, c) for m, c in entries if c.better]
            published = [c.published for _, c in judged if c.published is not None]
            own = [(m, c) for m, c in judged if c.runs and m not in FOREIGN]
            own = [(m, c) for m, c in own if not c.earlier] or own
            ours = [(m, c) for m, c in own if c.runs > 1] or own
            if not published or not ours:
                continue
            best = max if judged[0][1].better == "more" else min
            method, cell = best(ours, key=lambda entry: entry[1].mean)
            summary = cell.mean, cell.error, cell.runs
            best_published = Cell((), best(published), cell.better, cell.digits, summary, cell.earlier)
            yield Contest(measure, setting, best_published, method)

    def _entries(self) -> Iterator[tuple[str, list[tuple[str, Cell]]]]:
        """By setting the methods with their cells."""
        if self.contest == "row":
            words: list[str] = []
            for row in self.rows:
                first = next((i for i, c in enumerate(row) if isinstance(c, Cell)), len(row))
                # a row that continues a setting leaves its first words out
                words = [str(w) or old for w, old in zip(row[:first], words or [""] * first)]
                cells = [(m, c) for m, c in zip(self.columns, row) if isinstance(c, Cell)]
                yield _setting(self.columns, words), cells
        elif self.contest:
            method, column = self.columns.index("method"), self.columns.index(self.contest)
            for labels, rows in groupby(self.rows, key=lambda row: tuple(map(str, row[:method]))):
                cells = [(str(r[method]), c) for r in rows if isinstance(c := r[column], Cell)]
                yield _setting(self.columns, labels), cells


def _is_number(entry: str | Cell) -> bool:
    return isinstance(entry, Cell) or re.fullmatch(r"[\d.,]+( \([\d.,]+\))?", entry) is not None


def unbroken(cell: Cell) -> str:
    """Blanks that do not break a line, but for the one before the published figure."""
    return str(cell).replace(" ", "\u00a0").replace("\u00a0(", " (")


def _setting(columns: Sequence[str], words: Sequence[str]) -> str:
    """The words of a row, numbers with the names of their columns."""
    named = (f"{c} = {w}" if c and w[:1].isdigit() else w for c, w in zip(columns, words))
    return "; ".join(filter(None, named))


def _tidy(note: str) -> str:
    """The note with "1 run" in the singular and one sentence for all data whose files are missing."""
    absent = re.findall(r"(\w+) is not at hand: ", note)
    if absent:
        note = re.sub(r" ?\w+ is not at hand: .*", "", note)
        note += (
            f" Not run, since the files are not at hand (`papers/data.py` names them): {', '.join(absent)}."
        )
    return re.sub(r"\b1 runs\b", "1 run", note).strip()


@dataclass(frozen=True)
class Note:
    """What the figures do not say themselves."""

    points: Sequence[str]
    title: str

    def markdown(self) -> str:
        return "\n".join([f"## {self.title}", "", *(f"- {point}" for point in self.points)]) + "\n"

    def json(self) -> dict[str, Any]:
        return {"title": self.title, "points": list(self.points)}


WORSE, REMARKS = "Where it is worse than published, and why", "Remarks"


def causes_note(points: Sequence[str], parts: Iterable[Any]) -> Note:
    """The causes of an experiment, titled for whether any of its figures is worse than published."""
    worse = any(part.count("worse") for part in parts if isinstance(part, Table))
    return Note(points, WORSE if worse else REMARKS)
