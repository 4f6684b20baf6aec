"""Losses of a margin and a target, in NumPy: the same functions as the kernels' ``cpp/core/losses.hpp``.

Labels are -1 and +1; targets of `squared` are any number. `derivative` is with respect to the margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def expit(margin: Any) -> Array:
    """1 / (1 + exp(-m)), without overflow."""
    return np.exp(-np.logaddexp(0.0, np.negative(margin)))


def softmax(margins: Array) -> Array:
    """Shares of the classes by their margins (n, q), without overflow."""
    share: Array = np.exp(margins - margins.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    return share


class Loss(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def curvature(self) -> float:
        """Bound of the second derivative; 1 for the hinge, which has none."""

    def value(self, margin: Any, y: Any) -> Array: ...

    def derivative(self, margin: Any, y: Any) -> Array: ...


@dataclass(frozen=True)
class Squared:
    """Half the squared error, (m - y)^2 / 2."""

    name: str = "squared"
    curvature: float = 1.0

    def value(self, margin: Any, y: Any) -> Array:
        return 0.5 * np.square(np.subtract(margin, y))

    def derivative(self, margin: Any, y: Any) -> Array:
        return np.subtract(margin, y)


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-y m)); the only one whose margins are probabilities, `1 / (1 + exp(-m))`."""

    name: str = "logistic"
    curvature: float = 0.25

    def value(self, margin: Any, y: Any) -> Array:
        return np.logaddexp(0.0, -np.multiply(y, margin))

    def derivative(self, margin: Any, y: Any) -> Array:
        return -np.asarray(y) * expit(-np.multiply(y, margin))


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - y m)."""

    name: str = "hinge"
    curvature: float = 1.0

    def value(self, margin: Any, y: Any) -> Array:
        return np.maximum(0.0, 1.0 - np.multiply(y, margin))

    def derivative(self, margin: Any, y: Any) -> Array:
        return np.where(np.multiply(y, margin) < 1.0, -np.asarray(y, dtype=np.float64), 0.0)


@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - y m)^2."""

    name: str = "squared_hinge"
    curvature: float = 2.0

    def value(self, margin: Any, y: Any) -> Array:
        return np.square(np.maximum(0.0, 1.0 - np.multiply(y, margin)))

    def derivative(self, margin: Any, y: Any) -> Array:
        return -2.0 * np.asarray(y) * np.maximum(0.0, 1.0 - np.multiply(y, margin))


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Squared(), Logistic(), Hinge(), SquaredHinge())}


def best_constant(loss: str, y: Array, w: Array | None = None) -> Array:
    """The margin (q,) of least loss for targets (n, q), without any feature.

    Logistic margins are those with one more row, half of it in each class: of one class they stay finite.
    """
    n = len(y)
    mean = shares(n, w) @ y
    if loss == "hinge":
        return np.sign(mean)
    return np.asarray(2 * np.arctanh(mean * n / (n + 1))) if loss == "logistic" else mean


def shares(n: int, w: Array | None) -> Array:
    """Weights of n rows that sum to 1."""
    if w is None:
        return np.full(n, 1 / n)
    share: Array = w / w.max()  # a sum of the largest weights would overflow
    return share / share.sum()
