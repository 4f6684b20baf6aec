"""What BARDA and BAMD share: steps that each feature's own gradients shorten ([Zhai] section 4)."""

from __future__ import annotations

from typing import Any

from ..params import Param
from .heap import NOT_NEGATIVE, POSITIVE

ETA = Param(
    0.1,
    POSITIVE,
    "Step: about what a first gradient moves a weight by, whatever its size.",
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
    return {name: getattr(method, name) for name in ("eta", "alpha", "delta", "fit_intercept")}
