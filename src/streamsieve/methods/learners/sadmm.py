"""Stochastic ADMM for the lasso: Ouyang et al. (2013), Suzuki (2013)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.params import OneOf, Param, Real
from ...core.rows import Array, Rows
from ...core.state import State, array, record, zeros
from . import ladder, steps
from .ladder import Regularised, soft

RING, PERIOD = (
    8192,
    4096,
)  # rows whose steps are remembered, and after which all weights are brought up to date

#: Of row t, at t % RING: `Skipped` of ``cpp/learners/sadmm.hpp``.
SKIPPED = np.dtype([(name, np.float64) for name in ("step", "fall", "shrink", "a", "b", "c", "d", "rough")])


class SADMM(Regularised):
    """Sparse weights by the stochastic alternating direction method of multipliers.

    Each row costs slightly more than O(nnz) per penalty; with form="rda", O(nnz x rows since a feature last
    occurred).
    More than two classes are learned jointly, one against the rest; the support is the union over them.

    Notes
    -----
    The penalty is on z, with the constraint w = z and its multiplier u; gradients are taken at w, and z is
    the model. For each row ``z = soft(w - u / rho, alpha / rho)`` and ``u <- u - rho (w - z)`` follow

    - form="opg": ``w <- (w + eta_t (rho z + u - g)) / (1 + eta_t rho)``, OPG-ADMM;
    - form="rda": ``w <- eta_t (U + u - G) / (1 + eta_t rho)``, G and U the sums of the gradients and of u:
      RDA-ADMM, whose mean of w - z is -u / (rho t).

    A weight changes even at rows that do not contain its feature. These updates are made when the feature
    next occurs: with "opg" mostly by sums and products over the skipped rows, which all weights share; with
    "rda" row by row. Every 4,096 rows all weights are updated, O(p).

    Differences from the papers: there is an intercept, learned by plain gradient steps and never penalised;
    numbers below 1e-100 are set to zero.

    With a rho as large as 1, or with fading steps, the support contains mostly features of the last rows;
    with the defaults z averages over many rows. With k, the model is the k largest weights at the penalty
    with the smallest progressive loss, which is measured on each row before it is learned.
    """

    schedule = Param(
        "constant",
        OneOf("constant", "sqrt", "doubling"),
        "How the step decreases with the row t: not at all, as 1 / sqrt(t), as in the paper, or as "
        "log(a) / a, where a doubles whenever t passes it.",
    )
    rho = Param(
        1e-3,
        Real(above=0, most=1e75),
        "Penalty of the constraint w = z, in units of the features' mean squares. The larger, the sooner z "
        "follows w, and the noise of single rows with it.",
        symbol="rho",
    )
    form = Param("opg", OneOf("opg", "rda"), "Whether w takes proximal gradient steps or is a dual average.")
    max_iter = steps.max_iter(10)  # passes are slow: each ends by updating the weights of all features

    examples = ladder.examples("alpha=0.001")

    def start(self, p: int, q: int) -> State:
        columns = ladder.n_columns(self, q)

        def table() -> Any:
            return zeros(feature=p, column=columns)

        return ladder.start(
            self,
            q,
            weight=table(),  # w
            split=table(),  # s = w - u / rho, of which z and u are the two parts
            then=table(),  # the row up to which they are valid
            sum=table() if self.form == "rda" else None,  # of the gradients
            dual=table() if self.form == "rda" else None,  # sum of u
            last=record(step=0.0),
            skipped=array(np.zeros(RING, dtype=SKIPPED), "fixed"),
        )

    def rule(self) -> dict[str, Any]:
        return ladder.rule(self, rho=self.rho)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        return ladder.learn(self, _core.sadmm, rows, y, w, self.move)

    def move(self) -> None:
        """Move the penalties."""
        s = self.state
        _core.sadmm_settle(self.rule(), s)
        ladder.move_by_error(s, self.k, self.alpha, self.columns() != 0)

    def columns(self) -> Array:
        """Weights at all penalties, (p, penalties x outputs): the current z."""
        s = self.state.copy()
        _core.sadmm_settle(self.rule(), s)
        return soft(s.split, ladder.by_column(s) / self.rho)

    def weights(self) -> tuple[Array, Array]:
        return ladder.answer(self.state, self.columns(), self.k, by_error=True)

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        n, learned = len(rows), int(self.state.clock["rows"])
        brought_up_to_date = (learned + n) // PERIOD > learned // PERIOD
        return None if brought_up_to_date or ladder.moves_within(self.state, n) else rows.features

    def check_state(self) -> None:
        s = self.state
        ladder.check_state(s, self.k)
        for name in ("sum", "dual"):
            ladder.check_optional(name, getattr(s, name), s.weight, self.form == "rda")
        # the kernel steps from `then` to the current row, row by row
        rows = int(s.clock["rows"])
        tables = [s.weight, s.split, *([s.sum, s.dual] if self.form == "rda" else [])]
        then = s.then[np.any(tables, axis=0)]
        if ((then < rows - rows % PERIOD) | (then > rows) | (then != np.floor(then))).any():
            raise ValueError(f"then: weights are as of rows that are not the last of {rows}.")
