"""Least squares on the k features that remain: the running averages for SFSA's refit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.rows import Array, Rows
from ...core.state import State, array, check_array, zeros
from ...statistics.linear_model import ridge_refit
from ...statistics.running import RunningAverages
from ...statistics.standardize import standardize

_BLOCK = 256  # rows are added to the averages in blocks of this size, so that sums do not depend on the calls


class AveragesRefit(State):
    """Running averages of the k features that are left: O(k^2) a row, O(k^3) to read their least squares."""

    features: NDArray[np.int64]
    filled: int
    averages: RunningAverages

    def __init__(self, features: NDArray[np.int64], q: int) -> None:
        k = len(features)
        averages = RunningAverages()
        averages.block = _BLOCK
        super().__init__(
            features=array(np.sort(features), "slot"),
            averages=averages.begin(k, q),
            filled=0,
            block=zeros(fixed=_BLOCK, other=k + q + 1),  # features, targets, weight of rows to come
        )

    def check(self, p: int, q: int) -> None:
        """Raise ValueError for state from a file that does not fit together."""
        check_array("features", self.features, np.int64, (len(self.features),))
        if (np.diff(np.concatenate([[-1], self.features, [p]])) <= 0).any():
            raise ValueError(f"the features of a refit are not among {p} features in ascending order.")
        self.verify(AveragesRefit(self.features, q))
        self.averages.check()
        if not 0 <= self.filled < _BLOCK:
            raise ValueError(f"a refit holds {self.filled} rows, but {_BLOCK} make a block.")

    def resize(self, p: int) -> None:
        """Nothing: new features are never among the k that remain."""

    @property
    def enough(self) -> bool:
        return self.averages.n_samples_ + self.filled >= 2 * len(self.features) + 2

    def update(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Add rows."""
        at, n, k = 0, len(rows), len(self.features)
        while at < n:
            stop = min(n, at + _BLOCK - self.filled)
            to = self.block[self.filled : self.filled + stop - at]
            values = np.empty((stop - at, k))
            _core.pick(rows[at:stop].kernel, self.features, values)
            to[:, :k], to[:, k:-1] = values, y[at:stop]
            to[:, -1] = 1.0 if w is None else w[at:stop]
            self.filled += stop - at
            if self.filled == _BLOCK:
                self._add_block(self.averages)
                self.filled = 0
            at = stop

    def _add_block(self, averages: RunningAverages) -> RunningAverages:
        x, y, w = np.split(self.block[: self.filled], [len(self.features), -1], axis=1)
        return averages.add(Rows(x.copy()), y.copy(), w[:, 0].copy())

    def solve(self, fit_intercept: bool) -> tuple[Array, Array]:
        """Weights (k, q) and intercepts (q,), with the ridge of the largest marginal likelihood."""
        averages = self._add_block(self.averages.copy()) if self.filled else self.averages
        s = standardize(averages, fit_intercept=fit_intercept)
        use = np.flatnonzero(s.usable)
        coef = np.zeros((s.p, s.q))
        coef[use] = ridge_refit(s, use)[0] * s.y_scale / s.x_scale[use, None]
        return coef, s.y_mean - s.x_mean @ coef if fit_intercept else np.zeros(s.q)
