"""Squared loss of more columns than rows: the ridge models of all columns from products of rows.

With Z the centred columns, the ridge weights are ``Z'a``, where ``(Z Z' + L) a = y``: a system of the rows
alone, whose matrix is the same for all ridges and, but for its rows, for all folds. Most columns leave by
these first weights (Wang and Leng 2016: they rank as well as marginal correlations do and, where columns are
correlated, better), and the kernels go on with the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core import linalg
from ...core.rows import Array
from ...statistics.ridge import cholesky
from .solve import WORK_BYTES, Fit, Problem, Start
from .store import Ints
from .sums import Units

#: Columns that are left by the first weights, or as many as there are rows. Against eliminations by 40 % at a
#: time, four sets (riboflavin, aquatox, wheat, permeab), three splits: R2 +1.7 +- 1.8 (k given), -.2 +- .3
#: (auto); 512 columns: +.2 +- 1.1, -1.6 +- 1.3.
KEEP = 1024


class Dual:
    """Has the calls of `Problem`: `distinct`, `eliminate` and `loss`."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._products: tuple[Ints, Array] | None = None

    @staticmethod
    def fits(problem: Problem, columns: int) -> bool:
        """Whether there are more columns than are kept at first, and products of rows are few numbers."""
        n = problem.store.n
        return problem.summary is None and max(KEEP, n) < columns and 8 * n**2 <= WORK_BYTES

    def distinct(self, columns: Ints) -> Ints:
        return self.problem.distinct(columns)

    def loss(self, fit: Fit, fold: int | None) -> Array:
        return self.problem.loss(fit, fold)

    def eliminate(
        self, starts: Sequence[Start], tolerance: float = 1e-2, share: float = 0.9
    ) -> list[list[Fit]]:
        """The fits of each start at its sizes; those of all columns, from which most leave, are exact."""
        wide = [i for i, s in enumerate(starts) if s.sizes and self.fits(self.problem, len(s.fit.columns))]
        paths: list[list[Fit]] = [[] for _ in starts]
        rest = list(starts)
        for i, fit in zip(wide, self.solutions([starts[i] for i in wide])):
            units = Units(self.problem.unit[fit.columns], self.problem.flags[fit.columns])
            paths[i] = [fit for size in starts[i].sizes if size >= units.left]
            sizes = starts[i].sizes[len(paths[i]) :]
            most = max(KEEP, self.problem.store.n, *sizes[:1], 0)
            units.drop(fit.B.T, None, max(units.left - most, 0))
            kept = Fit(fit.columns[units.on], fit.B[:, units.on], fit.b)
            rest[i] = starts[i]._replace(fit=kept, sizes=sizes)
        todo = [i for i, start in enumerate(rest) if start.sizes or not paths[i]]
        for i, path in zip(todo, self.problem.eliminate([rest[i] for i in todo], tolerance, share)):
            paths[i] += path
        return paths

    def solutions(self, starts: Sequence[Start]) -> list[Fit]:
        """The ridge models of all columns, which are the same for all starts.

        With row weights w, ``B = Z'a`` about the weighted means, ``a = w^.5 (w^.5 Z Z' w^.5 + L)^-1 w^.5 y``.
        """
        if not starts:
            return []
        p, columns, lefts = self.problem, starts[0].fit.columns, []
        products = self.products(columns)
        for _, ridge, fold, *_ in starts:
            weight, total = p.without(fold)
            on = np.flatnonzero(weight)
            w = weight[on].astype(np.float64)
            root, share = np.sqrt(w)[:, None], w / w.sum() * p.intercept
            K = products[np.ix_(on, on)]
            about = K @ share
            K += share @ about - about - about[:, None]
            L, _ = cholesky(K * root * root.T, ridge * total)
            y = p.y[on]
            a, _ = linalg.dpotrs(L, root * (y - share @ y), lower=1)
            left = np.zeros((p.c + 1, p.store.n))
            left[:-1, on], left[-1, on] = (root * a).T, share
            lefts.append(left)
        sums = p.store.project(np.vstack(lefts), columns)
        out = []
        for left, of_rows in zip(lefts, np.split(sums, len(lefts))):
            of_rows -= np.outer(left.sum(axis=1), p.mean[columns])
            of_rows /= p.scale[columns]
            mean, total = of_rows[-1], left[:-1].sum(axis=1)
            B = of_rows[:-1] - np.outer(total, mean)
            out.append(Fit(columns, B, left[-1] @ p.y - B @ mean))
        return out

    def products(self, columns: Ints) -> Array:
        """Z Z' of the standardised columns, (n, n); held, since all eliminations begin with the same."""
        if self._products is None or not np.array_equal(self._products[0], columns):
            p, K = self.problem, np.zeros((self.problem.store.n,) * 2, order="F")
            for some, X in p.store.by_columns(columns):
                at = columns[some]
                Z = (X - p.mean[at, None]) / p.scale[at, None]
                K = linalg.dsyrk(1.0, Z.T, beta=1.0, c=K, lower=1, overwrite_c=1)
            self._products = columns, K + np.tril(K, -1).T
        return self._products[1]
