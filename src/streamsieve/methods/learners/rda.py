"""Regularised dual averaging: Xiao (2010), [Ma] eq. (18)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ...core.params import Param, Real
from ...core.rows import Array, Rows
from ...core.state import State, record, zeros
from . import ladder
from .ladder import Regularised, soft


class RDA(Regularised):
    """Sparse weights by regularised dual averaging (Xiao 2010).

    Each row costs O(nnz) per penalty, independently of p; memory is O(p) per penalty. More than two classes
    are learned jointly, one against the rest; the selected features are the union over the classes.

    Notes
    -----
    After t rows, ``w = -eta_t soft(G, t alpha + rho / eta_t)``, where G is the sum of the gradients. With eta
    = 1 / gamma and eta_t = 1 / (gamma sqrt(t)), this is the long form of [Ma] eq. (18):
    ``-(sqrt(t) / gamma) (g - lam_t sgn(g))`` with g = G / t and ``lam_t = alpha + gamma rho / sqrt(t)``. The
    short form in the paper, T(g, lam_t), omits the factor -sqrt(t) / gamma. With l1_ratio below 1, the l1
    part is t alpha l1_ratio, and the weight is divided by ``1 + eta_t t alpha (1 - l1_ratio)``.

    With k, several penalties are learned at the same time. Those whose numbers of features are farthest from
    k are replaced. The new penalties lie where the number of features crosses k, or beyond the end of the
    range. They start with the state of a neighbouring penalty. The model is the largest one of at most k
    features. If the number of features jumps from fewer than k to more than k, the model has the k largest
    weights at the next penalty. With several outputs, a union of k features would have few features of each
    output. Then the model has the k largest weights at the penalty with the smallest progressive loss.

    *Rare features.* The penalty is a threshold for the sum of the gradients, which is small for features that
    are rarely non-zero. For example, of 10 features that are non-zero in 1 % of 3,000 rows, one pass finds 0
    or 1, `fit` finds 0 to 6, and `AdaFOBOS` finds all.

    Differences from the paper: eta is 1 / gamma, and beta_t is 1 / eta_t for any schedule. A derived step
    never grows, because beta_t must not decrease. There is an intercept, which is learned by plain gradient
    steps and never penalised.
    """

    l1_ratio, schedule = ladder.L1_RATIO, ladder.SQRT_SCHEDULE
    rho = Param(
        0.0,
        Real(0, 1e75),
        "Strength of an additional l1 penalty, which increases sparsity: rho |w|_1 / eta_t is added to the "
        "sum of the penalties of all rows.",
    )

    def start(self, p: int, q: int) -> State:
        columns = ladder.n_columns(self, q)
        return ladder.start(
            self,
            q,
            sum=zeros(feature=p, column=columns),  # of the gradients
            last=record(step=0.0),
        )

    def rule(self) -> dict[str, Any]:
        return ladder.rule(self, l1_ratio=self.l1_ratio, rho=self.rho)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        return ladder.learn(self, _core.rda, rows, y, w, self.move)

    def move(self) -> None:
        """Move the penalties."""
        s = self.state
        move = ladder.move_by_error if self.q > 1 else ladder.move
        move(s, self.k, self.alpha, np.abs(s.sum) > self.least())

    def least(self) -> Array:
        """Threshold of the sums for a non-zero weight, by column; infinite before the first step."""
        s = self.state
        step = float(s.last["step"])
        rho = self.rho / step if step > 0 else np.inf
        least: Array = float(s.clock["rows"]) * ladder.by_column(s) * self.l1_ratio + rho
        return least

    def columns(self) -> Array:
        """Weights at all penalties, (p, penalties x outputs)."""
        s = self.state
        step = float(s.last["step"])
        l2 = float(s.clock["rows"]) * ladder.by_column(s) * (1 - self.l1_ratio)
        return -soft(s.sum, self.least()) * (step / (1 + step * l2))

    def weights(self) -> tuple[Array, Array]:
        return ladder.answer(self.state, self.columns(), self.k, by_error=self.q > 1)

    def check_state(self) -> None:
        ladder.check_state(self.state, self.k)
        if self.state.last["step"] < 0:
            raise ValueError("the last step is below 0.")
