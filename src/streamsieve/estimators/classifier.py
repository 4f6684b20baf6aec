"""Estimators of labels, and the weights of classes: factors of the rows' own weights, as in scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..core.params import Param
from ..core.rows import Array, as_vector
from ..core.tasks import Classification, Task
from .base import Estimator
from .blocks import blocks_of
from .single_rows import learn_one, score_one, shortened


class ClassWeights:
    """The domain of `class_weight`."""

    def __str__(self) -> str:
        return "dict, 'balanced' or None"

    def accept(self, value: Any) -> Any:
        if value is None or (isinstance(value, str) and value == "balanced"):
            return value
        if not isinstance(value, Mapping):
            raise ValueError
        for weight in value.values():
            if isinstance(weight, bool) or not isinstance(weight, int | float | np.integer | np.floating):
                raise ValueError("a dict of labels and numbers")
            if not (math.isfinite(weight) and weight >= 0):
                raise ValueError("a dict of labels and finite numbers >= 0")
        return value


CLASS_WEIGHT = Param(
    None,
    ClassWeights(),
    "Weights of the classes. `sample_weight` is multiplied by them. A dict has the weights by label; labels "
    "that are not in it have weight 1. 'balanced' uses n / (number of classes * rows of the class). It "
    "needs all rows at once, so it works only in `fit` with arrays.",
)


def row_weights(class_weight: Any, y: NDArray[Any], classes: Any, sample_weight: Any) -> Any:
    """Weights of the rows with these labels, of which `classes` are all there are."""
    if isinstance(class_weight, str):
        known, code, counts = np.unique(y, return_inverse=True, return_counts=True)
        weights = (len(y) / (len(known) * counts))[code]
    else:
        known = np.unique(np.asarray(classes)).tolist()
        weights = np.ones(len(y))
        for label, weight in class_weight.items():
            if label not in known:
                raise ValueError(
                    f"class_weight names {label!r}, which is not one of the {len(known)} classes: {known}."
                )
            weights[y == label] = weight
    return weights if sample_weight is None else weights * _checked(sample_weight, len(y))


def _checked(sample_weight: Any, n: int) -> Array:
    """The weights as numbers; what else is wrong with them is found where they are learned."""
    given = np.asarray(sample_weight, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != n):
        raise ValueError(f"sample_weight of shape {given.shape} for {n} rows; pass one weight per row.")
    return given


class WeightedSource:
    """A source of blocks whose rows have the weights of their classes."""

    def __init__(self, source: Any, class_weight: Any) -> None:
        self.source, self.class_weight = source, class_weight

    @cached_property
    def classes(self) -> NDArray[Any]:
        """All labels, from a pass of its own before the first one."""
        labels = [np.unique(np.asarray(y)) for _, y, _ in blocks_of(self.source)]
        return np.unique(np.concatenate(labels)) if labels else np.empty(0)

    def __iter__(self) -> Iterator[tuple[Any, Any, Array]]:
        for X, y, weight in blocks_of(self.source):
            yield X, y, row_weights(self.class_weight, np.asarray(y), self.classes, weight)


def _probabilistic(estimator: Classifier) -> bool:
    loss = estimator._fixed_loss or estimator.loss
    return isinstance(loss, str) and loss == "logistic"


class Classifier(ClassifierMixin, Estimator):
    _task_name = "classification"
    class_weight: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, cluster: Any = None) -> Self:
        """Forget everything and learn from X, y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p), or a source
            Estimators with `max_iter` also accept a source: an object that yields the same rows in each
            iteration over it, as blocks (X, y) or (X, y, sample_weight). y is then None.
        y : array of n labels
        sample_weight : array of shape (n,) or None
        cluster : array of n ids or None
            Ids of clusters: rows of the same cluster may depend on each other. For methods on averages with
            `se`, `honest` or `stability`.
        """
        given = self._class_weight()
        if given is not None and y is None:
            if given == "balanced":
                raise ValueError(
                    "class_weight='balanced' needs the number of rows of each class, which is unknown for a "
                    "source; pass a dict of labels and weights."
                )
            X = WeightedSource(X, given)
        elif given is not None:
            labels = self._labels(y)
            sample_weight = row_weights(given, labels, labels, sample_weight)
        return self._fit(X, y, sample_weight, cluster)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Sequence[Any] | None = None,
        sample_weight: Any = None,
        cluster: Any = None,
    ) -> Self:
        """Learn from the next rows of a stream; the model does not depend on the sizes of the calls.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p)
        y : array of n labels
        classes : sequence or None
            All labels of the stream; needed in the first call.
        sample_weight : array of shape (n,) or None
        cluster : array of n ids or None
            Ids of clusters: rows of the same cluster may depend on each other. For methods on averages with
            `se`, `honest` or `stability`.
        """
        first = not hasattr(self, "_model")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        given = self._class_weight(stream="partial_fit")
        if given is not None:
            known = classes if first else self.classes_
            sample_weight = row_weights(given, self._labels(y), known, sample_weight)
        return self._partial_fit(X, y, classes, sample_weight, cluster)

    def _class_weight(self, stream: str = "") -> Any:
        """The checked parameter; ValueError for 'balanced' in a call that learns a stream."""
        if self.class_weight is None:
            return None
        given = CLASS_WEIGHT.check("class_weight", self.class_weight)
        if stream and given == "balanced":
            raise ValueError(
                f"class_weight='balanced' is not supported for {stream}, where the number of rows of each "
                "class is not known; pass a dict of labels and weights."
            )
        return given

    def decision_function(self, X: Any) -> Array:
        """Scores: positive for `classes_[1]`, or one column per class where there are more than two."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels."""
        scores = self._scores(X)  # raises where there is no model
        return self._model.predict(scores)

    @available_if(_probabilistic)
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of `classes_`."""
        scores = self._scores(X)  # raises where there is no model
        return self._model.probabilities(scores)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order."""
        if not hasattr(self, "_model") or self._task is None:
            raise AttributeError(f"{type(self).__name__} has no classes_ before the first rows.")
        classes: NDArray[Any] = self._task.classes
        return classes

    @property
    def coef_(self) -> Array:
        """Weights, shape (1, p), or (q, p) for q > 2 classes."""
        return self._lines()[0]

    @property
    def intercept_(self) -> Array:
        """Intercepts, shape (1,), or (q,) for q > 2 classes."""
        return self._lines()[1]

    def _labels(self, y: Any) -> Any:
        y = as_vector(y)
        if y.ndim != 1:
            y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            if not np.isfinite(y).all():
                raise ValueError("Input y contains NaN or infinity; every row needs a label.")
            far = np.flatnonzero(np.abs(y) > 2.0**53)
            if len(far):
                raise ValueError(
                    f"y[{far[0]}] = {y[far[0]]:g} is not a label: numeric labels must be whole numbers "
                    "within 2^53. For other targets use a regressor."
                )
        return y

    def _first_task(self, y: Any, n: int, classes: Any) -> Task:  # noqa: ARG002
        y = self._labels(y)
        # two whole numbers are labels; scikit-learn takes as long to find out as checking the rows does
        if not (y.size and y.dtype.kind in "biu" and np.all((y == y.min()) | (y == y.max()))):
            check_classification_targets(y)
        return Classification.of(y, classes)

    def _check_classes(self, classes: Any) -> None:
        if not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(f"classes={classes!r} is not the same as on the first call: {self.classes_!r}.")

    # ---------------------------------------------------------------- one row at a time

    def learn_one(
        self, x: Mapping[Any, float], y: Any, w: float = 1.0, *, classes: Sequence[Any] | None = None
    ) -> Self:
        """Learn one row, given as a mapping of feature names to values; new names are new features.

        The first call needs `classes`, unless y is a bool or one of 0 and 1 (or -1 and 1).
        """
        given = self._class_weight(stream="learn_one")
        learn_one(self, x, y, w if given is None else w * given.get(y, 1.0), classes)
        return self

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """Predicted label of one row, None before the first row is learned; unknown names are ignored."""
        if not hasattr(self, "_model"):
            return None
        label = self._task.decode(score_one(self, x))[0]
        return label.item() if isinstance(label, np.generic) else label

    @available_if(_probabilistic)
    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Probability of each class for one row; empty before the first row is learned."""
        if not hasattr(self, "_model"):
            return {}
        shares = self._model.probabilities(score_one(self, x))[0]
        return dict(zip(self.classes_.tolist(), shares.tolist()))

    def _first_task_of_one(self, y: Any, classes: Any) -> Task:
        if classes is None:
            number = isinstance(y, int | float | np.number) and not isinstance(y, bool)
            if isinstance(y, bool | np.bool_):
                classes = [False, True]
            elif number and y in (0, 1):
                classes = [0, 1]
            elif number and y == -1:
                classes = [-1, 1]
            else:
                raise ValueError(f"y={y!r}: pass all labels in the first call: learn_one(x, y, classes=...).")
        return Classification(np.unique(np.asarray(classes)))

    def _encode_one(self, y: Any) -> Array:
        try:
            return self._task.outputs[y]
        except (KeyError, TypeError):
            classes = self.classes_.tolist()
            raise ValueError(
                f"y = {shortened(y)} is not one of the {len(classes)} classes of the first call: {classes}."
            ) from None
