"""Rows with targets and weights, on their way from a reader to a block: cut, picked, joined, queued."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Rows


class Examples(NamedTuple):
    """Rows, targets, weights and clusters. Sparse rows get their width (`p`) only when a block is made."""

    rows: Rows
    y: NDArray[Any] | None
    weight: NDArray[np.float64] | None
    cluster: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        return len(self.rows)

    def cut(self, start: int, stop: int) -> Examples:
        """Consecutive examples; nothing is copied."""
        if (start, stop) == (0, self.n):
            return self
        others: Any = (None if a is None else a[start:stop] for a in self[1:])
        return Examples(self.rows[start:stop], *others)

    def pick(self, at: NDArray[np.int64]) -> Examples:
        """The examples of these numbers."""
        others: Any = (None if a is None else a[at] for a in self[1:])
        return Examples(self.rows.take(at), *others)

    @staticmethod
    def concat(parts: Sequence[Examples]) -> Examples:
        if len(parts) == 1:
            return parts[0]
        others = (
            None if each[0] is None else np.concatenate(each) for each in zip(*(part[1:] for part in parts))
        )
        return Examples(Rows.concat([part.rows for part in parts]), *others)


class ExampleQueue:
    """Examples pushed in parts of any size and pulled in any number."""

    def __init__(self) -> None:
        self._parts: deque[Examples] = deque()
        self.n = 0
        self.n_values = 0

    def peek(self) -> list[Examples]:
        """What is queued."""
        return list(self._parts)

    def push(self, examples: Examples) -> None:
        if examples.n:
            self._parts.append(examples)
            self.n += examples.n
            self.n_values += examples.rows.n_values

    def pull(self, n: int, n_values: int) -> Examples:
        """The next n examples, or as many of them as hold at most so many values, but at least one."""
        out: list[Examples] = []
        while n and self._parts:
            part = self._parts.popleft()
            m = min(n, part.n)
            if part.rows.n_values > n_values:
                m = min(m, part.rows.rows_within(n_values))
                m = m if out else max(1, m)
            if m < part.n:
                self._parts.appendleft(part.cut(m, part.n))
            if m:
                out.append(part.cut(0, m))
            if m < part.n:
                break
            n -= m
            n_values -= part.rows.n_values
        examples = Examples.concat(out)
        self.n -= examples.n
        self.n_values -= examples.rows.n_values
        return examples
