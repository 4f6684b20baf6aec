"""The paths of stabilized truncated SGD: their parameters, their state, and what feeds it to the kernel."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from .._input import threads
from ._ladder import check_number, soft
from ._learner import Array, Core, Listed, Stepping, check_budget, is_number
from ._rung import part_of

#: The numbers that all paths share, as `StageClock` of ``cpp/learners/slots.hpp`` lists them.
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


class Paths(Listed, Stepping):
    """[Ma] Algorithm 4 over the rows that it is given, block by block."""

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
        0.9,
        "float in [0, 1)",
        "Rejection rate at first: the share of changes below the gravity, beta_0. Of few features less is "
        "rejected: the changes of 5 (or k, if that is less) are spared, in the mean.",
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
        check_counts(self, "n_paths", "n_bursts", "block_size", *(("K",) if self.K != "auto" else ()))
        check_number("K_rate", self.K_rate, 0, above=True)
        check_number("beta", self.beta, 0, 1)
        if self.beta == 1:
            raise ValueError(f"beta={self.beta!r}; were all changes rejected, nothing would be learned: < 1.")
        if not (is_number(self.gamma) and np.isfinite(self.gamma)):
            raise ValueError(f"gamma={self.gamma!r}; pass a finite number.")
        check_number("pi", self.pi, 0, 1)
        check_number("delta", self.delta, 0)
        if not isinstance(self.random_state, int | np.integer) or not 0 <= self.random_state < 2**64:
            raise ValueError(f"random_state={self.random_state!r}; pass an integer from 0 to 2^64 - 1.")
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

    def _check_state(self) -> None:
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

    def _now(self, name: str) -> float:
        return float(self.shared_[_AT[name]])

    def _make_room(self, slots: int, records: int) -> None:
        """Room for as many features, and for as many notes of each path about the bursts of a stage."""
        if slots > len(self.id_):
            room = -(-max(slots, 2 * len(self.id_)) // 16) * 16
            for name in self._by_slot:
                if getattr(self, name) is not None:
                    setattr(self, name, _longer(getattr(self, name), 0, room))
            for name in self._by_path:
                setattr(self, name, _longer(getattr(self, name), 1, room))
        if records > self.change_.shape[1]:
            for name in self._by_record:
                setattr(self, name, _longer(getattr(self, name), 1, -(-2 * records // 16) * 16))

    # ---------------------------------------------------------------- learning

    def _run(self, rows: Core, y: Array, w: Array | None, which: NDArray[np.int64] | None = None) -> int:
        """All paths over blocks of the rows, or of the rows `which`; how many, before a step overflowed."""
        n, at = len(y), 0
        if not self.K_:
            first = np.arange(min(n, _SAMPLE)) if which is None else which[:_SAMPLE]
            self.shared_[_AT["K"]] = self.K_ = self._burst(rows, first)
        rule = (self.K_, self.n_bursts, self.beta, self.gamma, self.pi, self.delta, self.K_rate, self.k or 0)
        stages = np.empty((n // (self.n_bursts * self.K_) + 1, len(HISTORY)))
        while at < n:
            done, ended, slots, records = _core.stabilized(
                rows if which is not None else part_of(rows, at, n),
                self._loss(),
                y[at:],
                None if w is None else w[at:],
                None if which is None else which[at:],
                int(self.block_size),
                int(self.random_state),
                *rule,
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
            at += done
            if not slots:
                break
            self._make_room(slots, records)
        return at

    def _burst(self, rows: Core, which: NDArray[np.int64]) -> int:
        """Rows of a burst that sees the feature of a typical value `_SIGHTINGS` times."""
        if isinstance(rows, tuple):
            indptr, indices, values = rows
            spans = [slice(indptr[i], indptr[i + 1]) for i in which]
            features = np.concatenate([indices[span][values[span] != 0] for span in spans])
            times = np.bincount(features)
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

    def _mean(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Stable features, their mean weights in their units, as if the burst had ended; intercepts."""
        slots = np.flatnonzero(self.alive_[: int(self._now("size"))])
        q, cells, spread = self.n_outputs_, self.weights_[:, slots], self.unit_[slots, 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = self._now("gravity") * cells[:, :, :1] / spread[:, None]
        weights = soft(cells[:, :, 1 : 1 + q], np.where(spread[:, None] > 0, pull, np.inf)).mean(axis=0)
        return slots, weights, self.head_[:, _HEAD : _HEAD + q].mean(axis=0)


def check_counts(model: Any, *names: str) -> None:
    for name in names:
        value = getattr(model, name)
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name}={value!r}; pass an integer of at least 1.")


def _longer(a: NDArray[Any], axis: int, n: int) -> NDArray[Any]:
    """The array with n places along the axis, the new ones zero."""
    out = np.zeros((*a.shape[:axis], n, *a.shape[axis + 1 :]), dtype=a.dtype)
    out[(slice(None),) * axis + (slice(a.shape[axis]),)] = a
    return out
