"""Online least squares, [Sun] 3.2.2, with a ridge where least squares is not determined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.linalg.lapack import dpotrs
from scipy.optimize import minimize_scalar

from ..model import LinearModel, as_standardized, block, cholesky, finish
from ..standardize import Array, Standardized

if TYPE_CHECKING:
    from ..running import RunningAverages

Ridge = float | Literal["auto"]


def ols(
    averages: RunningAverages | Standardized,
    *,
    ridge: Ridge = "auto",
    fit_intercept: bool = True,
    standardize: bool = True,
) -> LinearModel:
    """Least squares on all features.

    One Cholesky factorisation, O(p^3 / 3); where a ridge is needed, one eigendecomposition, some ten times
    that.

    Parameters
    ----------
    averages : RunningAverages
    ridge : "auto" or float >= 0, default="auto"
        lambda, added to the diagonal of the standardised S_xx. "auto": none, unless S_xx is singular
        (duplicates) or there are no more rows than features; then the lambda of largest marginal likelihood.
        What was added is `ridge` of the model.
    fit_intercept : bool, default=True
    standardize : bool, default=True
        Bring the features to deviation 1 first; this matters to a ridge only.

    Returns
    -------
    LinearModel
        With standard errors where no ridge was added.

    Notes
    -----
    Solves eq. (3.6) of [Sun], ``S_xx beta = S_xy``. With a ridge, ``(S_xx + lambda I) beta = S_xy`` is the
    posterior mean under ``beta ~ N(0, sigma^2 / (n lambda) I)``, and lambda maximises the likelihood of y
    with beta integrated and sigma^2 profiled out. With the eigenvalues d and ``u = Q'S_xy`` that is the
    minimum of ::

        m log(1 - sum_i u_i^2 / (d_i + lambda)) + sum_i log(1 + d_i / lambda),    m = n - 1,

    summed over the targets, O(p) for each lambda. Unlike cross-validation (generalised or not) it has no
    pole where the degrees of freedom reach n.

    Differences from the paper: [Sun] leaves the ridge open, and [Susan] section 4 takes a constant.
    """
    s = as_standardized(averages, fit_intercept, standardize)
    support = np.flatnonzero(s.usable)
    if ridge == "auto" and determined(s):
        model = finish(s, np.zeros((s.p, s.q)), "ols", refit=True, support=support)
        if model.ridge == 0:
            return model
    beta, added = ols_weights(s, ridge)
    if added == 0:
        return finish(s, beta, "ols", refit=True, support=support)
    return finish(s, beta, "ols", support=support, ridge=added)


def ols_weights(
    s: Standardized, ridge: Ridge = "auto", *, rows_per_feature: float = 1.0
) -> tuple[Array, float]:
    """Standardised weights (p, q) of all features, and the ridge behind them.

    "auto" adds a ridge where S_xx is singular or n <= `rows_per_feature` times the features that vary.
    """
    if ridge != "auto" and not (isinstance(ridge, (int, float)) and 0 <= ridge < np.inf):
        raise ValueError(f'ridge={ridge!r} must be "auto" or a finite number >= 0.')
    if ridge != "auto" or determined(s, rows_per_feature):
        wanted = 0.0 if ridge == "auto" else float(ridge)
        L, added = cholesky(s.R, wanted)
        if ridge != "auto" or added == 0:
            beta, _ = dpotrs(L, s.r, lower=1)
            return beta, added
    return _likeliest_ridge(s)


def determined(s: Standardized, rows_per_feature: float = 1.0) -> bool:
    """Whether there are rows enough for least squares on all features that vary."""
    return s.rank - s.fit_intercept > rows_per_feature * s.usable.sum()


def _likeliest_ridge(s: Standardized) -> tuple[Array, float]:
    beta = np.zeros((s.p, s.q))
    use = np.flatnonzero(s.usable)
    varying = s.y_scale > 0
    if len(use) == 0 or not varying.any():
        return beta, 0.0
    d, Q = np.linalg.eigh(block(s.R, use))
    d = np.maximum(d, 0.0)
    u = Q.T @ s.r[use]
    u2 = u[:, varying] ** 2
    m = max(s.n - s.fit_intercept, 1.0)

    def deviance(log_lam: float) -> float:
        lam = np.exp(log_lam)
        left = np.maximum(1.0 - (u2 / (d + lam)[:, None]).sum(0), 1e-15)  # > 0 but for rounding
        return float(m * np.log(left).sum() + len(left) * np.log1p(d / lam).sum())

    # The likelihood can have two modes: a grid finds the basin, a search its bottom. Below the first point
    # rounding would begin to show in the weights; above the last they are all but zero.
    grid = np.log(d.mean()) + np.log(10) * np.linspace(-6, 4, 51)
    best = int(np.argmin([deviance(x) for x in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    lam = float(np.exp(minimize_scalar(deviance, bounds=around, method="bounded", options={"xatol": 1e-3}).x))
    beta[use] = Q @ (u / (d + lam)[:, None])
    return beta, lam
