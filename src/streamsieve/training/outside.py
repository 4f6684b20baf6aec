"""Rows to predict that lie outside the range of the training rows.

No number of n is further from their mean than sqrt(n - 1) standard deviations (Samuelson 1968). If a selected
feature of a row is further away, the row is outside of the range of all rows learned: a model extrapolates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Array, Rows
from ..statistics.fold_averages import FoldAverages
from ..statistics.running import RunningAverages
from .far import FAR
from .model import Model
from .prepare import ROWS


class Reach(NamedTuple):
    """Selected features, and the values between which all rows learned lie."""

    features: NDArray[np.int64]
    low: Array
    high: Array

    def n_outside(self, rows: Rows) -> NDArray[np.int64]:
        """Number of selected features of each row that lie outside; missing features count as 0."""
        known = self.features < rows.p
        values = rows.columns(self.features[known]).to_array()
        outside = (values < self.low[known]) | (values > self.high[known])
        return np.count_nonzero(outside, axis=1)


def reach_of(model: Model) -> Reach | None:
    """The range of the rows that a model has learned; None if they are few, or it is not known."""
    n = model.n_rows
    if n is not None and n < ROWS:
        return None
    with model.lock:
        if model.reach is None or model.reach[0] != n:
            model.reach = n, _reach_of_all(model, FAR**2 if n is None else n)
        every, support = model.reach[1], model.support
    if every is None:
        return None
    at = np.minimum(np.searchsorted(every.features, support), len(every.features) - 1)
    at = at[every.features[at] == support] if len(every.features) else at[:0]
    return Reach(every.features[at], every.low[at], every.high[at])


def _reach_of_all(model: Model, n: float) -> Reach | None:
    """The range of n rows in all features that vary.

    If the rows are not counted, n is `FAR` squared: values beyond `FAR` deviations may not have been learned.
    """
    found = _moments(model)
    if found is None:
        return None
    features, mean, deviation = found
    varies = deviation > 0
    mean, most = mean[varies], np.sqrt(n) * deviation[varies]
    return Reach(features[varies], mean - most, mean + most)


def _moments(model: Model) -> tuple[NDArray[np.int64], Array, Array] | None:
    """Features with their means and standard deviations; for learners, over the first rows."""
    method: Any = model.method
    averages = method.averages if method.on_averages else None
    if isinstance(averages, FoldAverages):
        averages = averages.folds_[0]  # each is like the others
    if isinstance(averages, RunningAverages) and not averages.interactions:
        moments, weight = averages.current()
        p = moments.p
        return np.arange(p), moments.mean(weight)[:p], np.sqrt(moments.variance(weight)[:p])
    store = getattr(method.state, "store", None)
    if store is not None:
        mean, deviation = store.moments()
        return store.columns.astype(np.int64), mean + store.shift, deviation
    if hasattr(method.state, "deviation"):  # `InverseMoments`, not loaded for every model
        return np.arange(method.p), method.state.mean, method.state.deviation()
    stage = model.prepare
    if stage is None or not stage.placed or stage.reach is None:
        return None
    scaled = stage.inverse is not None
    # other columns have a unit that is a guess
    known = stage.inverse != stage.typical if scaled else stage.reach != FAR / stage.typical
    return np.arange(stage.p), stage.center, np.where(known, stage.reach / FAR, 0.0)
