"""One row at a time, given as a mapping of feature names to values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core
from ..core.rows import Array, Rows
from ..statistics.constraints import Constraints
from .base import first_call


def learn_one(estimator: Any, x: Mapping[Any, float], y: Any, w: float, classes: Any = None) -> None:
    """Learn one row; new names are new features."""
    if not hasattr(estimator, "_model"):
        with first_call(estimator):
            if not hasattr(estimator, "_model"):
                fresh = estimator._fresh()
                model = fresh._model
                model.task = fresh._first_task_of_one(y, classes)
                model.begin(0, model.task.q)
                fresh.n_features_in_ = 0
                model.feature_names = _feature_index(fresh)
                learn_one(fresh, x, y, w)
                estimator._become(fresh)
                return
    with estimator._model.lock:  # the names of features are state too
        _learn_next(estimator, x, y, w)


def score_one(estimator: Any, x: Mapping[Any, float]) -> Array:
    """The margins (1, q) of one row; unknown names count as absent."""
    estimator._check_unchanged()
    scores: Array = estimator._model.scores(_one_row(estimator, x, grow=False))
    return scores


def _learn_next(estimator: Any, x: Mapping[Any, float], y: Any, w: float) -> None:
    method = estimator.method_
    limit = method.weight_limit
    number = type(w) is float or isinstance(w, int | float | np.integer | np.floating)
    if not number or not (w == 0 or 1 / limit <= float(w) <= limit):
        raise ValueError(f"w={w!r}; a weight is 0 or within {1 / limit:g} and {limit:g}.")
    estimator._check_unchanged()
    known = len(_feature_index(estimator))
    try:
        Y = estimator._encode_one(y)
        row = _one_row(estimator, x, grow=True)
        constraints = Constraints.of(method) if row.p > method.p > 0 else None
        if constraints is not None and constraints.given:
            # a list with one value for each feature does not fit new features
            constraints.resolve(row.p, [*map(str, estimator.names_)])
        if w == 0:
            estimator._model.resize(row.p)
            estimator.n_features_in_ = row.p
        else:
            estimator._learn(row, Y, None if w == 1 else np.array([w], dtype=np.float64))
    except BaseException:
        for name in list(estimator.names_)[max(known, method.p) :]:
            del estimator.names_[name]
        raise


def _one_row(estimator: Any, x: Mapping[Any, float], *, grow: bool) -> Rows:
    """A mapping as a row; unknown names are new features if `grow`, else left out."""
    if type(x) is not dict and not isinstance(x, Mapping):
        raise TypeError(f"x = {shortened(x)}; a row is a mapping of feature names to values.")
    method, names, n = estimator.method_, _feature_index(estimator), len(x)
    limit = method.limit
    csr = np.empty(2, np.int32), np.empty(n, np.int32), np.empty(n)
    row = x if type(x) is dict else dict(x)
    try:
        largest = _core.index_features(row, names, *csr, limit, grow)
    except (TypeError, ValueError, OverflowError):
        largest = -1.0
    if largest < 0:
        bad = next(name for name, value in x.items() if not _within(value, limit))
        raise ValueError(
            f"Feature {bad!r} is {shortened(x[bad])}; values must be finite and within {limit:g}: "
            "drop or impute it first."
        )
    return Rows(p=max(len(names), method.p), csr=csr, bound=largest)


def _feature_index(estimator: Any) -> dict[Any, int]:
    """Feature names and their indices, as `learn_one` has met them."""
    if not hasattr(estimator, "names_"):
        known = getattr(estimator, "feature_names_in_", range(estimator.method_.p))
        estimator.names_ = {name: j for j, name in enumerate(known)}
    names: dict[Any, int] = estimator.names_
    return names


def _within(value: Any, limit: float) -> bool:
    try:
        return not isinstance(value, str) and abs(float(value)) <= limit
    except (TypeError, ValueError, OverflowError):
        return False


def shortened(value: Any, most: int = 80) -> str:
    """The value as Python shows it, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers of thousands of digits
        text = f"an {type(value).__name__} of {value.bit_length()} bits"
    return text if len(text) <= most else text[:most] + "..."
