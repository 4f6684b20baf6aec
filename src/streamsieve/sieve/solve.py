"""Ridge-penalised models on the rows of a store, and elimination of columns at constant ridge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..rows import Array
from .store import Ints, Store

WORK_BYTES = 32 << 20  # working memory beside the store
SUM_BYTES = 8 << 20  # of the groups of rows that are summed apart, as the kernels have it
CACHE_BYTES = 16 << 20  # what a cache holds of the store is read by all jobs at once, not copied by each
Weights = NDArray[np.float32]


class Fit(NamedTuple):
    """A model of some stored columns, in standardised units: margins ((x - mean) / scale) @ B.T + b."""

    columns: Ints  # places in the store, increasing
    B: Array  # (c, columns)
    b: Array  # (c,)


class Start(NamedTuple):
    """Where an elimination begins, and the sizes, decreasing, at which it is recorded."""

    fit: Fit
    ridge: float  # penalty per unit of weight
    weight: Weights  # of the rows; zero leaves one out
    total: float  # weight of these rows and of the summary
    sizes: Sequence[int]


@dataclass
class Problem:
    """What is fitted: the rows of a store, their targets, and the summary of retired rows.

    `scale` is what a column is divided by: its deviation, or something between that and one number for all.
    """

    store: Store
    kind: str
    c: int
    y: Array
    scale: Array  # (w,)
    total: float  # weight of rows and summary
    rows: float  # that they count for
    threads: int = 1
    delta: float = 1.0
    intercept: bool = True
    summary: tuple[Array, Array] | None = None
    progress: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        self.view = self.store.view()
        self.mean, self.deviation = self.store.moments(self.intercept)
        self.units = self._units()

    def zero(self, columns: Ints) -> Fit:
        return Fit(columns, np.zeros((self.c, len(columns))), np.zeros(self.c))

    def constant(self, weight: Weights, total: float) -> Fit:
        """The model without columns."""
        start = self.zero(np.empty(0, dtype=np.int32))
        return self.solve([Start(start, 1.0, weight, total, ())], 1e-6)[0]

    def _units(self) -> Array:
        s, m, t = self.store, self.mean, self.scale
        variance = (self.deviation / t) ** 2
        unit = np.where(s.unit > 0, s.unit, 1.0)
        return np.ascontiguousarray([(m - s.offset) / unit, t / unit, m, t, variance])

    def eliminate(
        self, starts: Sequence[Start], tolerance: float = 1e-2, share: float = 0.9
    ) -> list[list[Fit]]:
        """Fit, drop the weakest, fit, ...: the fits of each start at its sizes. Many starts share a walk."""
        H, h = (None, None) if self.summary is None else self.summary
        # of a job: second derivatives, sums of up to 16 groups of rows, and a dozen vectors of weights
        weights, widest = self.c * self.store.width, max((len(s.fit.columns) for s in starts), default=0)
        sums = max(8 * weights, min(16 * 8 * weights, SUM_BYTES)) + 4 * weights
        size = 4 * self.c * (self.store.n + 128) + sums + 12 * 8 * self.c * widest
        room, copy = WORK_BYTES + self.store.free(), 0
        if self.store.layout == "csr":  # what a job copies of sparse rows when a third of the values has left
            copy = (8 * 7 * self.store.values()) // 10 + 8 * self.store.n
        at_once = int(max(1, room // (size + copy)))
        out: list[list[Fit]] = []
        for at in range(0, len(starts), at_once):
            some = starts[at : at + at_once]
            jobs = [
                (s.weight, s.ridge * s.total, *s.fit, [min(k, len(s.fit[0])) for k in s.sizes]) for s in some
            ]
            found = _core.sieve_fit(
                self.view, self.kind, self.y, self.delta, self.units, H, h, self.intercept, tolerance,
                share, jobs, max(room // len(some) - size, 0), CACHE_BYTES, self.threads,
            )  # fmt: skip
            out += [[Fit(*fit) for fit in fits] for fits in found]
            if self.progress is not None:
                self.progress()
        return out

    def solve(self, starts: Sequence[Start], tolerance: float = 1e-2) -> list[Fit]:
        """The ridge solutions at the columns of the starts."""
        whole = [s._replace(sizes=[len(s.fit.columns)]) for s in starts]
        return [fits[0] for fits in self.eliminate(whole, tolerance)]

    def losses(self, fit: Fit) -> Array:
        """Loss of every row."""
        out = np.empty(self.store.n)
        self._predict(fit, out, None)
        return out

    def margins(self, fit: Fit) -> Array:
        out = np.empty((self.store.n, self.c))
        self._predict(fit, None, out)
        return out

    def _predict(self, fit: Fit, losses: Any, margins: Any) -> None:
        _core.sieve_predict(
            self.view, self.kind, self.y, self.delta, self.units, *fit, losses, margins, self.threads
        )


def next_size(w: int, k: int) -> int:
    """Columns that are left of w on the way to k: the rule of the kernels."""
    share = 0.9 if w <= 10 * k else 0.75 if w <= 40 * k else 0.6
    return max(k, min(w - 1, int(w * share)))
