"""Fourth moments of a few columns, for standard errors with heteroscedastic noise."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..core.rows import Array, Rows
from ..core.state import LockedState, optional
from .batch import check_batch
from .combine import both_locks
from .interactions import Pairs
from .moments import symmetric
from .running import RunningAverages

MOST = 200  # maximum number of columns; 201 columns and a target need 3.4 GB


class FourthMoments(LockedState):
    """Averages of all products of up to four of the columns (1, x, y), for `inference.ols(se="hc1")`.

    They are running averages of the products x_i x_j, x_i y and y^2 about a centre near the mean, because
    products of columns far from zero would lose all digits. Memory is 2 (p + q)^4 bytes: 15 MB for 50
    features and a target.

    Parameters
    ----------
    missing, dtype
        As in `RunningAverages`. Forgetting is not supported, because the errors need the squares of the
        weights.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import FourthMoments, inference
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> y = X[:, 0] + X[:, 1] * rng.normal(size=1000)
    >>> moments = FourthMoments().update(X, y)
    >>> inference.ols(moments, se="hc1").stderr.round(2)
    array([0.03, 0.05, 0.03])
    """

    center: Any

    def __init__(self, *, missing: Any = "error", dtype: Any = "float64") -> None:
        super().__init__(
            averages=RunningAverages(missing=missing, dtype=dtype, interactions=True),  # of (x, y) - center
            center=optional(),
            n_features_in_=None,
            n_targets_=None,
            names=optional(),
        )

    def begin(self, p: int, q: int, names: list[str] | None = None) -> Self:
        """Allocate the state for p columns and q targets."""
        if p > MOST:
            size = 8 * Pairs(p + q).n_features ** 2 / 1e9
            raise ValueError(
                f"The fourth moments of {p} columns need {size:.1f} GB. Pass at most {MOST} candidates, or "
                'FoldAverages with se="folds", which needs only averages.'
            )
        self.n_features_in_, self.n_targets_, self.names = p, q, names
        self.averages.begin(p + q, q)
        return self

    @property
    def n_samples_(self) -> int:
        return int(self.averages.n_samples_)

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows, as `RunningAverages.update` does; a row of weight w counts as w rows."""
        with self._lock:
            plain = RunningAverages(missing=self.averages.missing, dtype=self.averages.dtype)
            plain.names, plain.n_features_in_, plain.n_targets_ = (
                self.names,
                self.n_features_in_,
                self.n_targets_,
            )
            return self.add(*check_batch(plain, X, y, sample_weight))

    def add(self, rows: Rows, y: Array, w: Array | None = None, names: list[str] | None = None) -> Self:
        """Add validated rows with targets (n, q), without rows of weight 0."""
        with self._lock:
            if len(y) == 0:
                return self
            if self.n_features_in_ is None:
                self.begin(rows.p, y.shape[1], names)
            if rows.p != self.n_features_in_:
                raise ValueError(
                    f"The rows have {rows.p} columns, but the fourth moments have {self.n_features_in_}."
                )
            center = self.center
            try:
                with self.averages.all_or_none():
                    self._add_parts(rows, y, w)
            except BaseException:
                self.center = center
                raise
        return self

    def _add_parts(self, rows: Rows, y: Array, w: Array | None) -> None:
        step = 1024
        for at in range(0, len(y), step):
            Z = np.hstack([rows[at : at + step].to_array().astype(np.float64), y[at : at + step]])
            if self.center is None:
                self.center = np.nan_to_num(np.nanmean(np.where(np.isfinite(Z), Z, np.nan), axis=0))
            part = None if w is None else w[at : at + step]
            self.averages.add(Rows(Z - self.center), y[at : at + step], part)

    def merge(self, other: FourthMoments) -> Self:
        """Add the rows of other moments; the result equals moments of all rows, up to rounding."""
        if not isinstance(other, FourthMoments):
            raise TypeError(f"Expected FourthMoments, got {type(other).__name__}.")
        if other.center is None:
            return self
        with both_locks(self, other):
            if self.center is None:
                for name, value in other.copy().fields().items():
                    setattr(self, name, value)
                return self
            mine = (self.n_features_in_, self.n_targets_, self.names)
            theirs = (other.n_features_in_, other.n_targets_, other.names)
            if mine != theirs:
                raise ValueError(
                    f"These moments have {mine[0]} features and {mine[1]} targets, the others "
                    f"{theirs[0]} and {theirs[1]}; only moments of the same columns merge."
                )
            self.averages.merge(_moved(other.averages, other.center - self.center))
        return self

    def check(self) -> None:
        """Raise ValueError for an inconsistent state from a file."""
        if not isinstance(self.averages, RunningAverages) or not self.averages.interactions:
            raise ValueError("the fourth moments are not averages of products.")
        self.averages.check()
        p, q = self.n_features_in_, self.n_targets_
        if p is None:
            return
        if self.averages.n_features_in_ != p + q or self.averages.n_targets_ != q:
            raise ValueError(f"the fourth moments do not have {p} columns and {q} targets.")
        center = self.center
        if center is not None and (np.shape(center) != (p + q,) or not np.isfinite(center).all()):
            raise ValueError("the centre of the fourth moments is not a row.")


def _moved(averages: RunningAverages, delta: Array) -> RunningAverages:
    """Averages of the products of u + delta, from those of the products of u."""
    averages = averages.copy()
    if not delta.any():
        return averages
    moments, pairs = averages.current()[0], averages.pairs
    assert pairs is not None
    m, d = moments.p, len(delta)
    # (u + delta)_i (u + delta)_j = u_i u_j + delta_j u_i + delta_i u_j + delta_i delta_j
    from scipy.sparse import csr_array

    side, at = len(moments.sums), d + np.arange(len(pairs.left))
    row = np.concatenate([np.arange(side), at, at])
    column = np.concatenate([np.arange(side), pairs.left, pairs.right])
    value = np.concatenate([np.ones(side), delta[pairs.right], delta[pairs.left]])
    T = csr_array((value, (row, column)), shape=(side, side))
    # the sums are of z - c; the centres are mapped in the same way
    center = moments.center.copy()
    products = delta[pairs.left] * delta[pairs.right]
    center[:m] = (T @ np.append(moments.center, 0.0))[:m] + np.concatenate([delta, products])
    full = symmetric(moments.sums).astype(np.float64)
    moments.sums[:] = np.triu((T @ (T @ full).T).T)
    moments.center[:] = center
    return averages
