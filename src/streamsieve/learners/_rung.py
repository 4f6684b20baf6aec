"""One rung of SFSA's ladder: the state of one annealing schedule, and what feeds it to the kernel."""

from __future__ import annotations

import copy
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ._learner import Array, Core, _resized, same_shape

#: The numbers of a rung's clock, as `RungClock` of ``cpp/learners/sfsa.hpp`` lists them.
CLOCK = (
    *("filled", "batches", "weight", "scale", "horizon", "norm", "cross", "pairs"),
    *("norms", "entries", "slope", "curve", "trace", "mass", "count", "reach", "slopes", "bends"),
    *("first", "output", "pair", "loss", "size", "limit", "unseen", "touched", "work"),
)
_AT = {name: i for i, name in enumerate(CLOCK)}
_HEAD = 6  # numbers of a slot before its weights: `Slot` of the kernel
_PAGE = 4096  # features that share one count of those seen
_ROOM = 1024  # slots that are never given back
_FAR = 1 << 24  # slots for which room is reserved at once, if so many features may come
_PART = 1 << 16  # new features at a time for which room is made


def _aligned(room: int, width: int) -> Array:
    """Room that begins with a cache line, as does every slot of one output."""
    block = (np.zeros if room <= _ROOM else np.empty)(room * width + 8)
    start = -(block.ctypes.data // 8) % 8
    return block[start : start + room * width].reshape(room, width)


class Rule(TypedDict):
    """What stays the same for all rows."""

    loss: str
    k: int
    mu: float
    delay: float
    batch_size: int
    variant: str
    steps: tuple[float, str, float, bool]  # eta, or 0 to derive it; schedule, lam, fit_intercept


def part_of(rows: Core, a: int, b: int) -> Core:
    """Rows a to b."""
    return (rows[0][a : b + 1], *rows[1:]) if isinstance(rows, tuple) else rows[a:b]


class Rung:
    """Weights of the features that are alive and have been seen, on their way from p to k at maturity T.

    Memory is four bytes for each of p features, and a few numbers for each of those alive and seen.
    """

    def __init__(self, p: int, q: int, T: int, *, units: bool, moments: int) -> None:
        self.T, self.q, self.units = T, q, units
        self.clock = np.zeros(len(CLOCK))
        self["scale"], self["horizon"] = 1.0, 3.0  # log(a) / a is largest at 3
        self["limit"] = self["unseen"] = p
        self.slot = np.zeros(p, dtype=np.int32)  # 1 + the slot of a feature, 0 never seen, -1 gone
        self.seen = np.zeros(p // _PAGE + 1, dtype=np.int32)  # how many per page are not 0 there
        self.bias = np.zeros((4, q))  # intercepts, and their gradient sums, first and second moments
        room = min(p, _ROOM)
        self.id = np.zeros(room, dtype=np.int64)
        self.slots = _aligned(room, _HEAD + 2 * q)  # moments of the values; weights, gradient sums
        self.moments = np.zeros((room, moments * q))  # of the gradients
        self.touched = np.zeros(room + 1, dtype=np.int32)

    def __getitem__(self, name: str) -> float:
        return float(self.clock[_AT[name]])

    def __setitem__(self, name: str, value: float) -> None:
        self.clock[_AT[name]] = value

    @property
    def size(self) -> int:
        """Features that have a slot: alive, and seen."""
        return int(self["size"])

    @property
    def mature(self) -> bool:
        return self["batches"] >= self.T

    def rows_left(self, batch_size: int) -> int:
        """Rows to maturity."""
        return int(self.T - self["batches"]) * batch_size - int(self["filled"])

    # ---------------------------------------------------------------- room

    def widen(self, p: int) -> None:
        """Let features join. Those never seen that are gone must now be told from those that come."""
        old = len(self.slot)
        if p <= old:
            return
        if not self.mature:
            limit = int(self["limit"])
            gone = limit + np.flatnonzero(self.slot[limit:] == 0)
            self.slot[gone] = -1
            np.add.at(self.seen, gone // _PAGE, 1)
            self["limit"] = p
            self["unseen"] += p - old
        self.slot = _resized(self.slot, p)
        self.seen = _resized(self.seen, p // _PAGE + 1)

    def reserve(self, more: int) -> None:
        """Room for so many more slots; given back where three quarters are not used."""
        unseen = int(self["unseen"])
        need, room = self.size + min(more, unseen), len(self.id)
        if need > room:
            # far more than is needed: memory that is not touched is none, and a copy is
            room = min(max(need, 8 * room, _FAR), self.size + unseen)
        elif room > _ROOM and 8 * need < room and unseen == 0:
            room = max(_ROOM, need)
        else:
            return
        self._move(room)

    def _move(self, room: int) -> None:
        for name in ("id", "slots", "moments", "touched"):
            old: NDArray[Any] = getattr(self, name)
            used = int(self["touched"]) if name == "touched" else self.size
            shape = (room + (name == "touched"), *old.shape[1:])
            new: NDArray[Any] = _aligned(*shape) if name == "slots" else np.empty(shape, dtype=old.dtype)
            new[:used] = old[:used]
            setattr(self, name, new)

    def __getstate__(self) -> dict[str, Any]:
        n = self.size
        used = {"id": n, "slots": n, "moments": n, "touched": int(self["touched"])}
        return self.__dict__ | {name: getattr(self, name)[:n] for name, n in used.items()}  # not the room

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if (
            not len(self.id) == len(self.slots) == len(self.moments) == self.size
            or len(self.touched) != self["touched"]
        ):
            raise ValueError("a rung has other slots than it counts.")
        self._move(max(min(len(self.slot), _ROOM), self.size))

    def check(self, p: int, q: int, fresh: Rung) -> None:
        """Refuse state that came from a file: the kernel follows its indices wherever they lead."""
        room, n, touched = len(self.id), self["size"], self["touched"]
        for name, shape, dtype in (
            ("clock", (len(CLOCK),), "f8"),
            ("slot", (p,), "i4"),
            ("seen", (p // _PAGE + 1,), "i4"),
            ("bias", (4, q), "f8"),
            ("id", (room,), "i8"),
            ("slots", (room, fresh.slots.shape[1]), "f8"),
            ("moments", (room, fresh.moments.shape[1]), "f8"),
            ("touched", (room + 1,), "i4"),
        ):
            same_shape(f"a rung's {name}", getattr(self, name), shape, dtype)
        if self.q != q or not (0 <= n <= room and 0 <= touched <= room and 0 <= self["limit"] <= p):
            raise ValueError("a rung counts other features than it has.")
        placed = np.flatnonzero(self.slot > 0)
        at = self.slot[placed] - 1
        if len(placed) != n or not np.array_equal(np.sort(at), np.arange(n)):
            raise ValueError("the slots of features in a rung are not those of a rung.")
        if not np.array_equal(self.id[at], placed):
            raise ValueError("the features of a rung are not those that its slots belong to.")
        marks = self.touched[: int(touched)]
        if len(marks) and not (marks.min() >= 0 and marks.max() < max(n, 1)):
            raise ValueError("a rung's mini-batch has touched slots that are not there.")

    # ---------------------------------------------------------------- learning

    def learn(self, rows: Core, y: Array, w: Array | None, losses: Array | None, rule: Rule) -> int:
        """Learn the rows; how many were, before a step would have overflowed.

        In parts, so that there is never room for many more new features than are in use.
        """
        at, n, begun = 0, len(y), int(self["batches"])
        while at < n:
            stop, room = n, max(self.size, _PART)
            if isinstance(rows, tuple) and self["unseen"] > room:
                indptr = rows[0]
                most = indptr.dtype.type(min(int(indptr[at]) + room, int(indptr[-1])))  # of its type: no copy
                stop = max(at + 1, int(np.searchsorted(indptr, most, side="right")) - 1)
                room = int(indptr[stop] - indptr[at])
            part = rows if stop - at == n else part_of(rows, at, stop)
            self.reserve(room)
            to = None if losses is None else losses[int(self["batches"]) - begun :]
            done = self._run(part, y[at:stop], None if w is None else w[at:stop], to, rule)
            if done < stop - at:
                return at + done
            at = stop
        return n

    def _run(self, rows: Core, y: Array, w: Array | None, losses: Array | None, rule: Rule) -> int:
        return _core.sfsa(
            rows,
            rule["loss"],
            y,
            w,
            rule["k"],
            rule["mu"],
            rule["delay"],
            self.T,
            rule["batch_size"],
            rule["variant"],
            *rule["steps"],
            self.clock,
            self.slot,
            self.seen,
            self.id,
            self.slots,
            self.moments,
            self.touched,
            self.bias,
            self.units,
            losses,
        )

    def ended(self, rule: Rule) -> Rung:
        """As if the unfinished batch had ended, in a copy: what there is to say before the first one has."""
        other = copy.deepcopy(self)
        none = np.zeros(1, dtype=np.int32)
        other._run((none, none[:0], np.empty(0)), np.empty((0, self.q)), None, None, rule)
        return other

    # ---------------------------------------------------------------- reading

    def model(self, k: int) -> tuple[NDArray[np.int64], Array, Array]:
        """The at most k features of largest sigma_j |beta_j|, ascending, their weights (k, q), intercepts."""
        n = self.size
        score = np.empty(n)
        _core.sfsa_scores(self.clock, self.slots, self.q, self.units, score)
        order = np.argsort(self.id[:n])
        kept = np.empty(min(k, n), dtype=np.int64)
        kept = order[kept[: _core.top_k(score[order], kept)]]
        return self.id[kept], self.slots[kept, _HEAD : _HEAD + self.q] * self["scale"], self.bias[0].copy()
