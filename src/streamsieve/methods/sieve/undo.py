"""How to take back what a call has changed in a sieve."""

from __future__ import annotations

from collections.abc import Callable

from ...core.rows import Rows
from ...core.state import State, Undo

EXTRA = 32 << 20  # bytes for work, beside the memory of a sieve


class SieveUndo(Undo):
    """What a call changes: O(nnz) numbers and, before it makes room, the store as it is then.

    Rows are appended behind those there are, so that to undo it is to cut them off. Making room rewrites the
    store in place; a store of more than `EXTRA` bytes is not copied, since memory is bounded.
    """

    def __init__(self, state: State, rows: Rows) -> None:
        super().__init__(self._put_back, EXTRA, lambda: int(state.rows))
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
        self.mark = None if state.store is None else state.store.mark(rows)
        if self.mark is not None and rows.p > state.store.p and state.store.layout != "csr":
            self.keep_store()  # new columns move the tiles

    def _put_back(self) -> None:
        for name, value in self.fields.items():
            setattr(self.state, name, value)
        if self.mark is not None and not self.kept:
            self.state.store.cut(self.mark)

    def keep_store(self) -> None:
        """Before the store is rewritten: hold a copy, if it is small."""
        if self.mark is not None:
            self.keep(self.state.store.nbytes, self._copy_store)

    def _copy_store(self) -> Callable[[], None]:
        store = self.state.store.copy()

        def put_back() -> None:
            store.cut(self.mark)
            self.state.store = store

        return put_back
