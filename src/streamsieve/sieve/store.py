"""The rows so far, restricted to the surviving columns, in bounded memory.

Three layouts. `tiles`: float32 minus the first row, in tiles of up to 128 rows, each column by column. `codes`:
the same tiles of 8-bit codes, with a list of the values that no code holds. `csr`: sparse rows. All live in
memory that is reserved once; columns leave in place.

Rows are appended one by one, and whether one more fits depends on the rows before it alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

MOST_ROWS = 128  # of a tile
CODES = 127  # an 8-bit code is in -127 ... 127
RANGE = 5.0  # deviations from the mean that codes reach


class Store:
    """Rows in at most `memory` bytes.

    Parameters
    ----------
    p : int
        Width of the rows that come.
    targets : int
        Numbers in a row of `y`.
    outputs : int
        Margins of a row: working memory of the solver, counted here.
    memory : int
        Bytes.
    sparse : bool
        CSR or tiles.

    Attributes
    ----------
    columns : int32 array (w,)
        Stored columns, increasing, by their index in the rows that come.
    n : int
        Rows held.
    total : float
        Weight of all rows that ever came, also of those no longer held.
    """

    def __init__(self, p: int, targets: int, outputs: int, memory: int, sparse: bool, columns: Any = None):
        self.p, self.memory = p, int(memory)
        self.layout = "csr" if sparse else "tiles"
        self.columns: Ints = (
            np.arange(p, dtype=np.int32) if columns is None else np.asarray(columns, dtype=np.int32)
        )
        w = len(self.columns)
        self.row_cost = 8 * targets + 4 * outputs + 8 * (2 if sparse else 1) + 9
        self.tile_rows = MOST_ROWS
        while self.tile_rows > 16 and 4 * w * self.tile_rows > self.memory // 8:
            self.tile_rows //= 2
        self.n, self.total = 0, 0.0
        self.shift: Array | None = np.zeros(w) if sparse else None
        self.sum, self.square = np.zeros(w), np.zeros(w)
        self.present = np.zeros(w if sparse else 0, dtype=np.int64)  # non-zeros, by column
        self.offset, self.unit = np.zeros(w), np.ones(w)
        self.escapes: list[NDArray[Any]] = _no_escapes()
        self.y = np.empty((0, targets))
        self.weight = np.empty(0, dtype=np.float32)
        self.fold = np.empty(0, dtype=np.uint8)
        self.buffer: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self.indptr = np.zeros(1, dtype=np.int64)

    @property
    def width(self) -> int:
        return len(self.columns)

    @property
    def capacity(self) -> int:
        """Rows that tiles hold."""
        per_row = self.width * (4 if self.layout == "tiles" else 1) + self.row_cost
        spent = 17 * len(self.escapes[3])
        return int(max(self.memory - spent, 0) // (per_row * self.tile_rows)) * self.tile_rows

    def append(self, rows: Any, y: Array, weight: Array | None, fold: NDArray[np.uint8]) -> int:
        """Append the first rows, as many as fit; how many these are."""
        if self.layout == "csr":
            done = self._append_csr(rows, y, weight)
        else:
            done = self._append_dense(rows, weight)
        if done:
            self._hold(done)
            self.y[self.n : self.n + done] = y[:done]
            self.weight[self.n : self.n + done] = 1 if weight is None else weight[:done]
            self.fold[self.n : self.n + done] = fold[:done]
            self.n += done
            if weight is None:
                self.total += done
            else:
                for value in weight[:done]:  # one by one: the cuts must not change a bit
                    self.total += float(value)
        return done

    def _append_dense(self, X: NDArray[Any], weight: Array | None) -> int:
        done = min(len(X), self.capacity - self.n)
        if done <= 0:
            return 0
        if self.shift is None:
            self.shift = X[0, self.columns].astype(np.float64)
        if not len(self.buffer):
            self.buffer = np.empty(self.memory, dtype=np.uint8)
        block, w = X[:done], None if weight is None else weight[:done]
        common = (block, self.columns, self.shift, self.sum, self.square, w)
        if self.layout == "tiles":
            _core.sieve_append(*common, self.buffer[: self.memory // 4 * 4].view(np.float32), self.tile_rows, self.n)
        else:
            new = _core.sieve_append_codes(
                *common, self.buffer.view(np.int8), self.tile_rows, self.n, self.offset, self.unit
            )
            self.escapes = [np.concatenate(pair) if len(pair[1]) else pair[0] for pair in zip(self.escapes, new)]
        return done

    def _append_csr(self, rows: Any, y: Array, weight: Array | None) -> int:
        if not len(self.buffer):
            self.buffer = np.empty(self.memory // 8 * 8, dtype=np.uint8)
        place = self.places(self.p, self.columns)
        if len(self.indptr) < self.n + len(y) + 1:
            self.indptr = _grown(self.indptr, self.n + len(y) + 1)
        indices, data = self._csr_arrays()
        return int(
            _core.sieve_append_csr(
                rows, 0, place, self.sum, self.square, self.present, weight, self.indptr, self.n,
                indices, data, self.memory, self.row_cost,
            )
        )  # fmt: skip

    def _hold(self, more: int) -> None:
        need = self.n + more
        if len(self.weight) < need:
            self.y, self.weight, self.fold = (_grown(a, need) for a in (self.y, self.weight, self.fold))

    def _csr_arrays(self) -> tuple[Ints, NDArray[np.float32]]:
        half = len(self.buffer) // 2
        return self.buffer[:half].view(np.int32), self.buffer[half:].view(np.float32)

    @staticmethod
    def places(width: int, columns: Ints) -> Ints:
        """Where each of `width` columns is in `columns`, -1 if nowhere."""
        place = np.full(width, -1, dtype=np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        return place

    def view(self) -> Any:
        """What the kernels read."""
        if self.layout == "csr":
            return _core.sieve_csr(self.indptr, *self._csr_arrays(), self.n, self.width)
        if self.layout == "tiles":
            floats = self.buffer[: len(self.buffer) // 4 * 4].view(np.float32)
            return _core.sieve_tiles(floats, self.n, self.width, self.tile_rows)
        tile, row, column, value = self.escapes
        start = np.searchsorted(tile, np.arange(-(-self.n // self.tile_rows) + 1)).astype(np.int64)
        return _core.sieve_codes(
            self.buffer.view(np.int8), self.n, self.width, self.tile_rows, start, row, column, value
        )

    def moments(self) -> tuple[Array, Array]:
        """Mean and standard deviation of the stored columns minus `shift`; 0 for a constant one."""
        mean = self.sum / max(self.total, 1e-300)
        mean_square = self.square / max(self.total, 1e-300)
        variance = mean_square - mean**2
        return mean, np.sqrt(np.where(variance > 1e-12 * mean_square, variance, 0.0))

    def values(self) -> int:
        """Stored numbers."""
        return int(self.indptr[self.n]) if self.layout == "csr" else self.n * self.width

    def recode(self) -> None:
        """From float32 to 8 bits: four times the rows."""
        assert self.layout == "tiles"
        mean, deviation = self.moments()
        self.offset, self.unit = mean, RANGE * deviation / CODES
        self.escapes = list(
            _core.sieve_recode(self.buffer, self.n, self.width, self.tile_rows, self.offset, self.unit)
        )
        order = np.argsort(self.escapes[0], kind="stable")
        self.escapes = [a[order] for a in self.escapes]
        self.layout = "codes"

    def narrow(self, kept: Ints) -> None:
        """Only the stored columns `kept` (increasing) stay."""
        place = self.places(self.width, kept)
        if self.layout == "csr":
            arrays = self._csr_arrays()
            _core.sieve_select_csr(self.view(), place, self.indptr, *arrays)
            self.present = self.present[kept]
        else:
            size = 4 if self.layout == "tiles" else 1
            tiles = -(-self.n // self.tile_rows)
            _core.sieve_narrow(self.buffer, tiles, self.width, self.tile_rows, size, kept)
            stays = place[self.escapes[2]] >= 0
            self.escapes = [a[stays] for a in self.escapes]
            self.escapes[2] = place[self.escapes[2]]
        assert self.shift is not None
        self.columns = self.columns[kept]
        self.shift, self.sum, self.square = self.shift[kept], self.sum[kept], self.square[kept]
        self.offset, self.unit = self.offset[kept], self.unit[kept]

    def clear(self) -> None:
        """Forget the rows, not their sums."""
        self.n = 0
        self.indptr[:] = 0
        self.escapes = _no_escapes()

    def decode(self, first: int, last: int, active: Ints) -> Array:
        """Rows first ... last - 1 of the active columns, minus `shift`."""
        out = np.empty((last - first, len(active)))
        if out.size:
            _core.sieve_decode(self.view(), first, self.places(self.width, active), out)
        if self.layout == "codes":
            unit = self.unit[active]
            out *= np.where(unit > 0, unit, 1.0)
            out += self.offset[active]
        return out


def _no_escapes() -> list[NDArray[Any]]:
    return [np.empty(0, dtype=t) for t in (np.int64, np.uint8, np.int32, np.float32)]


def _grown(array: NDArray[Any], need: int) -> NDArray[Any]:
    grown = np.zeros((max(need, 2 * len(array), 256), *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
