"""Stabilized truncated SGD: Ma and Zheng, Stabilized Sparse Online Learning for Sparse Data."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from .._input import Rows, is_frame, is_sparse, threads
from ._ladder import check_number, soft
from ._learner import (
    Array,
    ClassificationLearner,
    Core,
    Listed,
    RegressionLearner,
    Stepping,
    _resized,
    check_budget,
    is_number,
)
from ._rung import part_of
from ._waiting import Waiting

#: The numbers that all paths share, as `StageClock` of ``cpp/stabilized.hpp`` lists them.
CLOCK = (
    *("filled", "bursts", "stage", "K", "gravity", "rejection"),
    *("size", "dead", "seen", "weight", "blocks"),
)
_AT = {name: i for i, name in enumerate(CLOCK)}
_HEAD = 7  # numbers of a path before its intercepts: `PathHead` of the kernel
_ROOM = 64  # slots at least
_LINES = 512  # stages that the history holds; when it is full, every second one goes
_SIGHTINGS = 20  # of a feature in a burst: a change over one or two rows is the noise of these rows
_SAMPLE = 256  # rows of the first block that tell how often features are seen
_SHORTEST = 50  # rows of a burst, at least, where its length is derived
HISTORY = ("stage", "stable", "gravity", "rejection", "K")


class StabilizedSGD(Listed, Stepping):
    _remark: ClassVar[str] = """
    Paths run on threads; their number does not change the model. The rows that come are put aside until
    there are `block_size` of them; then every path goes over that block in an order of its own, so that it
    does not matter how a stream is cut into calls. A model that is read in between is that of all rows so
    far, as if the block and the burst had ended: this costs the rows put aside once more."""
    _attributes: ClassVar[str] = """
    coef_ : array of shape (p,), (1, p) of a classifier, or (q, p)
        Mean over the paths. With k, at most k non-zero columns.
    intercept_ : float or array
    selection_probabilities_ : array of shape (p,)
        Share of the bursts that left a feature non-zero, of those that saw it, when it was last judged;
        1 while it has not been, 0 once it is purged.
    n_stable_ : int
        Features seen and not purged.
    gravity_, rejection_ : float
        g_0 and beta of the current stage.
    history_ : dict of arrays
        'stage', 'stable', 'gravity', 'rejection' and 'K' after each stage, or, of more than 512, after every
        2nd, 4th, ...
    K_ : int
        Rows of a burst at first, as given or derived; 0 before the first block.
    n_iter_ : int
        Passes that `fit` made."""

    k: int | None = param(
        None,
        "int >= 1 or None",
        "Number of features to keep, at most: purging stops at k, and the answer is cut to k by selection "
        "probability, then weight. None: what is stable.",
        positional=True,
    )
    n_paths: int = param(16, "int >= 1", "Paths, M in the paper.")
    K: int | Literal["auto"] = param(
        "auto",
        "int >= 1 or 'auto'",
        "Rows of a burst at first, K_0 in the paper. 'auto': as many as it takes to see the feature of a "
        "typical value 20 times, from the first block; in `fit` no more than let a stage end within a pass; "
        "at least 50.",
    )
    K_rate: float = param(
        0.3,
        "float > 0",
        "How fast bursts grow as features go, alpha in the paper: K log(1 / (K_rate d)) rows, at least K, d "
        "the share of features kept.",
    )
    n_bursts: int = param(5, "int >= 1", "Bursts of a stage, n_K in the paper.")
    beta: float = param(
        0.9, "float in [0, 1)", "Rejection rate at first: the share of changes below the gravity, beta_0."
    )
    gamma: float = param(
        0.0,
        "float",
        "How the rejection rate falls as features go: above 0 exponentially, 0 linearly, below 0 "
        "logarithmically, which keeps it up longest.",
    )
    pi: float = param(
        0.9, "float in [0, 1]", "Features with a selection probability below it are purged, pi_0."
    )
    delta: float = param(
        5.0,
        "float >= 0",
        "Bursts that must have seen a feature before it is judged, delta_K: more than that.",
    )
    standardize: bool = param(
        True,
        "bool",
        "Take steps, and weigh changes, in units of each feature, from running moments, so that scale does "
        "not decide; without it features are taken as they come, as in the paper.",
    )
    passes: int = param(60, "int >= 1", "Passes over the data that `fit` makes, at most.")
    tol: float = param(
        1e-3,
        "float >= 0",
        "`fit` stops when a pass moves the mean weights by less than this share of their norm.",
    )
    shuffle: bool = param(
        True,
        "bool",
        "Put rows held in memory in a new order before each pass of `fit`, the same for all paths.",
    )
    block_size: int = param(1024, "int >= 1", "Rows that a path puts in its own order at a time.")
    random_state: int = param(0, "int >= 0", "Seed of the orders.")
    n_jobs: int = param(-1, "int >= 1 or -1", "Threads that share the paths, -1 for all processors.")

    _features: ClassVar[tuple[str, ...]] = ()
    _others: ClassVar[tuple[str, ...]] = ()
    _by_slot: ClassVar[tuple[str, ...]] = ("id_", "alive_", "tally_", "values_", "unit_")
    _by_path: ClassVar[tuple[str, ...]] = ("weights_", "touched_")
    _by_record: ClassVar[tuple[str, ...]] = ("change_", "which_")
    _free: ClassVar[dict[str, int]] = dict.fromkeys(_by_slot, 0) | dict.fromkeys(_by_path + _by_record, 1)

    def _check_params(self) -> None:
        super()._check_params()
        if self.k is not None:
            check_budget(self.k)
        whole = ("n_paths", "n_bursts", "passes", "block_size") + (("K",) if self.K != "auto" else ())
        for name in whole:
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name}={value!r}; pass an integer of at least 1.")
        check_number("K_rate", self.K_rate, 0, above=True)
        check_number("beta", self.beta, 0, 1)
        if self.beta == 1:
            raise ValueError(f"beta={self.beta!r}; were all changes rejected, nothing would be learned: < 1.")
        if not (is_number(self.gamma) and np.isfinite(self.gamma)):
            raise ValueError(f"gamma={self.gamma!r}; pass a finite number.")
        check_number("pi", self.pi, 0, 1)
        check_number("delta", self.delta, 0)
        check_number("tol", self.tol, 0)
        if not isinstance(self.random_state, int | np.integer) or self.random_state < 0:
            raise ValueError(f"random_state={self.random_state!r}; pass a seed, an integer of at least 0.")
        if not isinstance(self.n_jobs, int | np.integer) or (self.n_jobs < 1 and self.n_jobs != -1):
            raise ValueError(f"n_jobs={self.n_jobs!r}; pass a number of threads, or -1 for all processors.")

    # ---------------------------------------------------------------- state

    def _reset(self, p: int, q: int) -> None:
        M, room = int(self.n_paths), _ROOM
        self.n_outputs_ = q
        self.shared_ = np.zeros(len(CLOCK))
        self.K_ = 0 if self.K == "auto" else int(self.K)
        self.shared_[_AT["K"]], self.shared_[_AT["rejection"]] = self.K_, self.beta
        self.slot_ = np.zeros(p, dtype=np.int32)  # 1 + the slot of a feature, 0 never seen, -1 purged
        self.id_ = np.zeros(room, dtype=np.int64)
        self.alive_ = np.zeros(room, dtype=np.uint8)
        self.tally_ = np.zeros((room, 3))
        self.values_: Array | None = np.zeros((room, 4)) if self.standardize else None
        self.unit_ = np.ones((room, 2))
        self.head_ = np.zeros((M, (_HEAD + q) // 16 * 16 + 32))  # of no two paths in one cache line
        self.head_[:, 4] = 3.0  # log(a) / a is largest at 3
        self.weights_ = np.zeros((M, room, 4 if q == 1 else 1 + 2 * q))
        self.touched_ = np.zeros((M, room), dtype=np.int32)
        self.change_ = np.zeros((M, room))
        self.which_ = np.zeros((M, room), dtype=np.int32)
        self.lines_ = np.zeros((_LINES, len(HISTORY)))
        self.n_lines_, self.stride_ = 0, 1
        self.waiting_ = Waiting()
        self._fresh = True

    def _check_state(self) -> None:
        if not self._started():
            return
        room, n, dead = len(self.id_), int(self._now("size")), int(self._now("dead"))
        paths = [getattr(self, name).shape[1] for name in self._by_path]
        slots = [len(getattr(self, name)) for name in self._by_slot if getattr(self, name) is not None]
        if {room} != {*slots, *paths} or self.change_.shape != self.which_.shape:
            raise ValueError("there is not the same room for all that is known of a feature.")
        if not (0 <= dead <= n <= room and 0 <= self.n_lines_ <= _LINES):
            raise ValueError(f"{n} features with {dead} purged do not fit in room for {room}.")
        if not (type(self.K_) is int and 0 <= self.K_ <= self._now("K") >= self._now("filled") >= 0):
            raise ValueError("the burst is shorter than the shortest, or than what is done of it.")
        if not 0 <= self._now("bursts") <= self.n_bursts:
            raise ValueError("the stage has more bursts than a stage has.")
        placed = np.flatnonzero(self.slot_ > 0)
        at = self.slot_[placed] - 1
        if len(placed) != n - dead or (len(at) and at.max() >= n) or not np.array_equal(self.id_[at], placed):
            raise ValueError("the features that are stable are not those that have a slot.")
        if not np.array_equal(np.sort(at), np.flatnonzero(self.alive_[:n])):
            raise ValueError("a slot is alive without a feature, or a feature without a slot that is.")
        for head, touched, which in zip(self.head_, self.touched_, self.which_):
            marks, records = touched[: int(head[5])], which[: int(head[6])]
            records = np.where(records < 0, ~records, records)
            if not (0 <= head[5] <= room and 0 <= head[6] <= len(which)):
                raise ValueError("a path has noted more than there is room for.")
            if max(marks.max(initial=0), records.max(initial=0)) >= max(n, 1) or marks.min(initial=0) < 0:
                raise ValueError("a path has touched slots that are not there.")
        self.waiting_.check(self.n_features_in_, self.n_outputs_, self._limit)

    def _now(self, name: str) -> float:
        return float(self.shared_[_AT[name]])

    def _resize(self, p: int) -> None:
        self.slot_ = _resized(self.slot_, p)
        self.n_features_in_ = p

    def _reserve(self, entries: int) -> None:
        """Room for as many new features, and for what their bursts and the stage will note."""
        size = int(self._now("size"))
        need = size + min(entries, self.n_features_in_ - int(self._now("seen"))) + 1
        if need > len(self.id_):
            room = -(-max(need, 2 * len(self.id_)) // 16) * 16
            for name in self._by_slot:
                if getattr(self, name) is not None:
                    setattr(self, name, _longer(getattr(self, name), 0, room))
            for name in self._by_path:
                setattr(self, name, _longer(getattr(self, name), 1, room))
        noted = int((self.head_[:, 5] + self.head_[:, 6]).max()) + entries
        records = min(self.n_bursts * need, noted)
        if records > self.change_.shape[1]:
            for name in self._by_record:
                setattr(self, name, _longer(getattr(self, name), 1, -(-2 * records // 16) * 16))

    # ---------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything and learn in passes over the data.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p), or a source
            A source is an object that can be iterated over again and again, each time over blocks (X, y) or
            (X, y, sample_weight) of the same rows; y is then None. Labels are collected in a first reading.
        y : array of shape (n,) or (n, q)
        sample_weight : array of shape (n,) or None
        """
        if y is None and _is_source(X):
            return self._fit_source(X)
        self._passes = True
        try:
            fitted: Self = super().fit(X, y, sample_weight)
        finally:
            for name in ("_passes", "_held"):
                self.__dict__.pop(name, None)
        return fitted

    def _fit_source(self, source: Any) -> Self:
        if iter(source) is source:
            raise ValueError(
                f"{type(source).__name__} can be read once only, and fit reads its data {self.passes} times; "
                "pass an object whose __iter__ starts again, or use partial_fit."
            )
        before = dict(vars(self))
        try:
            classes = None
            if isinstance(self, ClassificationLearner) or self.K == "auto":
                labels, self._held = [], 0
                for block in source:
                    target = np.asarray(block[1])
                    self._held += len(target)
                    if isinstance(self, ClassificationLearner):
                        labels.append(np.unique(target))
                classes = np.unique(np.concatenate(labels)) if labels else None
            first = True
            last = None
            for at in range(self.passes):
                for block in source:
                    X, y, w = (*block, None)[:3]
                    self._learn(X, y, classes, w, reset=first)
                    first = False
                if first:
                    raise ValueError("The source has no rows; pass one that yields blocks (X, y).")
                self._flush()
                last, still = self._moved(last)
                self.n_iter_ = at + 1
                if still:
                    break
        except Exception:
            self.__dict__ = before
            raise
        self.__dict__.pop("_held", None)
        return self

    def _update(self, X: Rows, y: Array, w: Array | None) -> None:
        if not self.__dict__.pop("_passes", False):
            super()._update(X, y, w)
            return
        self._check_size(y, w)
        n, step, last = len(y), int(self.block_size), None
        self._held = n
        if not is_sparse(X):
            X = np.ascontiguousarray(X)
        rows: Core = (X.indptr, X.indices, X.data) if is_sparse(X) else X
        for at in range(self.passes):
            order = self._random(1, at).permutation(n) if self.shuffle else np.arange(n)
            for a in range(0, n, step):
                part = order[a : a + step]
                if not self._run(rows, y[part], None if w is None else w[part], part):
                    raise self._overflow()
            last, still = self._moved(last)
            self.n_iter_ = at + 1
            if still:
                break

    def _moved(self, last: Any) -> tuple[Any, bool]:
        """The mean weights now, in units of the features, and whether they are where they were, `last`."""
        ids, weights, _ = self._mean()
        if last is None:
            return (ids, weights), False
        old = np.zeros_like(weights)  # purged features had weights that are gone
        _, here, there = np.intersect1d(ids, last[0], assume_unique=True, return_indices=True)
        old[here] = last[1][there]
        gone = np.square(last[1]).sum() - np.square(old).sum()
        moved = np.square(weights - old).sum() + max(0.0, gone)
        norm = np.square(last[1]).sum()  # 0 while all is still rejected
        return (ids, weights), bool(norm > 0 and moved <= self.tol**2 * norm)

    def _random(self, what: int, at: int) -> np.random.Generator:
        """A generator that is a function of the seed, of what it is for, and of a counter."""
        key = np.array([self.random_state, (at << 1) + what], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=key))

    def _take(self, blocks: Any, width: int, seen: NDArray[np.integer[Any]] | None) -> None:
        blocks = list(blocks)
        self.__dict__.pop("_settled", None)
        full = self.waiting_.n + sum(len(y) for _, y, _ in blocks) >= self.block_size
        # A derived step does not overflow; one that was given may, and then all is put back.
        guarded = full and self._can_overflow() and not self.__dict__.get("_fresh", False)
        self._before = self._copied() if guarded else None
        try:
            super()._take(blocks, width, seen)
        finally:
            del self._before

    def _copied(self) -> dict[str, Any]:
        return {name: copy.copy(value) for name, value in vars(self).items() if name.endswith("_")}

    def _restored(self) -> None:
        self.__dict__.update(self._before or {})

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        n, at, step = len(y), 0, int(self.block_size)
        while at < n:
            stop = min(n, at + step - self.waiting_.n)
            part = part_of(rows, at, stop), y[at:stop], None if w is None else w[at:stop]
            if stop - at < step:
                self.waiting_.put(*part)
                if self.waiting_.n == step:
                    part = self.waiting_.all()
                    self.waiting_ = Waiting()
                else:
                    return n
            if not self._run(*part):
                return at
            at = stop
        return n

    def _flush(self) -> None:
        """Let the rows that wait be a block of their own."""
        if self.waiting_.n:
            part = self.waiting_.all()
            self.waiting_ = Waiting()
            self.__dict__.pop("_settled", None)
            if not self._run(*part):
                raise self._overflow()

    def _overflow(self) -> ValueError:
        told, instead = self._blame()
        return ValueError(
            f"The weights overflow: {told} for these rows, or their values are too large. Pass {instead}, or "
            "rescale the features and targets."
        )

    def _run(self, rows: Core, y: Array, w: Array | None, which: NDArray[np.int64] | None = None) -> bool:
        """All paths over one block, the rows `which` if given; whether no step overflowed."""
        n, M = len(y), int(self.n_paths)
        if not isinstance(rows, tuple):
            entries = n * rows.shape[1]
        elif which is None:
            entries = int(rows[0][-1] - rows[0][0])
        else:
            entries = int((rows[0][which + 1] - rows[0][which]).sum())
        self._reserve(entries)
        if not self.K_:
            first = np.arange(n) if which is None else which
            self.shared_[_AT["K"]] = self.K_ = self._burst(rows, first[:_SAMPLE])
        order = np.tile(np.arange(n, dtype=np.int32), (M, 1))
        self._random(0, int(self._now("blocks"))).permuted(order, axis=1, out=order)
        stages = np.empty((n // (self.n_bursts * self.K_) + 1, len(HISTORY)))
        done, ended = _core.stabilized(
            rows,
            self._loss(),
            y,
            w,
            which,
            order,
            self.K_,
            self.n_bursts,
            self.beta,
            self.gamma,
            self.pi,
            self.delta,
            self.K_rate,
            self.k or 0,
            self._given_step(),
            self.schedule,
            bool(self.fit_intercept),
            threads() if self.n_jobs == -1 else int(self.n_jobs),
            self.shared_,
            self.slot_,
            self.id_,
            self.alive_,
            self.tally_,
            self.values_,
            self.unit_,
            self.head_,
            self.weights_,
            self.touched_,
            self.change_,
            self.which_,
            stages,
        )
        for line in stages[:ended]:
            self._note(line)
        return done == n

    def _burst(self, rows: Core, which: NDArray[np.int64]) -> int:
        """Rows of a burst that sees the feature of a typical value `_SIGHTINGS` times."""
        if isinstance(rows, tuple):
            indptr, indices, values = rows
            spans = [slice(indptr[i], indptr[i + 1]) for i in which]
            features = np.concatenate([indices[span][values[span] != 0] for span in spans])
            times = np.unique(features, return_counts=True)[1]
        else:
            times = np.count_nonzero(rows[which], axis=0)
        # of another row than the value's own, the chance to have its feature
        pairs = max(1.0, float(np.dot(times, times - 1.0)))
        rows_needed = int(np.ceil(_SIGHTINGS * max(1.0, float(times.sum())) * max(1, len(which) - 1) / pairs))
        # bursts are that much longer from the second stage on
        stage = self.n_bursts * max(1.0, -np.log(self.K_rate))
        return int(max(_SHORTEST, min(rows_needed, self.__dict__.get("_held", np.inf) / stage)))

    def _note(self, line: Array) -> None:
        if line[0] % self.stride_:
            return
        if self.n_lines_ == _LINES:
            self.n_lines_ = _LINES // 2
            self.lines_[: self.n_lines_] = self.lines_[1::2]
            self.stride_ *= 2
            if line[0] % self.stride_:
                return
        self.lines_[self.n_lines_] = line
        self.n_lines_ += 1

    # ---------------------------------------------------------------- reading

    def _read_now(self) -> Self:
        """This model after the rows that wait."""
        if not self.waiting_.n:
            return self
        if "_settled" not in self.__dict__:
            other = copy.copy(self)
            other.__dict__.update(self._copied())
            other._flush()
            self._settled = other
        return self._settled

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_settled"}

    def _mean(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Stable features, their mean weights in their units, as if the burst had ended; intercepts."""
        slots = np.flatnonzero(self.alive_[: int(self._now("size"))])
        q, cells, spread = self.n_outputs_, self.weights_[:, slots], self.unit_[slots, 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = self._now("gravity") * cells[:, :, :1] / spread[:, None]
        weights = soft(cells[:, :, 1 : 1 + q], np.where(spread[:, None] > 0, pull, np.inf)).mean(axis=0)
        return slots, weights, self.head_[:, _HEAD : _HEAD + q].mean(axis=0)

    def _model(self) -> tuple[NDArray[np.int64], Array, Array]:
        """The features, their weights (k, q) and the intercepts, as of now."""
        now = self._read_now()
        slots, weights, bias = now._mean()
        size = np.abs(weights).max(axis=1, initial=0.0) * now.unit_[slots, 1]
        kept = np.flatnonzero(size > 0)
        if self.k is not None and len(kept) > self.k:
            rank = np.lexsort((now.id_[slots[kept]], -size[kept], -now.tally_[slots[kept], 2]))
            kept = kept[rank[: self.k]]
        return now.id_[slots[kept]], weights[kept] * now.unit_[slots[kept], :1], bias

    @property
    def selection_probabilities_(self) -> Array:
        """Selection probability of each feature: [Ma] (8) and (16)."""
        now = self._read_now()
        out = np.where(now.slot_ < 0, 0.0, 1.0)
        slots = np.flatnonzero(now.alive_[: int(now._now("size"))])
        out[now.id_[slots]] = now.tally_[slots, 2]
        return out

    @property
    def n_stable_(self) -> int:
        """Features seen and not purged."""
        now = self._read_now()
        return int(now._now("size") - now._now("dead"))

    @property
    def gravity_(self) -> float:
        """g_0, what a burst pulls a weight towards zero by for each time it saw the feature."""
        return self._read_now()._now("gravity")

    @property
    def rejection_(self) -> float:
        """beta, the share of changes below the gravity."""
        return self._read_now()._now("rejection")

    @property
    def history_(self) -> dict[str, Array]:
        """Stage, stable features, gravity, rejection rate and burst length, where stages ended."""
        now = self._read_now()
        return {name: now.lines_[: now.n_lines_, i].copy() for i, name in enumerate(HISTORY)}

    def plot(self, ax: Any = None) -> Any:
        """Draw the stable set, gravity and rejection rate against the stages, and selection probabilities.

        Needs matplotlib (``pip install 'streamsieve[plot]'``).

        Parameters
        ----------
        ax : array of four matplotlib axes or None
            None makes a new figure.

        Returns
        -------
        array of the axes
        """
        from ._plot_stages import plot_stages

        return plot_stages(self, ax)


def _longer(a: NDArray[Any], axis: int, n: int) -> NDArray[Any]:
    """The array with n places along the axis, the new ones zero."""
    out = np.zeros((*a.shape[:axis], n, *a.shape[axis + 1 :]), dtype=a.dtype)
    out[(slice(None),) * axis + (slice(a.shape[axis]),)] = a
    return out


def _is_source(X: Any) -> bool:
    """Whether X is something to read blocks from, and no rows itself."""
    if isinstance(X, np.ndarray | list | tuple | str | bytes | dict) or is_sparse(X):
        return False
    return hasattr(X, "__iter__") and not hasattr(X, "__array__") and not is_frame(X)


class StabilizedSGDRegressor(StabilizedSGD, RegressionLearner):
    """Sparse least squares by truncated gradient steps, stabilized by selection over many short runs.

    O(nnz) a row and path, where purged features cost nothing; memory for each path follows the stable set.

    Notes
    -----
    M paths go over the rows, each in its own order. A burst of K steps ``w <- w - eta g`` ends with the
    informative truncation (Algorithm 2): each feature j that it saw k_j times is brought closer to zero by
    ``g_0 k_j``. After a stage of n_K bursts of all paths (Algorithms 3 and 4):

    - the selection probability of a feature is the share of bursts that left it non-zero, of those that saw
      it (8); what was seen in delta bursts or less is carried over to the next stage (16);
    - features below pi are purged for good (9), (10);
    - the rejection rate beta falls with the share d of features purged, of those that may be, from beta_0
      to 0 (12): as
      ``exp(-gamma d) - d exp(-gamma)``, or for gamma < 0 as ``log(1 - gamma (1 - d)) / log(1 - gamma)``;
    - the gravity g_0 is the beta-quantile of ``|change of w_j| / k_j`` over the bursts of the stage (11);
    - bursts get longer, ``K log(1 / (K_rate (1 - d)))`` rows, never less than K.

    The answer is the mean over the paths. In the first stage g_0 is 0.

    Differences from the paper: (11) and (12) are read as they must be meant, quantile and share purged.
    Shares are of the features seen so far, so that columns that nobody fills do not count, and all but k (or
    one) may be purged: where no more may go nothing is rejected, and what goes on is plain SGD. (16) is
    evaluated above delta and carried over up to it, so that no count is lost. With `standardize` steps are
    taken in units of the root mean square of a feature's non-zero values, and changes are weighed by its
    deviation in that unit: with data scaled to variance 1, and without that, a feature is kept for being
    rare, since its values are large. The first bursts are as long as it takes to see a typical feature 20
    times, where the paper has 5 rows for all data: a change over one or two rows is their noise, the gravity
    its quantile, and weak signals drown. An intercept, never truncated. Steps need not be given: they are
    derived as those of `SGDRegressor` are, from the features that are stable and the last 256 rows or so.
    Several targets share the features: a change is the largest over them.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import StabilizedSGDRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> StabilizedSGDRegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class StabilizedSGDClassifier(StabilizedSGD, ClassificationLearner):
    """Sparse linear classifier by truncated gradient steps, stabilized by selection over many short runs.

    O(nnz) a row and path, where purged features cost nothing; memory for each path follows the stable set.
    More than two classes are learned jointly, one against the rest, and share the features.

    Notes
    -----
    As `StabilizedSGDRegressor`, with the gradient of the loss chosen; the paper's are 'hinge' and 'logistic'.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import StabilizedSGDClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> StabilizedSGDClassifier(2).fit(X, X[:, 7] > X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """
