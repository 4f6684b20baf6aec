"""Online elastic net: [Sun] section 3.2.5, Algorithm 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import LinearModel
from ..standardize import Standardized
from .penalized import documented, extract

if TYPE_CHECKING:
    from ..running import RunningAverages


@documented
def oelasticnet(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    lam: float | None = None,
    l1_ratio: float = 0.99,
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
) -> LinearModel:
    """Select features by the elastic net, from running averages.

    Parameters
    ----------
    {source}
    l1_ratio : float in (0, 1], default=0.99
        Share of the lasso in the penalty; 1 is the lasso. The papers do not give theirs; their detection
        rates are those of the lasso, which 0.99 keeps, while 0.5 loses a quarter of the true features at
        correlation 0.5.
    {answer}

    Notes
    -----
    Minimises 1/2 b' S_xx b - b' S_xy + lam sum_j (l1_ratio |b_j| + (1 - l1_ratio) b_j^2 / 2) on standardised
    averages.

    **Differences from the paper.** Algorithm 5 takes n_iter gradient steps of a fixed size. Here the same
    minimum is found to rounding by Newton steps on the support, which need no step size.
    """
    return extract(
        averages,
        "elasticnet",
        k,
        lam,
        method="oelasticnet",
        refit=refit,
        fit_intercept=fit_intercept,
        scale=standardize,
        l1_ratio=l1_ratio,
    )
