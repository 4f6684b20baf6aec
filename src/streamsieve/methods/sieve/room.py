"""Making room in a full store: retire rows into the summary, round values to 8 bits, or drop columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.losses import softmax
from ...core.rows import Array
from .read import folds_of, full_ridge
from .solve import KEPT, Problem, Start, solve
from .store import Ints
from .sums import raw_sums

if TYPE_CHECKING:
    from .sieve import Sieve


def make_room(sieve: Sieve) -> None:
    """What is done depends on the rows so far alone, not on how they were cut into calls."""
    sieve.check_columns()
    s, store = sieve.state, sieve.state.store
    w, squared = store.width, sieve.loss == "squared"
    if store.n and sieve.summary_fits(w) and (squared or s.rows >= 20 * w or w <= sieve.least_width):
        retire(sieve)
    elif store.n and store.layout == "tiles":
        store.recode()
    elif store.n and w > sieve.least_width:
        narrow(sieve)
    else:
        raise ValueError(
            f"memory={sieve.memory!r} does not hold {'one row' if not store.n else 'the rows'} of {w} "
            "features; pass more."
        )


def narrow(sieve: Sieve) -> None:
    """Columns that do not vary leave, and half of the others, the weakest of an elimination; of sparse rows
    as many as free four tenths."""
    store, (fold, part, folds) = sieve.state.store, folds_of(sieve)
    problem = Problem(sieve, fold, part)
    active = np.flatnonzero((problem.deviation > 0) | (problem.flags & KEPT > 0)).astype(np.int32)
    if len(active) <= sieve.least_width:
        others = np.setdiff1d(np.arange(store.width, dtype=np.int32), active)
        keep_columns(sieve, np.union1d(active, others[: sieve.least_width - len(active)]))
        return
    ridge = full_ridge(problem, active, folds)
    target, few = max(len(active) // 2, sieve.least_width), int(0.6 * store.values())
    start = Start(problem.zero(active), ridge)
    while True:
        fit = problem.eliminate([start._replace(sizes=[target])], tolerance=3e-2, share=0.7)[0][0]
        held = int(store.present[fit.columns].sum()) if store.layout == "csr" else 0
        if held <= few or target <= sieve.least_width:
            break
        start, target = start._replace(fit=fit), max(int(0.7 * target), sieve.least_width)
    keep_columns(sieve, fit.columns)


def keep_columns(sieve: Sieve, kept: Ints) -> None:
    """Drop all other columns of store and summary."""
    s = sieve.state
    if s.H is not None:
        both = np.append(kept, s.store.width)
        s.H = np.ascontiguousarray(s.H[:, both][:, :, both])
        s.h = np.ascontiguousarray(s.h[..., both])
    s.store.narrow(kept)
    s.store.memory = sieve.bytes - (0 if s.H is None else s.H.nbytes)


def retire(sieve: Sieve) -> None:
    """The rows of the store go into the summary: sums by fold, or an expansion of the loss around a model."""
    s, store, (fold, part, folds) = sieve.state, sieve.state.store, folds_of(sieve)
    problem, every = Problem(sieve, fold, part), np.arange(store.width, dtype=np.int32)
    if sieve.loss == "squared":
        s.H, s.h, s.yy = raw_sums(problem, every)
    else:
        if problem.loss_function.needs_units:
            s.target_units = np.array([problem.center, problem.spread])
        active = np.flatnonzero(problem.deviation > 0).astype(np.int32)
        if s.ridge == 0:
            s.ridge = problem.total * full_ridge(problem, active, folds)
        start = Start(problem.zero(active), s.ridge / problem.total)
        s.H, s.h, s.yy = expanded(sieve, problem, problem.margins(solve(problem, [start], 1e-3)[0]))
    store.clear()
    store.memory = sieve.bytes - s.H.nbytes


def expanded(sieve: Sieve, problem: Problem, margins: Array) -> tuple[Array, Array, Array]:
    """The summary with the quadratic expansion of the losses of all rows held, around these margins."""
    s, store, side = sieve.state, sieve.state.store, sieve.state.store.width + 1
    H = np.zeros((sieve.q, side, side)) if s.H is None else s.H.copy()
    h = np.zeros((sieve.q, side)) if s.H is None else s.h.copy()
    for rows, part in store.blocks(np.arange(store.width, dtype=np.int32)):
        X = np.column_stack([part, np.ones(len(part))])
        curve, response = quadratic(problem, margins, rows)
        for a in range(sieve.q):
            H[a] += (X * curve[:, a, None]).T @ X
        h += response.T @ X
    return H, h, np.zeros(sieve.q)


def quadratic(problem: Problem, margins: Array, rows: slice) -> tuple[Array, Array]:
    """Second derivatives of the loss of rows (n, q), and the response D eta - loss' of its expansion."""
    eta, y = margins[rows], problem.y[rows]
    weight = problem.store.weight[rows, None].astype(np.float64)
    if problem.joint:
        share = softmax(eta)
        slope = share - (y[:, :1] == np.arange(problem.c))
        curve = share * (1 - share)
    else:
        loss = problem.loss_function
        slope, curve = loss.derivative(eta, y), loss.bend(eta, y)
    curve = np.maximum(curve, 1e-6)
    return weight * curve, weight * (curve * eta - slope)
