"""The model of k features from what a sieve holds: from correlations, or from the rows themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..rows import Array
from . import errors, gram
from .folds import FOLDS
from .problem import problem_of, row_weight, summary_of, target_units
from .read import STEP, Search, choose
from .solve import Start
from .store import Ints

if TYPE_CHECKING:
    from .sieve import Sieve

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
WIDE = 1000  # columns above which two folds tell how a refit is shrunk
MATRICES = 6  # of correlations, which that takes
FEW = 2000  # rows since the last retirement on which no ridge is chosen


def from_correlations(sieve: Sieve) -> tuple[Ints, Array, Array]:
    """Features, weights (q, k) and intercepts (q,), for squared loss."""
    s, store = sieve.state, sieve.state.store
    sums = summary_of(sieve, None, store.y[: store.n]) if store.n else (s.H, s.h, s.yy)
    data = _standardised(sieve, *sums)
    ridge = gram.likely_ridge(data.G, data.C, data.n)
    s._ridge = ridge
    if sieve.k == "auto":
        kept, share = gram.select_auto(data, ridge), 0.0
    else:
        kept, share = gram.select(data, sieve.k, ridge), _refit_share(sieve, sums, ridge)
    coef, constant = data.refit(kept, ridge, [share])[0]
    intercept = constant - coef @ store.shift[kept] if sieve.fit_intercept else np.zeros(sieve.q)
    return store.columns[kept], coef, intercept


def _standardised(sieve: Sieve, H: Array, h: Array, yy: Array) -> gram.Correlations:
    shift = np.zeros(0) if sieve.fit_intercept else sieve.state.store.shift
    return gram.standardised(H[0], h, yy, shift, sieve.standardize, row_weight(sieve))


def _refit_share(sieve: Sieve, sums: tuple[Array, Array, Array], ridge: float) -> float:
    """How far a refit goes from the likeliest ridge of the selected columns to that of all, in logarithms.

    Columns that these very rows have selected look too good: where rows are few and k asks for more columns
    than matter, the likelihood shrinks them too little. So the share is that of the least error on rows that
    were left out of the selection too.
    """
    s, store = sieve.state, sieve.state.store
    few = s.H is None and sieve.half_life is None and store.total / row_weight(sieve) < 5 * store.width
    if not few or MATRICES * sums[0].nbytes > sieve.bytes:
        return 0.0
    weight = store.weight[: store.n].astype(np.float64)
    errors = np.zeros(len(SHARES))
    for j in range(2 if store.width > WIDE else FOLDS):
        H, h, yy = summary_of(
            sieve, None, store.y[: store.n], np.where(store.fold[: store.n] == j, weight, 0.0)
        )
        if not 0 < H[0, -1, -1] < sums[0][0, -1, -1]:
            continue
        data = _standardised(sieve, sums[0] - H, sums[1] - h, sums[2] - yy)
        kept = gram.select(data, sieve.k, ridge)
        places = np.append(kept, store.width)
        for a, model in enumerate(data.refit(kept, ridge, SHARES)):
            v = np.column_stack(model)
            errors[a] += (yy - 2 * (v * h[:, places]).sum(axis=1)).sum()
            errors[a] += (v @ H[0][np.ix_(places, places)] * v).sum()
    return SHARES[int(errors.argmin())]


def from_rows(sieve: Sieve) -> tuple[Ints, Array, Array]:
    """Features, weights and intercepts, for every loss; in the units of the columns that predict better."""
    s, store = sieve.state, sieve.state.store
    _, deviation = store.moments()
    varying = deviation[deviation > 0]
    if not len(varying) or (not store.n and s.H is None):
        constant = prior(sieve) if sieve.labels else np.zeros(sieve.q)
        return np.empty(0, dtype=np.int32), np.zeros((sieve.q, 0)), constant
    high, low = np.quantile(varying, [0.9, 0.1])
    exponents = (1.0, 0.0) if high > 1.5 * low and s.H is None else (1.0,)
    if not sieve.standardize:
        exponents = (0.0,)
    searches = [Search(*problem_of(sieve, e), None if sieve.k == "auto" else sieve.k) for e in exponents]
    known = s.H is not None and store.n < FEW  # then there is no choice of scaling either
    best = searches[0].at(s.ridge / searches[0].problem.total) if known else choose(searches)
    s._ridge = best.ridge
    fit, problem = best.fit()
    center, spread, _ = target_units(sieve)
    coef = fit.B / problem.scale[fit.columns] * spread[:, None]
    intercept = fit.b * spread + center - coef @ (problem.mean[fit.columns] + store.shift[fit.columns])
    return store.columns[fit.columns], coef, intercept


def refit(sieve: Sieve, features: Ints, coef: Array, intercept: Array) -> tuple[Any, tuple[Array, float]]:
    """The model without ridge, and its standard errors with their degrees of freedom."""
    s, store = sieve.state, sieve.state.store
    columns, row = np.searchsorted(store.columns, features).astype(np.int32), row_weight(sieve)
    if sieve.loss == "squared":
        H, h, yy = summary_of(sieve, None, store.y[: store.n]) if store.n else (s.H, s.h, s.yy)
        rows = H[0, -1, -1] / row
        fits = errors.least_squares(H[0], h, yy, columns, store.shift, rows, sieve.fit_intercept)
    else:
        if sieve.se == "folds" and s.H is not None:
            raise ValueError(
                f"se='folds': of {s.rows} rows {store.n} are still held, the others are summed up in "
                f"memory={sieve.memory!r}; pass more memory, or se='classical'."
            )
        fits = []
        for t in range(sieve.q):
            summary = None if s.H is None else (s.H[t], s.h[t])
            job = errors.Likelihood(store, columns, sieve.loss, t, summary, sieve.fit_intercept, row)
            fits.append(job.refit(coef[t], float(intercept[t]), str(sieve.se)))
    weights, constants = np.array([f.coef for f in fits]), np.array([f.intercept for f in fits])
    return (features, weights, constants), (np.array([f.stderr for f in fits]), fits[0].nu)


def strengths(sieve: Sieve) -> tuple[Ints, Array]:
    """The candidates, and the norms of their standardised weights in a model of all of them."""
    s, store = sieve.state, sieve.state.store
    if sieve.correlations_fit(store.width, sieve.q):
        H, h, yy = summary_of(sieve, None, store.y[: store.n]) if store.n else (s.H, s.h, s.yy)
        data = gram.standardised(H[0], h, yy, np.zeros(0), True, row_weight(sieve))
        varies = np.flatnonzero(np.diag(data.G) > 0).astype(np.int32)
        B = gram.ridge_weights(data, varies, gram.likely_ridge(data.G, data.C, data.n)).T
    else:
        problem, varies = problem_of(sieve)
        search = Search(problem, varies, sieve.least_width, one_fold=True)
        ridge = STEP**search.full_model if search.folds else 1.0
        start = Start(problem.zero(varies), ridge, store.weight[: store.n], problem.total, ())
        B = problem.solve([start])[0].B
    return store.columns[varies], np.sqrt((B**2).sum(axis=0))


def prior(sieve: Sieve) -> Array:
    """Log-odds of the classes so far, half a row of each added."""
    count = sieve.state.strata[: max(sieve.q, 2)] + 0.5
    return np.log([count[1] / count[0]]) if sieve.q == 1 else np.log(count / count.sum())
