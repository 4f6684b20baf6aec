"""Rows that wait until a block of them is multiplied at once: dense ones packed, sparse ones as they came."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..core.rows import Array, Rows, check_rows
from ..core.state import Field, State

BLOCK = 1024  # rows a symmetric product takes at once: past this BLAS runs no faster
PARTS = 1 << 13  # calls whose sparse rows wait at most


class DenseBuffer(State):
    """Rows sqrt(r) (x - c, y - c_y, 1), packed as a BLAS product takes them; at most `block`."""

    rows: Any
    block: int
    _room: Any = None  # memory for a whole block, of which `rows` is the beginning

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
        """The row up to which rows make one part: several entries for every feature."""
        entries = min(max(64 * rows.p, 1 << 16), 1 << 21)
        end = int(np.searchsorted(rows.indptr, rows.indptr[start] + entries))
        return min(max(start + 1, end), start + (1 << 16))

    def add(self, rows: Rows, y: Array, r: Array) -> bool:
        """Add rows that nobody else will change; whether there are now enough to be multiplied."""
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
        """Raise ValueError for parts from a file that do not fit together."""
        if not len(self.rows) == len(self.targets) == len(self.weights):
            raise ValueError("rows that wait have no targets or weights.")
        for rows, y, r in zip(self.rows, self.targets, self.weights):
            shapes = (getattr(y, "shape", None), getattr(r, "shape", None))
            if not isinstance(rows, Rows) or not rows.sparse or rows.p > p:
                raise ValueError(f"rows that wait are not sparse rows of at most {p} columns.")
            if shapes != ((len(rows), q), (len(rows),)) or not y.dtype == r.dtype == np.float64:
                raise ValueError("rows that wait have targets or weights of other rows.")
            check_rows(rows)
        if sum(rows.n_values for rows in self.rows) != self.n_values:
            raise ValueError(f"{self.n_values} is not the number of values that wait.")
