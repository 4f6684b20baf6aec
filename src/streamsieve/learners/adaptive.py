"""What BARDA and BAMD share: steps that each feature's own gradients shorten ([Zhai] section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..params import Or, Param
from .heap import LIMIT, NOT_NEGATIVE, POSITIVE

ETA = Param(
    "auto",
    Or("auto", POSITIVE),
    "Step: about what a first gradient moves a weight by, whatever its size. 'auto': 0.1, as in the paper, "
    "in units of the targets' root mean square, which also delta then is in.",
    symbol="eta",
    live=True,
)
ALPHA = Param(1e-4, NOT_NEGATIVE, "Strength of the penalty alpha / 2 |w|^2.", symbol="lambda", live=True)
DELTA = Param(0.01, POSITIVE, "Added to the norm of a feature's gradients.", symbol="delta", live=True)

LOSSES = {
    "regression": ("squared",),
    "classification": ("squared_hinge", "logistic", "hinge", "squared"),
}


def adaptive_rule(method: Any) -> dict[str, Any]:
    """What both kernels read of the parameters."""
    eta, delta = method.eta, method.delta
    if eta == "auto":
        centering = getattr(method.state, "centering", None)
        unit = 1.0 if centering is None else float(np.sqrt(centering.target_square)) or 1.0
        eta, delta = min(max(0.1 * unit, 1 / LIMIT), LIMIT), min(max(delta * unit, 1 / LIMIT), LIMIT)
    return {"eta": eta, "alpha": method.alpha, "delta": delta, "fit_intercept": method.fit_intercept}
