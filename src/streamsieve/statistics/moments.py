"""The algebra of running averages: a symmetric matrix of sums about a centre, and a buffer of rows.

Dense rows are packed and sparse rows are stored unchanged until a whole block is multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..core import linalg
from ..core.rows import Array, Rows, check_rows, threads
from ..core.state import Field, State, zeros
from ..core.words import format_bytes

WRONG = 1e-3  # share of the squares of a column that exceeds rounding error
SMALL = 1 << 20  # size of sums that may be copied
STRAY = 4.0  # standard deviations between mean and centre, at most: costs log2(1 + 16) = 4 bits

BLOCK = 1024  # rows of a symmetric product: BLAS is not faster with more
PARTS = 1 << 13  # maximum number of calls whose sparse rows are buffered


class Moments(State):
    """Sum over rows of r z z' with z = (x - c, y - c_y, 1) and r the weight of the row.

    All sums of weights, values and products are in one additive matrix: the upper triangle of `sums` (m, m),
    m = p + q + 1. The centre c (`center`) is chosen from the first rows. It is moved by a rank-two update if
    the mean is more than 4 standard deviations away, so that the co-moments are exact up to rounding even for
    data far from zero. A feature that is zero in at least half of the rows has a mean within one standard
    deviation of zero; its centre stays 0, and sparse rows stay sparse.

    After `pack`, the vector `sums` has only the triangle, row by row: half the bytes. Packed moments can be
    merged with packed or full ones; all other operations unpack them.
    """

    sums: Any

    def __init__(self, p: int, q: int, dtype: str) -> None:
        m = p + q + 1
        try:
            sums = np.zeros((m, m), dtype=dtype)
        except MemoryError:
            size = format_bytes(m * m * np.dtype(dtype).itemsize)
            raise MemoryError(
                f"The averages of {m - 1} columns need {size}, more than is available. "
                "The stochastic learners (SFSA, TSGD, ...) need memory only for the columns."
            ) from None
        super().__init__(
            p=p,
            q=q,
            sums=Field(sums, ("fixed", "fixed")),
            center=zeros(fixed=m - 1),
            placed=False,  # whether the centre has been chosen
            blocks=0,  # dense blocks added
        )

    # ---------------------------------------------------------------- adding rows

    def place(self, rows: Rows, y: Array) -> None:
        """Choose the centre: the means of the first rows if they exceed the standard deviations, else 0."""
        if rows.sparse:
            X = rows.to_scipy().copy()
            X.data = np.nan_to_num(X.data)
            mean = X.sum(axis=0) / X.shape[0]
            var = X.power(2).sum(axis=0) / X.shape[0] - mean**2
        else:
            values = np.nan_to_num(np.asarray(rows.values, dtype=np.float64))
            mean, var = values.mean(axis=0), values.var(axis=0)
        self.center = np.append(np.where(mean**2 > var, mean, 0.0), y.mean(axis=0))
        self.placed = True

    def place_as(self, other: Moments) -> None:
        """Use the centre of other moments of the same columns."""
        self.center, self.placed = other.center.copy(), True

    def add_block(self, rows: NDArray[Any]) -> None:
        """Add packed rows sqrt(r) z."""
        # beta = 1 on a Fortran-ordered view adds in place: there is never a second m x m matrix
        syrk = linalg.dsyrk if self.sums.dtype == np.float64 else linalg.ssyrk
        syrk(1.0, rows.T, beta=1.0, c=self.sums.T, lower=1, overwrite_c=1)
        self.blocks += 1

    def add_sparse(self, rows: Rows, y: Array, r: Array) -> None:
        """Add sparse rows of weights r; columns with a centre are dense."""
        p, m = self.p, len(self.sums)
        centred = np.flatnonzero(self.center[:p])
        where = np.concatenate([centred, np.arange(p, m)])
        extra = np.empty((len(y), len(where)))
        extra[:, : len(centred)] = rows.columns(centred).to_array() if len(centred) else 0.0
        extra[:, len(centred) : -1] = y
        extra[:, :-1] -= self.center[where[:-1]]
        extra[:, -1] = 1.0
        self.sums[np.ix_(where, where)] += np.triu((extra * r[:, None]).T @ extra)
        sparse = np.ones(p, dtype=np.uint8)
        sparse[centred] = 0
        indptr, indices, data = rows.kernel
        _core.gram_csr(indptr, indices, data, r, sparse, extra, where, self.sums, threads())

    # ---------------------------------------------------------------- the packed triangle

    @property
    def packed(self) -> bool:
        return bool(self.sums.ndim == 1)

    def pack(self) -> None:
        """Keep only the upper triangle."""
        if not self.packed:
            # in place: rows only move forward, so that no second matrix is needed
            m, sums = len(self.sums), np.require(self.sums, requirements=["C", "O", "W"])
            self.sums = None
            flat = sums.reshape(-1)
            for i, at in enumerate(_row_starts(m)):
                flat[at : at + m - i] = flat[i * m + i : (i + 1) * m]
            del flat
            sums.resize(m * (m + 1) // 2, refcheck=False)
            self.sums, self._axes["sums"] = sums, ("fixed",)

    def unpack(self) -> None:
        """Allocate the full matrix again, so that rows can be added and models extracted."""
        if self.packed:
            m = self.p + self.q + 1
            sums = np.zeros((m, m), dtype=self.sums.dtype)
            for i, at in enumerate(_row_starts(m)):
                sums[i, i:] = self.sums[at : at + m - i]
            self.sums, self._axes["sums"] = sums, ("fixed", "fixed")

    def verify(self, fresh: State, path: str = "") -> None:
        if isinstance(fresh, Moments) and isinstance(self.sums, np.ndarray) and self.packed:
            fresh.pack()
        super().verify(fresh, path)

    def _upper_rows(self) -> Iterator[NDArray[Any]]:
        """Views of the rows of the upper triangle."""
        m = self.p + self.q + 1
        if self.packed:
            return (self.sums[at : at + m - i] for i, at in enumerate(_row_starts(m)))
        return (self.sums[i, i:] for i in range(m))

    def _last_column(self) -> NDArray[Any]:
        """Sums of r z."""
        if not self.packed:
            column: NDArray[Any] = self.sums[:, -1]
            return column
        m = self.p + self.q + 1
        ends: NDArray[Any] = self.sums[_row_starts(m) + np.arange(m - 1, -1, -1)]
        return ends

    def by_column(self) -> tuple[float, Array, Array]:
        """Sum of weights; sums of values and of squares about the centre for each column, in float64."""
        last = self._last_column().astype(np.float64)
        starts = _row_starts(self.p + self.q + 1)
        diagonal = self.sums[starts] if self.packed else self.sums.diagonal()
        return float(last[-1]), last[:-1], diagonal[:-1].astype(np.float64)

    # ---------------------------------------------------------------- centre and scale

    def recentre(self) -> None:
        """Move the centre of the columns whose mean is far from it."""
        weight, values, squares = self.by_column()
        if weight <= 0:
            return
        offset = values / weight
        var = squares / weight - offset**2
        stray = offset**2 > STRAY**2 * np.maximum(var, 0)
        if stray.any():
            self.shift(np.where(stray, offset, 0.0))

    def shift(self, delta: Array) -> None:
        """c += delta: M - s delta' - delta s' + W delta delta', in place."""
        d = np.append(delta, 0.0)
        s = self._last_column().astype(np.float64)
        self._rank_two(-1.0, d, s - 0.5 * s[-1] * d)
        self.center = self.center + delta

    def _rank_two(self, factor: float, x: Array, y: Array) -> None:
        if self.packed:
            spr2 = linalg.dspr2 if self.sums.dtype == np.float64 else linalg.sspr2
            spr2(len(x), factor, x, y, ap=self.sums, lower=1, overwrite_ap=1)
            return
        syr2 = linalg.dsyr2 if self.sums.dtype == np.float64 else linalg.ssyr2
        syr2(factor, x, y, a=self.sums.T, lower=1, overwrite_a=1)

    def scale(self, factor: float) -> None:
        self.sums *= factor

    def clear(self) -> None:
        """Remove all rows: the sums are exactly 0, without rounding errors."""
        self.sums[:] = 0

    # ---------------------------------------------------------------- other moments

    def merge(self, other: Moments, factor: float) -> None:
        """Add other moments of the same columns, with weights times a factor; a negative factor removes
        rows."""
        if self.sums.shape == other.sums.shape and self.sums.size <= SMALL:
            self.sums += (factor * other.sums).astype(self.sums.dtype, copy=False)
        else:
            for mine, theirs in zip(self._upper_rows(), other._upper_rows()):  # no m x m temporary
                mine += (factor * theirs).astype(self.sums.dtype, copy=False)
        # z - c = (z - c') + e with e = c' - c: the other's sums move to this centre by a rank-two update
        e = np.append(other.center - self.center, 0.0)
        if e.any():
            s = other._last_column().astype(np.float64)
            self._rank_two(factor, e, s + 0.5 * s[-1] * e)

    def digits_without(self, other: Moments, factor: float, rows_left: int) -> Array:
        """Decimal digits of the variance of each column after adding other moments times a factor < 0; O(m).

        Raises ValueError if the result cannot be the variance of `rows_left` rows, because the removed rows
        were never added. Columns that are already constant have infinitely many digits.
        """
        eps = float(np.finfo(self.sums.dtype).eps)
        weight, s, d = self.by_column()
        other_weight, other_s, other_d = other.by_column()
        e = other.center - self.center
        other_d = other_d + e * (2 * other_s + other_weight * e)  # about this centre
        other_s = other_s + other_weight * e
        sizes = d - factor * other_d
        square, weight_left = d + factor * other_d, weight + factor * other_weight
        s_left = s + factor * other_s
        left = square - s_left**2 / weight_left if rows_left and weight_left > 0 else square
        if rows_left < 2:  # nothing of what varies in the other rows may be left
            varies = other_d - other_s**2 / other_weight > 1e3 * eps * other_d
            wrong = varies & (np.abs(left) > WRONG * sizes)
        else:
            wrong = -left > WRONG * sizes
        if wrong.any() or (weight_left <= 0 if rows_left else abs(weight_left) > WRONG * weight):
            what = f"column {np.argmax(wrong)} has no variance" if wrong.any() else "no weight is left"
            raise ValueError(
                f"Without these rows {what}: they were never added or merged here, or their weights are far "
                "larger than those of all other rows."
            )
        # one row has no variance; a column that is 0 in all rows left cancels exactly
        constant = (d - s**2 / weight <= 8 * eps * sizes) | ((square == 0) & (s_left == 0)) | (rows_left < 2)
        ratio = np.divide(left, eps * sizes, out=np.full(len(d), np.inf), where=~constant)
        return np.log10(np.maximum(ratio, 1.0))

    def make_constant(self, columns: NDArray[np.int64]) -> None:
        """Set the variance of columns to 0 if it is only rounding error."""
        s = self.sums[:, -1].astype(np.float64)
        for j in columns:
            products = s[j] * s / s[-1]
            self.sums[:j, j] = products[:j]
            self.sums[j, j:] = products[j:]

    def widen(self, p: int, where: NDArray[np.int64]) -> Self:
        """Moments of p features: the current ones at `where`, and others that were always 0."""
        wide = type(self)(p, self.q, self.sums.dtype.name)
        kept = np.concatenate([where, np.arange(p, p + self.q + 1)])
        for i, at in enumerate(kept):  # row by row: no m x m temporary
            beyond = kept[i:]
            wide.sums[np.minimum(at, beyond), np.maximum(at, beyond)] = self.sums[i, i:]
        wide.center[kept[:-1]] = self.center  # the mean of features that were never seen is 0
        wide.placed, wide.blocks = self.placed, self.blocks
        return wide

    # ---------------------------------------------------------------- reading

    def offset(self, weight: float) -> Array:
        """Mean minus centre, of all columns."""
        offset: Array = self._last_column()[:-1].astype(np.float64) / weight
        return offset

    def mean(self, weight: float) -> Array:
        """Means of all columns, features first."""
        return self.center + self.offset(weight)

    def column_sums(self, weight: float) -> Array:
        """Sums of r x over all rows, shape (p,)."""
        return self._last_column()[: self.p] + weight * self.center[: self.p]

    def comoments(self, weight: float, rows: slice, columns: slice) -> Array:
        """Centred second moments of some columns with others."""
        offset = self.offset(weight)
        block = self.sums[rows, columns].astype(np.float64)
        if rows == columns:
            block = symmetric(block)
        return block / weight - np.outer(offset[rows], offset[columns])

    def underflows(self) -> NDArray[np.int64]:
        """Columns whose sum is not 0 although their sum of squares is: their values are tiny."""
        return np.flatnonzero((self.sums.diagonal()[:-1] == 0) & (self.sums[:-1, -1] != 0))

    def variance(self, weight: float) -> Array:
        """Variances of all columns, 0 for constant columns."""
        offset = self.offset(weight)
        var = np.maximum(self.sums.diagonal()[:-1].astype(np.float64) / weight - offset**2, 0.0)
        # In a constant column, rounding errors of its size and of its distance to the centre remain.
        eps, mean = np.finfo(self.sums.dtype).eps, self.center + offset
        var[var <= 8 * eps * offset**2 + (8 * np.finfo(np.float64).eps * mean) ** 2] = 0.0
        return var

    def standardise(
        self, weight: float, inverse: Array, y_inverse: Array, limit: float
    ) -> tuple[Array, Array, NDArray[np.int64]]:
        """Co-moments of features (p, p) and with targets (p, q), both times these inverse deviations.

        Also the features that are copies of an earlier one: their squared correlation exceeds `limit`.
        """
        p, offset = self.p, self.offset(weight)
        R, copy = np.empty((p, p)), np.zeros(p, dtype=np.uint8)
        _core.standardize(self.sums, weight, offset[:p], inverse, limit, R, copy)
        r = self.sums[:p, p:-1].astype(np.float64) / weight - np.outer(offset[:p], offset[p:])
        r *= inverse[:, None] * y_inverse
        return R, r, np.flatnonzero(copy)


