"""Folds of a stream, by the number of the row among those of its class, so that classes are balanced.

And what is compared on the rows that are left out: losses of the same rows, at a ladder of sizes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Array

FOLDS = 5
ERRORS = 0.25  # standard errors that fewer columns may cost: with few rows, a whole one lets one column pass
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def permuted(block: NDArray[np.uint64], place: NDArray[np.int64], stratum: int) -> NDArray[np.uint8]:
    """Fold of the `place`-th row in each block of five: a permutation drawn by a hash of the block."""
    keys = np.empty((len(block), FOLDS), dtype=np.uint64)
    for j in range(FOLDS):
        key = (block * np.uint64(FOLDS) + np.uint64(j + 1)) ^ np.uint64(stratum * 0x51_7C_C1)
        key = (key + np.uint64(1)) * _GOLDEN
        key ^= key >> np.uint64(29)
        key *= np.uint64(0xBF58476D1CE4E5B9)
        keys[:, j] = key ^ (key >> np.uint64(32))
    mine = np.take_along_axis(keys, place[:, None], axis=1)
    return (keys < mine).sum(axis=1).astype(np.uint8)


def assign(strata: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Folds of rows; `counts` (rows so far, by stratum) is updated.

    The classes do not start at the same fold, so that rare ones do not all fall into the first.
    """
    fold = np.empty(len(strata), dtype=np.uint8)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        number = counts[stratum] + np.arange(len(rows))
        counts[stratum] += len(rows)
        fold[rows] = permuted((number // FOLDS).astype(np.uint64), number % FOLDS, int(stratum))
    return fold


def clearly_worse(one: Array, other: Array, errors: float = 2.0) -> bool:
    """Whether the mean loss of the same rows is larger by so many standard errors of the difference."""
    d = one.astype(np.float64) - other
    return bool(d.mean() > errors * d.std() / np.sqrt(len(d)))


def fewest(losses: Mapping[int, Array], errors: float = ERRORS) -> int:
    """The least size whose losses, of the same rows left out, are not clearly worse than the best."""
    best = min(losses.values(), key=np.mean)
    return min(size for size, loss in losses.items() if not clearly_worse(loss, best, errors))


def sizes_to(top: int) -> list[int]:
    """Numbers of columns from `top` down to 1: two in an octave."""
    sizes = [top]
    while sizes[-1] > 1:
        sizes.append(max(1, min(sizes[-1] - 1, round(sizes[-1] / 2**0.5))))
    return sizes
