"""Online elastic net: [Sun] section 3.2.5, Algorithm 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ...core.params import Param, Real
from ...statistics.linear_model import LinearModel
from ...statistics.penalties import L1L2, Penalty
from ...statistics.standardize import Standardized
from .penalized import Options, PenalizedMethod, documented, extract, limits

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages


@documented
def oelasticnet(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    l1_ratio: float = 0.999,
    **options: Unpack[Options],
) -> LinearModel:
    """Select features by the elastic net, from running averages.

    Parameters
    ----------
    {source}
    l1_ratio : float in (0, 1], default=0.999
        Share of the lasso in the penalty; 1 is the lasso. The papers do not give theirs; their detection
        rates are those of the lasso, which 0.999 keeps; smaller values lose up to half of the true features
        at correlation 0.5. `alpha` is in units of the target, so that the ridge grows with the target's
        standard deviation.
    {answer}

    Notes
    -----
    Minimises 1/2 b' S_xx b - b' S_xy + alpha sum_j (l1_ratio |b_j| + (1 - l1_ratio) b_j^2 / 2) on
    standardised averages.

    **Differences from the paper.** Algorithm 5 takes n_iter gradient steps of a fixed size. Here the same
    minimum is found to rounding by Newton steps on the support, which need no step size.
    """
    return extract(OElasticNet, averages, k, l1_ratio=l1_ratio, **options)


class OElasticNet(PenalizedMethod):
    """Online elastic net ([Sun] Alg. 5): l1 and l2 penalty, from running averages.

    Rows are added to running averages, which need O(p^2) memory. The model is computed from them when it is
    needed, see `extract.oelasticnet`. Labels are fitted as -1 and +1; more than two classes are learned one
    against the rest, and k counts the features of all classes together.
    """

    weight_notes = {
        "classification": "If more features than distinct rows fit the labels perfectly, the weights are "
        "determined to 1e-8 only, and so is the equality of a row of weight 2 with that row twice."
    }
    l1_ratio = Param(
        0.999,
        Real(above=0, most=1),
        "Share of the l1 penalty; 1 is the lasso. Smaller values keep correlated features together and find "
        "fewer of the true ones.",
        live=True,
    )

    options = ("l1_ratio",)

    def penalties(self, s: Standardized) -> tuple[Sequence[Penalty], dict[str, Any]]:
        units = s.y_scale.tolist()
        penalties = [L1L2(self.l1_ratio, unit=unit, **limit) for unit, limit in zip(units, limits(s))]
        return penalties, {"l1_ratio": self.l1_ratio}
