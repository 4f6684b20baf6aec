"""A symmetric matrix as Q B Q', B with few diagonals: solutions of A + lambda for many lambda."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core import linalg

Array = NDArray[np.float64]

BLOCKED = 1500  # features from which a matrix is too large for the caches, and blocks pay
WIDTH = 48  # diagonals below the main one, and columns reduced at a time
ROWS = 5 * WIDTH  # that are updated at a time: a block and what is added to it stay in the caches


class Band:
    """A = Q B Q', of a symmetric A (p, p), overwritten, with B tridiagonal or, for large p, of `WIDTH`.

    O(4 p^3 / 3), then O(p WIDTH^2) for each lambda. LAPACK's reduction to tridiagonal form reads the whole
    matrix for every column, and beyond the caches waits for memory; a band takes products of matrices alone
    (Bischof, Lang and Sun 2000), and is as good for solving.
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

        Zeros and inf, where rounding has made A indefinite by more than lam.
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

    Of A, in C order, the lower triangle is used, in blocks of `ROWS` that are whole on the diagonal.
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
