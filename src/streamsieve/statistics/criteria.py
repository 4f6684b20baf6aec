"""Criteria that choose the number of features: held-out loss, or AIC, BIC and EBIC."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

HELD_OUT, INFORMATION = ("cv", "1se"), ("ebic", "bic", "aic")
#: The words of the parameter `criterion`, the same for every family.
CRITERIA = (*HELD_OUT, *INFORMATION)
MEANING = (
    "Criterion for k='auto'. 'cv': the smallest loss on held-out rows. '1se': the fewest features whose "
    "loss is within one standard error of the smallest. 'ebic', 'bic', 'aic': the smallest information "
    "criterion."
)
ROUNDING = 1e-10  # share of the variance below which a residual is rounding: a perfect fit leaves this much


def gaussian_deviance(left: Any, n: float) -> Any:
    """Minus twice the log-likelihood of least squares, up to a constant: the sum of n log(left).

    `left` is the unexplained share of the variance of each target, (..., q).
    """
    return n * np.log(np.maximum(left, ROUNDING)).sum(axis=-1)


def aic(deviance: Any, weights: Any) -> Any:
    """Of models with so many free weights; intercept and noise, which every model has, are not counted."""
    return deviance + 2 * weights


def bic(deviance: Any, weights: Any, n: float) -> Any:
    return deviance + weights * math.log(max(n, 1.0))


def ebic(deviance: Any, weights: Any, n: float, k: Any, p: int, gamma: float = 1.0) -> Any:
    """BIC plus a term for the number of models with k of p features (Chen and Chen 2008); gamma = 0 is
    BIC."""
    return bic(deviance, weights, n) + 2 * gamma * log_choose(p, k)


def value(criterion: str, deviance: Any, weights: Any, n: float, k: Any, p: int) -> Any:
    """An information criterion by its name, of models with k of p features."""
    if criterion == "aic":
        return aic(deviance, weights)
    return ebic(deviance, weights, n, k, p, gamma=criterion == "ebic")


def log_choose(p: int, k: Any) -> Any:
    """Logarithm of the number of sets of k among p features."""
    return _log_factorial(p) - _log_factorial(k) - _log_factorial(np.maximum(np.subtract(p, k), 0))


#: SciPy has it for arrays, in a module that takes longer to load than a model to choose.
_log_factorial = np.vectorize(lambda n: math.lgamma(n + 1), otypes=[np.float64])
