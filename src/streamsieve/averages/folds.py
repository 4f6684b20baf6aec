"""Running averages of each fold of a stream, for cross-validation from one pass."""

from __future__ import annotations

from threading import RLock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..params import Int, Param
from ..rows import Array, Rows
from ..state import State
from .forgetting import Decay, Forgetting, decay_per_row
from .interactions import Pairs
from .running import RunningAverages, both_locks

N_FOLDS = Param(5, Int(2), "Number of folds for cross-validation; row i belongs to fold i mod n_folds.")


class FoldAverages(State):
    """Running averages of each of K folds of a stream; row i belongs to fold i mod K.

    The averages of the training rows of a fold are the total minus the fold, and a model's error on the fold
    follows from the fold's own averages, so that cross-validation needs no row again. K times the memory of
    `RunningAverages`.

    Parameters
    ----------
    n_folds : int >= 2, default=5
    decay, half_life, **options
        As of `RunningAverages`; rows age with the whole stream.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:  # noqa: ARG004
        self = super().__new__(cls)
        self._lock = RLock()
        return self

    def __init__(
        self, n_folds: int = 5, *, decay: Decay = None, half_life: float | None = None, **options: Any
    ) -> None:
        n_folds = N_FOLDS.check("n_folds", n_folds)
        decay = decay_per_row(decay, half_life)
        folds = [RunningAverages(**options) for _ in range(n_folds)]
        for fold in folds:  # their rows come with the weights of this clock
            fold.forgets = decay is not None
        super().__init__(
            folds_=folds, forgetting=Forgetting(decay, folds[0].forgetting.largest), n_samples_=0
        )

    def begin(self, p: int, q: int, names: list[str] | None = None) -> Self:
        """Lay out the state for p columns and q targets."""
        for fold in self.folds_:
            fold.begin(p, q, names)
        return self

    @property
    def n_features_in_(self) -> int | None:
        n: int | None = self.folds_[0].n_features_in_
        return n

    @property
    def pairs(self) -> Pairs | None:
        """The products, with `interactions`."""
        return self.folds_[0].pairs

    @property
    def _changes(self) -> int:
        return sum(fold._changes for fold in self.folds_)

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows, as `RunningAverages.update` does, and deal them out to the folds."""
        with self._lock:
            return self.add(*self.folds_[0].check_batch(X, y, sample_weight))

    def add(self, rows: Rows, y: Array, w: Array | None = None, names: list[str] | None = None) -> Self:
        """Add checked rows, as `RunningAverages.add` does."""
        with self._lock:
            growth = self.forgetting.plan(len(y), self.n_samples_)
            if self.n_features_in_ is None:
                self.begin(rows.p, y.shape[1], names)
            self.widen(max(rows.p, self.n_features_in_ or 0))
            first, *others = self.folds_
            first.place(rows, y)
            for fold in others:  # one centre for all, so that they add up without moving
                if first.moments.placed and not fold.moments.placed:
                    fold.moments.center[:] = first.moments.center
                    fold.moments.placed = True
            start = 0
            while start < len(y):
                start = self._add_some(rows, y, w, growth, start)
        return self

    def _add_some(self, rows: Rows, y: Array, w: Array | None, growth: Array | None, start: int) -> int:
        """Add rows from `start` on, as far as their weights may grow; where it ended."""
        room = self.forgetting.room(None if growth is None else growth[start : start + (1 << 16)])
        if room == 0:
            self._scale(1.0 / self.forgetting.level)
            return start
        n, K = min(len(y) - start, room), len(self.folds_)
        part = slice(start, start + n)
        r = self.forgetting.weights(
            n, None if growth is None else growth[part], None if w is None else w[part]
        )
        for f, fold in enumerate(self.folds_):
            mine = slice((f - self.n_samples_) % K, None, K)
            at = np.arange(start, start + n)[mine]
            if len(at):
                fold.add_weighted(rows.take(at), y[at], r[mine], None, None if w is None else w[at])
        self.n_samples_ += n
        return start + n

    def _scale(self, factor: float) -> None:
        self.forgetting.scale(factor)
        for fold in self.folds_:
            fold.scale(factor)

    def widen(self, p: int, where: NDArray[np.int64] | None = None) -> Self:
        """Let features join, as `RunningAverages.widen` does."""
        for fold in self.folds_:
            fold.widen(p, where)
        return self

    def resize(self, p: int) -> None:
        self.widen(p)

    def merge(self, other: FoldAverages) -> Self:
        """Add the rows of other folds, fold by fold; with forgetting, both count as ending now."""
        if not isinstance(other, FoldAverages):
            raise TypeError(f"Expected FoldAverages, got {type(other).__name__}.")
        if len(other.folds_) != len(self.folds_):
            raise ValueError(f"Cannot merge {len(other.folds_)} folds with {len(self.folds_)}.")
        self.forgetting.check_same_decay(other.forgetting)
        if other.n_features_in_ is None:
            return self
        other = other.copy() if other is self else other
        with both_locks(self, other):
            if self.forgetting.unit != 1.0:
                self._scale(1.0 / self.forgetting.unit)
            unit = other.forgetting.unit
            for mine, theirs in zip(self.folds_, other.folds_):
                mine.combine(theirs, 1, unit)
            self.forgetting.total += other.forgetting.total / unit
            self.n_samples_ += other.n_samples_
        return self

    def without(self, fold: int, total: RunningAverages) -> RunningAverages:
        """The averages of all rows but those of a fold."""
        return total.copy().combine(self.folds_[fold], -1, warn=False)

    def total(self) -> RunningAverages:
        """The averages of all rows."""
        with self._lock:
            total = self.folds_[0].copy()
            for fold in self.folds_[1:]:
                total.merge(fold)
        return total

    # ---------------------------------------------------------------- files

    def bytes_at(self, p: int, now: int) -> float:
        return len(self.folds_) * self.folds_[0].bytes_at(p, now)

    def check(self) -> None:
        """Raise ValueError for state from a file that does not fit together."""
        if not isinstance(self.folds_, list) or len(self.folds_) < 2:
            raise ValueError("there are fewer than 2 folds.")
        self.verify(FoldAverages(len(self.folds_), dtype=self.folds_[0].dtype))
        for fold in self.folds_:
            if not isinstance(fold, RunningAverages):
                raise ValueError(f"a fold is a {type(fold).__name__}.")
            fold.check()
        rows = sum(fold.n_samples_ for fold in self.folds_)
        same = {(f.n_features_in_, f.n_targets_, f.dtype, f.interactions) for f in self.folds_}
        if rows != self.n_samples_ or len(same) > 1:
            raise ValueError("the folds are not those of one stream.")
        self.forgetting.check(self.folds_[0].forgetting.largest)
