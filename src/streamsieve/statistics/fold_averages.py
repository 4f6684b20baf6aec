"""Running averages of each fold of a stream, for cross-validation from one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.params import Int, Or, Param
from ..core.rows import Array, Rows, as_weights
from ..core.state import LockedState, State
from .batch import check_batch
from .combine import both_locks
from .folds import hash_ids
from .forgetting import Decay, Forgetting, decay_per_row
from .interactions import Pairs
from .moments import BLOCK
from .running import RunningAverages

N_FOLDS = Param(
    "auto",
    Or(Int(2), "auto"),
    "Number of folds; row i belongs to fold i mod n_folds. 'auto': 5 for cross-validation, 20 for standard "
    "errors, `honest` and `stability`.",
)
LEAST = 64  # minimum number of rows that are multiplied together
COUNT = Param(5, Int(2), "Number of folds.")


class FoldAverages(LockedState):
    """Running averages of each of K folds of a stream; by default row i belongs to fold i mod K.

    The averages of the training rows of a fold are the total minus those of the fold. The error of a model on
    the fold can be computed from the averages of the fold. Therefore cross-validation needs no second pass
    over the rows. The same is true for the standard errors, `split` and `stability` of
    `streamsieve.inference`. The memory is K times that of `RunningAverages`.

    Parameters
    ----------
    n_folds : int >= 2, default=5
    decay, half_life, **options
        As in `RunningAverages`; the age of a row counts the rows of all folds.
    """

    assigned: bool
    n_samples_: int

    def __init__(
        self, n_folds: int = 5, *, decay: Decay = None, half_life: float | None = None, **options: Any
    ) -> None:
        n_folds = COUNT.check("n_folds", n_folds)
        decay = decay_per_row(decay, half_life)
        folds = [RunningAverages(**options) for _ in range(n_folds)]
        for fold in folds:  # their rows have the weights of this clock
            fold.forgets = decay is not None
            fold.block = max(BLOCK // n_folds, LEAST)  # K times a whole block would be as much as the sums
        super().__init__(
            folds_=folds,
            forgetting=Forgetting(decay, folds[0].forgetting.largest),
            n_samples_=0,
            assigned=False,
        )

    def begin(self, p: int, q: int, names: list[str] | None = None) -> Self:
        """Allocate the state for p columns and q targets."""
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

    def update(self, X: Any, y: Any, sample_weight: Any = None, *, fold: Any = None) -> Self:
        """Add rows, as `RunningAverages.update` does, and assign them to the folds.

        Parameters
        ----------
        X, y, sample_weight
            As in `RunningAverages.update`.
        fold : array of n ints in [0, K) or None, default=None
            The fold of each row; None assigns them in turn. Dependent rows should be in the same fold: pass
            `fold_of(cluster)`, with the ids of their clusters.
        """
        with self._lock:
            rows, Y, w, names = check_batch(self.folds_[0], X, y, sample_weight)
            if fold is not None:
                fold = self._check_folds(fold)
                if sample_weight is not None and len(fold) > len(rows):  # rows of weight 0 have been removed
                    weights = as_weights(sample_weight, len(fold), np.inf)
                    fold = fold if weights is None else fold[weights > 0]
                if len(fold) != len(rows):
                    raise ValueError(f"fold has {len(fold)} entries for {len(rows)} rows; pass one a row.")
            return self.add(rows, Y, w, names, fold)

    def _check_folds(self, fold: Any) -> NDArray[np.int64]:
        fold, K = np.asarray(fold), len(self.folds_)
        if fold.ndim != 1 or fold.dtype.kind not in "iu":
            raise ValueError(
                f"fold has shape {fold.shape} and dtype {fold.dtype}; pass one int a row, such as "
                "fold_of(cluster)."
            )
        if len(fold) and not 0 <= fold.min() <= fold.max() < K:
            raise ValueError(f"fold has values from {fold.min()} to {fold.max()}; there are {K} folds.")
        return fold.astype(np.int64)

    def fold_of(self, cluster: Any) -> NDArray[np.int64]:
        """The fold of each row by a hash of its cluster id, the same on every machine and in every call.

        Parameters
        ----------
        cluster : array of n ids
            Numbers or words; missing ids raise ValueError.
        """
        return hash_ids(cluster) % np.int64(len(self.folds_))

    def subset(self, folds: Iterable[int]) -> FoldAverages:
        """Some of the folds for reading; they are shared, not copied."""
        part, chosen = FoldAverages.__new__(FoldAverages), [self.folds_[f] for f in folds]
        State.__init__(
            part,
            folds_=chosen,
            forgetting=self.forgetting,
            n_samples_=sum(fold.n_samples_ for fold in chosen),
            assigned=self.assigned,
        )
        return part

    @property
    def forgets(self) -> bool:
        """Whether old rows lose weight."""
        return bool(self.folds_[0].forgets)

    def add(
        self,
        rows: Rows,
        y: Array,
        w: Array | None = None,
        names: list[str] | None = None,
        fold: NDArray[np.int64] | None = None,
    ) -> Self:
        """Add validated rows to these folds, as `RunningAverages.add` does."""
        with self._lock, self._all_or_none():
            growth = self.forgetting.plan(len(y), self.n_samples_)
            self.assigned = self.assigned or fold is not None
            if self.n_features_in_ is None:
                self.begin(rows.p, y.shape[1], names)
            self.widen(max(rows.p, self.n_features_in_ or 0))
            first, *others = self.folds_
            first.place(rows, y)
            for other in others:  # the same centre for all folds, so that sums add up without a shift
                if first.moments.placed and not other.moments.placed:
                    other.moments.place_as(first.moments)
            start = 0
            while start < len(y):
                start = self._add_some(rows, y, w, growth, fold, start)
        return self

    @contextmanager
    def _all_or_none(self) -> Iterator[None]:
        clock = self.forgetting
        held = self.n_samples_, self.assigned, dict(vars(clock))
        with ExitStack() as folds:
            for fold in self.folds_:
                folds.enter_context(fold.all_or_none())
            try:
                yield
            except BaseException:
                if not any(fold._undo.lost for fold in self.folds_):
                    self.n_samples_, self.assigned = held[:2]
                    vars(clock).update(held[2])
                raise

    def _add_some(
        self,
        rows: Rows,
        y: Array,
        w: Array | None,
        growth: Array | None,
        assigned: NDArray[np.int64] | None,
        start: int,
    ) -> int:
        """Add rows from `start` on, as far as the limit of the weights allows; returns the end."""
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
            mine: Any = slice((f - self.n_samples_) % K, None, K)
            if assigned is not None:
                mine = np.flatnonzero(assigned[part] == f)
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
        """Add features, as `RunningAverages.widen` does."""
        for fold in self.folds_:
            fold.widen(p, where)
        return self

    def resize(self, p: int) -> None:
        self.widen(p)

    def pack(self) -> Self:
        """As `RunningAverages.pack`."""
        for fold in self.folds_:
            fold.pack()
        return self

    def unpack(self) -> Self:
        """As `RunningAverages.unpack`."""
        for fold in self.folds_:
            fold.unpack()
        return self

    def merge(self, other: FoldAverages) -> Self:
        """Add the rows of other folds, fold by fold; with forgetting, the latest row of each has weight 1."""
        return self._combine(other, 0)

    def append(self, other: FoldAverages) -> Self:
        """Append the rows of other folds: row i of all rows is in fold i mod K.

        If folds were assigned, they are merged fold by fold.
        """
        given = self.assigned or getattr(other, "assigned", False)
        return self._combine(other, 0 if given else self.n_samples_)

    def _combine(self, other: FoldAverages, shift: int) -> Self:
        """Add fold f of the other to fold f + shift mod K."""
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
            for f, theirs in enumerate(other.folds_):
                self.folds_[(f + shift) % len(self.folds_)].combine(theirs, 1, unit)
            self.forgetting.total += other.forgetting.total / unit
            self.n_samples_ += other.n_samples_
            self.assigned = self.assigned or other.assigned
        return self

    def without(self, fold: int, total: RunningAverages) -> RunningAverages:
        """The averages of all rows except those of one fold."""
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
        """Raise ValueError for an inconsistent state from a file."""
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
            raise ValueError("the folds are not from one stream.")
        self.forgetting.check(self.folds_[0].forgetting.largest)
