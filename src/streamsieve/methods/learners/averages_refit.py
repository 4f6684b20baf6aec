"""Least squares on a few features of a stream: the running averages for the refit of SFSA and TSGD."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.rows import Array, Rows
from ...core.state import State, array, check_array, optional, zeros
from ...statistics.linear_model import ridge_refit
from ...statistics.running import RunningAverages
from ...statistics.standardize import Standardized, standardize

_BLOCK = 256  # rows are added to the averages in blocks of this size, so that sums do not depend on the calls


Solution = tuple[NDArray[np.int64], Array, Array]


class StreamRefit(State):
    """The averages of the latest selection, and those of the one before until the latest has enough rows."""

    current: AveragesRefit | None
    previous: AveragesRefit | None

    def __init__(self) -> None:
        super().__init__(current=optional(), previous=optional())

    def begin(self, features: NDArray[np.int64], q: int) -> None:
        """Start the averages of newly selected features."""
        if self.current is not None and self.current.enough:
            self.previous = self.current
        self.current = AveragesRefit(features, q)

    def update(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Add rows."""
        if self.current is not None:
            self.current.update(rows, y, w)
            if self.current.enough:
                self.previous = None

    def solve(
        self,
        fit_intercept: bool,
        features: NDArray[np.int64] | None = None,
        keep: NDArray[np.int64] | None = None,
    ) -> Solution | None:
        """Least squares of these features, all of the selection by default: see `AveragesRefit.solve`.

        None while there are too few rows.
        """
        averages = self._readable()
        return None if averages is None else averages.solve(fit_intercept, features, keep)

    def copies(self, fit_intercept: bool, keep: NDArray[np.int64]) -> NDArray[np.int64]:
        """Features of the selection that are copies of others of it; none while there are too few rows."""
        averages = self._readable()
        return np.empty(0, np.int64) if averages is None else averages.copies(fit_intercept, keep)

    def _readable(self) -> AveragesRefit | None:
        averages = self.previous or self.current
        return averages if averages is not None and averages.enough else None

    def snapshot(self, features: NDArray[np.integer[Any]] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """All of it: its arrays have the selected features only."""
        return super().snapshot(None)

    def check(self, p: int, q: int) -> None:
        """Raise ValueError for state from a file that does not fit together."""
        for averages in (self.current, self.previous):
            if averages is not None:
                if not isinstance(averages, AveragesRefit):
                    raise ValueError(f"a refit is {type(averages).__name__}, not AveragesRefit.")
                averages.check(p, q)


class AveragesRefit(State):
    """Running averages of k features: O(k^2) a row, O(k^3) to read their least squares."""

    features: NDArray[np.int64]
    filled: int
    unit: float
    averages: RunningAverages
    _read: tuple[tuple[Any, ...], Standardized] | None = None  # what was read last, and what it depends on
    _solved: tuple[bytes | None, Solution] | None = None

    def __init__(self, features: NDArray[np.int64], q: int) -> None:
        k = len(features)
        averages = RunningAverages()
        averages.block = _BLOCK
        super().__init__(
            features=array(np.sort(features), "slot"),
            averages=averages.begin(k, q),
            filled=0,
            unit=0.0,  # of the weights, of which only the ratios count: their mean in the first block
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
        if not 0 <= self.unit < np.inf:
            raise ValueError(f"the unit of the weights of a refit is {self.unit}.")

    def resize(self, p: int) -> None:
        """Nothing: new features are never among the k that remain."""

    @property
    def enough(self) -> bool:
        return self.averages.n_samples_ + self.filled >= 2 * len(self.features) + 2

    def update(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Add rows."""
        self._read = self._solved = None
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
                self.unit = self._unit()
                self._add_block(self.averages)
                self.filled = 0
            at = stop

    def _unit(self) -> float:
        return self.unit or float(self.block[: self.filled, -1].mean())

    def _add_block(self, averages: RunningAverages) -> RunningAverages:
        x, y, w = np.split(self.block[: self.filled], [len(self.features), -1], axis=1)
        return averages.add(Rows(x.copy()), y.copy(), w[:, 0] / self._unit())

    def solve(
        self,
        fit_intercept: bool,
        features: NDArray[np.int64] | None = None,
        keep: NDArray[np.int64] | None = None,
    ) -> Solution:
        """Least squares of these features, all by default: those used, weights (m, q) and intercepts (q,).

        Not used are features without averages, constant features and copies of others; of equal columns the
        first one is used, or one to `keep`. The ridge is that of the largest marginal likelihood.
        """
        s = self._standardized(fit_intercept, keep)
        key = None if features is None else features.tobytes()
        if self._solved is None or self._solved[0] != key:
            asked = s.usable if features is None else s.usable & np.isin(self.features, features)
            use = np.flatnonzero(asked)
            weight = ridge_refit(s, use)[0] * s.y_scale / s.x_scale[use, None]
            intercept = s.y_mean - s.x_mean[use] @ weight if fit_intercept else np.zeros(s.q)
            self._solved = key, (self.features[use], weight, intercept)
        return self._solved[1]

    def copies(self, fit_intercept: bool, keep: NDArray[np.int64]) -> NDArray[np.int64]:
        """Features that are copies of others."""
        s = self._standardized(fit_intercept, keep)
        copies: NDArray[np.int64] = self.features[~s.usable & (s.x_scale > 0)]
        return copies

    def _standardized(self, fit_intercept: bool, keep: NDArray[np.int64] | None) -> Standardized:
        """The averages standardised; computed once for the same rows."""
        kept: tuple[int, ...] = ()
        if keep is not None and len(keep):
            kept = tuple(np.flatnonzero(np.isin(self.features, keep)).tolist())
        key = self.averages.n_samples_ + self.filled, fit_intercept, kept
        if self._read is None or self._read[0] != key:
            averages = self._add_block(self.averages.copy()) if self.filled else self.averages
            columns = np.array(kept, dtype=np.int64)
            self._read = key, standardize(averages, fit_intercept=fit_intercept, keep=columns)
            self._solved = None
        return self._read[1]
