"""Rows that come one at a time, as mappings of feature names to values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from .. import _core
from ..core.rows import Array, Rows
from ..core.tasks import Task
from .base import Estimator, first_call


class OneRow(Estimator):
    """An estimator that also learns and predicts single rows."""

    def _one_row(self, x: Mapping[Any, float], *, grow: bool) -> Rows:
        """A mapping as a row; unknown names are new features if `grow`, else left out."""
        if type(x) is not dict and not isinstance(x, Mapping):
            raise TypeError(f"x = {shortened(x)}; a row is a mapping of feature names to values.")
        limit, n = self.method_.limit, len(x)
        indptr, indices, values = np.zeros(2, np.int32), np.empty(n, np.int32), np.empty(n)
        row = x if type(x) is dict else dict(x)
        try:
            n = _core.index_features(row, self._feature_index(), indices, values, limit, grow)
        except (TypeError, ValueError, OverflowError):
            n = -1
        if n < 0:
            bad = next(name for name, value in x.items() if not _within(value, limit))
            raise ValueError(
                f"Feature {bad!r} is {shortened(x[bad])}; values must be finite and within {limit:g}: "
                "drop or impute it first."
            )
        indptr[1] = n
        return Rows(p=max(len(self.names_), self.method_.p), csr=(indptr, indices[:n], values[:n]))

    def _feature_index(self) -> dict[Any, int]:
        """Feature names and their indices, as `learn_one` has met them."""
        if not hasattr(self, "names_"):
            known = getattr(self, "feature_names_in_", range(self.method_.p))
            self.names_: dict[Any, int] = {name: j for j, name in enumerate(known)}
        return self.names_

    def _learn_one(self, x: Mapping[Any, float], y: Any, w: float, classes: Any) -> Self:
        if not hasattr(self, "_model"):
            with first_call(self):
                if not hasattr(self, "_model"):
                    fresh = self._fresh()
                    fresh._model.task = task = fresh._first_task_of_one(y, classes)
                    fresh._model.begin(0, task.q)
                    fresh.n_features_in_ = 0
                    fresh._model.feature_names = fresh._feature_index()
                    fresh._learn_one(x, y, w, None)
                    return self._become(fresh)
        with self._model.lock:  # the names of features are state too
            return self._learn_next(x, y, w)

    def _learn_next(self, x: Mapping[Any, float], y: Any, w: float) -> Self:
        limit = self.method_.weight_limit
        if not isinstance(w, int | float | np.integer | np.floating) or not (
            w == 0 or 1 / limit <= float(w) <= limit
        ):
            raise ValueError(f"w={w!r}; a weight is 0 or within {1 / limit:g} and {limit:g}.")
        self._check_unchanged()
        known = len(self._feature_index())
        try:
            Y = self._encode_one(y)
            row = self._one_row(x, grow=True)
            if w == 0:
                self._model.resize(row.p)
                self.n_features_in_ = row.p
            else:
                self._learn(row, Y, None if w == 1 else np.array([w], dtype=np.float64))
        except BaseException:
            for name in list(self.names_)[max(known, self.method_.p) :]:
                del self.names_[name]
            raise
        return self

    def _first_task_of_one(self, y: Any, classes: Any) -> Task:
        raise NotImplementedError  # pragma: no cover

    def _encode_one(self, y: Any) -> Array:
        raise NotImplementedError  # pragma: no cover

    def _score_one(self, x: Mapping[Any, float]) -> Array:
        self._check_unchanged()
        return self._model.scores(self._one_row(x, grow=False))


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
