"""Columns of a table compared with each other: copies, categories of the same rows, leakage of the target."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.rows import unique_labels
from ..core.words import counted
from .bad_data import shortened
from .cells import Array, as_numbers
from .schema import MISSING, OTHER, Column, digits

_FIRST = slice(256)  # rows in which most columns differ already; the others are compared in all rows
PARTITION = 50  # different values up to which a column is compared with the labels of the target


class Words(NamedTuple):
    """A column of texts: the values met, in order, and for each row which of them; -1 is missing."""

    values: list[str]
    codes: NDArray[np.int32]

    def counts(self) -> NDArray[np.int64]:
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))


def as_words(x: Array) -> Words:
    """Numbers as words."""
    codes = np.full(len(x), -1, dtype=np.int32)
    known = ~np.isnan(x)
    values, first, inverse = np.unique(x[known], return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    codes[known] = rank[inverse]
    return Words([digits(float(v)) for v in values[np.argsort(first)]], codes)


class Together:
    """Compares columns with `values`; columns `named` by the user are kept."""

    def __init__(
        self, values: list[Array | Words | None], columns: list[Column], target: int | None, named: set[int]
    ) -> None:
        self.values, self.columns, self.target, self.named = values, columns, target, named

    def _words(self, c: int) -> Words:
        values = self.values[c]
        assert values is not None
        return values if isinstance(values, Words) else as_words(values)

    def _numbers(self, c: int) -> Array:
        values = self.values[c]
        assert values is not None
        if not isinstance(values, Words):
            return values
        return np.append(as_numbers(values.values, self.columns[c].style).x, np.nan)[values.codes]

    # ---------------------------------------------------------------- copies

    def leave_out_copies(self) -> None:
        """Leave out columns that equal an earlier column or the target."""
        first: dict[bytes, int] = {}
        labels = None if self.target is None else self._partition(self.target)
        compared = [c for c, column in enumerate(self.columns) if column.used and c not in self.named]
        target = self.target
        if target is not None and self.columns[target].note == "words":
            target = None
        start = {c: self._content(c, _FIRST) for c in [*compared, *([] if target is None else [target])]}
        shared = Counter(start.values())
        keys = {c: self._content(c) if shared[key] > 1 else key for c, key in start.items()}
        numbers = None if target is None else keys[target]
        for c in compared:
            column, key, note = self.columns[c], keys[c], ""
            if key == numbers or (labels is not None and self._partition(c) == labels):
                note = "a copy of the target"
            elif first.setdefault(key, c) != c:
                note = f"a copy of {shortened(self.columns[first[key]].name, 40)}"
                if column.kind == "number" and not self._equal(c, first[key]):
                    note += " but for its unit or sign"
            if note:
                self.columns[c] = Column(column.name, "copy", note, column.missing)

    def _equal(self, a: int, b: int) -> bool:
        return np.array_equal(self._numbers(a), self._numbers(b), equal_nan=True)

    def _content(self, c: int, rows: slice = slice(None)) -> bytes:
        """A key of some rows that is the same for equal columns: numbers up to unit and origin, words up to
        their names."""
        kind = self.columns[c].kind
        if kind not in ("number", "target"):
            return hashlib.sha256(kind[:1].encode() + self._words(c).codes[rows].tobytes()).digest()
        x = self._numbers(c)
        known = ~np.isnan(x)
        some = x if known.all() else x[known]
        part = x[rows]
        if len(some):
            with np.errstate(all="ignore"):
                mean, deviation = some.mean(), some.std()
                z, first = (part - mean) / deviation, (some[0] - mean) / deviation
            if np.isfinite(z[known[rows]]).all():
                part = np.round(z * np.copysign(1.0, first), 9) + 0.0
        return hashlib.sha256(b"n" + np.ascontiguousarray(part).tobytes()).digest()

    def _partition(self, c: int) -> bytes | None:
        """Which rows have the same value; None if nearly all values differ, or are equal."""
        values = self.values[c]
        if values is None:
            return None
        most = min(PARTITION, len(values.codes if isinstance(values, Words) else values) // 10)
        if (
            not isinstance(values, Words)
            and len(unique_labels(values[_FIRST][~np.isnan(values[_FIRST])])) > most
        ):
            return None
        words = self._words(c)
        if not 2 <= len(words.values) <= most:
            return None
        return hashlib.sha256(words.codes.tobytes()).digest()

    # ---------------------------------------------------------------- categories of the same rows

    def leave_out_same_levels(self) -> list[str]:
        """Leave out categories whose rows equal those of another category, or its complement; returns
        notes."""
        seen: dict[bytes, str] = {}
        for c, column in enumerate(self.columns):
            if column.kind == "number" and not column.missing:
                x = self._numbers(c)
                if ((x == x.min()) | (x == x.max())).all():
                    seen.setdefault(_rows_key(x == x.max()), shortened(column.name, 30))
        same: list[str] = []
        for c, column in enumerate(self.columns):
            if column.kind == "category":
                self.columns[c] = self._without_seen(c, column, seen, same)
        if len(same) > 3:
            same[3:] = [counted(len(same) - 3, "other")]
        return [f"identical columns, one of each pair dropped: {'; '.join(same)}"] if same else []

    def _without_seen(self, c: int, column: Column, seen: dict[bytes, str], same: list[str]) -> Column:
        words = self._words(c)
        places = {level: j for j, level in enumerate(column.levels)} | {column.reference: -1}
        unknown = places.get(OTHER, -1)
        of_value = [places.get(value, unknown) for value in words.values]
        codes = np.array([*of_value, places.get(MISSING, unknown)])[words.codes]
        merged, first = [], ""
        for j, level in enumerate(column.levels):
            key, name = _rows_key(codes == j), f"{shortened(column.name, 30)}={shortened(level, 30)}"
            first = seen.setdefault(key, name)
            if first != name:
                merged.append(level)
                same.append(f"{name} and {first}")
        if not merged or c in self.named:
            return column
        left = tuple(level for level in column.levels if level not in merged)
        if not left:
            return Column(column.name, "copy", f"a copy of {first}", column.missing)
        return replace(column, levels=left, merged=tuple(merged))

    # ---------------------------------------------------------------- the target

    def leaks(self, least: int) -> list[str]:
        """Columns of numbers that determine the target of nearly every row on their own."""
        if self.target is None:
            return []
        column = self.columns[self.target]
        if column.note == "words":
            codes = self._words(self.target).codes
            y = np.where(codes < 0, np.nan, codes)
        else:
            y = self._numbers(self.target)
        labels = unique_labels(y[~np.isnan(y)])
        out = []
        for c, column in enumerate(self.columns):
            if column.kind != "number":
                continue
            x = self._numbers(c)
            both = ~np.isnan(x) & ~np.isnan(y)
            if both.sum() < least:
                continue
            sure, known = False, y
            if not both.all():
                x, known = x[both], y[both]
            if len(labels) == 2:
                sure = _separates(x, known == labels[1])
            elif self.columns[self.target].note != "words":
                with np.errstate(all="ignore"):
                    sure = bool(abs(np.corrcoef(x, known)[0, 1]) > 0.999)
            if sure:
                out.append(
                    f"{shortened(column.name, 40)!r} alone determines the target: drop it if it is not "
                    "known when you predict"
                )
        return out


def _rows_key(rows: NDArray[np.bool_]) -> bytes:
    """The same for rows and for all others."""
    return hashlib.sha256(np.packbits(rows ^ rows[0]).tobytes()).digest()


def _separates(x: Array, label: NDArray[np.bool_]) -> bool:
    """Whether one threshold separates the labels of all rows except one in a thousand."""
    order = np.argsort(x, kind="stable")
    x, label = x[order], label[order]
    right = np.cumsum(label) + np.cumsum(~label)[-1] - np.cumsum(~label)  # errors of: True above the cut
    cut = np.append(x[1:] != x[:-1], False)
    if not cut.any() or label.all() or not label.any():
        return False
    errors = np.minimum(right[cut], len(x) - right[cut]).min()
    return bool(errors <= 0.001 * len(x) and min(label.sum(), (~label).sum()) > 10 * max(errors, 1))
