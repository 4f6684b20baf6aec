"""The ridge of largest marginal likelihood, without the eigenvectors of all features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .. import linalg

Array = NDArray[np.float64]
# For a lambda, r'(R + lambda)^-1 r of each target, and log det(R + lambda) - p log lambda.
Spectrum = Callable[[float], tuple[Array, float]]

SMALLEST = 1e-6  # of the mean eigenvalue: below, rounding would begin to show in the weights


def likeliest_ridge(R: Array, r: Array, m: float, least: float = 0.0) -> float:
    """The lambda >= `least` that minimises the deviance in the notes of `extract.ols`.

    R (p, p), lower triangle, in Fortran order, is overwritten; r is (p, q), m the degrees of freedom.

    With R = Q T Q', T tridiagonal, ``r'(R + lambda)^-1 r`` and ``log det(R + lambda)`` are those of T and
    Q'r: O(p) for each lambda, and one Householder reduction, a fifth of the work of an eigendecomposition.
    """
    p, q = r.shape
    mean = float(R.diagonal().mean())
    if p == 1:
        d, e, z = R.diagonal().copy(), np.zeros(1), r  # of e, LAPACK wants one at least
    else:
        lwork, _ = linalg.dsytrd_lwork(p, lower=1)
        c, d, e, tau, _ = linalg.dsytrd(R, lower=1, lwork=int(lwork), overwrite_a=1)
        z = np.array(r, order="F")
        z[1:], _, _ = linalg.dormqr("L", "T", c[1:, :-1], tau, z[1:], lwork=64 * q)

    def spectrum(lam: float) -> tuple[Array, float]:
        D, E, failed = linalg.dpttrf(d + lam, e)
        if failed:  # rounding has made R indefinite by more than lambda
            return np.zeros(q), np.inf
        x, _ = linalg.dpttrs(D, E, z)
        return (z * x).sum(axis=0), float(np.log(D / lam).sum())

    return _likeliest(spectrum, m, mean, least)


def low_rank_ridge(R: Array, r: Array, m: float) -> tuple[Array, float]:
    """The same and the weights (p, q) that go with it, where R (overwritten) is of a rank far below p.

    A Cholesky factorisation that pivots ends at the rank: R = G G', O(p^2 rank). With G'G = V diag(g) V' and
    r = G c, the weights ``(R + lambda)^-1 r`` are ``G V (g + lambda)^-1 V'c``.
    """
    mean = float(R.diagonal().mean())
    factor, pivots, rank, _ = linalg.dpstrf(R, lower=1, overwrite_a=1)
    G = np.empty((len(r), rank))
    G[pivots - 1] = np.tril(factor[:, :rank])
    g, V = np.linalg.eigh(G.T @ G)
    g = np.maximum(g, np.finfo(np.float64).tiny)
    u = V.T @ (G.T @ r)  # of V'c times g

    def spectrum(lam: float) -> tuple[Array, float]:
        return (u * u / (g * (g + lam))[:, None]).sum(axis=0), float(np.log1p(g / lam).sum())

    lam = _likeliest(spectrum, m, mean)
    return G @ (V @ (u / (g * (g + lam))[:, None])), lam


def _likeliest(spectrum: Spectrum, m: float, mean: float, least: float = 0.0) -> float:
    def deviance(log_lam: float) -> float:
        explained, spread = spectrum(float(np.exp(log_lam)))
        left = np.maximum(1.0 - explained, 1e-15)  # > 0 but for rounding
        return float(m * np.log(left).sum() + len(left) * spread)

    # The likelihood can have two modes: a grid finds the basin, a search its bottom. At the upper end the
    # weights are all but zero.
    low = np.log(max(least, SMALLEST * mean))
    grid = np.linspace(low, max(low + 1, np.log(1e4 * mean)), 51)
    best = int(np.argmin([deviance(x) for x in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    from scipy.optimize import minimize_scalar  # loaded when a ridge is asked for: it takes its time

    found = minimize_scalar(deviance, bounds=around, method="bounded", options={"xatol": 1e-3}).x
    # the search does not try the ends of its interval
    return float(np.exp(low if deviance(low) <= deviance(found) else found))
