"""Online lasso: [Sun] section 3.2.5, Algorithm 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import LinearModel
from ..standardize import Standardized
from .penalized import documented, extract

if TYPE_CHECKING:
    from ..running import RunningAverages


@documented
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
    {source}
    {answer}

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
