"""Number of features that annealing keeps after each gradient step: [Sun] Algorithm 4."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Gradient descent does not converge with steps above 2 / largest eigenvalue.
RELAXATION = 1.9


def schedule(p: int, k: int, maturity: int, annealing: float, warmup: float = 0.0) -> NDArray[np.int64]:
    """Number of features after each step, floor(M_t)."""
    wait = int(warmup * maturity)
    t, T = np.maximum(np.arange(1, maturity + 1) - wait, 0), maturity - wait
    left = np.floor(k + (p - k) * np.maximum(0.0, (T - t) / (t * annealing + T)))
    return left.astype(np.int64)
