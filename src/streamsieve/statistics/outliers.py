"""Values that outweigh all others of their column, found in the blocks that running averages multiply.

The sums of squares tell whether to look at a block: one value that outweighs all others changes that of its
column by much, as does every value of the first block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.outliers import OUTWEIGHS, Outlier, find_outlier, outlier_of
from ..core.rows import Array, Rows

JUMP = OUTWEIGHS / 2  # of the sums of squares; half, because they are about a centre, which is not the mean


class OutlierWatch:
    """Looks for the first value that outweighs all others of its column; not state, but a cache beside it."""

    def __init__(self) -> None:
        self.found: Outlier | None = None
        self.limit = np.empty(0)  # sums of squares above which the next block is looked at

    def _jumped(self, squares: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Which sums of squares the last block has changed by much; None if none of them."""
        if self.found is not None:
            return None
        if len(self.limit) != len(squares):
            self.limit = np.zeros(len(squares))
        jumped = squares > self.limit
        self.limit = JUMP * np.maximum(squares, 0.0)  # rounding may leave a constant column below 0
        return jumped if np.count_nonzero(jumped) else None

    def look(self, Z: NDArray[Any], center: Array, squares: NDArray[Any]) -> None:
        """At packed rows sqrt(r) (x - c, ..., 1), which are part of the sums of squares of the columns."""
        jumped = self._jumped(squares)
        if jumped is None:
            return
        all_squares = np.full(Z.shape[1], np.inf)
        all_squares[: len(squares)][jumped] = squares[jumped]
        found = find_outlier(Rows(Z), np.zeros(Z.shape[1]), all_squares, len(squares))
        if found is not None:
            j = found.feature
            values = Z[:, j].astype(np.float64) / Z[:, -1] + center[j]  # without weights
            self.found = outlier_of(j, values, len(squares))

    def look_at_sparse(self, rows: Rows, center: Array, squares: NDArray[Any]) -> None:
        """Likewise; after the first block, at features that earlier ones had."""
        seen = self.limit > 0
        jumped = self._jumped(squares)
        if jumped is not None and len(seen) == len(jumped) and seen.any():
            jumped &= seen
        if jumped is not None and jumped.any():
            p = rows.p
            self.found = find_outlier(rows, center[:p], np.where(jumped, squares, np.inf)[:p], len(squares))
