"""Functions of a feature, given by level, and the columns that they make of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.rows import Array
from .levels import LEVELS, Codes, Levels

ORDER = 7  # functions of a feature while selecting: a line, its square and five cosines of its rank
SIDE = 3  # functions of each feature of a pair while selecting: nine products find a 4 x 4 checkerboard
BLOCK = 1 << 23  # values of columns computed at a time: 32 MB
DEPENDENT = 1e-4  # share of its norm that a function must keep after projection; less is mostly rounding

Floats = NDArray[np.float32]


def orthonormal(V: Array, w: Array) -> Array:
    """Gram-Schmidt: functions V (m, levels, o) made orthonormal to the constant and to those before them.

    The weights w (m, levels) are the shares of the levels. Functions that depend on those before become 0.
    """
    root = np.sqrt(w)
    basis, out = [root], np.zeros(V.shape)
    for a in range(V.shape[2]):
        v = V[:, :, a] * root
        size = np.linalg.norm(v, axis=1)
        for q in basis + basis:  # twice: rounding of the first time is removed
            v = v - q * (q * v).sum(axis=1)[:, None]
        norm = np.linalg.norm(v, axis=1)
        scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > DEPENDENT * size)
        basis.append(v * scale[:, None])
        np.divide(basis[-1], root, out=out[:, :, a], where=root > 0)
    return out


def main_scale(order: int) -> Array:
    """Divisors of the main functions: 1 for line, missing and square, then 1, 2, 3, ... for the cosines."""
    return np.maximum(np.arange(order + 1) - 2.0, 1.0)


class Basis:
    """The functions of all features: by level, orthonormal over all rows.

    Main functions are a line, whether the value is missing, the square of the line and cosines of the
    mid-rank. Without the square, bowls with long tails would need many cosines (R^2 .47 in place of .52 of
    .53 for five squares of normal variables). The cosines are scaled so that the ridge prefers smooth shapes
    and steps stay possible: a step has the Fourier coefficients 1/a.
    """

    def __init__(self, levels: Levels) -> None:
        count = levels.rows.astype(np.float64)
        self.share = count / np.maximum(count.sum(axis=1, keepdims=True), 1.0)
        there = self.share.copy()
        there[:, -1] = 0.0
        there /= np.maximum(there.sum(axis=1, keepdims=True), 1e-300)
        self.rank = np.cumsum(there, axis=1) - there / 2
        mean = levels.means()
        self.centre = (there * mean).sum(axis=1)
        self.line = mean - self.centre[:, None]
        self.line[:, -1] = 0.0

    def _cosines(self, features: NDArray[Any], order: int) -> Array:
        angle = np.pi * self.rank[features][:, :, None] * np.arange(1, order + 1)
        V = np.cos(angle)
        V[:, -1] = 0.0  # a missing value has no rank
        return V

    def main(self, features: NDArray[Any], order: int = ORDER) -> Array:
        """(m, levels, order + 1); of order 1 only a line."""
        missing = np.zeros((len(features), LEVELS, 1))
        missing[:, -1] = order > 1  # of a line, a missing value is the mean, as in the sieve
        line = self.line[features][:, :, None]
        deviation = self.deviation(features)[:, None, None]
        square = (line / np.where(deviation > 0, deviation, 1.0)) ** 2
        V = np.concatenate([line, missing, square, self._cosines(features, max(order - 2, 0))], axis=2)
        return orthonormal(V[:, :, : order + 1], self.share[features]) / main_scale(order)

    def side(self, features: NDArray[Any], order: int = SIDE) -> Array:
        """(m, levels, order): the functions of pairs; a design scales product (a, b) by 1 / sqrt(a b)."""
        return orthonormal(self._cosines(features, order), self.share[features])

    def deviation(self, features: NDArray[Any]) -> Array:
        """Standard deviation of the line."""
        return np.sqrt((self.share[features] * self.line[features] ** 2).sum(axis=1))


class Term(NamedTuple):
    """Columns of one component: the shape of feature i, where j is i, or the pair of i and j."""

    i: int
    j: int
    columns: slice


class Design:
    """The columns that rows of levels become: main functions of features, then products of pairs.

    Attributes
    ----------
    owner : int array (d, 2)
        The two features of each column.
    tables : list of arrays (64, functions)
        Main functions of each feature.
    sides : list of (place of i, place of j, functions of i, functions of j)
        The functions of each pair.
    terms : list of Term
        The columns of each feature, then of each pair.
    """

    def __init__(
        self,
        basis: Basis,
        features: NDArray[Any],
        order: int = ORDER,
        pairs: Sequence[tuple[int, int]] = (),
        side: int = SIDE,
    ) -> None:
        self.features, self.pairs = np.asarray(features, dtype=np.int64), list(pairs)
        self.used = np.unique(np.concatenate([self.features, np.array(self.pairs, dtype=np.int64).ravel()]))
        place = {int(j): at for at, j in enumerate(self.used)}
        self.tables = [without_zeros(t) for t in basis.main(self.features, order).astype(np.float32)]
        self._place = [place[int(j)] for j in self.features]
        scale = np.sqrt(np.arange(1, side + 1))
        sides = [without_zeros(t) for t in (basis.side(self.used, side) / scale).astype(np.float32)]
        self.sides = [(place[i], place[j], sides[place[i]], sides[place[j]]) for i, j in self.pairs]
        widths = [t.shape[1] for t in self.tables] + [a.shape[1] * b.shape[1] for *_, a, b in self.sides]
        names = [(int(j), int(j)) for j in self.features] + [(int(i), int(j)) for i, j in self.pairs]
        ends = np.cumsum([0, *widths])
        self.terms = [Term(i, j, slice(a, b)) for (i, j), a, b in zip(names, ends[:-1], ends[1:])]
        tables, place_of = [*self.tables, *sides], [*self._place, *range(len(self.used))]
        first = np.cumsum([0, *(t.size for t in tables)])
        entry = [(i, a, t.shape[1]) for i, a, t in zip(place_of, first.tolist(), tables)]
        main, side_of = entry[: len(self.tables)], entry[len(self.tables) :]
        layout = [(*e, 0, 0, 0) for e in main] + [(*side_of[i], *side_of[j]) for i, j, *_ in self.sides]
        self._layout = np.array(layout, dtype=np.int64).reshape(-1, 6)
        self._flat = np.concatenate([np.zeros(0, np.float32), *(t.ravel() for t in tables)])
        self._own: tuple[Any, Codes] | None = None  # the rows read last, and their levels of `used`
        self._only: Floats | None = None  # the columns of these rows, if they fit one block
        self.owner = np.repeat(np.array(names, dtype=np.int64).reshape(-1, 2), widths, axis=0)

    @property
    def width(self) -> int:
        return len(self.owner)

    def columns(self, own: Codes, times: Floats | None = None) -> Floats:
        """Columns (n, d) of the levels (n, features used), each row multiplied by its entry of `times`."""
        out = np.empty((len(own), self.width), dtype=np.float32)
        times = np.ones(len(own), dtype=np.float32) if times is None else times
        _core.effects_columns(own, self._layout, self._flat, times, out)
        return out

    def components(self, weights: Array) -> tuple[Array, Array]:
        """The shapes (k, 64, q) and the surfaces of pairs (m, 64, 64, q) that weights of the columns give."""
        q = weights.shape[1]
        main = [table @ weights[term.columns] for table, term in zip(self.tables, self.terms)]
        pairs = [
            np.einsum("la,mb,abq->lmq", a, b, weights[term.columns].reshape(a.shape[1], b.shape[1], q))
            for (_, _, a, b), term in zip(self.sides, self.terms[len(self.tables) :])
        ]
        return (
            np.array(main, dtype=np.float64).reshape(-1, LEVELS, q),
            np.array(pairs, dtype=np.float64).reshape(-1, LEVELS, LEVELS, q),
        )

    def blocks(
        self, codes: Codes, rows: NDArray[np.intp], most: int | None = None, times: Array | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """The columns of the first `most` of some rows, block by block; each row multiplied by `times`."""
        if self._own is None or self._own[0] is not rows:
            self._own = rows, np.ascontiguousarray(codes[rows[:, None], self.used])
            self._only = None
        own = self._own[1]
        n, step = len(rows[:most]), max(512, BLOCK // max(self.width, 1))
        if len(rows) <= step and times is None and n == len(rows):  # cached: each step of a fit reads it
            self._only = self.columns(own) if self._only is None else self._only
            yield slice(0, n), self._only
            return
        for start in range(0, n, step):
            at = slice(start, min(start + step, n))
            yield at, self.columns(own[at], None if times is None else times[at].astype(np.float32))


def without_zeros(table: Floats) -> Floats:
    return np.ascontiguousarray(table[:, np.abs(table).max(axis=0) > 0])
