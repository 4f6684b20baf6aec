"""The selected features of a model and their effects: weights times standard deviations.

A weight depends on the unit of its feature: per gram it is a thousandth of that per kilogram. The effect, the
weight times the standard deviation of the feature, does not. The categories of a column are mutually
exclusive, so that the standard deviation of their weighted sum follows from their shares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Array
from .model import Model


class GroupTest(NamedTuple):
    """The test that no category of a column has a weight: F with (k, nu) degrees of freedom, and p value."""

    statistic: float
    pvalue: float


@dataclass(frozen=True)
class Feature:
    """A selected feature: its weight for each output and, if known, its uncertainty.

    Attributes
    ----------
    effects : list of float or None
        Weights times the standard deviation of the feature, which are comparable between features.
    group : str or None
        The column of categories that the feature belongs to.
    group_effect : float or None
        Standard deviation of the weighted sum of the selected features of the group.
    group_test : GroupTest or None
        Test that all their weights are zero.
    stderr, tvalue, pvalue : float or None
    interval : pair of float or None
        The 95 % interval.
    honest : bool
        Whether these are valid after selection; otherwise they are conditional on the selection.
    """

    index: int
    name: str
    weights: list[float]
    stderr: float | None
    tvalue: float | None
    pvalue: float | None = None
    interval: tuple[float, float] | None = None
    honest: bool = False
    effects: list[float] | None = None
    group: str | None = None
    group_effect: float | None = None
    group_test: GroupTest | None = None


def selected_features(model: Model) -> list[Feature]:
    """The selected features, the strongest first: by effect if standard deviations are known, else by weight.

    Categories of a column are listed together, ranked by the effect of their sum.
    """
    coef = model.coefficients()[0]
    linear = model.method.linear_model()
    error = tvalue = None
    if linear is not None and linear.stderr is not None and len(coef) == 1:
        error, tvalue = np.atleast_2d(linear.stderr)[0], np.atleast_2d(linear.tvalue)[0]
    pvalue = interval = None
    if error is not None and linear.nu is not None:
        pvalue, interval = np.atleast_2d(linear.pvalue)[0], linear.conf_int()
        interval = interval.reshape(-1, 2)
    support = np.flatnonzero(coef.any(axis=0))
    deviation = deviations(model)
    effect = None if deviation is None or len(deviation) != coef.shape[1] else coef * deviation
    own = np.abs(coef if effect is None else effect).max(axis=0, initial=0.0)
    groups = {} if effect is None else groups_of(model)
    shares = np.asarray(model.about["schema"]["mean"]) if groups else np.empty(0)
    whole, group_of = own.copy(), dict[int, str]()
    for group, members in groups.items():
        used = members[np.isin(members, support)]
        if len(used) > 1:
            whole[used] = group_effect(coef[:, used], shares[used])
            group_of |= dict.fromkeys(used.tolist(), group)
    tests = group_tests(model, groups) if error is not None and group_of else {}
    name = feature_namer(model)
    order = sorted(support.tolist(), key=lambda j: (-whole[j], group_of.get(j, ""), -own[j], j))
    return [
        Feature(
            j,
            name(j),
            coef[:, j].tolist(),
            None if error is None else float(error[j]),
            None if tvalue is None else float(tvalue[j]),
            None if pvalue is None else float(pvalue[j]),
            None if interval is None else (float(interval[j, 0]), float(interval[j, 1])),
            linear is not None and linear.honest,
            None if effect is None else effect[:, j].tolist(),
            group_of.get(j),
            float(whole[j]) if j in group_of else None,
            tests.get(group_of.get(j, "")),
        )
        for j in order
    ]


def feature_namer(model: Model) -> Callable[[int], str]:
    """Name of feature j: the name of its column, or its number in the source."""
    names, first = model.feature_names, model.first_index
    pairs = model.method.pairs
    if pairs is not None:  # products are called by both
        names = pairs.names(names or [str(j + first) for j in range(model.p)])
    return lambda j: str(j + first) if names is None else str(names[j])


def deviations(model: Model) -> Array | None:
    """Standard deviation of each feature over the rows learned, or over a sample; None if not known."""
    method: Any = model.method
    if method.pairs is not None:
        return None
    p = model.p
    if model.started and not method.linear:
        return np.ones(p)  # the weights are deviations of components
    stored = model.about.get("schema") or {}
    known = stored.get("deviation") if isinstance(stored, dict) else None
    if known is not None and len(known) == p:
        return np.asarray(known, dtype=np.float64)
    if not model.started:
        return None
    if method.on_averages:
        moments, weight = method.total.current()
        return np.sqrt(moments.variance(weight)[:p])
    store = getattr(method.state, "store", None)
    if store is None:
        return None
    out = np.zeros(p)
    out[store.columns] = store.moments(True)[1]
    return out


def groups_of(model: Model) -> dict[str, NDArray[np.int64]]:
    """The features of each column of categories with several features."""
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
    """Standard deviation of the weighted sum of mutually exclusive categories, the largest over outputs."""
    variance = (weights**2) @ share - (weights @ share) ** 2
    return float(np.sqrt(np.maximum(variance, 0.0)).max())


def group_tests(model: Model, groups: dict[str, NDArray[np.int64]]) -> dict[str, GroupTest]:
    """F tests of the selected categories of each column, if errors are classical; conditional on the
    selection."""
    from scipy.special import fdtrc

    method: Any = model.method
    linear = method.linear_model()
    if linear is None or linear.stderr is None or not method.on_averages or not linear.nu:
        return {}
    if linear.se != "classical" or linear.splits or np.ndim(linear.coef) != 1 or not np.isfinite(linear.nu):
        return {}
    support = np.asarray(linear.support)
    S = method.total.S_xx_[np.ix_(support, support)]
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
