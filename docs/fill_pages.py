"""Write pages from their templates, with figures of the stored results: `python docs/fill_pages.py`.

A template `NAME.md.jinja` beside its page has the words. Figures are named in it: `results(name, title)` is
the table of docs/results/NAME/results.json whose title begins so, `printed(name, *columns)` the
table with these columns in docs/benchmarks/NAME.txt. A row is named by its words, a cell by its column.
What is not there is an error, so that no page shows a figure which the results no longer have. The README has
a part, between marks, from `quality.jinja`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

DOCS = Path(__file__).parent
#: Methods whose column has another name than their class.
CLASSES = {
    "OALa": "OAdaptiveLasso",
    "OElnet": "OElasticNet",
    "OPG": "FOBOS",
    "FOFS": "OFS",
    "B-ARDA": "BARDA",
    "B-AMD": "BAMD",
    "SFSA as printed": "SFSA(warmup=0)",
    "SFSA refitted": "SFSA, refitted",
    "RAVE": "RunningAverages",
    "Lasso": "Lasso (scikit-learn)",
}


class UnknownFigure(Exception):
    """No figure has this name. Not a LookupError, for which Jinja has a meaning of its own."""


class Figure(float):
    """A mean, printed with the digits of its table."""

    digits: int

    def __new__(cls, mean: float, digits: int) -> "Figure":
        figure = super().__new__(cls, mean)
        figure.digits = digits
        return figure

    def __str__(self) -> str:
        return f"{self:.{self.digits}f}"


Value = Figure | str | None  # None: not run


@dataclass(frozen=True)
class Row:
    """The words that name a row, and its cells by column."""

    where: str
    words: tuple[str, ...]
    figures: Mapping[str, Value]

    def __getitem__(self, column: Any) -> Any:
        if column not in self.figures:
            raise UnknownFigure(f"{self.where}: no column {column!r}; there are {', '.join(self.figures)}.")
        return self.figures[column]


@dataclass(frozen=True)
class Table:
    where: str
    rows: list[Row]

    @property
    def names(self) -> list[str]:
        """The first words of the rows, each once."""
        return list(dict.fromkeys(row.words[0] for row in self.rows))

    def row(self, *words: str) -> Row:
        found = [row for row in self.rows if row.words == words]
        if len(found) != 1:
            known = "; ".join(", ".join(row.words) for row in self.rows)
            raise UnknownFigure(f"{self.where}: {len(found)} rows {', '.join(words)!r}; there are {known}.")
        return found[0]

    def kind(self, word: str) -> list[Row]:
        """The rows of one quantity, which their last word names."""
        found = [row for row in self.rows if row.words[-1] == word]
        if not found:
            raise UnknownFigure(f"{self.where}: no rows of {word!r}.")
        return found

    def across(self, *words: str) -> Row:
        """One column, the last of the words, of all rows that begin with the others; by their last word."""
        *head, column = words
        found = {row.words[-1]: row[column] for row in self.rows if row.words[:-1] == tuple(head)}
        if not found:
            raise UnknownFigure(f"{self.where}: no rows begin with {', '.join(head)!r}.")
        return Row(self.where, tuple(head), found)

    def values(self, column: str) -> list[Figure]:
        return [value for row in self.rows if isinstance(value := row[column], Figure)]


def results(experiment: str, title: str, docs: Path = DOCS) -> Table:
    """A table of an experiment of the papers; words left out in a row are those of the row above."""
    where = f"docs/results/{experiment}, {title!r}"
    file = docs / "results" / experiment / "results.json"
    stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    found = [part for part in stored if "rows" in part and part["title"].startswith(title)]
    if len(found) != 1:
        known = "; ".join(part["title"] for part in stored if "rows" in part)
        raise UnknownFigure(f"{where}: {len(found)} tables; there are {known or 'none'}.")
    rows: list[Row] = []
    above: Sequence[str] = ()
    for cells in found[0]["rows"]:
        first = next((i for i, cell in enumerate(cells) if isinstance(cell, dict)), len(cells))
        above = [word or old for word, old in zip(cells[:first], above or cells[:first])]
        named = zip(found[0]["columns"][first:], map(_value, cells[first:]))
        rows.append(Row(where, tuple(above), dict(named)))
    return Table(where, rows)


def _value(cell: Any) -> Value:
    if isinstance(cell, str):
        return cell
    return Figure(cell["mean"], cell["digits"]) if "mean" in cell else None


def printed(benchmark: str, *columns: str, docs: Path = DOCS) -> Table:
    """A table that a benchmark prints, in Markdown or two blanks apart; its first column names the rows."""
    where = f"docs/benchmarks/{benchmark}.txt"
    lines = (docs / "benchmarks" / f"{benchmark}.txt").read_text(encoding="utf-8").splitlines()
    split = [_split(line) for line in lines]
    starts = [i for i, cells in enumerate(split) if set(columns) <= set(cells)]
    if not starts:
        raise UnknownFigure(f"{where}: no table with the columns {', '.join(columns)}.")
    head, rows = split[starts[0]], []
    for cells in split[starts[0] + 1 :]:
        if len(cells) != len(head):
            break
        if not re.fullmatch(r"[-:]+", cells[0]):
            rows.append(Row(where, (cells[0],), dict(zip(head[1:], cells[1:]))))
    return Table(where, rows)


def _split(line: str) -> list[str]:
    cells = line.strip().strip("|").split("|") if line.startswith("|") else re.split(r"\s{2,}", line.strip())
    return [cell.strip() for cell in cells]


def ranked(row: Row, columns: str | None, least: bool = False) -> list[tuple[str, Figure]]:
    """The methods of these columns, or of all, that were run, the best first."""
    names = list(row.figures) if columns is None else columns.split()
    cells = [(CLASSES.get(name, name), row[name]) for name in names]
    return sorted((cell for cell in cells if cell[1] is not None), key=lambda c: c[1] if least else -c[1])


def listing(row: Row, columns: str | None = None, least: bool = False, digits: int | None = None) -> str:
    """The methods with their figures, the best first."""
    cells = ranked(row, columns, least)
    return ", ".join(f"`{name}` {x:.{x.digits if digits is None else digits}f}" for name, x in cells)


def leaders(row: Row, columns: str | None = None, within: float = 0, least: bool = False) -> str:
    """The methods within so much of the best."""
    cells = ranked(row, columns, least)
    return ", ".join(f"`{name}`" for name, x in cells if abs(x - cells[0][1]) <= within)


def grid(
    rows: Sequence[Row], labels: Sequence[str], columns: str | None = None, digits: int = 0, p: str = ""
) -> str:
    """A Markdown table of the first words of the rows, under these labels, and these columns, or all.

    Words that begin with `p`, the number of features that a heading has already, go without it.
    """
    names = list(rows[0].figures) if columns is None else columns.split()
    lines = [[*labels, *(CLASSES.get(name, name) for name in names)], ["--:"] * (len(labels) + len(names))]
    for row in rows:
        cells = [row[name] for name in names]
        words = [word.removeprefix(f"{p}, ") for word in row.words[: len(labels)]]
        lines.append([*words, *("-" if c is None else f"{c:.{digits}f}" for c in cells)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def whole(figure: float) -> str:
    return f"{figure:.0f}"


def _shown(value: Any) -> Any:
    if value is None:
        raise UnknownFigure("a cell named in the words of a page was not run.")
    return value


def fill(template: Path, docs: Path = DOCS) -> str:
    """The page of a template, with the results stored in the folder `docs`."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, finalize=_shown, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"listing": listing, "leaders": leaders, "grid": grid, "whole": whole}
    environment.globals |= {
        "results": lambda *names: results(*names, docs=docs),
        "printed": lambda *names: printed(*names, docs=docs),
    }
    return environment.from_string(template.read_text(encoding="utf-8")).render()


def pages() -> dict[Path, str]:
    """All pages with figures, and what the stored results make of them."""
    filled = {template.with_suffix(""): fill(template) for template in sorted(DOCS.glob("*.md.jinja"))}
    readme = DOCS.parent / "README.md"
    return filled | {readme: replace_part(readme.read_text(encoding="utf-8"), fill(DOCS / "quality.jinja"))}


def replace_part(page: str, text: str) -> str:
    """The page with this text between its marks."""
    head, tail = "<!-- quality: begin -->\n", "<!-- quality: end -->"
    if head not in page or tail not in page:
        raise ValueError(f"expected {head.strip()} and {tail} in the page, around what is to be replaced.")
    before, _, rest = page.partition(head)
    return "".join([before, head, text, tail, rest.partition(tail)[2]])


def main() -> None:
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
        print(f"wrote {page}")


if __name__ == "__main__":
    main()
