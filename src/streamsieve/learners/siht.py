"""Stochastic iterative hard thresholding: TSGD of [Susan] section 3, truncation after every step."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from ._learner import (
    Array,
    ClassificationLearner,
    Core,
    RegressionLearner,
    Standardizing,
    check_budget,
    same_shape,
)
from ._start import Startable


def _table(room: int) -> NDArray[np.int32]:
    return np.zeros(1 << max(1, (8 * room - 1).bit_length()), dtype=np.int32)


class SIHT(Startable, Standardizing):
    k: int = param(10, "int >= 1", "Number of features to keep, at most.", positional=True)

    _others: ClassVar[tuple[str, ...]] = (
        *Standardizing._others,
        "table_",
        "kept_",
        "score_",
        "size_",
        "weight_",
    )

    _free: ClassVar[dict[str, int]] = dict.fromkeys(("kept_", "score_", "weight_", "table_"), 0)

    def _check_params(self) -> None:
        super()._check_params()
        check_budget(self.k)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        room = min(self.k, p)
        self.kept_ = np.zeros((room, 3), dtype=np.int64)  # of each slot: feature, place in the heap; the heap
        self.score_ = np.zeros(room)
        self.size_ = np.zeros(1, dtype=np.int64)
        self.weight_ = np.zeros((room, q))
        self.table_ = _table(room)  # slots by feature: all there is of the p features that are not kept

    def _check_state(self) -> None:
        if not self._started():
            return
        room, n = len(self.score_), int(self.size_[0])
        for array in (self.kept_, self.weight_):
            same_shape("state of the features kept", array, (room, array.shape[1]), array.dtype)
        features, place, heap = self.kept_[:n].T
        if not 0 <= n <= room or len(self.table_) != len(_table(room)):
            raise ValueError(f"{n} features are kept, in room for {room}.")
        if n and not (features.min() >= 0 and features.max() < self.n_features_in_):
            raise ValueError("a feature is kept that is not there.")
        if not (np.array_equal(np.sort(heap), np.arange(n)) and np.array_equal(heap[place], np.arange(n))):
            raise ValueError("the heap of the features kept is none.")
        again = _table(room)
        _core.index_kept(self.kept_[:n], again)
        if not np.array_equal(np.sort(again), np.sort(self.table_)):
            raise ValueError("the table of the features kept is of other features.")

    def _resize(self, p: int) -> None:
        super()._resize(p)
        room = max(min(self.k, p), int(self.size_[0]))
        if room == len(self.score_):
            return
        for name in ("kept_", "score_", "weight_"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), dtype=old.dtype)
            new[: min(room, len(old))] = old[:room]
            setattr(self, name, new)
        if len(self.table_) != len(_table(room)):
            self.table_ = _table(room)
            _core.index_kept(self.kept_[: self.size_[0]], self.table_)

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        return _core.siht(
            rows,
            self._loss(),
            y,
            w,
            *self._steps(),
            self.moments_,
            self.table_,
            self.kept_,
            self.score_,
            self.size_,
            self.weight_,
            self.scale_,
            self.bias_,
        )

    def _budget(self) -> int:
        return int(self.k)

    def _begin(self, coef: Array, intercept: Array) -> None:
        score = self._spread() * np.einsum("oj,oj->j", coef, coef)
        kept = np.empty(len(self.score_), dtype=np.int64)
        kept = kept[: _core.top_k(score, kept)]
        # worst first, and of equals the higher index: sorted like that it is a heap
        kept = kept[np.lexsort((-kept, score[kept]))]
        n = len(kept)
        self.kept_[:n] = np.column_stack([kept, np.arange(n), np.arange(n)])
        self.score_[:n], self.size_[0] = score[kept], n
        self.weight_[:n] = coef[:, kept].T
        self.bias_[:] = intercept
        self.table_ = _table(len(self.score_))
        _core.index_kept(self.kept_[:n], self.table_)

    def _linear(self) -> tuple[Array, Array]:
        n = int(self.size_[0])
        coef = np.zeros((self.weight_.shape[1], self.n_features_in_))
        coef[:, self.kept_[:n, 0]] = self.weight_[:n].T * self.scale_
        return coef, self.bias_.copy()


class SIHTRegressor(RegressionLearner, SIHT):
    """Least squares with k features, by a gradient step and a truncation to the k best weights for every row.

    O(nnz + touched log k) a row, whatever p is: only k weights are ever not zero.

    Attributes
    ----------
    coef_ : array of shape (p,) or (q, p)
        At most k non-zero columns.
    intercept_ : float or array of shape (q,)

    Notes
    -----
    ``w <- Truncate(w - eta (r (x'w + b - y) x + lam w), k)``, [Susan] section 3. Greedy: it stands and falls
    with where it starts, so prefer `TSGDRegressor` where correlated features must be told apart.

    Differences from the paper: with `standardize` steps and ranks are in units of the features (sigma_j
    |w_j|), and several targets share the k features, ranked by the norm of their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SIHTRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> SIHTRegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class SIHTClassifier(ClassificationLearner, SIHT):
    """Linear classifier with k features, by a gradient step and a truncation to the k best for every row.

    O(nnz + touched log k) a row, whatever p is: only k weights are ever not zero. More than two classes are
    learned jointly, one against the rest, and share the k features.

    Attributes
    ----------
    classes_ : array of labels
    coef_ : array of shape (1, p) or (q, p)
        At most k non-zero columns.
    intercept_ : array of shape (1,) or (q,)

    Notes
    -----
    As `SIHTRegressor`, with the gradient of the loss chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SIHTClassifier
    >>> X = np.random.default_rng(0).normal(size=(5000, 20))
    >>> SIHTClassifier(2).fit(X, X[:, 7] > X[:, 13]).get_support(indices=True)
    array([ 7, 13])
    """
