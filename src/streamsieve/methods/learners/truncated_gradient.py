"""Truncated gradient: Langford, Li and Zhang (2009)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ...core.params import Int, Or, Param, Real
from ...core.rows import Array, Rows
from ...core.state import State, record, zeros
from . import ladder, steps
from .ladder import Regularised, soft


class TruncatedGradient(Regularised):
    """Sparse weights by truncated gradient steps (Langford, Li and Zhang 2009).

    Each row costs O(nnz) per penalty, independently of p; memory is O(p) per penalty. More than two classes
    are learned jointly, one against the rest; the support is the union over them.

    Notes
    -----
    For each row ``w <- w - eta_t g``; after every K-th, weights of at most theta are brought closer to zero
    by ``K eta_t alpha``, alpha being the gravity g_0. Between two rows that contain its feature, a weight
    stays either beyond theta or within it, so the truncations it has missed are a difference of one running
    sum.

    Differences from the paper: there is an intercept, never truncated; a model that is read m rows after a
    truncation is first truncated by ``m eta_t alpha``, since it would not be sparse otherwise. With k, the
    model is the k largest weights at the penalty with the smallest progressive loss, which is measured on
    each row before it is learned.
    """

    schedule = steps.SCHEDULE
    K = Param(10, Int(1), "Rows from one truncation to the next.", symbol="K")
    theta = Param(
        None,
        Or(Real(above=0), None),
        "Weights beyond it are not truncated; None: all weights are.",
        symbol="theta",
    )

    def start(self, p: int, q: int) -> State:
        columns = ladder.n_columns(self, q)
        return ladder.start(
            self,
            q,
            period=self.K,  # or supports would be compared at different distances
            # with theta: weights when last touched, and the pull then; without: |w| + penalty x pull of then
            weight=zeros(feature=p, column=columns),
            then=None if self.theta is None else zeros(feature=p, column=columns),
            gravity=record(pull=0.0, step=0.0),  # sum of K eta_t over the truncations; the last step
        )

    def rule(self) -> dict[str, Any]:
        return ladder.rule(self, K=self.K, theta=np.inf if self.theta is None else self.theta)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        return ladder.learn(self, _core.truncated_gradient, rows, y, w, self.move)

    def move(self) -> None:
        """Move the penalties, after applying the outstanding truncations of the old ones."""
        s = self.state
        pull = float(s.gravity["pull"])
        if s.then is not None:
            s.weight[:], s.then[:] = self.pulled(pull), pull
        best = ladder.least_off(s, ladder.supports(s, self.columns() != 0), self.k)
        for step in ladder.planned_by_error(s.ladder.penalty, best, self.alpha):
            before = s.ladder.penalty[step.source]
            ladder.restart(s, step)
            if s.then is None:  # what is stored depends on the penalty
                stored = s.weight[:, ladder.columns(s, step.rung)]
                now = soft(stored, before * pull)
                stored[:] = now + np.copysign(step.penalty * pull, now)
        ladder.postpone(s, self.K)

    def pulled(self, pull: float) -> Array:
        """Weights at all penalties after truncations of that sum."""
        s = self.state
        strength = ladder.by_column(s)
        if s.then is None:
            return soft(s.weight, strength * pull)
        less = soft(s.weight, strength * (pull - s.then))
        return np.where(np.abs(s.weight) <= self.theta, less, s.weight)

    def columns(self) -> Array:
        """Weights at all penalties, (p, penalties x outputs)."""
        s = self.state
        # Between truncations no touched weight is zero: truncate by the gravity of the rows since.
        since = float(s.clock["rows"]) % self.K * float(s.gravity["step"])
        return self.pulled(float(s.gravity["pull"]) + since)

    def weights(self) -> tuple[Array, Array]:
        return ladder.answer(self.state, self.columns(), self.k, by_error=True)

    def check_state(self) -> None:
        s = self.state
        ladder.check_state(s, self.k, self.K)
        ladder.check_optional("then", s.then, s.weight, self.theta is not None)
        if s.gravity["pull"] < 0 or s.gravity["step"] < 0:
            raise ValueError("gravity must not be below 0.")
