"""Least squares on the features that SFSA has left, from running averages of the rows since."""

from __future__ import annotations

import numpy as np

from .. import _core, linalg
from ..averages.model import cholesky
from ..rows import Array, Rows
from ..state import State, zeros
from .annealed import AnnealedModel

_BLOCK = 256  # rows that are added to the averages at a time


class Refit(State):
    """Means and co-moments of the k features that are left and of the targets, and their least squares.

    Rows are added in blocks, whatever calls they come in: O(k^2) a row, O(k^3) to read.
    """

    k: int
    rows: int
    filled: int
    weight: float

    def __init__(self, k: int, q: int) -> None:
        super().__init__(
            k=k,
            rows=0,
            filled=0,
            weight=0.0,
            mean=zeros(fixed=k + q),
            moments=zeros(fixed=k + q, other=k + q),  # co-moments about the mean
            block=zeros(fixed=_BLOCK, other=k + q + 1),  # features, targets, weight of rows to come
        )

    def check(self, fresh: Refit) -> None:
        """Raise ValueError for state from a file that does not fit together."""
        self.verify(fresh)
        if self.k != fresh.k or not 0 <= self.filled < _BLOCK or self.rows < self.filled:
            raise ValueError("a refit is of other rows or features than it counts.")

    @property
    def enough(self) -> bool:
        return bool(self.rows >= 2 * self.k + 2)

    def update(self, model: AnnealedModel, rows: Rows, y: Array, w: Array | None) -> None:
        """Add rows since maturity."""
        at, n = 0, len(rows)
        while at < n:
            stop = min(n, at + _BLOCK - self.filled)
            to = self.block[self.filled : self.filled + stop - at]
            values = np.empty((stop - at, self.k))
            _core.pick(rows[at:stop].kernel, model.slot, values)
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
        """Weights (k, q), by slot, and intercepts (q,); with a ridge where the features are collinear."""
        weight, mean, moments = self._averages()
        k, A = self.k, moments / weight
        # of a constant column rounding is left
        usable = np.flatnonzero(A.diagonal()[:k] > (8 * np.finfo(np.float64).eps * mean[:k]) ** 2)
        if not fit_intercept:
            A = A + np.outer(mean, mean)
            usable = np.flatnonzero(A.diagonal()[:k] > 0)
        coef = np.zeros((k, len(mean) - k))
        if len(usable):
            unit = 1.0 / np.sqrt(A.diagonal()[usable])
            L, _ = cholesky(np.ascontiguousarray(A[np.ix_(usable, usable)] * unit[:, None] * unit))
            solved, _ = linalg.dpotrs(L, A[usable, k:] * unit[:, None], lower=1)
            coef[usable] = solved * unit[:, None]
        return coef, mean[k:] - mean[:k] @ coef if fit_intercept else np.zeros(coef.shape[1])
