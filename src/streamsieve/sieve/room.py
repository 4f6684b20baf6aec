"""Making room in a full store: retire rows into the summary, round values to 8 bits, or drop columns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..losses import expit, softmax
from ..rows import Array
from .problem import problem_of, summary_of, target_units
from .read import STEP, Search, strongest
from .solve import Problem, Start
from .store import Ints

if TYPE_CHECKING:
    from .sieve import Sieve


def make_room(sieve: Sieve) -> None:
    """What is done depends on the rows so far alone, not on how they were cut into calls."""
    s, store = sieve.state, sieve.state.store
    w, squared = store.width, sieve.loss == "squared"
    if store.n and sieve.summary_fits() and (squared or s.rows >= 20 * w or w <= sieve.least_width):
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
    store = sieve.state.store
    problem, active = problem_of(sieve)
    if len(active) <= sieve.least_width:
        others = np.setdiff1d(np.arange(store.width, dtype=np.int32), active)
        keep_columns(sieve, np.union1d(active, others[: sieve.least_width - len(active)]))
        return
    search = Search(problem, active, sieve.least_width, one_fold=True)
    ridge = STEP**search.full_model if search.folds else 1.0
    target, few = max(len(active) // 2, sieve.least_width), int(0.6 * store.values())
    begin = search.start(search.folds[0], search.full_model) if search.folds else problem.zero(active)
    start = Start(begin, ridge, store.weight[: store.n], problem.total, ())
    size = min(len(active), -(-10 * target // 7))
    while True:
        fit = problem.eliminate([start._replace(sizes=[size])], tolerance=3e-2, share=0.7)[0][0]
        kept = strongest(fit, target).columns
        held = int(store.present[kept].sum()) if store.layout == "csr" else 0
        if held <= few or target <= sieve.least_width:
            break
        start, size, target = start._replace(fit=fit), target, max(int(0.7 * target), sieve.least_width)
    keep_columns(sieve, kept)


def keep_columns(sieve: Sieve, kept: Ints) -> None:
    """Drop all other columns of store and summary."""
    s = sieve.state
    if s.H is not None:
        both = np.append(kept, s.store.width)
        s.H = np.ascontiguousarray(s.H[:, both][:, :, both])
        s.h = np.ascontiguousarray(s.h[:, both])
    s.store.narrow(kept)
    s.store.memory = sieve.bytes - (0 if s.H is None else s.H.nbytes)


def retire(sieve: Sieve) -> None:
    """The rows of the store go into the summary."""
    s, store = sieve.state, sieve.state.store
    expand = None
    if sieve.loss != "squared":
        if sieve.loss == "huber" and s.target_units is None:
            s.target_units = np.array(target_units(sieve)[:2])
        problem, active = problem_of(sieve)
        if s.ridge == 0:
            search = Search(problem, active, sieve.least_width, one_fold=True)
            s.ridge = problem.total * (STEP**search.full_model if search.folds else 1.0)
        start = Start(
            problem.zero(active), s.ridge / problem.total, store.weight[: store.n], problem.total, ()
        )
        eta = problem.margins(problem.solve([start], 1e-3)[0])
        expand = partial(quadratic, problem, eta)
    s.H, s.h, s.yy = summary_of(sieve, expand)
    store.clear()
    store.memory = sieve.bytes - s.H.nbytes


def quadratic(problem: Problem, margins: Array, rows: slice) -> tuple[Array, Array]:
    """Second derivatives of the loss of rows (n, q), and the response D eta - loss' of its expansion."""
    eta, y = margins[rows], problem.y[rows]
    weight = problem.store.weight[rows, None].astype(np.float64)
    if problem.kind == "softmax":
        share = softmax(eta)
        slope = share - (y[:, :1] == np.arange(problem.c))
        curve = share * (1 - share)
    elif problem.kind == "logistic":
        share = expit(eta)
        slope, curve = share - y, share * (1 - share)
    elif problem.kind == "poisson":
        share = np.exp(np.minimum(eta, 50))
        slope, curve = share - y, share
    else:
        rest = eta - y
        slope = np.clip(rest, -problem.delta, problem.delta)
        curve = np.minimum(1.0, problem.delta / np.maximum(np.abs(rest), 1e-300))
    curve = np.maximum(curve, 1e-6)
    return weight * curve, weight * (curve * eta - slope)
