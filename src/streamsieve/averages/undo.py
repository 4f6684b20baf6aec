"""What a call adds to running averages, and how to take it back: all rows of a call, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interrupts import Deferred

if TYPE_CHECKING:
    from .running import RunningAverages

LARGE = 8 << 20  # bytes of sums, of about 1000 features, of which no second copy is made


class Undo:
    """Averages as they are now. Most calls only append to buffers: O(1), or O(p) where values are imputed.

    Before the first block is multiplied, `keep_sums` copies the O(p^2) sums, unless they are `LARGE`. Then
    Ctrl-C waits for the end of the call, and only lack of memory can leave some of its rows behind.
    """

    def __init__(self, averages: RunningAverages) -> None:
        self.averages, self.fields = averages, averages.fields()
        forgetting = averages.forgetting
        self.numbers = forgetting.unit, forgetting.total, forgetting.pace
        self.held: Any = None
        self.lost, self.interrupts = False, Deferred()
        if averages.moments is None:
            return
        if averages.missing == "mean":
            for name in ("n_imputed_", "imputer_sums"):
                self.fields[name] = self.fields[name].copy()
        self.placed = averages.moments.placed
        self.packed = averages.dense.rows
        sparse = averages.sparse
        self.lists = sparse.rows, sparse.targets, sparse.weights
        self.waiting, self.n_values = len(sparse.rows), sparse.n_values

    def keep_sums(self) -> None:
        """Before the sums change."""
        a = self.averages
        if self.held is not None or self.lost or self.fields["moments"] is None:
            return
        if a.moments.sums.nbytes > LARGE:
            self.lost = True
            self.interrupts.begin()
            return
        if a.missing != "mean":
            self.fields["imputer_sums"] = self.fields["imputer_sums"].copy()
        self.held = a.moments.copy(), self.packed.copy()

    def restore(self) -> None:
        """Take back the rows since; none where sums have changed that are `LARGE`."""
        if self.lost:
            return
        a = self.averages
        for name, value in self.fields.items():
            setattr(a, name, value)
        a.forgetting.unit, a.forgetting.total, a.forgetting.pace = self.numbers
        a._changes += 1
        if a.moments is None:
            return
        if self.held is not None:
            a.moments, self.packed = self.held
        if not self.placed:
            a.moments.center[:] = 0.0
            a.moments.placed = False
        a.dense.rows = self.packed
        for parts in self.lists:
            del parts[self.waiting :]
        a.sparse.rows, a.sparse.targets, a.sparse.weights = self.lists
        a.sparse.n_values = self.n_values
