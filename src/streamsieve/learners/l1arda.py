"""l1-ARDA, adaptive dual averaging: Duchi, Hazan and Singer (2011), [Zhai] section 5.3."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from ._ladder import Call, Regularised, check_number, soft
from ._learner import Array, ClassificationLearner, RegressionLearner


class L1ARDA(Regularised):
    delta: float = param(
        0.01, "float > 0", "What the root of the squared gradients starts from, delta in H = delta + h."
    )

    _features: ClassVar[tuple[str, ...]] = ("sum_", "root_")
    _columns: ClassVar[tuple[str, ...]] = (*Regularised._columns, "bias_root_")
    _others: ClassVar[tuple[str, ...]] = (*Regularised._others, "bias_root_", "targets_", "last_")

    def _check_params(self) -> None:
        super()._check_params()
        check_number("delta", self.delta, 0, 1e75, above=True)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        columns = len(self.bias_)
        self.sum_, self.root_ = (
            np.zeros((p, columns)),
            np.zeros((p, columns)),
        )  # of gradients, of their squares
        self.bias_root_ = np.zeros(columns)
        self.targets_, self.last_ = np.zeros(1), np.zeros(1)

    def _walk(self, call: Call) -> int:
        state = self.targets_, self.bias_root_, self.last_, self.sum_, self.root_
        return _core.l1arda(*call, self._by_column(self.penalty_), float(self.delta), *state)

    def _least(self) -> Array:
        return self.clock_[0] * self._by_column(self.penalty_)

    def _weights(self) -> Array:
        return -self.last_[0] * soft(self.sum_, self._least()) / (self.delta + self.root_)

    def _alive(self) -> NDArray[np.bool_]:
        return np.abs(self.sum_) > self._least()


class L1ARDARegressor(L1ARDA, RegressionLearner):
    """Sparse least squares by adaptive regularised dual averaging (Duchi, Hazan and Singer 2011).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty.

    Notes
    -----
    After t rows ``w = -eta soft(G, t lam) / H``, G the sum of the gradients and ``H = delta + sqrt(sum of
    g^2)``. A derived step is rms(y) / sqrt(mean number of non-zeros x mean squared norm of the rows).

    Differences from the paper: an intercept, by adaptive gradient steps, never penalised.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import L1ARDARegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> L1ARDARegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class L1ARDAClassifier(L1ARDA, ClassificationLearner):
    """Sparse linear classifier by adaptive regularised dual averaging (Duchi, Hazan and Singer 2011).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty. More than two classes are learned
    jointly, one against the rest; the support is the union over them.

    Notes
    -----
    As `L1ARDARegressor`, with the gradient of the loss chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import L1ARDAClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> L1ARDAClassifier(2).fit(X, X[:, 7] > X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """
