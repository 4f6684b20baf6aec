"""Centre and unit of the columns, for learners by gradient steps.

Where the mean of a column exceeds its deviation, a step for the intercept and one for the weight undo each
other, and learning takes far more rows. Such a column is centred on its mean over the first rows, which then
stays: a centre that moves would change what the weights mean. It is not zero in most rows, so that centring
sparse rows at most doubles their entries; columns that are mostly zero stay as they are.

One step for all columns suits none where their units differ. Learners whose kernels have no units of their
own see each column divided by the root mean square of its non-zero values about the centre, from the
same rows; of a column that is mostly zero and hardly seen in them, by the typical one. The steps of
budgeted learners are made for rows of norm 1: theirs are divided by the root mean square of the norm that k
values of a row can have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .row_buffer import RowBuffer
from .rows import Array, Rows, from_scipy
from .state import State, zeros

ROWS = 100  # that decide on centre and unit: a tenth of a deviation off, in the mean
SAMPLE = 4096  # rows that do in `fit`, from all parts of the data: the first may be of one class
SAMPLE_VALUES = 1 << 22
FEW = 10  # values of a column that is mostly zero tell little of its unit

Batch = tuple[Rows, Array, Array | None]


class Centering(State):
    """Centre and unit, and the first rows until there are enough of them to place both."""

    centers: bool
    budget: int
    placed: bool
    _places: NDArray[np.int64] | None = None  # of the columns that are centred

    def __init__(self, p: int, centers: bool = True, scales: bool = False, budget: int = 0) -> None:
        super().__init__(
            centers=centers,
            budget=budget,  # values of a row whose squares sum to 1 in the mean; 0: rows are of any length
            center=zeros(feature=p),
            inverse=zeros(feature=p) if scales else None,  # of the units; 0 for columns not seen
            typical=1.0,  # the inverse unit of those
            target_square=1.0,  # mean square of the targets of the same rows, where rows are of norm 1
            placed=False,
            buffer=RowBuffer(),
        )

    def apply(self, rows: Rows, y: Array, w: Array | None) -> list[Batch]:
        """What is to be learned now: the rows about the centre, or none while the first are collected."""
        if self.placed:
            return [(self.transform(rows), y, w)]
        self.buffer.append(rows, y, w)
        return self.flush() if len(self.buffer) >= ROWS else []

    def flush(self) -> list[Batch]:
        """Place the centre by the rows that wait; these are then to be learned."""
        rows, y, w = self.buffer.joined()
        self.place(rows[:ROWS], y[:ROWS])
        return [(self.transform(rows), y, w)]

    def place_by_sample(self, rows: Rows, y: Array) -> NDArray[np.int64]:
        """Place the centre by rows from all parts of data in memory, and return their places."""
        most = min(SAMPLE, max(ROWS, SAMPLE_VALUES // max(1, rows.n_values // len(rows))))
        at = np.arange(0, len(rows), -(-len(rows) // most))
        self.place(rows.take(at), y[at])
        return at

    def place(self, first: Rows, y: Array) -> None:
        """Centre the columns whose mean over these rows exceeds their deviation, and set the units."""
        n, p = len(first), first.p
        if first.sparse:
            tight = first.tight()
            at, x = tight.indices, tight.data.astype(np.float64)
            mean, squares = np.bincount(at, x, p) / n, np.bincount(at, x * x, p)
            count = np.bincount(at[x != 0], minlength=p)
            var = squares / n - mean**2
        else:
            assert first.values is not None
            mean = first.values.mean(axis=0, dtype=np.float64)
            var = first.values.var(axis=0, dtype=np.float64)
            squares = n * (var + mean**2)
            count = np.count_nonzero(first.values, axis=0)
        far = (mean**2 > var) & self.centers
        self.center[:p] = np.where(far, mean, 0.0)
        if self.inverse is not None:
            # of few rows a deviation may be tiny by chance, of a constant column it is rounding
            about = var + (mean / n) ** 2
            square = np.where(far, about, squares / np.maximum(count, 1))
            seen = square > 0
            rare = (count < FEW) & (2 * count < n)
            if seen.any():
                known = seen & ~rare if (seen & ~rare).any() else seen
                self.typical = float(np.exp(-0.5 * np.log(square[known]).mean()))
            inverse = 1.0 / np.sqrt(np.where(seen, square, np.inf))
            # of few values the mean square is nearly chance: it counts where it is far above what is typical
            self.inverse[:p] = np.where(rare & (4 * inverse > self.typical), self.typical, inverse)
        self.placed, self._places = True, None
        if self.inverse is not None and self.budget:
            length = largest_norm(self.transform(first), self.budget)
            if length > 0:
                self.inverse /= length
                self.typical /= length
            self.target_square = float(np.square(y).mean())
        self.buffer.clear()

    def _units(self, at: Any = slice(None)) -> Array:
        """Inverse units of some columns."""
        assert self.inverse is not None
        inverse = self.inverse[at]
        units: Array = np.where(inverse > 0, inverse, self.typical)
        return units

    def transform(self, rows: Rows) -> Rows:
        """The rows about the centre and in units of their columns."""
        rows = self._subtract(rows)
        if self.inverse is None:
            return rows
        if rows.values is not None:
            return Rows(rows.values * self._units(slice(rows.p)))
        rows = rows.tight()
        return Rows(p=rows.p, csr=(rows.indptr, rows.indices, rows.data * self._units(rows.indices)))

    def _far(self) -> NDArray[np.int64]:
        """The columns that are centred."""
        if self._places is None:
            self._places = np.flatnonzero(self.center)
        return self._places

    def _subtract(self, rows: Rows) -> Rows:
        at = self._far()
        at = at[: np.searchsorted(at, rows.p)]  # a batch may be narrower than those before
        if not len(at):
            return rows
        if rows.values is not None:
            return Rows(rows.values - self.center[: rows.p])
        from scipy.sparse import csr_array

        centred = rows.columns(at).to_array() - self.center[at]
        n, k = centred.shape
        index = rows.indices.dtype
        dense = csr_array(
            (centred.ravel(), np.tile(at.astype(index), n), np.arange(0, n * k + 1, k, dtype=index)),
            shape=rows.shape,
        )
        rest = rows.to_scipy().copy()
        rest.data[self.center[rest.indices] != 0] = 0.0
        rest.eliminate_zeros()
        return from_scipy(rest + dense)

    def for_raw_rows(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Weights (q, p) and intercepts (q,) for rows as they come, from those for transformed rows."""
        if not self.placed:
            return coef, intercept
        if self.inverse is not None:
            coef = coef * self._units()
        return coef, intercept - coef @ self.center

    def check(self, p: int, q: int, limit: float) -> None:
        """Raise ValueError for waiting rows from a file that are none."""
        if not np.isfinite(self.center).all():
            raise ValueError("the centre is not finite.")
        scaled = self.inverse is None or (np.isfinite(self.inverse).all() and (self.inverse >= 0).all())
        if not scaled or not 0 < self.typical < np.inf:
            raise ValueError("the units are not finite and above 0.")
        if not 0 <= self.target_square < np.inf:
            raise ValueError("the mean square of the targets is not finite, or below 0.")
        if self.placed and len(self.buffer):
            raise ValueError("rows wait for a centre that is placed.")
        self.buffer.check(p, q, ROWS, limit)


def first_rows(rows: Rows, y: Array, w: Array | None) -> Batch:
    """The rows that decide on centre and unit."""
    return rows[:ROWS], y[:ROWS], None if w is None else w[:ROWS]


def largest_norm(rows: Rows, k: int) -> float:
    """Root of the mean over rows of the sum of their k largest squares."""
    total = 0.0
    for i in range(len(rows)):
        row = rows[i : i + 1]
        squares = np.square(row.tight().data if row.sparse else row.to_array().ravel(), dtype=np.float64)
        total += float(squares.sum() if len(squares) <= k else np.partition(squares, -k)[-k:].sum())
    return float(np.sqrt(total / len(rows)))
