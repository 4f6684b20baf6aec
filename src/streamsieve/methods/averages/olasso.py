"""Online lasso: [Sun] section 3.2.5, Algorithm 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ...statistics.linear_model import LinearModel
from ...statistics.penalties import L1L2, Penalty
from ...statistics.standardize import Standardized
from .penalized import Options, PenalizedMethod, documented, extract, limits

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages


@documented
def olasso(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    **options: Unpack[Options],
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
    return extract(OLasso, averages, k, **options)


class OLasso(PenalizedMethod):
    """Online lasso ([Sun] Alg. 5): the l1 penalty, from running averages.

    Rows are added to running averages, which need O(p^2) memory. The model is computed from them when it is
    needed, see `extract.olasso`. Labels are fitted as -1 and +1; more than two classes are learned one
    against the rest, and k counts the features of all classes together.
    """

    weight_notes = {
        "classification": "If more features than distinct rows fit the labels perfectly, the weights are "
        "determined to 1e-8 only, and so is the equality of a row of weight 2 with that row twice."
    }

    def penalties(self, s: Standardized) -> tuple[Sequence[Penalty], dict[str, Any]]:
        return [L1L2(**limit) for limit in limits(s)], {}
