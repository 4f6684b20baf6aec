"""Fits under a ridge: least squares from one matrix of products, logistic loss by Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import linalg
from ...core.losses import expit, softmax
from ...core.rows import Array
from .functions import Design
from .levels import Codes

STEPS = 30  # of Newton's method, at most
ENOUGH = 1e-6  # gain of a step, per row, below which it ends
CURVED = 20_000  # rows whose second derivatives stand for those of all: gradients are exact


class Sample(NamedTuple):
    """Rows of a state, by hash: levels, targets (n, q), of labels 0 and 1, and weights of mean 1."""

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
    """Least squares on some of the columns, from the products of all of them."""

    def __init__(self, design: Design, data: Sample) -> None:
        d, Y, w = design.width, data.targets, data.weight
        self.n = float(w.sum())
        G, b, m = np.zeros((d, d)), np.zeros((d, Y.shape[1])), np.zeros(d)
        self.centre = w @ Y / self.n
        for at, Z in design.blocks(data.codes, data.rows):
            scaled = Z * np.sqrt(w[at]).astype(np.float32)[:, None]
            G += scaled.T @ scaled
            weighted = Z.T * w[at].astype(np.float32)
            b += weighted @ (Y[at] - self.centre).astype(np.float32)
            m += weighted.sum(axis=1, dtype=np.float64)
        self.mean = m / self.n
        self.G, self.b = G - self.n * np.outer(self.mean, self.mean), b

    def fit(self, keep: NDArray[np.intp], ridge: float) -> Fit:
        if not len(keep):
            return Fit(np.zeros((0, self.b.shape[1])), self.centre)
        A = self.G[np.ix_(keep, keep)]
        A[np.diag_indices(len(keep))] += self.n * ridge
        factor, failed = linalg.dpotrf(A, lower=1, overwrite_a=1)
        assert failed == 0  # a ridge makes it definite
        weights = linalg.dpotrs(factor, self.b[keep], lower=1)[0]
        return Fit(weights, self.centre - self.mean[keep] @ weights)

    def inverse(self, ridge: float) -> Array:
        """Of the products plus a ridge."""
        return np.asarray(np.linalg.inv(self.G + ridge * np.eye(len(self.G))))


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
    """The margins (n, q) of rows by a fit to some of the columns."""
    W = np.zeros((design.width, fit.weights.shape[1]), dtype=np.float32)
    W[slice(None) if keep is None else keep] = fit.weights
    out = np.empty((len(data.rows), len(fit.constant)))
    for at, Z in design.blocks(data.codes, data.rows):
        out[at] = Z @ W
    return out + fit.constant


def fit_labels(design: Design, data: Sample, ridge: float, start: Fit | None = None) -> Fit:
    """Logistic loss, of several classes by softmax: mean loss + ridge / 2 |weights|^2.

    Newton's method; for several classes conjugate gradients, preconditioned by the bound 1/2 of the second
    derivatives, which is formed once.
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
    last: tuple[Array, ...] | None = None  # gradient, direction and its margins, of the step before
    for _ in range(STEPS * (2 if several else 1)):
        r = w[:, None] * (Y - link(eta))
        g, g0 = -n * ridge * weights, r.sum(axis=0)
        for at, Z in design.blocks(data.codes, data.rows):
            g += Z.T @ r[at].astype(np.float32)
        if factor is None or not several:
            p, few = link(eta[:CURVED]), w[:CURVED]
            D = few * (0.5 if several else np.maximum(p * (1 - p), 1e-4)[:, 0])
            scale = n / few.sum()
            total, m = scale * D.sum(), np.zeros(d)
            H = np.zeros((d, d))
            for at, Z in design.blocks(data.codes, data.rows, CURVED):
                scaled = Z * np.sqrt(D[at]).astype(np.float32)[:, None]
                H += scaled.T @ scaled
                m += Z.T @ D[at].astype(np.float32)
            m *= scale / total
            H = scale * H - total * np.outer(m, m)
            H[np.diag_indices(d)] += n * ridge
            factor, failed = linalg.dpotrf(H, lower=1, overwrite_a=1)
            assert failed == 0
        s = linalg.dpotrs(factor, g - np.outer(m, g0), lower=1)[0] if d else np.zeros((0, q))
        s0 = g0 / total - m @ s
        t, before = 1.0, value
        if several:
            gradient, own = np.vstack([g, g0]), np.vstack([s, s0])
            slope = (gradient * own).sum()
            if last is not None:  # Polak-Ribiere, from the start again where it is negative
                beta = max(0.0, (own * (gradient - last[0])).sum() / last[2])
                own = own + beta * last[1]
            last = gradient, own, slope
            s, s0 = own[:-1], own[-1]
        move = margins(design, data, Fit(s, s0))
        if several:  # the minimum of a parabola along the direction
            p = softmax(eta)
            bend = w @ ((p * move**2).sum(axis=1) - (p * move).sum(axis=1) ** 2) + n * ridge * (s**2).sum()
            t = float((gradient * own).sum() / bend) if bend > 0 else 1.0
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
