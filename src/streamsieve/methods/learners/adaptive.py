"""What BARDA and BAMD share: steps that shrink with the gradients of each feature ([Zhai] section 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.losses import loss_names
from ...core.params import Or, Param
from ...statistics import constraints
from .heap import NOT_NEGATIVE, POSITIVE
from .steps import resolved_constraints

ETA = Param(
    "auto",
    Or("auto", POSITIVE),
    "Step size: about the distance by which the first gradient moves a weight. 'auto': 0.1, as in the "
    "paper, times the root mean square of the targets. With 'auto', delta is also in this unit.",
    symbol="eta",
    live=True,
)
ALPHA = Param(1e-4, NOT_NEGATIVE, "Strength of the penalty alpha / 2 |w|^2.", symbol="lambda", live=True)
DELTA = Param(0.01, POSITIVE, "Added to the norm of a feature's gradients.", symbol="delta", live=True)
# groups cannot change once they compete for the budget
GROUPS = replace(constraints.GROUPS, live=False)
GROUP_CATEGORIES = replace(constraints.GROUP_CATEGORIES, live=False)

LOSSES = {
    "regression": loss_names("regression"),
    "classification": loss_names("classification", first="squared_hinge"),
}


def adaptive_rule(method: Any) -> dict[str, Any]:
    """The parameters that both kernels read."""
    eta = 0.1 if method.eta == "auto" else method.eta
    return {
        "eta": eta,
        "alpha": method.alpha,
        "delta": method.delta,
        "fit_intercept": method.fit_intercept,
        "group": group_of_features(method),
    }


def group_of_features(method: Any) -> NDArray[np.int32] | None:
    """For each feature, the number of its group; None without groups.

    Groups are numbered by their first features, so that a state that grows keeps its numbers.
    """
    known: tuple[int, NDArray[np.int32] | None] = getattr(method, "_group", (-1, None))
    if known[0] != method.p:
        resolved = resolved_constraints(method, method.p)
        group = None if resolved is None or resolved.group is None else resolved.group.astype(np.int32)
        method._group = known = (method.p, group)
    return known[1]


def features_of(method: Any, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The features of these groups, or the same where there are no groups."""
    label = group_of_features(method)
    return groups if label is None else np.flatnonzero(np.isin(label, groups))
