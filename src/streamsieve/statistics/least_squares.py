"""Least squares on all features, with a ridge if the solution is not unique: [Sun] 3.2.2."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core import linalg
from ..core.rows import Array
from .constraints import Constraints
from .linear_model import LinearModel, as_standardized, finish
from .newton import within
from .ridge import block, cholesky, likeliest_ridge, low_rank_ridge
from .standardize import Standardized

if TYPE_CHECKING:
    from .running import RunningAverages

Ridge = float | Literal["auto"]

REFUSED = {name: "uses all features; leave it out." for name in ("keep", "groups", "group_categories")}


def ols(
    averages: RunningAverages | Standardized,
    *,
    ridge: Ridge = "auto",
    fit_intercept: bool = True,
    standardize: bool = True,
    **constraints: Any,
) -> LinearModel:
    """Least squares on all features.

    One Cholesky factorisation, O(p^3 / 3). If a ridge is needed, a Householder reduction instead, O(4 p^3 /
    3), or O(n p^2) with few rows.

    Parameters
    ----------
    averages : RunningAverages
    ridge : "auto" or float >= 0, default="auto"
        lambda, added to the diagonal of the standardised S_xx. "auto": 0, unless S_xx is singular
        (duplicates) or there are no more rows than features; then the lambda of largest marginal likelihood.
        `ridge` of the model is the value used.
    fit_intercept : bool, default=True
    standardize : bool, default=True
        If True, scale the features to standard deviation 1 first; this affects only a ridge.
    **constraints
        `penalty_factor` (of the ridge), `positive`, `bounds`, as in the estimators.

    Returns
    -------
    LinearModel
        With standard errors if no ridge was added.

    Notes
    -----
    Solves eq. (3.6) of [Sun], ``S_xx beta = S_xy``. With a ridge, ``(S_xx + lambda I) beta = S_xy`` is the
    posterior mean under ``beta ~ N(0, sigma^2 / (n lambda) I)``, and lambda maximises the likelihood of y
    with beta integrated and sigma^2 profiled out. With the eigenvalues d and ``u = Q'S_xy`` that is the
    minimum of ::

        m log(1 - sum_i u_i^2 / (d_i + lambda)) + sum_i log(1 + d_i / lambda),    m = n - 1,

    summed over the targets; a reduction to a band matrix instead of eigenvectors gives the same sums, O(p)
    for each lambda. Unlike (generalised) cross-validation it has no pole where the degrees of freedom reach
    n.

    Differences from the paper: [Sun] does not specify the ridge, and [Susan] section 4 uses a constant.
    """
    Constraints(**constraints).check("OLS", REFUSED)
    s = as_standardized(averages, fit_intercept, standardize, constraints)
    support = np.flatnonzero(s.usable)
    if ridge == "auto" and determined(s):
        model = finish(s, np.zeros((s.p, s.q)), "ols", refit="ols", support=support)
        if model.ridge == 0:
            return model
    beta, added = ols_weights(s, ridge, factor=s.factor)
    if added == 0:
        return finish(s, beta, "ols", refit="ols", support=support)
    return finish(s, beta, "ols", support=support, ridge=added)


def ols_weights(
    s: Standardized,
    ridge: Ridge = "auto",
    *,
    rows_per_feature: float = 1.0,
    factor: Array | None = None,
) -> tuple[Array, float]:
    """Standardised weights (p, q) of all features, and the ridge used; respects bounds.

    "auto" adds a ridge if S_xx is singular or n <= `rows_per_feature` times the number of features that vary.
    A ridge is multiplied by the factors of the features.
    """
    if ridge != "auto" and not (isinstance(ridge, (int, float)) and 0 <= ridge < np.inf):
        raise ValueError(f'ridge={ridge!r} must be "auto" or a finite number >= 0.')
    if ridge != "auto" or determined(s, rows_per_feature):
        wanted = 0.0 if ridge == "auto" else float(ridge)
        R = s.R if factor is None else s.R + np.diag(wanted * factor)
        L, added = cholesky(R, wanted if factor is None else 0.0)
        if ridge != "auto" or added == 0:
            return _solved(s, L, max(added, wanted), factor)
    beta, lam = _likeliest_ridge(s if factor is None else _in_units(s, factor))
    if factor is None and s.box is None:
        return beta, lam
    L, _ = cholesky(s.R + np.diag(lam * (np.ones(s.p) if factor is None else factor)))
    return _solved(s, L, lam, factor)


def _solved(s: Standardized, L: Array, ridge: float, factor: Array | None) -> tuple[Array, float]:
    """The weights for a ridge; L is the Cholesky factor of the matrix with this ridge."""
    if s.box is None:
        beta, _ = linalg.dpotrs(L, s.r, lower=1)
        return beta, ridge
    A = s.R + np.diag(ridge * (np.ones(s.p) if factor is None else factor))
    return within(A, s.r, *s.box), ridge


def _in_units(s: Standardized, factor: Array) -> Standardized:
    """The averages of features rescaled so that a common ridge equals a ridge with these factors."""
    unit = 1 / np.sqrt(np.where(factor > 0, factor, 1.0))
    return replace(s, R=s.R * np.outer(unit, unit), r=s.r * unit[:, None])


def determined(s: Standardized, rows_per_feature: float = 1.0) -> bool:
    """Whether there are enough rows for least squares on all features that vary."""
    return s.rank - s.fit_intercept > rows_per_feature * s.usable.sum()


def _likeliest_ridge(s: Standardized) -> tuple[Array, float]:
    beta = np.zeros((s.p, s.q))
    use = np.flatnonzero(s.usable)
    varying = s.y_scale > 0
    if len(use) == 0 or not varying.any():
        return beta, 0.0
    m = max(s.n - s.fit_intercept, 1.0)
    R, r = block(s.R, use).T.copy(order="F"), s.r[np.ix_(use, varying)]
    few = s.rank - s.fit_intercept < len(use) / 2
    beta[np.ix_(use, varying)], lam = low_rank_ridge(R, r, m) if few else likeliest_ridge(R, r, m)
    return beta, lam
