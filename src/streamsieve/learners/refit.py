"""The weights of the features that a learner has selected, fitted again.

`fit`, which can read its rows once more, ends with `Refit`: a ridge on the selected columns alone, with the
loss of the task. A stream is learned once; `AveragesRefit` are the running averages that SFSA, which stops
choosing at some row, has of the rows since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, linalg
from ..averages.model import cholesky
from ..params import Bool, Param
from ..rows import Array, Rows
from ..state import State, array, check_array, zeros

if TYPE_CHECKING:
    from ..base import Method
    from .annealed import AnnealedModel

_BLOCK = 256  # rows that are added to the averages at a time

REFIT = Param(
    True,
    Bool(),
    "At the end of `fit`, fit the k selected features once more, on their own and by the loss of the task "
    "(logistic for labels, unless loss='squared'), with a ridge derived from the rows. Steps choose "
    "features well long before their weights have converged, and penalties shrink them; without it the "
    "weights are the method's own, as they are after `partial_fit`.",
)


class Refitted(State):
    """Weights of some features, in their own units."""

    features: NDArray[np.int64]
    weight: Array
    intercept: Array

    def __init__(self, features: NDArray[np.int64], weight: Array, intercept: Array) -> None:
        super().__init__(
            features=array(features, "slot"),
            weight=array(weight, "slot", "output"),
            intercept=array(intercept, "output"),
        )

    def check(self, p: int, q: int) -> None:
        """Raise ValueError for weights from a file that are not those of q outputs and some of p features."""
        k = len(self.features)
        check_array("features", self.features, np.int64, (k,))
        check_array("weight", self.weight, np.float64, (k, q))
        check_array("intercept", self.intercept, np.float64, (q,))
        if k and not 0 <= self.features.min() <= self.features.max() < p:
            raise ValueError(f"a feature of the refit is none of {p}.")


class Refit:
    """Collects the rows of the features that a method has selected, or of those given, and fits them."""

    def __init__(self, method: Method, features: NDArray[np.intp] | None = None) -> None:
        from ..sieve.sieve import Sieve

        self.method, self.heaviest = method, 0.0
        self.features = method.candidates() if features is None else features
        # with groups more than the method's k
        k = int(method.coefficients()[0].any(axis=0).sum()) if features is None else len(features)
        self.model = Sieve(
            k=max(1, k),
            loss="squared" if method.loss == "squared" else "logistic",
            fit_intercept=method.fit_intercept,  # type: ignore[attr-defined]
        )
        self.model.begin(len(self.features), method.q)

    @staticmethod
    def wanted(method: Any) -> bool:
        """Whether the method selects a number of features, and is to fit them again."""
        return bool(getattr(method, "refit", False)) and getattr(method, "k", None) is not None

    def update(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Add rows; values and targets beyond what a sieve holds in single precision end the refit."""
        if not len(self.features):
            return
        rows = rows.columns(self.features)
        values = rows.data if rows.values is None else rows.values
        limit = self.model.limit
        if np.abs(values).max(initial=0) > limit or np.abs(y).max(initial=0) > limit:
            self.features = self.features[:0]
            return
        if w is not None:  # only their ratios count
            if self.heaviest == 0:
                self.heaviest = float(w.max(initial=0))
            w = np.clip(w / self.heaviest, 1 / self.model.weight_limit, self.model.weight_limit)
        self.model.update(rows, y, w)

    def finish(self) -> None:
        """Let the method answer with the new weights, until it learns again."""
        if len(self.features):
            coef, intercept = self.model.coefficients()
            kept = coef.any(axis=0)
            self.method.state.refitted = Refitted(
                self.features[kept], np.ascontiguousarray(coef.T[kept]), intercept
            )


class AveragesRefit(State):
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

    def check(self, fresh: AveragesRefit) -> None:
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

    def restricted(self, columns: NDArray[np.int64]) -> AveragesRefit:
        """Those of some of the features."""
        q = len(self.mean) - self.k
        other = AveragesRefit(len(columns), q)
        used = np.concatenate([columns, np.arange(self.k, self.k + q)])
        other.rows, other.filled, other.weight = self.rows, self.filled, self.weight
        other.mean[:], other.moments[:] = self.mean[used], self.moments[np.ix_(used, used)]
        other.block[:, :-1], other.block[:, -1] = self.block[:, used], self.block[:, -1]
        return other

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
        """Weights (k, q), by slot, and intercepts (q,), with the ridge of the largest marginal likelihood."""
        from ..sieve.gram import likely_ridge  # which loads SciPy

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
            G, C = np.ascontiguousarray(R[np.ix_(x, x)]), R[np.ix_(x, y)]
            G[np.diag_indices_from(G)] += likely_ridge(G, C, weight)
            L, _ = cholesky(G)
            solved, _ = linalg.dpotrs(L, C, lower=1)
            coef[np.ix_(x, y - k)] = solved * unit[x][:, None] / unit[y]
        return coef, mean[k:] - mean[:k] @ coef if fit_intercept else np.zeros(coef.shape[1])
