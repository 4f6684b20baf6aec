"""A fitted model without what it takes to learn: weights, fills and limits of the selected features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core.method import Method
from ..core.rows import Array, Rows
from ..core.state import State
from .model import Model


class Slim(Method):
    """What a fitted method predicts with; its parameters are those of the method, and it learns nothing."""

    def __init__(self, model: Model) -> None:
        method: Any = model.method
        if method.interactions:
            raise ValueError("A model with interactions=True has no slim form: its features are products.")
        known = method.params | method._loss_params(*method.losses)  # those of other losses, too
        vars(self).update({name: getattr(method, name) for name in ("loss", *known)})
        self.original, self._values = type(method).__name__, dict(method.values)
        self.p, self.q, self.joint = method.p, method.q, model.softmax
        self.feature_names, self.first_index = method.feature_names, method.first_index
        coef, intercept = model.coefficients()
        support = np.flatnonzero(coef.any(axis=0))
        fills = method.fills()
        self.state = State(
            support=support, coef=np.ascontiguousarray(coef[:, support].T), intercept=intercept,
            limits=list(method.limits(support)), fills=None if fills is None else fills[support],
        )  # fmt: skip

    @property
    def values(self) -> dict[str, Any]:
        return self._values

    def weights(self) -> tuple[Array, Array]:
        out = np.zeros((self.q, self.p))
        out[:, self.state.support] = self.state.coef.T
        return out, self.state.intercept.copy()

    def update(self, rows: Rows, y: Array, w: Array | None = None) -> None:  # noqa: ARG002
        raise ValueError(
            f"This {self.original} is slim: it predicts and cannot learn; go on with the full one."
        )

    def scores(self, rows: Rows, coef: Array, intercept: Array) -> Array:  # noqa: ARG002
        s = self.state
        X = rows.columns(s.support).to_array().astype(np.float64)
        if s.fills is not None:
            X = np.where(np.isnan(X), s.fills, X)
        out: Array = np.clip(X, *s.limits) @ s.coef + intercept
        return out

    def limits(self, features: Any) -> tuple[Array, Array]:
        at = np.searchsorted(self.state.support, features)
        low, high = self.state.limits
        return low[at], high[at]

    def fills(self) -> Array | None:
        if self.state.fills is None:
            return None
        out = np.zeros(self.p)
        out[self.state.support] = self.state.fills
        return out


def slim_model(model: Model) -> Model:
    """The model with a method that can only predict."""
    with model.lock:
        return replace(model, method=Slim(model), prepare=None, refitted=None, about=dict(model.about))
