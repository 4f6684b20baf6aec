"""The ridge of largest marginal likelihood, without the eigenvectors of all features.

Targets y ~ N(X b, s), b ~ N(0, s / (n lambda)): up to a constant, minus twice the log-likelihood of lambda,
s at its own maximum, is ``m log(1 - r'(R + lambda)^-1 r) + log det(R + lambda) - p log lambda``, summed over
the targets, R the correlations of the features and r those with the targets, m the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..core import linalg
from .band import Band

Array = NDArray[np.float64]
# For a lambda, r'(R + lambda)^-1 r of each target, and log det(R + lambda) - p log lambda.
Spectrum = Callable[[float], tuple[Array, float]]

SMALLEST = 1e-6  # of the mean eigenvalue: below, rounding would begin to show in the weights
LARGEST = 1e4  # of the mean eigenvalue: above, the weights are zero but for this share
TOLERANCE = 1e-3  # of log lambda: the likelihood is flat at its maximum
GOLDEN = (5**0.5 - 1) / 2


def likeliest_ridge(R: Array, r: Array, m: float, least: float = 0.0) -> tuple[Array, float]:
    """The weights at the likeliest lambda >= `least`, and that lambda.

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
    """The lambda >= `least` of least deviance, to a thousandth."""

    def deviance(log_lam: float) -> float:
        explained, spread = spectrum(float(np.exp(log_lam)))
        left = np.maximum(1.0 - explained, 1e-15)  # > 0 but for rounding
        return float(m * np.log(left).sum() + len(left) * spread)

    # The likelihood can have two modes: a grid of half decades finds the basin, a search its bottom. At the
    # upper end the weights are all but zero.
    low = np.log(max(least, SMALLEST * mean))
    grid = np.linspace(low, max(low + 1, np.log(LARGEST * mean)), 21)
    best = int(np.argmin([deviance(x) for x in grid]))
    if best == 0 and deviance(low + TOLERANCE) > deviance(low):
        return float(np.exp(low))
    return float(np.exp(minimum(deviance, grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])))


def minimum(f: Callable[[float], float], low: float, high: float) -> float:
    """Where f, with one minimum between low and high, has it: by golden sections.

    It only compares values, so that their rounding does not show in the result.
    """
    inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    f_inner, f_outer = f(inner), f(outer)
    while high - low > TOLERANCE:
        if f_inner < f_outer:
            high, outer, f_outer = outer, inner, f_inner
            inner = high - GOLDEN * (high - low)
            f_inner = f(inner)
        else:
            low, inner, f_inner = inner, outer, f_outer
            outer = low + GOLDEN * (high - low)
            f_outer = f(outer)
    return (low + high) / 2
