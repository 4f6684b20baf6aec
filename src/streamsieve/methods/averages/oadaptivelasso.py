"""Online adaptive lasso: [Slides] Algorithm 3 (OALa)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.params import Param, Real
from ...statistics.linear_model import LinearModel
from ...statistics.standardize import Standardized
from .penalized import PenalizedMethod, documented, extract

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages


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
    Minimises 1/2 b' S_xx b - b' S_xy + alpha sum_j w_j |b_j| with w_j = |b_ols_j|^-gamma. If S_xx is
    singular, a ridge estimate replaces least squares; ``info["initial_ridge"]`` is its ridge.

    **Differences from the paper.** Algorithm 3 rescales S_xx by the weights and takes gradient steps for the
    lasso; this is the same minimum, found by Newton steps on the support. It has gamma = 1 and no ridge.
    """
    own = {"gamma": gamma}
    return extract(averages, "adaptivelasso", k, alpha, refit, fit_intercept, standardize, constraints, **own)


class OAdaptiveLasso(PenalizedMethod):
    """Online adaptive lasso ([Slides] Alg. 3): l1 penalty weighted by the least squares fit.

    Rows are added to running averages, which take O(p^2) memory; the model is extracted when it is read, see
    `extract.oadaptivelasso`. Labels are fitted as -1 and +1; more than two classes are learned one against
    the rest, and k counts the features of all classes together.
    """

    gamma = Param(1.0, Real(above=0), "Exponent of the weights 1 / |beta_ols|^gamma.", live=True)

    penalty = "adaptivelasso"
    options = ("gamma",)
