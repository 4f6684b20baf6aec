"""FOBOS, or online proximal gradient (OPG): Duchi and Singer (2009)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from ._ladder import Call, Regularised, check_number, soft
from ._learner import Array, ClassificationLearner, RegressionLearner


class FOBOS(Regularised):
    schedule: Literal["constant", "sqrt", "doubling"] = param(
        "sqrt",
        "{'constant', 'sqrt', 'doubling'}",
        "How the step fades with the row t: as 1 / sqrt(t), as in the paper, not at all, or as log(a) / a, "
        "a doubling whenever t has passed it.",
    )
    l1_ratio: float = param(
        1.0,
        "float in (0, 1]",
        "Share of the l1 norm in the penalty lam (l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2).",
    )

    _features: ClassVar[tuple[str, ...]] = ("weight_",)
    _columns: ClassVar[tuple[str, ...]] = (*Regularised._columns, "spent_", "scale_")
    _others: ClassVar[tuple[str, ...]] = (*Regularised._others, "spent_")

    def _check_params(self) -> None:
        super()._check_params()
        check_number("l1_ratio", self.l1_ratio, 0, 1, above=True)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        columns = len(self.bias_)
        self.weight_ = np.zeros((p, columns))  # a weight is scale (|weight| - spent), or zero
        self.spent_, self.scale_ = np.zeros(columns), np.ones(columns)

    def _walk(self, call: Call) -> int:
        l1 = self._by_column(self.penalty_ * self.l1_ratio)
        l2 = self._by_column(self.penalty_ * (1 - self.l1_ratio))
        return _core.fobos(*call, l1, l2, self.spent_, self.scale_, self.weight_)

    def _weights(self) -> Array:
        return soft(self.weight_, self.spent_) * self.scale_

    def _alive(self) -> NDArray[np.bool_]:
        return np.abs(self.weight_) > self.spent_


class FOBOSRegressor(FOBOS, RegressionLearner):
    """Sparse least squares by forward-backward splitting (Duchi and Singer 2009).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty.

    Notes
    -----
    For each row ``w <- soft(w - eta_t g, eta_t lam l1_ratio) / (1 + eta_t lam (1 - l1_ratio))``, g the row's
    gradient times its weight. The proximal steps of the rows that do not touch a weight add up (and, with
    l2, multiply) in one number a penalty, so that a weight is right whenever it is read.

    Differences from the paper: an intercept, by plain gradient steps, never penalised.

    The support as of now holds what the last rows have touched, and a penalty that keeps it down to a small k
    weighs on the true features as well: to find k features prefer `RDARegressor` or `L1ARDARegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import FOBOSRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> model = FOBOSRegressor(lam=0.001, schedule="constant").fit(X, X[:, 7] - 2 * X[:, 31])
    >>> model.coef_[[7, 31]].round(1)
    array([ 1., -2.])
    """


class FOBOSClassifier(FOBOS, ClassificationLearner):
    """Sparse linear classifier by forward-backward splitting (Duchi and Singer 2009).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty. More than two classes are learned
    jointly, one against the rest; the support is the union over them.

    Notes
    -----
    As `FOBOSRegressor`, with the gradient of the loss chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import FOBOSClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> y = X[:, 7] > X[:, 31]
    >>> FOBOSClassifier(lam=0.001, schedule="constant").fit(X, y).score(X, y) > 0.9
    True
    """
