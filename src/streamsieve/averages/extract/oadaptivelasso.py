"""Online adaptive lasso: [Slides] Algorithm 3 (OALa)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import LinearModel
from ..standardize import Standardized
from .penalized import documented, extract

if TYPE_CHECKING:
    from ..running import RunningAverages


@documented
def oadaptivelasso(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    lam: float | None = None,
    gamma: float = 1.0,
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
) -> LinearModel:
    """Select features by the adaptive lasso, from running averages.

    Parameters
    ----------
    {source}
    gamma : float > 0, default=1.0
        Exponent of the weights.
    {answer}

    Notes
    -----
    Minimises 1/2 b' S_xx b - b' S_xy + lam sum_j w_j |b_j| with w_j = |b_ols_j|^-gamma. Where S_xx is
    singular a ridge estimate takes the place of least squares; ``info["initial_ridge"]`` tells how large.

    **Differences from the paper.** Algorithm 3 rescales S_xx by the weights and takes gradient steps for the
    lasso; this is the same minimum, found by Newton steps on the support. It has gamma = 1 and no ridge.
    """
    return extract(
        averages,
        "adaptivelasso",
        k,
        lam,
        method="oadaptivelasso",
        refit=refit,
        fit_intercept=fit_intercept,
        scale=standardize,
        gamma=gamma,
    )
