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

    Rows become running averages, O(p^2) memory; the model is extracted when it is read, see
    `extract.olasso`. Labels are fitted as -1 and +1, of more than two classes one against the rest; the
    features of all count together.
    """

    weight_notes = {
        "classification": "Where more features than there are different rows fit the labels perfectly, their "
        "weights are determined to 1e-8 only, and a row of weight 2 is that row twice to as much."
    }
    penalty = "lasso"
