"""Begin from a model that was fitted on a first batch, [Susan] 3.2."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .. import _core
from .._input import Rows
from ._learner import Array, Core, RowLearner, _core_rows


class Startable(RowLearner):
    def start(self, model: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything and begin from a model that was fitted on a first batch; go on by `partial_fit`.

        A good start is what truncated gradient descent needs to find the true features ([Susan] 3.1).

        Parameters
        ----------
        model : LinearModel, fitted linear estimator or (coef, intercept)
            Its k largest weights are the start.
        X, y : arrays, as for `partial_fit`
            The first batch: not learned, but it tells the scale of the features and the length of steps.
        classes : sequence or None
            All labels that the stream will bring, if y does not hold them; only where labels are learned.
        sample_weight : array of shape (n,) or None
        """
        if classes is not None and not hasattr(self, "decision_function"):
            raise ValueError("classes are for classifiers; a regressor has none.")
        self._model = model
        try:
            return self._learn(X, y, classes, sample_weight, reset=True)
        finally:
            self.__dict__.pop("_model", None)

    def _update(self, X: Rows, y: Array, w: Array | None) -> None:
        model = self.__dict__.pop("_model", None)
        if model is None:
            super()._update(X, y, w)
            return
        coef, intercept = model_weights(model, self.n_features_in_, y.shape[1])
        for at, rows in _core_rows(X):
            self._measure(rows, None if w is None else w[at])
        self._begin(coef, intercept)

    def _budget(self) -> int:
        """The most weights a step can move; 0 for all."""
        return 0

    def _measure(self, rows: Core, w: Array | None) -> None:
        """Let the moments and the clock see rows that are not learned."""
        _core.measure(rows, w, *self._steps(), getattr(self, "moments_", None), self._budget())

    def _begin(self, coef: Array, intercept: Array) -> None:
        """Take over weights (q, p) and intercepts (q,)."""
        raise NotImplementedError  # pragma: no cover


def model_weights(model: Any, p: int, q: int) -> tuple[Array, Array]:
    """Weights (q, p) and intercepts (q,) of a model, or a ValueError."""
    if isinstance(model, tuple) and len(model) == 2:
        coef, intercept = model
    elif hasattr(model, "coef_"):
        coef, intercept = model.coef_, model.intercept_
    elif hasattr(model, "coef") and hasattr(model, "intercept"):
        coef, intercept = model.coef, model.intercept
    else:
        raise ValueError(
            f"Cannot start from {type(model).__name__}; pass a LinearModel, a fitted linear estimator or "
            "(coef, intercept)."
        )
    coef = np.atleast_2d(np.array(coef, dtype=np.float64))
    intercept = np.atleast_1d(np.array(intercept, dtype=np.float64))
    if coef.shape != (q, p) or intercept.shape != (q,):
        raise ValueError(
            f"The model has weights of shape {coef.shape} and intercepts of shape {intercept.shape}; "
            f"these rows need {(q, p)} and {(q,)}."
        )
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError("The model has weights that are not finite; start from one that fits.")
    return coef, intercept
