"""What a sieve fits: its rows and targets in units of their own, and the summary of retired rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..rows import Array, threads
from .solve import Problem
from .store import Ints

if TYPE_CHECKING:
    from .sieve import Sieve

HUBER = 1.345  # corner of the loss in deviations of the targets: 95% as efficient as least squares
MAD = 1.4826  # deviations of a normal variable in a median absolute deviation


def problem_of(sieve: Sieve, exponent: float = 1.0) -> tuple[Problem, Ints]:
    """What is fitted, and its columns; they are divided by deviation^exponent."""
    s, store = sieve.state, sieve.state.store
    _, deviation = store.moments(sieve.fit_intercept)
    active = np.flatnonzero(deviation > 0).astype(np.int32)
    scale = np.where(deviation > 0, deviation, 1.0)
    if exponent != 1:
        common = np.sqrt((scale[active] ** (2 * (1 - exponent))).mean()) if len(active) else 1.0
        scale = scale**exponent * common
    y, summary = store.y[: store.n], None if s.H is None else (s.H, s.h)
    center, spread, delta = target_units(sieve)
    if not sieve.labels and sieve.loss != "poisson":
        y = (y - center) / spread
        if sieve.loss == "squared" and summary is not None:
            summary = s.H, (s.h - center[:, None] * s.H[0, -1]) / spread[:, None]
    problem = Problem(
        store, sieve.kind, sieve.q, np.ascontiguousarray(y), scale, store.total,
        rows=store.total / row_weight(sieve), threads=sieve.n_jobs or threads(),
        intercept=sieve.fit_intercept, summary=summary, delta=delta, progress=sieve.progress,
    )  # fmt: skip
    return problem, active


def row_weight(sieve: Sieve) -> float:
    """What one row weighs: 1, or the mean where that is less: such weights, say of sum 1, are no counts."""
    if sieve.half_life is not None:
        return 1.0  # old rows count less
    return min(1.0, sieve.state.store.total / max(sieve.state.rows, 1)) or 1.0


def target_units(sieve: Sieve) -> tuple[Array, Array, float]:
    """What is subtracted from the targets, what they are divided by, and the corner of the Huber loss."""
    s, store = sieve.state, sieve.state.store
    zero, one = np.zeros(sieve.q), np.ones(sieve.q)
    y, weight = store.y[: store.n], store.weight[: store.n].astype(np.float64)
    if sieve.loss == "squared":
        first, second = weight @ y, weight @ y**2
        if s.h is not None:
            first, second = first + s.h[:, -1], second + s.yy
        center = first / store.total if sieve.fit_intercept else zero
        spread = np.sqrt(np.maximum(second / store.total - center**2, 0.0))
        return center, np.where(spread > 0, spread, 1.0), 1.0
    if sieve.loss == "huber":
        if s.target_units is not None:  # those of the summary
            return s.target_units[0], s.target_units[1], HUBER
        center = np.median(y, axis=0) if sieve.fit_intercept else zero
        spread = MAD * np.median(np.abs(y - center), axis=0)
        return center, np.where(spread > 0, spread, 1.0), HUBER
    return zero, one, 1.0


Expansion = Callable[[slice], tuple[Array, Array]]  # of some rows: second derivatives and response, (n, q)


def summary_of(sieve: Sieve, expand: Expansion | None) -> tuple[Array, Array, Array]:
    """Summary of all rows: H, h and the squares of the targets. Squared loss needs no expansion."""
    s, store = sieve.state, sieve.state.store
    side, outputs = store.width + 1, 1 if expand is None else sieve.q
    before = s.H is not None
    H = s.H.copy() if before else np.zeros((outputs, side, side))
    h = s.h.copy() if before else np.zeros((sieve.q, side))
    yy = s.yy.copy() if before else np.zeros(sieve.q)
    weight = store.weight[: store.n].astype(np.float64)
    if sieve.half_life is not None:
        keep = 0.5 ** (1.0 / sieve.half_life)
        for old in (H, h, yy):
            old *= keep**store.n
        weight = weight * keep ** np.arange(store.n - 1, -1, -1)
    step = max(64, (4 << 20) // (8 * side))
    for at in range(0, store.n, step):
        stop = min(at + step, store.n)
        X = np.ones((stop - at, side))
        X[:, :-1] = store.decode(at, stop)
        if expand is None:
            r, y = weight[at:stop], store.y[at:stop]
            half = X * r[:, None]
            H[0] += half.T @ X
            h += y.T @ half
            yy += r @ y**2
        else:
            curve, response = expand(slice(at, stop))
            for a in range(outputs):
                H[a] += (X * curve[:, a, None]).T @ X
            h += response.T @ X
    return H, h, yy
