"""Best subset by splicing: Zhu et al., PNAS 117 (2020), on running averages."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...core import linalg
from ...core.params import Int, Param, ParamError
from ...core.rows import Array
from ...statistics.constraints import Constraints
from ...statistics.fold_averages import N_FOLDS
from ...statistics.linear_model import LinearModel, as_standardized, check_k, finish
from ...statistics.ridge import SINGULAR, block, cholesky
from ...statistics.standardize import Standardized, members
from .method import CRITERION, HONEST, STABILITY, AveragesMethod, K
from .path import Ints, Path, largest_size, path_over_supports

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages

IMPROVES = (
    1e-9  # share of the target's variance: smaller gains are rounding, and exchanges for them could cycle
)
EXPLAINED = 1e-8  # share of a direction's variance below which other groups explain it
ANEW = 50  # updates of the fit before it is computed from scratch, so that rounding errors do not accumulate
ROUNDS = 3  # maximum number of sweeps down and up a path
PATIENCE = 20  # sizes without a lower BIC after which a path ends, or as many as the best has features
REFUSED = {
    name: "compares least squares fits without bounds; use OMCP or OFSA with bounds."
    for name in ("positive", "bounds")
}
MAX_EXCHANGE = Param(
    5,
    Int(1),
    "Maximum number of features exchanged at once; pairs are exchanged while any of them improves the fit.",
    symbol="C_max",
    live=True,
)


def obestsubset(
    averages: RunningAverages | Standardized,
    k: int,
    *,
    max_exchange: int = 5,
    fit_intercept: bool = True,
    **constraints: Any,
) -> LinearModel:
    """The k features with the smallest squared error that exchanging features can find.

    O(p k^2) for the start and O(p k) for each exchange. No exchange of two features improves the result. The
    units of the features do not matter.

    Parameters
    ----------
    averages : RunningAverages
    k : int in [0, p]
        Features to keep. Constant columns and linear combinations of other columns are never kept, so fewer
        remain if fewer than k columns are independent.
    max_exchange : int >= 1, default=5
        C_max: maximum number of features exchanged at once.
    fit_intercept : bool, default=True
    **constraints
        `keep`, `groups`, `group_categories` and a `penalty_factor` of 0, 1 or inf, as in the estimators.

    Returns
    -------
    LinearModel
        Its standard errors are conditional on the selection. `info` has `exchanges`, their number.

    Notes
    -----
    Let A be a set of k features, ``b`` its least squares weights, ``G = S_AA^-1``, ``c_j`` the covariance of
    feature j with the residual, and ``v_j`` the part of its variance that A does not explain.

    1. Exchange the pair i in A, j outside, for which the error falls most, until it falls for none.
    2. For C = 2, ..., C_max exchange the C features of A with the smallest backward sacrifice
       ``b_i^2 / G_ii`` and the C others with the largest forward sacrifice ``c_j^2 / v_j``. If the error
       falls, go to 1.

    The starts are forward selection of k features, and of up to 50 more from which the weakest are removed;
    the better result counts. A path starts each size from forward selection and from the size before, and
    goes down and up again while that finds better sets. Several targets share A, and their sacrifices are
    added.

    Differences from the paper: its sacrifices, ``b_i^2 / 2`` and ``c_j^2 / 2`` for standardised features,
    leave out how features are correlated. These are exact, what the error grows or falls by, and cost no
    more once there are averages; so is the gain of a pair. Any improvement counts, where the paper asks for
    a threshold; and it starts from the features with the largest marginal correlations.
    """
    Constraints(**constraints).check("OBestSubset", REFUSED)
    s = as_standardized(averages, fit_intercept, constraints=constraints)
    k, max_exchange = check_k(s, k), MAX_EXCHANGE.check("max_exchange", max_exchange)
    starts = [new_subset(s), new_subset(s)]
    for subset, beyond in zip(starts, (0, min(k, 50))):
        subset.grow(k + beyond)
        subset.shrink(k)
        subset.splice(max_exchange)
    best = better(*starts)
    empty = np.zeros((s.p, s.q))
    return finish(s, empty, "obestsubset", refit=True, support=best.support, exchanges=best.exchanges)


def first(gain: Array) -> int:
    """The place of the largest value; of those that only rounding tells apart, the first."""
    return int(np.argmax(gain >= gain.max() - IMPROVES))


class Subset:
    """A set A of features, its least squares fit, and what it tells about all other features.

    Attributes
    ----------
    at : ndarray of shape (k,)
        The features of A.
    T : ndarray of shape (k, p)
        G S_A.: the regression of every feature on those of A.
    b : ndarray of shape (k, q)
    c : ndarray of shape (p, q)
    v : ndarray of shape (p,)
    explained : float
        Share of the targets' variance that A explains, added over the targets.
    """

    def __init__(self, s: Standardized, at: Ints | None = None) -> None:
        self.R, self.r, self.usable = s.R, s.r, s.usable
        self.exchanges = 0
        self.fit(np.empty(0, dtype=np.int64) if at is None else at)

    @property
    def support(self) -> Ints:
        return self.at

    def fit(self, at: Ints) -> None:
        """Become this set."""
        self.at = at
        S = self.R[at]
        self.G = np.linalg.inv(S[:, at])
        self.T = self.G @ S
        self.b = self.G @ self.r[at]
        self.c = self.r - S.T @ self.b
        self.v = self.R.diagonal() - np.einsum("ij,ij->j", self.T, S)
        self.explained = float((self.b * self.r[at]).sum())
        self.updates = 0

    @property
    def free(self) -> NDArray[np.bool_]:
        """Features outside of A that it does not explain."""
        free = self.usable & (self.v > SINGULAR * self.R.diagonal())
        free[self.at] = False
        return free

    @property
    def backward(self) -> Array:
        """What the explained share falls by without each feature of A."""
        return (self.b**2).sum(axis=1) / self.G.diagonal()

    @property
    def forward(self) -> Array:
        """What it grows by with each other feature, -1 for those of A and what A explains."""
        free = self.free
        gain = np.full(len(self.v), -1.0)
        gain[free] = (self.c[free] ** 2).sum(axis=1) / self.v[free]
        return gain

    def add(self, j: int) -> None:
        t, v, c = self.T[:, j].copy(), self.v[j], self.c[j].copy()
        w = (self.R[j] - self.R[j, self.at] @ self.T) / v
        self.T = np.vstack([self.T - np.outer(t, w), w])
        corner = -t[:, None] / v
        self.G = np.block([[self.G + np.outer(t, t) / v, corner], [corner.T, np.array([[1 / v]])]])
        self.b = np.vstack([self.b - np.outer(t, c / v), c / v])
        self.c = self.c - np.outer(w, c)
        self.v = self.v - w**2 * v
        self.explained += float(c @ c) / v
        self.at = np.append(self.at, j)
        self._updated()

    def remove(self, i: int) -> None:
        """Remove the i-th feature of A."""
        g, b, w = self.G[i, i], self.b[i].copy(), self.T[i].copy()
        t = -np.delete(self.G[i], i) / g
        self.T = np.delete(self.T, i, axis=0) + np.outer(t, w)
        self.G = np.delete(np.delete(self.G, i, axis=0), i, axis=1) - np.outer(t, t) * g
        self.b = np.delete(self.b, i, axis=0) + np.outer(t, b)
        self.c = self.c + np.outer(w, b / g)
        self.v = self.v + w**2 / g
        self.explained -= float(b @ b) / g
        self.at = np.delete(self.at, i)
        self._updated()

    def _updated(self) -> None:
        self.updates += 1
        if self.updates >= ANEW:
            self.fit(self.at)

    def grow(self, k: int) -> None:
        """Add the feature that explains most, until there are k."""
        while len(self.at) < k:
            gain = self.forward
            if gain.max(initial=-1.0) < 0:
                return
            self.add(first(gain))

    def shrink(self, k: int) -> None:
        """Remove the feature that explains least, until there are k."""
        while len(self.at) > k:
            self.remove(first(-self.backward))

    def splice(self, max_exchange: int) -> None:
        """Exchange features while the error falls."""
        while len(self.at):
            while (pair := self._best_pair()) is not None:
                i, j = pair
                self.remove(i)
                self.add(j)
                self.exchanges += 1
            if not self._exchange_several(max_exchange):
                return

    def _best_pair(self) -> tuple[int, int] | None:
        """The feature of A (its place) and the one outside whose exchange explains most more, if any does."""
        free = np.flatnonzero(self.free)
        if len(free) == 0:
            return None
        g = self.G.diagonal()
        T = self.T[:, free]
        gain = np.zeros(T.shape)
        for c, b in zip(self.c[free].T, (self.b / g[:, None]).T):  # of each target
            gain += (c + T * b[:, None]) ** 2
        gain /= self.v[free] + T**2 / g[:, None]
        gain -= self.backward[:, None]
        i, j = divmod(first(gain.ravel()), len(free))
        return (i, int(free[j])) if gain[i, j] > IMPROVES else None

    def _exchange_several(self, most: int) -> bool:
        """Exchange C = 2, ..., `most` features by their sacrifices; whether the error has fallen."""
        out = np.argsort(np.round(self.backward / IMPROVES), kind="stable")
        inwards = np.argsort(np.round(-self.forward / IMPROVES), kind="stable")
        for C in range(2, min(most, len(self.at), int(self.free.sum())) + 1):
            at = np.append(np.delete(self.at, out[:C]), inwards[:C])
            L, jitter = cholesky(block(self.R, at))
            if jitter:  # those that enter explain each other
                continue
            u, _ = linalg.dtrtrs(L, self.r[at], lower=1)
            if float((u**2).sum()) > self.explained + IMPROVES:
                self.fit(at)
                self.exchanges += C
                return True
        return False


class GroupSubset(Subset):
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

    def add(self, j: int) -> None:
        self.fit(np.append(self.at, j))

    def remove(self, i: int) -> None:
        self.fit(np.delete(self.at, i))

    def splice(self, max_exchange: int) -> None:
        """Exchange groups while the error falls: the best pair, or several at once by their sacrifices."""
        while len(self.at):
            at, explained = self._after_best_pair()
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
        other = copy(self)
        other.fit(at)
        return at, other.explained

    def _after_best_pair(self) -> tuple[Ints, float]:
        best, most, other = self.at, self.explained, copy(self)
        for i in range(len(self.at)):
            other.fit(np.delete(self.at, i))
            gain = other.forward
            gain[self.at[i]] = -1.0
            g = first(gain)
            if other.explained + gain[g] > most + IMPROVES:
                best, most = np.append(other.at, g), other.explained + gain[g]
        return best, most


def new_subset(s: Standardized) -> Subset:
    """The empty set, of features or of groups."""
    factor = np.ones(1) if s.factor is None or s.group is not None else s.factor[s.usable]
    if s.box is not None:
        raise ParamError("bounds", "given", f"OBestSubset {REFUSED['bounds']}")
    if (factor != 1).any():
        raise ParamError(
            "penalty_factor",
            float(factor[factor != 1][0]),
            "expected 0, 1 or inf for OBestSubset, which has no penalty; pass OMCP with others.",
        )
    return Subset(s) if s.group is None else GroupSubset(s)


def better(a: Subset, b: Subset) -> Subset:
    """The one that explains more; the first, if that is rounding."""
    return b if b.explained > a.explained + IMPROVES else a


def subsets(s: Standardized, sizes: Ints | None, max_exchange: int) -> list[Ints]:
    """The best set found of each size, or of every size until the BIC has long been rising."""
    subset, forward = new_subset(s), new_subset(s)
    before = 0.0 if s.profile is None else s.profile.explained
    best: dict[int, tuple[float, Ints]] = {}
    lowest, lowest_k = np.inf, 0
    for k in range(largest_size(s) + 1) if sizes is None else sizes.tolist():
        forward.grow(k)
        subset.grow(k)
        other = copy(forward)  # no array is changed in place: it may share them
        for start in (subset, other):
            start.splice(max_exchange)
        subset = better(subset, other)
        best[len(subset.at)] = subset.explained, subset.at
        left = max(1.0 - (before + subset.explained) / s.q, IMPROVES)
        bic = s.n * np.log(left) + k * np.log(max(s.n, 1.0))
        if bic < lowest:
            lowest, lowest_k = bic, k
        elif sizes is None and k - lowest_k > max(PATIENCE, lowest_k):
            break
    sizes_found = sorted(best)
    for _ in range(ROUNDS):
        down = _revise(subset, best, sizes_found[::-1], max_exchange)
        up = _revise(subset, best, sizes_found, max_exchange)
        if not (down or up):
            break
    supports = []
    for k in sizes_found:
        subset.at = best[k][1]
        supports.append(subset.support)
    return supports


def _revise(subset: Subset, best: dict[int, tuple[float, Ints]], sizes: list[int], max_exchange: int) -> bool:
    """Search from the best set of each size for a better one of the next; whether any was found."""
    improved = False
    for before, k in pairwise(sizes):
        subset.fit(best[before][1])
        subset.grow(k)
        subset.shrink(k)
        subset.splice(max_exchange)
        if len(subset.at) == k and subset.explained > best[k][0] + IMPROVES:
            best[k] = subset.explained, subset.at
            improved = True
    return improved


class OBestSubset(AveragesMethod):
    """Best subset by splicing (Zhu et al. 2020): exchange features while the squared error falls.

    Rows are added to running averages, which need O(p^2) memory. The model is computed from them when it is
    needed, see `extract.obestsubset`. Labels are fitted as -1 and +1; more than two classes are learned one
    against the rest and share one support. Units of the features do not matter, with `standardize` or
    without.
    """

    k, criterion, n_folds, max_exchange = K, CRITERION, N_FOLDS, MAX_EXCHANGE
    honest, stability = HONEST, STABILITY

    options = ("max_exchange",)
    refused: ClassVar[dict[str, str]] = REFUSED

    def extract(self, s: Standardized) -> LinearModel:
        return obestsubset(s, min(self.k, s.p), max_exchange=self.max_exchange)

    def path(self, s: Standardized, sizes: Ints | None, ebic_gamma: float) -> Path:
        return path_over_supports(s, "obestsubset", subsets(s, sizes, self.max_exchange), ebic_gamma)
