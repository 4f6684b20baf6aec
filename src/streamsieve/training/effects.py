"""How much features move the prediction: weights times deviations, of single features and of whole columns.

A weight depends on the unit of its feature: per gram it is a thousandth of that per kilogram. The effect, the
weight times the deviation of the feature, does not. The categories of a column exclude each other, so that
the deviation of their weighted sum follows from their shares alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Array

if TYPE_CHECKING:
    from .model import Model


class GroupTest(NamedTuple):
    """The test that no category of a column has a weight: F with (k, nu) degrees of freedom, and p value."""

    statistic: float
    pvalue: float


def deviations(model: Model) -> Array | None:
    """The deviation of each feature over the rows learned, or looked at; None where nothing tells."""
    method: Any = model.method
    p = model.p if getattr(method, "pairs", None) is None else None
    if p is None:
        return None
    stored = model.about.get("schema") or {}
    known = stored.get("deviation") if isinstance(stored, dict) else None
    if known is not None and len(known) == p:
        return np.asarray(known, dtype=np.float64)
    if not model.started:
        return None
    if hasattr(method, "averages"):
        averages = method.averages.total() if hasattr(method.averages, "total") else method.averages
        moments, weight = averages.current()
        return np.sqrt(moments.variance(weight)[:p])
    store = getattr(method.state, "store", None)
    if store is None:
        return None
    out = np.zeros(p)
    out[store.columns] = store.moments(True)[1]
    return out


def groups_of(model: Model) -> dict[str, NDArray[np.int64]]:
    """The features of each column of categories, of which there are several."""
    from ..sources.schema import Schema

    if not isinstance(model.about.get("schema"), dict):
        return {}
    names = Schema.from_plain(model.about["schema"]).groups
    if len(names) != model.p:
        return {}
    found: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        found.setdefault(name, []).append(j)
    return {name: np.array(at) for name, at in found.items() if len(at) > 1}


def group_effect(weights: Array, share: Array) -> float:
    """The deviation of the sum of weighted categories that exclude each other, the largest over outputs."""
    variance = (weights**2) @ share - (weights @ share) ** 2
    return float(np.sqrt(np.maximum(variance, 0.0)).max())


def group_tests(model: Model, groups: dict[str, NDArray[np.int64]]) -> dict[str, GroupTest]:
    """F tests of the selected categories of each column, where errors are classical; given the selection."""
    from scipy.special import fdtrc

    linear, method = model.method.linear_model(), model.method
    if linear is None or linear.stderr is None or not hasattr(method, "averages") or not linear.nu:
        return {}
    if linear.se != "classical" or linear.splits or np.ndim(linear.coef) != 1 or not np.isfinite(linear.nu):
        return {}
    averages: Any = method.averages.total() if hasattr(method.averages, "total") else method.averages
    support = np.asarray(linear.support)
    S = averages.S_xx_[np.ix_(support, support)]
    unit = np.sqrt(np.maximum(np.diag(S), 1e-300))
    try:
        inverse = np.linalg.inv(S / np.outer(unit, unit)) / np.outer(unit, unit)
    except np.linalg.LinAlgError:
        return {}
    covariance = inverse * float(linear.sigma2) / linear.n
    out = {}
    for name, features in groups.items():
        at = np.flatnonzero(np.isin(support, features))
        if len(at) < 2:
            continue
        b = np.asarray(linear.coef)[support[at]]
        try:
            F = float(b @ np.linalg.solve(covariance[np.ix_(at, at)], b)) / len(at)
        except np.linalg.LinAlgError:
            continue
        if np.isfinite(F) and F >= 0:
            out[name] = GroupTest(F, float(fdtrc(len(at), float(linear.nu), F)))
    return out
