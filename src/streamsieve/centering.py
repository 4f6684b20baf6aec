"""Centring of columns far from zero, for learners by gradient steps.

Where the mean of a column exceeds its deviation, a step for the intercept and one for the weight undo each
other, and learning takes far more rows. Such a column is centred on its mean over the first rows, which then
stays: a centre that moves would change what the weights mean. It is not zero in most rows, so that centring
sparse rows at most doubles their entries; columns that are mostly zero stay as they are.
"""

from __future__ import annotations

import numpy as np

from .row_buffer import RowBuffer
from .rows import Array, Rows, from_scipy
from .state import State, zeros

ROWS = 100  # that decide on the centre: a tenth of a deviation off, in the mean
SAMPLE = 4096  # rows that do in `fit`, from all parts of the data: the first may be of one class

Batch = tuple[Rows, Array, Array | None]


class Centering(State):
    """The centre, and the first rows until there are enough of them to place it."""

    def __init__(self, p: int) -> None:
        super().__init__(center=zeros(feature=p), placed=False, buffer=RowBuffer())

    def apply(self, rows: Rows, y: Array, w: Array | None) -> list[Batch]:
        """What is to be learned now: the rows about the centre, or none while the first are collected."""
        if self.placed:
            return [(self.subtract(rows), y, w)]
        self.buffer.append(rows, y, w)
        return self.flush() if len(self.buffer) >= ROWS else []

    def flush(self) -> list[Batch]:
        """Place the centre by the rows that wait; these are then to be learned."""
        rows, y, w = self.buffer.joined()
        self.place(rows[:ROWS])
        return [(self.subtract(rows), y, w)]

    def place_by_sample(self, rows: Rows) -> None:
        """Place the centre by rows from all parts of data in memory."""
        self.place(rows.take(np.arange(0, len(rows), -(-len(rows) // SAMPLE))))

    def place(self, first: Rows) -> None:
        """Centre the columns whose mean over these rows exceeds their deviation."""
        if first.sparse:
            n, at, x = len(first), first.tight().indices, first.tight().data.astype(np.float64)
            mean = np.bincount(at, x, self._p) / n
            var = np.bincount(at, x * x, self._p) / n - mean**2
        else:
            assert first.values is not None
            mean, var = (
                first.values.mean(axis=0, dtype=np.float64),
                first.values.var(axis=0, dtype=np.float64),
            )
        self.center[: len(mean)] = np.where(mean**2 > var, mean, 0.0)
        self.placed = True
        self.buffer.clear()

    @property
    def _p(self) -> int:
        return len(self.center)

    def subtract(self, rows: Rows) -> Rows:
        """The rows about the centre; themselves where no column is centred."""
        at = np.flatnonzero(self.center[: rows.p])
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

    def shift(self, weight: Array) -> Array | float:
        """What the centre adds to the scores of weights (p, q)."""
        return self.center @ weight if self.placed and self.center.any() else 0.0

    def check(self, p: int, q: int, limit: float) -> None:
        """Raise ValueError for waiting rows from a file that are none."""
        if not np.isfinite(self.center).all():
            raise ValueError("the centre is not finite.")
        if self.placed and len(self.buffer):
            raise ValueError("rows wait for a centre that is placed.")
        self.buffer.check(p, q, ROWS, limit)
