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
        if method.linear:
            raise ValueError("The model is linear: see coef_, or pass effects='shapes' or 'pairs'.")
        names = self._feature_names()
        known: dict[Any, Any] = {} if names is None else {str(name): j for j, name in enumerate(names)}
        i, j = (known.get(f, f) if isinstance(f, str) else f for f in (feature, other))
        tables = method.tables
        if other is None and i not in tables.answer.features.tolist():
            raise ValueError(
                f"Feature {feature!r} is not selected; get_support(indices=True) lists the selected features."
            )
        pairs = tables.answer.pairs.tolist()
        if other is not None and [i, j] not in pairs and [j, i] not in pairs:
            raise ValueError(
                f"The pair of {feature!r} and {other!r} is not a component; terms_ lists the components."
            )
        return curve_of(tables, i) if other is None else surface_of(tables, i, j)


def curve_of(tables: Tables, j: int) -> Curve:
    """The curve of a selected feature."""
    found, (on, values) = tables.answer, _levels(tables, j)
    at = found.features.tolist().index(j)
    curve, error = _of_output(found.tables[at][on]), _of_output(found.errors[at][on])
    return Curve(values, curve, error, tables.rows[tables.place(j)][on])


def surface_of(tables: Tables, i: int, j: int) -> Surface:
    """The surface of a pair, in either order."""
    found, (on, values), (on_other, others) = tables.answer, _levels(tables, i), _levels(tables, j)
    at = found.pairs.tolist().index(sorted([i, j]))
    table = found.pair_tables[at] if i < j else found.pair_tables[at].swapaxes(0, 1)
    return Surface(values, others, _of_output(table[on][:, on_other]), float(found.pvalues[at]))


def _levels(tables: Tables, j: int) -> tuple[Any, Array]:
    """The levels of a feature that have rows, and their means; NaN for that of missing values."""
    at = tables.place(j)
    on = np.flatnonzero(tables.rows[at] > 0)
    values = tables.means[at, on]
    values[on == tables.rows.shape[1] - 1] = np.nan
    return on, values


def _of_output(table: Array) -> Array:
    """Without the last axis if there is one output only."""
    return table[..., 0] if table.shape[-1] == 1 else table
