"""Online lasso: [Sun] section 3.2.5, Algorithm 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import LinearModel
from ..standardize import Standardized
from .penalized import extract

if TYPE_CHECKING:
    from ..running import RunningAverages


def olasso(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    lam: float | None = None,
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
) -> LinearModel:
    """Select features by the lasso, from running averages.

    Parameters
    ----------
    averages : RunningAverages or Standardized
        `fit_intercept` and `standardize` are settled already in the latter.
    k : int in [0, p] or None, default=None
        Follow the path from the empty model to the largest support of at most k features. With several
        targets the features of all of them count together. Exactly one of `k` and `lam` is needed.
    lam : float >= 0 or None, default=None
        Penalty lambda of eq. (3.9), in units of the target per deviation of a feature.
    refit : bool, default=True
        Fit the selected features by least squares, as the last line of Algorithm 5 does.
    fit_intercept, standardize : bool, default=True
        See `streamsieve.averages.standardize.standardize`.

    Returns
    -------
    LinearModel
        With ``info["violation"]``, the violation of the optimality conditions in standardised units.

    Notes
    -----
    Minimises 1/2 b' S_xx b - b' S_xy + lam sum_j |b_j|, eq. (3.9), on standardised averages.

    **Differences from the paper.** Algorithm 5 takes n_iter gradient steps of a fixed size. Here the same
    minimum is found to rounding by Newton steps on the support, which need no step size.
    """
    return extract(
        averages,
        "lasso",
        k,
        lam,
        method="olasso",
        refit=refit,
        fit_intercept=fit_intercept,
        scale=standardize,
    )
