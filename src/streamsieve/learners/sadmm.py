"""Stochastic ADMM for the lasso: Ouyang et al. (2013), Suzuki (2013)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from .. import _core
from .._base import param
from ._ladder import Call, Regularised, check_number, soft
from ._learner import Array, ClassificationLearner, RegressionLearner


class SADMM(Regularised):
    schedule: Literal["constant", "sqrt", "doubling"] = param(
        "constant",
        "{'constant', 'sqrt', 'doubling'}",
        "How the step fades with the row t: not at all, as 1 / sqrt(t), as in the paper, or as log(a) / a, "
        "a doubling whenever t has passed it.",
    )
    rho: float = param(
        1e-3,
        "float > 0",
        "Penalty of the constraint w = z, in units of the features' mean squares. The larger, the sooner z "
        "follows w, and the noise of single rows with it.",
    )
    form: Literal["opg", "rda"] = param(
        "opg", "{'opg', 'rda'}", "Whether w takes proximal gradient steps or is a dual average."
    )

    _features: ClassVar[tuple[str, ...]] = ("weight_", "split_", "then_", "sum_", "dual_")
    _others: ClassVar[tuple[str, ...]] = (*Regularised._others, "last_", "skipped_")

    def _check_params(self) -> None:
        super()._check_params()
        check_number("rho", self.rho, 0, 1e75, above=True)
        if self.form not in ("opg", "rda"):
            raise ValueError(f"form={self.form!r}; pass 'opg' or 'rda'.")

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        shape = p, len(self.bias_)
        # w; s = w - u / rho, of which z and u are the two parts; the row up to which they are right
        self.weight_, self.split_, self.then_ = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        averaged = self.form == "rda"  # the sums of the gradients and of u
        self.sum_ = np.zeros(shape) if averaged else None
        self.dual_ = np.zeros(shape) if averaged else None
        # the last step; of row t, at t % 8192, its step and what the rows since come to: `Skipped` of
        # cpp/learners/sadmm.hpp
        self.last_, self.skipped_ = np.zeros(1), np.zeros((8192, 8))

    def _state(self) -> tuple[Any, ...]:
        lam = self._by_column(self.penalty_)
        at = self.weight_, self.split_, self.then_, self.sum_, self.dual_
        return lam, float(self.rho), self.last_, self.skipped_, *at

    def _walk(self, call: Call) -> int:
        return _core.sadmm(*call, *self._state())

    def _settle(self) -> None:
        _core.sadmm_settle(self.clock_[0], *self._state())

    def _weights(self) -> Array:
        lam, rho, *state = self._state()
        state = [None if a is None else a.copy() for a in state]
        _core.sadmm_settle(self.clock_[0], lam, rho, *state)
        return soft(state[3], lam / rho)  # z


class SADMMRegressor(SADMM, RegressionLearner):
    """Sparse least squares by the stochastic alternating direction method of multipliers.

    O(nnz) and a little more a row and penalty; with form="rda" O(nnz x rows since a feature last occurred).

    Notes
    -----
    The penalty is on z, with the constraint w = z and its multiplier u; gradients are taken at w, and z is
    the model. For each row ``z = soft(w - u / rho, lam / rho)`` and ``u <- u - rho (w - z)`` follow

    - form="opg": ``w <- (w + eta_t (rho z + u - g)) / (1 + eta_t rho)``, OPG-ADMM;
    - form="rda": ``w <- eta_t (U + u - G) / (1 + eta_t rho)``, G and U the sums of the gradients and of u:
      RDA-ADMM, whose mean of w - z is -u / (rho t).

    A weight that no row touches still moves. What it has missed is made up for when it is next touched: with
    "opg" by sums and products over the rows skipped, which all weights share, but for a few rows after the
    last touch; with "rda" row by row. Every 4,096 rows all weights are brought up to date, O(p).

    Differences from the papers: an intercept, by plain gradient steps, never penalised; numbers below 1e-100
    are zero.

    With a rho as large as 1, or steps that fade, the support holds what the last rows have touched, and a
    penalty that keeps it down to a small k weighs on the true features as well. The defaults let z average
    over many rows; even so supports can leap from none to more than k between neighbouring penalties: to find
    k features prefer `RDARegressor` or `L1ARDARegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SADMMRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> model = SADMMRegressor(lam=0.001).fit(X, X[:, 7] - 2 * X[:, 31])
    >>> model.coef_[[7, 31]].round(1)
    array([ 1., -2.])
    """


class SADMMClassifier(SADMM, ClassificationLearner):
    """Sparse linear classifier by the stochastic alternating direction method of multipliers.

    O(nnz) and a little more a row and penalty; with form="rda" O(nnz x rows since a feature last occurred).
    More than two classes are learned jointly, one against the rest; the support is the union over them.

    Notes
    -----
    As `SADMMRegressor`, with the gradient of the loss chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SADMMClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> y = X[:, 7] > X[:, 31]
    >>> SADMMClassifier(lam=0.001).fit(X, y).score(X, y) > 0.9
    True
    """
