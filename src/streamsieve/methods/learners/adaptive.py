"""What BARDA and BAMD share: steps that each feature's own gradients shorten ([Zhai] section 4)."""

from __future__ import annotations

from typing import Any

from ...core.losses import loss_names
from ...core.params import Or, Param
from .heap import NOT_NEGATIVE, POSITIVE

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
    "regression": loss_names("regression"),
    "classification": loss_names("classification", first="squared_hinge"),
}


def adaptive_rule(method: Any) -> dict[str, Any]:
    """What both kernels read of the parameters."""
    eta = 0.1 if method.eta == "auto" else method.eta
    return {
        "eta": eta,
        "alpha": method.alpha,
        "delta": method.delta,
        "fit_intercept": method.fit_intercept,
    }
