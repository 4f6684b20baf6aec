"""Truncated gradient: Langford, Li and Zhang (2009)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, passes
from ..base import Method
from ..params import Int, Or, Param, Real
from ..rows import Array, Rows
from ..state import State, record, zeros
from . import ladder, steps
from .ladder import Ladder, soft
from .refit import REFIT


class TruncatedGradient(Method):
    """Sparse weights by truncated gradient steps (Langford, Li and Zhang 2009).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty. More than two classes are learned
    jointly, one against the rest; the support is the union over them.

    Notes
    -----
    For each row ``w <- w - eta_t g``; after every K-th, weights of at most theta are brought closer to zero
    by ``K eta_t alpha``, alpha being the gravity g_0. A weight that no row touches is either beyond theta all
    the time or never, so what it has missed is a difference of one running sum.

    Differences from the paper: an intercept, never truncated; a model read m rows after a truncation is
    read as if one by ``m eta_t alpha`` had come since, or it would not be sparse. With k the answer is the k
    largest weights at the penalty whose model was least off on the rows before it learned them.
    """

    k, alpha, schedule = ladder.K, ladder.ALPHA, steps.SCHEDULE
    K = Param(10, Int(1), "Rows from one truncation to the next.", symbol="K")
    theta = Param(
        None,
        Or(Real(above=0), None),
        "Weights beyond it are left alone by a truncation; None for no such bound.",
        symbol="theta",
    )
    eta, n_penalties, n_jobs = steps.ETA, ladder.N_PENALTIES, ladder.N_JOBS
    standardize, fit_intercept, grow = steps.UNITS, steps.FIT_INTERCEPT, steps.GROW
    refit = REFIT
    max_iter, tol, shuffle, random_state = passes.MAX_ITER, passes.TOL, passes.SHUFFLE, passes.RANDOM_STATE

    attributes = ladder.ATTRIBUTES
    penalty = property(ladder.penalties)
    poor_score = True  # penalties shrink, all the more where few features are to be left

    centers = scales = True

    def check(self) -> None:
        ladder.check(self)

    def start(self, p: int, q: int) -> State:
        penalties = Ladder(self, period=self.K)  # or supports would be compared at different distances
        columns = len(penalties.penalty) * q
        return State(
            clock=steps.clock(),
            ladder=penalties,
            # with theta: weights when last touched, and the pull then; without: |w| + penalty x pull of then
            weight=zeros(feature=p, column=columns),
            then=None if self.theta is None else zeros(feature=p, column=columns),
            gravity=record(pull=0.0, step=0.0),  # sum of K eta_t over the truncations; the last step
            bias=zeros(column=columns),
            error=zeros(column=columns),  # slopes so far, those before the last move by half
        )

    def rule(self) -> dict[str, Any]:
        return ladder.rule(self, K=self.K, theta=np.inf if self.theta is None else self.theta)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        s, done = self.state, 0
        for part, y_part, w_part in ladder.parts(s, rows, y, w):
            learned = _core.truncated_gradient(part.kernel, self.loss, y_part, w_part, self.rule(), s)
            done += learned
            if learned < len(part):
                break
            if ladder.is_due(s):
                self.move()
        return done

    def move(self) -> None:
        """Move the penalties; what the old ones still have to do to the weights is done before."""
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
        # Between truncations no touched weight is zero: what is read has the gravity of the rows since.
        since = float(s.clock["rows"]) % self.K * float(s.gravity["step"])
        return self.pulled(float(s.gravity["pull"]) + since)

    def weights(self) -> tuple[Array, Array]:
        return ladder.answer(self.state, self.columns(), self.k, by_error=True)

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        return None if ladder.moves_within(self.state, len(rows)) else rows.features

    def in_one_step(self, rows: Rows) -> bool:
        return not ladder.moves_within(self.state, len(rows))

    def check_state(self) -> None:
        s = self.state
        ladder.check_state(s, self.k, self.K)
        ladder.check_optional("then", s.then, s.weight, self.theta is not None)
        if s.gravity["pull"] < 0 or s.gravity["step"] < 0:
            raise ValueError("gravity must not be below 0.")
