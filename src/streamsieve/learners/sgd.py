"""Stochastic gradient descent: the baseline, and the ground the truncated learners stand on."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .. import _core
from ._learner import Array, ClassificationLearner, Core, RegressionLearner, RowLearner


class SGD(RowLearner):
    _features: ClassVar[tuple[str, ...]] = ("weight_",)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.weight_ = np.zeros((p, q))  # times scale_: the penalty shrinks all weights in one product

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        moments = getattr(self, "moments_", None)
        return _core.sgd(
            rows, self._loss(), y, w, *self._steps(), moments, self.weight_, self.scale_, self.bias_
        )

    def _read(self) -> tuple[Array, float]:
        return self.weight_, float(self.scale_[0])

    def _linear(self) -> tuple[Array, Array]:
        return self.weight_.T * self.scale_, self.bias_.copy()


class SGDRegressor(RegressionLearner, SGD):
    """Least squares by stochastic gradient descent: every feature keeps a weight.

    O(nnz) a row, O(p) memory.

    Attributes
    ----------
    coef_ : array of shape (p,) or (q, p)
    intercept_ : float or array of shape (q,)

    Notes
    -----
    For each row, ``w <- w - eta (r (x'w + b - y) x + lam w)``, r the row's weight.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SGDRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> SGDRegressor().fit(X, X[:, 0] - 2 * X[:, 2]).coef_.round(2) + 0.0
    array([ 1.,  0., -2.])
    """


class SGDClassifier(ClassificationLearner, SGD):
    """Linear classifier by stochastic gradient descent: every feature keeps a weight.

    O(nnz) a row, O(p) memory. More than two classes are learned jointly, one against the rest.

    Attributes
    ----------
    classes_ : array of labels
    coef_ : array of shape (1, p) or (q, p)
    intercept_ : array of shape (1,) or (q,)

    Notes
    -----
    For each row, ``w <- w - eta (r loss'(x'w + b, y) x + lam w)``, y = -1 or +1 and r the row's weight.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SGDClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> SGDClassifier().fit(X, X[:, 0] > X[:, 2]).score(X, X[:, 0] > X[:, 2]) > 0.97
    True
    """
