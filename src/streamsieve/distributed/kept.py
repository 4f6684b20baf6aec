"""Rows of the candidates of a sieve, for losses without sufficient sums: partitions store them, and one sieve
reads all.

Workers parse rows, assign them to folds by their content and leave out columns that are not candidates. The
data they send are limited by the `memory` of the sieve: a partition with more rows sends only a notice.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .. import _core
from ..core.method import Method
from ..core.rows import Array, Rows, from_scipy
from ..core.state import State, check_array, optional
from ..methods.sieve.screen import row_bytes
from ..methods.sieve.sieve import Sieve, stored_sparse
from ..methods.sieve.store import Ints, Store


class KeptRows(Method):
    """The rows of a unit as a sieve stores them; learned by the same training loop as any method.

    Parameters
    ----------
    sieve : Sieve
        The sieve that will read the rows.
    chosen : array of int32, or None
        The candidates, increasing; None for all features.
    """

    grow = True
    limit, weight_limit, tiny = Sieve.limit, Sieve.weight_limit, 0.0

    def __init__(self, sieve: Sieve, chosen: Ints | None = None) -> None:
        self.sieve, self.chosen, self.missing = sieve, chosen, sieve.missing
        self.p = self.q = 0
        self.state: Any = None

    @property
    def values(self) -> dict[str, Any]:
        return self.sieve.values

    def begin(self, p: int, q: int) -> Self:
        self.p, self.q = p, q
        empty = {name: optional() for name in ("X", "y", "w", "key")}
        self.state = State(rows=0, values=0, sparse=False, full=False, **empty)
        return self

    def check_state(self) -> None:
        s = self.state
        if s.X is None:
            return
        if not isinstance(s.X, Rows) or s.X.p > self.p or len(s.X) > s.rows:
            raise ValueError(f"the rows do not have {self.p} features.")
        n = len(s.X)
        check_array("y", s.y, np.float64, (n, self.q))
        check_array("w", s.w, np.float64, (n,))
        check_array("key", s.key, np.uint32, (n,))

    def resize(self, p: int) -> None:
        self.p = max(p, self.p)

    def update(self, rows: Rows, y: Array, w: Array | None = None) -> None:
        """Store validated rows, while they fit into the memory of the sieve."""
        self.resize(rows.p)
        s, key = self.state, np.empty(len(rows), dtype=np.uint32)
        if not s.rows:
            s.sparse = stored_sparse(rows)
        for at, part in rows.in_row_order():
            s.values += _core.sieve_row_keys(part.kernel, key[at])
        weight = np.ones(len(rows)) if w is None else np.asarray(w, dtype=np.float64)
        kept = rows.copy()
        if self.chosen is not None:
            kept = _only(kept, self.chosen)
        s.rows += len(rows)
        self._append(kept, y, weight, key)

    def _append(self, X: Rows, y: Array, w: Array, key: Any) -> None:
        s = self.state
        if s.X is not None:
            X = Rows.concat([s.X, X])
            y, w, key = (np.concatenate(pair) for pair in ((s.y, y), (s.w, w), (s.key, key)))
        cells = (
            8 * X.n_values if s.sparse else 4 * len(X) * (X.p if self.chosen is None else len(self.chosen))
        )
        s.full = s.full or len(X) * row_bytes(y.shape[1], self.q) + cells > self.sieve.bytes
        s.X, s.y, s.w, s.key = (None,) * 4 if s.full else (X, y, w, key)

    def merge(
        self,
        other: KeptRows,
        where: Any = None,
        p: int | None = None,
        *,
        follows: bool = False,  # noqa: ARG002
    ) -> None:
        """Append the rows of the next units; their feature j becomes feature `where[j]` of p (None: j)."""
        mine, theirs = self.state, other.state
        p = max(self.p, other.p) if p is None else p
        self.resize(p)
        mine.sparse = mine.sparse if mine.rows else theirs.sparse
        mine.rows, mine.values, mine.full = (
            mine.rows + theirs.rows,
            mine.values + theirs.values,
            mine.full or theirs.full,
        )
        if theirs.X is None:
            mine.X = None if mine.full else mine.X
            return
        X = theirs.X if where is None else moved(theirs.X, where, p)
        self._append(X, theirs.y, theirs.w, theirs.key)

    def __copy__(self) -> KeptRows:
        other = KeptRows(self.sieve, self.chosen)
        other.p, other.q = self.p, self.q
        other.state = (
            None if self.state is None else State(**self.state.fields())
        )  # nothing is changed in place
        return other


def moved(X: Rows, where: Any, p: int) -> Rows:
    """Rows of p features whose feature j has become feature `where[j]`."""
    sparse = X.to_sparse().tight()
    X = Rows(p=p, csr=(sparse.indptr, where[sparse.indices].astype(np.int32), sparse.data))
    return from_scipy(X.to_scipy().sorted_indices())


def _only(rows: Rows, columns: Ints) -> Rows:
    """Sparse rows of the same width whose other columns are zero."""
    sparse = rows.to_sparse().tight()
    wanted = np.zeros(rows.p, dtype=bool)
    wanted[columns[columns < rows.p]] = True
    keep = wanted[sparse.indices]
    indptr = np.concatenate([[0], np.cumsum(keep)])[sparse.indptr].astype(np.int32)
    return Rows(p=rows.p, csr=(indptr, sparse.indices[keep].astype(np.int32), sparse.data[keep]))


def sieve_of_rows(kept: KeptRows) -> Sieve:
    """The sieve that has learned the rows, bit-for-bit as if it had read them in order."""
    s = kept.state
    made = Sieve(**kept.sieve.values).begin(kept.p, kept.q)
    made.state.chosen = kept.chosen
    if s.rows:
        targets = 1 if made.labels else kept.q
        made.state.store = Store.of(kept.p, targets, kept.q, made.bytes, s.sparse, kept.chosen)
        X = s.X if s.X.p == kept.p or not s.X.sparse else s.X.with_width(kept.p)
        made.state.values = s.values
        made._append(X, s.y, s.w, s.key)
    return made
