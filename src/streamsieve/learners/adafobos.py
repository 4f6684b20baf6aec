"""Ada-FOBOS: Duchi, Hazan and Singer (2011), [Zhai] section 5.3."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, passes
from ..base import Method
from ..params import Param, Real
from ..rows import Array, Rows
from ..state import State, record, zeros
from . import ladder, steps
from .ladder import Ladder, soft
from .refit import REFIT


class AdaFOBOS(Method):
    """Sparse weights by adaptive forward-backward splitting (Duchi, Hazan and Singer 2011).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty. More than two classes are learned
    jointly, one against the rest; the support is the union over them.

    Notes
    -----
    For each row ``w <- soft(w - eta g / H, eta alpha / H)``, ``H = delta + sqrt(sum of g^2)``, a step for
    every weight. H |w| falls by eta alpha at each row that does not touch w, whatever H is: one sum a penalty
    is enough to know a weight whenever it is read. A derived step is rms(y) / sqrt(mean number of non-zeros x
    mean squared norm of the rows).

    Differences from the paper: an intercept, by adaptive gradient steps, never penalised.

    With k: the support as of now holds what the last rows have touched, and no penalty keeps it down to a
    small k but one that weighs on the true features as well. So the answer is the k largest weights at the
    penalty whose model was least off on the rows before it learned them.
    """

    k, alpha, schedule = ladder.K, ladder.ALPHA, steps.SCHEDULE
    delta = Param(
        0.01,
        Real(above=0, most=1e75),
        "What the root of the squared gradients starts from, delta in H = delta + h.",
        symbol="delta",
    )
    eta, n_penalties, n_jobs = steps.ETA, ladder.N_PENALTIES, ladder.N_JOBS
    standardize, fit_intercept, grow = steps.UNITS, steps.FIT_INTERCEPT, steps.GROW
    refit = REFIT
    max_iter, tol, shuffle, random_state = passes.MAX_ITER, passes.TOL, passes.SHUFFLE, passes.RANDOM_STATE

    attributes = ladder.ATTRIBUTES
    penalty = property(ladder.penalties)
    poor_score = True  # penalties shrink, all the more where few features are to be left
    examples = {
        "regression": """
        >>> import numpy as np
        >>> from streamsieve import AdaFOBOSRegressor
        >>> X = np.random.default_rng(0).normal(size=(2000, 50))
        >>> model = AdaFOBOSRegressor(alpha=0.001).fit(X, X[:, 7] - 2 * X[:, 31])
        >>> model.coef_[[7, 31]].round(1)
        array([ 1., -2.])
        """,
        "classification": """
        >>> import numpy as np
        >>> from streamsieve import AdaFOBOSClassifier
        >>> X = np.random.default_rng(0).normal(size=(2000, 50))
        >>> y = X[:, 7] > X[:, 31]
        >>> AdaFOBOSClassifier(alpha=0.001).fit(X, y).score(X, y) > 0.9
        True
        """,
    }

    centers = scales = True

    def check(self) -> None:
        ladder.check(self)

    def start(self, p: int, q: int) -> State:
        penalties = Ladder(self)
        columns = len(penalties.penalty) * q
        return State(
            clock=steps.clock(),
            ladder=penalties,
            weight=zeros(feature=p, column=columns),  # a weight is (|weight| - spent) / (delta + root), or 0
            root=zeros(feature=p, column=columns),  # of the sum of its squared gradients
            spent=zeros(column=columns),
            targets=record(squares=0.0),
            bias=zeros(column=columns),
            error=zeros(column=columns),  # slopes so far, those before the last move by half
            bias_root=zeros(column=columns),
        )

    def rule(self) -> dict[str, Any]:
        return ladder.rule(self, delta=self.delta)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        s, done = self.state, 0
        for part, y_part, w_part in ladder.parts(s, rows, y, w):
            learned = _core.adafobos(part.kernel, self.loss, y_part, w_part, self.rule(), s)
            done += learned
            if learned < len(part):
                break
            if ladder.is_due(s):
                ladder.move_by_error(s, self.k, self.alpha, np.abs(s.weight) > s.spent)
        return done

    def columns(self) -> Array:
        """Weights at all penalties, (p, penalties x outputs)."""
        s = self.state
        return soft(s.weight, s.spent) / (self.delta + s.root)

    def weights(self) -> tuple[Array, Array]:
        return ladder.answer(self.state, self.columns(), self.k, by_error=True)

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        s, n = self.state, len(rows)
        # all weights are stored anew where `spent` has gone far
        stored_anew = np.any(s.spent + n * self.eta * ladder.by_column(s) > 1000)
        return None if stored_anew or ladder.moves_within(s, n) else rows.features

    def in_one_step(self, rows: Rows) -> bool:
        return not ladder.moves_within(self.state, len(rows))

    def check_state(self) -> None:
        s = self.state
        ladder.check_state(s, self.k)
        if any((a < 0).any() for a in (s.root, s.bias_root, s.spent)) or s.targets["squares"] < 0:
            raise ValueError("a root, a sum of steps or of squares is below 0.")
