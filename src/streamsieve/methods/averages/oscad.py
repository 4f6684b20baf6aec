"""Online SCAD: [Sun] section 3.2.5, Fan and Li (2001)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ...core.params import Param, Real
from ...statistics.linear_model import LinearModel
from ...statistics.penalties import SCAD, Penalty
from ...statistics.standardize import Standardized
from .penalized import Options, PenalizedMethod, documented, extract, limits

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages


@documented
def oscad(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    gamma: float = 3.7,
    **options: Unpack[Options],
) -> LinearModel:
    """Select features by the smoothly clipped absolute deviation, from running averages.

    Parameters
    ----------
    {source}
    gamma : float > 2, default=3.7
        The constant a of Fan and Li: weights beyond gamma alpha are not shrunk.
    {answer}

    Notes
    -----
    Minimises 1/2 b' S_xx b - b' S_xy + sum_j P(b_j) with P'(b) = alpha for 0 < b <= alpha and
    (gamma alpha - b)_+ / (gamma - 1) beyond, Fan and Li (2001). Local minima are treated as in `omcp`.
    """
    return extract(OSCAD, averages, k, gamma=gamma, **options)


class OSCAD(PenalizedMethod):
    """Online smoothly clipped absolute deviation (Fan and Li 2001).

    Rows are added to running averages, which need O(p^2) memory. The model is computed from them when it is
    needed, see `extract.oscad`. Labels are fitted as -1 and +1; more than two classes are learned one against
    the rest, and k counts the features of all classes together.
    """

    gamma = Param(
        3.7,
        Real(above=2),
        "The penalty is constant for weights above gamma alpha in magnitude. a of Fan and Li.",
        live=True,
    )

    options = ("gamma",)

    def penalties(self, s: Standardized) -> tuple[Sequence[Penalty], dict[str, Any]]:
        return [SCAD(self.gamma, **limit) for limit in limits(s)], {"gamma": self.gamma}
