"""Weights of classes, as scikit-learn has them: factors of the rows' own weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.params import Param
from ..core.rows import Array
from .blocks import blocks_of


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
    "Weights of the classes, factors of `sample_weight`: by label, 1 for those not named, or 'balanced', n "
    "over the number of classes times the rows of the class, which needs all rows at once, hence `fit` with "
    "arrays.",
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
                    f"class_weight names {label!r}, which is none of the {len(known)} classes: {known}."
                )
            weights[y == label] = weight
    return weights if sample_weight is None else weights * _checked(sample_weight, len(y))


def _checked(sample_weight: Any, n: int) -> Array:
    """The weights as numbers; what else is wrong with them is found where they are learned."""
    given = np.asarray(sample_weight, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != n):
        raise ValueError(f"sample_weight of shape {given.shape} for {n} rows; pass one weight a row.")
    return given


class WeightedSource:
    """A source of blocks whose rows have the weights of their classes."""

    def __init__(self, source: Any, class_weight: Any) -> None:
        self.source, self.class_weight = source, class_weight

    @cached_property
    def classes(self) -> NDArray[Any]:
        """All labels: a reading of its own, before the first pass."""
        labels = [np.unique(np.asarray(y)) for _, y, _ in blocks_of(self.source)]
        return np.unique(np.concatenate(labels)) if labels else np.empty(0)

    def __iter__(self) -> Iterator[tuple[Any, Any, Array]]:
        for X, y, weight in blocks_of(self.source):
            yield X, y, row_weights(self.class_weight, np.asarray(y), self.classes, weight)
