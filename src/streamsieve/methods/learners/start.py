"""Where truncating learners start: from a model of a first batch ([Susan] 3.2), or in `fit` from all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.params import OneOf, Param
from ...core.rows import Array, Rows
from .steps import chosen

INIT = Param(
    "gradient",
    OneOf("gradient", "zero"),
    "Start of `fit` for data in memory. 'gradient': a step along the gradient of all rows, restricted to "
    "the k features with the largest gradients; 'zero': zero weights, as in `partial_fit` and in the paper. "
    "The features kept first are seldom replaced.",
)


def start_from(
    self: Any, model: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None
) -> Any:
    """Forget everything and start from a model that was fitted on a first batch; continue with `partial_fit`.

    Truncated gradient descent needs a good start to find the true features ([Susan] 3.1).

    Parameters
    ----------
    model : LinearModel, fitted linear estimator or (coef, intercept)
        Its k largest weights are the start.
    X, y : arrays, as for `partial_fit`
        The first batch: not learned, but used for the scale of the features and the length of the steps.
    classes : sequence or None
        For classifiers: all labels of the stream, if y does not contain all of them.
    sample_weight : array of shape (n,) or None
    """
    return self._partial_fit(X, y, classes, sample_weight, None, start=model)


def start_by_gradient(method: Any, rows: Rows, y: Array, w: Array | None) -> None:
    """Start `fit` with a least-squares step on all rows, on k features chosen before its length.

    That is the first step of normalised iterative hard thresholding (Blumensath and Davies 2010), in units of
    the features if the method has units. The step of one row cannot distinguish a true feature from noise,
    and the features kept first are seldom replaced.
    """
    weight = np.ones(len(rows)) if w is None else w / w.max()
    centre = weight @ y / weight.sum() if method.fit_intercept else np.zeros(y.shape[1])
    y = y - centre
    largest_y = np.abs(y).max() or 1.0
    y /= largest_y
    with np.errstate(over="ignore", invalid="ignore"):  # no start if it overflows
        mean, unit, gradient = first_gradient(method, rows, y, weight)
        kept = chosen(method, np.square(gradient).sum(axis=1))
        coef = np.zeros_like(gradient)
        coef[kept] = gradient[kept] / unit[kept]
        scores = rows.scores(coef, -mean @ coef)
        covered, square = weight @ (scores * y), weight @ np.square(scores)
        coef *= largest_y * np.where(square > 0, covered / np.where(square > 0, square, 1.0), 0.0)
        intercept = centre - mean @ coef
    if np.isfinite(coef).all() and np.isfinite(intercept).all():
        method.set_weights(coef.T, intercept)


def first_gradient(method: Any, rows: Rows, y: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Means (p,) and units (p, 1) of the features, and the gradients (p, q) at zero in these units."""
    p = method.p
    sums = np.zeros((p, 3 + y.shape[1]))
    sums[: rows.p] = rows.column_sums(weight, y)
    total, square, gradient = sums[:, 1], sums[:, 2], sums[:, 3:]
    mean = total / weight.sum() if method.fit_intercept else np.zeros(p)
    spread = square - mean * total if method.fit_intercept else square
    varies = spread > 1e-12 * square  # a constant column leaves rounding errors
    unit = np.sqrt(np.where(varies, spread, 1.0))[:, None] if method.standardize else np.ones((p, 1))
    return mean, unit, np.where(varies[:, None], gradient, 0.0) / unit
