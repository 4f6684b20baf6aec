"""Least squares of the few features that a stream has left: the running averages of SFSA's refit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.rows import Array, Rows
from ...core.state import State, array, check_array, zeros
from ...statistics.ridge import likeliest_ridge

_BLOCK = 256  # rows that are added to the averages at a time


class AveragesRefit(State):
    """Means and co-moments of the k features that are left and of the targets, and their least squares.

    Rows are added in blocks, whatever calls they come in: O(k^2) a row, O(k^3) to read. `RunningAverages` sum
    the weights of each call, so that their last bits depend on how a stream is cut; a learner's must not.
    """

    features: NDArray[np.int64]
    rows: int
    filled: int
    weight: float

    def __init__(self, features: NDArray[np.int64], q: int) -> None:
        k = len(features)
        super().__init__(
            features=array(np.sort(features), "slot"),
            rows=0,
            filled=0,
            weight=0.0,
            mean=zeros(fixed=k + q),
            moments=zeros(fixed=k + q, other=k + q),  # co-moments about the mean
            block=zeros(fixed=_BLOCK, other=k + q + 1),  # features, targets, weight of rows to come
        )

    @property
    def k(self) -> int:
        return len(self.features)

    def check(self, p: int, q: int) -> None:
        """Raise ValueError for state from a file that does not fit together."""
        check_array("features", self.features, np.int64, (len(self.features),))
        at = np.concatenate([[-1], self.features, [p]])
        if (np.diff(at) <= 0).any():
            raise ValueError("a refit is of features that are not there.")
        self.verify(AveragesRefit(self.features, q))
        if not 0 <= self.filled < _BLOCK or self.rows < self.filled:
            raise ValueError("a refit is of other rows than it counts.")

    @property
    def enough(self) -> bool:
        return self.rows >= 2 * self.k + 2

    def update(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Add rows."""
        at, n = 0, len(rows)
        while at < n:
            stop = min(n, at + _BLOCK - self.filled)
            to = self.block[self.filled : self.filled + stop - at]
            values = np.empty((stop - at, self.k))
            _core.pick(rows[at:stop].kernel, self.features, values)
            to[:, : self.k] = values
            to[:, self.k : -1] = y[at:stop]
            to[:, -1] = 1.0 if w is None else w[at:stop]
            self.filled += stop - at
            self.rows += stop - at
            if self.filled == _BLOCK:
                self.weight, self.mean, self.moments = self._averages()
                self.filled = 0
            at = stop

    def _averages(self) -> tuple[float, Array, Array]:
        """Weight, means and co-moments of all rows (Chan, Golub and LeVeque 1983)."""
        if not self.filled:
            return self.weight, self.mean, self.moments
        block, w = self.block[: self.filled, :-1], self.block[: self.filled, -1]
        added = float(w.sum())
        mean = w @ block / added
        centred = (block - mean) * np.sqrt(w)[:, None]
        total, away = self.weight + added, mean - self.mean
        moments = self.moments + centred.T @ centred + np.outer(away, away) * (self.weight * added / total)
        return total, self.mean + away * (added / total), moments

    def solve(self, fit_intercept: bool) -> tuple[Array, Array]:
        """Weights (k, q) and intercepts (q,), with the ridge of the largest marginal likelihood."""
        weight, mean, moments = self._averages()
        k, A = self.k, moments / weight
        # of a constant column rounding is left
        usable = A.diagonal() > (8 * np.finfo(np.float64).eps * mean) ** 2
        if not fit_intercept:
            A = A + np.outer(mean, mean)
            usable = A.diagonal() > 0
        x, y = np.flatnonzero(usable[:k]), k + np.flatnonzero(usable[k:])
        coef = np.zeros((k, len(mean) - k))
        if len(x) and len(y):
            unit = 1.0 / np.sqrt(np.where(usable, A.diagonal(), 1.0))
            R = A * unit[:, None] * unit
            solved, _ = likeliest_ridge(np.ascontiguousarray(R[np.ix_(x, x)]), R[np.ix_(x, y)], weight)
            coef[np.ix_(x, y - k)] = solved * unit[x][:, None] / unit[y]
        return coef, mean[k:] - mean[:k] @ coef if fit_intercept else np.zeros(coef.shape[1])
