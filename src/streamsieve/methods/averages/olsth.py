"""Online least squares with thresholding, [Sun] Alg. 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.params import Param
from ...core.rows import Array
from ...statistics.fold_averages import N_FOLDS
from ...statistics.least_squares import Ridge, ols_weights
from ...statistics.linear_model import LinearModel, as_standardized, check_k, finish, strongest
from ...statistics.standardize import Standardized
from .method import CRITERION, HONEST, RIDGE, STABILITY, AveragesMethod, K
from .path import Ints, Path, largest_size, path_over_order

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages

# Below four rows a feature, the variance of least squares costs the ranking more than a ridge's bias does.
CROWDED = 4.0


def olsth(
    averages: RunningAverages | Standardized,
    k: int,
    *,
    ridge: Ridge = "auto",
    fit_intercept: bool = True,
    standardize: bool = True,
    **constraints: Any,
) -> LinearModel:
    """The k features with the largest least-squares weights, refitted.

    O(p^3 / 3) for the first fit (some five times that where it needs a ridge, and O(n p^2) with few rows) and
    O(k^3) for the second; `path` gives every k for twice the price of one.

    Parameters
    ----------
    averages : RunningAverages
    k : int in [0, p]
        Features to keep. Constant columns are never kept, so fewer remain where fewer than k columns vary.
    ridge : "auto" or float >= 0, default="auto"
        lambda of the first fit, see `ols`. "auto" adds one where S_xx is singular or n <= 4 p.
    fit_intercept : bool, default=True
    standardize : bool, default=True
        Compare weights of features brought to deviation 1; without it, raw weights.
    **constraints
        `keep`, `penalty_factor`, `positive`, `bounds`, `groups`, `group_categories`, as of the estimators.

    Returns
    -------
    LinearModel
        Its standard errors are conditional on the selection. `ridge` is that of the first fit, that of the
        refit, if any, ``info["refit_ridge"]``.

    Notes
    -----
    1. ``(S_xx + lambda I) beta = S_xy``
    2. Keep the k largest ``|beta_j|`` (several targets: the norms of the rows), ties by the lower index.
    3. Least squares on those; below two rows a feature, with the ridge of largest marginal likelihood (see
       `ols`) and without standard errors.

    Differences from the paper: it uses a ridge where p > n. Just above, least squares exists but ranks by
    noise: with p = 1000, n = 1010 and signal 0.1 on the design of [Sun] 4.1 it finds 14 % of the true
    features and the ridge 72 %; at n = 2000, 83 % and 91 %; at n = 3000, 95 % and 98 %. ``ridge=0``
    declines it. It refits by least squares for any k, whose error, 1 / (1 - k / n) times the noise, has no
    bound as k nears n.
    """
    s = as_standardized(averages, fit_intercept, standardize, constraints)
    k = check_k(s, k)
    beta, added = first_fit(s, ridge)
    return finish(s, beta, "olsth", refit=True, support=strongest(s, beta, k), ridge=added)


def first_fit(s: Standardized, ridge: Ridge = "auto") -> tuple[Array, float]:
    """Step 1 of Alg. 3: the weights that rank the features, and the ridge behind them."""
    return ols_weights(s, ridge, rows_per_feature=CROWDED)


class OLSth(AveragesMethod):
    """Online least squares with thresholding ([Sun] Alg. 3): fit all features, keep the k largest, refit.

    Rows become running averages, O(p^2) memory; the model is extracted when it is read, see `extract.olsth`.
    Labels are fitted as -1 and +1, of more than two classes one against the rest, with one support for all
    ([Sun] 3.2.6).
    """

    k, criterion, n_folds = K, CRITERION, N_FOLDS
    honest, stability = HONEST, STABILITY
    ridge = Param(
        "auto",
        RIDGE,
        "Ridge of the first step; 'auto' adds one where S_xx is singular or n <= 4 p.",
        live=True,
    )

    options = ("ridge",)

    def extract(self, s: Standardized) -> LinearModel:
        return olsth(s, min(self.k, s.p), ridge=self.ridge)

    def path(self, s: Standardized, sizes: Ints | None, ebic_gamma: float) -> Path:
        beta, added = first_fit(s, self.ridge)
        sizes = np.arange(largest_size(s) + 1) if sizes is None else sizes
        order = strongest(s, beta, int(sizes[-1]))
        return path_over_order(s, "olsth", order, sizes, ebic_gamma, added)
