"""Ridge-penalised models of the rows that a sieve holds, by the kernels; elimination at constant ridge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core import linalg
from ...core.losses import or_one
from ...core.rows import Array, threads
from ...statistics.folds import FOLDS
from .store import Ints

if TYPE_CHECKING:
    from .sieve import Sieve

WORK_BYTES = 32 << 20  # working memory, in addition to the store
SUM_BYTES = 8 << 20  # of the groups of rows that are summed apart, as the kernels have it
CACHE_BYTES = 16 << 20  # what a cache holds of the store is read by all jobs at once, not copied by each
PROBES = 8  # random sums of a column: equal to four digits, they tell that the correlation is 1 - 1e-9
KEPT, POSITIVE = 1, 2  # flags of columns, as the kernels have them


class Fit(NamedTuple):
    """A model of some stored columns, in standardised units: margins ((x - mean) / scale) @ B.T + b."""

    columns: Ints  # places in the store, increasing
    B: Array  # (c, columns)
    b: Array  # (c,)


class Start(NamedTuple):
    """Where an elimination begins, and the sizes, decreasing, at which it is recorded; by default its own."""

    fit: Fit
    ridge: float  # penalty per unit of weight
    fold: int | None = None  # that is left out
    sizes: Sequence[int] = ()
    factor: Array | float = 1.0  # of the ridge, by column


class Problem:
    """What is fitted: rows, targets in units of their own, and the summary of retired rows.

    Columns are divided by their deviations, or all by the root mean square of these. `unit` is the first
    column of the group of each column, which leave together; `flags` say which are kept or positive.
    """

    def __init__(
        self, sieve: Sieve, fold: NDArray[np.uint8], part: NDArray[np.uint8], own_units: bool = True
    ) -> None:
        linalg.reserve()  # products of NumPy come before those of SciPy
        s, self.store, self.problem = sieve.state, sieve.state.store, self
        self.loss_function, self.joint, self.c = sieve.loss_function, sieve.joint, sieve.q
        self.intercept, self.progress = sieve.fit_intercept, sieve.progress
        self.threads = threads(sieve.n_jobs)
        self.fold, self.part = fold, part  # of each row: when it is left out, where its loss is summed
        self.unit, self.flags = sieve.constrained()
        self.mean, self.deviation = self.store.moments(self.intercept)
        self.scale = or_one(self.deviation)
        if not own_units and self.deviation.any():
            self.scale[:] = np.sqrt(np.mean(self.deviation[self.deviation > 0] ** 2))
        n, self.total, y = self.store.n, self.store.total, self.store.y[: self.store.n]
        self.weight, self.summary, self.retired = self.store.weight[:n], None, None
        if sieve.half_life is not None:
            self.weight = (self.weight * sieve.fading ** np.arange(n - 1, -1, -1.0)).astype(np.float32)
        if sieve.loss == "squared":
            w = self.weight.astype(np.float64)
            sums = [w.sum(), w @ y, w @ y**2]
            if s.H is not None:
                self.retired = [sieve.fading**n * part for part in (s.H, s.h, s.yy)]
                H, h, yy = (part.sum(axis=0) for part in self.retired)
                sums = [sums[0] + H[-1, -1], sums[1] + h[:, -1], sums[2] + yy]
            self.total = float(sums[0])
            self.center = sums[1] / sums[0] * self.intercept
            self.spread = or_one(np.sqrt(np.maximum(sums[2] / sums[0] - self.center**2, 0.0)))
            if s.H is not None:
                self.summary = H[None], (h - self.center[:, None] * H[-1]) / self.spread[:, None]
        else:
            zero, one = np.zeros(self.c), np.ones(self.c)
            units = (zero, one) if sieve.labels else self.loss_function.units(y, self.intercept)
            self.center, self.spread = units if s.target_units is None else s.target_units
            self.summary = None if s.H is None else (s.H, s.h)
        if sieve.labels:
            self.y = np.ascontiguousarray(y if self.joint else 2 * y - 1)
        else:
            self.y = np.ascontiguousarray((y - self.center) / self.spread)

    @cached_property
    def units(self) -> Array:
        s, m, t = self.store, self.mean, self.scale
        unit = np.where(s.unit > 0, s.unit, 1.0)
        return np.ascontiguousarray([(m - s.offset) / unit, t / unit, m, t, (self.deviation / t) ** 2])

    def zero(self, columns: Ints) -> Fit:
        b = np.zeros(self.c)
        if self.intercept and self.store.n and not np.isfinite(self.loss_function.curvature):
            b += self.loss_function.constant(self.y, self.weight)  # a step from far away would overflow
        return Fit(columns, np.zeros((self.c, len(columns))), b)

    def distinct(self, columns: Ints) -> Ints:
        """Columns that are not linear functions of one before them, by their random sums up to a sign."""
        random = np.random.default_rng(0).normal(size=(PROBES, self.store.n)) / max(self.store.n, 1) ** 0.5
        sums = self.store.project(random, columns) - np.outer(random.sum(axis=1), self.mean[columns])
        sums = np.round(sums * np.sign(sums[0]) / self.deviation[columns], 4)
        copies = np.ones(len(columns), dtype=bool)
        copies[np.unique(sums, axis=1, return_index=True)[1]] = False
        return self.without_copies(columns, copies)

    def without_copies(self, columns: Ints, copies: NDArray[np.bool_]) -> Ints:
        """Those that are kept or of a group stay."""
        single = np.bincount(self.unit, minlength=self.store.width)[self.unit[columns]] == 1
        return columns[~(copies & single & (self.flags[columns] & KEPT == 0))]

    def without(self, fold: int | None) -> tuple[NDArray[np.float32], float]:
        """Weights of the rows, zero for those of a fold, and their sum with the summary."""
        held = self.fold == (FOLDS if fold is None else fold)
        lost = float(self.weight[held].sum(dtype=np.float64))
        return np.where(held, np.float32(0), self.weight), self.total - lost

    def eliminate(
        self, starts: Sequence[Start], tolerance: float = 1e-2, share: float = 0.9
    ) -> list[list[Fit]]:
        """Fit, drop the weakest, fit, ...: the fits of each start at its sizes. Many starts share a walk."""
        H, h = (None, None) if self.summary is None else self.summary
        # of a job: second derivatives, sums of up to 16 groups of rows, and a dozen vectors of weights
        width, widest = self.store.width, max((len(s.fit.columns) for s in starts), default=0)
        copy = 0
        if self.store.layout == "csr":  # a job copies a quarter of the columns, or seven tenths of the values
            few = 4 * widest <= width
            copy = (8 if few else 5.6) * self.store.values() + 8 * self.store.n
            width = widest if few else width
        weights = self.c * width
        sums = max(8 * weights, min(16 * 8 * weights, SUM_BYTES)) + 4 * weights
        size = 4 * self.c * (self.store.n + 128) + sums + 12 * 8 * self.c * widest
        room = WORK_BYTES + self.store.free()
        at_once = int(max(1, room // (size + copy)))
        out: list[list[Fit]] = []
        for at in range(0, len(starts), at_once):
            some, jobs = starts[at : at + at_once], []
            parts = {fold: self.without(fold) for fold in {start.fold for start in some}}
            for fit, ridge, fold, sizes, factor in some:
                (weight, total), own = parts[fold], len(fit.columns)
                penalty = np.full(own, ridge * total * factor)
                jobs.append((weight, penalty, *fit, [min(k, own) for k in sizes or [own]]))
            found = _core.sieve_fit(
                self.store.view(), self.loss_function, self.joint, self.y, self.units, H, h, self.intercept,
                tolerance, share, self.unit, self.flags, jobs, max(room // len(some) - size, 0), CACHE_BYTES,
                self.threads,
            )  # fmt: skip
            out += [[Fit(*fit) for fit in fits] for fits in found]
            if self.progress is not None:
                self.progress()
        return out

    def loss(self, fit: Fit, fold: int | None) -> Array:
        """Weighted losses of the rows that are left out, summed by part; of all rows where none is."""
        losses = np.empty(self.store.n)
        self._predict(fit, losses, None)
        losses = self.weight * np.minimum(losses, 1e30)  # counts can be predicted as wrong as that
        held = slice(None) if fold is None else self.fold == fold
        return np.asarray(np.bincount(self.part[held], losses[held], FOLDS), dtype=np.float64)

    def margins(self, fit: Fit) -> Array:
        out = np.empty((self.store.n, self.c))
        self._predict(fit, None, out)
        return out

    def _predict(self, fit: Fit, losses: Array | None, margins: Array | None) -> None:
        _core.sieve_predict(
            self.store.view(), self.loss_function, self.joint, self.y, self.units, *fit, losses, margins,
            self.threads,
        )  # fmt: skip


def solve(engine: Any, starts: Sequence[Start], tolerance: float = 1e-2) -> list[Fit]:
    """The ridge solutions at the columns of the starts, without columns whose weights have a wrong sign."""
    fits = [path[0] for path in engine.eliminate([start._replace(sizes=()) for start in starts], tolerance)]
    for i, fit in enumerate(fits):
        wrong = (engine.problem.flags[fit.columns] >= POSITIVE) & (fit.B < 0).any(axis=0)
        if wrong.any():
            fewer = Fit(fit.columns[~wrong], fit.B[:, ~wrong], fit.b)
            factor = np.broadcast_to(starts[i].factor, len(wrong))[~wrong]
            fits[i] = solve(engine, [starts[i]._replace(fit=fewer, factor=factor)], tolerance)[0]
    return fits
