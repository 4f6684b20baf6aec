"""The paths of stabilized truncated SGD: the state of the kernel `stabilized`, and its calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.losses import Loss
from ...core.rows import Array, Rows
from ...core.state import State, check_counts, record, records, zeros
from .ladder import soft
from .steps import clock

_ROOM = 64  # slots at least
_HISTORY = 512  # stages that the history holds; when it is full, every second one is dropped
_SIGHTINGS = 20  # sightings of a feature in a burst: a change over one or two rows is mostly noise
_SAMPLE = 256  # rows of the first block used to estimate how often features are seen
_SHORTEST = 50  # rows of a burst, at least, where its size is derived
_BY_SLOT, _BY_PATH_AND_SLOT = ("id", "alive", "tally", "values", "unit"), ("weights", "touched")
_BY_RECORD = ("change", "which")

#: Record of a stage that has ended: `Stage` of cpp/learners/stabilized.hpp.
STAGE = {"stage": 0.0, "stable": 0.0, "gravity": 0.0, "rejection": 0.0, "burst_size": 0.0}


class Paths(State):
    """What all paths share (cpp/learners/slots.hpp), the weights of each, and the history of the stages.

    Only features that have been seen, and are not purged, have a slot.

    Parameters
    ----------
    p, q, n_paths : int
        Features, outputs, paths.
    burst_size : int
        Rows of a burst at first; 0 to derive it from the first rows.
    gravity, rejection : float
        Gravity of the first stage, and the share of changes that it rejects.
    standardize : bool
        Take steps in units of the features.
    """

    first_burst: int
    n_history: int
    stride: int
    history: NDArray[Any]

    def __init__(
        self,
        p: int,
        q: int,
        *,
        n_paths: int,
        burst_size: int,
        gravity: float,
        rejection: float,
        standardize: bool,
    ) -> None:
        start = clock().array
        assert start is not None
        super().__init__(
            clock=record(
                **dict(filled=0, bursts=0, stage=0, burst_size=burst_size),
                **dict(gravity=gravity, rejection=rejection),
                **dict(size=0, dead=0, seen=0, weight=0, blocks=0),
            ),
            first_burst=burst_size,
            slot=zeros(feature=p, dtype=np.int32),  # 1 + the slot of a feature, 0 never seen, -1 purged
            id=zeros(slot=_ROOM, dtype=np.int64),
            alive=zeros(slot=_ROOM, dtype=np.uint8),
            tally=records("slot", _ROOM, seen=0, kept=0, probability=0),
            values=zeros(slot=_ROOM, moment=4) if standardize else None,
            unit=records("slot", _ROOM, scale=1, deviation=1),
            head=records(
                "path",
                n_paths,
                **{name: float(start[name]) for name in start.dtype.names or ()},
                touched=0.0,
                records=0.0,
            ),
            bias=zeros(path=n_paths, output=q),
            # times seen in the burst, weights, weights when it began; of one output, half a cache line
            weights=zeros(path=n_paths, slot=_ROOM, fixed=4 if q == 1 else 1 + 2 * q),
            touched=zeros(path=n_paths, slot=_ROOM, dtype=np.int32),
            change=zeros(path=n_paths, slot=_ROOM),
            which=zeros(path=n_paths, slot=_ROOM, dtype=np.int32),
            history=records("fixed", _HISTORY, **STAGE),
            n_history=0,
            stride=1,
        )

    @property
    def size(self) -> int:
        """Slots in use, those of purged features among them."""
        return int(self.clock["size"])

    # ---------------------------------------------------------------- room

    def _make_room(self, slots: int, n_records: int) -> None:
        """Make room for this many features, and for this many changes of each path in a stage."""
        if slots > len(self.id):
            room = -(-max(slots, 2 * len(self.id)) // 16) * 16
            self._lengthen(_BY_SLOT, 0, room)
            self._lengthen(_BY_PATH_AND_SLOT, 1, room)
        if n_records > self.change.shape[1]:
            self._lengthen(_BY_RECORD, 1, -(-2 * n_records // 16) * 16)

    def _lengthen(self, names: tuple[str, ...], axis: int, n: int) -> None:
        """Give these arrays n places along the axis, the new ones zero."""
        for name in names:
            old = getattr(self, name)
            if old is not None:
                new = _aligned_zeros((*old.shape[:axis], n, *old.shape[axis + 1 :]), old.dtype)
                new[(slice(None),) * axis + (slice(old.shape[axis]),)] = old
                setattr(self, name, new)

    def check(self, n_bursts: int) -> None:
        """Raise ValueError for state from a file with invalid indices."""
        check_counts(
            self.clock, ("filled", "bursts", "stage", "burst_size", "size", "dead", "seen", "blocks")
        )
        check_counts(self.head, ("touched", "records"))
        c, room, n, dead = self.clock, len(self.id), self.size, int(self.clock["dead"])
        rooms = {len(getattr(self, name)) for name in _BY_SLOT if getattr(self, name) is not None}
        rooms |= {getattr(self, name).shape[1] for name in _BY_PATH_AND_SLOT}
        if rooms != {room} or self.change.shape != self.which.shape:
            raise ValueError("the arrays of the features have different lengths.")
        if not (0 <= dead <= n <= room and 0 <= self.n_history <= _HISTORY and self.stride >= 1):
            raise ValueError(f"{n} features with {dead} purged do not fit in room for {room}.")
        if not 0 <= self.first_burst <= c["burst_size"] >= c["filled"] >= 0:
            raise ValueError("the burst is shorter than the first, or than what is done of it.")
        if not 0 <= c["bursts"] <= n_bursts:
            raise ValueError("the stage has more bursts than a stage has.")
        placed = np.flatnonzero(self.slot > 0)
        at = self.slot[placed] - 1
        if len(placed) != n - dead or (len(at) and at.max() >= n) or not np.array_equal(self.id[at], placed):
            raise ValueError("the features that are stable are not those that have a slot.")
        if not np.array_equal(np.sort(at), np.flatnonzero(self.alive[:n])):
            raise ValueError("a slot is alive without a feature, or a feature without a slot that is.")
        for head, touched, which in zip(self.head, self.touched, self.which):
            if not (0 <= head["touched"] <= room and 0 <= head["records"] <= len(which)):
                raise ValueError("a path has noted more than there is room for.")
            marks, changes = touched[: int(head["touched"])], which[: int(head["records"])]
            changes = np.where(changes < 0, ~changes, changes)
            if max(marks.max(initial=0), changes.max(initial=0)) >= max(n, 1) or marks.min(initial=0) < 0:
                raise ValueError("a path has touched slots that are not there.")

    # ---------------------------------------------------------------- learning

    def learn(
        self,
        rows: Rows,
        loss: Loss,
        y: Array,
        w: Array | None,
        rule: dict[str, Any],
        pass_rows: float = np.inf,
    ) -> int:
        """Run all paths over blocks of the rows; return how many rows, if a step overflowed.

        `pass_rows` are the rows of a pass of `fit`, which bound a derived burst: a stage ends within a pass.
        """
        n, at = len(y), 0
        if not self.first_burst:
            # bursts are that much longer from the second stage on
            stage = rule["n_bursts"] * max(1.0, -np.log(rule["burst_growth"]))
            needed = min(_rows_to_see(rows[:_SAMPLE]), pass_rows / stage)
            self.clock["burst_size"] = self.first_burst = int(max(_SHORTEST, needed))
        stages = np.empty(n // (rule["n_bursts"] * self.first_burst) + 1, dtype=self.history.dtype)
        rule = rule | {"burst_size": self.first_burst, "stages": stages}
        while at < n:
            done, ended, slots, n_records = _core.stabilized(
                rows[at:n].kernel,
                loss,
                y[at:],
                None if w is None else w[at:],
                rule,
                self,
            )
            for stage in stages[:ended]:
                self._note(stage)
            at += done
            if not slots:
                break
            self._make_room(slots, n_records)
        return at

    def _note(self, stage: Any) -> None:
        """Add a stage to the history, or, once it has been thinned, every 2nd, 4th, ... of them."""
        if stage["stage"] % self.stride:
            return
        if self.n_history == _HISTORY:
            self.n_history = _HISTORY // 2
            self.history[: self.n_history] = self.history[1::2]
            self.stride *= 2
            if stage["stage"] % self.stride:
                return
        self.history[self.n_history] = stage
        self.n_history += 1

    # ---------------------------------------------------------------- reading

    def mean(self, universal: bool) -> tuple[NDArray[np.int64], Array, Array]:
        """Stable slots, their mean weights in the features' units as if the burst had ended, intercepts.

        With `universal`, features that the burst has not seen are truncated as well.
        """
        slots = np.flatnonzero(self.alive[: self.size])
        q, cells, spread = self.bias.shape[1], self.weights[:, slots], self.unit["deviation"][slots]
        with np.errstate(divide="ignore", invalid="ignore"):
            times = self.clock["filled"] if universal else cells[:, :, :1]
            pull = self.clock["gravity"] * times / spread[:, None]
        weights = soft(cells[:, :, 1 : 1 + q], np.where(spread[:, None] > 0, pull, np.inf))
        return slots, weights.mean(axis=0), self.bias.mean(axis=0)


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Zeros that begin with a cache line: then no moments of a feature, and no cell, lie on two lines."""
    size = int(np.prod(shape)) * dtype.itemsize
    block = np.zeros(size + 64, dtype=np.uint8)
    start = -block.ctypes.data % 64
    return block[start : start + size].view(dtype).reshape(shape)


def _rows_to_see(rows: Rows) -> int:
    """Rows of a burst that sees the feature of a typical value of these rows `_SIGHTINGS` times."""
    times = rows.column_sums()[:, 0]
    # probability that another row has the feature of this value
    pairs = max(1.0, float(np.dot(times, times - 1.0)))
    values = max(1.0, float(times.sum()))
    return int(np.ceil(_SIGHTINGS * values * max(1, len(rows) - 1) / pairs))
