"""The rows so far, restricted to the surviving columns, in bounded memory.

Three layouts. `tiles`: float32 minus the first row, in tiles of up to 128 rows, each column by column.
`codes`: the same tiles of 8-bit codes, with a list of the values that no code holds. `csr`: sparse rows.

Rows are appended one by one, and whether one more fits depends on the rows before it alone. So does the
length of every array: the state is the same however the rows are cut into calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.outliers import ENOUGH, SUSPECT, Outlier, find_outlier
from ...core.rows import Array, Rows
from ...core.state import State, Undo, array, zeros

Ints = NDArray[np.int32]

MOST_ROWS = 128  # of a tile
LARGEST_CODE = 127
RANGE = 5.0  # deviations from the mean that codes reach
ESCAPE_BYTES = 17
GROWTH = 1.25  # of arrays
EXTRA = 32 << 20  # bytes for work, in addition to the memory of a sieve
BLOCK_BYTES = 4 << 20  # of values that are decoded at a time


#: What there is of each column, with its value for a column that comes later: zero in all rows so far.
_NEW_COLUMN = {"shift": 0, "sum": 0, "square": 0, "low": 0, "high": 0, "present": 0, "offset": 0, "unit": 1}
_BY_COLUMN = ("columns", *_NEW_COLUMN)
_CHANGED = ("shift", "sum", "square", "low", "high", "present")  # by rows that come
_BY_ROW = ("y", "weight", "key", "cells", "indptr")
_ESCAPES = ("escape_tile", "escape_row", "escape_column", "escape_value")


class Mark(NamedTuple):
    """Where a store was: its size, and the numbers at the columns `at` that rows change."""

    p: int
    n: int
    total: float
    lengths: dict[str, int]
    at: Any
    sums: dict[str, NDArray[Any]]


class Store(State):
    """Rows of at most `memory` bytes.

    Attributes
    ----------
    columns : int32 array (w,)
        Stored columns, increasing, by their index in the rows that come.
    n : int
        Rows held.
    total : float
        Weight of all rows that ever came, also of those no longer held.
    sum, square : arrays (w,)
        Weighted sums of the columns minus `shift` and of their squares, over all rows that ever came.
    low, high : arrays (w,)
        The least and the largest value of the columns minus `shift`; of sparse rows without their zeros.
    key : uint32 array (n,)
        Equal for rows of equal content: copies are to be left out together.
    """

    FEATURE_BYTES = 60  # of a column that is kept: seven sums and its index

    p: int
    memory: int
    layout: str
    row_cost: int
    tile_rows: int
    n: int
    total: float
    columns: Ints
    shift: Array
    sum: Array
    square: Array
    low: Array
    high: Array
    present: NDArray[np.int64]
    offset: Array
    unit: Array
    y: Array
    weight: NDArray[np.float32]
    key: NDArray[np.uint32]
    cells: NDArray[np.uint8]
    indptr: NDArray[np.int64]
    indices: Ints
    escape_tile: NDArray[np.int64]
    escape_row: NDArray[np.uint8]
    escape_column: Ints
    escape_value: NDArray[np.float32]

    @classmethod
    def of(
        cls, p: int, targets: int, outputs: int, memory: int, sparse: bool, columns: Ints | None = None
    ) -> Store:
        """An empty store for rows of width p with so many targets, solved with so many outputs."""
        columns = np.arange(p, dtype=np.int32) if columns is None else columns
        w, tile_rows = len(columns), MOST_ROWS
        while tile_rows > 16 and 4 * w * tile_rows > memory // 8:
            tile_rows //= 2
        return cls(
            p=p,
            memory=int(memory),
            layout="csr" if sparse else "tiles",
            # targets, weight, key and row pointer, and what the solver needs: margins and losses
            row_cost=8 * targets + 4 * outputs + 12 + 16,
            tile_rows=tile_rows,
            n=0,
            total=0.0,
            columns=array(columns, "slot"),
            shift=zeros(slot=w),
            sum=zeros(slot=w),
            square=zeros(slot=w),
            low=array(np.full(w, np.inf), "slot"),
            high=array(np.full(w, -np.inf), "slot"),
            present=zeros(slot=w, dtype=np.int64),
            offset=zeros(slot=w),
            unit=array(np.ones(w), "slot"),
            y=zeros(slot=0, fixed=targets),
            weight=zeros(slot=0, dtype=np.float32),
            key=zeros(slot=0, dtype=np.uint32),
            cells=zeros(slot=0, dtype=np.uint8),
            indptr=zeros(slot=1, dtype=np.int64),
            indices=zeros(slot=0, dtype=np.int32),
            escape_tile=zeros(slot=0, dtype=np.int64),
            escape_row=zeros(slot=0, dtype=np.uint8),
            escape_column=zeros(slot=0, dtype=np.int32),
            escape_value=zeros(slot=0, dtype=np.float32),
        )

    # ---------------------------------------------------------------- appending

    @property
    def width(self) -> int:
        return len(self.columns)

    @property
    def capacity(self) -> int:
        """Rows that tiles hold."""
        per_row = self.width * self.cell_bytes + self.row_cost
        spent = ESCAPE_BYTES * len(self.escape_value)
        return int(max(self.memory - spent, 0) // (per_row * self.tile_rows)) * self.tile_rows

    @property
    def cell_bytes(self) -> int:
        return 1 if self.layout == "codes" else 4

    def append(
        self, rows: Rows, y: Array, weight: Array | None, key: NDArray[np.uint32], most: int, threads: int
    ) -> int:
        """Append the first rows, as many as fit and at most until there are `most`; how many these are."""
        room = max(min(len(rows), most - self.n), 0)
        rows = rows[:room]
        w = None if weight is None else np.ascontiguousarray(weight[:room])
        done = self._append_csr(rows, w) if self.layout == "csr" else self._append_dense(rows, w, threads)
        if done:
            n = self.n + done
            self.y, self.weight, self.key = (grown(a, n) for a in (self.y, self.weight, self.key))
            self.y[self.n : n] = y[:done]
            self.weight[self.n : n] = 1 if w is None else w[:done]
            self.key[self.n : n] = key[:done]
            self.n = n
            if w is None and self.total.is_integer():
                self.total += done
            else:
                for value in np.ones(done) if w is None else w[:done]:  # in row order: cuts change no bit
                    self.total += float(value)
        return done

    def _append_dense(self, rows: Rows, weight: Array | None, threads: int) -> int:
        """Up to where the memory ends; codes look at a tile's begin, as only escapes before it may decide."""
        X, done = rows.to_array(), 0
        if len(X) and self.total == 0 and self.n == 0:
            self.shift = X[0, self.columns].astype(np.float64)
        while done < len(X):
            row = self.n + done
            rest = self.capacity - row
            if self.layout == "codes" and (row % self.tile_rows or rest > 0):
                rest = self.tile_rows - row % self.tile_rows
            stop = done + min(len(X) - done, rest)
            if stop <= done:
                break
            self._append_tiles(X[done:stop], None if weight is None else weight[done:stop], row, threads)
            done = stop
        return done

    def _append_tiles(self, X: Array, weight: Array | None, first: int, threads: int) -> None:
        """Rows from `first` on."""
        if not self.width:  # rows have no features yet
            return
        tiles = -(-(first + len(X)) // self.tile_rows)
        unit = self.tile_rows * self.width * self.cell_bytes
        self.cells = grown(self.cells, tiles, unit, self.memory // unit)
        threads = threads if len(X) * self.width > 1 << 19 else 1  # a thread takes a while to start
        common = (X, self.columns, self.shift, self.sum, self.square, self.low, self.high, weight)
        if self.layout == "tiles":
            _core.sieve_append(*common, self.cells.view(np.float32), self.tile_rows, first, threads)
            return
        new = _core.sieve_append_codes(
            *common, self.cells.view(np.int8), self.tile_rows, first, self.offset, self.unit, threads
        )
        if len(new[0]):
            escapes = [np.concatenate(pair) for pair in zip(self._escapes(), new)]
            tile, row, column, _ = escapes
            begin = np.searchsorted(tile, tile[-1])
            order = np.lexsort((column[begin:], row[begin:])) + begin  # however the tile was cut into calls
            for a in escapes:
                a[begin:] = a[order]
            self._set_escapes(escapes)

    def _append_csr(self, rows: Rows, weight: Array | None) -> int:
        rows = rows if rows.sparse else sparse_rows(rows)
        place = self._places()
        self.indptr = grown(self.indptr, self.n + len(rows) + 1)
        most = int(self.indptr[self.n]) + rows.n_values
        limit = self.memory // 8
        self.indices = grown(self.indices, min(most, limit), 1, limit)
        self.cells = grown(self.cells, min(most, limit), 4, limit)
        done = int(
            _core.sieve_append_csr(
                rows.kernel, place, self.sum, self.square, self.low, self.high, self.present, weight,
                self.indptr, self.n, self.indices, self.cells.view(np.float32), self.memory, self.row_cost,
            )
        )  # fmt: skip
        nnz = int(self.indptr[self.n + done])  # not all that came is kept
        self.indptr = shrunk(self.indptr, room_for(self.n + done + 1))
        self.indices = shrunk(self.indices, min(room_for(nnz), limit))
        self.cells = shrunk(self.cells, 4 * min(room_for(nnz), limit))
        return done

    def _places(self) -> Ints:
        """Where the features are among the columns; made anew only where these change, since it is O(p)."""
        columns, place = getattr(self, "_place", (None, self.columns))
        if columns is not self.columns or len(place) != self.p:
            place = places(self.p, self.columns)
            self._place = self.columns, place
        return place

    def mark(self, rows: Rows) -> Mark:
        """What `cut` needs to take back these rows and all that come after them; O(nnz) for sparse rows."""
        lengths = {name: len(getattr(self, name)) for name in (*_BY_ROW, "indices", *_ESCAPES)}
        at: Any = slice(None)
        sums = {name: getattr(self, name) for name in _BY_COLUMN}  # replaced, not changed, by wider rows
        if rows.p <= self.p:
            features = rows.features if self.layout == "csr" else None
            if features is not None and len(features) < self.width // 4:
                at = np.searchsorted(self.columns, features)
                at = at[self.columns[np.minimum(at, self.width - 1)] == features]
            sums = {name: getattr(self, name)[at].copy() for name in _CHANGED}
        return Mark(self.p, self.n, self.total, lengths, at, sums)

    def cut(self, mark: Mark) -> None:
        """Take back all rows since the mark; they have only been appended."""
        if self.p == mark.p:
            for name, value in mark.sums.items():
                getattr(self, name)[mark.at] = value
        else:
            for name, value in mark.sums.items():
                setattr(self, name, value)
        self.p, self.n, self.total = mark.p, mark.n, mark.total
        for name, length in mark.lengths.items():
            a = getattr(self, name)
            setattr(self, name, a[:length].copy() if name in _ESCAPES else shrunk(a, length))
        for name in ("y", "weight", "key"):
            getattr(self, name)[self.n :] = 0
        if self.layout == "csr":
            nnz = int(self.indptr[self.n])
            self.indptr[self.n + 1 :] = 0
            self.indices[nnz:] = 0
            self.cells[4 * nnz :] = 0
        else:
            unit = self.tile_rows * self.cell_bytes
            tiles = self.cells[: len(self.cells) // (self.width * unit) * self.width * unit]
            first, row = divmod(self.n, self.tile_rows)
            tiles = tiles.reshape(-1, self.width, unit)[first:]
            tiles[:1, :, row * self.cell_bytes :] = 0
            tiles[1:] = 0

    # ---------------------------------------------------------------- reading

    def view(self) -> Any:
        """What the kernels read; it shares the arrays."""
        if self.layout == "csr":
            return _core.sieve_csr(self.indptr, self.indices, self.cells.view(np.float32), self.n, self.width)
        if self.layout == "tiles":
            return _core.sieve_tiles(self.cells.view(np.float32), self.n, self.width, self.tile_rows)
        tile, row, column, value = self._escapes()
        start = np.searchsorted(tile, np.arange(-(-self.n // self.tile_rows) + 1)).astype(np.int64)
        return _core.sieve_codes(
            self.cells.view(np.int8), self.n, self.width, self.tile_rows, start, row, column, value
        )

    def moments(self, intercept: bool = True) -> tuple[Array, Array]:
        """Center of the columns minus `shift`, and the deviation from it; 0 for a constant column.

        The center is the mean; without an intercept it is where the columns themselves are zero.
        """
        mean = self.sum / max(self.total, 1e-300)
        mean_square = self.square / max(self.total, 1e-300)
        variance = mean_square - mean**2
        variance = np.where(variance > 1e-12 * mean_square, variance, 0.0)
        if intercept:
            return mean, np.sqrt(variance)
        return -self.shift, np.sqrt(variance + (mean + self.shift) ** 2)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(a.nbytes for a in self.fields().values() if isinstance(a, np.ndarray))

    def free(self) -> int:
        """Bytes of the memory that are not in use."""
        return max(self.memory - self.nbytes, 0)

    def bytes_with(self, more: int) -> int:
        """Bytes that the values take with so many more columns, which sparse rows do not have yet."""
        if self.layout == "csr":
            return 0
        return -(-self.n // self.tile_rows) * self.tile_rows * (self.width + more) * self.cell_bytes

    def values(self) -> int:
        """Stored numbers."""
        return int(self.indptr[self.n]) if self.layout == "csr" else self.n * self.width

    def decode(self, first: int, last: int, columns: Ints) -> Array:
        """Rows first ... last - 1 of the columns at these places, minus `shift`."""
        out = np.empty((last - first, len(columns)))
        if out.size:
            _core.sieve_decode(self.view(), first, places(self.width, columns), out)
        if self.layout == "codes":
            out *= np.where(self.unit > 0, self.unit, 1.0)[columns]
            out += self.offset[columns]
        return out

    def blocks(self, columns: Ints) -> Iterator[tuple[slice, Array]]:
        """All rows held, some at a time, of the columns at these places, minus `shift`."""
        step = max(64, BLOCK_BYTES // (8 * max(len(columns), 1)))
        for at in range(0, self.n, step):
            rows = slice(at, min(at + step, self.n))
            yield rows, self.decode(rows.start, rows.stop, columns)

    def by_columns(self, columns: Ints) -> Iterator[tuple[slice, Array]]:
        """The columns at these places, minus `shift`, some at a time: (columns, n). Tiles are nearly so."""
        step, tiles = max(1, BLOCK_BYTES // (8 * max(self.n, 1))), -(-self.n // self.tile_rows)
        cells = self.cells.view(np.float32) if self.layout == "tiles" else np.empty(0)
        for at in range(0, len(columns), step):
            some = slice(at, min(at + step, len(columns)))
            if self.layout == "tiles":
                in_tiles = cells[: tiles * self.width * self.tile_rows].reshape(tiles, self.width, -1)
                here, m = columns[some], some.stop - at
                run = here[-1] - here[0] == m - 1  # a slice is not copied before it is converted
                picked = in_tiles[:, here[0] : here[0] + m] if run else in_tiles[:, here]
                yield some, picked.swapaxes(0, 1).astype(np.float64, order="C").reshape(m, -1)[:, : self.n]
            else:
                yield some, self.decode(0, self.n, columns[some]).T

    def project(self, left: Array, columns: Ints) -> Array:
        """The product of `left` (m, n) with the rows held, of the columns at these places, minus `shift`."""
        if self.layout != "csr":
            out = np.empty((len(left), len(columns)))
            for some, X in self.by_columns(columns):
                out[:, some] = left @ X.T
            return out
        from scipy.sparse import csr_array

        nnz = int(self.indptr[self.n])
        entries = self.cells.view(np.float32)[:nnz], self.indices[:nnz], self.indptr[: self.n + 1]
        matrix = csr_array(entries, shape=(self.n, self.width))
        return np.asarray((matrix.T @ left.T).T[:, columns])

    def limits(self, rows: int) -> tuple[Array, Array]:
        """The least and the largest value of each column in all `rows` rows that came."""
        low, high = self.low, self.high
        if self.layout == "csr":
            zero = np.where(self.present < rows, 0.0, np.nan)  # some rows lack the column
            low, high = np.fmin(low, zero), np.fmax(high, zero)
        return low + self.shift, high + self.shift

    def outlier(self, rows: int, p: int) -> Outlier | None:
        """A value of the rows held that outweighs all others of its column, one of p; `rows` rows came.

        O(p); values are read only of columns whose largest squared distance from the mean is much of the sum.
        """
        if self.n < ENOUGH:
            return None
        mean, deviation = self.moments()
        low, high = self.limits(rows)
        far = np.maximum(high - self.shift - mean, mean + self.shift - low)
        largest = float(self.weight[: self.n].max()) * far**2
        suspect = (deviation > 0) & (largest > SUSPECT * self.total * deviation**2)
        some = np.flatnonzero(suspect).astype(np.int32)
        if self.layout == "csr":
            some = some[self.present[some] > ENOUGH]
        for part, X in self.by_columns(some):
            at = some[part]
            found = find_outlier(
                Rows(np.ascontiguousarray(X.T)), mean[at], self.total * deviation[at] ** 2, p
            )
            if found is not None:
                at = at[found.feature]
                return Outlier(int(self.columns[at]), found.value + float(self.shift[at]))
        return None

    # ---------------------------------------------------------------- making room

    def recode(self) -> None:
        """From float32 to 8 bits: four times the rows."""
        mean, deviation = self.moments()
        unit = RANGE * deviation / LARGEST_CODE
        self.offset, self.unit = mean, np.where(unit > 1e-37, unit, 0.0)  # 1 / unit is a float32
        self._set_escapes(
            _core.sieve_recode(self.cells, self.n, self.width, self.tile_rows, self.offset, self.unit)
        )
        self.layout = "codes"
        used = -(-self.n // self.tile_rows) * self.tile_rows * self.width
        self.cells = shrunk(self.cells, used)

    def narrow(self, kept: Ints) -> None:
        """Only the columns at the places `kept` (increasing) stay."""
        place = places(self.width, kept)
        if self.layout == "csr":
            nnz = _core.sieve_select_csr(
                self.view(), place, self.indptr, self.indices, self.cells.view(np.float32)
            )
            self.indices = shrunk(self.indices, nnz)
            self.cells = shrunk(self.cells, 4 * nnz)
        else:
            tiles = -(-self.n // self.tile_rows)
            _core.sieve_narrow(self.cells, tiles, self.width, self.tile_rows, self.cell_bytes, kept)
            self.cells = shrunk(self.cells, tiles * self.tile_rows * self.cell_bytes * len(kept))
            stays = place[self.escape_column] >= 0
            self._set_escapes([a[stays] for a in self._escapes()])
            self.escape_column = place[self.escape_column]
        for name in _BY_COLUMN:
            setattr(self, name, getattr(self, name)[kept])

    def clear(self) -> None:
        """Forget the rows, not their sums."""
        self.n = 0
        self.indptr[:] = 0
        self._set_escapes([a[:0] for a in self._escapes()])

    def widen(self, p: int) -> None:
        """Columns up to p may come, or, given back before any came, no more do.

        Features that have left do not come back.
        """
        old, new = self.columns, np.arange(self.p, p, dtype=np.int32)
        self.p = p
        if not len(new):
            if old.size and old[-1] >= p:
                self.narrow(np.flatnonzero(old < p).astype(np.int32))
            return
        if self.layout != "csr" and self.n:
            self._widen_tiles(len(new))
        self.columns = np.concatenate([old, new])
        for name, fill in _NEW_COLUMN.items():
            a = getattr(self, name)
            setattr(self, name, np.concatenate([a, np.full(len(new), fill, dtype=a.dtype)]))

    def _widen_tiles(self, more: int) -> None:
        tiles, column = -(-self.n // self.tile_rows), self.tile_rows * self.cell_bytes
        before, after = self.width * column, (self.width + more) * column
        self.cells = grown(self.cells, tiles, after)
        for t in reversed(range(tiles)):
            self.cells[t * after : t * after + before] = self.cells[t * before : (t + 1) * before].copy()
            self.cells[t * after + before : (t + 1) * after] = 0

    def _escapes(self) -> list[NDArray[Any]]:
        return [self.escape_tile, self.escape_row, self.escape_column, self.escape_value]

    def _set_escapes(self, escapes: Any) -> None:
        self.escape_tile, self.escape_row, self.escape_column, self.escape_value = escapes

    def check(self, targets: int, memory: int) -> None:
        """Raise ValueError where a kernel could not follow the arrays, as those of a damaged file."""
        self.verify(Store.of(0, targets, 1, 1 << 20, False))
        w, n = self.width, self.n
        counts = (self.p, n, self.row_cost, self.memory)
        if self.layout not in ("tiles", "codes", "csr") or min(counts) < 0 or self.memory > memory:
            raise ValueError(f"{n} rows of {self.p} features are stored as {self.layout!r}.")
        finite = (self.shift, self.sum, self.square, self.offset, self.unit, self.y, self.weight)
        if not all(np.isfinite(a).all() for a in (*finite, self.escape_value, self.total)) or self.total < 0:
            raise ValueError("the stored rows are not finite.")
        if self.row_cost < 1 or self.weight.min(initial=0) < 0 or np.isnan([self.low, self.high]).any():
            raise ValueError("the stored rows have weights below 0, or limits that are not numbers.")
        ok = all(len(getattr(self, a)) == w for a in _NEW_COLUMN)
        ok = ok and (w == 0 or (self.columns[0] >= 0 and self.columns[-1] < self.p))
        ok = (
            ok
            and bool((np.diff(self.columns) > 0).all())
            and min(len(self.y), len(self.weight), len(self.key)) >= n
        )
        if self.layout == "csr":
            pointers = self.indptr[: n + 1]
            ok = ok and len(self.indptr) > n and bool((np.diff(pointers) >= 0).all()) and pointers[0] == 0
            end = int(pointers[-1]) if ok else 0
            used = self.indices[:end]
            ok = ok and min(len(self.indices), len(self.cells) // 4) >= end
            ok = ok and (end == 0 or (used.min() >= 0 and used.max() < w))
        else:
            tiles = -(-n // self.tile_rows)
            ok = ok and self.tile_rows in (16, 32, 64, 128)
            ok = ok and len(self.cells) >= tiles * self.tile_rows * w * self.cell_bytes
            tile, row, column, value = self._escapes()
            ok = ok and len(tile) == len(row) == len(column) == len(value)
            ok = ok and (
                len(tile) == 0
                or bool(
                    (np.diff(tile) >= 0).all()
                    and tile[0] >= 0
                    and tile[-1] < tiles
                    and row.max() < self.tile_rows
                    and column.min() >= 0
                    and column.max() < w
                )
            )
        if not ok:
            raise ValueError("the stored rows are damaged.")


def places(width: int, columns: Ints) -> Ints:
    """Where each of `width` columns is in `columns`, -1 if nowhere."""
    place = np.full(width, -1, dtype=np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    return place


def sparse_rows(rows: Rows) -> Rows:
    """Dense rows as CSR."""
    X = rows.to_array()
    i, j = np.nonzero(X)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=len(X)))])
    return Rows(p=rows.p, csr=(indptr.astype(np.int64), j.astype(np.int64), X[i, j]))


def room_for(need: int) -> int:
    """Length of an array that holds `need` units: more, so that it rarely grows."""
    room = 1
    while room < need:
        room = max(room + 1, int(room * GROWTH))
    return room


def grown(a: NDArray[Any], need: int, unit: int = 1, most: int = 1 << 62) -> NDArray[Any]:
    """The array, in place where it can be, with room for `need` units; the length depends on `need` alone."""
    room = max(need, min(room_for(need), most))
    if len(a) >= need * unit:
        return a
    if not a.flags.owndata or not len(a):
        b = np.zeros((room * unit, *a.shape[1:]), dtype=a.dtype)
        b[: len(a)] = a
        return b
    a.resize((room * unit, *a.shape[1:]), refcheck=False)  # large arrays are remapped, not copied
    return a


def shrunk(a: NDArray[Any], length: int) -> NDArray[Any]:
    """The array, in place where it can be, cut to a length."""
    if length >= len(a):
        return a
    if a.flags.owndata:
        a.resize((length, *a.shape[1:]), refcheck=False)
        return a
    return a[:length].copy()


class SieveUndo(Undo):
    """What a call changes: O(nnz) numbers and, before it makes room, the store as it is then.

    Rows are appended behind those there are, so that to undo it is to cut them off. Making room rewrites the
    store in place; a store of more than `EXTRA` bytes is not copied, since memory is bounded.
    """

    def __init__(self, state: State, rows: Rows) -> None:
        super().__init__(self._put_back, EXTRA, lambda: int(state.rows))
        self.state = state
        self.fields = {
            name: value.copy()
            if name in ("strata", "mean_sum", "mean_count") and value is not None
            else value
            for name, value in state.fields().items()
        }
        self.fields["_answer"] = getattr(state, "_answer", None)
        if state.first_pass is not None:  # its sums are added to in place
            self.fields["first_pass"] = state.first_pass.copy()
        self.mark = None if state.store is None else state.store.mark(rows)
        if self.mark is not None and rows.p > state.store.p and state.store.layout != "csr":
            self.keep_store()  # new columns move the tiles

    def _put_back(self) -> None:
        for name, value in self.fields.items():
            setattr(self.state, name, value)
        if self.mark is not None and not self.kept:
            self.state.store.cut(self.mark)

    def keep_store(self) -> None:
        """Before the store is rewritten: hold a copy, if it is small."""
        if self.mark is not None:
            self.keep(self.state.store.nbytes, self._copy_store)

    def _copy_store(self) -> Callable[[], None]:
        store = self.state.store.copy()

        def put_back() -> None:
            store.cut(self.mark)
            self.state.store = store

        return put_back
