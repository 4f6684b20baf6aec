"""K-fold cross-validation from one pass: averages per fold, and never a row seen twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .forgetting import Alpha, Forgetting
from .path import Path, path
from .running import RunningAverages
from .standardize import Array


class FoldAverages:
    """Running averages of each of K folds of a stream; row i belongs to fold i mod K.

    The averages of the training rows of a fold are the total minus the fold, and a model's error on the fold
    follows from the fold's own averages, so that cross-validation needs no row again. K times the memory of
    `RunningAverages`.

    Parameters
    ----------
    n_folds : int >= 2, default=5
    alpha, half_life, **options
        As of `RunningAverages`; rows age with the whole stream.
    """

    def __init__(
        self, n_folds: int = 5, *, alpha: Alpha = None, half_life: float | None = None, **options: Any
    ) -> None:
        if not (isinstance(n_folds, int | np.integer) and n_folds >= 2):
            raise ValueError(f"n_folds={n_folds!r}; cross-validation needs an integer of at least 2.")
        self.folds_ = [RunningAverages(**options) for _ in range(n_folds)]
        self._clock = Forgetting(alpha, half_life, largest=self.folds_[0]._clock.largest)
        self.n_samples_ = 0

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows, as `RunningAverages.update` does, and deal them out to the folds."""
        X, y, w, names = self.folds_[0]._check(X, y, sample_weight)
        growth = self._clock.plan(len(y), self.n_samples_, w)
        self.folds_[0]._begin(X, y, names)
        for fold in self.folds_[1:]:  # one centre for all, so that they add up without moving
            fold._begin(X, y, names, self.folds_[0].center_)
        start, n = 0, len(y)
        while start < n:
            room = self._clock.room(None if growth is None else growth[start:])
            if room == 0:
                factor = 1.0 / self._clock.level
                self._clock.scale(factor)
                for fold in self.folds_:
                    fold._scale(factor)
                continue
            stop = min(n, start + room)
            r = self._clock.weights(
                stop - start,
                None if growth is None else growth[start:stop],
                None if w is None else w[start:stop],
            )
            for f, fold in enumerate(self.folds_):
                mine = slice((f - self.n_samples_) % len(self.folds_), None, len(self.folds_))
                rows = np.arange(start, stop)[mine]
                if len(rows):
                    fold._take(X[rows], y[rows], r[mine], None)
            self.n_samples_ += stop - start
            start = stop
        return self

    def total(self) -> RunningAverages:
        """The averages of all rows."""
        total = self.folds_[0].copy()
        for fold in self.folds_[1:]:
            total.merge(fold)
        return total


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Errors of each fold along a path.

    Attributes
    ----------
    k : ndarray of shape (L,)
        Number of features of the models on all rows.
    lam : ndarray of shape (L,) or None
    mse : ndarray of shape (K, L)
        Mean squared error on each fold, of the model fitted on the other folds; targets scaled to variance 1
        and averaged.
    mean, stderr : ndarray of shape (L,)
        Over the folds, which count by their weight.
    path : Path
        Of all rows.
    """

    k: Any
    lam: Array | None
    mse: Array
    mean: Array
    stderr: Array
    path: Path

    def best(self, *, one_stderr: bool = False) -> Any:
        """The model with the smallest error, or the sparsest within one standard error of it."""
        return self.path[self.best_index(one_stderr=one_stderr)]

    def best_index(self, *, one_stderr: bool = False) -> int:
        """Its place on the path."""
        at = int(np.argmin(self.mean))
        if not one_stderr:
            return at
        return int(np.flatnonzero(self.mean <= self.mean[at] + self.stderr[at])[0])
