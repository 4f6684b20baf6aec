"""Truncated stochastic gradient descent: [Sun] Algorithm 2, truncation only when the model is read."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .. import _core
from .._base import param
from ._learner import Array, ClassificationLearner, RegressionLearner, Standardizing, check_budget
from ._start import Startable
from .sgd import SGD


class TSGD(Startable, SGD, Standardizing):
    k: int = param(10, "int >= 1", "Number of features to keep, at most.", positional=True)

    _features: ClassVar[tuple[str, ...]] = ("weight_", "moments_")

    def _check_params(self) -> None:
        super()._check_params()
        check_budget(self.k)

    def _begin(self, coef: Array, intercept: Array) -> None:
        self.weight_[:] = coef.T
        self.bias_[:] = intercept

    def _linear(self) -> tuple[Array, Array]:
        # Remark 1 of [Sun]: rank by sigma_j |beta_j|; squared, times the same number for all
        score = self._spread() * np.einsum("jo,jo->j", self.weight_, self.weight_)
        kept = np.empty(min(self.k, len(score)), dtype=np.int64)
        kept = kept[: _core.top_k(score, kept)]
        coef = np.zeros((self.weight_.shape[1], len(score)))
        coef[:, kept] = self.weight_[kept].T * self.scale_
        return coef, self.bias_.copy()

    def _read(self) -> tuple[Array, float]:
        return np.ascontiguousarray(self._linear()[0].T), 1.0


class TSGDRegressor(RegressionLearner, TSGD):
    """The k largest weights of least squares by stochastic gradient descent ([Sun] Algorithm 2).

    All weights are learned, O(nnz) a row and O(p) memory; the k with the largest sigma_j |beta_j| are the
    model, chosen whenever it is read, O(p).

    Attributes
    ----------
    coef_ : array of shape (p,) or (q, p)
        At most k non-zero columns.
    intercept_ : float or array of shape (q,)

    Notes
    -----
    Differences from the paper: with `standardize` the step of feature j is divided by the mean square of its
    non-zero values (what normalising the data first would do, which a stream does not allow), and a weight
    follows its unit for the first 64 of them, lest a first value that is tiny by chance leaves a huge one;
    several targets share the k features, ranked by the norm of their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import TSGDRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> TSGDRegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class TSGDClassifier(ClassificationLearner, TSGD):
    """The k largest weights of a linear classifier by stochastic gradient descent ([Sun] Algorithm 2).

    All weights are learned, O(nnz) a row and O(p) memory; the k with the largest sigma_j |beta_j| are the
    model, chosen whenever it is read, O(p). More than two classes are learned jointly, one against the rest,
    and share the k features.

    Attributes
    ----------
    classes_ : array of labels
    coef_ : array of shape (1, p) or (q, p)
        At most k non-zero columns.
    intercept_ : array of shape (1,) or (q,)

    Notes
    -----
    Differences from the paper: as for `TSGDRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import TSGDClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> TSGDClassifier(2).fit(X, X[:, 7] > X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """
