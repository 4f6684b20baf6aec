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

# Below four rows per feature, the variance of least squares harms the ranking more than the bias of a ridge.
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

    O(p^3 / 3) for the first fit (about five times that with a ridge, and O(n p^2) with few rows) and O(k^3)
    for the second; `path` gives every k for twice the cost of one.

    Parameters
    ----------
    averages : RunningAverages
    k : int in [0, p]
        Features to keep. Constant columns are never kept, so fewer remain if fewer than k columns vary.
    ridge : "auto" or float >= 0, default="auto"
        lambda of the first fit, see `ols`. "auto" adds one if S_xx is singular or n <= 4 p.
    fit_intercept : bool, default=True
    standardize : bool, default=True
        If True, compare weights of features scaled to standard deviation 1; if False, raw weights.
    **constraints
        `keep`, `penalty_factor`, `positive`, `bounds`, `groups`, `group_categories`, as in the estimators.

    Returns
    -------
    LinearModel
        Its standard errors are conditional on the selection. `ridge` is the ridge of the first fit;
        ``info["refit_ridge"]`` is that of the refit, if any.

    Notes
    -----
    1. ``(S_xx + lambda I) beta = S_xy``
    2. Keep the k largest ``|beta_j|`` (several targets: the norms of the rows), ties by the lower index.
    3. Least squares on those; with fewer than two rows per feature, with the ridge of largest marginal
       likelihood (see `ols`) and without standard errors.

    Differences from the paper: the paper uses a ridge if p > n. If n is just above p, least squares exists
    but ranks by noise: with p = 1000, n = 1010 and signal 0.1 on the design of [Sun] 4.1 it finds 14 % of the
    true features and the ridge 72 %; at n = 2000, 83 % and 91 %; at n = 3000, 95 % and 98 %. ``ridge=0``
    turns it off. The paper refits by least squares for any k; its error, 1 / (1 - k / n) times the noise, is
    unbounded as k approaches n.
    """
    s = as_standardized(averages, fit_intercept, standardize, constraints)
    k = check_k(s, k)
    beta, added = first_fit(s, ridge)
    return finish(s, beta, "olsth", refit=True, support=strongest(s, beta, k), ridge=added)


def first_fit(s: Standardized, ridge: Ridge = "auto") -> tuple[Array, float]:
    """Step 1 of Alg. 3: the weights that rank the features, and the ridge used."""
    return ols_weights(s, ridge, rows_per_feature=CROWDED)


class OLSth(AveragesMethod):
    """Online least squares with thresholding ([Sun] Alg. 3): fit all features, keep the k largest, refit.

    Rows are added to running averages, which need O(p^2) memory. The model is computed from them when it is
    needed, see `extract.olsth`. Labels are fitted as -1 and +1; more than two classes are learned one against
    the rest and share the selected features ([Sun] 3.2.6).
    """

    k, criterion, n_folds = K, CRITERION, N_FOLDS
    honest, stability = HONEST, STABILITY
    ridge = Param(
        "auto",
        RIDGE,
        "Ridge of the first fit. 'auto': a ridge is used only if the covariance matrix S_xx is singular or "
        "n <= 4 p.",
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
