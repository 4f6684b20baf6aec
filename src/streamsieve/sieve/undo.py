"""Taking back what a call has changed in a sieve."""

from __future__ import annotations

from ..interrupts import Deferred
from ..rows import Rows
from ..sizes import EXTRA
from ..state import State
from .store import Store


class Undo:
    """What a call changes: O(nnz) numbers and, before it makes room, the store as it is then.

    Rows are appended behind those there are, so that to undo it is to cut them off. Making room rewrites the
    store in place. A store of more than `EXTRA` bytes is not copied, since memory is bounded: Ctrl-C then
    waits for the end of the call, and only lack of memory can leave some of its rows behind.
    """

    def __init__(self, state: State, rows: Rows) -> None:
        self.state = state
        self.fields = {
            name: value.copy()
            if name in ("strata", "mean_sum", "mean_count") and value is not None
            else value
            for name, value in state.fields().items()
        }
        self.fields["_answer"] = getattr(state, "_answer", None)
        if state.first_pass is not None:  # its sums are added to in place
            self.fields["first_pass"] = state.first_pass.copy()
        self.lost, self.interrupts = False, Deferred()
        self.mark = None if state.store is None else state.store.mark(rows)
        self.copy: Store | None = None
        if self.mark is not None and rows.p > state.store.p and state.store.layout != "csr":
            self.keep_store()  # new columns move the tiles

    def keep_store(self) -> None:
        """Hold a copy of the store, if there is none yet and it is small."""
        if self.mark is None or self.copy is not None or self.lost:
            return
        if self.state.store.nbytes > EXTRA:
            self.lost = True
            self.interrupts.begin()
        else:
            self.copy = self.state.store.copy()

    def restore(self) -> None:
        """Take back the rows since; none where a large store has been rewritten."""
        if self.lost:
            return
        for name, value in self.fields.items():
            setattr(self.state, name, value)
        if self.mark is not None:
            store = self.state.store if self.copy is None else self.copy
            store.cut(self.mark)
            self.state.store = store
