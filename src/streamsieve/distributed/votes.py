"""Two passes where p^2 is too much: units vote for candidates, then the averages of those are exact.

Pass one: every unit screens all its features (`sieve.screen`) and gives marginal statistics, which
merge exactly, and votes for those that its own model finds strongest, which add up. Pass two: running
averages of the candidates alone.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .. import _core
from ..core.method import Method
from ..core.params import ParamError
from ..core.rows import Array, Rows
from ..core.state import array, zeros
from ..methods.averages.ols import OLS
from ..methods.sieve.read import row_numbers, strengths
from ..methods.sieve.screen import below_one, best_columns, marginal, measure, most_columns, new_marginals
from ..methods.sieve.sieve import Sieve
from ..methods.sieve.store import Ints, Store
from ..statistics.fold_averages import FoldAverages
from ..statistics.folds import FOLDS
from ..statistics.moments import symmetric

_MEMORY = 32 << 20  # of the sieve of a unit: it keeps O(n) of its rows, and ranks features quickly


class Votes(Method):
    """What a unit says of all its features; learned as any method is, by the same loop.

    Parameters
    ----------
    sieve : Sieve
        Whose parameters each unit screens with.
    most : int
        Features that a unit votes for: `most` votes for the strongest, one less for the next, and so on, each
        times the weight of its rows.
    """

    uses_blas = grow = True
    limit, weight_limit, tiny = Sieve.limit, Sieve.weight_limit, 0.0
    learner: Any = None  # the sieve of a unit, until it has voted

    def __init__(self, sieve: Sieve, most: int) -> None:
        self.sieve, self.most = sieve, most
        self.missing, self.sparse = sieve.missing, False
        self.p = self.q = 0
        self.state: Any = None

    @property
    def values(self) -> dict[str, Any]:
        return {**self.sieve.values, "most": self.most}

    def begin(self, p: int, q: int) -> Self:
        self.p, self.q = p, q
        memory = min(self.sieve.bytes, _MEMORY)
        self.learner = Sieve(**{**self.sieve.values, "memory": memory}).begin(p, q)
        self.state = new_marginals(p, q)
        return self

    def update(self, rows: Rows, y: Array, w: Array | None = None) -> None:
        """Learn checked rows; columns beyond those before are new."""
        self.resize(max(self.p, rows.p))
        self.sparse = self.sparse or rows.sparse
        measure(self.state, rows, y, w)
        if self.p > self.most:  # else all features are candidates
            self.learner.update(rows, y, w)

    def resize(self, p: int) -> None:
        if p > self.p:
            self.state.resize(p)
            if self.learner is not None:
                self.learner.resize(p)
            self.p = p

    def end_unit(self) -> None:
        """Vote, and forget the rows."""
        s = self.state
        s.votes, s._axes["votes"] = zeros(feature=self.p)
        if self.learner.state.store is not None:
            candidates, strength = strengths(self.learner)
            order = np.argsort(-strength, kind="stable")[: self.most]
            order = order[strength[order] > 0]
            s.votes[candidates[order]] = s.weight * (self.most - np.arange(len(order)))
        if not s.shift.any():
            s.shift = None  # not to be sent
        self.learner = None

    def merge(self, other: Votes, where: Any = None, p: int | None = None, *, follows: bool = False) -> None:  # noqa: ARG002
        """Add what other units say; their feature j is feature `where[j]`, None for j, of p."""
        p = max(self.p, other.p) if p is None else p
        self.resize(p)
        mine, theirs = self.state, other.state
        at = np.arange(other.p) if where is None else where
        total, square, product = theirs.sum, theirs.square, theirs.product
        here = np.zeros(p) if mine.shift is None else mine.shift
        there = 0.0 if theirs.shift is None else theirs.shift
        move = there - here[at]
        if np.any(move):  # sums about this shift
            square = square + move * (2 * total + theirs.weight * move)
            product = product + np.multiply.outer(move, theirs.sum_y)
            total = total + theirs.weight * move
            # a feature that the other units do not have is 0 there
            rest = np.setdiff1d(np.arange(p), at)
            mine.square[rest] += theirs.weight * here[rest] ** 2
            mine.product[rest] -= np.multiply.outer(here[rest], theirs.sum_y)
            mine.sum[rest] -= theirs.weight * here[rest]
        mine.sum[at] += total
        mine.square[at] += square
        mine.product[at] += product
        mine.votes[at] += theirs.votes
        for name in ("rows", "values", "weight", "sum_y", "square_y"):
            setattr(mine, name, getattr(mine, name) + getattr(theirs, name))
        self.sparse = self.sparse or other.sparse

    def marginal(self) -> Array:
        """Squared correlation of each feature with the outputs."""
        return marginal(self.state)

    def elected(self, most: int) -> Ints:
        """The features with the most votes, or the best marginal statistics; increasing."""
        score = self.marginal()
        return best_columns(score, self.state.votes + below_one(score), most)

    def most_columns(self) -> int:
        """Columns of which the memory of the sieve holds all rows."""
        return most_columns(self.state, self.q, self.sieve.bytes, self.sparse)

    def __copy__(self) -> Votes:
        other = Votes(self.sieve, self.most)
        other.p, other.q, other.sparse = self.p, self.q, self.sparse
        other.state = None if self.state is None else self.state.copy()
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "learner"}


class FoldedOLS(OLS):
    """Averages of the folds into which a sieve deals rows, by their content, so that both choose alike.

    It keeps the range of each feature, too, beyond which a sieve clips what it predicts.
    """

    def begin(self, p: int, q: int) -> Self:
        super().begin(p, q)
        self.state.add_fields(
            low=array(np.full(p, np.inf), "feature"), high=array(np.full(p, -np.inf), "feature")
        )
        return self

    def check_state(self) -> None:
        super().check_state()
        for name in ("low", "high"):
            limit = getattr(self.state, name)
            if not isinstance(limit, np.ndarray) or limit.shape != (self.p,) or np.isnan(limit).any():
                raise ValueError(f"{name} is not of {self.p} features.")

    def resize(self, p: int) -> None:
        s, more = self.state, max(0, p - len(self.state.low))
        fill = 0.0 if np.isfinite(s.low).any() else np.inf  # a feature that rows do not have is 0
        s.low, s.high = np.append(s.low, np.full(more, fill)), np.append(s.high, np.full(more, -fill))
        super().resize(p)

    def merge(self, other: Any, where: Any = None, p: int | None = None, *, follows: bool = False) -> None:
        p = max(self.p, other.p) if p is None else p
        theirs, at = other.state, np.arange(len(other.state.low)) if where is None else where
        rows = bool(np.isfinite(theirs.low).any())
        low, high = np.full(p, 0.0 if rows else np.inf), np.full(p, 0.0 if rows else -np.inf)
        low[at], high[at] = theirs.low, theirs.high
        super().merge(other, where, p, follows=follows)
        self.state.low, self.state.high = np.minimum(self.state.low, low), np.maximum(self.state.high, high)

    def _measure(self, rows: Rows) -> None:
        s = self.state
        if rows.sparse:
            part = rows.tight()
            low, high = np.full(rows.p, np.inf), np.full(rows.p, -np.inf)
            np.minimum.at(low, part.indices, part.data)
            np.maximum.at(high, part.indices, part.data)
            lacks = np.bincount(part.indices, minlength=rows.p) < len(rows)
            low[lacks], high[lacks] = np.minimum(low[lacks], 0), np.maximum(high[lacks], 0)
        else:
            X = rows.to_array()
            low, high = X.min(axis=0), X.max(axis=0)
        s.low[: rows.p], s.high[: rows.p] = (
            np.minimum(s.low[: rows.p], low),
            np.maximum(s.high[: rows.p], high),
        )

    def learn(self, rows: Rows, y: Array, w: Array | None, cluster: Any = None) -> int:  # noqa: ARG002
        key = np.empty(len(rows), dtype=np.uint32)
        weight = np.ones(len(rows), dtype=np.float32) if w is None else w.astype(np.float32)
        for at, part in rows.in_row_order():
            _core.sieve_row_keys(part.kernel, key[at])
        self._measure(rows)
        return super().learn(rows, y, w, (row_numbers(key, weight) % FOLDS).astype(np.int64))


def folded_averages() -> FoldedOLS:
    """What units learn for a sieve of squared loss."""
    return FoldedOLS(grow=True, se="folds", n_folds=FOLDS)


def most_candidates(sieve: Sieve, q: int = 1) -> int:
    """Candidates whose correlations the memory of a sieve holds, in every fold."""
    return int((sieve.bytes // 4 / (8 * FOLDS)) ** 0.5) - q - 2


def sieve_of_averages(
    sieve: Sieve, averages: FoldAverages, columns: Ints, p: int, limits: tuple[Array, Array] | None = None
) -> Sieve:
    """A sieve for squared loss that has learned the rows of averages of some columns of p, fold by fold.

    It keeps a summary of all rows: sums of products, which the averages hold. `limits` are the least and the
    largest value of each column; without them predictions are not clipped.
    """
    if sieve.loss != "squared":
        raise ParamError("loss", sieve.loss, "expected 'squared', whose sums the averages hold.")
    filled = [f for f, fold in enumerate(averages.folds_) if fold.n_samples_]
    first, M = averages.folds_[filled[0]].current()[0], len(columns)
    q, shift = first.q, first.center.copy()
    shift[M:] = 0.0  # sums of the targets are about zero
    made = Sieve(**sieve.values).begin(p, q)
    s, x = made.state, np.r_[0:M, M + q]
    s.H, s.h, s.yy = np.zeros((FOLDS, M + 1, M + 1)), np.zeros((FOLDS, q, M + 1)), np.zeros((FOLDS, q))
    for f in filled:
        moments, weight = averages.folds_[f].current()
        full = symmetric(moments.sums.astype(np.float64))
        away = np.append(moments.center - shift[: M + q], 0.0)
        last = full[-1] + weight * away
        full = full + np.outer(full[-1], away) + np.outer(away, last)
        s.H[f], s.h[f], s.yy[f] = full[np.ix_(x, x)], full[M : M + q][:, x], full.diagonal()[M : M + q]
    total = s.H.sum(axis=0)
    s.chosen, s.rows = columns, int(averages.n_samples_)
    s.store = store = Store.of(p, q, q, made.bytes, False, columns)
    store.shift[:], store.total = shift[:M], float(total[-1, -1])
    store.sum[:], store.square[:] = total[:M, -1], total.diagonal()[:M]
    store.present[:] = s.values = s.strata[0] = s.rows
    store.memory = made.bytes - s.H.nbytes
    store.low[:], store.high[:] = (
        (-np.inf, np.inf) if limits is None else (limits[0] - shift[:M], limits[1] - shift[:M])
    )
    return made
