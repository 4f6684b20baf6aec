"""Online MCP: [Sun] eq. (3.10), [Slides] Algorithm 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import LinearModel
from ..standardize import Standardized
from .penalized import documented, extract

if TYPE_CHECKING:
    from ..running import RunningAverages


@documented
def omcp(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    lam: float | None = None,
    gamma: float = 3.0,
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
) -> LinearModel:
    """Select features by the minimax concave penalty, from running averages.

    Parameters
    ----------
    {source}
    gamma : float > 1, default=3.0
        The constant b of eq. (3.10): weights beyond gamma lam are not shrunk. Small values are nearer to best
        subset selection, with more local minima; large ones are nearer to the lasso.
    {answer}

    Notes
    -----
    Minimises 1/2 b' S_xx b - b' S_xy + sum_j P(b_j), P'(b) = (lam - b / gamma)_+ for b > 0, Zhang (2010).
    The problem has many local minima; the one returned is reached from the empty model along a decreasing
    sequence of lam, each of which starts from the last one and ends no higher than it started, where no
    single weight can lower the objective. Given k, the path is followed beyond the first lam with more than k
    features: the right ones, once in, push others out.

    **Differences from the paper.** With a step eta, the threshold Theta(.; eta lam) of Algorithm 5 has the
    fixed points of an MCP of constant eta b, not b: at steps small enough to converge, nearly a hard
    threshold whose answer depends on the step. Here gamma is the constant of the penalty itself.
    """
    return extract(
        averages,
        "mcp",
        k,
        lam,
        method="omcp",
        refit=refit,
        fit_intercept=fit_intercept,
        scale=standardize,
        gamma=gamma,
    )
