"""The schema of a table: how each column is encoded, and why. It is inferred once, from a sample of rows.

A `Schema` is plain data and is stored in the model file, so that new rows are read as the training rows were.
`infer.py` infers it from a sample of the rows; `table.py` applies it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..core.params import Advice
from ..core.words import counted
from .bad_data import BadData, shortened
from .cells import (
    FORMATS,
    PARTS,
    STYLES,
    as_numbers,
)

#: Kinds of columns that become features, and those that are left out.
USED = ("number", "category", "date", "text")
LEFT_OUT = ("identifier", "index", "empty", "constant", "copy", "unread", "dropped")

OTHER, MISSING = "other", "missing"  # the values of rare categories and of missing ones


@dataclass(frozen=True)
class Column:
    """Encoding of a column.

    Attributes
    ----------
    name, kind : str
        `kind` is one of `USED` and `LEFT_OUT`, or "target", "weight", "cluster".
    note : str
        Why it was left out, or how it is read.
    missing, odd : int
        Rows of the sample without a value, and rows with a value of another kind, which is read as missing.
    style : str
        Number format, one of `STYLES`.
    fill : float
        Replacement of a missing number or date (in days).
    indicator : bool
        Whether there is a feature that is 1 if the number is missing.
    levels : tuple of str
        Categories that have a feature each; of dates "missing", if it is not rare.
    reference : str
        The most frequent category, which has no feature: it is the reference.
    merged : tuple of str
        Categories without a feature, because a category of another column is identical or the complement.
    format : str
        Format of dates, one of `cells.FORMATS`; "number" for categories that are numbers.
    parts : tuple of Column
        For dates: month, weekday and hour, as categories.
    words : tuple of str
        For text: the words that have a feature each.
    weights : tuple of float
        Factor of each word, in addition to its count; empty for 1.
    buckets : tuple of str
        Names of the features for all other words, by their hash; empty if other words are left out.
    """

    name: str
    kind: str
    note: str = ""
    missing: int = 0
    odd: int = 0
    style: str = "plain"
    fill: float = 0.0
    indicator: bool = False
    levels: tuple[str, ...] = ()
    reference: str = ""
    merged: tuple[str, ...] = ()
    format: str = ""
    parts: tuple[Column, ...] = ()
    words: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    buckets: tuple[str, ...] = ()

    @property
    def used(self) -> bool:
        return self.kind in USED

    def features(self) -> list[str]:
        """Names of its features, without the indicator of a number."""
        if self.kind == "number":
            return [self.name]
        if self.kind == "category":
            return [f"{self.name}={level}" for level in self.levels]
        if self.kind == "date":
            days = [f"{self.name} days"] if self.indicator else []
            days += [f"{self.name}={level}" for level in self.levels]
            return [*days, *(name for part in self.parts for name in part.features())]
        if self.kind == "text":
            return [f"{self.name}:{word}" for word in (*self.words, *self.buckets)]
        return []


@dataclass(frozen=True)
class Schema:
    """Encoding of each column of a table: plain data that is stored in the model file.

    Attributes
    ----------
    columns : tuple of Column
        In the order of the table.
    rows : int
        Number of rows in the sample.
    coverage : {"whole", "spread", "head"}
        Whether these were all rows, rows from all parts of the source, or the first rows.
    found : dict
        Delimiter, encoding and decimal mark of a text file.
    mean, deviation : tuple of float
        Mean and standard deviation of each feature over these rows.
    notes : tuple of str
        Further remarks.
    """

    columns: tuple[Column, ...]
    rows: int = 0
    coverage: str = "whole"
    found: tuple[tuple[str, str], ...] = ()
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    def kind(self, *kinds: str) -> list[Column]:
        return [column for column in self.columns if column.kind in kinds]

    @property
    def numbers(self) -> list[Column]:
        return self.kind("number")

    @property
    def coded(self) -> list[Column]:
        """Columns that become several features."""
        return self.kind("category", "date", "text")

    @property
    def feature_names(self) -> list[str]:
        """Numbers, then indicators of missing numbers, then the features of the other columns."""
        names = [column.name for column in self.numbers]
        names += [f"{column.name}={MISSING}" for column in self.numbers if column.indicator]
        return names + [name for column in self.coded for name in column.features()]

    @property
    def groups(self) -> list[str]:
        """For each feature the column, or the part of a date, that it is a category of."""
        names = [column.name for column in self.numbers]
        names += [f"{column.name}={MISSING}" for column in self.numbers if column.indicator]
        for column in self.coded:
            if column.kind == "category":
                names += [column.name] * len(column.levels)
            elif column.kind == "date":
                names += [f"{column.name} days"] * column.indicator + [column.name] * len(column.levels)
                names += [part.name for part in column.parts for _ in part.levels]
            else:
                names += column.features()
        return names

    def coding(self) -> list[Any]:
        """The properties that must agree for the features of two sources to be the same."""
        return [
            (c.name, c.kind, c.levels, c.reference, c.merged, c.format, c.indicator, c.words, c.weights,
             c.buckets, [(part.name, part.levels, part.reference) for part in c.parts])
            for c in sorted(self.columns, key=lambda column: column.name)
            if c.used
        ]  # fmt: skip

    # ---------------------------------------------------------------- plain data

    def plain(self) -> dict[str, Any]:
        """The schema as JSON."""
        out = asdict(self)
        out["columns"] = [_shorter(column) for column in out["columns"]]
        return out

    @classmethod
    def from_plain(cls, plain: Any) -> Schema:
        """The schema from a file; raise ValueError if it is invalid."""
        try:
            columns = tuple(_column(column) for column in plain["columns"])
            schema = cls(
                columns,
                int(plain["rows"]),
                str(plain["coverage"]),
                tuple((str(name), str(value)) for name, value in plain["found"]),
                tuple(float(value) for value in plain["mean"]),
                tuple(float(value) for value in plain["deviation"]),
                tuple(str(note) for note in plain["notes"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"the schema of the columns is damaged: {error}.") from None
        if {len(schema.mean), len(schema.deviation)} - {0, len(schema.feature_names)}:
            raise ValueError("the schema of the columns is damaged: means of other features.")
        return schema

    # ---------------------------------------------------------------- for a reader

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """One row for each column: its encoding, number of features, missing values, and a note."""
        rows = []
        for column in self.columns:
            n = len(column.features()) + (column.kind == "number" and column.indicator)
            rows.append([column.name, column.kind, n, column.missing + column.odd, column.note])
        return ["column", "became", "features", "missing", "note"], rows

    def lines(self) -> list[str]:
        """A summary in a few lines."""
        used = [column for column in self.columns if column.used]
        p = len(self.feature_names)
        found = "".join(f", {name} {value}".rstrip() for name, value in self.found)
        rows = {"whole": "", "spread": ", from all parts of it", "head": ", the first ones"}[self.coverage]
        out = [f"Looked at {counted(self.rows, 'row')}{rows}{found}: {counted(p, 'feature')}"]
        out[0] += f" from {counted(len(used), 'column')}."
        for kind, noun in zip(USED, ("number", "category", "date", "text")):
            some = self.kind(kind)
            if some and not (kind == "number" and len(some) == len(self.columns) - len(self._special())):
                nouns = {"category": "categories", "text": "texts"}.get(noun, noun + "s")
                head = f"{len(some)} {noun if len(some) == 1 else nouns}"
                out.append(f"  {head}: {_names(some, kind)}")
        gone = [column for column in self.kind(*LEFT_OUT) if column.kind != "dropped"]
        if gone:
            few = "; ".join(f"{shortened(column.name, 40)} ({column.note})" for column in gone[:6])
            more = f"; and {counted(len(gone) - 6, 'other')}" if len(gone) > 6 else ""
            out.append(f"  left out: {few}{more}")
        filled = [column for column in used if column.missing]
        if filled:
            out.append(f"  missing: {_missing(filled)}")
        odd = [column for column in used if column.odd]
        if odd:
            few = ", ".join(f"{shortened(column.name, 40)} ({column.odd:,})" for column in odd[:6])
            out.append(f"  words among numbers, or numbers among dates, read as missing: {few}")
        return [*out, *(f"  {note}" for note in self.notes)]

    def _special(self) -> list[Column]:
        return self.kind("target", "weight", "cluster")

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _names(columns: list[Column], kind: str) -> str:
    """The names of a few columns and, if not one each, their numbers of features."""
    shown = []
    for column in columns[:8]:
        name = shortened(column.name, 40)
        many = len(column.features())
        if kind == "category":
            name += f" ({many + 1})" if many > 1 else ""
        elif kind == "date":
            parts = ["days"] * column.indicator + [part.name.rsplit(" ", 1)[1] for part in column.parts]
            name += f" ({', '.join(parts)})"
        elif kind == "text":
            name += f" ({counted(many, 'word')})"
        shown.append(name)
    rest = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {counted(rest, 'other')}" if rest else "")


def _missing(columns: list[Column]) -> str:
    few = ", ".join(f"{shortened(column.name, 40)} {column.missing:,}" for column in columns[:6])
    rest = f" and {counted(len(columns) - 6, 'other column')}" if len(columns) > 6 else ""
    how = []
    filled = [column.fill == column.fill for column in columns if column.kind == "number"]
    if any(filled):
        how.append("missing numbers are replaced by the mean")
    if not all(filled):
        how.append("missing numbers are left to the method")
    separate = {"category": "words", "date": "dates"}
    kinds = [separate[kind] for kind in separate if any(column.kind == kind for column in columns)]
    if kinds:
        how.append(f"missing {' and '.join(kinds)} are a separate category")
    return f"{few}{rest}" + (f"; {', '.join(how)}" if how else "")


_DEFAULT = asdict(Column("", ""))


def _shorter(column: dict[str, Any]) -> dict[str, Any]:
    """Without fields that have their default values."""
    out = {
        name: value for name, value in column.items() if name in ("name", "kind") or value != _DEFAULT[name]
    }
    if "parts" in out:
        out["parts"] = [_shorter(part) for part in out["parts"]]
    return out


def _column(plain: Any, depth: int = 0) -> Column:
    if not isinstance(plain, dict) or depth > 1:
        raise TypeError("a column is not an object")
    values: dict[str, Any] = {}
    kinds = {field.name: field.type for field in fields(Column)}
    for name, value in plain.items():
        kind = kinds[name]
        if name == "parts":
            values[name] = tuple(_column(part, depth + 1) for part in value)
        elif kind == "str":
            values[name] = _checked(value, str)
        elif kind == "tuple[str, ...]":
            values[name] = tuple(_checked(each, str) for each in value)
        elif kind == "tuple[float, ...]":
            values[name] = tuple(float(each) for each in value)
        else:
            values[name] = {"int": int, "float": float, "bool": bool}[str(kind)](value)
    column = Column(**values)
    if column.kind not in (*USED, *LEFT_OUT, "target", "weight", "cluster") or column.style not in STYLES:
        raise ValueError(f"{shortened(column.name)!r} is a {shortened(column.kind)!r}")
    if column.kind == "date" and column.format not in FORMATS:
        raise ValueError(f"dates of the format {shortened(column.format)!r}")
    if any(part.name.rsplit(" ", 1)[-1] not in PARTS for part in column.parts):
        raise ValueError("an invalid part of a date")
    if column.weights and len(column.weights) != len(column.words):
        raise ValueError("words and weights differ in number")
    return column


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{type(value).__name__} in place of {kind.__name__}")
    return value


# ---------------------------------------------------------------- names of columns


def column_names(cells: Iterable[str]) -> list[str]:
    """Names for the cells of a header; empty names are replaced by positions, repeated names are numbered."""
    names: list[str] = []
    seen = set()
    stripped = [cell.strip() for cell in cells]
    if all(len(cell) > 2 and cell[0] == cell[-1] == "'" for cell in stripped):  # as some programs quote
        stripped = [cell[1:-1] for cell in stripped]
    for place, cell in enumerate(stripped, 1):
        name = first = cell or f"column {place}"
        again = 1
        while name in seen:
            again += 1
            name = f"{first} ({again})"
        seen.add(name)
        names.append(name)
    return names


def place_of(name: Any, places: Mapping[str, int], what: str, file: str) -> int:
    """The column with a name, or at a position; BadData if there is none."""
    if isinstance(name, str) and name not in places:
        name = name.strip()  # as the names of a header are
    if name in places:
        return places[name]
    names = list(places)
    p = len(names)
    if isinstance(name, int) and not isinstance(name, bool) and -p <= name < p:
        return name % p
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    some = ", ".join(repr(shortened(one, 40)) for one in names[:8]) + (", ..." if p > 8 else "")
    hint = f"did you mean {' or '.join(repr(shortened(one)) for one in near)}" if near else f"it has {some}"
    advice = None
    if not near and any(not as_numbers([one]).word[0] for one in names):
        advice = Advice(
            "if this is a row and not the header, pass {} and name the target by its number, from 0",
            ("header", False),
        )
    elif p == 1:
        hint += ", one column only: remove lines before the header, or name the delimiter"
    raise BadData(f"there is no {what} {name!r}; {hint}", file, 1, str(name), advice=advice)


def digits(x: float) -> str:
    return str(int(x)) if float(x).is_integer() and abs(x) < 1e15 else f"{x:.6g}"
