"""Which commits made the outcomes on a page, and whether they still hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..store import Record


@dataclass(frozen=True)
class Made:
    """Outcomes with one commit: of which methods or parts, how many, and the commits that checked them."""

    labels: Sequence[str]
    count: int  # 0 for figures whose outcomes were not kept
    commit: str
    checked: Counter[str]
    stale: str = ""

    def row(self) -> str:
        count = f"{self.count:,}" if self.count else "-"
        return f"| {', '.join(self.labels) or 'all'} | {count} | {self.commit or '-'} | {self._state()} |"

    def _state(self) -> str:
        if not self.count:
            return "no: its outcomes were not kept"
        if self.stale:
            return f"stale: {self.stale} gives other figures"
        return ", ".join(f"{n:,} equal at {commit}" for commit, n in self.checked.items()) or "not yet"


@dataclass(frozen=True)
class Sources:
    """What made a page."""

    made: Sequence[Made]
    seconds: float = 0.0
    runs: int = 0

    TITLE = "Sources"

    def markdown(self) -> str:
        text = (
            "To check outcomes, one of each setting and method is computed again. If it is equal to six "
            "digits, the others of its setting hold as well; if not, they are stale."
            if any(made.count for made in self.made)
            else "No outcome of this page is kept: a run makes all of it."
        )
        head = "| figures of | outcomes | made at commit | computed again |\n| --- | --: | --- | --- |"
        return "\n".join([f"## {self.TITLE}", "", text, "", head, *(m.row() for m in self.made)]) + "\n"

    def json(self) -> dict[str, Any]:
        made = [{"labels": list(m.labels), "outcomes": m.count, "commit": m.commit} for m in self.made]
        return {"made": made, "seconds": round(self.seconds), "runs": self.runs}

    def summary(self) -> str:
        """In a line, for a terminal."""
        total = sum(m.count for m in self.made)
        if not total:
            return "no outcomes are kept."
        checked = sum(sum(m.checked.values()) for m in self.made if not m.stale)
        stale = sum(m.count for m in self.made if m.stale)
        text = f"{total} outcomes, {checked} checked and equal, {stale} stale"
        return text + ("; some figures have no outcomes." if any(not m.count for m in self.made) else ".")


def group(records: Iterable[Record]) -> list[Made]:
    """Outcomes by the commit that made them, the stale ones apart."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.commit, record.stale), []).append(record)
    return [
        Made(
            [*filter(None, dict.fromkeys(map(label, found)))],
            len(found),
            commit,
            Counter(record.checked for record in found if record.checked),
            stale,
        )
        for (commit, stale), found in groups.items()
    ]


def label(record: Record) -> str:
    """What an outcome is of: its method, or the part of the experiment."""
    names = ("method", "data", "what", "design", "setting")
    return record.method or next((str(record.job[n]) for n in names if n in record.job), "")
