"""Two passes: the first ranks all features, the second keeps all rows of the best.

screen = Screen(Sieve(k=100, loss="logistic")).begin(p, q)
for rows, y, w in source:
    screen.update(rows, y, w)
sieve = screen.second_pass()
for rows, y, w in source:
    sieve.update(rows, y, w)
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..rows import Array, Rows
from ..state import State, zeros
from .sieve import Sieve
from .store import Ints


class Screen:
    """What a first pass learns: marginal statistics of all features, and a sieve that narrows as it goes.

    O(p) numbers for each output besides the memory of the sieve.
    """

    def __init__(self, sieve: Sieve) -> None:
        self.sieve = sieve
        self.state: State

    def begin(self, p: int, q: int) -> Self:
        self.sieve.begin(p, q)
        self.state = State(
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
        return self

    def update(self, rows: Rows, y: Array, w: Array | None = None) -> None:
        """Learn checked rows."""
        s, at = self.state, 0
        self.sieve.update(rows, y, w)
        while at < len(rows):
            part = rows[at : at + max(1, (1 << 20) // max(rows.p, 1))]
            stop = at + len(part)
            weight = np.ones(len(part)) if w is None else w[at:stop]
            self._measure(part, y[at:stop], weight)
            s.rows += len(part)
            s.values += part.n_values
            at = stop

    def _measure(self, rows: Rows, y: Array, w: Array) -> None:
        s = self.state
        wy = w[:, None] * y
        s.weight += float(w.sum())
        s.sum_y += wy.sum(axis=0)
        s.square_y += (wy * y).sum(axis=0)
        if rows.sparse:
            part = rows.tight()
            row, j, x = np.repeat(np.arange(len(rows)), np.diff(part.indptr)), part.indices, part.data
            x = np.nan_to_num(x.astype(np.float64))
            s.sum += np.bincount(j, w[row] * x, minlength=len(s.sum))
            s.square += np.bincount(j, w[row] * x**2, minlength=len(s.sum))
            for a in range(y.shape[1]):
                s.product[:, a] += np.bincount(j, wy[row, a] * x, minlength=len(s.sum))
            return
        X = np.nan_to_num(rows.to_array().astype(np.float64))
        if s.rows == 0:
            s.shift = X[0].copy()
        X -= s.shift
        s.sum += w @ X
        s.square += w @ X**2
        s.product += X.T @ wy

    def marginal(self) -> Array:
        """Squared correlation of each feature with the outputs, summed; 0 for a constant feature."""
        s = self.state
        n = max(s.weight, 1e-300)
        mean, mean_y = s.sum / n, s.sum_y / n
        variance = s.square / n - mean**2
        spread = np.maximum(s.square_y / n - mean_y**2, 1e-300)
        varies = variance > 1e-12 * (s.square / n)
        covariance = s.product / n - np.outer(mean, mean_y)
        out: Array = np.where(varies, (covariance**2 / spread).sum(axis=1) / np.where(varies, variance, 1), 0)
        return out

    def most_columns(self) -> int:
        """Columns of which the memory holds all rows, in float32."""
        s, sieve = self.state, self.sieve
        cost = 8 * len(s.sum_y) + 4 * sieve.q + 24
        if sieve.state.store is not None and sieve.state.store.layout == "csr":
            share = max(s.values, 1) / max(len(s.sum), 1)  # values of a mean column
            return int(max(sieve.bytes - s.rows * cost, 0) // (8 * share))
        return int(max(sieve.bytes // max(s.rows, 1) - cost, 0) // 4)

    def columns(self, most: int) -> Ints:
        """The best columns, increasing: by weight in a model of the candidates, or marginally."""
        score = self.marginal()
        joint = score / (1 + score.max(initial=0.0))  # below all candidates
        candidates, strength = self.sieve.strengths()
        joint[candidates] = 1 + strength
        varies = np.flatnonzero(score > 0)
        if len(varies) <= most:
            return varies.astype(np.int32)
        by_margin = rank(score)
        by_sieve = rank(joint)
        best = np.minimum(by_margin, by_sieve)
        best[score <= 0] = len(score)
        order = np.lexsort((by_sieve, best))
        return np.sort(order[:most]).astype(np.int32)

    def second_pass(self) -> Sieve:
        """A sieve that keeps only the best columns, of which it can hold all rows."""
        first = self.sieve
        most = max(self.most_columns(), first.least_width)
        second = Sieve(**first.values).begin(first.p, first.q)
        second.state.chosen = self.columns(most)
        return second


def rank(score: Array) -> NDArray[np.int64]:
    """Place of each number, largest first; ties go to the lower index."""
    out = np.empty(len(score), dtype=np.int64)
    out[np.argsort(-score, kind="stable")] = np.arange(len(score))
    return out
