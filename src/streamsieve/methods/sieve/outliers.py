"""A value that outweighs all others of its column, found by the limits and sums that a store keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.outliers import ENOUGH, SUSPECT, Outlier, find_outlier, warn_of_outlier
from ...core.rows import Rows

if TYPE_CHECKING:
    from .sieve import Sieve


def check_columns(sieve: Sieve) -> None:
    """Warn, once, of a value among the rows held that outweighs all others of its column.

    O(p); values are read only of columns whose largest squared distance from the mean is much of the sum.
    """
    s, store = sieve.state, sieve.state.store
    if getattr(s, "_warned", False) or store.n < ENOUGH:
        return
    mean, deviation = store.moments()
    low, high = store.limits(s.rows)
    far = np.maximum(high - store.shift - mean, mean + store.shift - low)
    largest = float(store.weight[: store.n].max()) * far**2
    some = np.flatnonzero((deviation > 0) & (largest > SUSPECT * store.total * deviation**2)).astype(np.int32)
    if store.layout == "csr":
        some = some[store.present[some] > ENOUGH]
    for part, X in store.by_columns(some):
        at = some[part]
        rows = Rows(np.ascontiguousarray(X.T))
        found = find_outlier(rows, mean[at], store.total * deviation[at] ** 2, sieve.p)
        if found is not None:
            at = at[found.feature]
            s._warned = True
            warn_of_outlier(sieve, Outlier(int(store.columns[at]), found.value + float(store.shift[at])))
            return
