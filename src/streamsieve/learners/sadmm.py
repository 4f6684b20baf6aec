"""Stochastic ADMM for the lasso: Ouyang et al. (2013), Suzuki (2013)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, passes
from ..base import Method
from ..params import OneOf, Param, Real
from ..rows import Array, Rows
from ..state import State, array, record, zeros
from . import ladder, steps
from .ladder import Ladder, soft
from .refit import REFIT

RING, PERIOD = (
    8192,
    4096,
)  # rows whose steps are remembered, and after which all weights are brought up to date

#: Of row t, at t % RING: `Skipped` of ``cpp/learners/sadmm.hpp``.
SKIPPED = np.dtype([(name, np.float64) for name in ("step", "fall", "shrink", "a", "b", "c", "d", "rough")])


class SADMM(Method):
    """Sparse weights by the stochastic alternating direction method of multipliers.

    O(nnz) and a little more a row and penalty; with form="rda" O(nnz x rows since a feature last occurred).
    More than two classes are learned jointly, one against the rest; the support is the union over them.

    Notes
    -----
    The penalty is on z, with the constraint w = z and its multiplier u; gradients are taken at w, and z is
    the model. For each row ``z = soft(w - u / rho, alpha / rho)`` and ``u <- u - rho (w - z)`` follow

    - form="opg": ``w <- (w + eta_t (rho z + u - g)) / (1 + eta_t rho)``, OPG-ADMM;
    - form="rda": ``w <- eta_t (U + u - G) / (1 + eta_t rho)``, G and U the sums of the gradients and of u:
      RDA-ADMM, whose mean of w - z is -u / (rho t).

    A weight that no row touches still moves. What it has missed is made up for when it is next touched: with
    "opg" by sums and products over the rows skipped, which all weights share, but for a few rows after the
    last touch; with "rda" row by row. Every 4,096 rows all weights are brought up to date, O(p).

    Differences from the papers: an intercept, by plain gradient steps, never penalised; numbers below 1e-100
    are zero.

    With a rho as large as 1, or steps that fade, the support holds what the last rows have touched; the
    defaults let z average over many rows. With k the answer is the k largest weights at the penalty whose
    model was least off on the rows before it learned them.
    """

    k, alpha = ladder.K, ladder.ALPHA
    schedule = Param(
        "constant",
        OneOf("constant", "sqrt", "doubling"),
        "How the step fades with the row t: not at all, as 1 / sqrt(t), as in the paper, or as log(a) / a, a "
        "doubling whenever t has passed it.",
    )
    rho = Param(
        1e-3,
        Real(above=0, most=1e75),
        "Penalty of the constraint w = z, in units of the features' mean squares. The larger, the sooner z "
        "follows w, and the noise of single rows with it.",
        symbol="rho",
    )
    form = Param("opg", OneOf("opg", "rda"), "Whether w takes proximal gradient steps or is a dual average.")
    eta, n_penalties, n_jobs = steps.ETA, ladder.N_PENALTIES, ladder.N_JOBS
    standardize, fit_intercept, grow = steps.UNITS, steps.FIT_INTERCEPT, steps.GROW
    refit = REFIT
    max_iter = passes.max_iter(10)  # a pass takes long: each ends with the weights of all features
    tol, shuffle, random_state = passes.TOL, passes.SHUFFLE, passes.RANDOM_STATE

    attributes = ladder.ATTRIBUTES
    penalty = property(ladder.penalties)
    poor_score = True  # penalties shrink, all the more where few features are to be left
    examples = {
        "regression": """
        >>> import numpy as np
        >>> from streamsieve import SADMMRegressor
        >>> X = np.random.default_rng(0).normal(size=(2000, 50))
        >>> model = SADMMRegressor(alpha=0.001).fit(X, X[:, 7] - 2 * X[:, 31])
        >>> model.coef_[[7, 31]].round(1)
        array([ 1., -2.])
        """,
        "classification": """
        >>> import numpy as np
        >>> from streamsieve import SADMMClassifier
        >>> X = np.random.default_rng(0).normal(size=(2000, 50))
        >>> y = X[:, 7] > X[:, 31]
        >>> SADMMClassifier(alpha=0.001).fit(X, y).score(X, y) > 0.9
        True
        """,
    }

    centers = scales = True

    def check(self) -> None:
        ladder.check(self)

    def start(self, p: int, q: int) -> State:
        penalties = Ladder(self)
        columns = len(penalties.penalty) * q

        def table() -> Any:
            return zeros(feature=p, column=columns)

        return State(
            clock=steps.clock(),
            ladder=penalties,
            weight=table(),  # w
            split=table(),  # s = w - u / rho, of which z and u are the two parts
            then=table(),  # the row up to which they are right
            sum=table() if self.form == "rda" else None,  # of the gradients
            dual=table() if self.form == "rda" else None,  # sum of u
            last=record(step=0.0),
            skipped=array(np.zeros(RING, dtype=SKIPPED), "fixed"),
            bias=zeros(column=columns),
            error=zeros(column=columns),  # slopes so far, those before the last move by half
        )

    def rule(self) -> dict[str, Any]:
        return ladder.rule(self, rho=self.rho)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        s, done = self.state, 0
        for part, y_part, w_part in ladder.parts(s, rows, y, w):
            learned = _core.sadmm(part.kernel, self.loss, y_part, w_part, self.rule(), s)
            done += learned
            if learned < len(part):
                break
            if ladder.is_due(s):
                _core.sadmm_settle(self.rule(), s)
                ladder.move_by_error(s, self.k, self.alpha, self.columns() != 0)
        return done

    def columns(self) -> Array:
        """Weights at all penalties, (p, penalties x outputs): z as of now."""
        s = self.state.copy()
        _core.sadmm_settle(self.rule(), s)
        return soft(s.split, ladder.by_column(s) / self.rho)

    def weights(self) -> tuple[Array, Array]:
        return ladder.answer(self.state, self.columns(), self.k, by_error=True)

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        n, learned = len(rows), int(self.state.clock["rows"])
        brought_up_to_date = (learned + n) // PERIOD > learned // PERIOD
        return None if brought_up_to_date or ladder.moves_within(self.state, n) else rows.features

    def in_one_step(self, rows: Rows) -> bool:
        return not ladder.moves_within(self.state, len(rows))

    def check_state(self) -> None:
        s = self.state
        ladder.check_state(s, self.k)
        for name in ("sum", "dual"):
            ladder.check_optional(name, getattr(s, name), s.weight, self.form == "rda")
        # the kernel walks from `then` to now, row by row
        rows = int(s.clock["rows"])
        tables = [s.weight, s.split, *([s.sum, s.dual] if self.form == "rda" else [])]
        then = s.then[np.any(tables, axis=0)]
        if ((then < rows - rows % PERIOD) | (then > rows) | (then != np.floor(then))).any():
            raise ValueError(f"then: weights are as of rows that are not the last of {rows}.")
