"""Online adaptive lasso: [Slides] Algorithm 3 (OALa)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ...core.params import Param, Real
from ...statistics.least_squares import ols_weights
from ...statistics.linear_model import LinearModel
from ...statistics.penalties import L1L2, Penalty
from ...statistics.standardize import Standardized
from .penalized import Options, PenalizedMethod, documented, extract, limits

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages

LIGHTEST = 1e-100  # smallest weight of a penalty: with an underflow to 0 every alpha would keep a feature


@documented
def oadaptivelasso(
    averages: RunningAverages | Standardized,
    k: int | None = None,
    *,
    gamma: float = 1.0,
    **options: Unpack[Options],
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
    return extract(OAdaptiveLasso, averages, k, gamma=gamma, **options)


class OAdaptiveLasso(PenalizedMethod):
    """Online adaptive lasso ([Slides] Alg. 3): l1 penalty weighted by the least squares fit.

    Rows are added to running averages, which need O(p^2) memory. The model is computed from them when it is
    needed, see `extract.oadaptivelasso`. Labels are fitted as -1 and +1; more than two classes are learned
    one against the rest, and k counts the features of all classes together.
    """

    gamma = Param(1.0, Real(above=0), "Exponent of the weights 1 / |beta_ols|^gamma.", live=True)

    options = ("gamma",)

    def penalties(self, s: Standardized) -> tuple[Sequence[Penalty], dict[str, Any]]:
        initial, ridge = ols_weights(s)
        size = np.abs(initial * s.y_scale)  # in the units of the targets
        if s.group is not None:
            at = s.usable
            for column in size.T:
                column[at] = np.sqrt(np.bincount(s.group[at], column[at] ** 2))[s.group[at]]
        with np.errstate(divide="ignore", over="ignore"):
            weights = np.maximum(size**-self.gamma, LIGHTEST)
        penalties = [L1L2(weights=np.ascontiguousarray(w), **limit) for w, limit in zip(weights.T, limits(s))]
        return penalties, {"gamma": self.gamma, "initial_ridge": float(ridge)}
