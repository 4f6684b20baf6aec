"""Online SCAD: [Sun] section 3.2.5, Fan and Li (2001)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import LinearModel
from ..standardize import Standardized
from .penalized import extract

if TYPE_CHECKING:
    from ..running import RunningAverages


def oscad(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    lam: float | None = None,
    gamma: float = 3.7,
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
) -> LinearModel:
    """Select features by the smoothly clipped absolute deviation, from running averages.

    Parameters
    ----------
    averages : RunningAverages or Standardized
        `fit_intercept` and `standardize` are settled already in the latter.
    k : int in [0, p] or None, default=None
        Follow the path from the empty model to the largest support of at most k features. With several
        targets the features of all of them count together. Exactly one of `k` and `lam` is needed.
    lam : float >= 0 or None, default=None
        Penalty lambda of eq. (3.9), in units of the target per deviation of a feature.
    gamma : float > 2, default=3.7
        The constant a of Fan and Li: weights beyond gamma lam are not shrunk.
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
    Minimises 1/2 b' S_xx b - b' S_xy + sum_j P(b_j) with P'(b) = lam for 0 < b <= lam and
    (gamma lam - b)_+ / (gamma - 1) beyond, Fan and Li (2001). Local minima are treated as in `omcp`.
    """
    return extract(
        averages,
        "scad",
        k,
        lam,
        method="oscad",
        refit=refit,
        fit_intercept=fit_intercept,
        scale=standardize,
        gamma=gamma,
    )
