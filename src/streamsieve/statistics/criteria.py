"""AIC, BIC and EBIC: what a model is worth by its deviance, its weights and the models of its size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

ROUNDING = 1e-10  # share of the variance below which a residual is rounding: a perfect fit leaves this much


def gaussian_deviance(left: Any, n: float) -> Any:
    """Minus twice the log-likelihood of least squares, up to a constant: n log of what is left, summed.

    `left` is the share of each target's variance that the model leaves unexplained, (..., q).
    """
    return n * np.log(np.maximum(left, ROUNDING)).sum(axis=-1)


def aic(deviance: Any, weights: Any) -> Any:
    """Of models with so many free weights; intercept and noise, which every model has, are not counted."""
    return deviance + 2 * weights


def bic(deviance: Any, weights: Any, n: float) -> Any:
    return deviance + weights * math.log(max(n, 1.0))


def ebic(deviance: Any, weights: Any, n: float, k: Any, p: int, gamma: float = 1.0) -> Any:
    """BIC, and the number of models of k among p features (Chen and Chen 2008); BIC itself at gamma 0."""
    return bic(deviance, weights, n) + 2 * gamma * log_choose(p, k)


def log_choose(p: int, k: Any) -> Any:
    """Logarithm of the number of sets of k among p features."""
    return _log_factorial(p) - _log_factorial(k) - _log_factorial(np.maximum(np.subtract(p, k), 0))


#: SciPy has it for arrays, in a module that takes longer to load than a model to choose.
_log_factorial = np.vectorize(lambda n: math.lgamma(n + 1), otypes=[np.float64])
