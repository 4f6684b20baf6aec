"""A value that outweighs all others of its column together: a damaged cell, or a wrong unit.

Beside such a value, the other rows hardly count, and the column is useless.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .rows import Array, Rows

if TYPE_CHECKING:
    from .method import Method

ENOUGH = 20  # with fewer values, one that is far from the others may be chance
OUTWEIGHS = 100.0  # times the squares of all others together: then the other rows decide nothing
SUSPECT = 0.25  # smallest share of the squares, about any centre near the data, that an outlier can have


class Outlier(NamedTuple):
    feature: int
    value: float


def outweighing(values: Array, times: float = OUTWEIGHS) -> int | None:
    """Index of the value whose squared distance from the mean exceeds that of all others so many times."""
    if len(values) < ENOUGH:
        return None
    off = np.abs(values - values.mean())
    i = int(off.argmax())
    if off[i] ** 2 < 0.9 * float(off @ off):  # of an outlier it is all but 1 / n
        return None
    others = np.delete(values, i)
    others = others - others.mean()
    squares = float(others @ others)
    return i if squares and float(off[i]) ** 2 > times * squares else None


def outlier_of(feature: int, values: Array, p: int) -> Outlier | None:
    """The value of a column that outweighs all others by more than chance explains; there are p columns.

    In a heavy-tailed column (Student's t with 2 degrees of freedom), one value outweighs all others t times
    with probability 1 / t. With p such columns, a factor of `OUTWEIGHS` p occurs in one of them with
    probability 1 %. Columns that are nearly constant are skipped: there, every other value is far away.
    """
    i = outweighing(values, OUTWEIGHS * p)
    if i is None:
        return None
    others = np.delete(values, i)
    if np.count_nonzero(others != np.median(others)) < ENOUGH:
        return None
    return Outlier(feature, float(values[i]))


def find_outlier(rows: Rows, mean: Array, squares: Array, p: int) -> Outlier | None:
    """The first value that outweighs all others of its column; usually decided by the largest value.

    `mean` is the mean of each column, or a centre near it, and `squares` the sum of squares about it, over
    these rows or more; p is the number of all columns.
    """
    reach = np.sqrt(SUSPECT * squares)
    reach[squares == 0] = np.inf
    if len(rows) <= ENOUGH or rows.within(float((reach - np.abs(mean)).min(initial=np.inf))):
        return None
    if not rows.count_far(mean, reach):
        return None
    reach[rows.column_sums()[:, 0] <= ENOUGH] = np.inf  # nearly always zero
    for j in np.unique(rows.without_far(mean, reach)[1]):
        found = outlier_of(int(j), rows.columns(np.array([j])).to_array()[:, 0].astype(np.float64), p)
        if found is not None:
            return found
    return None


def warn_of_outlier(method: Method, found: Outlier) -> None:
    """Say which value of which column outweighs all others, and what to do."""
    j, value = found
    names, first = method.feature_names, method.first_index
    named = names is not None and j < len(names)
    column = repr(str(names[j])) if named else f"{j + first} (counted from {first})"
    warnings.warn(
        f"One value of column {column}, {value:,.6g}, outweighs all others: its squared distance from the "
        "mean is far more than that of all other rows together, so that the column is hardly used. Check "
        "this row: correct the value, or leave the row out.",
        stacklevel=2,
    )
