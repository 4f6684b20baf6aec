"""Where a figure is worse than published, and why: `causes.toml`, with which the pages end.

A cause has the experiment, the methods and the setting that it is about, and a text. Its setting (`where`) is
a list of words, each of which must stand in the row, the column or the title of a figure's table; of a list
in place of a word, one must. A cause without methods is about all of them; one without methods and setting is
a remark.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .report.tables import Cell, Table


@dataclass(frozen=True)
class Cause:
    """Why figures of these methods at this setting are worse than published."""

    experiment: str
    text: str
    methods: Sequence[str] = ()
    where: Sequence[str | Sequence[str]] = ()

    def markdown(self) -> str:
        words = [" or ".join([each] if isinstance(each, str) else each) for each in self.where]
        label = ", ".join([" and ".join(self.methods)] * bool(self.methods) + words)
        return f"**{label}**: {self.text}" if label else self.text

    def covers(self, method: str, setting: str) -> bool:
        """Whether it is about a method at a setting, which has all words of the figure's table."""
        if not self.methods and not self.where:
            return False
        names = {method, method.split(",")[0]}
        about = not self.methods or bool(names & set(self.methods))
        return about and all(
            any(_has(setting, word) for word in ([each] if isinstance(each, str) else each))
            for each in self.where
        )


@cache
def read_causes() -> tuple[Cause, ...]:
    with Path(__file__).with_suffix(".toml").open("rb") as file:
        return tuple(Cause(**cause) for cause in tomllib.load(file)["cause"])


def worse_figures(table: Table) -> Iterator[tuple[str, str]]:
    """The method of each figure that is worse than published, and its setting: all words of its table."""
    by_row = table.columns.index("method") if table.contest not in ("", "row") else None
    above: list[str] = []
    for row in table.rows:
        words = [c if isinstance(c, str) else "" for c in row]
        words = [w or old for w, old in zip(words, above or words)]
        above = words
        named = [f"{column} = {word}" for column, word in zip(table.columns, words) if column and word]
        for column, cell in zip(table.columns, row):
            if isinstance(cell, Cell) and cell.verdict == "worse":
                method = column if by_row is None else words[by_row]
                yield method, " | ".join((table.title, column, *words, *named))


def _has(text: str, words: str) -> bool:
    """Whether the text has these words, not as parts of others."""
    return re.search(rf"(?<![\w.,]){re.escape(words)}(?![\w]|[.,]\d)", text, re.IGNORECASE) is not None
