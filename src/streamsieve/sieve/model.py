"""The model of k features from what a sieve holds: from correlations, or from the rows themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..rows import Array
from . import errors, gram
from .problem import problem_of, summary_of, target_units
from .read import STEP, Search
from .solve import Start
from .store import Ints

if TYPE_CHECKING:
    from .sieve import Sieve

FEW = 2000  # rows since the last retirement on which no ridge is chosen


def from_correlations(sieve: Sieve) -> tuple[Ints, Array, Array]:
    """Features, weights (q, k) and intercepts (q,), for squared loss."""
    s, store = sieve.state, sieve.state.store
    H, h, yy = summary_of(sieve, None, store.y[: store.n]) if store.n else (s.H, s.h, s.yy)
    data, mean, scale, mean_y, scale_y = gram.standardised(
        H[0], h, yy, np.zeros(0) if sieve.fit_intercept else store.shift, sieve.standardize
    )
    del H
    ridge = gram.likely_ridge(data.G, data.C, data.n)
    s._ridge = ridge
    kept = gram.select_auto(data, ridge) if sieve.k == "auto" else gram.select(data, sieve.k, ridge)
    again = gram.likely_ridge(data.G[np.ix_(kept, kept)], data.C[kept], data.n)
    coef = (gram.ridge_weights(data, kept, again) / scale[kept, None] * scale_y).T
    center = mean[kept] + store.shift[kept]
    return store.columns[kept], coef, (mean_y - coef @ center if sieve.fit_intercept else np.zeros(sieve.q))


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
    choices = []
    for exponent in exponents:
        problem, active = problem_of(sieve, exponent)
        k = None if sieve.k == "auto" else sieve.k
        if s.H is not None and store.n < FEW:
            choices.append(Search(problem, active, k).fixed(s.ridge / problem.total))
        else:
            choices.append(Search(problem, active, k).choose())
    best = min(choices, key=lambda choice: choice.score.loss)
    s._ridge = best.ridge
    fit, problem = best.fit(), best.search.problem
    center, spread, _ = target_units(sieve)
    coef = fit.B / problem.scale[fit.columns] * spread[:, None]
    intercept = fit.b * spread + center - coef @ (problem.mean[fit.columns] + store.shift[fit.columns])
    return store.columns[fit.columns], coef, intercept


def refit(sieve: Sieve, features: Ints, coef: Array, intercept: Array) -> tuple[Any, tuple[Array, float]]:
    """The model without ridge, and its standard errors with their degrees of freedom."""
    s, store = sieve.state, sieve.state.store
    columns = np.searchsorted(store.columns, features).astype(np.int32)
    if sieve.loss == "squared":
        H, h, yy = summary_of(sieve, None, store.y[: store.n]) if store.n else (s.H, s.h, s.yy)
        fits = errors.least_squares(H[0], h, yy, columns, store.shift, H[0, -1, -1], sieve.fit_intercept)
    else:
        if sieve.se == "folds" and s.H is not None:
            raise ValueError(
                f"se='folds': of {s.rows} rows {store.n} are still held, the others are summed up in "
                f"memory={sieve.memory!r}; pass more memory, or se='classical'."
            )
        fits = []
        for t in range(sieve.q):
            summary = None if s.H is None else (s.H[t], s.h[t])
            job = errors.Likelihood(store, columns, sieve.loss, t, summary, sieve.fit_intercept)
            fits.append(job.refit(coef[t], float(intercept[t]), str(sieve.se)))
    weights, constants = np.array([f.coef for f in fits]), np.array([f.intercept for f in fits])
    return (features, weights, constants), (np.array([f.stderr for f in fits]), fits[0].nu)


def strengths(sieve: Sieve) -> tuple[Ints, Array]:
    """The candidates, and the norms of their standardised weights in a model of all of them."""
    s, store = sieve.state, sieve.state.store
    if sieve.correlations_fit(store.width, sieve.q):
        H, h, yy = summary_of(sieve, None, store.y[: store.n]) if store.n else (s.H, s.h, s.yy)
        data = gram.standardised(H[0], h, yy, np.zeros(0), True)[0]
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
