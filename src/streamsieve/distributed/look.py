"""A first pass over a source: a uniform sample of its rows, which determines the levels of shapes and
pairs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..core.method import Method
from ..core.rows import Array, Rows
from ..core.state import State, optional, zeros
from ..methods.effects.effects import Effects
from ..methods.effects.levels import Hashes, cut_points, first_row, row_hashes
from .kept import moved


class FirstLook(Method):
    """The rows with the smallest hashes, as many as the edges need; samples merge exactly, in any order.

    Parameters
    ----------
    method : Effects
        The method whose edges are determined.
    """

    grow = merges = True
    limit, weight_limit = Effects.limit, Effects.weight_limit

    def __init__(self, method: Effects) -> None:
        self.method = method
        self.p = self.q = 0
        self.state: Any = None

    @property
    def nan_ok(self) -> bool:
        return self.method.nan_ok

    @property
    def values(self) -> dict[str, Any]:
        return self.method.values

    def begin(self, p: int, q: int) -> Self:
        self.p, self.q = p, q
        self.state = State(rows=0, shard=0, X=optional(), hash=zeros(slot=0, dtype=np.uint64))
        return self

    def resize(self, p: int) -> None:
        self.p = max(p, self.p)

    def update(self, rows: Rows, y: Array, w: Array | None = None) -> None:  # noqa: ARG002
        """Sample the next rows."""
        s = self.state
        self.resize(rows.p)
        if not s.rows:
            s.shard = first_row(rows[:1].to_array().astype(np.float64), y[:1])
        self._add(rows, row_hashes(s.shard, s.rows, len(rows)))
        s.rows += len(rows)

    def _add(self, X: Rows, hashes: Hashes) -> None:
        s = self.state
        if s.X is not None:
            X, hashes = Rows.concat([s.X, X]), np.concatenate([s.hash, hashes])
        best = np.argsort(hashes, kind="stable")[: self.method.first_rows(self.p)]
        s.X, s.hash = X.take(best), hashes[best]

    def merge(
        self,
        other: FirstLook,
        where: Any = None,
        p: int | None = None,
        *,
        follows: bool = False,  # noqa: ARG002
    ) -> None:
        """Add the sample of another part; its feature j becomes feature `where[j]` of p (None: j)."""
        p = max(self.p, other.p) if p is None else p
        self.resize(p)
        if other.state.X is not None:
            X = other.state.X if where is None else moved(other.state.X, where, p)
            self._add(X, other.state.hash)
        self.state.rows += other.state.rows

    def edges(self) -> Array:
        """The levels determined by these rows."""
        return cut_points(self.state.X, self.p)

    def __copy__(self) -> FirstLook:
        other = FirstLook(self.method)
        other.p, other.q = self.p, self.q
        other.state = None if self.state is None else State(**self.state.fields())  # nothing changes in place
        return other
