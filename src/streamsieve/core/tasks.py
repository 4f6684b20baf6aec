"""Targets and labels: from what a user passes to the outputs that a method learns, and back."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .losses import expit
from .rows import Array, as_targets, as_vector, check_length, unique_labels


class Regression:
    """Numbers: one target, or q of them."""

    name = "regression"

    def __init__(self, n_targets: int = 1, one_column: bool = True) -> None:
        self.n_targets, self.one_column = n_targets, one_column

    @property
    def q(self) -> int:
        return self.n_targets

    @classmethod
    def of(cls, y: Any, n: int, limit: float) -> Regression:
        """The task that the first targets pose."""
        Y = as_targets(y, n, limit)
        return cls(Y.shape[1], as_vector(y).ndim <= 1)

    def encode(self, y: Any, n: int, limit: float) -> Array:
        """Targets as the outputs that a method learns, (n, q)."""
        Y = as_targets(y, n, limit)
        if Y.shape[1] != self.n_targets:
            raise ValueError(f"y has {Y.shape[1]} targets, but {self.n_targets} were seen before.")
        return Y

    def decode(self, scores: Array) -> Array:
        """Predictions of the shape of y."""
        return scores[:, 0] if self.one_column else scores


class Classification:
    """Labels: -1 and +1 for two classes, one output against the rest for each of more."""

    name = "classification"

    def __init__(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"The labels hold only one class ({', '.join(map(str, classes))}); "
                "at least 2 classes are needed."
            )
        self.classes = classes

    @property
    def q(self) -> int:
        return 1 if len(self.classes) == 2 else len(self.classes)

    @cached_property
    def outputs(self) -> dict[Any, Array]:
        """What a method learns of one row, (1, q), by its label."""
        rows = self.encode(self.classes, len(self.classes))
        return {label: rows[code : code + 1] for code, label in enumerate(self.classes.tolist())}

    @classmethod
    def of(cls, y: Any, classes: Any = None) -> Classification:
        """The task that the first labels pose, or all labels as named."""
        labels = as_vector(y if classes is None else classes)
        if labels.ndim != 1:
            raise ValueError(f"Labels of shape {labels.shape}; pass one label a row, or a list as classes.")
        try:
            return cls(unique_labels(labels))
        except TypeError:
            raise ValueError(
                "The labels are of several types, which have no order; make all of them text."
            ) from None

    def encode(self, y: Any, n: int, limit: float = 0.0) -> Array:  # noqa: ARG002
        """Labels as the outputs that a method learns, (n, 1) or (n, q)."""
        y = as_vector(y)
        check_length(y, n)
        try:
            code = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        except TypeError:
            raise ValueError(
                f"y of dtype {y.dtype} does not compare with the {len(self.classes)} classes of the first "
                f"call, {self.classes[0]!r}, ...; pass labels of their type."
            ) from None
        unknown = np.flatnonzero(self.classes[code] != y)
        if len(unknown):
            raise ValueError(
                f"y[{unknown[0]}] = {y[unknown[0]]!r} is not one of the {len(self.classes)} classes "
                "of the first call; name all of them in classes."
            )
        if self.q == 1:
            return np.where(code == 1, 1.0, -1.0)[:, None]
        return np.where(code[:, None] == np.arange(len(self.classes)), 1.0, -1.0)

    def decode(self, scores: Array) -> NDArray[Any]:
        """Predicted labels."""
        best = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes[best]
        return labels

    @staticmethod
    def probabilities(scores: Array) -> Array:
        """Probability of each class from log-odds; several outputs are normalised."""
        if scores.shape[1] == 1:
            return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
        share = expit(scores)
        total = share.sum(axis=1, keepdims=True)
        # all may underflow: then the classes are equally unlikely
        return np.where(total > 0, share / np.where(total > 0, total, 1.0), 1.0 / share.shape[1])


Task = Regression | Classification
