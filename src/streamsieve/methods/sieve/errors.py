"""Weights without a ridge and their standard errors, from the rows and the summary that a sieve holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import linalg
from ...core.rows import Array
from ...statistics.folds import FOLDS
from .read import Reading, folds_of
from .solve import Problem
from .store import Ints
from .sums import Sums

if TYPE_CHECKING:
    from .sieve import Sieve

STEPS = 30  # of Newton's method
SMALL = 1e-9  # a step of this size, in deviations of the features, is the last
LONGEST = 5.0  # step, in deviations: farther, the quadratic that it follows does not hold
FAR = 25.0  # log-odds beyond which the classes are separated
DEPENDENT = 1e-10  # share of a feature's variance that the others leave, below which it depends on them


def refit(sieve: Sieve, found: Reading) -> tuple[Reading, tuple[Array, float]]:
    """The model without ridge, and its standard errors (q, features) with their degrees of freedom.

    Of a likelihood without one maximum the weights stay as they are, and have no errors: the classes are
    separated, or features depend on each other.
    """
    store, (fold, part, _) = sieve.state.store, folds_of(sieve)
    columns = np.searchsorted(store.columns, found.features).astype(np.int32)
    problem = Problem(sieve, fold, part)
    origin = store.shift[columns] + problem.mean[columns]
    B, b = (
        found.coef * problem.scale[columns] / problem.spread[:, None],
        found.intercept + found.coef @ origin,
    )
    fits = []
    if sieve.loss == "squared":
        squares = least_squares(sieve, problem, columns)
        if squares is None:
            return found, (np.full_like(found.coef, np.nan), np.nan)
        B, b, stderr, nu = squares
    else:
        for t in range(sieve.q):
            fits.append(Likelihood(sieve, problem, columns, t).refit(np.append(B[t], b[t]), str(sieve.se)))
        B, b, stderr, nu = (np.array(each) for each in zip(*fits))
    unit = problem.spread[:, None] / problem.scale[columns]
    coef = B * unit
    intercept = (
        b * problem.spread + problem.center - coef @ origin if sieve.fit_intercept else np.zeros(sieve.q)
    )
    return found._replace(coef=coef, intercept=intercept), (stderr * unit, float(np.max(nu)))


def least_squares(sieve: Sieve, problem: Problem, columns: Ints) -> tuple[Array, Array, Array, Any] | None:
    """Weights (q, k), intercepts, errors (q, k) and degrees of freedom, in standardised units.

    None where columns depend on each other linearly.
    """
    sums, k = Sums(problem, columns), len(columns)
    G, C, mean, mean_t = sums.train(None)
    n, square = sum(H[-1, -1] for H in sums.H), sum(sums.yy)
    L, failed = linalg.dpotrf(G.T, lower=1, clean=0)
    if failed or (L.diagonal() ** 2 <= DEPENDENT * G.diagonal()).any():
        return None
    B, _ = linalg.dpotrs(L, C, lower=1)
    M, _ = linalg.dpotrs(L, np.eye(k, order="F"), lower=1)
    left = np.maximum(square / n - mean_t**2 - (B * C).sum(axis=0), 0.0)
    nu = n / sieve.row_weight - k - sieve.fit_intercept
    stderr = np.sqrt(np.outer(left, M.diagonal()) / nu) if nu > 0 else np.full((sieve.q, k), np.nan)
    return B.T, mean_t - mean @ B, stderr, nu if nu > 0 else np.nan


class Likelihood:
    """The log-likelihood of some columns for one output: of rows, and the quadratic of those retired."""

    def __init__(self, sieve: Sieve, problem: Problem, columns: Ints, output: int) -> None:
        self.problem, self.columns, self.labels, k = problem, columns, sieve.labels, len(columns)
        if sieve.se == "folds" and problem.summary is not None:
            raise ValueError(
                f"se='folds': of {sieve.state.rows} rows {problem.store.n} are still stored, the others are "
                f"summarised in memory={sieve.memory!r}; pass more memory, or se='classical'."
            )
        row = sieve.row_weight
        self.y, self.weight = problem.y[:, output], problem.weight.astype(np.float64) / row
        self.center, self.scale = problem.mean[columns], problem.scale[columns]
        # [z, 1] = T [x - shift, 1] for the standardised z
        T = np.diag(np.append(1 / self.scale, 1.0))
        T[:k, k] = -self.center / self.scale
        self.H, self.h = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
        if problem.summary is not None:
            both, (H, h) = np.append(columns, problem.store.width), problem.summary
            self.H, self.h = T @ (H[output][np.ix_(both, both)] / row) @ T.T, T @ h[output][both] / row

    def slopes(self, b: Array, without: int | None) -> tuple[Array, Array, float]:
        """Gradient and information at weights (k + 1,), and the largest margin; `without` a fold."""
        gradient, information, largest = self.h - self.H @ b, self.H.copy(), 0.0
        for rows, X in self.problem.store.blocks(self.columns):
            w = self.weight[rows] * (self.problem.fold[rows] != (FOLDS if without is None else without))
            Z = np.column_stack([(X - self.center) / self.scale, np.ones(len(X))])
            eta, y, loss = Z @ b, self.y[rows], self.problem.loss_function
            gradient -= Z.T @ (w * loss.derivative(eta, y))
            information += (Z * (w * loss.bend(eta, y))[:, None]).T @ Z
            largest = max(largest, float(np.abs(eta).max(initial=0.0)))
        m = len(b) - (not self.problem.intercept)
        return gradient[:m], information[:m, :m], largest

    def maximum(self, b: Array, without: int | None = None) -> tuple[Array, Array] | None:
        """The weights of the largest likelihood, from weights b, and the inverse of the information there.

        None where there is none: the classes are separated, or columns depend on each other.
        """
        for _ in range(STEPS):
            gradient, information, largest = self.slopes(b, without)
            L, failed = linalg.dpotrf(information.T, lower=1, clean=0)
            if failed or (self.labels and largest > FAR):
                return None
            change, _ = linalg.dpotrs(L, gradient, lower=1)
            length, b = np.abs(change).max(initial=0.0), b.copy()
            b[: len(change)] += change if length < LONGEST else change * (LONGEST / length)
            if length < SMALL:
                inverse, _ = linalg.dpotrs(L, np.eye(len(change), order="F"), lower=1)
                return b, inverse
        return None

    def refit(self, start: Array, se: str) -> tuple[Array, float, Array, float]:
        """Weights (k,) and intercept, errors (k,) and degrees of freedom; without errors where none exist."""
        k = len(self.columns)
        nothing = start[:k], float(start[k]), np.full(k, np.nan), np.inf
        found = self.maximum(start)
        if found is None:
            return nothing
        b, inverse = found
        if se == "classical":
            return b[:k], float(b[k]), np.sqrt(inverse.diagonal()[:k]), np.inf
        filled = np.unique(self.problem.fold)
        left = [self.maximum(b, f) for f in filled.tolist()]
        if len(filled) < 2 or any(each is None for each in left):
            return nothing
        square = sum((each[0][:k] - b[:k]) ** 2 for each in left if each is not None)
        error = np.sqrt((len(filled) - 1) / len(filled) * np.asarray(square))
        return b[:k], float(b[k]), error, float(len(filled) - 1)
