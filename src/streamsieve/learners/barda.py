"""Budgeted adaptive regularised dual averaging: [Zhai] Algorithm 1."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .. import _core
from .._base import param
from ._budgeted import Adaptive, check_heap
from ._learner import Array, ClassificationLearner, Core, RegressionLearner


class BARDA(Adaptive):
    _features: ClassVar[tuple[str, ...]] = ("place_", "gradient_", "pool_")
    _book: ClassVar[int] = 10

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.gradient_ = np.zeros((p, 1 + q))  # sum of squares over rows and outputs, and the sums, G
        self.pool_ = np.zeros((p, 2))  # a heap of outsiders, best first: bound of the score, and feature

    def _check_state(self) -> None:
        super()._check_state()
        if self._started():
            check_heap(self.pool_, self.book_[1], self.place_, -1)

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        return _core.barda(
            rows,
            self._loss(),
            y,
            w,
            *self._rule(),
            self.book_,
            self.kept_,
            self.pool_,
            self.place_,
            self.gradient_,
            self.bias_,
            self.bias_sums_,
        )

    def _linear(self) -> tuple[Array, Array]:
        kept = self._chosen()
        coef = np.zeros((len(self.bias_), len(self.place_)))
        square, *sums = self.gradient_[kept].T
        below = self.lam * self.eta * self.clock_[0] + (self.delta + np.sqrt(square))
        coef[:, kept] = -self.eta * np.array(sums) / below
        return coef, self.bias_.copy()


class BARDARegressor(BARDA, RegressionLearner):
    """Least squares with k features, by adaptive dual averaging truncated after every row ([Zhai] Alg. 1).

    O(nnz + touched log k) a row, amortised, whatever p is, and O(p) memory; the features are those that
    sorting all p scores after every row would give.

    Attributes
    ----------
    coef_ : array of shape (p,) or (q, p)
        At most k non-zero columns.
    intercept_ : float or array of shape (q,)

    Notes
    -----
    With g_t the gradient of the row's loss at w_t, G the sum of the gradients and s_j the norm of those of
    feature j, ``H = delta + s``, ``z = -eta G / (lam eta t + H)``, and w_{t+1} is z where H z^2 is among the
    k largest, else 0: a feature counts by its weight and by how much it was seen. All features go on
    collecting gradients, so that one which was dropped can come back.

    Differences from the paper: the squared loss; several targets share the features, ranked by
    H_j |z_j|^2 with s_j the norm over rows and targets; ``fit_intercept`` adds a feature that is always 1 and
    is neither penalised nor counted; a row of weight r has r times its gradient, and is one row to lam.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import BARDARegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> BARDARegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class BARDAClassifier(BARDA, ClassificationLearner):
    """Linear classifier with k features, by adaptive dual averaging truncated after each row ([Zhai] Alg. 1).

    O(nnz + touched log k) a row, amortised, whatever p is, and O(p) memory; the features are those that
    sorting all p scores after every row would give. More than two classes are learned jointly, one against
    the rest, and share the k features.

    Attributes
    ----------
    classes_ : array of labels
    coef_ : array of shape (1, p) or (q, p)
        At most k non-zero columns.
    intercept_ : array of shape (1,) or (q,)

    Notes
    -----
    As `BARDARegressor`, with the gradient of the loss chosen; the paper has the squared hinge, delta = 0.01,
    two classes and no intercept, which are the defaults.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import BARDAClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> BARDAClassifier(2).fit(X, X[:, 7] > X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """

    loss: str = param(
        "squared_hinge",
        "{'squared_hinge', 'logistic', 'hinge', 'squared'}",
        "Loss of a margin; probabilities come with 'logistic'.",
    )
