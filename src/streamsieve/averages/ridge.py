"""The ridge of largest marginal likelihood, without the eigenvectors of all features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .. import linalg
from .band import Band

Array = NDArray[np.float64]
# For a lambda, r'(R + lambda)^-1 r of each target, and log det(R + lambda) - p log lambda.
Spectrum = Callable[[float], tuple[Array, float]]

SMALLEST = 1e-6  # of the mean eigenvalue: below, rounding would begin to show in the weights


def likeliest_ridge(R: Array, r: Array, m: float, least: float = 0.0) -> tuple[Array, float]:
    """The lambda >= `least` that minimises the deviance in the notes of `extract.ols`: its weights, and it.

    R (p, p), symmetric, is overwritten; r is (p, q), m the degrees of freedom.

    With R = Q B Q', B a band, ``r'(R + lambda)^-1 r`` and ``log det(R + lambda)`` are those of B and Q'r:
    O(p) for each lambda. The reduction costs O(4 p^3 / 3), a fifth of an eigendecomposition.
    """
    mean = float(R.diagonal().mean())
    form = Band(R)
    z = form.turn(r)

    def spectrum(lam: float) -> tuple[Array, float]:
        x, log_det = form.solve(lam, z)
        return (z * x).sum(axis=0), log_det

    lam = _likeliest(spectrum, m, mean, least)
    return form.turn_back(form.solve(lam, z)[0]), lam


def low_rank_ridge(R: Array, r: Array, m: float) -> tuple[Array, float]:
    """The same where R (overwritten) is of a rank far below p.

    A Cholesky factorisation that pivots ends at the rank: R = G G', O(p^2 rank). With G'G = Q B Q' and
    r = G c, the weights ``(R + lambda)^-1 r`` are ``G Q (B + lambda)^-1 Q'c``.
    """
    mean = float(R.diagonal().mean())
    factor, pivots, rank, _ = linalg.dpstrf(R, lower=1, overwrite_a=1)
    G = np.empty((len(r), rank))
    G[pivots - 1] = np.tril(factor[:, :rank])
    c, _ = linalg.dtrtrs(factor[:rank, :rank], r[pivots[:rank] - 1], lower=1)
    form = Band(G.T @ G)
    z, image = form.turn(c), form.turn(G.T @ r)

    def spectrum(lam: float) -> tuple[Array, float]:
        x, log_det = form.solve(lam, z)
        return (image * x).sum(axis=0), log_det

    lam = _likeliest(spectrum, m, mean)
    return G @ form.turn_back(form.solve(lam, z)[0]), lam


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
