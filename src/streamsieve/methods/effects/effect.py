"""The components of a model as data: curves of features, surfaces of pairs, and their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.rows import Array

if TYPE_CHECKING:
    from .tables import Tables


class Component(NamedTuple):
    """A component: the shape of one feature, or a pair.

    Attributes
    ----------
    features : tuple of int
    deviation : float
        Standard deviation of the component over its levels, the largest over outputs.
    pvalue : float or None
        For a pair: p-value of the hypothesis that its products explain nothing beyond the main shapes,
        adjusted for all pairs.
    """

    features: tuple[int, ...]
    deviation: float
    pvalue: float | None


class Curve(NamedTuple):
    """Contribution of a feature to the margin, by level.

    Attributes
    ----------
    values : array (levels,)
        Mean of the feature in each level that has rows; NaN last, if values were missing.
    effect : array (levels,), or (levels, q) for q outputs
    error : array of the shape of `effect`
        Standard error, conditional on the selection.
    rows : int array (levels,)
        Number of rows of each level.
    """

    values: Array
    effect: Array
    error: Array
    rows: Any


class Surface(NamedTuple):
    """Contribution of a pair in addition to its two curves, by both levels.

    Attributes
    ----------
    values, other : arrays (a,) and (b,)
        The means of the two features in their levels.
    effect : array (a, b), or (a, b, q) for q outputs
    pvalue : float
    """

    values: Array
    other: Array
    effect: Array
    pvalue: float


def effect(self: Any, feature: Any, other: Any = None) -> Curve | Surface:
    """Contribution of a selected feature, or of a pair, to the margin, by level.

    Parameters
    ----------
    feature, other : int or str
        Indices or names of columns; without `other`, the curve of one feature.
    """
    self._check_fitted()
    with self._model.lock:
        method = self._model.method
        names = self._feature_names()
        known = {} if names is None else {str(name): j for j, name in enumerate(names)}
        places = [known.get(f, f) if isinstance(f, str) else f for f in (feature, other) if f is not None]
        if method.linear:
            raise ValueError("The model is linear: see coef_, or pass effects='shapes' or 'pairs'.")
        tables = method.tables
        found = tables.answer
        if len(places) == 1:
            if places[0] not in found.features.tolist():
                raise ValueError(
                    f"Feature {feature!r} is not selected; get_support(indices=True) lists the selected "
                    "features."
                )
            return curve_of(method, int(places[0]))
        pairs = found.pairs.tolist()
        if places not in pairs and places[::-1] not in pairs:
            raise ValueError(
                f"The pair of {feature!r} and {other!r} is not a component; terms_ lists the components."
            )
        turned = places not in pairs
        at = pairs.index(places[::-1] if turned else places)
        table = found.pair_tables[at]
        (on, values), (on_other, others) = (_levels(tables, int(j)) for j in places)
        table = (table.swapaxes(0, 1) if turned else table)[on][:, on_other]
        return Surface(
            values, others, table[:, :, 0] if table.shape[2] == 1 else table, float(found.pvalues[at])
        )


def curve_of(method: Any, j: int) -> Curve:
    """The curve of a selected feature."""
    tables = method.tables
    found = tables.answer
    at = found.features.tolist().index(j)
    on, values = _levels(tables, j)
    curve, error = found.tables[at][on], found.errors[at][on]
    if curve.shape[1] == 1:
        curve, error = curve[:, 0], error[:, 0]
    return Curve(values, curve, error, tables.rows[tables.place(j)][on])


def _levels(tables: Tables, j: int) -> tuple[Any, Array]:
    """The levels of a feature that have rows, and their means."""
    at = tables.place(j)
    on = np.flatnonzero(tables.rows[at] > 0)
    values = tables.means[at, on]
    values[on == tables.rows.shape[1] - 1] = np.nan
    return on, values
