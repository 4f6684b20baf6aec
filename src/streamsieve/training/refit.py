"""The last stage: the weights of the selected features, fitted again without other features.

A ridge fit on only the selected columns, with the loss of the task, by a `Sieve`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.method import Method
from ..core.rows import Array, Rows
from ..core.state import State, array, check_array
from ..core.words import counted
from ..methods.learners.steps import feature_groups, features_to_keep
from .prepare import far_center

Part = tuple[Rows, Array, Array | None]  # rows with targets and weights


class Refitted(State):
    """Weights of some features, for original rows."""

    features: NDArray[np.int64]
    weight: Array
    intercept: Array

    def __init__(self, features: NDArray[np.int64], weight: Array, intercept: Array) -> None:
        super().__init__(
            features=array(features, "slot"),
            weight=array(weight, "slot", "output"),
            intercept=array(intercept, "output"),
        )

    def scattered(self, p: int) -> tuple[Array, Array]:
        """Coefficients (q, p) and intercepts (q,)."""
        coef = np.zeros((len(self.intercept), p))
        coef[:, self.features] = self.weight.T
        return coef, self.intercept.copy()

    def check(self, p: int, q: int) -> None:
        """Raise ValueError for weights from a file that do not have q outputs and some of p features."""
        k = len(self.features)
        check_array("features", self.features, np.int64, (k,))
        check_array("weight", self.weight, np.float64, (k, q))
        check_array("intercept", self.intercept, np.float64, (q,))
        if k and not 0 <= self.features.min() <= self.features.max() < p:
            raise ValueError(f"a feature of the refit is not one of {p}.")


class Refit:
    """Collects the rows of some features and fits at most k of them."""

    def __init__(self, method: Method, features: NDArray[np.intp], k: int) -> None:
        from ..methods.sieve.sieve import Sieve  # which loads SciPy

        self.features, self.heaviest, loss = features, 0.0, method.loss_function.for_refit()
        self.center: Array | None = None  # of the targets, by the first rows
        self.centers = loss.name == "squared" and bool(method.fit_intercept)
        kept = np.flatnonzero(np.isin(features, features_to_keep(method)))
        self.model = Sieve(
            k=max(1, k),
            loss=loss.name,
            fit_intercept=method.fit_intercept,
            keep=kept.tolist() or None,
            **{name: getattr(loss, name) for name in loss.params},
        ).begin(len(features), method.q)

    def update(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Add rows; values and targets that exceed single precision end the refit."""
        if not len(self.features):
            return
        if self.center is None:
            self.center = far_center(y) if self.centers else np.zeros(y.shape[1])
        y = y - self.center
        rows = rows.columns(self.features)
        values = rows.data if rows.values is None else rows.values
        limit = self.model.limit
        if np.abs(values).max(initial=0) > limit or np.abs(y).max(initial=0) > limit:
            self.features = self.features[:0]
            return
        if w is not None:  # only their ratios matter
            if self.heaviest == 0:
                self.heaviest = float(w.max(initial=0))
            w = np.clip(w / self.heaviest, 1 / self.model.weight_limit, self.model.weight_limit)
        self.model.update(rows, y, w)

    def weights(self) -> Refitted | None:
        """The new weights; None if there is nothing to fit."""
        if not len(self.features):
            return None
        coef, intercept = self.model.weights()
        intercept = intercept if self.center is None else intercept + self.center
        kept = coef.any(axis=0)
        return Refitted(self.features[kept], np.ascontiguousarray(coef.T[kept]), intercept)


def refit_selected(method: Any, parts: Callable[[], Iterable[Part]]) -> Refitted | None:
    """The new weights of the features that a method has selected, from all rows; None if it refits none.

    The refit leaves out copies of other features. The next candidates of the method take their places; if it
    has none, a warning names the copies.
    """
    if not method.refit or method.k is None:
        return None
    features = selected = method.candidates(method.k)
    k = more = len(selected)  # with groups more than the method's k
    if method.selects_last:
        features = np.flatnonzero(method.unselected().any(axis=0))
    while True:
        refit = Refit(method, features, k)
        for part in parts():
            refit.update(*part)
        refitted = refit.weights()
        missing = 0 if refitted is None else k - len(refitted.features)
        if refitted is None or not missing or not len(refitted.features):  # a constant target: nothing to fit
            return refitted
        more += max(missing, more - k)  # twice as many each time, as every time reads all rows
        wider = np.union1d(features, method.candidates(more)) if feature_groups(method) is None else features
        if len(wider) == len(features):
            _warn_of_copies(np.setdiff1d(selected, refitted.features), k, missing)
            return refitted
        features = wider


def _warn_of_copies(copies: NDArray[np.intp], k: int, missing: int) -> None:
    """Warn that the model has fewer features than were selected."""
    shown = ", ".join(map(str, copies[:5])) + (", ..." if len(copies) > 5 else "")
    warnings.warn(
        f"The model has {counted(k - missing, 'feature')}, not {k:,}: the others that were selected are "
        f"copies of these (columns {shown}, counted from 0), and the refit left them out. Drop copies "
        "from the data, or pass a larger k.",
        stacklevel=2,
    )
