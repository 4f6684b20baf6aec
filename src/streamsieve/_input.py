"""Rows, targets and weights as the kernels take them, from whatever the user holds.

Nothing here changes its input, and nothing is written anywhere before every check has passed.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._light import Csr

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
Rows = Any  # a 2-D float array of any strides, or a canonical csr_array


def threads() -> int:
    """How many threads the kernels may use: `OMP_NUM_THREADS`, or the processors of this process."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    if told.isdigit() and int(told) > 0:
        return int(told)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix; scipy is not loaded to ask."""
    scipy = sys.modules.get("scipy.sparse")
    return isinstance(X, Csr) or (scipy is not None and scipy.issparse(X))


def as_scipy(X: Any) -> Any:
    """X as a `csr_array`, which shares its arrays where it has such."""
    from scipy.sparse import csr_array

    return csr_array((X.data, X.indices, X.indptr), shape=X.shape) if isinstance(X, Csr) else csr_array(X)


def as_rows(X: Any, names: Sequence[str] | None = None) -> tuple[Rows, list[str] | None]:
    """Rows and, where X is a data frame, its column names; columns are taken by `names` where given."""
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS:
        return X, None
    if is_sparse(X):
        return _as_csr(X), None
    if not isinstance(X, np.ndarray | list | tuple) and is_frame(X):
        return _from_frame(X, names)
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        raise ValueError("X holds text; encode it as numbers (for instance one-hot) first.")
    if isinstance(X, np.ma.MaskedArray):  # what is masked is missing
        X = np.where(np.ma.getmaskarray(X), np.nan, X.data)
    X = np.asarray(X)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X has dtype complex; pass real numbers.")
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: "
            "X.reshape(1, -1) is one row, X.reshape(-1, 1) one column."
        )
    if X.dtype not in FLOATS:
        X = _as_float64(X, "X")
    return X, None


def _as_float64(a: NDArray[Any], name: str) -> NDArray[np.float64]:
    try:
        return a.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} of dtype {a.dtype} cannot be read as numbers: {error}") from error


def _as_csr(X: Any) -> Any:
    if isinstance(X, Csr):
        return X
    from scipy.sparse import csr_array

    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead; pass a CSR matrix.")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X is a complex sparse matrix; pass real numbers.")
    if not isinstance(X, csr_array):  # a csr_matrix would return matrices; its arrays are shared
        X = csr_array(X)
    if X.dtype not in FLOATS:
        X = X.astype(np.float64)
    if X.indptr.dtype != X.indices.dtype or X.indices.dtype not in (np.int32, np.int64):
        X = csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    return X


def is_frame(X: Any) -> bool:
    """Whether narwhals knows X as a data frame; pandas, polars and Arrow are not imported for it."""
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(X)


def _from_frame(X: Any, names: Sequence[str] | None) -> tuple[Rows, list[str]]:
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    if names is not None:
        at = {str(name): j for j, name in enumerate(frame.columns)}  # pandas allows names that are numbers
        absent = [name for name in names if name not in at]
        if absent:
            raise ValueError(
                f"The frame lacks {len(absent)} of the {len(names)} columns seen before: "
                f"{', '.join(map(repr, absent[:5]))}{', ...' if len(absent) > 5 else ''}."
            )
        frame = frame[:, [at[name] for name in names]]
    for name, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            raise ValueError(f"Column {name!r} has type {dtype}; encode it as numbers, or leave it out.")
    columns = [str(name) for name in frame.columns]
    rows = np.empty((len(frame), len(columns)), order="F")
    for j, column in enumerate(frame.iter_columns()):
        rows[:, j] = column.cast(nw.Float64).to_numpy()
    return rows, columns


def check_rows(
    X: Rows, p: int, *, nan_ok: bool = False, names: Sequence[str] | None = None, limit: float = math.inf
) -> Rows:
    """X with p columns, finite, within `limit`, and, if sparse, sorted without repeats; else a ValueError."""
    if X.shape[1] != p:
        raise ValueError(f"X has {X.shape[1]} columns, but {p} were seen before; pass rows of {p} columns.")
    if not is_sparse(X):
        bad = _core.first_bad(X, nan_ok, limit)
        if bad >= 0:
            _refuse(X[bad // p, bad % p], bad // p, bad % p, names)
        return X
    fault, at = _core.check_csr(X.indptr, X.indices, X.data, p, nan_ok, limit, threads())
    if fault == 3:  # unsorted or repeated: sorted and summed in a copy, as scipy itself reads them
        X = X.copy()
        X.sum_duplicates()
        fault, at = _core.check_csr(X.indptr, X.indices, X.data, p, nan_ok, limit, threads())
    if fault == 1:
        raise ValueError(f"X.indptr is not a valid row index at row {at}; the CSR matrix is damaged.")
    if fault == 2:
        raise ValueError(f"X.indices[{at}] = {X.indices[at]} is outside the {p} columns of X.")
    if fault == 4:
        _refuse(X.data[at], int(np.searchsorted(X.indptr, at, side="right")) - 1, int(X.indices[at]), names)
    return X


def _refuse(value: Any, row: int, column: int, names: Sequence[str] | None) -> None:
    what = _what(value)
    where = f"column {column}" if names is None else f"column {names[column]!r}"
    advice = "; drop or impute it first, or pass missing='mean' where it is offered" if what == "NaN" else ""
    raise ValueError(f"Input X contains {what} at row {row}, {where}{advice}.")


def _what(value: Any) -> str:
    return "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"a value too large, {value:g},"


def as_targets(y: Any, n: int, limit: float = math.inf) -> NDArray[np.float64]:
    """Targets as a C-ordered float64 array (n, q), finite and within `limit`."""
    if is_frame_like(y):
        y = y.to_numpy()
    y = np.asarray(y)
    if y.dtype != np.float64:
        if y.dtype.kind == "c":
            raise ValueError("Complex data not supported: y has dtype complex; pass real numbers.")
        y = _as_float64(y, "y")
    if y.ndim == 0:
        y = y.reshape(1)
    if y.ndim > 2:
        raise ValueError(f"y has {y.ndim} dimensions; pass one value a row, or an array (rows, targets).")
    if len(y) != n:
        raise ValueError(f"X has {n} rows and y has {len(y)}; they must be the same rows.")
    y = np.ascontiguousarray(y.reshape(n, -1) if n else y.reshape(0, y.shape[1] if y.ndim == 2 else 1))
    bad = _core.first_bad(y, False, limit)
    if bad >= 0:
        value = y.ravel()[bad]
        raise ValueError(f"Input y contains {_what(value)} at row {bad // y.shape[1]}.")
    return y


def is_frame_like(y: Any) -> bool:
    return not isinstance(y, np.ndarray | list | tuple | float | int) and hasattr(y, "to_numpy")


def different(y: NDArray[Any]) -> NDArray[Any]:
    """The different values in order, as `np.unique` has them; of numbers of two kinds without sorting all."""
    if y.size and y.dtype.kind in "biuf":
        ends = np.array([y.min(), y.max()])
        if ends[0] != ends[1] and np.all((y == ends[0]) | (y == ends[1])):
            return ends
    return np.unique(y)


def as_weights(weights: Any, n: int) -> NDArray[np.float64] | None:
    """Sample weights as float64 (n,), all finite and not negative, or None for ones."""
    if weights is None:
        return None
    w = np.asarray(weights.to_numpy() if is_frame_like(weights) else weights, dtype=np.float64)
    if w.ndim == 0:
        w = np.full(n, float(w))
    if w.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(w) != n:
        raise ValueError(f"sample_weight.shape == {w.shape}, expected {(n,)}!")
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(bad):
        raise ValueError(f"sample_weight[{bad[0]}] = {w[bad[0]]}; weights must be finite and not negative.")
    return np.ascontiguousarray(w)


def some_weight(weights: Any) -> None:
    """Refuse to fit rows that all weigh nothing."""
    if weights is not None and len(w := np.atleast_1d(np.asarray(weights))) and not w.any():
        raise ValueError("All sample weights are zero; at least one row must weigh something.")
