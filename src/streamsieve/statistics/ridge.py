"""Factorisation and solution of matrices of averages, with a ridge or if they are singular.

`cholesky` adds a jitter if a matrix is singular. `likeliest_ridge` finds the ridge of largest marginal
likelihood without the eigenvectors of all features. For targets y ~ N(X b, s) and b ~ N(0, s / (n lambda)),
with s at its maximum, minus twice the log-likelihood of lambda is, up to a constant, ``m log(1 - r'(R +
lambda)^-1 r) + log det(R + lambda) - p log lambda``, summed over the targets. R are the correlations of the
features, r those with the targets, and m the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..core import linalg
from ..core.rows import Array

# A pivot divided by the diagonal entry is the share of the variance of a feature that earlier features do
# not explain; below this value it is only rounding error.
SINGULAR = 1e-10
JITTER = 1e-8
# For a lambda, r'(R + lambda)^-1 r of each target, and log det(R + lambda) - p log lambda.
Spectrum = Callable[[float], tuple[Array, float]]

SMALLEST = 1e-6  # relative to the mean eigenvalue: smaller ridges let rounding errors appear in the weights
LARGEST = 1e4  # relative to the mean eigenvalue: larger ridges make the weights practically zero
TOLERANCE = 1e-3  # of log lambda: the likelihood is flat at its maximum
GOLDEN = (5**0.5 - 1) / 2
BLOCKED = 1500  # number of features above which a matrix exceeds the caches and blocks are faster
WIDTH = 48  # diagonals below the main one, and columns reduced at a time
ROWS = 5 * WIDTH  # rows updated at a time: a block and its update fit into the caches


def block(A: Array, rows: NDArray[np.int64]) -> Array:
    """A[rows][:, rows]; A itself, not a copy, if they are equal. Two calls of `take` are 4x faster than
    ix_."""
    if len(rows) == len(A) and bool((rows[1:] > rows[:-1]).all()):
        return A
    return A.take(rows, axis=0).take(rows, axis=1)


def cholesky(A: Array, ridge: float = 0.0) -> tuple[Array, float]:
    """Lower Cholesky factor of A + ridge I (upper triangle undefined), and the ridge.

    A is not changed. If it is singular, A + ridge diag(A) is factored instead, with a ridge of `JITTER`,
    multiplied by ten until it succeeds, and this ridge is returned.
    """
    L = A.T.copy(order="F")  # the transpose of a symmetric matrix in C order is a contiguous copy
    if ridge:
        L[np.diag_indices_from(L)] += ridge
    diagonal = A.diagonal() + ridge
    jitter = 0.0
    while True:
        L, failed = linalg.dpotrf(L, lower=1, clean=0, overwrite_a=1)
        if not failed and (L.diagonal() ** 2 > SINGULAR * diagonal).all():
            return L, max(ridge, jitter)
        jitter = 10 * jitter or JITTER
        if jitter > 1e8:  # only overflow can cause this in a matrix of averages
            raise ValueError("The averages have values that are not finite; rescale the data or the weights.")
        L = A.T.copy(order="F")
        L[np.diag_indices_from(L)] = diagonal * (1 + jitter)


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
    """The same if the rank of R (overwritten) is far below p.

    A pivoted Cholesky factorisation ends at the rank: R = G G', O(p^2 rank). With G'G = Q B Q' and r = G c,
    the weights ``(R + lambda)^-1 r`` are ``G Q (B + lambda)^-1 Q'c``.
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
        left = np.maximum(1.0 - explained, 1e-15)  # > 0 up to rounding
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
    """The minimum of f, unimodal between low and high, by golden sections.

    It only compares values, so that their rounding hardly affects the result.
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


class Band:
    """A = Q B Q', of a symmetric A (p, p), overwritten, with B tridiagonal or, for large p, of `WIDTH`.

    O(4 p^3 / 3), then O(p WIDTH^2) for each lambda. LAPACK's reduction to tridiagonal form reads the whole
    matrix for every column and is limited by memory bandwidth. The reduction to a band uses only matrix
    products (Bischof, Lang and Sun 2000), and a band is as good for solving.
    """

    def __init__(self, A: Array) -> None:
        self.p = len(A)
        self.blocked = self.p >= BLOCKED
        if self.blocked:
            self.band, self.reflectors = _reduce(A if A.flags.c_contiguous else A.T)
        elif self.p == 1:
            self.d, self.e = A.diagonal().copy(), np.zeros(1)  # of e, LAPACK wants one at least
        else:
            lwork, _ = linalg.dsytrd_lwork(self.p, lower=1)
            A = A if A.flags.f_contiguous else A.T
            self.c, self.d, self.e, self.tau, _ = linalg.dsytrd(A, lower=1, lwork=int(lwork), overwrite_a=1)

    def turn(self, z: Array) -> Array:
        """Q'z, of z (p, q)."""
        z = np.array(z, order="F")
        if self.blocked:
            for at, V, T in self.reflectors:
                z[at:] -= V @ (T.T @ (V.T @ z[at:]))
        elif self.p > 1:
            z[1:] = self._reflect("T", z)
        return z

    def turn_back(self, x: Array) -> Array:
        """Q x, of x (p, q)."""
        x = np.array(x, order="F")
        if self.blocked:
            for at, V, T in reversed(self.reflectors):
                x[at:] -= V @ (T @ (V.T @ x[at:]))
        elif self.p > 1:
            x[1:] = self._reflect("N", x)
        return x

    def _reflect(self, transposed: str, z: Array) -> Array:
        lwork = 64 * z.shape[1]
        turned: Array = linalg.dormqr("L", transposed, self.c[1:, :-1], self.tau, z[1:], lwork=lwork)[0]
        return turned

    def solve(self, lam: float, z: Array) -> tuple[Array, float]:
        """(B + lam)^-1 z and log det(1 + B / lam).

        Zeros and inf if rounding has made A indefinite by more than lam.
        """
        if self.blocked:
            band = self.band.copy(order="F")
            band[0] += lam
            L, failed = linalg.dpbtrf(band, lower=1, overwrite_ab=1)
            if not failed:
                x, _ = linalg.dpbtrs(L, z, lower=1)
                return x, float(np.log(L[0] ** 2 / lam).sum())
        else:
            D, E, failed = linalg.dpttrf(self.d + lam, self.e)
            if not failed:
                x, _ = linalg.dpttrs(D, E, z)
                return x, float(np.log(D / lam).sum())
        return np.zeros_like(z), np.inf


