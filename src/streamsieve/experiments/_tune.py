"""The papers' tuning: of many candidates the best on the training rows, with progress.

Candidates are tried one after the other by a generator, which says how good each was: a penalty of 200 by how
many features it leaves, a point of a grid by the rows it predicts before it learns them, or, with
`cross_validated`, by rows left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Params = dict[str, Any]
#: Fitted models with the parameters that gave them; a run may be read more than once on its way.
Trials = Callable[[Any, NDArray[np.float64]], Iterator[tuple[Params, Any]]]
Tell = Callable[[str], None]


told: list[Tell] = []  # where progress goes that is not sent elsewhere: `_run` puts itself here


def tuned(
    tried: Iterable[tuple[Params, Any]],
    total: int | None = None,
    progress: Tell | None = None,
    rank: Callable[[NDArray[np.float64]], tuple[float, ...]] = tuple,
) -> Params:
    """The candidate with the highest score, of those that tie the first.

    A score is a number, or several of which the later decide between ties. A candidate that comes again (for
    another fold, or another pass) adds to its score. `progress` is given a few words after each one tried,
    `total` being how many there will be. `rank` says what is compared of a sum of scores, where it is not the
    scores themselves.
    """
    scores: dict[str, tuple[Params, NDArray[np.float64]]] = {}
    for count, (params, score) in enumerate(tried, start=1):
        _, before = scores.get(repr(params), (params, np.float64(0)))
        scores[repr(params)] = params, before + np.atleast_1d(np.asarray(score, dtype=np.float64))
        for tell in told if progress is None else [progress]:
            tell(f"{count:,}{f' of {total:,}' if total else ''} tried")
    return max(scores.values(), key=lambda found: rank(found[1]))[0]


def cross_validated(
    trials: Trials,
    X: Any,
    y: NDArray[np.float64],
    folds: int = 5,
    seed: int = 0,
    most: float = 1.0,
    total: int | None = None,
    progress: Tell | None = None,
) -> Params:
    """The parameters with the fewest errors on rows left out; of those that tie, with the fewest features.

    Only models with at most the share `most` of the features count, in the mean over the folds; where there
    is none, the smallest is taken. `total` is the number of models that `trials` yields for one fold.
    """
    fold = np.random.default_rng(seed).permutation(len(y)) % folds

    def tried() -> Iterator[tuple[Params, Any]]:
        for out in (fold == f for f in range(folds)):
            for params, model in trials(X[~out], y[~out]):
                yield params, (-np.sum(model.predict(X[out]) != y[out]), -np.count_nonzero(model.coef_))

    def rank(score: NDArray[np.float64]) -> tuple[float, ...]:
        errors, size = -score
        over = size > most * folds * X.shape[1]
        return (-1, -size, -errors) if over else (0, -errors, -size)

    return tuned(tried(), None if total is None else folds * total, progress, rank)


def largest(sizes: Iterable[tuple[Params, int]], k: int, total: int | None = None) -> Params:
    """The candidate with the most features up to k, of those that tie the last: how [Sun] tunes a penalty."""
    within = ((params, (size, i)) for i, (params, size) in enumerate(sizes) if size <= k)
    return tuned(within, total)
