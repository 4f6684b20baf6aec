"""Rows on their way from a reader to a block: pieces that are cut, picked and joined."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Csr(NamedTuple):
    """Arrays of a CSR matrix without its width, which is known only when a block is made."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]


class Rows(NamedTuple):
    X: NDArray[np.float64] | Csr
    y: NDArray[Any] | None
    weight: NDArray[np.float64] | None

    @property
    def n(self) -> int:
        return len(self.X.indptr) - 1 if isinstance(self.X, Csr) else len(self.X)

    @property
    def values(self) -> int:
        return int(self.X.indptr[-1] - self.X.indptr[0]) if isinstance(self.X, Csr) else self.X.size

    def cut(self, start: int, stop: int) -> Rows:
        if (start, stop) == (0, self.n):
            return self
        X = (
            Csr(self.X.indptr[start : stop + 1], *self.X[1:])
            if isinstance(self.X, Csr)
            else self.X[start:stop]
        )
        return Rows(X, *(None if a is None else a[start:stop] for a in self[1:]))

    def pick(self, at: NDArray[np.int64]) -> Rows:
        if not isinstance(self.X, Csr):
            X: NDArray[np.float64] | Csr = self.X[at]
        else:
            from scipy.sparse import csr_array

            whole = tight(self.X)
            width = int(whole.indices.max(initial=-1)) + 1
            picked = csr_array((whole.data, whole.indices, whole.indptr), shape=(self.n, width))[at]
            X = Csr(picked.indptr, picked.indices, picked.data)
        return Rows(X, *(None if a is None else a[at] for a in self[1:]))


def tight(X: Csr) -> Csr:
    """The same rows with an indptr that starts at 0 and arrays that end with the last row."""
    start, stop = X.indptr[0], X.indptr[-1]
    return Csr(X.indptr - start if start else X.indptr, X.indices[start:stop], X.data[start:stop])


def join(pieces: list[Rows]) -> Rows:
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0].X, Csr):
        parts = [tight(piece.X) for piece in pieces if isinstance(piece.X, Csr)]
        ends = np.cumsum([0] + [part.indptr[-1] for part in parts])
        indptr = np.concatenate(
            [parts[0].indptr[:1]] + [p.indptr[1:] + np.int32(e) for p, e in zip(parts, ends)]
        )
        X: NDArray[np.float64] | Csr = Csr(
            indptr, np.concatenate([p.indices for p in parts]), np.concatenate([p.data for p in parts])
        )
    else:
        X = np.concatenate([piece.X for piece in pieces])
    others = (
        None if each[0] is None else np.concatenate(each) for each in zip(*(piece[1:] for piece in pieces))
    )
    return Rows(X, *others)


class Queue:
    """Rows that wait: pushed in pieces, pulled in any number."""

    def __init__(self) -> None:
        self._pieces: deque[Rows] = deque()
        self.n = 0
        self.values = 0

    def push(self, rows: Rows) -> None:
        if rows.n:
            self._pieces.append(rows)
            self.n += rows.n
            self.values += rows.values

    def pull(self, n: int, values: int) -> Rows:
        """The next n rows, or as many of them as hold at most so many values, but at least one."""
        out: list[Rows] = []
        while n and self._pieces:
            piece = self._pieces.popleft()
            m = min(n, piece.n)
            if piece.values > values:
                X = piece.X
                if isinstance(X, Csr):
                    m = min(m, int(np.searchsorted(X.indptr, int(X.indptr[0]) + values, side="right")) - 1)
                else:
                    m = min(m, values // max(1, X.shape[1]))
                m = m if out else max(1, m)
            if m < piece.n:
                self._pieces.appendleft(piece.cut(m, piece.n))
            if m:
                out.append(piece.cut(0, m))
            if m < piece.n:
                break
            n -= m
            values -= piece.values
        rows = join(out)
        self.n -= rows.n
        self.values -= rows.values
        return rows
