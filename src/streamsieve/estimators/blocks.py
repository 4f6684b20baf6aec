"""Sources of blocks, which `fit` can read several times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.rows import Rows, is_frame, is_sparse
from ..training.trainer import Block


def is_source(X: Any) -> bool:
    """Whether X is a source of blocks (X, y) that can be read repeatedly, and not rows."""
    if isinstance(X, np.ndarray | list | tuple | str | bytes | dict | Rows) or is_sparse(X):
        return False
    return hasattr(X, "__iter__") and not hasattr(X, "__array__") and not is_frame(X)


def blocks_of(source: Any) -> Iterator[tuple[Any, Any, Any]]:
    """X, y and sample weights (or None) of each block of a source."""
    for block in source:
        if not isinstance(block, list | tuple) or len(block) not in (2, 3):
            raise TypeError(
                f"X is a {type(source).__name__} of {type(block).__name__}; expected rows, or a source of "
                "blocks (X, y) or (X, y, sample_weight)."
            )
        X, y, weight = (*block, None)[:3]
        yield X, y, weight


class CheckedBlocks:
    """The blocks of a source with checked rows, from the first on each time.

    `check(X, first)` makes rows of what a block holds; `first` is true for the very first block.
    """

    def __init__(self, source: Any, check: Callable[[Any, bool], Rows], labels: Callable[[Any], Any]) -> None:
        if iter(source) is source:
            raise ValueError(
                f"{type(source).__name__} can be read once only, and fit may read its data several times; "
                "pass an object whose __iter__ starts again, or use partial_fit."
            )
        self.source, self.check, self.labels, self.first = source, check, labels, True

    def __iter__(self) -> Iterator[Block]:
        for X, y, weight in blocks_of(self.source):
            rows = self.check(X, self.first)
            self.first = False
            yield Block(rows, self.labels(y), weight)
