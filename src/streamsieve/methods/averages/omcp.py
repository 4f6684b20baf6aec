"""Online MCP: [Sun] eq. (3.10), [Slides] Algorithm 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ...core.params import Param, Real
from ...statistics.linear_model import LinearModel
from ...statistics.penalties import MCP, Penalty
from ...statistics.standardize import Standardized
from .penalized import Options, PenalizedMethod, documented, extract, limits

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages


@documented
def omcp(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    gamma: float = 3.0,
    **options: Unpack[Options],
) -> LinearModel:
    """Select features by the minimax concave penalty, from running averages.

    Parameters
    ----------
    {source}
    gamma : float > 0, default=3.0
        The constant b of eq. (3.10): weights beyond gamma alpha are not shrunk. Small values are nearer to
        best subset selection, with more local minima; large ones are nearer to the lasso. Up to 1 the
        penalty is that of a hard threshold: weights are zero or not shrunk.
    {answer}

    Notes
    -----
    Minimises 1/2 b' S_xx b - b' S_xy + sum_j P(b_j), P'(b) = (alpha - b / gamma)_+ for b > 0, Zhang (2010).
    The problem has many local minima; the one returned is reached from the empty model along a decreasing
    sequence of alpha, each of which starts from the last one and ends no higher than it started, where no
    single weight can lower the objective. Given k, the path is followed until k weights are beyond gamma
    alpha, or points that are not locally convex fit no better. The result is the largest support of at most k
    features, unless the k strongest features of a larger support leave 5 % less variance unexplained: once
    the true features are beyond the penalty and have displaced others, the path seldom returns to exactly k
    features.

    **Differences from the paper.** With a step eta, the threshold Theta(.; eta alpha) of Algorithm 5 has the
    fixed points of an MCP of constant eta b, not b: at steps small enough to converge, nearly a hard
    threshold whose result depends on the step. Here gamma is the constant of the penalty itself; eta b
    reaches the paper's fixed points.
    """
    return extract(OMCP, averages, k, gamma=gamma, **options)


class OMCP(PenalizedMethod):
    """Online minimax concave penalty ([Sun] eq. 3.10): sparse without the lasso's bias.

    Rows are added to running averages, which need O(p^2) memory. The model is computed from them when it is
    needed, see `extract.omcp`. Labels are fitted as -1 and +1; more than two classes are learned one against
    the rest, and k counts the features of all classes together.
    """

    gamma = Param(
        3.0,
        Real(above=0),
        "The penalty is constant for weights above gamma alpha in magnitude. If gamma is at most 1, the "
        "method is a hard threshold. b of [Sun] eq. (3.10).",
        live=True,
    )

    options = ("gamma",)

    def penalties(self, s: Standardized) -> tuple[Sequence[Penalty], dict[str, Any]]:
        return [MCP(self.gamma, **limit) for limit in limits(s)], {"gamma": self.gamma}
