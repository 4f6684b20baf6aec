"""One rung of SFSA's ladder: the state of one annealing schedule, and what feeds it to the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ._learner import Array, Core, _resized

#: The numbers of a rung's clock, as `RungClock` of ``cpp/sfsa.hpp`` lists them.
CLOCK = (
    *("filled", "batches", "weight", "scale", "horizon", "norm", "cross", "pairs", "norms", "entries", "slope"),
    *("curve", "trace", "mass", "count", "reach", "slopes", "bends", "first", "output", "pair", "loss"),
    *("size", "limit", "unseen", "touched", "theta", "last", "pool", "pool_end", "loose", "work"),
)
_AT = {name: i for i, name in enumerate(CLOCK)}
_PAGE = 4096  # features that share one count of those seen
_ROOM = 1024  # slots that are never given back


class Rung:
    """Weights of the features that are alive and have been seen, on their way from p to k at maturity T.

    Memory is four bytes for each of p features, and a few numbers for each of those alive and seen.
    """

    def __init__(self, p: int, q: int, T: int, *, moments: bool, first: bool, second: bool) -> None:
        self.T = T
        self.clock = np.zeros(len(CLOCK))
        self["scale"], self["horizon"], self["theta"] = 1.0, 3.0, -1.0  # log(a) / a is largest at 3
        self["limit"] = self["unseen"] = p
        self.slot = np.zeros(p, dtype=np.int32)  # 1 + the slot of a feature, 0 never seen, -1 gone
        self.seen = np.zeros(p // _PAGE + 1, dtype=np.int32)  # how many per page are not 0 there
        self.bias = np.zeros((4, q))  # intercepts, and their gradient sums, first and second moments
        room = min(p, _ROOM)
        self.id = np.zeros(room, dtype=np.int64)
        self.v = np.zeros((room, q))  # weights, but for the scale
        self.g = np.zeros((room, q))  # gradient sums of the unfinished batch
        self.first = np.zeros((room, q)) if first else None
        self.second = np.zeros((room, q)) if second else None
        self.moments = np.zeros((room, 5)) if moments else None
        self.mark = np.zeros(room, dtype=np.uint8)  # whether the unfinished batch has met the slot
        self.touched = np.zeros(room + 1, dtype=np.int32)
        self.pool = np.zeros((room, 2))
        self.loose = np.zeros((room, 2))

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

    def _reserve(self, more: int) -> None:
        """Room for so many more slots; given back where three quarters are not used."""
        need, room = self.size + min(more, int(self["unseen"])), len(self.id)
        if need > room:
            room = max(need, 2 * room)
        elif room > _ROOM and 4 * need < room:
            room = max(_ROOM, 2 * need)
            self["theta"] = -1.0  # the pool is made anew when it is needed
            self["pool"] = self["pool_end"] = self["loose"] = 0.0
        else:
            return
        names = ("id", "v", "g", "first", "second", "moments", "mark", "pool", "loose", "touched")
        for name in names:
            old: NDArray[Any] | None = getattr(self, name)
            if old is not None:
                new = np.zeros((room + (name == "touched"), *old.shape[1:]), dtype=old.dtype)
                keep = min(len(old), len(new))
                new[:keep] = old[:keep]
                setattr(self, name, new)

    # ---------------------------------------------------------------- learning

    def learn(self, rows: Core, y: Array, w: Array | None, losses: Array | None, **rule: Any) -> int:
        """Learn the rows; how many were, before a step would have overflowed.

        In parts, so that room for features that may be new is at most twice the room in use.
        """
        at, n, begun = 0, len(y), int(self["batches"])
        while at < n:
            stop = n
            if isinstance(rows, tuple):
                indptr = rows[0]
                most = int(indptr[at]) + max(self.size, 1 << 16)
                stop = max(at + 1, min(n, int(np.searchsorted(indptr, most, side="right")) - 1))
                part: Core = rows if stop - at == n else (indptr[at : stop + 1], *rows[1:])
                self._reserve(int(indptr[stop] - indptr[at]))
            else:
                part = rows
                self._reserve(len(self.slot))
            done = _core.sfsa(
                part,
                rule["loss"],
                y[at:stop],
                None if w is None else w[at:stop],
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
                self.v,
                self.g,
                self.first,
                self.second,
                self.moments,
                self.mark,
                self.touched,
                self.pool,
                self.loose,
                self.bias,
                None if losses is None else losses[int(self["batches"]) - begun :],
            )
            if done < stop - at:
                return at + done
            at = stop
        return n

    # ---------------------------------------------------------------- reading

    def model(self, k: int) -> tuple[NDArray[np.int64], Array, Array]:
        """The at most k features of largest sigma_j |beta_j|, ascending, their weights (k, q), intercepts."""
        n = self.size
        score = np.empty(n)
        _core.sfsa_scores(self.clock, self.v, self.moments, score)
        order = np.argsort(self.id[:n])
        kept = np.empty(min(k, n), dtype=np.int64)
        kept = order[kept[: _core.top_k(score[order], kept)]]
        return self.id[kept], self.v[kept] * self["scale"], self.bias[0].copy()
