"""Rows that wait until there are enough of them to go on with."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._input import FLOATS, as_scipy, check_rows
from .._light import Csr
from ._learner import Array, Core, same_shape


class Waiting:
    """Copies of rows as the kernels take them, with targets and weights."""

    def __init__(self) -> None:
        self.parts: list[tuple[Core, Array, Array | None]] = []
        self.n = 0

    def __copy__(self) -> Waiting:
        other = Waiting()
        other.parts, other.n = list(self.parts), self.n
        return other

    def put(self, rows: Core, y: Array, w: Array | None) -> None:
        if isinstance(rows, tuple):
            indptr, indices, data = rows
            at = slice(int(indptr[0]), int(indptr[-1]))
            rows = (indptr - indptr[0], indices[at].copy(), data[at].copy())
        else:
            rows = np.array(rows, order="C")
        self.parts.append((rows, y.copy(), None if w is None else w.copy()))
        self.n += len(y)

    def check(self, p: int, q: int, limit: float) -> None:
        """Refuse rows that came from a file and are none."""
        if self.n != sum(len(y) for _, y, _ in self.parts):
            raise ValueError("other rows wait than are counted.")
        for rows, y, w in self.parts:
            same_shape("targets that wait", y, (len(y), q))
            if w is not None:
                same_shape("weights that wait", w, (len(y),))
            if isinstance(rows, tuple):
                indptr, indices, data = rows
                held = as_scipy(Csr(data, indices, indptr, (len(y), p)))
                held.check_format()
                values = data
            else:
                held = values = rows
            check_rows(held, held.shape[1], nan_ok=False, names=None, limit=limit)
            if held.shape[0] != len(y) or held.shape[1] > p or values.dtype not in FLOATS:
                raise ValueError("rows that wait are not of the features learned.")

    def all(self) -> tuple[Core, Array, Array | None]:
        """All of them as one."""
        rows, ys, ws = zip(*self.parts)
        w = None
        if any(each is not None for each in ws):
            w = np.concatenate([np.ones(len(y)) if each is None else each for y, each in zip(ys, ws)])
        return _joined(list(rows)), np.concatenate(ys), w


def _joined(parts: list[Core]) -> Core:
    if len(parts) == 1:
        return parts[0]
    if not any(isinstance(part, tuple) for part in parts):
        return np.concatenate(parts)  # of float32 and float64, float64
    parts = [part if isinstance(part, tuple) else _csr(part) for part in parts]
    steps = [np.diff(part[0]) for part in parts]
    kind = np.result_type(*(part[1].dtype for part in parts))
    indptr = np.concatenate([[0], *steps]).cumsum().astype(kind)
    indices = np.concatenate([part[1] for part in parts]).astype(kind, copy=False)
    return indptr, indices, np.concatenate([part[2] for part in parts])


def _csr(X: Any) -> Core:
    rows = as_scipy(X)
    return rows.indptr, rows.indices, rows.data


def part_of(rows: Core, a: int, b: int) -> Core:
    """Rows a to b."""
    return (rows[0][a : b + 1], *rows[1:]) if isinstance(rows, tuple) else rows[a:b]
