"""Sets of groups of features and their least squares, for `obestsubset`."""

from __future__ import annotations

import numpy as np

from ...core.rows import Array
from ...statistics.standardize import Standardized, members
from .path import Ints

IMPROVES = 1e-9  # of the target's variance: less is rounding
EXPLAINED = 1e-8  # share of a direction's variance below which others explain it


class GroupSubset:
    """A set A of groups, and what its least squares fit explains: as `Subset`, a group for a feature.

    What a group would add is ``c_g' V_g^-1 c_g``, with V_g the part of its covariance that A does not
    explain; what is lost without a group of A is ``b_g' (G_gg)^-1 b_g``. O(m^3) for a set of m features, and
    one such fit for each group of A to find the best exchange.
    """

    def __init__(self, s: Standardized) -> None:
        self.R, self.r = s.R, s.r
        self.members = [at[s.usable[at]] for at in members(s)]
        self.members = [at for at in self.members if len(at)]
        self.exchanges = 0
        self.fit(np.empty(0, dtype=np.int64))

    @property
    def support(self) -> Ints:
        """The columns of the groups."""
        parts = [self.members[g] for g in self.at]
        return np.sort(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)

    def fit(self, at: Ints) -> None:
        """Become this set."""
        self.at = at
        parts = [self.members[g] for g in at]
        self.ends = np.cumsum([0, *map(len, parts)])
        self.columns = np.concatenate([*parts, np.empty(0, dtype=np.int64)]).astype(np.int64)
        S = self.R[self.columns]
        self.G = np.linalg.pinv(S[:, self.columns], rcond=EXPLAINED, hermitian=True)
        self.T = self.G @ S
        self.b = self.G @ self.r[self.columns]
        self.c = self.r - S.T @ self.b
        self.explained = float((self.b * self.r[self.columns]).sum())

    @property
    def forward(self) -> Array:
        """What the explained share grows by with each group, -1 for those of A and what A explains."""
        gain = np.full(len(self.members), -1.0)
        for g in np.setdiff1d(np.arange(len(gain)), self.at):
            at = self.members[g]
            V = self.R[np.ix_(at, at)] - self.R[np.ix_(at, self.columns)] @ self.T[:, at]
            values, vectors = np.linalg.eigh(V)
            left = values > EXPLAINED
            if left.any():
                u = vectors[:, left].T @ self.c[at]
                gain[g] = float((u**2 / values[left, None]).sum())
        return gain

    @property
    def backward(self) -> Array:
        """What it falls by without each group of A."""
        lost = np.empty(len(self.at))
        for i in range(len(lost)):
            mine = slice(self.ends[i], self.ends[i + 1])
            lost[i] = (self.b[mine] * np.linalg.lstsq(self.G[mine, mine], self.b[mine])[0]).sum()
        return lost

    def grow(self, k: int) -> None:
        """Add the group that explains most, until there are k."""
        while len(self.at) < k:
            gain = self.forward
            if gain.max(initial=-1.0) < 0:
                return
            self.fit(np.append(self.at, _first(gain)))

    def shrink(self, k: int) -> None:
        """Remove the group that explains least, until there are k."""
        while len(self.at) > k:
            self.fit(np.delete(self.at, _first(-self.backward)))

    def splice(self, max_exchange: int) -> None:
        """Exchange groups while the error falls: the best pair, or several at once by their sacrifices."""
        while len(self.at):
            at, explained = self._best_pair()
            for C in range(2, min(max_exchange, len(self.at), len(self.members) - len(self.at)) + 1):
                if explained > self.explained + IMPROVES:
                    break
                out = np.argsort(np.round(self.backward / IMPROVES), kind="stable")[:C]
                inwards = np.argsort(np.round(-self.forward / IMPROVES), kind="stable")[:C]
                at, explained = self._explained(np.append(np.delete(self.at, out), inwards))
            if explained <= self.explained + IMPROVES:
                return
            self.exchanges += len(np.setdiff1d(at, self.at))
            self.fit(at)

    def _explained(self, at: Ints) -> tuple[Ints, float]:
        other = object.__new__(GroupSubset)
        other.R, other.r, other.members = self.R, self.r, self.members
        other.fit(at)
        return at, other.explained

    def _best_pair(self) -> tuple[Ints, float]:
        best, most = self.at, self.explained
        other = object.__new__(GroupSubset)
        other.R, other.r, other.members = self.R, self.r, self.members
        for i in range(len(self.at)):
            other.fit(np.delete(self.at, i))
            gain = other.forward
            gain[self.at[i]] = -1.0
            g = _first(gain)
            if other.explained + gain[g] > most + IMPROVES:
                best, most = np.append(other.at, g), other.explained + gain[g]
        return best, most


def _first(gain: Array) -> int:
    """The place of the largest value; of those that only rounding tells apart, the first."""
    return int(np.argmax(gain >= gain.max() - IMPROVES))
