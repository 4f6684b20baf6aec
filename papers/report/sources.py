"""Which commit made what is on a page, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

SHOWN = 4  # changed files that are named; more are counted


@dataclass(frozen=True)
class Made:
    """Outcomes with one commit: how many, of which methods or parts, and the files that changed since."""

    labels: Sequence[str]
    count: int
    commit: str
    changed: Sequence[str] = ()

    def row(self) -> str:
        count = f"{self.count:,}" if self.count else "-"
        return f"| {', '.join(self.labels) or 'all'} | {count} | {self.commit or '-'} | {self._since()} |"

    def _since(self) -> str:
        if not self.count:
            return "not known: made before outcomes were kept"
        if not self.changed:
            return "nothing"
        names = ", ".join(f"`{name}`" for name in self.changed[:SHOWN])
        more = len(self.changed) - SHOWN
        return names + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class Sources:
    """What made a page; `now` is the commit at which it was written."""

    made: Sequence[Made]
    seconds: float = 0.0
    runs: int = 0
    now: str = ""

    TITLE = "Sources"

    def markdown(self) -> str:
        changed = sum(made.count for made in self.made if made.changed)
        total = sum(made.count for made in self.made)
        at = f" ({self.now})" if self.now else ""
        say = f"{changed} of {total}" if changed else f"none of {total}"
        text = (
            f"When this page was written{at}, {say} outcomes depended on files that had changed after they "
            "were made."
            if total
            else "No outcome of this page is kept: a run makes all of it."
        )
        head = "| figures of | outcomes | commit | changed since |\n| --- | --: | --- | --- |"
        return "\n".join([f"## {self.TITLE}", "", text, "", head, *(m.row() for m in self.made)]) + "\n"

    def json(self) -> dict[str, Any]:
        made = [{"labels": list(m.labels), "outcomes": m.count, "commit": m.commit} for m in self.made]
        return {"made": made, "seconds": round(self.seconds), "runs": self.runs}

    def summary(self) -> str:
        """In a line, for a terminal."""
        current = sum(m.count for m in self.made if not m.changed)
        total = sum(m.count for m in self.made)
        early = any(not m.count for m in self.made)
        if not total:
            return "all figures are of before outcomes were kept."
        text = f"{current} of {total} outcomes are made by the sources of now"
        return text + ("; some figures are of before outcomes were kept." if early else ".")


def group(outcomes: Iterable[tuple[str, str, Sequence[str]]]) -> list[Made]:
    """Outcomes, each with a label, its commit and the files that changed since, by commit."""
    labels: dict[tuple[str, bool], list[str]] = {}
    files: dict[tuple[str, bool], set[str]] = {}
    for label, commit, changed in outcomes:
        labels.setdefault((commit, bool(changed)), []).append(label)
        files.setdefault((commit, bool(changed)), set()).update(changed)
    return [
        Made([*filter(None, dict.fromkeys(found))], len(found), key[0], sorted(files[key]))
        for key, found in labels.items()
    ]
