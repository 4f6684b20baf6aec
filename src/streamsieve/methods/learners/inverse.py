"""Second moments of a stream with the inverse that least squares needs, both kept row by row in O(p^2)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core import linalg
from ...core.rows import Array, Rows
from ...core.state import State, optional, square, zeros
from ...statistics.linear_model import TIE, largest_rows
from ...statistics.ridge import block, cholesky, likeliest_ridge
from ...statistics.standardize import COPY
from ..averages.olsth import CROWDED

BLOCK = 64  # rows between two updates of the p x p matrices: BLAS adds 64 for the price of a dozen
DRIFT = 1e-7  # residual of the normal equations above which the inverse is computed again
LEAST = 1e-9  # smallest ridge as a share of the variances: below it, rounding dominates


class InverseMoments(State):
    """M = sum of v v', s = sum of v t, and P = (M + Lambda)^-1, v and t the innovations of the rows.

    `update` costs O(p^2) a row, `ridge_weights` after one more row O(p^2), `extract` O(k^2 + k^3) more.

    Rows are buffered in blocks of 64. A full block is added to M and subtracted from P by one symmetric
    product each (Woodbury). This does not depend on the calls that brought the rows, nor on reads in between,
    so that the state is a function of the rows alone, bit for bit. A read within a block of c rows gives ::

        beta = beta_0 + G (I + V G)^-1 (t - V beta_0),    G = P V',

    with V (c, p) the buffered rows and beta_0 = P s from the last block. A new row adds one column to G,
    one product with P: that is the O(p^2) of a row.

    Lambda = lam diag(var), the ridge, is set at rows 1, ..., 64, 128, 256, 512 and so on, when the variances
    (and lam, if it is derived) are updated and P is computed again, which costs O(p^3) but happens ever more
    rarely. So it fades like 1 / n relative to M. A feature that begins to vary later joins with the variance
    of that moment.
    """

    moments: Any
    inverse: Any
    # cached results of reads; not part of the state
    _read: tuple[Any, tuple[Array, Array]] | None = None
    _columns: tuple[Array, Array] | None = None  # G and V G, as far as `_ready`
    _ready = 0

    def __init__(self, p: int, q: int, ridge: float | Literal["auto"], intercept: bool) -> None:
        super().__init__(
            intercept=intercept,
            auto=ridge == "auto",
            lam=p / 10 if ridge == "auto" else max(float(ridge), LEAST),
            rows=0,
            filled=0,
            squared_weights=0.0,
            total=zeros(fixed=1),
            mean=zeros(feature=p),
            square=zeros(feature=p),
            first=zeros(feature=p),
            mean_y=zeros(output=q),
            square_y=zeros(output=q),
            xy=zeros(output=q, feature=p),
            block=zeros(fixed=BLOCK, feature=p),
            block_y=zeros(fixed=BLOCK, output=q),
            moments=optional(),  # lower triangles in column order, as BLAS updates them in place
            inverse=optional(),
            prior=zeros(feature=p),  # Lambda
            start=zeros(feature=p, output=q),  # beta_0
        )

    @property
    def p(self) -> int:
        return len(self.mean)

    def check(self) -> None:
        """Raise ValueError for state from a file that does not fit together."""
        for name in ("moments", "inverse"):
            a = getattr(self, name)
            if a is not None and (a.shape != (self.p, self.p) or a.dtype != np.float64):
                raise ValueError(f"{name} has shape {a.shape}, not {(self.p, self.p)}.")
            self._axes[name] = ("feature", "feature")
        if not 0 <= self.filled < BLOCK or self.rows < self.filled:
            raise ValueError(f"{self.filled} of {self.rows} rows are in a block of {BLOCK}.")
        if self.rows >= BLOCK and (self.moments is None or self.inverse is None):
            raise ValueError("the second moments are missing.")

    def resize(self, p: int) -> None:
        """Add features that were zero so far, or remove features that are zero."""
        if p == self.p:
            return
        super().resize(p)
        if self.auto and self.inverse is None:
            self.lam = p / 10
        self._read = self._columns = None
        self._ready = 0

    # ---------------------------------------------------------------- learning rows

    def update(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Learn rows in row order, with targets (n, q) and weights or None."""
        at = 0
        while at < len(y):
            stop = min(len(y), at + BLOCK - self.filled)
            part = None if w is None else w[at:stop]
            begun = _core.innovations(
                rows[at:stop].kernel,
                y[at:stop],
                part,
                self.intercept,
                self.total,
                self.mean,
                self.square,
                self.first,
                self.mean_y,
                self.square_y,
                self.xy,
                self.block,
                self.block_y,
                self.filled,
            )
            self.squared_weights += stop - at if part is None else float(part @ part)
            self.rows += stop - at
            self.filled += stop - at
            if begun:
                self._join()
            if self.filled == BLOCK:
                self._flush()
            at = stop

    def _flush(self) -> None:
        V = self.block
        if self.moments is None:
            self.moments, self._axes["moments"] = square(self.p)
        linalg.dsyrk(1.0, V.T, beta=1.0, c=self.moments, lower=1, overwrite_c=1)
        blocks = self.rows // BLOCK
        if blocks & (blocks - 1) == 0:
            self._renew()
        else:
            G = linalg.dsymm(1.0, self.inverse, V.T, lower=1)
            K = V @ G
            K[np.diag_indices(BLOCK)] += 1.0
            L, _ = linalg.dpotrf(K.T, lower=1, overwrite_a=1)
            U = linalg.dtrsm(1.0, L, G, side=1, lower=1, trans_a=1, overwrite_b=1)
            linalg.dsyrk(-1.0, U, beta=1.0, c=self.inverse, lower=1, overwrite_c=1)
            self._restart()
            if not self._missed() <= DRIFT:
                self._renew()
        self.filled = self._ready = 0

    def _restart(self) -> None:
        self.start = np.ascontiguousarray(times(self.inverse, self.xy.T))

    def _missed(self) -> float:
        """The largest residual of the normal equations, features in units of their deviations."""
        unit = np.sqrt(self.square + self.prior)
        left = times(self.moments, self.start) + self.prior[:, None] * self.start - self.xy.T
        size, over = np.abs(self.xy.T), unit[:, None] > 0
        most = np.divide(size, unit[:, None], out=np.zeros_like(size), where=over).max()
        gap = np.divide(np.abs(left), unit[:, None], out=np.zeros_like(size), where=over).max()
        return float(gap / most) if most > 0 else 0.0

    def _renew(self) -> None:
        """Update the ridge and compute the inverse again: O(p^3)."""
        assert self.moments is not None
        if self.auto:
            self.lam = self._likeliest()
        weight = float(self.total[0])
        self.prior = np.where(self.first > 0, max(self.lam, LEAST * weight) * self.square / weight, 0.0)
        self._axes["inverse"] = ("feature", "feature")
        self.inverse = A = self.moments.copy(order="F")
        diagonal = np.diag_indices(self.p)
        A[diagonal] = np.where(self.prior > 0, self.square + self.prior, 1.0)
        A, failed = linalg.dpotrf(A, lower=1, clean=0, overwrite_a=1)
        if failed:  # pragma: no cover - the ridge is far above rounding
            raise ValueError(f"The second moments are not positive definite with ridge={self.lam}; raise it.")
        self.inverse, _ = linalg.dpotri(A, lower=1, overwrite_c=1)
        self.inverse[diagonal] = np.where(self.prior > 0, self.inverse[diagonal], 0.0)
        self._restart()

    def _join(self) -> None:
        """Set the ridge of features that have begun to vary; earlier rows do not inform about them."""
        if self.inverse is None:
            return
        new = np.flatnonzero((self.prior == 0) & (self.first > 0))
        if len(new):
            self.prior[new] = self.lam * self.first[new]
            self.inverse[new, new] = 1.0 / self.prior[new]

    def _likeliest(self) -> float:
        """The ridge of largest marginal likelihood, in rows, of at least p / 10.

        Below p rows the likelihood often has its largest value at 0, where it ranks by noise.
        """
        assert self.moments is not None
        weight, least = float(self.total[0]), self.p / 10
        use, varying = np.flatnonzero(self.first > 0), np.flatnonzero(self.square_y > 0)
        if len(use) == 0 or len(varying) == 0:
            return least
        unit = 1.0 / np.sqrt(self.square[use])
        R = block(self.moments.T, use) * unit[:, None]
        R *= unit
        r = self.xy.T[np.ix_(use, varying)] * unit[:, None] / np.sqrt(self.square_y[varying])
        m = max(weight**2 / self.squared_weights - self.intercept, 1.0)
        return max(least, likeliest_ridge(R.T, r, m, least / weight)[1] * weight)

    # ---------------------------------------------------------------- reading

    def _variance(self) -> Array:
        return np.where(self.first > 0, self.square / (self.total[0] or 1.0), 0.0)  # or all weights are zero

    def deviation(self) -> Array:
        """Of each feature from its mean, (p,); 0 for those that do not vary."""
        return np.sqrt(self._variance())

    def ridge(self) -> float:
        """The ridge that is currently added to the standardised S_xx."""
        return self.lam / (float(self.total[0]) or 1.0)

    def ridge_weights(self) -> Array:
        """Least squares with the ridge on all features, (p, q)."""
        c = self.filled
        V = self.block[:c]
        if self.inverse is None:
            # the first block: P is diagonal, so the current variances can be used
            G = V * reciprocal(self.lam * self._variance())
            K = V @ G.T
        else:
            if self._columns is None:
                self._columns = np.empty((BLOCK, self.p)), np.empty((BLOCK, BLOCK))
            G, K = self._columns[0][:c], self._columns[1][:c, :c]
            for i in range(self._ready, c):
                G[i] = linalg.dsymv(1.0, self.inverse, V[i], lower=1)
                K[i, : i + 1] = V[: i + 1] @ G[i]
            self._ready = c
        if c == 0:
            return self.start
        A = np.array(K, order="F")
        A[np.diag_indices(c)] += 1.0
        L, _ = linalg.dpotrf(A, lower=1, clean=0, overwrite_a=1)
        left, _ = linalg.dpotrs(L, self.block_y[:c] - V @ self.start, lower=1)
        return self.start + G.T @ left

    def extract(self, k: int, standardize: bool = True) -> tuple[Array, Array]:
        """Weights (q, p) of the k best features, fitted again, and intercepts (q,)."""
        as_of = (self.rows, k, standardize)
        if self._read is None or self._read[0] != as_of:
            self._read = (as_of, self._extract(k, standardize))
        coef, intercept = self._read[1]
        return coef.copy(), intercept.copy()

    def _extract(self, k: int, standardize: bool) -> tuple[Array, Array]:
        scale = self.deviation()
        beta = self.ridge_weights()
        beta, usable = beta * scale[:, None] if standardize else beta, scale > 0
        support = best_rows(beta, usable, k)
        R = self._correlation(support, scale)
        while self.moments is not None:  # before row 64 columns may be equal by chance
            copies = support[(np.triu(R, 1) ** 2 > 1 - COPY["float64"]).any(axis=0)]
            if not len(copies):
                break
            usable[copies] = False  # it shares the weight of its column, and would take a place among the k
            support = best_rows(beta, usable, k)
            R = self._correlation(support, scale)
        coef = np.zeros(self.xy.shape)
        if len(support):
            weight, unit = float(self.total[0]), 1.0 / scale[support]
            ridge = self.ridge() if self.rows - self.intercept <= CROWDED * len(support) else 0.0
            L, _ = cholesky(R, ridge)
            solved, _ = linalg.dpotrs(L, self.xy.T[support] * (unit / weight)[:, None], lower=1)
            coef[:, support] = (solved * unit[:, None]).T
        return coef, self.mean_y - coef @ self.mean if self.intercept else np.zeros(len(self.mean_y))

    def _correlation(self, features: NDArray[np.int64], scale: Array) -> Array:
        """Correlations of these features (upper triangle), about zero without an intercept."""
        B = self.block[: self.filled].take(features, axis=1)
        A: Array = B.T @ B
        if self.moments is not None:
            A += self.moments.T.take(features, axis=0).take(features, axis=1)
        unit = 1.0 / scale[features]
        A *= unit[:, None] * (unit / float(self.total[0]))
        return A


def times(A: Array | None, B: Array) -> Array:
    """A B for a symmetric A, stored as lower triangle, and a B of few columns, where dsymm is slow."""
    assert A is not None
    out = np.empty(B.shape, order="F")
    for o in range(B.shape[1]):
        out[:, o] = linalg.dsymv(1.0, A, B[:, o], lower=1)
    return out


def reciprocal(a: Array) -> Array:
    """1 / a, and 0 where a is 0."""
    return np.divide(1.0, a, out=np.zeros_like(a), where=a > 0)


def best_rows(beta: Array, usable: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
    """The k features with the largest weights, ascending: those of `largest_rows`, in O(p) but for ties."""
    size = np.abs(beta[:, 0]) if beta.shape[1] == 1 else np.sqrt((beta * beta).sum(1))
    size = np.where(usable, size, 0.0)
    kept = np.empty(min(k, len(size)), dtype=np.int64)
    kept = kept[: _core.top_k(size, kept)]
    if len(kept) < k:
        return kept
    least = size[kept].min() - TIE * size.max()
    if np.count_nonzero(size >= least) > k:  # others differ by rounding only
        return np.sort(largest_rows(beta, size > 0, k))
    return kept
