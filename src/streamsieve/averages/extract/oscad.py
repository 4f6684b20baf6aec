"""Online SCAD: [Sun] section 3.2.5, Fan and Li (2001)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import LinearModel
from ..standardize import Standardized
from .penalized import documented, extract

if TYPE_CHECKING:
    from ..running import RunningAverages


@documented
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
    {source}
    gamma : float > 2, default=3.7
        The constant a of Fan and Li: weights beyond gamma lam are not shrunk.
    {answer}

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
