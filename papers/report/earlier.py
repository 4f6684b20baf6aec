"""Figures without a current outcome: stale ones, and those from before outcomes were kept.

`earlier.json` holds the latter: the tables and figures of a page as they were, and the commit that made them.
A row that current outcomes have replaced is dropped from it; a cell that they lack is filled in from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from .figures import Figure
from .tables import Cell, Table

UNKEPT = "Made before outcomes were kept, and not made again since."
STALE = "Made by methods that have changed since."
Row = Sequence[str | Cell]
Words = tuple[str, ...]  # those of a row, left of its first figure


def stale_figures(parts: Iterable[object]) -> Earlier:
    """The tables and figures that all outcomes give, stale ones too."""
    return Earlier(parts=[part for part in parts if isinstance(part, Table | Figure)], note=STALE)


@dataclass(frozen=True)
class Earlier:
    """The tables and figures of a page as they were made at `commit`, in so many `runs`."""

    commit: str = ""
    runs: int = 0
    parts: list[Table | Figure] = field(default_factory=list)
    note: str = UNKEPT

    @classmethod
    def read(cls, file: Path) -> Earlier:
        if not file.exists():
            return cls()
        stored = json.loads(file.read_text(encoding="utf-8"))
        parts = [Table.from_json(p) if "rows" in p else Figure.from_json(p) for p in stored["parts"]]
        return cls(stored["commit"], stored["runs"], parts)

    def write(self, file: Path) -> None:
        """Write it back, or delete the file if nothing is left."""
        if not self.parts:
            file.unlink(missing_ok=True)
            return
        stored = {"commit": self.commit, "runs": self.runs, "parts": [part.json() for part in self.parts]}
        file.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")

    def without(self, parts: Sequence[object]) -> Earlier:
        """Less the rows and pictures that these parts have."""
        live = {part.title: part for part in parts if isinstance(part, Table)}
        drawn = {part.name for part in parts if isinstance(part, Figure)}
        kept: list[Table | Figure] = []
        for part in self.parts:
            if isinstance(part, Table):
                if _has_figures(part) or part.title not in live:
                    kept += _select(part, partial(_has_more, part, live.get(part.title)))
            elif part.name not in drawn:
                kept.append(part)
        return replace(self, parts=kept)

    def add(self, parts: Sequence[Any]) -> tuple[list[Any], list[str]]:
        """These parts with the cells that they lack, then the rows that they lack; and the titles of both."""
        added: list[Any] = []
        titles: list[str] = []
        for part in parts:
            table, columns = self.fill(part) if isinstance(part, Table) else (part, [])
            added.append(table)
            titles += columns
        for part in self.left([part for part in parts if isinstance(part, Table)]):
            shown = replace(part, title=f"Earlier, {part.title}") if parts else part
            added.append(shown)
            titles += [shown.title.partition(":")[0]] if parts else []
        return added, list(dict.fromkeys(titles))

    def fill(self, table: Table) -> tuple[Table, list[str]]:
        """The table with cells that it lacks and this has, and the columns of those cells."""
        old = next((each for each in self.parts if each.title == table.title), None)
        if not isinstance(old, Table):
            return table, []
        stored, rows, filled = _by_words(old), [], {}
        for words, row in _by_words(table).items():
            before = dict(zip(old.columns, stored.get(words, ())))
            cells = list(row)
            for i, (column, cell) in enumerate(zip(table.columns, row)):
                was = before.get(column)
                if isinstance(cell, Cell) and not cell.runs and isinstance(was, Cell) and was.runs:
                    cells[i] = replace(was, published=cell.published, earlier=True)
                    filled[column] = True
            rows.append(cells)
        return replace(table, rows=rows), list(filled)

    def left(self, tables: Sequence[Table]) -> list[Table | Figure]:
        """The rows that none of these tables has, and all figures."""
        rows = {table.title: _by_words(table) for table in tables}
        rest: list[Table | Figure] = []
        for part in self.parts:
            if isinstance(part, Figure):
                rest.append(part)
                continue
            made = rows.get(part.title, {})
            cells = [[replace(c, earlier=True) if isinstance(c, Cell) else c for c in r] for r in part.rows]
            noted = replace(part, rows=cells, note=f"{part.note} {self.note}".strip())
            rest += _select(noted, partial(_is_missing, made))
        return rest


def _select(table: Table, keep: Callable[[Words, Row], bool]) -> list[Table | Figure]:
    """The table with the rows to keep, if any; each has all its words, since those above may be gone."""
    rows = [[*words, *row[len(words) :]] for words, row in _by_words(table).items() if keep(words, row)]
    return [replace(table, rows=rows)] if rows else []


def _has_figures(table: Table) -> bool:
    """Whether it has figures of runs; a table of words alone is replaced as a whole."""
    return any(isinstance(cell, Cell) for row in table.rows for cell in row)


def _by_words(table: Table) -> dict[Words, Row]:
    """Rows by their words left of the first figure, those that a row leaves out being the ones above it."""
    found: dict[Words, Row] = {}
    above: list[str] = []
    for row in table.rows:
        first = next((i for i, c in enumerate(row) if isinstance(c, Cell)), len(row))
        words = [str(w) or old for w, old in zip(row[:first], above or [""] * first)]
        above = words
        found[tuple(words)] = row
    return found


def _is_missing(made: Mapping[Words, Row], words: Words, _: Row) -> bool:
    return words not in made


def _has_more(table: Table, new: Table | None, words: Words, row: Row) -> bool:
    """Whether an earlier row has a figure that the new table lacks."""
    made = _by_words(new).get(words) if new else None
    if new is None or made is None:
        return True
    now = dict(zip(new.columns, made))
    return any(
        isinstance(c, Cell) and c.runs > 0 and isinstance(n := now.get(column), Cell) and not n.runs
        for column, c in zip(table.columns, row)
    )
