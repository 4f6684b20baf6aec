"""Pairwise products of features, computed block by block ([Sun] 5.5: 90 features become 4,185)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Pairs:
    """The features x_1, ..., x_p followed by all products x_i x_j, i <= j: p (p + 3) / 2 in total."""

    def __init__(self, p: int) -> None:
        self.p = p
        self.left, self.right = np.triu_indices(p)

    @property
    def n_features(self) -> int:
        return self.p + len(self.left)

    def expand(self, X: NDArray[Any], columns: NDArray[np.int64] | None = None) -> NDArray[Any]:
        """The expanded rows, or only some of their columns, for one block of rows."""
        if columns is None:
            return np.hstack([X, X[:, self.left] * X[:, self.right]])
        single = columns < self.p
        pair = columns[~single] - self.p
        out = np.empty((len(X), len(columns)), dtype=X.dtype)
        out[:, single] = X[:, columns[single]]
        out[:, ~single] = X[:, self.left[pair]] * X[:, self.right[pair]]
        return out

    def names(self, names: Sequence[str] | None) -> list[str]:
        """Names of the expanded features: `a`, `a^2`, `a b`."""
        names = [f"x{j}" for j in range(self.p)] if names is None else list(names)
        pairs = zip(self.left, self.right)
        return names + [f"{names[i]}^2" if i == j else f"{names[i]} {names[j]}" for i, j in pairs]
