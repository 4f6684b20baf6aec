"""Clusters of rows that depend on each other, by the hashes of their ids."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import as_vector


def hash_ids(ids: Any) -> NDArray[np.int64]:
    """A number >= 0 for each id, the same wherever it is computed; 7 and 7.0 are one id."""
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
    """Numbers scattered by splitmix64, so that ids in sequence go to folds as if drawn."""
    z = number.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)
