"""Reading a model with k features from the rows of the store: elimination at a ridge chosen on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .folds import FOLDS
from .solve import Fit, Problem, eliminate
from .store import Array, Ints

STEP = 10**0.5  # the search moves by half decades of the ridge
HELD = 4000  # held-out rows are enough: with more, fewer folds serve
CHEAP = 30_000_000  # numbers in the store; above, one fold serves


@dataclass
class Fold:
    weight: NDArray[np.float32]  # zero for what is held out
    total: float
    held: NDArray[np.intp]
    start: dict[int, Fit] = field(default_factory=dict)  # full models, by half decade


@dataclass
class Score:
    """What one ridge of the elimination gives on held-out rows."""

    loss: float
    rows: Array  # mean loss of each held-out row
    refit: float  # best ridge of the refit


@dataclass
class Reading:
    columns: Ints
    B: Array
    b: Array
    loss: float
    ridge: float
    refit: float
    rows: Array


def folds_of(problem: Problem) -> list[Fold]:
    store = problem.store
    n, weight = store.n, store.weight[: store.n]
    count = int(np.clip(np.ceil(HELD * FOLDS / max(n, 1)), 1, FOLDS))
    if n * store.width > CHEAP and store.layout != "csr":
        count = 1
    folds = []
    for j in range(count):
        held = store.fold[:n] == j
        if held.all() or not held.any():
            continue
        part = np.where(held, np.float32(0), weight)
        lost = float(weight[held].sum(dtype=np.float64))
        folds.append(Fold(part, problem.total - lost, np.flatnonzero(held)))
    return folds


class Search:
    """The ridge of the elimination, by the held-out loss of the whole elimination."""

    def __init__(self, problem: Problem, active: Ints, k: int) -> None:
        self.problem, self.active, self.k = problem, active, k
        self.folds = folds_of(problem)
        self.held = sum(len(fold.held) for fold in self.folds)
        self.many = problem.store.n * len(active) > CHEAP
        self.sizes = [k]
        if self.held < 1000 and 2 * k < len(active):
            self.sizes = [2 * k, k]  # few rows: the mean of two sizes is less noisy
        self.scores: dict[int, Score] = {}

    def row_weights(self) -> Array:
        return np.concatenate([self.problem.store.weight[fold.held] for fold in self.folds]).astype(np.float64)

    def full_model(self) -> int:
        """Half decade of the ridge at which the model of all columns has the least held-out loss."""
        grid = range(2, -13, -2)
        total = {i: 0.0 for i in grid}
        for fold in self.folds:
            fit, best, worse = self.problem.zero(self.active), np.inf, 0
            for i in grid:
                if worse >= 2:
                    total[i] = np.inf
                    continue
                fit = self.problem.solve(fit, STEP**i, fold.weight, fold.total, 2e-2)
                loss = self._held(self.problem, fit, fold).sum()
                total[i] += loss
                worse = 0 if loss < best else worse + 1
                best = min(best, loss)
                fold.start[i] = fit
        return min(grid, key=lambda i: total[i])

    def _held(self, problem: Problem, fit: Fit, fold: Fold) -> Array:
        return problem.losses(fit)[fold.held] * problem.store.weight[fold.held]

    def _start(self, fold: Fold, i: int) -> Fit:
        near = min(fold.start, key=lambda j: abs(j - i), default=None)
        return self.problem.zero(self.active) if near is None else fold.start[near]

    def score(self, i: int) -> Score:
        if i in self.scores:
            return self.scores[i]
        ridge = STEP**i
        refits = [r for r in (ridge * 10.0**j for j in range(3, -4, -1)) if 1e-7 <= r <= 30]
        middle = int(np.argmin([abs(np.log(r / ridge)) for r in refits]))
        losses = {size: np.full((len(refits), self.held), np.inf) for size in self.sizes}
        at = 0
        for fold in self.folds:
            start, stop = self._start(fold, i), at + len(fold.held)
            path = eliminate(self.problem, start, self.sizes, ridge, fold.weight, fold.total)
            for (_, fit, problem, _), size in zip(path, self.sizes):
                table = losses[size][:, at:stop]
                for order in (range(middle, len(refits)), range(middle - 1, -1, -1)):
                    again = fit
                    for r in order:
                        if r != middle:
                            again = problem.solve(again, refits[r], fold.weight, fold.total)
                        table[r] = self._held(problem, again, fold)
                        if table[r].sum() > table.sum(axis=1).min():
                            break
            at = stop
        best = {size: int(np.argmin(table.sum(axis=1))) for size, table in losses.items()}
        rows = np.mean([table[best[size]] for size, table in losses.items()], axis=0)
        self.scores[i] = Score(float(rows.mean()), rows, refits[best[self.sizes[-1]]])
        return self.scores[i]

    def better(self, one: int, other: int, errors: float = 2.0) -> bool:
        """Whether `other` has less held-out loss than `one`, by so many standard errors of the difference."""
        d = self.score(one).rows - self.score(other).rows
        return bool(d.mean() > errors * d.std() / np.sqrt(len(d)))

    def best(self) -> int:
        """Half decade of the ridge: a walk from that of the full model, then whole decades far above."""
        first = self.full_model()
        score = self.score
        i, j, worse, patience = first, first, 0, 2 if len(self.folds) <= 2 and self.many else 1
        while j > max(first - 7, -14) and worse < patience:
            j -= 1
            if score(j).loss < score(i).loss:
                i, worse = j, 0
            else:
                worse += 1
        if i == first:
            while i < first + 2 and score(i + 1).loss < score(i).loss:
                i += 1
        highest = max(self.scores)
        above = list(range(0, highest, -2))
        for j in above:
            score(j)
        if above:
            j = min(above, key=lambda q: score(q).loss)
            around = [q for q in (j - 1, j + 1) if highest < q <= 0]
            j = min([j, *around], key=lambda q: score(q).loss)
            if self.better(i, j):
                i = j
        return i

    def read(self) -> Reading:
        problem, weight = self.problem, self.problem.store.weight[: self.problem.store.n]
        if not self.folds or len(self.active) <= 0:
            i, refit, loss, rows = 0, 1.0, np.inf, np.zeros(0)
        else:
            i = self.best()
            refit, loss, rows = self.scores[i].refit, self.scores[i].loss, self.scores[i].rows
        path = eliminate(problem, problem.zero(self.active), [self.k], STEP**i, weight, problem.total)
        _, fit, last, columns = next(path)
        fit = last.solve(fit, refit, weight, problem.total, 1e-3)
        return Reading(columns, fit.B, fit.b, loss, STEP**i, refit, rows)
