"""One annealing schedule of SFSA: a model on its way from p features to k, the state of the kernel `sfsa`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.losses import Loss
from ...core.rows import Array, Rows
from ...core.state import Field, State, check_counts, record, resized, zeros

_HEAD = 6  # numbers of a slot stored before its weights: `Slot` of cpp/learners/annealed_slots.hpp
_PAGE = 4096  # features per page; a page counts its features that were seen
_ROOM = 1024  # slots that are never released
_FAR = 1 << 24  # slots that are reserved at once, if there may be that many features
_PART = 1 << 16  # number of new features to make room for at a time
_BY_SLOT = ("id", "slots", "moments", "touched")


def _clock(p: int) -> Field:
    """`AnnealedClock` of cpp/learners/annealed_slots.hpp."""
    return record(
        **dict(filled=0, batches=0, weight=0, scale=1, horizon=3),  # log(a) / a is largest at 3
        **dict(norm=0, cross=0, pairs=0, norms=0, entries=0, slope=0),
        **dict(trace=0, mass=0, count=0, reach=0, slopes=0, first=0, output=0, pair=0, loss=0),
        **dict(size=0, limit=p, unseen=p, touched=0, work=0, step=0),
    )


class AnnealedModel(State):
    """Weights of the features that are alive and have been seen.

    Memory is four bytes for each of p features, and a few numbers for each of those alive and seen, which
    have a slot. Arrays by slot have room for more; that room is not part of the state.

    Parameters
    ----------
    p, q : int
        Features and outputs.
    maturity : int
        Mini-batches after which k features are left, T in the paper.
    begin : float
        Mini-batches before the first feature is removed.
    n_moments : int
        Moments of the gradient that the variant keeps: 0, 1 or 2.
    """

    maturity: int
    begin: float
    counted: int
    seen: NDArray[np.int32]

    def __init__(self, p: int, q: int, maturity: int, begin: float, n_moments: int) -> None:
        room = min(p, _ROOM, 1 + (1 << 20) // (_HEAD + 2 * q))  # 8 MB at most before the first row
        super().__init__(
            maturity=maturity,
            begin=float(begin),
            counted=p,  # features that the schedule counts
            clock=_clock(p),
            slot=zeros(feature=p, dtype=np.int32),  # 1 + the slot of a feature; 0: never seen, -1: removed
            seen=zeros(slot=p // _PAGE + 1, dtype=np.int32),  # per page: how many are not 0 there
            bias=zeros(fixed=4, output=q),  # intercepts; their gradient sums, first and second moments
            id=zeros(slot=room, dtype=np.int64),
            slots=Field(_aligned(room, _HEAD + 2 * q), ("slot", "fixed")),  # values; weights, gradient sums
            moments=zeros(slot=room, fixed=n_moments * q),  # of the gradients
            touched=zeros(slot=room + 1, dtype=np.int32),
        )

    def fields(self) -> dict[str, Any]:
        """The fields by name; arrays by slot without unused room."""
        used = dict.fromkeys(_BY_SLOT, self.size) | {"touched": int(self.clock["touched"])}
        return {
            name: value[: used[name]] if name in used else value for name, value in super().fields().items()
        }

    @property
    def q(self) -> int:
        return int(self.bias.shape[1])

    @property
    def size(self) -> int:
        """Features that have a slot: alive, and seen."""
        return int(self.clock["size"])

    @property
    def features(self) -> NDArray[np.int64]:
        """Those that have a slot, by slot."""
        return self.id[: self.size]

    @property
    def batches(self) -> int:
        return int(self.clock["batches"])

    @property
    def mature(self) -> bool:
        return self.maturity <= self.batches

    def rows_to(self, batches: int, batch_size: int) -> int:
        """Number of rows until this many batches have ended."""
        return (batches - self.batches) * batch_size - int(self.clock["filled"])

    def maturing(self, maturity: int, begin: float) -> AnnealedModel:
        """A copy with another schedule."""
        other = self.copy()
        assert isinstance(other, AnnealedModel)
        other.maturity, other.begin = maturity, float(begin)
        return other

    # ---------------------------------------------------------------- room

    def resize(self, p: int) -> None:
        """Add features that the next rows bring, or undo that."""
        super().resize(p)
        self.seen = resized(self.seen, ("feature",), p // _PAGE + 1)

    def _count_new(self) -> None:
        """Let the schedule count the features that were added; removed ones must remain distinguishable."""
        new = len(self.slot) - self.counted
        if new <= 0 or self.mature:
            return
        limit = int(self.clock["limit"])
        gone = limit + np.flatnonzero(self.slot[limit : self.counted] == 0)
        self.slot[gone] = -1
        np.add.at(self.seen, gone // _PAGE, 1)
        self.counted = len(self.slot)
        self.clock["limit"] = self.counted
        self.clock["unseen"] += new

    def reserve(self, more: int) -> None:
        """Make room for this many more slots; release room if three quarters are unused."""
        unseen = int(self.clock["unseen"])
        need, room = self.size + min(more, unseen), len(self.id)
        if need > room:
            # reserve far more than needed: untouched memory costs nothing, copying does
            # and twice the room where rows bring features one by one
            room = min(max(need, 8 * room, _FAR), max(self.size + unseen, 2 * room))
        elif room > _ROOM and 8 * need < room and unseen == 0:
            room = max(_ROOM, need)
        elif len(self.touched) > room:
            return
        self._move(room)

    def _move(self, room: int) -> None:
        for name, used in self.fields().items():
            if name in _BY_SLOT:
                shape = (room + (name == "touched"), *used.shape[1:])
                new = _aligned(*shape) if name == "slots" else np.empty(shape, dtype=used.dtype)
                new[: len(used)] = used
                setattr(self, name, new)

    def verify(self, fresh: State, path: str = "") -> None:
        clock = vars(self).get("clock")  # which tells how long the others are
        if not isinstance(clock, np.ndarray) or clock.dtype != fresh.clock.dtype or clock.shape != ():
            raise ValueError(f"{path}clock is not a record of an annealed model.")
        super().verify(fresh, path)

    def check(self, fresh: AnnealedModel) -> None:
        """Raise ValueError for state from a file whose indices the kernel could not follow."""
        self.verify(fresh)
        check_counts(self.clock, ("filled", "batches", "size", "limit", "unseen", "touched"))
        n, touched, p = self.clock["size"], self.clock["touched"], len(self.slot)
        if len(self.seen) != p // _PAGE + 1 or not 0 <= self.clock["limit"] <= p:
            raise ValueError("a model that anneals counts other features than there are.")
        if not 0 <= self.begin < self.maturity:
            raise ValueError(
                f"features are removed from batch {self.begin} on, and k are left at {self.maturity}."
            )
        limit = int(self.clock["limit"])
        unseen = np.count_nonzero(self.slot[:limit] == 0)
        if not limit <= self.counted <= p or self.clock["unseen"] != unseen:
            raise ValueError("a model that anneals counts other features than it has seen.")
        pages: Any = np.add.reduceat(self.slot != 0, np.arange(0, p, _PAGE)) if p else []
        if not np.array_equal(self.seen[: len(pages)], pages):
            raise ValueError("a model that anneals counts other features in a page than there are.")
        if not len(self.id) == len(self.slots) == len(self.moments) >= n >= 0 <= touched <= n:
            raise ValueError("a model that anneals has other slots than it counts.")
        if len(self.touched) < touched:
            raise ValueError("a mini-batch has touched more slots than are listed.")
        placed = np.flatnonzero(self.slot > 0)
        at = self.slot[placed] - 1
        if len(placed) != n or not np.array_equal(np.sort(at), np.arange(n)):
            raise ValueError("the slots of features are not 1, 2, ..., each once.")
        if not np.array_equal(self.id[at], placed):
            raise ValueError("the slots belong to other features.")
        marks = self.touched[: int(touched)]
        if len(marks) and not (marks.min() >= 0 and marks.max() < n):
            raise ValueError("a mini-batch has touched slots that are not there.")

    # ---------------------------------------------------------------- learning

    def learn(self, rows: Rows, loss: Loss, y: Array, w: Array | None, rule: dict[str, Any]) -> int:
        """Learn the rows; return how many, if a step would overflow.

        In parts, so that there is never room for many more new features than are in use.
        """
        if self.counted != len(self.slot):
            self._count_new()
        at, n, begun = 0, len(rows), self.batches
        losses = rule["losses"]
        while at < n:
            stop, room = n, max(self.size, _PART)
            if rows.sparse and self.clock["unseen"] > room:
                indptr = rows.indptr
                most = indptr.dtype.type(min(int(indptr[at]) + room, int(indptr[-1])))  # of its type: no copy
                stop = max(at + 1, int(np.searchsorted(indptr, most, side="right")) - 1)
                room = int(indptr[stop] - indptr[at]) + (0 if rows.map is None else len(rows.map.centred))
            self.reserve(room)
            part = rows if stop - at == n else rows[at:stop]
            if losses is not None:
                rule = rule | {"losses": losses[self.batches - begun :]}
            done = _core.sfsa(part.kernel, loss, y[at:stop], None if w is None else w[at:stop], rule, self)
            if done < stop - at:
                return at + done
            at = stop
        return n

    def ended(self, loss: Loss, rule: dict[str, Any]) -> AnnealedModel:
        """A copy as if the unfinished batch had ended: the model before the first batch is complete."""
        other = self.copy()
        assert isinstance(other, AnnealedModel)
        other._count_new()
        none = np.zeros(1, dtype=np.int32)
        _core.sfsa((none, none[:0], np.empty(0)), loss, np.empty((0, self.q)), None, rule, other)
        return other

    # ---------------------------------------------------------------- reading

    def largest(self, k: int, deviations: bool) -> tuple[NDArray[np.int64], Array, Array]:
        """The at most k features of highest rank, ascending, their weights (k, q), and intercepts."""
        score = np.empty(self.size)
        _core.sfsa_scores(self.slots, self.q, float(self.clock["weight"]), deviations, score)
        order = np.argsort(self.id[: self.size])
        kept = np.empty(min(k, self.size), dtype=np.int64)
        kept = order[kept[: _core.top_k(score[order], kept)]]
        weight: Array = self.slots[kept, _HEAD : _HEAD + self.q] * self.clock["scale"]
        return self.id[kept], weight, self.bias[0].copy()


def _aligned(room: int, width: int) -> Array:
    """Room that begins with a cache line, as does every slot of one output."""
    block = (np.zeros if room <= _ROOM else np.empty)(room * width + 8)
    start = -(block.ctypes.data // 8) % 8
    return block[start : start + room * width].reshape(room, width)
