"""The at most k features that a learner keeps: a heap, worst first, and a hash table of their slots.

The state of `Kept` in ``cpp/core/topk.hpp``: of each slot its feature, its place in the heap and its score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.rows import Array
from ...core.state import State, zeros


def _table(room: int) -> NDArray[np.int32]:
    return np.zeros(1 << max(1, (8 * room - 1).bit_length()), dtype=np.int32)


def new_kept(room: int) -> State:
    """Room for this many features; none is kept yet."""
    return State(
        entry=zeros(slot=room, fixed=3, dtype=np.int64),  # feature, place in the heap; the heap
        score=zeros(slot=room),
        size=zeros(fixed=1, dtype=np.int64),
        table=zeros(slot=len(_table(room)), dtype=np.int32),  # slots by feature, by hash
    )


def kept_features(kept: State) -> NDArray[np.int64]:
    """The features by slot."""
    features: NDArray[np.int64] = kept.entry[: kept.size[0], 0].copy()
    return features


def set_kept(kept: State, features: NDArray[np.int64], score: Array) -> None:
    """Keep these features, with the scores of all features given."""
    # worst first, and of equals the higher index: sorted like that it is a heap
    features = features[np.lexsort((-features, score[features]))]
    n = len(features)
    kept.entry[:n] = np.column_stack([features, np.arange(n), np.arange(n)])
    kept.score[:n], kept.size[0] = score[features], n
    _index(kept)


def _index(kept: State) -> None:
    kept.table = _table(len(kept.score))
    _core.index_kept(kept.entry[: kept.size[0]], kept.table)


def resize_kept(state: State, k: int, p: int) -> None:
    """Room for k of p features, in `state.kept` and the weights by slot."""
    kept = state.kept
    room = max(min(k, p), int(kept.size[0]))
    if room == len(kept.score):
        return
    kept.entry, kept.score = _longer(kept.entry, room), _longer(kept.score, room)
    state.weight = _longer(state.weight, room)
    if len(kept.table) != len(_table(room)):
        _index(kept)


def _longer(a: NDArray[np.generic], n: int) -> NDArray[np.generic]:
    out = np.zeros((n, *a.shape[1:]), dtype=a.dtype)
    out[: min(n, len(a))] = a[:n]
    return out


def check_kept(state: State, p: int) -> None:
    """Raise ValueError for a heap and table from a file that are inconsistent."""
    kept = state.kept
    room, n = len(kept.score), int(kept.size[0])
    if not 0 <= n <= room or len(kept.table) != len(_table(room)):
        raise ValueError(f"{n} features are kept where there is room for {room}.")
    if len(kept.entry) != room or len(state.weight) != room:
        raise ValueError("the arrays of the kept features have different lengths.")
    features, place, heap = kept.entry[:n].T
    if n and not (features.min() >= 0 and features.max() < p):
        raise ValueError(f"a kept feature is not among {p}.")
    slots = np.arange(n)
    if not (np.array_equal(np.sort(heap), slots) and np.array_equal(heap[place], slots)):
        raise ValueError("the heap of the kept features is not a heap.")
    used = kept.table[kept.table != 0]
    if not np.array_equal(np.sort(used), slots + 1) or not _core.finds_kept(kept.entry[:n], kept.table):
        raise ValueError("the table of the kept features lists other features.")
