"""Online adaptive lasso: [Slides] Algorithm 3 (OALa)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...params import Param, Real
from ..folds import N_FOLDS
from ..method import CRITERION, HONEST, STABILITY, AveragesMethod, K
from ..model import LinearModel
from ..standardize import Standardized
from .penalized import ALPHA, REFIT, budget, documented, extract

if TYPE_CHECKING:
    from ..running import RunningAverages


@documented
def oadaptivelasso(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    alpha: float | None = None,
    gamma: float = 1.0,
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
    **constraints: Any,
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
    Minimises 1/2 b' S_xx b - b' S_xy + alpha sum_j w_j |b_j| with w_j = |b_ols_j|^-gamma. Where S_xx is
    singular a ridge estimate takes the place of least squares; ``info["initial_ridge"]`` tells how large.

    **Differences from the paper.** Algorithm 3 rescales S_xx by the weights and takes gradient steps for the
    lasso; this is the same minimum, found by Newton steps on the support. It has gamma = 1 and no ridge.
    """
    return extract(
        averages,
        "adaptivelasso",
        k,
        alpha,
        method="oadaptivelasso",
        refit=refit,
        fit_intercept=fit_intercept,
        scale=standardize,
        constraints=constraints,
        gamma=gamma,
    )


class OAdaptiveLasso(AveragesMethod):
    """Online adaptive lasso ([Slides] Alg. 3): l1 penalty weighted by the least squares fit.

    Rows become running averages, O(p^2) memory; the model is extracted when it is read, see
    `extract.oadaptivelasso`. Labels are fitted as -1 and +1, of more than two classes one against the rest;
    the features of all count together.
    """

    k, alpha, criterion, n_folds, refit = K, ALPHA, CRITERION, N_FOLDS, REFIT
    honest, stability = HONEST, STABILITY
    gamma = Param(1.0, Real(above=0), "Exponent of the weights 1 / |beta_ols|^gamma.", live=True)

    penalty = "adaptivelasso"
    options = ("gamma",)

    def extract(self, s: Standardized) -> LinearModel:
        return oadaptivelasso(s, **budget(self, s), gamma=self.gamma)
