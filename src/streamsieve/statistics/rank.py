"""The features, or groups, with the largest weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Array
from .standardize import Standardized

TIE = 1e-9


def largest_rows(beta: Array, usable: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
    """The k usable features with the largest weights, largest first; ties by the lower index.

    With several targets a feature's weight is the norm of its row. Weights closer than `TIE` of the largest
    are a tie: the weights of two identical features differ by the rounding of the solver, which must not
    decide.
    """
    size = np.abs(beta[:, 0]) if beta.shape[1] == 1 else np.sqrt((beta * beta).sum(1))
    order = np.argsort(-np.where(usable, size, -1.0), kind="stable")
    order = order[: int(usable.sum())]
    gaps = size[order[:-1]] - size[order[1:]]
    group = np.r_[0, np.cumsum(gaps > TIE * size.max(initial=0.0))][: len(order)]
    return order[np.lexsort((order, group))][:k].astype(np.int64)


def strongest(s: Standardized, beta: Array, k: int) -> NDArray[np.int64]:
    """The k features, or features of the k groups, with the largest weights, largest first.

    Weights are divided by the penalty factors; a group counts by the norm of its weights.
    """
    size = np.sqrt((beta * beta).sum(axis=1))
    usable = s.usable if s.box is None else s.usable & (size > 0)
    if s.group is None and s.factor is None:
        return largest_rows(beta, usable, k)
    label = np.arange(s.p) if s.group is None else np.where(s.group < 0, s.p, s.group)
    factor = np.ones(s.p) if s.factor is None else s.factor
    strength = np.sqrt(np.bincount(label, size**2 * usable, minlength=s.p + 1)[: s.p])
    has = np.bincount(label, usable | (s.usable & (factor == 0)), minlength=s.p + 1)[: s.p] > 0
    by = np.ones(s.p)
    by[label[s.usable]] = factor[s.usable]
    largest = strength.max(initial=0.0) / by[has & (by > 0)].min(initial=1.0)
    strength = np.where(by > 0, strength / np.where(by > 0, by, 1.0), 2 * largest + 1.0)
    chosen = largest_rows(strength[:, None], has, k)
    rank = np.full(s.p + 1, s.p + 1)
    rank[chosen] = np.arange(len(chosen))
    columns = np.flatnonzero(s.usable & (rank[label] <= s.p))
    return columns[np.argsort(rank[label[columns]], kind="stable")]
