"""A fitted model without what it takes to learn: weights, fills and limits of the selected features, or the
tables of its shapes and pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core.method import Method
from ..core.rows import Array, Rows
from ..core.state import State, array, check_array, optional, zeros
from ..methods.effects.tables import Tables
from .model import Model


class Slim(Method):
    """What a fitted method predicts with; its parameters are those of the method, and it learns nothing.

    Parameters
    ----------
    method : Method
        The original, whose state is not used.
    p, q : int
    joint : bool
        Whether probabilities are the softmax of the scores.
    """

    def __init__(self, method: Any, p: int, q: int, joint: bool) -> None:
        if method.interactions:
            raise ValueError("A model with interactions=True has no slim form: its features are products.")
        known = method.params | method._loss_params(*method.losses)  # those of other losses, too
        vars(self).update({name: getattr(method, name) for name in ("loss", *known)})
        self.name, self._values = method.name, dict(method.values)
        self.p, self.q, self.joint = p, q, joint
        self.feature_names, self.first_index = method.feature_names, method.first_index
        self.state = self.start(p, q)

    def start(self, p: int, q: int) -> State:  # noqa: ARG002
        return State(
            support=zeros(slot=0, dtype=np.int64), coef=zeros(slot=0, output=q), intercept=zeros(output=q),
            low=zeros(slot=0), high=zeros(slot=0), fills=optional(), tables=optional(),
        )  # fmt: skip

    def check_state(self) -> None:
        s = self.state
        support, n = s.support, len(s.support)
        if n and not (support[0] >= 0 and support[-1] < self.p and (np.diff(support) > 0).all()):
            raise ValueError("the selected features are not in order, or not features.")
        check_array("coef", s.coef, np.float64, (n, self.q))
        check_array("intercept", s.intercept, np.float64, (self.q,))
        if len(s.low) != n or len(s.high) != n or not (s.low <= s.high).all():
            raise ValueError("the limits are not of the selected features.")
        if s.fills is not None:
            check_array("fills", s.fills, np.float64, (n,))
        if s.tables is not None:
            if type(s.tables) is not Tables:
                raise ValueError(f"tables is a {type(s.tables).__name__}.")
            s.tables.check(self.p, self.q)

    @property
    def nan_ok(self) -> bool:
        found = self.state.fills is not None or not self.linear
        return self.missing == "mean" or (self.missing == "auto" and found)

    @property
    def values(self) -> dict[str, Any]:
        return self._values

    @property
    def linear(self) -> bool:  # type: ignore[override]
        return self.state.tables is None

    def weights(self) -> tuple[Array, Array]:
        out = np.zeros((self.q, self.p))
        out[:, self.state.support] = self.state.coef.T
        return out, self.state.intercept.copy()

    def update(self, rows: Rows, y: Array, w: Array | None = None) -> None:  # noqa: ARG002
        raise ValueError(
            f"This {self.name} is slim: it predicts and cannot learn; continue with the full model."
        )

    def scores(self, rows: Rows, coef: Array, intercept: Array) -> Array:  # noqa: ARG002
        s = self.state
        if s.tables is not None:
            found: Array = s.tables.scores(rows)
            return found
        X = rows.columns(s.support).to_array().astype(np.float64)
        if s.fills is not None:
            X = np.where(np.isnan(X), s.fills, X)
        out: Array = np.clip(X, s.low, s.high) @ s.coef + intercept
        return out

    def limits(self, features: Any) -> tuple[Array, Array]:
        at = np.searchsorted(self.state.support, features)
        return self.state.low[at], self.state.high[at]

    def fills(self) -> Array | None:
        if self.state.fills is None:
            return None
        out = np.zeros(self.p)
        out[self.state.support] = self.state.fills
        return out

    # ---------------------------------------------------------------- shapes and pairs, as `Effects` has them

    @property
    def tables(self) -> Tables:
        found: Tables = self.state.tables
        return found

    @property
    def answer(self) -> Any:
        return self.tables.answer

    @property
    def effects_(self) -> str:
        return "linear" if self.linear else str(self.answer.kind)

    @property
    def terms(self) -> list[Any]:
        return [] if self.linear else self.tables.terms()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "name" not in vars(self):
            raise AttributeError(name)
        raise AttributeError(f"This {self.name} is slim: it predicts, and has no {name}; the full model has.")


def slim_model(model: Model) -> Model:
    """The model with a method that can only predict."""
    with model.lock:
        method: Any = model._settled()[0]
        slim = Slim(method, method.p, method.q, model.softmax)
        coef, intercept = model.coefficients()
        support = np.flatnonzero(coef.any(axis=0))
        fills, (low, high) = method.fills(), method.limits(support)
        slim.state = State(
            support=array(support, "slot"),
            coef=array(np.ascontiguousarray(coef[:, support].T), "slot", "output"),
            intercept=array(intercept, "output"), low=array(low, "slot"), high=array(high, "slot"),
            fills=optional(None if fills is None else fills[support]),
            tables=optional(None if method.linear else method.tables),
        )  # fmt: skip
        return replace(model, method=slim, prepare=None, refitted=None, about=dict(model.about))
