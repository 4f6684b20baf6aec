"""How to take back what a call adds to running averages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.transaction import Undo

if TYPE_CHECKING:
    from .running import RunningAverages

LARGE = 8 << 20  # bytes of sums, of about 1000 features, of which no second copy is made


class AveragesUndo(Undo):
    """Averages as they are now. Most calls only append to buffers: O(1), or O(p) where values are imputed."""

    def __init__(self, a: RunningAverages) -> None:
        super().__init__(self._put_back, LARGE, lambda: a.n_samples_)
        self.averages, self.fields = a, a.fields()
        self.numbers = a.forgetting.unit, a.forgetting.total, a.forgetting.pace
        self.begun = a.moments is not None
        if not self.begun:
            return
        if a.missing == "mean":
            for name in ("n_imputed_", "imputer_sums"):
                self.fields[name] = self.fields[name].copy()
        self.placed, self.packed = a.moments.placed, a.dense.rows
        self.lists = a.sparse.rows, a.sparse.targets, a.sparse.weights
        self.buffered, self.n_values = len(a.sparse.rows), a.sparse.n_values

    def _put_back(self) -> None:
        a = self.averages
        for name, value in self.fields.items():
            setattr(a, name, value)
        a.forgetting.unit, a.forgetting.total, a.forgetting.pace = self.numbers
        a._changes += 1
        if not self.begun:
            return
        if not self.placed:
            a.moments.center[:] = 0.0
            a.moments.placed = False
        a.dense.rows = self.packed
        for parts in self.lists:
            del parts[self.buffered :]
        a.sparse.rows, a.sparse.targets, a.sparse.weights = self.lists
        a.sparse.n_values = self.n_values

    def keep_sums(self) -> None:
        """Before the O(p^2) sums change: hold a copy, unless they are `LARGE`."""
        if self.begun:
            self.keep(self.averages.moments.sums.nbytes, self._copy_sums)

    def _copy_sums(self) -> Callable[[], None]:
        a = self.averages
        if a.missing != "mean":
            self.fields["imputer_sums"] = self.fields["imputer_sums"].copy()
        moments, packed, placed = a.moments.copy(), self.packed.copy(), self.placed

        def put_back() -> None:
            a.moments, a.dense.rows = moments, packed
            if not placed:
                a.moments.center[:] = 0.0
                a.moments.placed = False

        return put_back
