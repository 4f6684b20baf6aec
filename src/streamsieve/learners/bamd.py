"""Budgeted adaptive mirror descent: [Zhai] Algorithm 2."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .. import _core
from .._base import param
from ._budgeted import Adaptive
from ._learner import Array, ClassificationLearner, Core, RegressionLearner


class BAMD(Adaptive):
    _features: ClassVar[tuple[str, ...]] = ("place_", "weight_")

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.weight_ = np.zeros((p, 1 + q))  # sum of squared gradients over rows and outputs; the weights

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        return _core.bamd(
            rows,
            self._loss(),
            y,
            w,
            *self._rule(),
            self.book_,
            self.kept_,
            self.place_,
            self.weight_,
            self.bias_,
            self.bias_sums_,
        )

    def _linear(self) -> tuple[Array, Array]:
        return self.weight_[:, 1:].T.copy(), self.bias_.copy()


class BAMDRegressor(BAMD, RegressionLearner):
    """Least squares with k features, by adaptive mirror descent truncated after every row ([Zhai] Alg. 2).

    O(nnz + k) a row, O(nnz + touched log k) where lam is 0, whatever p is, and O(p) memory.

    Attributes
    ----------
    coef_ : array of shape (p,) or (q, p)
        At most k non-zero columns.
    intercept_ : float or array of shape (q,)

    Notes
    -----
    With g_t the gradient of the row's loss and penalty at w_t and s_j the norm of those of feature j,
    ``H = delta + s``, ``z = w - eta g / H``, and w_{t+1} is z where H |z| is among the k largest, else 0.
    Greedy: prefer `BARDARegressor`, which remembers the gradients of the features that it dropped.

    Differences from the paper: the squared loss; several targets share the features, ranked by
    H_j |z_j| with s_j and \\|z_j\\| norms over targets; ``fit_intercept`` adds a feature that is always 1 and
    is neither penalised nor counted; a row of weight r has r times the gradient of its loss.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import BAMDRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> BAMDRegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class BAMDClassifier(BAMD, ClassificationLearner):
    """Linear classifier with k features, by adaptive mirror descent truncated after each row ([Zhai] Alg. 2).

    O(nnz + k) a row, O(nnz + touched log k) where lam is 0, whatever p is, and O(p) memory. More than two
    classes are learned jointly, one against the rest, and share the k features.

    Attributes
    ----------
    classes_ : array of labels
    coef_ : array of shape (1, p) or (q, p)
        At most k non-zero columns.
    intercept_ : array of shape (1,) or (q,)

    Notes
    -----
    As `BAMDRegressor`, with the gradient of the loss chosen; the paper has the squared hinge, delta = 0.01,
    two classes and no intercept, which are the defaults.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import BAMDClassifier
    >>> X = np.random.default_rng(0).normal(size=(5000, 20))
    >>> y = X[:, 7] > X[:, 13]
    >>> BAMDClassifier(5).fit(X, y).score(X, y) > 0.9
    True
    """

    loss: str = param(
        "squared_hinge",
        "{'squared_hinge', 'logistic', 'hinge', 'squared'}",
        "Loss of a margin; probabilities come with 'logistic'.",
    )
