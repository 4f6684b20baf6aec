"""Ridge-penalised models on the rows of a store, and elimination of columns at constant ridge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .store import Array, Ints, Store

COPY_BYTES = 32 << 20  # a copy of few columns may take this much beside the store


@dataclass
class Fit:
    """A model of the active columns, in standardised units: margins ((x - mean) / scale) @ B.T + b."""

    active: Ints
    B: Array  # (c, active)
    b: Array  # (c,)

    def only(self, kept: NDArray[np.intp]) -> Fit:
        return Fit(self.active[kept], np.ascontiguousarray(self.B[:, kept]), self.b.copy())


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
    threads: int = 1
    delta: float = 1.0
    summary: tuple[Array, Array] | None = None
    origin: Ints | None = None  # summary's column of each column, where this is a restriction
    progress: Callable[[], None] | None = None
    view: Any = field(default=None)

    def __post_init__(self) -> None:
        if self.view is None:
            self.view = self.store.view()
        self.mean, self.deviation = self.store.moments()

    def zero(self, active: Ints) -> Fit:
        return Fit(active, np.zeros((self.c, len(active))), np.zeros(self.c))

    def _units(self, active: Ints) -> Array:
        s, m, t = self.store, self.mean[active], self.scale[active]
        if s.layout != "codes":
            return np.ascontiguousarray([m, t, m, t])
        unit = np.where(s.unit[active] > 0, s.unit[active], 1.0)
        return np.ascontiguousarray([(m - s.offset[active]) / unit, t / unit, m, t])

    def solve(
        self, fit: Fit, ridge: float, weight: NDArray[np.float32], total: float, tolerance: float = 1e-2
    ) -> Fit:
        """The ridge solution near `fit`; `ridge` is the penalty per unit of `total` weight."""
        B, b = fit.B.copy(), fit.b.copy()
        H, h = (None, None) if self.summary is None else self.summary
        variance = (self.deviation[fit.active] / self.scale[fit.active]) ** 2
        _core.sieve_solve(
            self.view, fit.active, self.kind, self.y, weight, self._units(fit.active), variance, H, h,
            ridge * total, self.delta, B, b, tolerance, 30, 200, self.threads,
        )  # fmt: skip
        if self.progress is not None:
            self.progress()
        return Fit(fit.active, B, b)

    def losses(self, fit: Fit) -> Array:
        """Loss of every row."""
        out = np.empty(self.store.n)
        _core.sieve_losses(
            self.view, fit.active, self.kind, self.y, self._units(fit.active), self.delta, fit.B, fit.b,
            out, None, self.threads,
        )  # fmt: skip
        return out

    def margins(self, fit: Fit) -> Array:
        out = np.empty((self.store.n, self.c))
        _core.sieve_losses(
            self.view, fit.active, self.kind, self.y, self._units(fit.active), self.delta, fit.B, fit.b,
            None, out, self.threads,
        )  # fmt: skip
        return out

    def restrict(self, active: Ints) -> Problem | None:
        """The same problem on a copy of the active columns, if that is worth it: sparse rows, few columns."""
        s = self.store
        if s.layout != "csr" or self.summary is not None:
            return None
        nnz, cells = int(s.present[active].sum()), s.n * len(active)
        if nnz > 0.7 * s.values() and cells > 200_000:
            return None
        if min(4 * cells, 8 * nnz) > COPY_BYTES:
            return None
        if 2 * nnz > cells // 5 and 4 * cells > COPY_BYTES:
            return None
        return replace(self, store=s.copy_of(active), scale=self.scale[active], view=None)


def next_size(w: int, k: int) -> int:
    """Columns that are left of w on the way to k."""
    share = 0.9 if w <= 10 * k else 0.75 if w <= 40 * k else 0.6
    return max(k, min(w - 1, int(w * share)))


def strongest(fit: Fit, count: int) -> NDArray[np.intp]:
    """Places of the `count` columns of largest weight, increasing; ties go to the lower index."""
    strength = np.sqrt((fit.B**2).sum(axis=0))
    return np.sort(np.argsort(-strength, kind="stable")[:count])


def eliminate(
    problem: Problem,
    start: Fit,
    sizes: list[int],
    ridge: float,
    weight: NDArray[np.float32],
    total: float,
) -> Iterator[tuple[int, Fit, Problem, Ints]]:
    """Fit, drop the weakest, fit, ...; yields (size, fit, problem it refers to, columns) at each of `sizes`.

    `sizes` decrease. The fit's active columns are places in the problem yielded, which may be a restriction;
    columns are places in the problem given.
    """
    fit, columns = start, start.active
    sizes = [min(size, len(columns)) for size in sizes]
    while sizes:
        smaller = problem.restrict(fit.active)
        if smaller is not None:
            problem = smaller
            fit = Fit(np.arange(len(columns), dtype=np.int32), fit.B, fit.b)
        fit = problem.solve(fit, ridge, weight, total)
        w = len(columns)
        while sizes and w == sizes[0]:
            yield w, fit, problem, columns
            sizes = sizes[1:]
        if sizes:
            kept = strongest(fit, next_size(w, sizes[0]))
            fit, columns = fit.only(kept), columns[kept]
