"""The at most k features that a budgeted learner keeps: a heap, worst first, updated in place by the kernels.

The state of `Heap` in ``cpp/core/heap.hpp``. Besides its heaps a learner has `place` (p,): 1 + the place in
the heap of a kept feature, 0 or less for all others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.method import Method
from ...core.params import Int, Or, Param, Real
from ...core.rows import Array
from ...core.state import Field, State, array, check_finite, record, zeros
from . import steps
from .steps import AUTO, check_clock

ENTRY = np.dtype([("score", np.float64), ("feature", np.float64)])

#: Within this limit of rows, and with parameters from its inverse on, no step can overflow.
LIMIT = 1e30
POSITIVE, NOT_NEGATIVE = Real(1 / LIMIT, LIMIT), Real(0, LIMIT)

FIXED_K = Param(10, Int(1), "Maximum number of features.", symbol="B")
K = Param(10, Or(Int(1), "auto"), f"Maximum number of features. {AUTO}", symbol="B")


class Budgeted(Method):
    """Base of the learners that keep the k best features in a heap after every row."""

    k, criterion = K, steps.CRITERION
    standardize, fit_intercept, grow, refit = steps.UNITS, steps.FIT_INTERCEPT, steps.GROW, steps.REFIT
    max_iter, tol, shuffle, random_state = steps.MAX_ITER, steps.TOL, steps.SHUFFLE, steps.RANDOM_STATE

    limit = LIMIT
    can_overflow = False
    prepare = "unit rows"

    def resize(self, p: int) -> None:
        super().resize(p)
        resize_heap(self.state.kept, min(self.k, p))

    def check_state(self) -> None:
        check_finite(self.state)
        check_clock(self.state.clock)
        check_heap("kept", self.state.kept, self.state.place)


def new_heap(room: int, role: str = "slot") -> State:
    """Room for this many features; the heap is empty."""
    return State(
        entry=array(np.zeros(room, dtype=ENTRY), role),
        size=zeros(fixed=1, dtype=np.int64),
    )


def row_count() -> Field:
    """The clock of a learner whose steps depend on the row count alone."""
    return record(rows=0.0, weight=0.0)


def heap_features(heap: State) -> NDArray[np.int64]:
    """The features in the heap, in its order."""
    features: NDArray[np.int64] = heap.entry["feature"][: heap.size[0]].astype(np.int64)
    return features


def set_heap(heap: State, place: NDArray[np.int32], features: NDArray[np.int64], score: Array) -> None:
    """Put these features, with their scores, into an empty heap."""
    # worst first, and of equals the higher index: sorted like that it is a heap
    order = np.lexsort((-features, score))
    n = len(features)
    heap.entry["feature"][:n], heap.entry["score"][:n] = features[order], score[order]
    heap.size[0] = n
    place[features[order]] = 1 + np.arange(n)


def resize_heap(heap: State, room: int) -> None:
    """Give the heap room for this many features, at least for those that it holds."""
    room = max(room, int(heap.size[0]))
    if room != len(heap.entry):
        entry = np.zeros(room, dtype=ENTRY)
        n = min(room, len(heap.entry))
        entry[:n] = heap.entry[:n]
        heap.entry = entry


def check_heap(name: str, heap: State, place: NDArray[np.int32], sign: int = 1) -> None:
    """Raise ValueError if the heap and `place` disagree; entries of `place` are sign * (1 + place)."""
    n = int(heap.size[0])
    if not 0 <= n <= len(heap.entry):
        raise ValueError(f"{name}: {n} features are in a heap with room for {len(heap.entry)}.")
    features = np.flatnonzero(sign * place > 0)
    at = sign * place[features].astype(np.int64) - 1
    if not np.array_equal(np.sort(at), np.arange(n)):
        raise ValueError(f"{name}: the places of the features are not those of a heap of {n}.")
    if not np.array_equal(heap.entry["feature"][at], features):
        raise ValueError(f"{name}: the heap holds other features than those that have a place in it.")