def symmetric(A: NDArray[Any]) -> NDArray[Any]:
    """The full symmetric matrix from its upper triangle."""
    return np.triu(A) + np.triu(A, 1).T


def _row_starts(m: int) -> NDArray[np.int64]:
    """Start of each row of the upper triangle of an (m, m) matrix in its packed vector."""
    i = np.arange(m, dtype=np.int64)
    return i * m - i * (i - 1) // 2


class DenseBuffer(State):
    """At most `block` rows sqrt(r) (x - c, y - c_y, 1), packed for a BLAS product."""

    rows: Any
    block: int
    _room: Any = None  # memory for a whole block; `rows` is its first part

    def __init__(self, m: int, dtype: str, block: int = BLOCK) -> None:
        super().__init__(rows=Field(np.zeros((0, m), dtype=dtype), ("slot", "fixed")), block=block)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def free(self) -> int:
        """Rows that can still be added."""
        return self.block - len(self.rows)

    def add(self, X: Any, y: Array, r: Array, center: Array) -> None:
        """Pack an array of rows, of any strides."""
        n = len(self.rows)
        if self.rows.base is not self._room or self._room is None:
            self._room = np.empty((self.block, self.rows.shape[1]), dtype=self.rows.dtype)
            self._room[:n] = self.rows
        _core.pack(X, y, np.sqrt(r), center, self._room, n)
        self.rows = self._room[: n + len(y)]

    def clear(self) -> None:
        self.rows = self.rows[:0]

    def check(self) -> None:
        if type(self.block) is not int or not len(self.rows) < self.block <= BLOCK:
            raise ValueError(f"{len(self.rows)} rows are in a block of {self.block}.")


