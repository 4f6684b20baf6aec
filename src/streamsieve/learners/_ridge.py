"""The ridge of largest marginal likelihood, without the eigenvectors that `extract.ols` finds it by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import minimize_scalar

Array = NDArray[np.float64]


def likeliest_ridge(R: Array, r: Array, m: float, least: float) -> float:
    """The lambda >= `least` that minimises the deviance in the notes of `extract.ols`.

    R (p, p), lower triangle, in Fortran order, is overwritten; r is (p, q), m the degrees of freedom.

    With R = Q T Q', T tridiagonal, ``r'(R + lambda)^-1 r`` and ``log det(R + lambda)`` are those of T and
    Q'r: O(p) for each lambda, and one Householder reduction, a fifth of the work of an eigendecomposition.
    """
    p, q = r.shape
    mean = float(R.diagonal().mean())
    if p == 1:
        d, e, z = R.diagonal().copy(), np.zeros(0), r
    else:
        lwork, _ = lapack.dsytrd_lwork(p, lower=1)
        c, d, e, tau, _ = lapack.dsytrd(R, lower=1, lwork=int(lwork), overwrite_a=1)
        z = np.array(r, order="F")
        z[1:], _, _ = lapack.dormqr("L", "T", c[1:, :-1], tau, z[1:], lwork=64 * q)

    def deviance(log_lam: float) -> float:
        lam = np.exp(log_lam)
        D, E, failed = lapack.dpttrf(d + lam, e)
        if failed:  # rounding has made R indefinite by more than lambda
            return np.inf
        x, _ = lapack.dpttrs(D, E, z)
        left = np.maximum(1.0 - (z * x).sum(axis=0), 1e-15)
        return float(m * np.log(left).sum() + q * (np.log(D).sum() - p * log_lam))

    low = np.log(max(least, 1e-9 * mean))
    grid = np.linspace(low, max(low + 1, np.log(1e4 * mean)), 40)
    best = int(np.argmin([deviance(x) for x in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(deviance, bounds=around, method="bounded", options={"xatol": 1e-3}).x
    # the search does not try the ends of its interval
    return float(np.exp(low if deviance(low) <= deviance(found) else found))
