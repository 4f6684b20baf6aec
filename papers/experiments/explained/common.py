"""What the parts share: the size of the design, and steps that several of them take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsieve import metrics

P, K = 1_000, 100
Array = NDArray[np.float64]
STOPPED_EARLY: dict[str, Any] = {"maturity": 100, "annealing": 10.0, "warmup": 0.0}  # of OFSA


def found(support: Any, stream: Any) -> float:
    """Percent of the true features of a stream."""
    return 100 * float(metrics.detection_rate(support, stream.support))


def largest(weights: Array, k: int) -> NDArray[np.int64]:
    return np.sort(np.argsort(-np.abs(weights), kind="stable")[:k])


def both_signs(stream: Any) -> Array:
    """The true weights of a stream, every other one with the opposite sign."""
    coef: Array = stream.coef.copy()
    coef[stream.support[::2]] *= -1
    return coef
