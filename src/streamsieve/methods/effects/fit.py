"""Fits under a ridge: least squares from one matrix of products, logistic loss by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import linalg
from ...core.losses import expit, softmax
from ...core.rows import Array
from .functions import Design
from .levels import Codes

STEPS = 60  # of conjugate gradients, at most
ENOUGH = 1e-6  # decrease of the mean loss in a step below which the fit ends
CURVED = (
    20_000  # rows that estimate the second derivatives, which only precondition: gradients are of all rows
)


class Sample(NamedTuple):
    """Some `rows` of a sample: levels, targets (n, q), of labels 0 and 1, and weights with mean 1."""

    codes: Codes
    Y: Array
    w: Array
    rows: NDArray[np.intp]

    def at(self, rows: NDArray[np.intp]) -> Sample:
        return self._replace(rows=rows)

    @property
    def targets(self) -> Array:
        return self.Y[self.rows]

    @property
    def weight(self) -> Array:
        return self.w[self.rows]


class Fit(NamedTuple):
    weights: Array  # (d, q)
    constant: Array  # (q,)


class Squares:
    """Least squares on any of the columns of a design, from the products of all of them.

    Products that `known` has of the same rows are copied from it.
    """

    def __init__(self, design: Design, data: Sample, known: Squares | None = None, jobs: int = 1) -> None:
        self.design, self.rows, self.jobs = design, data.rows, jobs
        d, Y, w = design.width, data.targets, data.weight
        self.n = float(w.sum())
        old, at_old = self._shared(known)
        if 2 * len(old) < d:  # then the symmetric product of all is faster
            old = old[:0]
        new = np.setdiff1d(np.arange(d), old)
        G: Array = np.zeros((len(new), d))
        self.b, self.mean = np.zeros((d, Y.shape[1])), np.zeros(d)
        self.centre = w @ Y / self.n
        root = np.sqrt(w)
        for at, Z in design.blocks(data.codes, data.rows, times=root):
            with self._threads(d):
                G += Z.T @ Z if not len(old) else Z[:, new].T @ Z
            self.b += Z.T @ ((Y[at] - self.centre) * root[at, None]).astype(np.float32)
            self.mean += Z.T @ root[at].astype(np.float32)
        self.mean /= self.n
        for row, mean in zip(G, self.mean[new]):
            row -= self.n * mean * self.mean
        if known is not None and len(old):
            whole = np.empty((d, d))
            whole[new] = G
            whole[np.ix_(old, new)] = G[:, old].T
            whole[np.ix_(old, old)] = known.G[np.ix_(at_old, at_old)]
            G = whole
        self.G: Array = G

    def _threads(self, d: int) -> Any:
        return linalg.limit_threads(self.jobs if d > linalg.NARROW else 1)

    def _shared(self, known: Squares | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The columns that `known` has too, and their positions there."""
        if known is None or known.rows is not self.rows:
            return np.empty(0, np.intp), np.empty(0, np.intp)
        there = {(t.i, t.j): t.columns for t in known.design.terms}
        both = [(t.columns, there.get((t.i, t.j))) for t in self.design.terms]
        same = [(a, b) for a, b in both if b is not None and b.stop - b.start == a.stop - a.start]
        return tuple(  # type: ignore[return-value]
            np.concatenate([np.empty(0, np.intp), *(np.arange(c.start, c.stop) for c in columns)])
            for columns in (zip(*same) if same else ((), ()))
        )

    def fit(self, keep: NDArray[np.intp], ridge: float) -> Fit:
        if not len(keep):
            return Fit(np.zeros((0, self.b.shape[1])), self.centre)
        factor = self.factor(keep, ridge)
        weights = linalg.dpotrs(factor, self.b[keep], lower=1)[0]
        return Fit(weights, self.centre - self.mean[keep] @ weights)

    def factor(self, keep: NDArray[np.intp], ridge: float) -> Array:
        """Cholesky factor of the products plus a ridge."""
        A = self.G[keep][:, keep] if len(keep) < len(self.G) else self.G.copy()
        with self._threads(len(A)):
            return cholesky(A, self.n * ridge)

    def inverse(self, ridge: float) -> Array:
        """Inverse of the products plus a ridge."""
        return np.asarray(np.linalg.inv(self.G + ridge * np.eye(len(self.G))))


def cholesky(A: Array, ridge: float) -> Array:
    """Cholesky factor of A plus a ridge, which overwrites A.

    Products are summed in single precision. Where columns depend on each other and have large values in few
    rows, rounding can make A indefinite: then the diagonal is raised, by 1e-6, 1e-5, ... of itself.
    """
    diagonal, share = np.diag(A).copy(), 0.0
    while True:
        A[np.diag_indices(len(A))] = diagonal * (1 + share) + ridge
        # the transpose is in LAPACK's order, so that it is not copied; only its upper triangle is overwritten
        factor, failed = linalg.dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
        if failed == 0:
            return np.asarray(factor)
        below = np.tril(A, -1)
        A[:], share = below + below.T, max(1e-6, 10 * share)


