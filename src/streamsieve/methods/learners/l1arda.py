"""l1-ARDA, adaptive dual averaging: Duchi, Hazan and Singer (2011), [Zhai] section 5.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ...core.params import Param, Real
from ...core.rows import Array, Rows
from ...core.state import State, record, zeros
from . import ladder, steps
from .ladder import Regularised, soft


class L1ARDA(Regularised):
    """Sparse weights by adaptive regularised dual averaging (Duchi, Hazan and Singer 2011).

    Each row costs O(nnz) per penalty, independently of p; memory is O(p) per penalty. More than two classes
    are learned jointly, one against the rest; the support is the union over them.

    Notes
    -----
    After t rows ``w = -eta soft(G, t alpha) / H``, G the sum of the gradients and ``H = delta + sqrt(sum of
    g^2)``. A derived step is rms(y) / sqrt(mean number of non-zeros x mean squared norm of the rows).

    With k, several penalties run at the same time. Those whose supports are farthest from k are moved, with
    the state of a neighbour, to where the support passes k, or beyond the end of the range. The model is the
    largest support of at most k features; if supports jump from fewer than k to more, it is the k largest
    weights at the next penalty. With several outputs, whose union of k features would have few of each, it is
    the k largest weights at the penalty with the smallest progressive loss.

    *Rare features.* The penalty is a threshold for the sum of the gradients, which is small for features that
    are rarely non-zero. One pass finds 5 to 8 of 10 in 1 % of 3,000 rows for targets, and none for labels;
    `AdaFOBOS` finds all of them.

    Differences from the paper: there is an intercept, learned by adaptive gradient steps and never penalised.
    """

    schedule = steps.SCHEDULE
    delta = Param(
        0.01,
        Real(above=0, most=1e75),
        "Initial value of the root of the squared gradients, delta in H = delta + h.",
        symbol="delta",
    )

    def start(self, p: int, q: int) -> State:
        columns = ladder.n_columns(self, q)
        return ladder.start(
            self,
            q,
            sum=zeros(feature=p, column=columns),  # of the gradients
            root=zeros(feature=p, column=columns),  # of the sum of their squares
            last=record(step=0.0),
            targets=record(squares=0.0),
            bias_root=zeros(column=columns),
        )

    def rule(self) -> dict[str, Any]:
        return ladder.rule(self, delta=self.delta)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        return ladder.learn(self, _core.l1arda, rows, y, w, self.move)

    def move(self) -> None:
        """Move the penalties."""
        s = self.state
        move = ladder.move_by_error if self.q > 1 else ladder.move
        move(s, self.k, self.alpha, np.abs(s.sum) > self.least())

    def least(self) -> Array:
        """Threshold that a sum must exceed to give a non-zero weight, by column."""
        least: Array = float(self.state.clock["rows"]) * ladder.by_column(self.state)
        return least

    def columns(self) -> Array:
        """Weights at all penalties, (p, penalties x outputs)."""
        s = self.state
        return -float(s.last["step"]) * soft(s.sum, self.least()) / (self.delta + s.root)

    def weights(self) -> tuple[Array, Array]:
        return ladder.answer(self.state, self.columns(), self.k, by_error=self.q > 1)

    def check_state(self) -> None:
        s = self.state
        ladder.check_state(s, self.k)
        if (s.root < 0).any() or (s.bias_root < 0).any() or s.last["step"] < 0 or s.targets["squares"] < 0:
            raise ValueError("a root, a step or a sum of squares is below 0.")
