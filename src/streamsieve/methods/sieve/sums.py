"""Squared loss from sums over the rows of each fold: the unit leaves by which the objective loses least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...core import linalg
from ...core.rows import Array
from ...statistics.folds import FOLDS
from .solve import KEPT, POSITIVE, Fit, Problem, Start
from .store import Ints

EXACT = 256  # units from which on the weakest leaves alone; of more a quarter leaves at a time, by weights
COPY = 1e-9  # how far from 1 the correlation of copies is, by the rounding of sums


def raw_sums(problem: Problem, columns: Ints) -> tuple[Array, Array, Array]:
    """H, h and yy by fold: sums of v v', y v' and y^2, where v = [columns - shift, 1], with those retired."""
    store, both = problem.store, np.append(columns, problem.store.width)
    q, side = store.y.shape[1], len(both)
    H, h, yy = np.zeros((FOLDS, side, side)), np.zeros((FOLDS, q, side)), np.zeros((FOLDS, q))
    if problem.retired is not None:
        old_H, old_h, old_yy = problem.retired
        H, h, yy = np.ascontiguousarray(old_H[:, both][:, :, both]), old_h[:, :, both].copy(), old_yy.copy()
    for rows, X in store.blocks(columns):
        V = np.column_stack([X, np.ones(len(X))])
        for f in range(FOLDS):
            at = np.flatnonzero(problem.fold[rows] == f)
            v, y = V[at], store.y[rows][at]
            half = v * problem.weight[rows][at, None].astype(np.float64)
            H[f] += half.T @ v
            h[f] += y.T @ half
            yy[f] += half[:, -1] @ y**2
    return H, h, yy


class Sums:
    """Sums by fold of u u', u t' and t^2, where u = [columns, 1] and the targets t are standardised.

    Has the calls of `Problem`: `distinct`, `eliminate` and `loss`.
    """

    def __init__(self, problem: Problem, columns: Ints) -> None:
        self.problem, self.columns = problem, columns
        m, s = np.append(problem.mean[columns], 0.0), np.append(problem.scale[columns], 1.0)
        center, spread = problem.center, problem.spread
        self.H, self.h, self.yy = [], [], []
        for H, h, yy in zip(*raw_sums(problem, columns)):
            n, about = H[-1, -1], H[-1] - H[-1, -1] * m  # sums of v, and about the mean
            self.H.append((H - np.outer(H[-1], m) - np.outer(m, about)) / s[:, None] / s)
            h_about = h.T - np.outer(m, h[:, -1]) - np.outer(about, center)
            self.h.append(h_about / s[:, None] / spread)
            self.yy.append((yy - 2 * center * h[:, -1] + n * center**2) / spread**2)

    def train(self, fold: int | None) -> tuple[Array, Array, Array, Array]:
        """Covariances of the columns and with the targets, and the means of both, without a fold."""
        others = [f for f in range(FOLDS) if f != fold]
        H, h = sum(self.H[f] for f in others), sum(self.h[f] for f in others)
        n = max(H[-1, -1], 1e-300)  # all other folds may be forgotten, with a half-life below a row
        G, C, mean, mean_t = H[:-1, :-1] / n, h[:-1] / n, H[-1, :-1] / n, h[-1] / n
        if not self.problem.intercept:
            return G, C, np.zeros_like(mean), np.zeros_like(mean_t)
        return G - np.outer(mean, mean), C - np.outer(mean, mean_t), mean, mean_t

    def distinct(self, columns: Ints) -> Ints:
        """Columns, all of these, that are not linear functions of one before them."""
        G = np.abs(self.train(None)[0])
        unit = np.sqrt(np.maximum(G.diagonal(), 1e-300))
        near = np.triu((1 - COPY) * np.outer(unit, unit) < G, 1)
        return self.problem.without_copies(columns, np.any(near, axis=0))

    def eliminate(self, starts: Sequence[Start], *_: float) -> list[list[Fit]]:
        """The fits of each start at its sizes; they are exact."""
        return [self._eliminate(*start) for start in starts]

    def _eliminate(
        self, fit: Fit, ridge: float, fold: int | None, sizes: Sequence[int], factor: Array | float
    ) -> list[Fit]:
        G, C, mean, mean_t = self.train(fold)
        S, fits = np.searchsorted(self.columns, fit.columns), []
        penalty = np.full(len(S), ridge * factor)
        todo = list(sizes) or [len(S)]
        while todo:
            units = Units(self.problem.unit[self.columns[S]], self.problem.flags[self.columns[S]])
            alone = todo[-1] < units.left <= EXACT
            B, M = ridge_weights(G[np.ix_(S, S)], C[S], penalty, inverse=alone)
            while todo:
                kept, weights = S[units.on], B[units.on]
                while todo and todo[0] >= units.left:
                    b = mean_t - mean[kept] @ weights
                    fits.append(Fit(self.columns[kept], np.ascontiguousarray(weights.T), b))
                    todo.pop(0)
                if not alone:
                    break
                for j in units.drop(B, M, 1):
                    column, own = M[:, j].copy(), M[j, j]
                    B -= np.outer(column / own, B[j])
                    M = linalg.dger(-1 / own, column, column, a=M, overwrite_a=1)
                    M[j, j] = 1.0  # its row is zero now
            if todo:
                units.drop(B, None, units.left - max(todo[0], EXACT, 3 * units.left // 4))
                S, penalty = S[units.on], penalty[units.on]
        return fits

    def loss(self, fit: Fit, fold: int | None) -> Array:
        """Losses of the rows that are left out, summed by fold; of all rows where none is."""
        at = np.append(np.searchsorted(self.columns, fit.columns), len(self.columns))
        v, out = np.column_stack([fit.B, fit.b]).T, np.zeros(FOLDS)
        for f in range(FOLDS) if fold is None else [fold]:
            H, h = self.H[f][np.ix_(at, at)], self.h[f][at]
            out[f] = max(0.5 * (self.yy[f].sum() + (v * (H @ v - 2 * h)).sum()), 0.0)
        return out


class Units:
    """Columns that leave together, and which of them are left."""

    def __init__(self, unit: Ints, flags: NDArray[np.uint8]) -> None:
        _, self.number, self.size = np.unique(unit, return_inverse=True, return_counts=True)
        self.groups = [np.flatnonzero(self.number == g) for g in np.flatnonzero(self.size > 1)]
        self.kept, self.positive = flags & KEPT > 0, flags >= POSITIVE
        self.on, self.left = np.ones(len(unit), dtype=bool), len(self.size)

    def drop(self, B: Array, M: Array | None, count: int) -> NDArray[np.intp]:
        """The columns of the weakest units, which leave: by what the objective loses, a mean over the columns
        of a unit; without M by the squares of their weights.

        A weight that has to be positive and is not leaves first; what is kept never does.
        """
        each = (B**2).sum(axis=1) / (1.0 if M is None else M.diagonal())
        each[self.positive & (B < 0).any(axis=1)] *= -1
        loss = np.bincount(self.number, each) / self.size
        if M is not None:
            for J in self.groups:
                loss[self.number[J[0]]] = (B[J] * np.linalg.solve(M[np.ix_(J, J)], B[J])).sum() / len(J)
        loss[self.number[self.kept | ~self.on]] = np.inf
        last = np.partition(loss, count - 1)[count - 1] if count else -np.inf
        weakest, equal = loss < last, np.flatnonzero(loss == last)
        weakest[equal[len(equal) - count + np.count_nonzero(weakest) :]] = True  # of equal ones the last
        columns = np.flatnonzero(weakest[self.number])
        self.on[columns], self.left = False, self.left - count
        return columns


def ridge_weights(G: Array, C: Array, penalty: Array, inverse: bool) -> tuple[Array, Array]:
    """Ridge solutions (w, q), and the inverse of G with the penalties added where it is wanted."""
    w, q = C.shape
    if not w:
        return C, np.empty((0, 0))
    right = np.column_stack([C, np.eye(w)]) if inverse else C
    _, X, failed = linalg.dposv(G + np.diag(penalty), right, lower=1)
    if failed:
        raise np.linalg.LinAlgError(f"correlations of {w} columns plus {penalty.min():.1e} are not definite.")
    return X[:, :q].copy(), np.asfortranarray(X[:, q:])
