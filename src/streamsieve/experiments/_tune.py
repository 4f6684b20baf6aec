"""Parameters that do best on the training rows, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Params = dict[str, Any]
#: Fitted models with the parameters that gave them; a run may be read more than once on its way.
Trials = Callable[[Any, NDArray[np.float64]], Iterator[tuple[Params, Any]]]


def cross_validated(
    trials: Trials, X: Any, y: NDArray[np.float64], folds: int = 5, seed: int = 0, most: float = 1.0
) -> Params:
    """The parameters with the fewest errors on rows left out; of those that tie, with the fewest features.

    Only models with at most the share `most` of the features count, in the mean over the folds; where there
    is none, the smallest is taken.
    """
    fold = np.random.default_rng(seed).permutation(len(y)) % folds
    tried: dict[str, tuple[Params, NDArray[np.float64]]] = {}
    for out in (fold == f for f in range(folds)):
        for params, model in trials(X[~out], y[~out]):
            cost = np.array([np.sum(model.predict(X[out]) != y[out]), np.count_nonzero(model.coef_)])
            _, before = tried.get(repr(params), (params, np.zeros(2)))
            tried[repr(params)] = params, before + cost

    def rank(found: tuple[Params, NDArray[np.float64]]) -> tuple[float, ...]:
        errors, size = found[1]
        over = size > most * folds * X.shape[1]
        return (over, size, errors) if over else (over, errors, size)

    return min(tried.values(), key=rank)[0]
