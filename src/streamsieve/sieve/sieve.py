"""The default method: annealed elimination under a ridge estimated from the data, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .folds import assign
from .gram import Correlations, likely_ridge, ridge_weights, select, select_auto
from .read import Search
from .solve import Fit, Problem
from .store import Array, Ints, Store

MOST_CORRELATED = 4000  # columns whose correlations are formed


class Sieve:
    def __init__(
        self,
        k: int | str = 10,
        *,
        loss: str = "squared",
        memory: int = 256 << 20,
        fit_intercept: bool = True,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: Callable[[], None] | None = None,
    ) -> None:
        self.k, self.loss, self.memory = k, loss, memory
        self.fit_intercept, self.random_state, self.n_jobs, self.progress = fit_intercept, random_state, n_jobs, progress

    def start(self, p: int, q: int) -> None:
        self.p, self.q = p, q
        self.labels = self.loss == "logistic"
        self.c = q if not self.labels or q > 2 else 1
        self.kind = "softmax" if self.labels and q > 2 else self.loss
        self.store: Store | None = None
        self.strata = np.zeros(max(q, 1), dtype=np.int64)
        self.log: list[Any] = []
        self.H: Array | None = None
        self.h: Array | None = None
        self.answer = None

    def learn(self, rows: Any, y: Array, w: Array | None = None) -> None:
        sparse = isinstance(rows, tuple)
        y = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1)
        if self.store is None:
            self.store = Store(self.p, y.shape[1], self.c, self.memory, sparse)
        self.answer = None
        at = 0
        strata = y[:, 0].astype(np.int64) if self.labels else np.zeros(len(y), dtype=np.int64)
        fold = assign(strata, self.strata)
        while at < len(y):
            part = _from(rows, at)
            done = self.store.append(part, y[at:], None if w is None else w[at:], fold[at:])
            at += done
            if at < len(y):
                self.make_room()

    def make_room(self) -> None:
        raise NotImplementedError

    def problem(self, exponent: float = 1.0) -> tuple[Problem, Ints]:
        s = self.store
        _, deviation = s.moments()
        active = np.flatnonzero(deviation > 0).astype(np.int32)
        scale = np.where(deviation > 0, deviation, 1.0)
        r = scale ** (1 - exponent)
        scale = scale / (r / np.sqrt((r[active] ** 2).mean())) if len(active) else scale
        threads = self.n_jobs or len(os.sched_getaffinity(0))
        return (
            Problem(s, self.kind, self.c, s.y[: s.n], scale, s.total, threads, progress=self.progress),
            active,
        )

    def read(self) -> tuple[Ints, Array, Array]:
        if self.answer is None:
            best = None
            _, deviation = self.store.moments()
            high, low = np.quantile(deviation[deviation > 0], [0.9, 0.1])
            for a in (1.0, 0.0) if high > 1.5 * low else (1.0,):
                problem, active = self.problem(a)
                search = Search(problem, active, min(self.k, len(active)))
                got = search.read()
                self.log.append((a, got.loss, got.ridge, got.refit))
                if best is None or got.loss < best[0].loss:
                    best = got, problem
            got, problem = best
            cols = got.fit.columns
            coef = got.fit.B / problem.scale[cols]
            intercept = got.fit.b - coef @ (problem.mean[cols] + self.store.shift[cols])
            self.answer = self.store.columns[cols], coef, intercept
        return self.answer


def _from(rows: Any, at: int) -> Any:
    if not isinstance(rows, tuple):
        return rows[at:]
    indptr, indices, data = rows
    return (indptr[at:], indices, data) if at == 0 else (indptr[at:] , indices, data)
