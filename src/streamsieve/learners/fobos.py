"""FOBOS, or online proximal gradient (OPG): Duchi and Singer (2009)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, passes
from ..base import Method
from ..rows import Array, Rows
from ..state import State, array, zeros
from . import ladder, steps
from .ladder import Ladder, soft
from .refit import REFIT


class FOBOS(Method):
    """Sparse weights by forward-backward splitting (Duchi and Singer 2009).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty. More than two classes are learned
    jointly, one against the rest; the support is the union over them.

    Notes
    -----
    For each row ``w <- soft(w - eta_t g, eta_t alpha l1_ratio) / (1 + eta_t alpha (1 - l1_ratio))``, g the
    row's gradient times its weight. The proximal steps of the rows that do not touch a weight add up (and,
    with l2, multiply) in one number a penalty, so that a weight is right whenever it is read.

    Differences from the paper: an intercept, by plain gradient steps, never penalised.

    With k: the support as of now holds what the last rows have touched, and no penalty keeps it down to a
    small k but one that weighs on the true features as well. So the answer is the k largest weights at the
    penalty whose model was least off on the rows before it learned them.
    """

    k, alpha, l1_ratio, schedule = ladder.K, ladder.ALPHA, ladder.L1_RATIO, ladder.SQRT_SCHEDULE
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
        >>> from streamsieve import FOBOSRegressor
        >>> X = np.random.default_rng(0).normal(size=(2000, 50))
        >>> model = FOBOSRegressor(alpha=0.001, schedule="constant").fit(X, X[:, 7] - 2 * X[:, 31])
        >>> model.coef_[[7, 31]].round(1)
        array([ 1., -2.])
        """,
        "classification": """
        >>> import numpy as np
        >>> from streamsieve import FOBOSClassifier
        >>> X = np.random.default_rng(0).normal(size=(2000, 50))
        >>> y = X[:, 7] > X[:, 31]
        >>> FOBOSClassifier(alpha=0.001, schedule="constant").fit(X, y).score(X, y) > 0.9
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
            weight=zeros(feature=p, column=columns),  # a weight is scale (|weight| - spent), or zero
            spent=zeros(column=columns),
            scale=array(np.ones(columns), "column"),
            bias=zeros(column=columns),
            error=zeros(column=columns),  # slopes so far, those before the last move by half
        )

    def rule(self) -> dict[str, Any]:
        return ladder.rule(self, l1_ratio=self.l1_ratio)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        s, done = self.state, 0
        for part, y_part, w_part in ladder.parts(s, rows, y, w):
            learned = _core.fobos(part.kernel, self.loss, y_part, w_part, self.rule(), s)
            done += learned
            if learned < len(part):
                break
            if ladder.is_due(s):
                ladder.move_by_error(s, self.k, self.alpha, np.abs(s.weight) > s.spent)
        return done

    def columns(self) -> Array:
        """Weights at all penalties, (p, penalties x outputs)."""
        s = self.state
        return soft(s.weight, s.spent) * s.scale

    def weights(self) -> tuple[Array, Array]:
        return ladder.answer(self.state, self.columns(), self.k, by_error=True)

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        s, n = self.state, len(rows)
        if ladder.moves_within(s, n):
            return None
        # all weights are stored anew where `spent` or `scale` have gone far: bounds of both after n rows
        strength = ladder.by_column(s)
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            scale = s.scale * (1 + self.eta * strength * (1 - self.l1_ratio)) ** -n
            spent = s.spent + n * self.eta * strength * self.l1_ratio / scale
            stored_anew = not (np.all(scale > 1e-49) and np.all(spent * s.scale < 1000))
        return None if stored_anew else rows.features

    def in_one_step(self, rows: Rows) -> bool:
        return not ladder.moves_within(self.state, len(rows))

    def check_state(self) -> None:
        s = self.state
        ladder.check_state(s, self.k)
        if not (s.scale > 0).all() or (s.spent < 0).any():
            raise ValueError("scale must be above 0, and spent not below.")
