"""Truncated gradient: Langford, Li and Zhang (2009)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import _core
from .._base import param
from ._ladder import Call, Regularised, check_number, soft
from ._learner import Array, ClassificationLearner, RegressionLearner


class TruncatedGradient(Regularised):
    K: int = param(10, "int >= 1", "Rows from one truncation to the next.")
    theta: float = param(
        np.inf, "float > 0 or inf", "Weights beyond it are left alone by a truncation, theta in the paper."
    )

    _features: ClassVar[tuple[str, ...]] = ("weight_", "then_")
    _others: ClassVar[tuple[str, ...]] = (*Regularised._others, "pull_", "last_")

    def _check_params(self) -> None:
        super()._check_params()
        _check_period(self.K)
        check_number("theta", self.theta, 0, above=True)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        columns = len(self.bias_)
        # theta finite: weights when last touched, and pull_ then. Infinite: |w| + lam pull_ of then.
        self.weight_ = np.zeros((p, columns))
        self.then_ = np.zeros((p, columns)) if self.theta < np.inf else None
        self.pull_, self.last_ = np.zeros(1), np.zeros(1)

    def _walk(self, call: Call) -> int:
        lam = self._by_column(self.penalty_)
        return _core.truncated_gradient(
            *call, lam, float(self.theta), float(self.K), self.pull_, self.last_, self.weight_, self.then_
        )

    def _due(self, t: float) -> float:
        return float(np.ceil(t / self.K) * self.K)  # or supports would be compared at different distances

    def _settle(self) -> None:
        if self.then_ is not None:
            self.weight_[:] = self._pulled(self.pull_)
            self.then_[:] = self.pull_

    def _reseed(self, dst: int, src: int, lam: float) -> None:
        super()._reseed(dst, src, lam)
        if self.then_ is None:  # what is stored depends on the penalty
            to = slice(dst * self._outputs_, (dst + 1) * self._outputs_)
            now = soft(self.weight_[:, to], self.penalty_[src] * self.pull_)
            self.weight_[:, to] = now + np.copysign(lam * self.pull_, now)

    def _pulled(self, pull: Array) -> Array:
        lam = self._by_column(self.penalty_)
        if self.then_ is None:
            return soft(self.weight_, lam * pull)
        less = soft(self.weight_, lam * (pull - self.then_))
        return np.where(np.abs(self.weight_) <= self.theta, less, self.weight_)

    def _weights(self) -> Array:
        # Between truncations no touched weight is zero: what is read has the gravity of the rows since.
        return self._pulled(self.pull_ + self.clock_[0] % self.K * self.last_)


def _check_period(K: Any) -> None:
    if not isinstance(K, int | np.integer) or isinstance(K, bool) or K < 1:
        raise ValueError(f"K={K!r}; pass the rows from one truncation to the next, an integer of at least 1.")


class TruncatedGradientRegressor(TruncatedGradient, RegressionLearner):
    """Sparse least squares by truncated gradient steps (Langford, Li and Zhang 2009).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty.

    Notes
    -----
    For each row ``w <- w - eta_t g``; after every K-th, weights of at most theta are brought closer to zero
    by ``K eta_t lam``, lam being the gravity g_0. A weight that no row touches is either beyond theta all
    the time or never, so what it has missed is a difference of one running sum.

    Differences from the paper: an intercept, never truncated; a model read m rows after a truncation is
    read as if one by ``m eta_t lam`` had come since, or it would not be sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import TruncatedGradientRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> TruncatedGradientRegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class TruncatedGradientClassifier(TruncatedGradient, ClassificationLearner):
    """Sparse linear classifier by truncated gradient steps (Langford, Li and Zhang 2009).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty. More than two classes are learned
    jointly, one against the rest; the support is the union over them.

    Notes
    -----
    As `TruncatedGradientRegressor`, with the gradient of the loss chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import TruncatedGradientClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> TruncatedGradientClassifier(2).fit(X, X[:, 7] > X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """
