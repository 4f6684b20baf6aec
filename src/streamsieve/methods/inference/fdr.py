"""Selection at a false discovery rate: on average, at most a share q of the selected features is false."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...core.rows import Array
from ...statistics.fold_averages import FoldAverages
from ...statistics.linear_model import LinearModel, finish
from ...statistics.standardize import Standardized, standardize
from .choice import check_share, filled_folds
from .knockoffs import knockoffs
from .ols import Errors, ols, standardized_of
from .split import split

Method = Literal["bh", "by", "knockoff", "screen"]


def fdr(
    averages: Any,
    q: float = 0.1,
    method: Method = "bh",
    *,
    se: Errors = "classical",
    fit_intercept: bool = True,
    **options: Any,
) -> LinearModel:
    """Select the features at a false discovery rate of q.

    Parameters
    ----------
    averages : RunningAverages, FoldAverages or FourthMoments
        As `se` requires; "screen" needs `FoldAverages`.
    q : float in (0, 1), default=0.1
    method : {"bh", "by", "knockoff", "screen"}, default="bh"
        "bh": Benjamini and Hochberg (1995) on the p-values of least squares on all features; needs n > p.
        "by": Benjamini and Yekutieli (2001), under any dependence, with less power. "knockoff": see
        `knockoffs`. "screen": for n <= p; select features on half of the folds, and test them by "bh" on the
        other half.
    se : {"classical", "folds", "cluster", "hc1"}, default="classical"
        Kind of standard errors, see `ols`. If the noise variance differs between rows, "classical" and
        "knockoff" do not control the rate, but "folds" does.
    fit_intercept : bool, default=True
    **options
        For "knockoff": `statistic`, `draws`, `random_state`. For "screen": `by` (the method that selects,
        default "ofsa"), `k`, `select`, `random_state`; k is n / log n of the other half by default (Fan and
        Lv, 2008).

    Returns
    -------
    LinearModel
        For "bh", "by" and "screen": the weights of the tests, not refitted, and intervals that control the
        false coverage rate (`honest`); `info` has the `pvalue` of all tested features. For "knockoff": least
        squares on the selection, with errors conditional on the selection.

    Notes
    -----
    "screen" tests whether a feature has a weight in the model of all screened features. If a feature stands
    for another one that the screening missed, it does not count as a false discovery. With several targets, a
    feature is tested for all of them together: its p-value is the smallest p-value times the number of
    targets.
    """
    q = check_share("q", q)
    if method not in get_args(Method):
        raise ValueError(f"method={method!r} is not one of {', '.join(map(repr, get_args(Method)))}.")
    known = {
        "knockoff": ("statistic", "draws", "random_state"),
        "screen": ("by", "k", "select", "random_state"),
    }
    unknown = [name for name in options if name not in known.get(method, ())]
    if unknown:
        allowed = ", ".join(known.get(method, ())) or "none"
        raise TypeError(f"method={method!r} has no option {unknown[0]!r}; it has: {allowed}.")
    if method == "knockoff":
        if se != "classical":
            raise ValueError(
                f'method="knockoff" assumes constant noise variance; se={se!r} is for "bh" and "by".'
            )
        return knockoffs(averages, q, fit_intercept=fit_intercept, **options)
    if method == "screen":
        return _screen(averages, q, se, fit_intercept, **options)
    full = ols(averages, se=se, fit_intercept=fit_intercept)
    s = standardized_of(averages, fit_intercept)
    return discoveries(full, s, q, method)


def _screen(
    folds: FoldAverages,
    q: float,
    se: Errors,
    fit_intercept: bool,
    by: Any = "ofsa",
    k: Any = None,
    select: float = 0.5,
    random_state: Any = None,
) -> LinearModel:
    filled = filled_folds(folds, 2, 'fdr(method="screen")')
    if isinstance(by, str) and k is None:
        n = folds.subset(filled).total().effective_n_ * (1 - check_share("select", select))
        k = max(1, min(int(n / np.log(max(n, 3.0))), folds.folds_[0].n_features_ or 1))
    screened = split(
        folds, by, k, select=select, se=se, fit_intercept=fit_intercept, random_state=random_state
    )
    held = folds.subset(screened.info["held_out"]).total()
    return discoveries(screened, standardize(held, fit_intercept=fit_intercept), q, "screen")


def discoveries(full: LinearModel, s: Standardized, q: float, method: str) -> LinearModel:
    """The features of a tested model whose null hypothesis is rejected at q, with unchanged weights and
    errors."""
    p = np.atleast_2d(np.asarray(full.pvalue))
    tested = full.support[~np.isnan(p[:, full.support]).all(axis=0)]
    smallest = np.minimum(1.0, s.q * np.nan_to_num(p[:, tested], nan=1.0).min(axis=0, initial=1.0))
    support = tested[reject(smallest, q, by=method == "by")]
    beta = np.zeros((s.p, s.q))
    scale = np.where(s.y_scale > 0, s.y_scale, 1.0)
    beta[support] = (np.atleast_2d(full.coef)[:, support] * s.x_scale[support] / scale[:, None]).T
    model = finish(s, beta, method, support=support, pvalue=np.asarray(full.pvalue), q=q, **full.info)
    outside = np.setdiff1d(np.arange(s.p), support)
    stderr, tvalue = np.array(full.stderr), np.array(full.tvalue)
    stderr[..., outside] = tvalue[..., outside] = 0.0
    return replace(
        model,
        stderr=stderr,
        tvalue=tvalue,
        nu=full.nu,
        se=full.se,
        dropped=full.dropped,
        honest=True,
        fcr=max(len(support), 1) / max(len(tested), 1),
    )


def reject(p: Array, q: float, *, by: bool = False) -> NDArray[np.int64]:
    """The hypotheses that the step-up procedure rejects at level q, ascending; `by`: under any dependence."""
    m = len(p)
    if m == 0:
        return np.empty(0, dtype=np.int64)
    q = q / np.sum(1 / np.arange(1, m + 1)) if by else q
    order = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[order] <= q * np.arange(1, m + 1) / m)
    return np.sort(order[: below[-1] + 1]) if len(below) else np.empty(0, dtype=np.int64)
