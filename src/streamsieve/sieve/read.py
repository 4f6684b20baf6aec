"""Reading a model from stored rows: elimination at the ridge, scaling and size that held-out rows prefer."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..rows import Array
from .folds import ERRORS, FOLDS, clearly_worse, sizes_to
from .solve import Fit, Problem, Start, Weights
from .store import Ints

STEP = 10**0.5  # the search moves by half decades of the ridge
LOWEST, HIGHEST = -14, 2  # half decades: 1e-7 ... 10
HELD = 4000  # held-out rows are enough: with more, fewer folds serve
MEASURED = 8000  # rows of a fold whose losses are kept
TELLING = 100  # rows of a fold that can tell which ridges are not worth the other folds
FURTHEST = 4  # decades between the ridge of an elimination and that of its refit
WIDEST, TIMES = 1 << 14, 400  # columns at which an elimination begins, or so often k: the full model's best
CHEAP = 30_000_000  # products of a walk over the folds that serve, at least one
LEAST = 0.01  # share of a model of k columns that fewer beat, so that each of them has a weight


@dataclass
class Fold:
    weight: Weights  # zero for what is held out
    total: float
    held: Ints
    starts: dict[int, Fit] = field(default_factory=dict)  # full models, by half decade


def folds_of(problem: Problem, one: bool) -> list[Fold]:
    store = problem.store
    n, weight = store.n, store.weight[: store.n]
    enough = min(HELD * FOLDS / max(n, 1), CHEAP / max(store.values() * problem.c, 1))
    count = 1 if one else int(np.clip(np.ceil(enough), 1, FOLDS))
    folds = []
    for j in range(count):
        held = store.fold[:n] == j
        if held.all() or not held.any():
            continue
        lost = float(weight[held].sum(dtype=np.float64))
        part = np.where(held, np.float32(0), weight)
        rows = np.flatnonzero(held).astype(np.int32)
        folds.append(Fold(part, problem.total - lost, rows[:: -(-len(rows) // MEASURED)]))
    return folds


def held_losses(problem: Problem, fit: Fit, fold: Fold) -> Array:
    """Losses of the rows that are left out, times their weights, of which the largest counts 1.

    At most 1e30, so that nothing overflows: counts can be predicted as wrong as that.
    """
    weight = problem.store.weight[: problem.store.n]
    losses = problem.losses(fit)[fold.held] * (weight[fold.held] / weight.max())
    return np.minimum(losses, 1e30).astype(np.float32)


#: Losses of held-out rows, fold by fold, for each decade between the ridges of elimination and refit.
Table = dict[int, list[Array]]
Fits = dict[tuple[int, int], list[Fit]]  # by half decade of the ridge and number of the size, fold by fold


def least(table: Table) -> int:
    """The decade of the refit that has the least loss."""
    return min(table, key=lambda decade: sum(float(rows.sum(dtype=np.float64)) for rows in table[decade]))


class Search:
    """Held-out losses of eliminations, by ridge and size, in one scaling of the columns.

    Without `k` all sizes, until one is chosen. What is left of an elimination may be refitted in another
    scaling: words are ranked by one, and predict by another.
    """

    def __init__(self, problem: Problem, active: Ints, k: int | None, one_fold: bool = False) -> None:
        self.problem, self.active = problem, active
        self.refit_problem = problem
        self.folds = folds_of(problem, one_fold)
        # a ridge is compared along steps that are coarser than those of the final elimination
        self.share = 0.8 if problem.store.n * len(active) * problem.c > CHEAP // 10 else 0.9
        self.tables: dict[int, list[Table]] = {}  # by half decade of the ridge, for each size
        self.smallest: dict[int, list[Fit]] = {}  # fold by fold, of the last size, where rows are few
        self.mixes = k is not None and (problem.rows < 1000 or self.rows_are_few)  # see `mixture`
        self.open = k is None and bool(self.folds)
        self.sizes = self.all_sizes() if self.open else [min(10 if k is None else k, len(active))]
        held = sum(len(fold.held) for fold in self.folds)
        self.noisy = held < 1000  # few rows: the mean of two sizes is less noisy
        if not self.open and self.noisy and 2 * self.k < len(active):
            self.sizes = [2 * self.k, self.k]
        widest = max(WIDEST, 2 * self.sizes[0] if self.open else TIMES * self.k)
        self.widest = len(active) if one_fold else min(widest, len(active))

    @property
    def k(self) -> int:
        return self.sizes[-1]

    def all_sizes(self) -> list[int]:
        """From as many columns as there are rows down to one."""
        rows = int(np.count_nonzero(self.problem.store.weight[: self.problem.store.n]))
        return [w for w in sizes_to(len(self.active)) if w <= rows] or [1]

    # ---------------------------------------------------------------- losses

    @property
    def full_model(self) -> int:
        """Half decade of the ridge at which the model of all columns has the least held-out loss."""
        return self.full[1]

    @cached_property
    def full(self) -> tuple[float, int]:
        """That loss, and that half decade."""
        problem, best, worse = self.problem, (np.inf, HIGHEST), 0
        fits = [problem.zero(self.active) for _ in self.folds]
        # it only tells where to search
        tolerance = 2e-2 if self.rows_are_few and len(self.folds) > 1 else 1e-1
        for i in range(HIGHEST if self.rows_are_few else 0, LOWEST, -2):
            fits = problem.solve(
                [Start(fit, STEP**i, f.weight, f.total, ()) for fit, f in zip(fits, self.folds)], tolerance
            )
            loss = sum(held_losses(problem, *pair).sum(dtype=np.float64) for pair in zip(fits, self.folds))
            for fit, fold in zip(fits, self.folds):
                fold.starts[i] = fit = strongest(fit, self.widest)
                if fit.B.nbytes * len(fold.starts) * len(self.folds) > 8 << 20:
                    del fold.starts[max(fold.starts)]
            worse = 0 if loss < best[0] else worse + 1
            best = min(best, (loss, i))
            if worse == 2:
                break
        return best

    @cached_property
    def rows_are_few(self) -> bool:
        """Whether a marginal ranking may beat a joint one: not with many rows for each column."""
        return self.problem.rows < 5 * len(self.active)

    def start(self, fold: Fold, i: int) -> Fit:
        """The model of all columns of a fold at the nearest half decade that is known."""
        near = min(fold.starts, key=lambda j: (abs(j - i), -j), default=None)
        return self.problem.zero(self.active) if near is None else fold.starts[near]

    def measured(self, i: int) -> int:
        """Folds whose losses are known at this half decade."""
        return len(self.tables[i][0][0]) if i in self.tables else 0

    def whole(self) -> list[int]:
        """Half decades that were measured on all folds."""
        return [i for i in self.tables if self.measured(i) == len(self.folds)]

    def measure(self, halves: Sequence[int], most: int | None = None) -> None:
        """Losses of eliminations at these half decades, on all folds or on the first of them."""
        folds = self.folds[:most]
        for done in {self.measured(i) for i in halves} - {len(self.folds)}:
            self._measure([i for i in halves if self.measured(i) == done], folds[done:])

    def _measure(self, halves: list[int], folds: list[Fold]) -> None:
        """Losses on more folds: of the eliminations, and of their refits by larger and smaller ridges."""
        if not folds:
            return
        jobs = [(i, fold) for i in halves for fold in folds]
        starts = [Start(self.start(f, i), STEP**i, f.weight, f.total, self.sizes) for i, f in jobs]
        paths = self.problem.eliminate(starts, share=self.share)
        n = len(folds)
        fits: Fits = {}
        for a, i in enumerate(halves):
            self.tables.setdefault(i, [{} for _ in self.sizes])
            if self.mixes:
                self.smallest.setdefault(i, []).extend(path[-1] for path in paths[a * n : (a + 1) * n])
            for s in range(len(self.sizes)):
                fits[i, s] = [self.to_refit(path[s]) for path in paths[a * n : (a + 1) * n]]
        if self.refit_problem is not self.problem:
            fits = self._refit(fits, folds, 0)
        for at, found in fits.items():
            self._add(*at, 0, found, folds)
        for sign in (-1, 1):
            going = fits
            for decade in range(1, FURTHEST + 1):
                going = {at: found for at, found in going.items() if self._worth_refit(*at, sign, decade, n)}
                going = self._refit(going, folds, sign * decade)
                for at, found in going.items():
                    self._add(*at, sign * decade, found, folds)

    def to_refit(self, fit: Fit) -> Fit:
        """The same model in the scaling of the refit."""
        one, other = self.problem.scale[fit.columns], self.refit_problem.scale[fit.columns]
        return fit._replace(B=fit.B / one * other)

    def _refit(self, fits: Fits, folds: list[Fold], decade: int) -> Fits:
        """Refits of these columns so many decades from the ridge of the elimination."""
        starts = [
            Start(fit, STEP ** (i + 2 * decade), fold.weight, fold.total, ())
            for (i, _), found in fits.items()
            for fit, fold in zip(found, folds)
        ]
        solved = self.refit_problem.solve(starts) if starts else []
        n = len(folds)
        return {at: solved[a * n : (a + 1) * n] for a, at in enumerate(fits)}

    def _add(self, i: int, s: int, decade: int, fits: list[Fit], folds: list[Fold]) -> None:
        losses = [held_losses(self.refit_problem, *pair) for pair in zip(fits, folds)]
        self.tables[i][s].setdefault(decade, []).extend(losses)

    def _worth_refit(self, i: int, s: int, sign: int, decade: int, n: int) -> bool:
        """Whether a refit so many decades away is tried: as on the folds before these n; on the first ones
        while it gets better, and far from the best size one decade only."""
        table = self.tables[i][s]
        if len(table[0]) > n:
            return sign * decade in table
        if not LOWEST <= i + 2 * sign * decade <= HIGHEST + 1:
            return False
        if decade > 1:
            now, before = (sum(r.sum() for r in table[sign * d]) for d in (decade - 1, decade - 2))
            if not now < before:
                return False
        down = sign < 0 and decade == 1  # by all sizes: the fewer the columns, the smaller their ridge
        return not self.open or down or not clearly_worse(self._rows(table), self.rows(i))

    @staticmethod
    def _rows(table: Table) -> Array:
        return np.concatenate(table[least(table)])

    def rows(self, i: int) -> Array:
        """Losses of the held-out rows: the mean over the sizes; of the best one while none is chosen."""
        each = [self._rows(table) for table in self.tables[i]]
        return min(each, key=np.mean) if self.open else np.mean(each, axis=0)

    def loss(self, i: int) -> float:
        return float(self.rows(i).mean(dtype=np.float64))

    def shared_rows(self, *halves: int) -> list[Array]:
        """`rows` at these half decades, of the folds that all of them have."""
        rows = [self.rows(i) for i in halves]
        shared = min(map(len, rows))
        return [each[:shared] for each in rows]

    # ---------------------------------------------------------------- choice

    def decades(self) -> list[int]:
        """Ridges around that of the full model; where rows are few also those of a marginal ranking."""
        low, high = max(self.full_model - 2, LOWEST), self.full_model + 2
        return list(range(low, (max(high, 0) if self.rows_are_few else high) + 1, 2))

    def best_decade(self) -> int:
        """The decade of least loss, of those that were measured on all folds.

        A ridge far above that of the full model, where the ranking is marginal, is taken only where it is
        better by a standard error.
        """
        low = min(self.tables)
        while not self.open and low - 2 >= LOWEST and low + 2 in self.tables:
            above, here = self.shared_rows(low + 2, low)
            if low != min(self.whole(), key=self.loss) or not clearly_worse(above, here, 1.0):
                break  # small ridges take long, and are alike
            low -= 2
            self.measure([low])
        whole, nearest = self.whole(), self.full_model + 2
        best = min(whole, key=self.loss)
        near = min((i for i in whole if i <= nearest), key=self.loss, default=best)
        return best if clearly_worse(self.rows(near), self.rows(best), 1.0) else near

    def between(self, i: int) -> int:
        """The half decade of least loss beside a decade: few rows cannot tell it, many by a parabola."""
        if self.noisy:
            return i
        if self.rows_are_few:
            beside = [j for j in (i - 1, i + 1) if LOWEST <= j <= HIGHEST]
            self.measure(beside)
            return min((i, *beside), key=self.loss)
        if i - 2 not in self.tables or i + 2 not in self.tables:
            return i
        around = self.shared_rows(i - 2, i, i + 2)
        left, middle, right = (float(rows.mean(dtype=np.float64)) for rows in around)
        bend = left - 2 * middle + right
        return i + int(np.clip(np.rint((left - right) / bend), -1, 1)) if bend > 0 else i

    def choose_size(self) -> None:
        """The fewest columns whose loss is within some standard errors of the least.

        The mean loss over all ridges: that of the best one alone is noisy where rows are few. None at all
        where even the least is hardly below that of the constant.
        """
        curve = [
            np.mean([self._rows(self.tables[i][s]) for i in self.whole()], axis=0)
            for s in range(len(self.sizes))
        ]
        best = min(curve, key=np.mean)
        # losses of three and more count by their logarithm: one row must not decide this
        if not clearly_worse(np.arcsinh(self.rows_of_constant()), np.arcsinh(best), 1.5):
            self.open, self.sizes = False, [0]
            return
        s = max(s for s, rows in enumerate(curve) if not clearly_worse(rows, best, ERRORS))
        kept = slice(max(s - 1, 0) if self.noisy else s, s + 1)
        self.open, self.sizes = False, self.sizes[kept]
        self.tables = {j: tables[kept] for j, tables in self.tables.items()}

    def mixture(self, i: int) -> list[Part]:
        """Models along an elimination whose mean is the answer: that of k columns.

        Where rows are few and held-out ones clearly prefer fewer columns, those that are as good as the best;
        the other columns have small weights.
        """
        parts = [(self.k, self.tables[i][-1])]
        if self.mixes and self.k > 1:
            below = copy.copy(self)
            below.sizes, below.tables, below.smallest = halves_of(self.k), {}, {}
            below.folds = [replace(f, starts={i: fit}) for f, fit in zip(self.folds, self.smallest[i])]
            below.measure([i])
            parts += zip(below.sizes, below.tables[i])
        rows = [self._rows(table) for _, table in parts]
        best = min(rows, key=np.mean)
        near = [not clearly_worse(each, best, 1.0) for each in rows]
        share = (1 - LEAST) / sum(near)
        shares = [1.0] if near[0] else [LEAST, *(share * good for good in near[1:])]
        refits = [Part(size, STEP ** (i + 2 * least(table)), s) for (size, table), s in zip(parts, shares)]
        return [part for part in refits if part.share]

    def rows_of_constant(self) -> Array:
        """Losses of the held-out rows by the model without columns."""
        fits = [self.problem.constant(fold.weight, fold.total) for fold in self.folds]
        return np.concatenate([held_losses(self.problem, *pair) for pair in zip(fits, self.folds)])

    def at(self, ridge: float) -> Choice:
        """A ridge that is known."""
        if self.open and len(self.active):
            i = int(np.clip(np.rint(np.log(ridge) / np.log(STEP)), LOWEST, HIGHEST))
            self.measure([i])
            self.choose_size()
        return Choice(self, ridge, [Part(self.k, ridge)])


def choose(searches: list[Search]) -> Choice:
    """The scaling, ridge and size of least held-out loss.

    Whole decades first, of every scaling: on one fold, and those that are not clearly worse there on the
    others too; with many rows, then a half decade beside the best. Refits are in the scaling that suits the
    full model.
    """
    if not searches[0].folds or not len(searches[0].active):
        return Choice(searches[0], 1.0, [Part(searches[0].k, 1.0)])
    best_full = min(searches, key=lambda search: search.full[0])
    for search in searches:
        search.refit_problem = best_full.problem
    most = 1 if len(searches[0].folds[0].held) >= TELLING else None
    for search in searches:
        search.measure(search.decades(), most)
    tried = [(search, i) for search in searches for i in search.decades()]
    search, i = min(tried, key=lambda one: one[0].loss(one[1]))
    best = search.rows(i)
    for search in searches:
        search.measure([i for i in search.decades() if not clearly_worse(search.rows(i), best)])
    searches = [search for search in searches if search.whole()]
    found = {search: search.best_decade() for search in searches}
    search = min(found, key=lambda s: s.loss(found[s]))
    if search.open:
        search.choose_size()
        if not search.k:
            return Choice(search, STEP ** found[search], [])
        found[search] = search.best_decade()
    half = search.between(found[search])
    known = half if half in search.tables else found[search]
    return Choice(search, STEP**half, search.mixture(known))


class Part(NamedTuple):
    """A refit of so many columns: its ridge, and its share in the weights."""

    size: int
    ridge: float
    share: float = 1.0


def halves_of(k: int) -> list[int]:
    """Half of k, a quarter, ..., 1."""
    return [k >> j for j in range(1, k.bit_length())]


@dataclass
class Choice:
    """The ridge of an elimination, and the refits along it, of k columns and of fewer, to average."""

    search: Search
    ridge: float
    parts: list[Part]

    def fit(self) -> tuple[Fit, Problem]:
        """The model on all rows, and the problem whose units it is in."""
        search, problem, refits = self.search, self.search.problem, self.search.refit_problem
        weight = problem.store.weight[: problem.store.n]
        if not search.k:
            return problem.constant(weight, problem.total), problem
        start = problem.zero(search.active)
        if search.folds and search.folds[0].starts:
            # smaller ridges overfit the rows of the fold, and begin far from the solution of all rows
            half = round(np.log(self.ridge) / np.log(STEP))
            start = search.start(search.folds[0], max(half, search.full_model))
        job = Start(start, self.ridge, weight, problem.total, [part.size for part in self.parts])
        fits = [search.to_refit(fit) for fit in problem.eliminate([job])[0]]
        again = [job._replace(fit=fit, ridge=part.ridge) for fit, part in zip(fits, self.parts)]
        return mean_of(refits.solve(again, 1e-3), [part.share for part in self.parts]), refits


def strongest(fit: Fit, count: int) -> Fit:
    """The columns with the largest weights, of equal ones the first."""
    if count >= len(fit.columns):
        return fit
    strength = np.square(fit.B).sum(axis=0)
    last = np.partition(strength, -count)[-count]
    stays = strength > last
    stays[np.flatnonzero(strength == last)[: count - np.count_nonzero(stays)]] = True
    at = np.flatnonzero(stays)
    return Fit(fit.columns[at], np.ascontiguousarray(fit.B[:, at]), fit.b)


def mean_of(fits: list[Fit], shares: list[float]) -> Fit:
    """The weighted mean of models, of which the first has all columns of the others."""
    columns, B, b = fits[0].columns, np.zeros_like(fits[0].B), np.zeros_like(fits[0].b)
    for fit, share in zip(fits, shares):
        B[:, np.searchsorted(columns, fit.columns)] += share * fit.B
        b += share * fit.b
    return Fit(columns, B, b)
