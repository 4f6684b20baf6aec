"""`Rows`, a block of rows, and `as_rows`, which creates and validates it from the input of a user.

Rows are validated once, here; inside the library they are trusted. No function changes its input.
"""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
INDICES = (np.dtype(np.int32), np.dtype(np.int64))
Array = NDArray[np.float64]

_BLOCK = 1 << 17  # values of a column-ordered array that are copied to row order at a time
_MOST = 2**31 - 1  # entries and columns that the kernels' indices can count
MODERATE = 1e50  # magnitude up to which no product of a learner overflows


class ColumnMap:
    """A centre and a unit for each column, x -> (x - center) * inverse, which kernels apply as they read.

    `center` is None if no column is centred; `inverse` (of the units) is None if all units are 1. `centred`
    lists the columns whose centre is not 0, ascending.
    """

    __slots__ = ("center", "centred", "inverse", "is_identity", "kernel")

    def __init__(self, center: Array | None, inverse: Array | None = None, centred: Any = None) -> None:
        if centred is None:
            centred = np.flatnonzero(center) if center is not None else ()
        self.centred: NDArray[np.int32] = np.asarray(centred, dtype=np.int32)
        self.center = center if len(self.centred) else None
        self.inverse = inverse
        self.is_identity = self.center is None and inverse is None
        # what the compiled kernels read
        self.kernel = self.center, inverse, None if self.center is None else self.centred

    def narrowed(self, p: int) -> ColumnMap:
        """The map of the first p columns."""
        if not len(self.centred) or self.centred[-1] < p:
            return self
        return ColumnMap(self.center, self.inverse, self.centred[: np.searchsorted(self.centred, p)])

    def columns(self, at: NDArray[np.integer[Any]]) -> ColumnMap:
        """The map of some columns."""
        return ColumnMap(*(None if part is None else part[at] for part in (self.center, self.inverse)))

    def for_raw_rows(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Weights (q, p) and intercepts (q,) for rows without the map, from those for rows with it."""
        p = coef.shape[1]
        if self.inverse is not None:
            coef = coef * self.inverse[:p]
        return coef, intercept if self.center is None else intercept - coef @ self.center[:p]


class Rows:
    """n rows of p features: a 2-D float array of any strides, or CSR arrays with sorted, unique indices.

    `Rows(values)` or `Rows(p=p, csr=(indptr, indices, data))` do not check their input; `as_rows` does.
    `indptr` need not start at 0, so that a slice shares all arrays. No stored value exceeds `bound` in
    magnitude; it is infinite if the values were not checked. Rows with a `map` are centred and scaled: the
    stored values are unchanged, and kernels apply the map while reading.
    """

    __slots__ = ("bound", "data", "indices", "indptr", "map", "p", "values")

    def __init__(
        self,
        values: NDArray[Any] | None = None,
        *,
        p: int | None = None,
        csr: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None = None,
        bound: float = math.inf,
        map: ColumnMap | None = None,
    ) -> None:
        self.values = values
        self.bound = bound
        self.map = map
        self.indptr: Any
        self.indices: Any
        self.data: Any
        self.indptr, self.indices, self.data = csr if csr is not None else (None, None, None)
        self.p: int = values.shape[1] if values is not None else int(p or 0)

    @property
    def sparse(self) -> bool:
        return self.values is None

    def __len__(self) -> int:
        return len(self.values) if self.values is not None else len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.p

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype if self.values is None else self.values.dtype

    @property
    def n_values(self) -> int:
        """Number of stored values: all of a dense block, the entries of a sparse block."""
        if self.values is not None:
            return int(self.values.size)
        return int(self.indptr[-1] - self.indptr[0])

    def mostly_zero(self, at: NDArray[np.int64] | None = None) -> bool:
        """Whether more than half of the values are zero, in all rows or those `at`.

        Columns with only zeros are ignored, because rows may be wider than their content.
        """
        n = len(self) if at is None else len(at)
        counts = self.column_sums(at=at)[:, 0]
        return bool(2 * counts.sum() < n * np.count_nonzero(counts))

    def rows_within(self, n_values: int) -> int:
        """Number of first rows that have at most this number of values."""
        if self.values is not None:
            return n_values // max(1, self.p)
        return int(np.searchsorted(self.indptr, int(self.indptr[0]) + n_values, side="right")) - 1

    # ---------------------------------------------------------------- parts

    def __getitem__(self, rows: slice) -> Rows:
        """Consecutive rows, without a copy."""
        start, stop, _ = rows.indices(len(self))
        if start == 0 and stop == len(self):
            return self
        if self.values is not None:
            return Rows(self.values[rows], bound=self.bound, map=self.map)
        csr = self.indptr[start : max(start, stop) + 1], self.indices, self.data
        return Rows(p=self.p, csr=csr, bound=self.bound, map=self.map)

    def mapped(self, map: ColumnMap | None) -> Rows:
        """These rows with a map; O(1)."""
        if map is None or map.is_identity:
            return self
        assert self.map is None
        return self._share(map if self.values is not None else map.narrowed(self.p))

    def _share(self, map: ColumnMap | None, p: int | None = None) -> Rows:
        """The same arrays with another map, or another width of sparse rows."""
        csr = None if self.values is not None else (self.indptr, self.indices, self.data)
        return Rows(self.values, p=p or self.p, csr=csr, bound=self.bound, map=map)

    def take(self, at: NDArray[Any]) -> Rows:
        """The rows of a mask or of these indices, as a copy."""
        if self.values is not None:
            return Rows(self.values[at], bound=self.bound, map=self.map)
        at = np.flatnonzero(at) if at.dtype == bool else np.ascontiguousarray(at, dtype=np.int64)
        indptr = np.zeros(len(at) + 1, dtype=self.indptr.dtype)
        np.cumsum(self.indptr[at + 1] - self.indptr[at], out=indptr[1:])
        n = int(indptr[-1])
        csr = indptr, np.empty(n, dtype=self.indices.dtype), np.empty(n, dtype=self.data.dtype)
        _core.take_rows(self.indptr, self.indices, self.data, at, *csr)
        return Rows(p=self.p, csr=csr, bound=self.bound, map=self.map)

    def parts(self, at: NDArray[np.int64] | None = None, multiple: int = 1) -> Iterator[tuple[Any, Rows]]:
        """Places of some rows, and these as the kernels read them: all, or those `at`, in this order.

        Rows `at` are copied in bounded blocks of a multiple of this number of rows.
        """
        if at is None:
            yield from self.in_row_order()
            return
        step = max(1, _BLOCK * len(self) // max(1, multiple * self.n_values)) * multiple
        for start in range(0, len(at), step):
            part = at[start : start + step]
            rows = self.take(part)
            if rows.values is not None:
                rows.values = np.ascontiguousarray(rows.values)
            yield part, rows

    def columns(self, at: NDArray[np.integer[Any]]) -> Rows:
        """Some columns, in the order given, as a copy."""
        map = None if self.map is None else self.map.columns(at)
        if self.values is not None:
            return Rows(self.values[:, at]).mapped(map)
        if not (np.diff(at) > 0).all():
            return from_scipy(self._share(None).to_scipy()[:, at]).mapped(map)
        rows = self.tight()
        if self.p <= len(rows.indices):
            column = np.full(self.p, -1, dtype=rows.indices.dtype)
            column[at] = np.arange(len(at))
            column = column[rows.indices]
        else:  # no table as long as the rows are wide: two billion columns in a file of two kilobytes
            column = np.searchsorted(at, rows.indices).astype(rows.indices.dtype)
            column[np.append(at, -1)[column] != rows.indices] = -1
        kept = np.flatnonzero(column >= 0)
        indptr = np.searchsorted(kept, rows.indptr).astype(rows.indptr.dtype)
        return Rows(p=len(at), csr=(indptr, column[kept], rows.data[kept])).mapped(map)

    def tight(self) -> Rows:
        """The same rows with an `indptr` that starts at 0 and arrays that end with the last row."""
        if self.values is not None:
            return self
        a, b = int(self.indptr[0]), int(self.indptr[-1])
        indptr = self.indptr - self.indptr[0] if a else self.indptr
        csr = indptr, self.indices[a:b], self.data[a:b]
        return Rows(p=self.p, csr=csr, bound=self.bound, map=self.map)

    def copy(self) -> Rows:
        """A copy with the map applied to the values."""
        if self.map is not None:
            return self.materialized()
        if self.values is not None:
            return Rows(np.array(self.values, order="C"))
        rows = self.tight()
        return Rows(p=self.p, csr=(rows.indptr.copy(), rows.indices.copy(), rows.data.copy()))

    def materialized(self) -> Rows:
        """Rows without a map: these, or a copy with the map applied."""
        if self.map is None:
            return self
        if self.values is not None:
            out = np.empty(self.shape)
            for at, part in self.in_row_order():
                _core.read_dense(part.kernel, out[at])
            return Rows(out)
        n = self.n_values + len(self) * len(self.map.centred)
        csr = np.empty(len(self) + 1, np.int32), np.empty(n, np.int32), np.empty(n)
        _core.read_csr(self.kernel, *csr)
        return Rows(p=self.p, csr=csr).tight()

    def with_width(self, p: int) -> Rows:
        """Sparse rows with p columns; entries beyond them are left out."""
        if p >= self.p:
            return self._share(self.map, p)
        return self.columns(np.arange(p))

    @staticmethod
    def concat(parts: Sequence[Rows]) -> Rows:
        """All rows in one block: sparse if any of them is sparse, float64 if any of them is float64."""
        if len(parts) == 1:
            return parts[0]
        parts = [part.materialized() for part in parts]
        p = max(part.p for part in parts)
        if not any(part.sparse for part in parts):
            return Rows(np.concatenate([part.values for part in parts]))
        tight = [part.to_sparse().tight() for part in parts]
        kind = np.result_type(*(part.indices.dtype for part in tight))
        lengths = np.concatenate([[0], *(np.diff(part.indptr) for part in tight)])
        indices = np.concatenate([part.indices for part in tight]).astype(kind, copy=False)
        data = np.concatenate([part.data for part in tight])
        return Rows(p=p, csr=(lengths.cumsum().astype(kind), indices, data))

    # ---------------------------------------------------------------- what others read

    @property
    def kernel(self) -> Any:
        """Input of the compiled kernels: a 2-D array in row order, or CSR arrays with 32-bit indices.

        With a map, a pair of these and the arrays of the map.
        """
        plain = self.values if self.values is not None else self._narrow_csr()
        return plain if self.map is None else (plain, self.map.kernel)

    def _narrow_csr(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any]]:
        if self.indices.dtype == np.int32:
            return self.indptr, self.indices, self.data
        a, b = int(self.indptr[0]), int(self.indptr[-1])
        if max(b - a, self.p) > _MOST:
            raise ValueError(
                f"Sparse rows with {self.p} columns and {b - a} entries; at most {_MOST} of each can be read "
                "at a time: pass fewer rows per call, or hash the features to fewer columns."
            )
        return (self.indptr - a).astype(np.int32), self.indices[a:b].astype(np.int32), self.data[a:b]

    @property
    def in_one_part(self) -> bool:
        """Whether the kernels can read all rows at once."""
        X = self.values
        if X is None:
            return len(self.data) <= _MOST or self.n_values <= _MOST
        return self.p <= 1 or (X.strides[1] == X.itemsize and X.strides[0] % X.itemsize == 0)

    def largest(self) -> float:
        """The largest magnitude of a value, ignoring NaN; 0 if there are no values."""
        x = self.data[self.indptr[0] : self.indptr[-1]] if self.values is None else self.values
        return float(max(np.fmax.reduce(x, axis=None, initial=0), -np.fmin.reduce(x, axis=None, initial=0)))

    def within(self, limit: float) -> bool:
        """Whether no stored value exceeds a limit, ignoring NaN."""
        if self.bound <= limit:
            return True
        x = self.values if self.values is not None else self.data[None, self.indptr[0] : self.indptr[-1]]
        return bool(_core.first_bad(x, True, limit)[0] < 0)

    def count_far(self, center: Array, reach: Array) -> int:
        """Number of values that are further from the centre of their column than its reach."""
        return sum(_core.count_far(part.kernel, center, reach) for _, part in self.in_row_order())

    def without_far(self, center: Array, reach: Array) -> tuple[Rows, NDArray[np.int64]]:
        """Replace each value that is further from the centre of its column than its reach by the centre.

        Returns the rows (a copy if there are such values) and the column of each such value.
        """
        if not self.count_far(center, reach):
            return self, np.empty(0, dtype=np.int64)
        rows = self.copy()
        held = rows.values if rows.values is not None else rows.data
        at = np.arange(rows.p) if rows.values is not None else rows.indices
        far = np.abs(held - center[at]) > reach[at]
        columns = np.broadcast_to(at, held.shape)[far].astype(np.int64)
        held[far] = center[columns]
        return rows, columns

    def with_zeros(self, columns: NDArray[np.integer[Any]]) -> Rows:
        """Sparse rows with an entry in each of these columns; missing entries are added as zeros."""
        columns = columns[columns < self.p]
        stored = self.indices[self.indptr[0] : self.indptr[-1]]
        if not len(columns) or np.isin(stored, columns).sum() == len(self) * len(columns):
            return self
        X = self.to_scipy().tocoo()
        row, column = np.repeat(np.arange(len(self)), len(columns)), np.tile(columns, len(self))
        at = np.concatenate([X.row, row]), np.concatenate([X.col, column])
        data = np.concatenate([X.data, np.zeros(len(row), dtype=X.dtype)])
        return from_scipy(type(X)((data, at), shape=X.shape).tocsr())

    def in_row_order(self) -> Iterator[tuple[slice, Rows]]:
        """The rows for the kernels: all at once or, if stored in column order, copied block by block."""
        n, X = len(self), self.values
        if X is None and not self.in_one_part:
            at = 0
            while at < n:
                stop = int(np.searchsorted(self.indptr, int(self.indptr[at]) + _MOST, side="right")) - 1
                yield slice(at, max(at + 1, stop)), self[at : max(at + 1, stop)]
                at = max(at + 1, stop)
            return
        if X is None or self.in_one_part:
            yield slice(0, n), self
            return
        step = max(1, _BLOCK // self.p)
        for at in range(0, n, step):
            yield slice(at, min(n, at + step)), Rows(np.ascontiguousarray(X[at : at + step]), map=self.map)

    @property
    def features(self) -> NDArray[np.integer[Any]] | None:
        """Features that occur in sparse rows, with repeats; None if there are as many as all features."""
        if self.values is not None or self.n_values >= self.p:
            return None
        stored: NDArray[np.integer[Any]] = self.indices[self.indptr[0] : self.indptr[-1]]
        return stored if self.map is None else np.concatenate([stored, self.map.centred])

    def to_sparse(self) -> Rows:
        """Sparse rows: these, or a copy of dense rows without zeros. SciPy is not loaded."""
        if self.sparse:
            return self
        rows = self.materialized()
        X = rows.to_array()
        there = X != 0
        kind = np.int32 if X.size <= _MOST else np.int64
        indptr = np.zeros(len(X) + 1, dtype=kind)
        np.cumsum(np.count_nonzero(there, axis=1), out=indptr[1:])
        csr = indptr, np.nonzero(there)[1].astype(kind), X[there]
        return Rows(p=self.p, csr=csr, bound=rows.bound)

    def to_scipy(self) -> Any:
        """A `csr_array` that shares the arrays of sparse rows."""
        from scipy.sparse import csr_array

        if self.map is not None:
            return self.materialized().to_scipy()
        rows = self.to_sparse().tight()
        matrix = csr_array((rows.data, rows.indices, rows.indptr), shape=self.shape)
        matrix.has_canonical_format = True
        return matrix

    def matrix(self) -> Any:
        """The array of dense rows, or a `csr_array` of sparse rows; not a copy, unless they have a map."""
        return self.to_scipy() if self.sparse else self.to_array()

    def to_array(self) -> NDArray[Any]:
        if self.map is not None:
            return self.materialized().to_array()
        if self.values is not None:
            return self.values
        out = np.zeros(self.shape, dtype=self.dtype)
        rows = self.tight()
        out[np.repeat(np.arange(len(self)), np.diff(rows.indptr)), rows.indices] = rows.data
        return out

    def imputed(self, mean: Array) -> Rows:
        """The rows with NaN replaced by these means, as a copy; the rows themselves without NaN."""
        held = self.values if self.values is not None else self.data[self.indptr[0] : self.indptr[-1]]
        if not (gone := np.isnan(held)).any():
            return self
        if self.values is not None:
            return Rows(np.where(gone, mean[: self.p], self.values))
        rows = self.tight().copy()
        rows.data[gone] = mean[rows.indices[gone]]
        return rows

    def scores(self, weight: Array, bias: Array, scale: float = 1.0) -> Array:
        """scale W'x + b for weights (p, q), shape (n, q)."""
        if self.map is not None:
            coef, bias = self.map.for_raw_rows(scale * weight.T, bias)
            return self._share(None).scores(np.ascontiguousarray(coef.T), bias)
        out = np.empty((len(self), weight.shape[1]))
        for at, part in self.in_row_order():
            _core.margins(part.kernel, weight, scale, bias, out[at])
        return out

    def column_sums(
        self, w: Array | None = None, y: Array | None = None, at: NDArray[np.int64] | None = None
    ) -> Array:
        """For each column: non-zeros, sum w x, sum w x^2 and, for targets y (n, q), sum w x y: (p, 3 + q).

        Over all rows, or those `at`. Rows are never copied, for any layout and map.
        """
        y = np.empty((len(self), 0)) if y is None else y
        out = np.zeros((self.p, 3 + y.shape[1]))
        for part, rows in self.parts(at):
            _core.column_sums(rows.kernel, None if w is None else w[part], y[part], out)
        return out


def from_scipy(X: Any) -> Rows:
    """Rows of a canonical CSR matrix; the arrays are shared."""
    return Rows(p=X.shape[1], csr=(X.indptr, X.indices, X.data))


def threads(n_jobs: int = -1) -> int:
    """Threads that kernels may use; -1 for `OMP_NUM_THREADS`, or the processors of this process."""
    if n_jobs != -1:
        return n_jobs
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


# ---------------------------------------------------------------- from what a user holds


def as_rows(
    X: Any,
    *,
    names: Sequence[str] | None = None,
    nan_ok: bool = False,
    limit: float = math.inf,
) -> tuple[Rows, list[str] | None]:
    """Validated rows and, if X is a data frame, its column names; columns are selected by `names` if given.

    Values are finite (NaN may be allowed) and within `limit`; indices of sparse rows are sorted, unique and
    within the columns.
    """
    found = None
    if isinstance(X, Rows):
        rows = X
    elif type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS:
        rows = Rows(X)
    elif is_sparse(X):
        rows = _from_sparse(X)
    elif not isinstance(X, np.ndarray | list | tuple) and is_frame(X):
        values, found = _from_frame(X, names)
        rows = Rows(values)
    else:
        rows = Rows(_from_array(X))
    return check_rows(rows, names=found if names is None else names, nan_ok=nan_ok, limit=limit), found


def check_rows(
    rows: Rows, *, names: Sequence[str] | None = None, nan_ok: bool = False, limit: float = math.inf
) -> Rows:
    """The validated rows; unsorted or repeated indices are sorted and summed in a copy."""
    if rows.values is not None:
        bad, bound = _core.first_bad(rows.values, nan_ok, limit)
        if bad >= 0:
            row, column = divmod(bad, rows.p)
            _raise_bad_value(rows.values[row, column], row, column, names, limit)
        return Rows(rows.values, bound=bound)
    csr = rows.indptr, rows.indices, rows.data
    fault, at, bound = _core.check_csr(*csr, rows.p, nan_ok, limit, threads())
    if fault == 3 and _can_be_sorted(rows):
        X = rows.to_scipy().copy()
        X.has_canonical_format = False
        X.has_sorted_indices = False
        X.sum_duplicates()
        return check_rows(from_scipy(X), names=names, nan_ok=nan_ok, limit=limit)
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    if fault == 3:
        raise ValueError("X has unsorted indices, and indices or row pointers out of range: it is damaged.")
    if fault == 1:
        raise ValueError(f"X.indptr is not a valid row index at row {at}; the CSR matrix is damaged.")
    if fault == 2:
        raise ValueError(f"X.indices[{at}] = {indices[at]} is outside the {rows.p} columns of X.")
    if fault == 4:
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        _raise_bad_value(data[at], row, int(indices[at]), names, limit)
    # once, not for every kernel that reads a part of them
    narrow = max(rows.n_values, rows.p) <= _MOST
    return Rows(p=rows.p, csr=rows.kernel if narrow else csr, bound=bound)


def _can_be_sorted(rows: Rows) -> bool:
    """Whether all indices are valid; SciPy does not check them."""
    indptr, used = rows.indptr, rows.indices[rows.indptr[0] : rows.indptr[-1]]
    return bool((np.diff(indptr) >= 0).all()) and 0 <= int(used.min()) <= int(used.max()) < rows.p


def _raise_bad_value(value: Any, row: int, column: int, names: Sequence[str] | None, limit: float) -> None:
    where = f"column {column}" if names is None else f"column {names[column]!r}"
    advice = {
        "NaN": "drop or impute it first, or pass missing='mean' where it is offered",
        "infinity": "drop or fix this row",
    }.get(
        what := _describe(value), f"values must be within {limit:g}, so rescale the column or drop this row"
    )
    raise ValueError(f"Input X contains {what} at row {row}, {where}; {advice}.")


def _describe(value: Any) -> str:
    return "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"a value too large ({value:g})"


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix; does not load scipy."""
    scipy = sys.modules.get("scipy.sparse")
    return scipy is not None and bool(scipy.issparse(X))


def _from_sparse(X: Any) -> Rows:
    from scipy.sparse import csr_array

    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead; pass a CSR matrix.")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X is a complex sparse matrix; pass real numbers.")
    if X.format != "csr":
        _check_indices(X)
        X = csr_array(X)
    data = X.data if X.data.dtype in FLOATS else as_float64(X.data, "X")
    indptr, indices = X.indptr, X.indices
    if not (indptr.dtype.kind == indices.dtype.kind == "i" and len(indptr) == X.shape[0] + 1):
        raise ValueError(
            f"X.indptr and X.indices are {len(indptr)} numbers of dtype {indptr.dtype} and {len(indices)} of "
            f"{indices.dtype}, but X has {X.shape[0]} rows; the CSR matrix is damaged."
        )
    if indptr.dtype != indices.dtype or indices.dtype not in INDICES:
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    indptr, indices, data = (np.ascontiguousarray(a) for a in (indptr, indices, data))
    return Rows(p=X.shape[1], csr=(indptr, indices, data))


def _check_indices(X: Any) -> None:
    """Raise ValueError for a damaged matrix of another format: SciPy does not check indices in
    conversions."""
    try:
        if X.format == "coo":
            bad = any(len(at) and not 0 <= at.min() <= at.max() < n for at, n in zip(X.coords, X.shape))
            if bad or any(len(at) != len(X.data) for at in X.coords):
                raise ValueError("indices out of range")
        elif hasattr(X, "check_format"):
            X.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"X.indices are damaged ({X.format.upper()} matrix): {error}.") from error


def _from_array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        raise ValueError("X holds text; encode it as numbers (for instance one-hot) first.")
    if isinstance(X, np.ma.MaskedArray):  # masked values are missing
        X = np.where(np.ma.getmaskarray(X), np.nan, X.data)
    X = np.asarray(X)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X has dtype complex; pass real numbers.")
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: "
            "X.reshape(1, -1) is one row, X.reshape(-1, 1) one column."
        )
    return X if X.dtype in FLOATS else as_float64(X, "X")


def as_float64(a: NDArray[Any], name: str) -> Array:
    if a.dtype.kind in "mM":
        raise ValueError(f"{name} of dtype {a.dtype} holds dates or times; convert them to numbers first.")
    try:
        return a.astype(np.float64)
    except OverflowError as error:
        raise ValueError(f"{name} holds an integer beyond the range of float64; rescale it.") from error
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} of dtype {a.dtype} cannot be read as numbers: {error}") from error


def is_frame(X: Any) -> bool:
    """Whether X is a data frame for narwhals; does not import pandas, polars or Arrow."""
    import narwhals as nw

    _check_collected(X, "X")
    known = bool(nw.dependencies.is_into_dataframe(X))
    if not known and hasattr(X, "__arrow_c_stream__"):  # a relation of DuckDB, a reader of Arrow batches
        raise TypeError(
            f"X is a {type(X).__name__}, which is read block by block; pass read(X, target=...) to fit, or "
            "pyarrow.table(X)."
        )
    return known


def _check_collected(values: Any, name: str) -> None:
    import narwhals as nw

    if nw.dependencies.is_polars_lazyframe(values):
        raise TypeError(f"{name} is a polars LazyFrame, which holds no rows yet; pass {name}.collect().")


def read_frame(X: Any) -> Any:
    """A narwhals data frame with distinct column names; ValueError if two columns have the same name."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
        columns = frame.columns
    except nw.exceptions.DuplicateError:
        columns = list(X.columns if nw.dependencies.is_pandas_dataframe(X) else X.column_names)
    check_distinct(columns)
    return frame


def check_distinct(columns: Iterable[Any]) -> None:
    """ValueError if two columns of a frame have the same name."""
    counts = Counter(map(str, columns))  # pandas allows names that are numbers
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise ValueError(
            f"The frame has {counts[twice[0]]} columns called {twice[0]!r}; expected every name once, as "
            "features are known by it: rename or drop the others."
        )


def _from_frame(X: Any, names: Sequence[str] | None) -> tuple[Array, list[str]]:
    import narwhals as nw

    frame = read_frame(X)
    columns = [str(name) for name in frame.columns]
    at = {name: j for j, name in enumerate(columns)}
    if names is not None:
        absent = [name for name in names if name not in at]
        if absent:
            raise ValueError(
                f"The frame lacks {len(absent)} of the {len(names)} columns seen before: "
                f"{', '.join(map(repr, absent[:5]))}{', ...' if len(absent) > 5 else ''}."
            )
        frame, columns = frame[:, [at[name] for name in names]], list(names)
    for name, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            raise ValueError(f"Column {name!r} has type {dtype}; encode it as numbers, or leave it out.")
    rows = np.empty((len(frame), len(columns)), order="F")
    for j, column in enumerate(frame.iter_columns()):
        rows[:, j] = column.cast(nw.Float64).to_numpy()
    return rows, columns


# ---------------------------------------------------------------- targets and weights


def as_vector(y: Any, name: str = "y") -> NDArray[Any]:
    """One or several values per row, as an array."""
    has_numpy = not isinstance(y, np.ndarray | list | tuple | float | int) and hasattr(y, "to_numpy")
    if hasattr(y, "collect"):
        _check_collected(y, name)
    if isinstance(y, np.ma.MaskedArray) and y.mask.any():
        row = int(np.argwhere(y.mask)[0, 0]) if y.ndim else 0
        raise ValueError(f"{name} is masked at row {row}; drop the rows whose {name} is missing.")
    return np.asarray(y.to_numpy() if has_numpy else y)


def as_targets(y: Any, n: int, limit: float = math.inf) -> Array:
    """Targets as a C-ordered float64 array (n, q), finite and within `limit`."""
    y = as_vector(y)
    if y.dtype != np.float64:
        if y.dtype.kind == "c":
            raise ValueError("Complex data not supported: y has dtype complex; pass real numbers.")
        y = as_float64(y, "y")
    if y.ndim == 0:
        y = y.reshape(1)
    if y.ndim > 2:
        raise ValueError(f"y has {y.ndim} dimensions; pass one value per row, or an array (rows, targets).")
    check_length(y, n)
    y = np.ascontiguousarray(y.reshape(n, -1) if n else y.reshape(0, y.shape[1] if y.ndim == 2 else 1))
    if not y.shape[1]:
        raise ValueError(f"y has shape {y.shape}; expected at least one target per row.")
    bad, _ = _core.first_bad(y, False, limit)
    if bad >= 0:
        raise ValueError(
            f"Input y contains {_describe(y.ravel()[bad])} at row {bad // y.shape[1]}; drop or fix this row."
        )
    return y


def check_length(y: NDArray[Any], n: int) -> None:
    if len(y) != n:
        raise ValueError(f"X has {n} rows, but y has {len(y)}; pass one target per row.")


def unique_labels(y: NDArray[Any]) -> NDArray[Any]:
    """The sorted distinct values of y, as `np.unique`; faster for numbers with two values."""
    if y.size and y.dtype.kind in "biuf":
        ends = np.array([y.min(), y.max()])
        if ends[0] != ends[1] and np.all((y == ends[0]) | (y == ends[1])):
            return ends
        if ends[1] == ends[1]:  # not NaN; np.unique would import numpy.ma, a tenth of the start of `fit`
            values = np.sort(y, axis=None)
            return values[np.append(True, values[1:] != values[:-1])]
    return np.unique(y)


def as_weights(weights: Any, n: int, limit: float = math.inf) -> Array | None:
    """Sample weights as float64 (n,), finite, not negative and within `limit`, or None for ones.

    A positive weight is at least 1 / limit: sums of smaller weights underflow, and dividing by them
    overflows.
    """
    if weights is None:
        return None
    w = as_vector(weights, "sample_weight")
    if w.dtype.kind == "c":
        raise ValueError("Complex data not supported: sample_weight has dtype complex; pass real numbers.")
    w = as_float64(w, "sample_weight") if w.dtype != np.float64 else w
    if w.ndim == 0:
        w = np.full(n, float(w))
    if w.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(w) != n:
        raise ValueError(f"sample_weight.shape == {w.shape}, expected {(n,)}!")
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(bad):
        raise ValueError(f"sample_weight[{bad[0]}] = {w[bad[0]]}; weights must be finite and not negative.")
    far = np.flatnonzero((w > limit) | ((w > 0) & (w < 1.0 / limit)))
    if len(far):
        raise ValueError(
            f"sample_weight[{far[0]}] = {w[far[0]]:g}; weights other than 0 must be within {1 / limit:g} and "
            f"{limit:g}: rescale them."
        )
    return np.ascontiguousarray(w)


def check_any_weight(weights: Any) -> None:
    """Raise ValueError if all rows have weight 0."""
    if weights is not None and len(w := np.atleast_1d(as_vector(weights, "sample_weight"))) and not w.any():
        raise ValueError("All sample weights are zero; at least one row must have a positive weight.")