class SparseBuffer(State):
    """Sparse rows with targets and weights: one part for each call, and how many values they hold."""

    rows: list[Rows]
    targets: list[Array]
    weights: list[Array]

    def __init__(self) -> None:
        super().__init__(rows=[], targets=[], weights=[], n_values=0)

    @staticmethod
    def stop(rows: Rows, start: int) -> int:
        """The last row of the first part, which has several entries for every feature."""
        entries = min(max(64 * rows.p, 1 << 16), 1 << 21)
        end = int(np.searchsorted(rows.indptr, rows.indptr[start] + entries))
        return min(max(start + 1, end), start + (1 << 16))

    def add(self, rows: Rows, y: Array, r: Array) -> bool:
        """Add rows that are not changed elsewhere; returns whether there are enough to multiply."""
        self.rows.append(rows)
        self.targets.append(y)
        self.weights.append(r)
        self.n_values += rows.n_values
        return self.n_values >= min(max(32 * rows.p, 1 << 15), 1 << 20) or len(self.rows) >= PARTS

    def take_all(self) -> tuple[Rows, Array, Array]:
        """All rows, targets and weights; the buffer is empty afterwards."""
        out = Rows.concat(self.rows), np.concatenate(self.targets), np.concatenate(self.weights)
        self.rows, self.targets, self.weights, self.n_values = [], [], [], 0
        return out

    def check(self, p: int, q: int) -> None:
        """Raise ValueError for inconsistent parts from a file."""
        if not len(self.rows) == len(self.targets) == len(self.weights):
            raise ValueError("buffered rows have no targets or weights.")
        for rows, y, r in zip(self.rows, self.targets, self.weights):
            shapes = (getattr(y, "shape", None), getattr(r, "shape", None))
            if not isinstance(rows, Rows) or not rows.sparse or rows.p > p:
                raise ValueError(f"buffered rows are not sparse rows of at most {p} columns.")
            if shapes != ((len(rows), q), (len(rows),)) or not y.dtype == r.dtype == np.float64:
                raise ValueError("buffered rows have targets or weights of other rows.")
            check_rows(rows)
        if sum(rows.n_values for rows in self.rows) != self.n_values:
            raise ValueError(f"{self.n_values} is not the number of buffered values.")
