"""The papers' tuning: the best of many candidates on the training rows, with progress.

Candidates come from a generator with a score each: the number of features that a penalty leaves, or, with
`cross_validate`, the errors on rows left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import progress as progress_messages

Params = dict[str, Any]
#: Fitted models with their parameters, from training rows; one run may yield several on its way.
Trials = Callable[[Any, NDArray[np.float64]], Iterator[tuple[Params, Any]]]


def best_params(
    scored: Iterable[tuple[Params, Any]],
    total: int | None = None,
    progress: progress_messages.Listener = progress_messages.emit,
    rank: Callable[[NDArray[np.float64]], tuple[float, ...]] = tuple,
) -> Params:
    """The candidate with the highest score, the first of those that tie.

    A score is a number, or several of which the later decide between ties. The scores of a candidate that
    comes again (for another fold, or another pass) are summed. `progress` gets a message after each
    candidate, `total` being how many there will be. `rank` maps a sum of scores to what is compared, where
    that is not the sum.
    """
    scores: dict[str, tuple[Params, NDArray[np.float64]]] = {}
    for count, (params, score) in enumerate(scored, start=1):
        _, before = scores.get(repr(params), (params, np.float64(0)))
        scores[repr(params)] = params, before + np.atleast_1d(np.asarray(score, dtype=np.float64))
        progress(f"{count:,}{f' of {total:,}' if total else ''} tried")
    return max(scores.values(), key=lambda candidate: rank(candidate[1]))[0]


def cross_validate(
    trials: Trials,
    X: Any,
    y: NDArray[np.float64],
    folds: int = 5,
    seed: int = 0,
    max_share: float = 1.0,
    total: int | None = None,
    progress: progress_messages.Listener = progress_messages.emit,
) -> Params:
    """The parameters with the fewest errors on rows left out; of those that tie, with the fewest features.

    Only models with at most `max_share` of the features count, in the mean over the folds; where there is
    none, the smallest wins. `total` is the number of models that `trials` yields for one fold.
    """
    fold = np.random.default_rng(seed).permutation(len(y)) % folds

    def scored() -> Iterator[tuple[Params, Any]]:
        for out in (fold == f for f in range(folds)):
            for params, model in trials(X[~out], y[~out]):
                yield params, (-np.sum(model.predict(X[out]) != y[out]), -np.count_nonzero(model.coef_))

    def rank(score: NDArray[np.float64]) -> tuple[float, ...]:
        errors, size = -score
        too_large = size > max_share * folds * X.shape[1]
        return (-1, -size, -errors) if too_large else (0, -errors, -size)

    return best_params(scored(), None if total is None else folds * total, progress, rank)


def largest_model(sizes: Iterable[tuple[Params, int]], k: int, total: int | None = None) -> Params:
    """The candidate with the most features up to k, the last of those that tie: how [Sun] tunes a penalty."""
    within = ((params, (size, i)) for i, (params, size) in enumerate(sizes) if size <= k)
    return best_params(within, total)