def _reduce(A: Array) -> tuple[Array, list[tuple[int, Array, Array]]]:
    """The diagonals of B, as LAPACK stores a lower band, and Q as blocks (first row, V, T) of 1 - V T V'.

    Uses the lower triangle of A (C order), in blocks of `ROWS` rows that are complete on the diagonal.
    """
    p = len(A)
    reflectors = []
    for at in range(WIDTH, p - 1, WIDTH):
        panel = A[at:, at - WIDTH : at]
        columns = min(panel.shape)
        below, T, _ = linalg.dgeqrt(columns, panel)
        panel[:] = np.triu(below)
        V = np.tril(below[:, :columns], -1)
        V[np.diag_indices(columns)] = 1.0
        _reflect_both_sides(A[at:, at:], V, T, -at % ROWS)
        reflectors.append((at, V, T))
    band = np.zeros((min(WIDTH + 1, p), p))
    for i in range(len(band)):
        band[i, : p - i] = A.diagonal(-i)
    return band, reflectors


def _reflect_both_sides(A: Array, V: Array, T: Array, first: int) -> None:
    """A <- (1 - V T V')' A (1 - V T V'), the lower triangle; `first` rows are up to the next whole block."""
    ends = [*range(first, len(A), ROWS), len(A)]
    blocks = [(begin, end) for begin, end in zip([0, *ends], ends) if end > begin]
    X = np.zeros(V.shape)  # A V
    for begin, end in blocks:
        X[begin:end] += A[begin:end, :end] @ V[:end]
        X[:begin] += A[begin:end, :begin].T @ V[begin:end]
    X = X @ T
    X -= V @ (T.T @ (V.T @ X)) / 2
    left, right = np.hstack([V, X]), np.hstack([X, V]).T
    for begin, end in blocks:
        A[begin:end, :end] -= left[begin:end] @ right[:, :end]
