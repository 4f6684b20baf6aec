"""The model of k features from what a sieve holds: from correlations, or from the rows themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..rows import Array
from . import errors, gram
from .problem import problem_of, row_weight, summary_of, target_units
from .read import STEP, Search, choose
from .solve import Start
from .store import Ints

if TYPE_CHECKING:
    from .sieve import Sieve

FEW = 2000  # rows since the last retirement on which no ridge is chosen


def ridge_by_held_out_rows(sieve: Sieve) -> bool:
    """Whether left-out rows, of which all are at hand, choose the ridge better than the likelihood does.

    Columns that the same rows have selected look too good: where rows are few and k asks for more columns
    than matter, their likeliest ridge is too small. EBIC chooses the size but where rows are far fewer.
    """
    s, store = sieve.state, sieve.state.store
    least = 0.1 if sieve.k == "auto" else 5  # rows for each column
    return s.H is None and sieve.half_life is None and store.total / row_weight(sieve) < least * store.width


def from_correlations(sieve: Sieve) -> tuple[Ints, Array, Array]:
    """Features, weights (q, k) and intercepts (q,), for squared loss."""
    s, store = sieve.state, sieve.state.store
    H, h, yy = summary_of(sieve, None) if store.n else (s.H, s.h, s.yy)
    shift = np.zeros(0) if sieve.fit_intercept else store.shift
    data = gram.standardised(H[0], h, yy, shift, sieve.standardize, row_weight(sieve))
    s._ridge = ridge = gram.likely_ridge(data.G, data.C, data.n)
    kept = gram.select_auto(data, ridge) if sieve.k == "auto" else gram.select(data, sieve.k, ridge)
    coef, constant = data.refit(kept)
    intercept = constant - coef @ store.shift[kept] if sieve.fit_intercept else np.zeros(sieve.q)
    return store.columns[kept], coef, intercept


def from_rows(sieve: Sieve) -> tuple[Ints, Array, Array]:
    """Features, weights and intercepts, for every loss; in the units of the columns that predict better."""
    s, store = sieve.state, sieve.state.store
    _, deviation = store.moments(sieve.fit_intercept)
    varying = deviation[deviation > 0]
    high, low = np.quantile(varying, [0.9, 0.1]) if len(varying) else (1.0, 1.0)
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
        H, h, yy = summary_of(sieve, None) if store.n else (s.H, s.h, s.yy)
        rows = (store.total if sieve.half_life is None else H[0, -1, -1]) / row
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
        H, h, yy = summary_of(sieve, None) if store.n else (s.H, s.h, s.yy)
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
