"""Least squares on the features that SFSA has left, from running averages of the rows since."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..averages.model import finish
from ..averages.running import RunningAverages
from ..averages.standardize import standardize
from ._learner import Array, Core, same_shape
from ._rung import Rung, part_of

_BLOCK = 256  # rows that are handed to the running averages at a time


class Refit:
    """Running averages of the features that are left, and the least squares they give."""

    def __init__(self, k: int, q: int) -> None:
        self.averages = RunningAverages()
        self.block = np.zeros((_BLOCK, k + q + 1))  # features, targets, weight of rows to come
        self.filled = 0
        self.k = k

    def check(self, q: int) -> None:
        """Refuse state that came from a file and does not fit together."""
        same_shape("a refit's block", self.block, (_BLOCK, self.k + q + 1))
        seen = self.averages.n_features_in_
        if not 0 <= self.filled < _BLOCK or (seen is not None and seen != self.k):
            raise ValueError("a refit is of other rows or features than it says.")

    @property
    def enough(self) -> bool:
        return self.averages.n_samples_ + self.filled >= 2 * self.k + 2

    def take(self, rung: Rung, rows: Core, y: Array, w: Array | None) -> None:
        """Rows since maturity, in blocks that do not depend on how they come."""
        at, n = 0, len(y)
        while at < n:
            stop = min(n, at + _BLOCK - self.filled)
            to = self.block[self.filled : self.filled + stop - at]
            values = np.empty((stop - at, self.k))
            _core.pick(part_of(rows, at, stop), rung.slot, values)
            to[:, : self.k] = values
            to[:, self.k : -1] = y[at:stop]
            to[:, -1] = 1.0 if w is None else w[at:stop]
            self.filled += stop - at
            if self.filled == _BLOCK:
                self._add(self.averages)
                self.filled = 0
            at = stop

    def _add(self, averages: RunningAverages) -> None:
        rows = self.block[: self.filled]
        averages.update(rows[:, : self.k], rows[:, self.k : -1], rows[:, -1])

    def model(self, rung: Rung, fit_intercept: bool) -> tuple[NDArray[np.int64], Array, Array]:
        averages = self.averages.copy() if self.averages.n_samples_ else RunningAverages()
        if self.filled:
            self._add(averages)
        s = standardize(averages, fit_intercept=fit_intercept)
        model = finish(s, np.zeros((s.p, s.q)), "sfsa", refit=True, support=np.flatnonzero(s.usable))
        coef = np.atleast_2d(model.coef)
        return rung.id[: self.k], coef.T, np.atleast_1d(np.asarray(model.intercept, dtype=np.float64))
