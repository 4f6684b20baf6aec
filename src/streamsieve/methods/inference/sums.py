"""Means and co-moments of a few columns, which can be added and subtracted without the other columns."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ...core import linalg
from ...core.rows import Array
from ...statistics.fourth import FourthMoments
from ...statistics.moments import symmetric
from ...statistics.ridge import SINGULAR, block
from ...statistics.standardize import Standardized


class Sums(NamedTuple):
    """Weight, means (k + q,) and products about the means (k + q, k + q) of k features and q targets.

    Only the upper triangle of symmetric matrices is valid; `symmetric` returns the full matrix.
    """

    x: NDArray[np.int64]
    q: int
    n: float  # a row of weight w counts as w rows
    weight: float
    mean: Array
    products: Array
    whole_mean: Array  # of all columns

    def plus(self, other: Sums, sign: float = 1.0) -> Self:
        """Both together or, with sign -1, the sums without some of their rows."""
        weight = self.weight + sign * other.weight
        if weight <= 0:
            raise ValueError("All rows are in one fold; errors over folds need rows in at least two folds.")
        d = other.mean - self.mean
        share = sign * other.weight / weight
        products = (np.add if sign > 0 else np.subtract)(self.products, other.products)
        _add_square(products, d, self.weight * share)
        # if a column varies only in the other rows, a rounding error remains
        gone = np.flatnonzero(np.diag(products) <= SINGULAR * np.diag(self.products))
        if len(gone):
            products[gone] = 0.0
            products[:, gone] = 0.0
        mean = self.mean + share * d
        whole = self.whole_mean + share * (other.whole_mean - self.whole_mean)
        return self._replace(
            n=self.n + sign * other.n, weight=weight, mean=mean, products=products, whole_mean=whole
        )

    def about(self, point: Array) -> Array:
        """Sums of products about a point."""
        products = self.products.copy()
        _add_square(products, self.mean - point, self.weight)
        return products

    def _system(self, fit_intercept: bool) -> tuple[Array, Array, Array]:
        """Correlations of the features, their products with the targets in these units, and the units."""
        k = len(self.x)
        A = self.products if fit_intercept else self.about(np.zeros_like(self.mean))
        unit = np.sqrt(np.diag(A)[:k])
        inverse = np.divide(1.0, unit, out=np.zeros(k), where=unit > 0)
        R = A[:k, :k] * inverse
        R *= inverse[:, None]
        R[np.diag_indices(k)] = 1.0
        return R, A[:k, k:] * inverse[:, None], inverse

    def weights(self, fit_intercept: bool) -> Array:
        """Least squares (k, q); nan for features that these rows do not determine."""
        R, r, inverse = self._system(fit_intercept)
        b = np.full(r.shape, np.nan)
        on = inverse > 0
        if not len(R) or self.n - fit_intercept <= on.sum():  # too few rows: they fit any target
            return b
        L, failed = linalg.dpotrf(R.T, lower=1, clean=0)
        if not failed and on.all() and (L.diagonal() ** 2 > SINGULAR).all():
            b, _ = linalg.dpotrs(L, r, lower=1)
        elif on.any():
            some, R = np.flatnonzero(on), symmetric(R)
            some = some[np.sort(_pivots(block(R, some)))]
            L, _ = linalg.dpotrf(block(R, some).T, lower=1, clean=0)
            b[some], _ = linalg.dpotrs(L, r[some], lower=1)
        return b * inverse[:, None] if on.all() else np.where(on[:, None], b * inverse[:, None], np.nan)

    def bread(self, meat: Array, fit_intercept: bool) -> Array:
        """The diagonals (k, q) of A^-1 meat A^-1, for each target."""
        R, _, inverse = self._system(fit_intercept)
        out = np.empty((len(R), len(meat)))
        if not len(R):
            return out
        L, failed = linalg.dpotrf(R.T, lower=1, clean=0)
        assert not failed  # the support has been checked
        for t, each in enumerate(meat):
            half, _ = linalg.dpotrs(L, each * inverse[:, None] * inverse, lower=1)
            whole, _ = linalg.dpotrs(L, np.asfortranarray(half.T), lower=1)
            out[:, t] = whole.diagonal() * inverse**2
        return np.maximum(out, 0.0)

    def standardized(self, names: Any, fit_intercept: bool) -> Standardized:
        """The sums in the form that extractors read."""
        k = len(self.x)
        A = (self.products if fit_intercept else self.about(np.zeros_like(self.mean))) / self.weight
        deviation = np.sqrt(np.maximum(np.diag(A), 0.0))
        deviation[deviation <= 1e-15 * np.abs(self.mean)] = 0.0
        inverse = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
        R = symmetric(A) * inverse[:, None] * inverse
        R[np.diag_indices(len(R))] = 1.0
        return Standardized(
            np.ascontiguousarray(R[:k, :k]),
            np.ascontiguousarray(R[:k, k:]),
            deviation[:k] > 0,
            self.mean[:k],
            deviation[:k],
            self.mean[k:],
            deviation[k:],
            self.n,
            fit_intercept,
            None if names is None else np.array(names, dtype=object),
            self.n,
        )


def sums_of(averages: Any, support: NDArray[np.int64]) -> Sums:
    """The sums of some features and all targets; `support` ascending."""
    inner, center = averages, 0.0
    if isinstance(averages, FourthMoments):
        inner, center = averages.averages, averages.center
        if center is None:
            raise ValueError("These moments hold no rows; call update first.")
    moments, weight = inner.current()
    p, q = averages.n_features_in_, averages.n_targets_
    if not isinstance(averages, FourthMoments):
        p = moments.p  # with the products, where there are any
    columns = np.concatenate([support, np.arange(p, p + q)])
    offset = moments.sums[columns, -1].astype(np.float64) / weight
    products = moments.sums.take(columns, axis=0).take(columns, axis=1).astype(np.float64, copy=False)
    _add_square(products, offset, -weight)
    whole = moments.mean(weight)[: p + q] + center
    at = np.asarray(support, dtype=np.int64)
    return Sums(at, q, inner.effective_n_, weight, whole[columns], products, whole)


def _add_square(A: Array, x: Array, factor: float) -> None:
    """A += factor x x', in place, in the upper triangle."""
    linalg.dsyr(factor, x, a=A.T, lower=1, overwrite_a=1)


def independent(s: Standardized, support: NDArray[np.int64]) -> NDArray[np.int64]:
    """A linearly independent subset of the features; O(k^3 / 3), more if some are dependent."""
    if len(support) == 0:
        return support.astype(np.int64)
    R = block(s.R, support)
    L, failed = linalg.dpotrf(R.T, lower=1, clean=0)
    if not failed and (L.diagonal() ** 2 > SINGULAR * R.diagonal()).all():
        return support.astype(np.int64)
    return np.sort(support[_pivots(R)]).astype(np.int64)


def _pivots(R: Array) -> NDArray[np.int64]:
    """Rows of a correlation matrix that are independent, by pivoted Cholesky."""
    unit = 1 / np.sqrt(R.diagonal())
    _, order, rank, _ = linalg.dpstrf((R * unit[:, None] * unit).T.copy(order="F"), lower=1, tol=SINGULAR)
    return np.asarray(order[:rank], dtype=np.int64) - 1
