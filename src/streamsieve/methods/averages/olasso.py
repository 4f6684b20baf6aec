"""Online lasso: [Sun] section 3.2.5, Algorithm 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...statistics.linear_model import LinearModel
from ...statistics.standardize import Standardized
from .penalized import PenalizedMethod, documented, extract

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages


@documented
def olasso(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    alpha: float | None = None,
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
    **constraints: Any,
) -> LinearModel:
    """Select features by the lasso, from running averages.

    Parameters
    ----------
    {source}
    {answer}

    Notes
    -----
    Minimises 1/2 b' S_xx b - b' S_xy + alpha sum_j |b_j|, eq. (3.9), on standardised averages.

    **Differences from the paper.** Algorithm 5 takes n_iter gradient steps of a fixed size. Here the same
    minimum is found to rounding by Newton steps on the support, which need no step size.
    """
    return extract(averages, "lasso", k, alpha, refit, fit_intercept, standardize, constraints)


class OLasso(PenalizedMethod):
    """Online lasso ([Sun] Alg. 5): the l1 penalty, from running averages.

    Rows are added to running averages, which take O(p^2) memory; the model is extracted when it is read, see
    `extract.olasso`. Labels are fitted as -1 and +1; more than two classes are learned one against the rest,
    and k counts the features of all classes together.
    """

    weight_notes = {
        "classification": "If more features than distinct rows fit the labels perfectly, the weights are "
        "determined to 1e-8 only, and so is the equality of a row of weight 2 with that row twice."
    }
    penalty = "lasso"
