"""Squared loss from correlations: ridge by marginal likelihood, elimination, EBIC for the size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import linalg
from ..rows import Array
from .folds import log_choose
from .solve import next_size
from .store import Ints

MOST, LEAST = 8, -28  # quarter decades of the ridge: 100 ... 1e-7


@dataclass
class Correlations:
    """G (w, w) among columns, C (w, q) with the targets, both of unit variance; n rows.

    `mean` is what is subtracted of columns, `scale` what they are divided by, likewise of targets.
    """

    G: Array
    C: Array
    n: float
    mean: Array
    scale: Array
    mean_y: Array
    scale_y: Array

    def refit(self, kept: Ints) -> tuple[Array, Array]:
        """Weights (q, k) and intercepts of some columns at their likeliest ridge, in units of the sums."""
        ridge = likely_ridge(self.G[np.ix_(kept, kept)], self.C[kept], self.n)
        coef = (ridge_weights(self, kept, ridge) / self.scale[kept, None] * self.scale_y).T
        return coef, self.mean_y - coef @ self.mean[kept]


def standardised(
    H: Array, h: Array, yy: Array, shift: Array, standardize: bool, row_weight: float = 1.0
) -> Correlations:
    """Correlations from sums over rows, each of which weighs as much as `row_weight` says.

    H (w + 1, w + 1) and h (q, w + 1) are of [x - shift, 1]. With a `shift` (no intercept) the moments are
    about zero instead of the mean. A constant column has a row of zeros in G.
    """
    n = H[-1, -1]
    mean, mean_y = H[-1, :-1] / n, h[:, -1] / n
    center = -shift if len(shift) else mean  # what is subtracted from x - shift
    G = H[:-1, :-1] / n
    raw = np.diag(G).copy()
    G -= np.outer(center, mean) + np.outer(mean - center, center)
    C = h[:, :-1].T / n - np.outer(center, mean_y)
    var_y = yy / n
    if not len(shift):
        var_y = np.maximum(var_y - mean_y**2, 0.0)
    variance = np.diag(G).copy()
    varies = variance > 1e-12 * np.maximum(raw, center**2)
    scale = np.sqrt(np.where(varies, variance, 1.0))
    if not standardize:
        scale[:] = np.sqrt(variance[varies].mean()) if varies.any() else 1.0
    scale_y = np.sqrt(np.where(var_y > 0, var_y, 1.0))
    G /= scale[:, None]
    G /= scale
    C /= scale[:, None]
    C /= scale_y
    G[~varies] = 0
    G[:, ~varies] = 0
    C[~varies] = 0
    if len(shift):
        mean, mean_y = center, np.zeros_like(mean_y)
    return Correlations(G, C, float(n) / row_weight, mean, scale, mean_y, scale_y)


def one_thread() -> Any:
    """Context in which BLAS uses one thread: these matrices are small, and threads that wait for each other
    on a busy machine take longer."""
    return linalg.limit_threads(1)


def likely_ridge(G: Array, C: Array, n: float) -> float:
    """Ridge of the largest marginal likelihood, per row, shared by all targets: on a grid of quarter decades.

    Whole decades from above until the likelihood has fallen three times, then halves and quarters beside the
    best of them. A dozen Cholesky factorisations take less time than one eigendecomposition.
    """
    if not len(G):
        return 1.0
    values: dict[int, float] = {}  # by quarter decade

    def value(i: int) -> float:
        if i not in values:
            values[i] = evidence(G, C, n, 10.0 ** (i / 4)) if LEAST <= i <= MOST else -np.inf
        return values[i]

    falls, i = 0, MOST
    while i >= LEAST and falls < 3:
        falls = falls + 1 if value(i) < max(values.values()) else 0
        i -= 4
    best = max(values, key=value)
    for step in (2, 1):
        best = max((best, best + step, best - step), key=value)
    return float(10.0 ** (best / 4))


def evidence(G: Array, C: Array, n: float, ridge: float) -> float:
    """Log marginal likelihood of the targets at a ridge, up to a constant."""
    L = factor(G.copy(), ridge)
    if L is None:
        return -np.inf
    z, _ = linalg.dtrtrs(L, C, lower=1)
    rest = 1.0 - (z**2).sum(axis=0)
    if (rest <= 0).any():
        return -np.inf
    logdet = 2 * np.log(np.diag(L)).sum() - len(G) * np.log(ridge)
    return float(-0.5 * n * np.log(rest).sum() - 0.5 * C.shape[1] * logdet)


def factor(A: Array, ridge: float) -> Array | None:
    """Cholesky factor of A + ridge in the lower triangle, in place of A; None if that is not positive."""
    A[np.diag_indices_from(A)] += ridge
    L, failed = linalg.dpotrf(A.T, lower=1, overwrite_a=1, clean=0)  # A.T, which is A, in LAPACK's order
    return None if failed else L


def ridge_factor(data: Correlations, columns: Ints, ridge: float) -> Array:
    L = factor(data.G[np.ix_(columns, columns)], ridge)
    if L is None:
        raise np.linalg.LinAlgError(
            f"correlations of {len(columns)} columns plus a ridge of {ridge:.1e} are not positive definite."
        )
    return L


def ridge_weights(data: Correlations, columns: Ints, ridge: float) -> Array:
    if not len(columns):
        return data.C[columns]
    B, _ = linalg.dpotrs(ridge_factor(data, columns, ridge), data.C[columns], lower=1)
    return np.asarray(B)


def drop_to(columns: Ints, B: Array, size: int) -> Ints:
    strength = np.sqrt((B**2).sum(axis=1))
    return columns[np.sort(np.argsort(-strength, kind="stable")[:size])]


def select(data: Correlations, k: int, ridge: float) -> Ints:
    """k columns, by elimination at constant ridge; from 4 k on one at a time."""
    columns = np.flatnonzero(np.diag(data.G) > 0).astype(np.int32)
    while len(columns) > 4 * k:
        B = ridge_weights(data, columns, ridge)
        columns = drop_to(columns, B, max(next_size(len(columns), k), 4 * k))
    return one_by_one(data, columns, k, ridge)


def one_by_one(data: Correlations, columns: Ints, k: int, ridge: float) -> Ints:
    """The weakest column leaves, k are left; the inverse is updated, O(w^2) a column."""
    if len(columns) <= k:
        return columns
    L = ridge_factor(data, columns, ridge)
    M, _ = linalg.dpotrs(L, np.eye(len(columns), order="F"), lower=1, overwrite_b=1)
    B = M @ data.C[columns]
    stays = np.ones(len(columns), dtype=bool)
    for _ in range(len(columns) - k):
        strength = np.where(stays, (B**2).sum(axis=1), np.inf)
        j = int(np.argmin(strength[::-1]))  # of equal ones the last leaves
        j = len(columns) - 1 - j
        column, own = M[:, j].copy(), M[j, j]
        B -= np.outer(column / own, B[j])
        M = linalg.dger(-1 / own, column, column, a=M, overwrite_a=1)
        stays[j] = False
        M[j, j] = 1.0  # never again: its row is zero up to rounding, and the column does not return
    return columns[stays]


def ebic(data: Correlations, columns: Ints) -> float:
    """Extended BIC of the least-squares model of these columns."""
    p, w = int((np.diag(data.G) > 0).sum()), len(columns)
    if not w:
        return 0.0
    B = ridge_weights(data, columns, 1e-6)
    rest = np.maximum(1.0 - (B * data.C[columns]).sum(axis=0), 1e-12)
    return float(data.n * np.log(rest).sum() + w * data.C.shape[1] * math.log(data.n) + 2 * log_choose(p, w))


def select_auto(data: Correlations, ridge: float) -> Ints:
    """Columns of the least EBIC: along a coarse path, then one by one around its best size."""
    best: tuple[float, Ints] = (0.0, np.empty(0, dtype=np.int32))
    path: list[Ints] = []
    columns = np.flatnonzero(np.diag(data.G) > 0).astype(np.int32)
    while len(columns):
        path.append(columns)
        if len(columns) < data.n / 3:
            best = min(best, (ebic(data, columns), columns), key=lambda b: b[0])
        B = ridge_weights(data, columns, ridge)
        columns = drop_to(columns, B, min(len(columns) - 1, int(0.9 * len(columns))))
    size = len(best[1])
    columns = min((c for c in path if len(c) > size), key=len, default=best[1])
    low = max((len(c) for c in path if len(c) < size), default=0)
    while len(columns) > max(low, 1):
        columns = drop_to(columns, ridge_weights(data, columns, ridge), len(columns) - 1)
        if len(columns) < data.n / 3:
            best = min(best, (ebic(data, columns), columns), key=lambda b: b[0])
    return best[1]
