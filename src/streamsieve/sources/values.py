"""Columns of Python values, of JSON and of frames, as a schema reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.params import Advice
from ..core.words import counted
from .bad_data import NO_INFINITY, BadData
from .cells import Array, as_numbers, is_missing
from .examples import Examples
from .schema import digits
from .together import Words

if TYPE_CHECKING:
    from .table import Table, TableReader

Codes = NDArray[np.int32]
_INFINITE = "a number that is infinite or too large for a double"


def column_of(values: Sequence[Any]) -> Array | Words | None:
    """Numbers if all values are numbers, words otherwise; None for lists and objects."""
    if all(value is None or isinstance(value, int | float) for value in values):
        x = np.array([math.nan if value is None else number_of(value) for value in values])
        return np.where(np.isinf(x), np.nan, x)  # an error when it is read
    if any(isinstance(value, list | dict | tuple | set | bytes) for value in values):
        return None
    return Words(*coded(values))


def number_of(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def coded(values: Sequence[Any]) -> tuple[list[str], Codes]:
    """The distinct values as words, in order of appearance, and the index of each value; -1 is missing."""
    places: dict[str, int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    for i, value in enumerate(values):
        word = word_of(value)
        codes[i] = -1 if word is None else places.setdefault(word, len(places))
    return list(places), codes


def word_of(value: Any) -> str | None:
    """A value as in a cell of a CSV file; None for a missing value."""
    if value is None:
        return None
    if isinstance(value, str):
        value = value.strip(" \t")
        return None if is_missing(value) else value
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return None if value != value else digits(float(value))
    if value != value:  # NaT; comparisons with pandas.NA are not booleans
        return None
    return str(value)


class Found(NamedTuple):
    """Rows, the numbers of bad rows and of rows without a target, and the error at the end."""

    examples: Examples
    bad: int
    unlabelled: int
    error: BadData | None


def rows_of(reader: TableReader, values: Sequence[Sequence[Any]], lines: Sequence[int], file: str) -> Found:
    """Rows from the values of each column of a reader's table."""
    table = reader.table
    assert table is not None
    n = len(lines)
    numbers = {c: _numbers(values[c], table.style(c)) for c in {*table.numbers, *table.others}}
    words = {c: coded(values[c]) for c in table.coded}
    return make_rows(reader, n, numbers, words, lambda i: lines[i], file)


def make_rows(
    reader: TableReader, n: int, numbers: dict[int, tuple[Array, NDArray[np.bool_]]],
    words: dict[int, tuple[list[str], Codes]], line: Callable[[int], int], file: str,
) -> Found:  # fmt: skip
    """Rows from numbers, with which of them are words, and from words, by column; checked as text is.

    Missing numbers are NaN; they become what the schema says.
    """
    table, options = reader.table, reader.options
    assert table is not None
    features, others = (np.empty((n, len(places))) for places in (table.numbers, table.others))
    odd = np.zeros(len(table.columns), dtype=np.int64)
    for matrix, places in ((features, table.numbers), (others, table.others)):
        for j, c in enumerate(places):
            matrix[:, j] = numbers[c][0]
            odd[c] = int(numbers[c][1].sum())
    codes = np.empty((n, len(table.coded)), dtype=np.int32)
    met = []
    for k, c in enumerate(table.coded):
        found, codes[:, k] = words[c]
        met.append(found)
    unlabelled = bad = np.zeros(n, dtype=bool)
    error = None
    if not _is_clean(table, features, others, codes):
        words_among = {c: is_word for c, (_, is_word) in numbers.items()}
        unlabelled, bad, reason = _check(table, options.missing, features, others, codes, words_among)
        if bad.any() and not options.skip_bad:
            first = int(np.argmax(bad))
            what, c = reason(first)
            advice = NO_INFINITY if what == _INFINITE else None
            text = f"row {line(first):,} holds {what}"
            error = BadData(text, file, line(first), table.columns[c], what, advice)
            bad[first:] = True  # rows after the first error are not read
        for j, c in enumerate(table.numbers):
            gone = np.isnan(features[:, j])
            if gone.any():
                features[gone, j] = table.fills[c]
    over = reader.too_many_odd(odd, n)
    if over is not None and error is None:
        i = int(np.argmax(numbers[over][1])) if over in numbers else 0
        error = BadData(
            f"a word in a column of numbers, {counted(int(reader.odd[over]), 'word')} so far", file, line(i),
            table.columns[over], advice=Advice("replace it by a number or a missing value"),
        )  # fmt: skip
    keep = ~(bad | unlabelled)
    if not keep.all():
        features, others, codes = features[keep], others[keep], codes[keep]
    examples = table.examples(features, others, codes, met)
    return Found(examples, int(bad.sum()) if options.skip_bad else 0, int((unlabelled & ~bad).sum()), error)


def _is_clean(table: Table, features: Array, others: Array, codes: Codes) -> bool:
    """Whether no value is missing, infinite or a word, and no weight is negative."""
    if not (np.isfinite(features).all() and np.isfinite(others).all() and (codes >= 0).all()):
        return False
    return table.weight is None or bool((others[:, table.others.index(table.weight)] >= 0).all())


def _check(
    table: Table, missing: str, features: Array, others: Array, codes: Codes,
    words: dict[int, NDArray[np.bool_]],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Callable[[int], tuple[str, int]]]:  # fmt: skip
    """Rows without a target that are left out, bad rows, and what is wrong with one and in which column."""
    n = len(features)
    unlabelled = np.zeros(n, dtype=bool)
    wrong: list[tuple[NDArray[np.bool_], str, int]] = []
    for matrix, places in ((features, table.numbers), (others, table.others)):
        for j, c in enumerate(places):
            gone, special = np.isnan(matrix[:, j]), c in (table.target, table.weight, table.cluster)
            wrong.append((np.isinf(matrix[:, j]), _INFINITE, c))
            if c == table.target and table.skips_unlabelled:
                unlabelled |= gone
            elif special or missing == "error":
                wrong.append((gone & ~words[c], "a missing value", c))
                wrong.append((words[c], "a word among numbers", c))
            if c == table.weight:
                wrong.append((matrix[:, j] < 0, "a negative weight", c))
    for k, c in enumerate(table.coded):
        gone = codes[:, k] < 0
        if c == table.target and table.skips_unlabelled:
            unlabelled |= gone
        elif c in (table.target, table.cluster) or missing == "error":
            wrong.append((gone, "a missing value", c))
    bad = np.zeros(n, dtype=bool)
    for where, _, _ in wrong:
        bad |= where

    def reason(i: int) -> tuple[str, int]:
        return next((what, c) for where, what, c in wrong if where[i])

    return unlabelled, bad, reason


def _numbers(values: Sequence[Any], style: str) -> tuple[Array, NDArray[np.bool_]]:
    """Values as numbers, NaN for other values, and which values are words."""
    if all(value is None or isinstance(value, int | float) for value in values):
        x = np.array([math.nan if value is None else number_of(value) for value in values])
        return x, np.zeros(len(values), dtype=bool)
    names, codes = coded(values)
    found = as_numbers(names, style)
    return np.append(found.x, np.nan)[codes], np.append(found.word, False)[codes]
