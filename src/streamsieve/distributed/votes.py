"""Two passes where p^2 is too much: units vote for candidates, then the averages of those are exact.

Pass one: every unit screens all its features (`sieve.screen`) and gives marginal statistics, which
merge exactly, and votes for those that its own model finds strongest, which add up. Pass two: running
averages of the candidates alone.
"""

from __future__ import annotations

from threading import RLock
from typing import Any, Self

import numpy as np

from ..params import ParamError
from ..rows import Array, Rows
from ..sieve.model import strengths
from ..sieve.screen import marginal, measure, new_marginals, rank
from ..sieve.sieve import Sieve
from ..sieve.store import Ints, Store
from ..sizes import EXTRA
from ..state import zeros

_MEMORY = 32 << 20  # of the sieve of a unit: it keeps O(n) of its rows, and ranks features quickly


class Votes:
    """What a unit says of all its features; used as a method is, by the same loop.

    Parameters
    ----------
    sieve : Sieve
        Whose parameters each unit screens with.
    most : int
        Features that a unit votes for: `most` votes for the strongest, one less for the next, and so on, each
        times the weight of its rows.
    """

    extracts = needs_passes = False
    uses_blas = grow = True
    limit, weight_limit = Sieve.limit, Sieve.weight_limit
    feature_names: Any = None

    def __init__(self, sieve: Sieve, most: int) -> None:
        self.sieve, self.most = sieve, most
        self.missing, self.sparse = sieve.missing, False
        self.p = self.q = 0
        self.state: Any = None
        self.learner: Any = None  # the sieve of a unit, until it has voted
        self.lock = RLock()

    @property
    def values(self) -> dict[str, Any]:
        return {**self.sieve.values, "most": self.most}

    def begin(self, p: int, q: int) -> Self:
        self.p, self.q = p, q
        memory = min(self.sieve.bytes, _MEMORY)
        self.learner = Sieve(**{**self.sieve.values, "memory": memory}).begin(p, q)
        self.state = new_marginals(p, q)
        return self

    def update(self, rows: Rows, y: Array, w: Array | None = None, cluster: Any = None) -> None:  # noqa: ARG002
        """Learn checked rows; columns beyond those before are new."""
        if not len(rows):
            return
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

    def candidates(self, most: int) -> Ints:
        """The features with the most votes, or the best marginal statistics; increasing."""
        score, votes = self.marginal(), self.state.votes
        varies = np.flatnonzero(score > 0)
        if len(varies) <= most:
            return varies.astype(np.int32)
        by_margin, by_votes = rank(score), rank(votes + score / (1 + score.max(initial=0.0)))
        best = np.where(score > 0, np.minimum(by_margin, by_votes), len(score))
        return np.sort(np.lexsort((by_votes, best))[:most]).astype(np.int32)

    def most_columns(self) -> int:
        """Columns of which the memory of a sieve holds all rows, as `Sieve` estimates them."""
        s = self.state
        cost = 8 * len(s.sum_y) + 4 * self.q + 24
        if self.sparse:
            share = max(s.values, 1) / max(len(s.sum), 1)  # values of a mean column
            return int(max(self.sieve.bytes - s.rows * cost, 0) // (8 * share))
        return int(max(self.sieve.bytes // max(s.rows, 1) - cost, 0) // 4)

    def __copy__(self) -> Votes:
        other = Votes(self.sieve, self.most)
        other.p, other.q, other.sparse = self.p, self.q, self.sparse
        other.state = None if self.state is None else self.state.copy()
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("lock", "learner")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=RLock(), learner=None)


def most_candidates(sieve: Sieve, q: int = 1) -> int:
    """Candidates whose correlations the memory of a sieve holds: four matrices at a time."""
    return int(((sieve.bytes + EXTRA) / 32) ** 0.5) - q - 2


def sieve_of_averages(sieve: Sieve, averages: Any, columns: Ints, p: int) -> Sieve:
    """A sieve for squared loss that has learned the rows of running averages of some columns of p.

    It keeps a summary of all rows: sums of products, which the averages hold.
    """
    if sieve.loss != "squared":
        raise ParamError("loss", sieve.loss, "expected 'squared', whose sums the averages hold.")
    averages.unpack()
    moments, weight = averages.current()
    M, q = moments.p, moments.q
    made = Sieve(**sieve.values).begin(p, q)
    s, upper = made.state, moments.sums.astype(np.float64)
    full = np.triu(upper) + np.triu(upper, 1).T
    x = np.r_[0:M, M + q]
    center = moments.center[M : M + q]
    s.chosen = columns
    s.store = store = Store.of(p, q, q, made.bytes, False, columns)
    store.shift[:] = moments.center[:M]
    store.sum[:], store.square[:] = full[:M, -1], full.diagonal()[:M]
    store.total = float(weight)
    store.present[:] = averages.n_samples_
    s.H = np.ascontiguousarray(full[np.ix_(x, x)])[None]
    s.h = np.ascontiguousarray(full[M : M + q][:, x] + center[:, None] * full[-1, x])
    s.yy = full.diagonal()[M : M + q] + 2 * center * full[-1, M : M + q] + center**2 * weight
    s.rows = int(averages.n_samples_)
    s.strata[0] = s.rows
    store.memory = made.bytes - s.H.nbytes
    return made
