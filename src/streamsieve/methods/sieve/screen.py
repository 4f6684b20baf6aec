"""Two passes: the first ranks all features, the second keeps all rows of the best.

first = Sieve(k=100, loss="logistic").screened().begin(p, q)
for rows, y, w in source:
    first.update(rows, y, w)
second = first.next_pass()  # None where all rows were kept
for rows, y, w in source:
    second.update(rows, y, w)

The first pass keeps marginal statistics of all features, O(p) numbers an output, beside the sieve, which
narrows as it goes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.rows import Array, Rows
from ...core.state import State, check_finite, zeros
from .store import Ints


def new_marginals(p: int, q: int) -> State:
    """Sums over rows: of the features less their first values, of the targets, and of the products."""
    return State(
        rows=0,
        values=0,
        weight=0.0,
        shift=zeros(feature=p),
        sum=zeros(feature=p),
        square=zeros(feature=p),
        product=zeros(feature=p, output=q),
        sum_y=zeros(output=q),
        square_y=zeros(output=q),
    )


def measure(s: State, rows: Rows, y: Array, w: Array | None) -> None:
    """Add rows to the sums; missing values count as zero."""
    w = np.ones(len(rows)) if w is None else w
    wy = w[:, None] * y
    s.weight += float(w.sum())
    s.sum_y += wy.sum(axis=0)
    s.square_y += (wy * y).sum(axis=0)
    if rows.sparse:
        part = rows.tight()
        row, j, x = np.repeat(np.arange(len(rows)), np.diff(part.indptr)), part.indices, part.data
        x = np.nan_to_num(x.astype(np.float64))
        met, j = np.unique(j, return_inverse=True)  # O(values), however wide the rows are
        s.sum[met] += np.bincount(j, w[row] * x, minlength=len(met))
        s.square[met] += np.bincount(j, w[row] * x**2, minlength=len(met))
        for a in range(y.shape[1]):
            s.product[met, a] += np.bincount(j, wy[row, a] * x, minlength=len(met))
    else:
        X = np.nan_to_num(rows.to_array().astype(np.float64))
        if s.rows == 0:
            s.shift = X[0].copy()
        X -= s.shift
        s.sum += w @ X
        s.square += w @ X**2
        s.product += X.T @ wy
    s.rows += len(rows)
    s.values += rows.n_values


def check_marginals(s: State, p: int, q: int) -> None:
    """Raise ValueError for invalid sums from a file."""
    if not isinstance(s, State):
        raise ValueError("the sums of the first pass are invalid.")
    s.verify(new_marginals(p, q), "first_pass.")
    check_finite(s, "first_pass.")
    if not min(s.rows, s.values, s.weight) >= 0:
        raise ValueError("the first pass counts less than nothing.")


def marginal(s: State) -> Array:
    """Squared correlation of each feature with the outputs, summed; 0 for a constant feature."""
    n = max(s.weight, 1e-300)
    mean, mean_y = s.sum / n, s.sum_y / n
    variance = s.square / n - mean**2
    spread = np.maximum(s.square_y / n - mean_y**2, 1e-300)
    varies = variance > 1e-12 * (s.square / n)
    covariance = s.product / n - np.outer(mean, mean_y)
    out: Array = np.where(varies, (covariance**2 / spread).sum(axis=1) / np.where(varies, variance, 1), 0)
    return out


def row_bytes(targets: int, q: int) -> int:
    """Bytes of a row that a sieve stores, besides its values."""
    return 8 * targets + 4 * q + 24


def most_columns(s: State, q: int, memory: int, sparse: bool) -> int:
    """Columns of which the memory of a sieve holds all rows measured, in float32."""
    cost = row_bytes(len(s.sum_y), q)
    if sparse:
        share = max(s.values, 1) / max(len(s.sum), 1)  # values of a mean column
        return int(max(memory - s.rows * cost, 0) // (8 * share))
    return int(max(memory // max(s.rows, 1) - cost, 0) // 4)


def below_one(score: Array) -> Array:
    """The scores, in the same order, all below 1."""
    return score / (1 + score.max(initial=0.0))


def best_columns(score: Array, joint: Array, most: int) -> Ints:
    """At most so many columns that vary, increasing: the best by marginal `score`, or by `joint` scores."""
    varies = np.flatnonzero(score > 0)
    if len(varies) <= most:
        return varies.astype(np.int32)
    by_joint = rank(joint)
    best = np.minimum(rank(score), by_joint)
    best[score <= 0] = len(score)
    order = np.lexsort((by_joint, best))
    return np.sort(order[:most]).astype(np.int32)


def rank(score: Array) -> NDArray[np.int64]:
    """Place of each number, largest first; ties go to the lower index."""
    out = np.empty(len(score), dtype=np.int64)
    out[np.argsort(-score, kind="stable")] = np.arange(len(score))
    return out
