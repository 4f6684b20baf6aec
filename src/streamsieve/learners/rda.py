"""Regularised dual averaging: Xiao (2010), [Ma] eq. (18)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from ._ladder import Call, Regularised, check_number, soft
from ._learner import Array, ClassificationLearner, RegressionLearner


class RDA(Regularised):
    schedule: Literal["constant", "sqrt", "doubling"] = param(
        "sqrt",
        "{'constant', 'sqrt', 'doubling'}",
        "How the step fades with the row t: as 1 / sqrt(t), as in the paper, not at all, or as log(a) / a, "
        "a doubling whenever t has passed it.",
    )
    rho: float = param(
        0.0, "float >= 0", "Enhances sparsity: adds rho |w|_1 / eta_t to the penalty of all rows together."
    )
    l1_ratio: float = param(
        1.0,
        "float in (0, 1]",
        "Share of the l1 norm in the penalty lam (l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2).",
    )

    _features: ClassVar[tuple[str, ...]] = ("sum_",)
    _others: ClassVar[tuple[str, ...]] = (*Regularised._others, "last_")

    def _check_params(self) -> None:
        super()._check_params()
        check_number("rho", self.rho, 0, 1e75)
        check_number("l1_ratio", self.l1_ratio, 0, 1, above=True)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.sum_ = np.zeros((p, len(self.bias_)))  # of the gradients
        self.last_ = np.zeros(1)  # the last step

    def _walk(self, call: Call) -> int:
        l1 = self._by_column(self.penalty_ * self.l1_ratio)
        l2 = self._by_column(self.penalty_ * (1 - self.l1_ratio))
        return _core.rda(*call, l1, l2, float(self.rho), self.last_, self.sum_)

    def _least(self) -> Array:
        """What a sum must exceed to make a weight; infinite while there has been no step."""
        t, eta = self.clock_[0], self.last_[0]
        rho = self.rho / eta if eta > 0 else np.inf
        return t * self._by_column(self.penalty_) * self.l1_ratio + rho

    def _weights(self) -> Array:
        eta = self.last_[0]
        l2 = self.clock_[0] * self._by_column(self.penalty_) * (1 - self.l1_ratio)
        return -soft(self.sum_, self._least()) * (eta / (1 + eta * l2))

    def _alive(self) -> NDArray[np.bool_]:
        return np.abs(self.sum_) > self._least()


class RDARegressor(RDA, RegressionLearner):
    """Sparse least squares by regularised dual averaging (Xiao 2010).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty.

    Notes
    -----
    After t rows ``w = -eta_t soft(G, t lam + rho / eta_t)``, G the sum of the gradients. With eta_t = 1 /
    (gamma sqrt(t)), eta = 1 / gamma, this is the long form of [Ma] eq. (18): ``-(sqrt(t) / gamma) (g -
    lam_t sgn(g))`` with g = G / t and ``lam_t = lam + gamma rho / sqrt(t)``; its short form T(g, lam_t)
    drops the factor -sqrt(t) / gamma. With l1_ratio below 1 the l1 part is t lam l1_ratio, and the weight is
    divided by ``1 + eta_t t lam (1 - l1_ratio)``.

    Differences from the paper: eta stands for 1 / gamma, and beta_t = 1 / eta_t for any schedule; a derived
    step never grows, as beta_t must not fall. An intercept, by plain gradient steps, never penalised.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import RDARegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> RDARegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class RDAClassifier(RDA, ClassificationLearner):
    """Sparse linear classifier by regularised dual averaging (Xiao 2010).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty. More than two classes are learned
    jointly, one against the rest; the support is the union over them.

    Notes
    -----
    As `RDARegressor`, with the gradient of the loss chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import RDAClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> RDAClassifier(2).fit(X, X[:, 7] > X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """
