"""Validation of rows, targets and weights that are added to running averages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.rows import Array, Rows, as_rows, as_targets, as_weights, is_frame, is_sparse, read_frame

if TYPE_CHECKING:
    from .running import RunningAverages

# A moment is two values and a weight, which forgetting lets grow by 1e60 (float32: 1e12).
LIMIT = {"float64": 1e100, "float32": 1e10}  # largest value
WEIGHT_LIMIT = {"float64": 1e30, "float32": 1e5}  # largest sample weight


def check_batch(
    averages: RunningAverages, X: Any, y: Any, sample_weight: Any
) -> tuple[Rows, Array, Array | None, Any]:
    """Validated rows, targets and weights without rows of weight 0, and names. Does not change the
    averages."""
    if isinstance(y, str) or (isinstance(y, list) and y and all(isinstance(name, str) for name in y)):
        X, y = _split_frame(X, y)
    limit = LIMIT[averages.dtype]
    limit_x = limit**0.5 if averages.interactions else limit
    rows, names = as_rows(X, names=averages.names, nan_ok=averages.missing == "mean", limit=limit_x)
    p = averages.n_features_in_
    if p is not None and rows.p != p:
        raise ValueError(f"X has {rows.p} columns, but {p} were seen before; pass rows of {p} columns.")
    if rows.p == 0:
        raise ValueError("X has 0 columns; at least one feature is needed.")
    y = as_targets(y, len(rows), limit)
    if p is not None and y.shape[1] != averages.n_targets_:
        raise ValueError(f"y has {y.shape[1]} targets, but {averages.n_targets_} were seen before.")
    w = as_weights(sample_weight, len(rows), WEIGHT_LIMIT[averages.dtype])
    if w is not None and not w.all():
        rows, y, w = rows.take(w > 0), y[w > 0], w[w > 0]
    return rows, y, w, names


def _split_frame(X: Any, y: str | list[str]) -> tuple[Any, Any]:
    """The features and the named targets of a frame."""
    if isinstance(X, np.ndarray | list) or is_sparse(X) or not is_frame(X):
        raise ValueError(f"y={y!r} names columns, but X is not a data frame; pass y as an array.")
    frame = read_frame(X)
    names = [y] if isinstance(y, str) else y
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(f"The frame has no column {absent[0]!r} for the target.")
    return frame.drop(names).to_native(), frame.select(names).to_numpy()
