"""Rows that are held until there are enough of them to learn a block."""

from __future__ import annotations

from typing import Any

import numpy as np

from .rows import FLOATS, Array, Rows, check_rows
from .state import State, optional


class RowBuffer(State):
    """Copies of rows with targets and weights. What it holds does not depend on how they came in calls.

    Rows of a call are kept as they come, and joined when somebody reads them: O(1) a row.
    """

    rows: Rows | None
    targets: Array | None
    weights: Array | None
    # of each call since the last time that all were joined; no part of the state once they are
    _parts: tuple[tuple[Rows, Array, Array | None], ...] | list[tuple[Rows, Array, Array | None]] = ()
    _n = 0  # rows of these

    def __init__(self) -> None:
        super().__init__(rows=optional(), targets=optional(), weights=optional())

    def __len__(self) -> int:
        return self._n + (0 if self.targets is None else len(self.targets))

    def append(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Hold copies of these rows too."""
        if not isinstance(self._parts, list):
            self._parts = []
        part = rows.copy(), y.copy(), None if w is None else w.copy()
        n = self._n + len(y)
        self._parts.append(part)
        self._n = n

    def clear(self) -> None:
        self.rows = self.targets = self.weights = None
        self._parts, self._n = (), 0

    def joined(self) -> tuple[Rows, Array, Array | None]:
        """All rows, targets and weights; at least one row is there."""
        held = list(self._parts)
        if self.rows is not None and self.targets is not None:
            held.insert(0, (self.rows, self.targets, self.weights))
        if len(held) > 1:
            rows, targets, weights = zip(*held)
            self.rows, self.targets, self.weights = Rows.concat(rows), np.concatenate(targets), None
            if any(w is not None for w in weights):
                parts = [np.ones(len(y)) if w is None else w for y, w in zip(targets, weights)]
                self.weights = np.concatenate(parts)
        else:
            self.rows, self.targets, self.weights = held[0]
        self._parts, self._n = (), 0
        return self.rows, self.targets, self.weights

    def fields(self) -> dict[str, Any]:
        if self._parts:
            self.joined()
        return super().fields()

    def resize(self, p: int) -> None:
        """Nothing: narrower rows are read as if the missing columns were zero."""

    def check(self, p: int, q: int, most: int, limit: float) -> None:
        """Raise ValueError for rows from a file that kernels could not read, or too many of them."""
        rows, targets, weights = self.rows, self.targets, self.weights
        if rows is None or targets is None:
            if rows is not None or targets is not None or weights is not None:
                raise ValueError("rows are held without targets, or the other way round.")
            return
        if not isinstance(rows, Rows) or rows.dtype not in FLOATS or rows.p > p:
            raise ValueError(f"rows that are held are not rows of {p} features.")
        arrays = (targets,) if weights is None else (targets, weights)
        if not all(isinstance(a, np.ndarray) for a in arrays):
            raise ValueError("the targets or weights of rows that are held are no arrays.")
        n = len(rows)
        if n >= most:
            raise ValueError(f"{n} rows are held, but {most} make a block.")
        if targets.dtype != np.float64 or targets.shape != (n, q) or not targets.flags.c_contiguous:
            raise ValueError(f"the targets of {n} rows that are held have shape {targets.shape}.")
        if weights is not None and (weights.dtype != np.float64 or weights.shape != (n,)):
            raise ValueError(f"the weights of {n} rows that are held have shape {weights.shape}.")
        check_rows(rows, limit=limit)
