"""Continue from a model that was fitted on a first batch, [Susan] 3.2."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..centering import ROWS
from ..rows import Array


def start_from(
    self: Any, model: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None
) -> Any:
    """Forget everything and continue from a model that was fitted on a first batch; go on by `partial_fit`.

    A good start is what truncated gradient descent needs to find the true features ([Susan] 3.1).

    Parameters
    ----------
    model : LinearModel, fitted linear estimator or (coef, intercept)
        Its k largest weights are the start.
    X, y : arrays, as for `partial_fit`
        The first batch: not learned, but it tells the scale of the features and the length of steps.
    classes : sequence or None
        All labels that the stream will bring, if y does not hold them; only where labels are learned.
    sample_weight : array of shape (n,) or None
    """
    return self._update(X, y, classes, sample_weight, first=True, model=model)


def continue_from(method: Any, model: Any, rows: Any, w: Array | None) -> None:
    """Measure rows without learning them, and take over the weights of a model."""
    coef, intercept = model_weights(model, method.p, method.q)
    centering = getattr(method.state, "centering", None)
    if centering is not None:
        centering.place(rows[:ROWS], np.zeros((1, method.q)))  # of the targets no step here depends
        rows, intercept = centering.transform(rows), intercept + coef @ centering.center
    for at, part in rows.in_row_order():
        method.measure(part, None if w is None else w[at])
    method.set_weights(coef, intercept)


def model_weights(model: Any, p: int, q: int) -> tuple[Array, Array]:
    """Weights (q, p) and intercepts (q,) of a model, or a ValueError."""
    if isinstance(model, tuple) and len(model) == 2:
        coef, intercept = model
    elif hasattr(model, "coef_"):
        coef, intercept = model.coef_, model.intercept_
    elif hasattr(model, "coef") and hasattr(model, "intercept"):
        coef, intercept = model.coef, model.intercept
    else:
        raise ValueError(
            f"Cannot start from {type(model).__name__}; pass a LinearModel, a fitted linear estimator or "
            "(coef, intercept)."
        )
    coef = np.atleast_2d(np.array(coef, dtype=np.float64))
    intercept = np.atleast_1d(np.array(intercept, dtype=np.float64))
    if coef.shape != (q, p) or intercept.shape != (q,):
        raise ValueError(
            f"The model has weights of shape {coef.shape} and intercepts of shape {intercept.shape}; "
            f"these rows need {(q, p)} and {(q,)}."
        )
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError("The model has weights that are not finite; start from one that fits.")
    return coef, intercept