def losses(margin: Array, Y: Array, loss: str) -> Array:
    """The loss of each row."""
    if loss == "squared":
        total: Array = ((Y - margin) ** 2).sum(axis=1)
        return total
    if Y.shape[1] == 1:
        return np.logaddexp(0.0, margin[:, 0]) - Y[:, 0] * margin[:, 0]
    top = margin.max(axis=1)
    return top + np.log(np.exp(margin - top[:, None]).sum(axis=1)) - (Y * margin).sum(axis=1)


def margins(design: Design, data: Sample, fit: Fit, keep: NDArray[np.intp] | None = None) -> Array:
    """The margins (n, q) of rows by a fit to the columns `keep`, by default all."""
    W = np.zeros((design.width, fit.weights.shape[1]), dtype=np.float32)
    W[slice(None) if keep is None else keep] = fit.weights
    out = np.empty((len(data.rows), len(fit.constant)))
    for at, Z in design.blocks(data.codes, data.rows):
        out[at] = Z @ W
    return out + fit.constant


def fit_labels(design: Design, data: Sample, ridge: float, start: Fit | None = None) -> Fit:
    """Minimise mean loss + ridge / 2 |weights|^2, with the logistic loss or that of the softmax.

    Conjugate gradients, preconditioned by the second derivatives at the start, which are computed once; for
    several classes by their bound 1/2.
    """
    Y, w, d, q = data.targets, data.weight, design.width, data.Y.shape[1]
    n = float(w.sum())
    several = q > 1
    share = np.clip(w @ Y / n, 1e-6, 1 - 1e-6)
    weights, constant = start or Fit(np.zeros((d, q)), np.log(share) - (0 if several else np.log1p(-share)))
    link: Callable[[Array], Array] = softmax if several else expit
    eta = margins(design, data, Fit(weights, constant))
    value = w @ losses(eta, Y, "logistic") / n + ridge / 2 * (weights**2).sum()
    factor, m, total = None, np.zeros(d), 0.0
    last: tuple[Array, ...] | None = None  # gradient, direction and slope of the step before
    for _ in range(STEPS):
        r = w[:, None] * (Y - link(eta))
        g, g0 = -n * ridge * weights, r.sum(axis=0)
        for at, Z in design.blocks(data.codes, data.rows):
            g += Z.T @ r[at].astype(np.float32)
        if factor is None:
            p, few = link(eta[:CURVED]), w[:CURVED]
            D = few * (0.5 if several else np.maximum(p * (1 - p), 1e-4)[:, 0])
            scale = n / few.sum()
            total, m = scale * D.sum(), np.zeros(d)
            H, root = np.zeros((d, d)), np.sqrt(D)
            for at, Z in design.blocks(data.codes, data.rows, CURVED, root):
                H += Z.T @ Z
                m += Z.T @ root[at].astype(np.float32)
            m *= scale / total
            H *= scale
            for row, mean in zip(H, m):
                row -= total * mean * m
            factor = cholesky(H, n * ridge)
        s = linalg.dpotrs(factor, g - np.outer(m, g0), lower=1)[0] if d else np.zeros((0, q))
        s0 = g0 / total - m @ s
        gradient, own = np.vstack([g, g0]), np.vstack([s, s0])
        slope = (gradient * own).sum()
        if last is not None:  # Polak-Ribiere, from the start again where it is negative
            own = own + max(0.0, (own * (gradient - last[0])).sum() / last[2]) * last[1]
        last = gradient, own, slope
        s, s0 = own[:-1], own[-1]
        move, p, before = margins(design, data, Fit(s, s0)), link(eta), value
        bend = p * move**2 - ((p * move).sum(axis=1, keepdims=True) if several else p * move) * p * move
        curvature = w @ bend.sum(axis=1) + n * ridge * (s**2).sum()
        t = float((gradient * own).sum() / curvature) if curvature > 0 else 1.0  # the minimum of a parabola
        for _ in range(10):  # halve a step that does not descend
            eta_t, weights_t = eta + t * move, weights + t * s
            value = w @ losses(eta_t, Y, "logistic") / n + ridge / 2 * (weights_t**2).sum()
            if value <= before:
                break
            t /= 2
        if value > before:
            break
        eta, weights, constant = eta_t, weights_t, constant + t * s0
        if before - value < ENOUGH:
            break
    return Fit(weights, constant)
