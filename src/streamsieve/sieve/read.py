"""Reading a model with k features from stored rows: elimination at a ridge chosen on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..rows import Array
from .folds import FOLDS
from .solve import Fit, Problem, Start, Weights
from .store import Ints

STEP = 10**0.5  # the search moves by half decades of the ridge
LOWEST, HIGHEST = -14, 2  # half decades: 1e-7 ... 10
HELD = 4000  # held-out rows are enough: with more, fewer folds serve
ERRORS = 0.25  # standard errors that fewer columns may cost: with few rows, a whole one lets one column pass
CHEAP = 30_000_000  # products of a walk over the folds that serve, at least one


@dataclass
class Fold:
    weight: Weights  # zero for what is held out
    total: float
    held: Ints
    starts: dict[int, Fit] = field(default_factory=dict)  # full models, by half decade


@dataclass
class Score:
    """What one ridge of the elimination gives on held-out rows."""

    loss: float
    rows: Array  # loss of each held-out row
    refit: float  # best ridge of the refit


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
        folds.append(Fold(part, problem.total - lost, np.flatnonzero(held).astype(np.int32)))
    return folds


class Search:
    """The ridge of the elimination, by the held-out loss of the whole elimination."""

    def __init__(self, problem: Problem, active: Ints, k: int | None = None, one_fold: bool = False) -> None:
        self.problem, self.active = problem, active
        self.folds = folds_of(problem, one_fold)
        # a ridge is compared along steps that are coarser than those of the final elimination
        self.share = 0.8 if problem.store.n * len(active) * problem.c > CHEAP // 10 else 0.9
        self.scores: dict[int, Score] = {}
        self.k = self.size() if k is None else min(k, len(active))
        self.sizes = [self.k]
        if sum(len(fold.held) for fold in self.folds) < 1000 and 2 * self.k < len(active):
            self.sizes = [2 * self.k, self.k]  # few rows: the mean of two sizes is less noisy

    @cached_property
    def full_model(self) -> int:
        """Half decade of the ridge at which the model of all columns has the least held-out loss."""
        problem, best, worse = self.problem, (np.inf, HIGHEST), 0
        fits = [problem.zero(self.active) for _ in self.folds]
        tolerance = 2e-2 if self.rows_are_few() else 1e-1  # it only tells where to search
        for i in range(HIGHEST if self.rows_are_few() else 0, LOWEST, -2):
            fits = problem.solve(
                [Start(fit, STEP**i, f.weight, f.total, ()) for fit, f in zip(fits, self.folds)], tolerance
            )
            loss = sum(self._held(fit, fold).sum() for fit, fold in zip(fits, self.folds))
            for fit, fold in zip(fits, self.folds):
                fold.starts[i] = fit
                if fit.B.nbytes * len(fold.starts) * len(self.folds) > 8 << 20:
                    del fold.starts[max(fold.starts)]
            worse = 0 if loss < best[0] else worse + 1
            best = min(best, (loss, i))
            if worse == 2:
                break
        return best[1]

    def _held(self, fit: Fit, fold: Fold) -> Array:
        return self.problem.losses(fit)[fold.held] * self.problem.store.weight[fold.held]

    def start(self, fold: Fold, i: int) -> Fit:
        """The model of all columns of a fold at the nearest half decade that is known."""
        near = min(fold.starts, key=lambda j: (abs(j - i), -j), default=None)
        return self.problem.zero(self.active) if near is None else fold.starts[near]

    def score(self, halves: list[int]) -> None:
        """Held-out losses of the elimination at these half decades, each refitted with the best ridge."""
        halves = [i for i in halves if i not in self.scores]
        starts = [
            Start(self.start(fold, i), STEP**i, fold.weight, fold.total, self.sizes)
            for i in halves
            for fold in self.folds
        ]
        paths = self.problem.eliminate(starts, share=self.share)
        # fits[i][size index][fold] -> {refit decade: fit}
        tables: dict[tuple[int, int], dict[int, Array]] = {}
        fits: dict[tuple[int, int], dict[int, list[Fit]]] = {}
        for a, i in enumerate(halves):
            mine = paths[a * len(self.folds) : (a + 1) * len(self.folds)]
            for s in range(len(self.sizes)):
                fits[i, s] = {0: [path[s] for path in mine]}
                tables[i, s] = {0: self._rows(fits[i, s][0])}
        for sign in (-1, 1):
            going = list(fits)
            for decade in range(1, 4):
                going = [
                    (i, s)
                    for i, s in going
                    if LOWEST <= i + 2 * sign * decade <= HIGHEST + 1
                    and (
                        decade == 1
                        or tables[i, s][sign * (decade - 1)].sum() < tables[i, s][sign * (decade - 2)].sum()
                    )
                ]
                starts = [
                    Start(fit, STEP ** (i + 2 * sign * decade), fold.weight, fold.total, ())
                    for i, s in going
                    for fit, fold in zip(fits[i, s][sign * (decade - 1)], self.folds)
                ]
                found = self.problem.solve(starts) if starts else []
                for a, (i, s) in enumerate(going):
                    fits[i, s][sign * decade] = found[a * len(self.folds) : (a + 1) * len(self.folds)]
                    tables[i, s][sign * decade] = self._rows(fits[i, s][sign * decade])
        for i in halves:
            best = [min(tables[i, s], key=lambda d: tables[i, s][d].sum()) for s in range(len(self.sizes))]
            rows = np.mean([tables[i, s][d] for s, d in enumerate(best)], axis=0)
            self.scores[i] = Score(float(rows.mean()), rows, STEP ** (i + 2 * best[-1]))

    def _rows(self, fits: list[Fit]) -> Array:
        return np.concatenate([self._held(fit, fold) for fit, fold in zip(fits, self.folds)])

    def loss(self, i: int) -> float:
        if i not in self.scores:
            self.score([i])
        return self.scores[i].loss

    def between(self, i: int) -> int:
        """The half decade next to the lowest point of a parabola through i and the decades beside it."""
        if i - 2 not in self.scores or i + 2 not in self.scores:
            return i
        left, middle, right = (self.loss(j) for j in (i - 2, i, i + 2))
        bend = left - 2 * middle + right
        at = i + int(np.rint((left - right) / bend)) if bend > 0 else i
        self.scores.setdefault(at, self.scores[i])  # its losses and refit are near enough
        return at

    def rows_are_few(self) -> bool:
        """Whether a marginal ranking may beat a joint one: not with many rows for each column."""
        return self.problem.total < 5 * len(self.active)

    def better(self, one: int, other: int, errors: float = 2.0) -> bool:
        """Whether `other` has less held-out loss than `one`, by so many standard errors of the difference."""
        d = self.scores[one].rows - self.scores[other].rows
        return bool(d.mean() > errors * d.std() / np.sqrt(len(d)))

    def best(self) -> int:
        """Half decade of the ridge: whole decades around that of the full model, then halves beside the best.

        A ridge far above that of the full model, where the ranking is marginal, is taken only where it is
        better beyond doubt.
        """
        first = self.full_model
        few = self.rows_are_few()
        low = max(first - (2 if few else 4), LOWEST)
        high = max(first + 2, 0) if few else first + 2
        self.score(list(range(low, high + 1, 2)))
        while low - 2 >= LOWEST and self.loss(low) < self.loss(low + 2):
            low -= 2
            self.score([low])
        near = min((i for i in self.scores if i <= first + 2), key=self.loss)
        if not few:
            return self.between(near)
        far = min((i for i in self.scores if i > first + 2), key=self.loss, default=near)
        for center in {near, far} if self.loss(far) < self.loss(near) else {near}:
            self.score([i for i in (center - 1, center + 1) if LOWEST <= i <= HIGHEST])
        near = min((i for i in self.scores if i <= first + 2), key=self.loss)
        far = min((i for i in self.scores if i > first + 2), key=self.loss, default=near)
        return far if self.better(near, far) else near

    def size(self) -> int:
        """The fewest columns whose held-out loss is within some standard errors of the least on the paths."""
        top, sizes = len(self.active), [len(self.active)]
        while sizes[-1] > 1:
            sizes.append(max(1, min(sizes[-1] - 1, round(sizes[-1] / 2**0.5))))
        rows = int(np.count_nonzero(self.problem.store.weight[: self.problem.store.n]))
        sizes = [w for w in sizes if w <= rows] or [1]
        if not self.folds:
            return min(top, 10)
        first = self.full_model
        best: tuple[float, Array, list[Array]] | None = None
        for i in range(max(first - 2, LOWEST), min(max(first + 2, 0), HIGHEST) + 1, 2):
            curve = self._curve(i, sizes)
            at = int(np.argmin([rows.mean() for rows in curve]))
            if best is None or curve[at].mean() < best[0]:
                best = float(curve[at].mean()), curve[at], curve
        assert best is not None
        least, rows_best, curve = best
        for w, each in reversed(list(zip(sizes, curve))):
            d = each - rows_best
            if each.mean() <= least + ERRORS * d.std() / np.sqrt(len(d)):
                return w
        return sizes[-1]

    def _curve(self, i: int, sizes: list[int]) -> list[Array]:
        """Held-out losses of the rows at each size of an elimination, refitted with the best ridge."""
        starts = [Start(self.start(f, i), STEP**i, f.weight, f.total, sizes) for f in self.folds]
        paths = self.problem.eliminate(starts, share=self.share)
        curve = []
        for s in range(len(sizes)):
            losses = [self._rows([path[s] for path in paths])]
            for sign in (-1, 1):
                fits = [path[s] for path in paths]
                for j in (i + 2 * sign, i + 4 * sign):
                    fits = self.problem.solve(
                        [Start(fit, STEP**j, f.weight, f.total, ()) for fit, f in zip(fits, self.folds)]
                    )
                    losses.append(self._rows(fits))
            curve.append(min(losses, key=lambda rows: rows.sum()))
        return curve

    def choose(self) -> Choice:
        """The ridge of least held-out loss."""
        if not self.folds:
            return Choice(self, 1.0, Score(np.inf, np.zeros(0), 1.0))
        i = self.best()
        return Choice(self, STEP**i, self.scores[i])

    def fixed(self, ridge: float) -> Choice:
        """A ridge that is known."""
        return Choice(self, ridge, Score(np.inf, np.zeros(0), ridge))


@dataclass
class Choice:
    """A ridge of the elimination, and what is known of it."""

    search: Search
    ridge: float
    score: Score

    def fit(self) -> Fit:
        """The model at this ridge, on all rows."""
        search, problem = self.search, self.search.problem
        weight = problem.store.weight[: problem.store.n]
        start = problem.zero(search.active)
        if search.folds:
            start = search.start(search.folds[0], round(np.log(self.ridge) / np.log(STEP)))
        job = Start(start, self.ridge, weight, problem.total, [search.k])
        fit = problem.eliminate([job])[0][0]
        return problem.solve([job._replace(fit=fit, ridge=self.score.refit)], 1e-3)[0]
