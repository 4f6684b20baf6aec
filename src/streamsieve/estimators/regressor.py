"""Estimators of targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ..core.rows import Array
from ..core.tasks import Regression, Task
from .base import Estimator
from .single_rows import learn_one, score_one, shortened


class Regressor(RegressorMixin, Estimator):
    _task_name = "regression"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, cluster: Any = None) -> Self:
        """Forget everything and learn from X, y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p), or a source
            Estimators with `max_iter` also accept a source: an object that yields the same rows in each
            iteration over it, as blocks (X, y) or (X, y, sample_weight). y is then None.
        y : array of shape (n,) or (n, q)
        sample_weight : array of shape (n,) or None
        cluster : array of n ids or None
            Ids of clusters: rows of the same cluster may depend on each other. For methods on averages with
            `se`, `honest` or `stability`.
        """
        return self._fit(X, y, sample_weight, cluster)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, cluster: Any = None) -> Self:
        """Learn from the next rows of a stream; the model does not depend on the sizes of the calls.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p)
        y : array of shape (n,) or (n, q)
        sample_weight : array of shape (n,) or None
        cluster : array of n ids or None
            Ids of clusters: rows of the same cluster may depend on each other. For methods on averages with
            `se`, `honest` or `stability`.
        """
        return self._partial_fit(X, y, None, sample_weight, cluster)

    def predict(self, X: Any) -> Array:
        """Predicted targets, of the shape of y."""
        scores = self._scores(X)  # raises where there is no model
        return self._model.predict(scores)

    @property
    def coef_(self) -> Array:
        """Weights, shape (p,), or (q, p) for several targets."""
        coef = self._lines()[0]
        return coef[0] if self._task.one_column else coef

    @property
    def intercept_(self) -> Any:
        """Intercept, a float, or shape (q,) for several targets."""
        intercept = self._lines()[1]
        return float(intercept[0]) if self._task.one_column else intercept

    def _first_task(self, y: Any, n: int, classes: Any) -> Task:
        if classes is not None:
            raise ValueError("classes are for classifiers; a regressor has none.")
        return Regression.of(y, n, self.method_.limit)

    def learn_one(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> Self:
        """Learn one row, given as a mapping of feature names to values; new names are new features."""
        learn_one(self, x, y, w)
        return self

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Predicted target of one row; unknown names are ignored."""
        if not hasattr(self, "_model"):
            return 0.0
        return float(self.method_.loss_function.means(score_one(self, x))[0, 0])

    def _first_task_of_one(self, y: Any, classes: Any) -> Task:  # noqa: ARG002
        return Regression()

    def _encode_one(self, y: Any) -> Array:
        try:
            value = np.nan if isinstance(y, str | bytes) else float(y)
        except (TypeError, ValueError, OverflowError):
            value = np.nan
        if not abs(value) <= self.method_.limit:
            raise ValueError(
                f"y = {shortened(y)}; every row needs one number within {self.method_.limit:g} as target."
            )
        return np.array([[value]])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = self._method_class.poor_score
        return tags
