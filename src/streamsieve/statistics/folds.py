"""Folds of a stream, assigned by the number of a row within its class, so that classes are balanced.

Also functions that compare the held-out losses of several model sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Array, as_vector

FOLDS = 5
MANY = 10_000  # rows above which one fold is left out, not five in turn: it has 2,000 rows to judge by
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def permuted(block: NDArray[np.uint64], place: NDArray[np.int64], stratum: int) -> NDArray[np.uint8]:
    """Fold of the `place`-th row in each block of five rows: a permutation drawn by a hash of the block."""
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
    """The fold of each row; `counts`, the rows so far in each stratum, is updated.

    Classes start at different folds, so that rare classes do not all fall into the first fold.
    """
    fold = np.empty(len(strata), dtype=np.uint8)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        number = counts[stratum] + np.arange(len(rows))
        counts[stratum] += len(rows)
        fold[rows] = permuted((number // FOLDS).astype(np.uint64), number % FOLDS, int(stratum))
    return fold


def clearly_worse(one: Array, other: Array, errors: float = 2.0) -> bool:
    """Whether the mean of `one` exceeds that of `other` by `errors` standard errors of the paired
    difference."""
    d = one.astype(np.float64) - other
    return bool(d.mean() > errors * d.std() / np.sqrt(len(d)))


def fewest(losses: Mapping[int, Array], errors: float) -> int:
    """The smallest size whose held-out losses are within so many standard errors of the best."""
    best = min(losses.values(), key=np.mean)
    return min(size for size, loss in losses.items() if not clearly_worse(loss, best, errors))


def sizes_to(top: int) -> list[int]:
    """Sizes from `top` down to 1, each about 1 / sqrt(2) of the previous one."""
    sizes = [top]
    while sizes[-1] > 1:
        sizes.append(max(1, min(sizes[-1] - 1, round(sizes[-1] / 2**0.5))))
    return sizes


def hash_ids(ids: Any) -> NDArray[np.int64]:
    """A number >= 0 for each id, the same on every machine; 7 and 7.0 are one id."""
    values = as_vector(ids)
    if values.ndim != 1:
        raise ValueError(f"cluster has shape {values.shape}; pass one id a row.")
    if values.dtype.kind in "fiub":
        if values.dtype.kind != "f":
            return _mixed(values.astype(np.int64))
        number = values.astype(np.float64)
        if np.isnan(number).any():
            raise ValueError("cluster has missing values; every row needs an id.")
        whole = (np.abs(number) < 2**62) & (number == np.round(number))
        return _mixed(np.where(whole, np.where(whole, number, 0).astype(np.int64), number.view(np.int64)))
    words, inverse = np.unique(values.astype(str), return_inverse=True)
    if any(value is None or value != value for value in values.tolist()):
        raise ValueError("cluster has missing values; every row needs an id.")
    hashed = [int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) >> 1 for word in words.tolist()]
    return np.array(hashed, dtype=np.int64)[inverse]


def _mixed(number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers hashed by splitmix64, so that consecutive ids go to random folds."""
    z = number.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)
