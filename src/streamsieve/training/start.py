"""Begin a learner with the weights of a model that was fitted on a first batch ([Susan] 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.rows import Array, Rows
from .model import Model
from .prepare import ROWS


def continue_from(model: Model, start: Any, rows: Rows, y: Array, w: Array | None) -> None:
    """Measure rows without learning them, and take over the weights of a fitted model."""
    method: Any = model.method
    coef, intercept = model_weights(start, model.p, model.q)
    stage = model.prepare
    if stage is not None:
        stage.place(rows[:ROWS])
        if method.loss_function.needs_units:  # else no step here depends on the targets
            stage.place_targets(method, y[:ROWS])
        rows, intercept = stage.apply(rows), intercept + coef @ stage.center
        coef, intercept = coef / stage.target_unit[:, None], stage.targets(intercept)
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
