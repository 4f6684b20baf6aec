"""Ada-FOBOS: Duchi, Hazan and Singer (2011), [Zhai] section 5.3."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.params import Param, Real
from ...core.rows import Array, Rows
from ...core.state import State, record, zeros
from . import ladder, steps
from .ladder import Regularised, soft


class AdaFOBOS(Regularised):
    """Sparse weights by adaptive forward-backward splitting (Duchi, Hazan and Singer 2011).

    Each row costs O(nnz) per penalty, independently of p; memory is O(p) per penalty. More than two classes
    are learned jointly, one against the rest; the support is the union over them.

    Notes
    -----
    For each row ``w <- soft(w - eta g / H, eta alpha / H)``, ``H = delta + sqrt(sum of g^2)``, so that every
    weight has its own step. H |w| falls by eta alpha at each row that does not touch w, for any H. One
    running sum per penalty is therefore enough to compute a weight when it is read. A derived step is rms(y)
    / sqrt(mean number of non-zeros x mean squared norm of the rows).

    Differences from the paper: there is an intercept, learned by adaptive gradient steps and never penalised.

    With k: the current support contains the features of the last rows, and a penalty strong enough to reduce
    it to a small k also shrinks the true features. The model is therefore the k largest weights at the
    penalty with the smallest progressive loss, which is measured on each row before it is learned.
    """

    schedule = steps.SCHEDULE
    delta = Param(
        0.01,
        Real(above=0, most=1e75),
        "Initial value of the root of the squared gradients, delta in H = delta + h.",
        symbol="delta",
    )

    examples = ladder.examples("alpha=0.001")

    def start(self, p: int, q: int) -> State:
        columns = ladder.n_columns(self, q)
        return ladder.start(
            self,
            q,
            weight=zeros(feature=p, column=columns),  # a weight is (|weight| - spent) / (delta + root), or 0
            root=zeros(feature=p, column=columns),  # of the sum of its squared gradients
            spent=zeros(column=columns),
            targets=record(squares=0.0),
            bias_root=zeros(column=columns),
        )

    def rule(self) -> dict[str, Any]:
        return ladder.rule(self, delta=self.delta)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        return ladder.learn(self, _core.adafobos, rows, y, w, self.move)

    def move(self) -> None:
        """Move the penalties."""
        s = self.state
        ladder.move_by_error(s, self.k, self.alpha, np.abs(s.weight) > s.spent)

    def columns(self) -> Array:
        """Weights at all penalties, (p, penalties x outputs)."""
        s = self.state
        return soft(s.weight, s.spent) / (self.delta + s.root)

    def weights(self) -> tuple[Array, Array]:
        return ladder.answer(self.state, self.columns(), self.k, by_error=True)

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        s, n = self.state, len(rows)
        # when `spent` is large, all weights are stored again
        stored_anew = np.any(s.spent + n * self.eta * ladder.by_column(s) > 1000)
        return None if stored_anew or ladder.moves_within(s, n) else rows.features

    def check_state(self) -> None:
        s = self.state
        ladder.check_state(s, self.k)
        if any((a < 0).any() for a in (s.root, s.bias_root, s.spent)) or s.targets["squares"] < 0:
            raise ValueError("a root, a sum of steps or of squares is below 0.")
