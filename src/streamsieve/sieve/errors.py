"""Weights without a ridge and their standard errors, from the rows and the summary that a sieve holds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import linalg
from ..rows import Array
from .folds import FOLDS
from .store import Ints, Store

STEPS = 30  # of Newton's method
SMALL = 1e-9  # a step of this size, in deviations of the features, is the last
FAR = 25.0  # log-odds beyond which the classes are separated


class Refit(NamedTuple):
    """Weights (k,) and intercept of one output in the units of the rows, errors (k,), degrees of freedom."""

    coef: Array
    intercept: float
    stderr: Array
    nu: float


class Likelihood:
    """The log-likelihood of a few columns: rows of a store, and the quadratic of those summarised before.

    Parameters
    ----------
    store : Store
    columns : int array (k,)
        Places in the store.
    kind : {"logistic", "poisson"}
    output : int
        The target that is fitted.
    summary : pair (H, h) or None
        Of [x - shift, 1], as the state of the sieve has them, of this output.
    intercept : bool
    row : float
        What one row weighs.
    """

    def __init__(
        self,
        store: Store,
        columns: Ints,
        kind: str,
        output: int = 0,
        summary: tuple[Array, Array] | None = None,
        intercept: bool = True,
        row: float = 1.0,
    ) -> None:
        self.store, self.columns, self.kind, self.intercept = store, columns, kind, intercept
        center, deviation = store.moments(intercept)
        self.center, self.scale = center[columns], deviation[columns]
        self.y = store.y[: store.n, output]
        self.weight = store.weight[: store.n].astype(np.float64) / row
        k = len(columns)
        # [z, 1] = T [x - shift, 1] for the standardised z
        T = np.diag(np.append(1 / self.scale, 1.0))
        T[:k, k] = -self.center / self.scale
        self.H, self.h = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
        if summary is not None:
            both = np.append(columns, store.width)
            self.H, self.h = T @ (summary[0][np.ix_(both, both)] / row) @ T.T, T @ summary[1][both] / row

    def slopes(self, b: Array, without: int | None) -> tuple[Array, Array, float]:
        """Gradient and information at weights (k + 1,), and the largest margin; `without` a fold."""
        store, k = self.store, len(self.columns)
        gradient, information, largest = self.h - self.H @ b, self.H.copy(), 0.0
        step = max(64, (4 << 20) // (8 * store.width))
        for at in range(0, store.n, step):
            stop = min(at + step, store.n)
            w = self.weight[at:stop]
            if without is not None:
                w = w * (store.fold[at:stop] != without)
            Z = np.ones((stop - at, k + 1))
            Z[:, :k] = (store.decode(at, stop)[:, self.columns] - self.center) / self.scale
            eta = Z @ b
            if self.kind == "logistic":
                share = 1 / (1 + np.exp(-np.clip(eta, -500, 500)))
                curve = share * (1 - share)
            else:
                share = curve = np.exp(np.minimum(eta, 50))
            gradient += Z.T @ (w * (self.y[at:stop] - share))
            information += (Z * (w * curve)[:, None]).T @ Z
            largest = max(largest, float(np.abs(eta).max(initial=0.0)))
        if not self.intercept:
            gradient, information = gradient[:k], information[:k, :k]
        return gradient, information, largest

    def maximum(self, b: Array, without: int | None = None) -> tuple[Array, Array] | None:
        """The weights of the largest likelihood, from weights b, and the inverse of the information there.

        None where there is none: the classes are separated, or columns depend on each other.
        """
        m = len(self.columns) + self.intercept
        for _ in range(STEPS):
            gradient, information, largest = self.slopes(b, without)
            L, failed = linalg.dpotrf(information.T, lower=1, clean=0)
            if failed or (self.kind == "logistic" and largest > FAR):
                return None
            change, _ = linalg.dpotrs(L, gradient, lower=1)
            length = np.abs(change).max(initial=0.0)
            b = b.copy()
            b[:m] += change if length < 5 else change * (5 / length)
            if length < SMALL:
                inverse, _ = linalg.dpotrs(L, np.eye(m, order="F"), lower=1)
                return b, inverse
        return None

    def refit(self, coef: Array, intercept: float, se: str) -> Refit:
        """From weights in the units of the rows; they stay, without errors, where there is no maximum."""
        k, origin = len(self.columns), self.store.shift[self.columns] + self.center
        start = np.append(coef * self.scale, intercept + coef @ origin)
        found = self.maximum(start)
        nothing = Refit(coef, intercept, np.full(k, np.nan), np.inf)
        if found is None:
            return nothing
        b, inverse = found
        variance, nu = inverse.diagonal()[:k], np.inf
        if se == "folds":
            filled = [f for f in range(FOLDS) if (self.store.fold[: self.store.n] == f).any()]
            left = [self.maximum(b, f) for f in filled]
            if len(filled) < 2 or any(each is None for each in left):
                return nothing
            K = len(filled)
            square = sum((each[0][:k] - b[:k]) ** 2 for each in left if each is not None)
            variance, nu = (K - 1) / K * np.asarray(square), float(K - 1)
        weights = b[:k] / self.scale
        return Refit(weights, float(b[k] - weights @ origin), np.sqrt(variance) / self.scale, nu)


def least_squares(
    H: Array, h: Array, yy: Array, columns: Ints, shift: Array, n: float, intercept: bool
) -> list[Refit]:
    """Of each target, from sums over `n` rows of [x - shift, 1]."""
    k = len(columns)
    both = np.append(columns, len(H) - 1)
    A, c = H[np.ix_(both, both)].copy(), h[:, both].T.copy()
    if not intercept:  # about zero
        T = np.eye(k + 1)
        T[:k, k] = shift[columns]
        A, c = (T @ A @ T.T)[:k, :k], (T @ c)[:k]
    else:
        mean, mean_y = A[k, :k] / A[k, k], c[k] / A[k, k]
        yy = yy - A[k, k] * mean_y**2
        c = c[:k] - A[k, k] * np.outer(mean, mean_y)
        A = A[:k, :k] - A[k, k] * np.outer(mean, mean)
    unit = np.sqrt(np.diag(A))
    L, failed = linalg.dpotrf((A / unit[:, None] / unit).T, lower=1, clean=0)
    if failed or (np.diag(L) ** 2 <= 1e-10).any():
        raise ValueError("The selected features depend on each other linearly; pass a smaller k.")
    B, _ = linalg.dpotrs(L, c / unit[:, None], lower=1)
    inverse, _ = linalg.dpotrs(L, np.eye(k, order="F"), lower=1)
    nu = n - k - intercept
    out = []
    for t in range(B.shape[1]):
        b = B[:, t] / unit
        rss = max(float(yy[t] - b @ c[:, t]), 0.0)
        error = np.sqrt(inverse.diagonal() * rss / nu) / unit if nu > 0 else np.full(k, np.nan)
        constant = float(mean_y[t] - b @ (mean + shift[columns])) if intercept else 0.0
        out.append(Refit(b, constant, error, nu if nu > 0 else np.nan))
    return out


def check_errors(se: Any, loss: str) -> str | None:
    """What is wrong with these errors for a loss; None if nothing is."""
    if se is None or loss in ("logistic", "poisson"):
        return None
    if loss == "huber":
        return "expected None with loss='huber', whose likelihood is of no distribution."
    if se == "folds":
        return "expected 'classical' with loss='squared', whose rows are summed up; OFSA has errors by folds."
    return None
