"""All rows of a call, or none: what a call has changed is put back where it fails."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` makes enums, at ten times the cost
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Deferred:
    """Between `begin` and `end` SIGINT is noted, and handled at the end.

    Only the main thread gets signals; in others nothing has to be done.
    """

    def __init__(self) -> None:
        self._handler: Any = None
        self._came: tuple[int, Any] | None = None

    def begin(self) -> None:
        if threading.get_ident() == threading.main_thread().ident:
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._note)

    def end(self) -> None:
        if self._handler is not None:
            handler, self._handler = self._handler, None
            signal.signal(signal.SIGINT, handler)
            if self._came is not None:
                handler(*self._came)

    def _note(self, number: int, frame: Any) -> None:
        self._came = number, frame


class Undo:
    """How to put back what a call changes.

    Small parts are copied before the call: `restore` puts them back. Before a large part changes, `keep`
    copies it too, unless it takes more than `most` bytes. Then the call cannot be undone: Ctrl-C waits for
    its end, and only lack of memory can leave some of its rows behind; `count`, the rows so far, says how
    many.
    """

    def __init__(
        self,
        restore: Callable[[], None] | None = None,
        most: int = 0,
        count: Callable[[], int] | None = None,
    ) -> None:
        self._restore = [] if restore is None else [restore]
        self.most, self._count = most, count
        self._before = 0 if count is None else count()
        self.kept = self.lost = False
        self.interrupts = Deferred()

    def keep(self, n_bytes: int, copy: Callable[[], Callable[[], None]]) -> None:
        """Before a part of so many bytes changes: hold the copy that `copy` makes, which returns how to put
        it back. Nothing happens the second time."""
        if self.kept or self.lost:
            return
        if n_bytes > self.most:
            self.cannot()
        else:
            self._restore.append(copy())
            self.kept = True

    def cannot(self) -> None:
        """The call cannot be undone from here on: signals wait for its end."""
        self.lost = True
        self.interrupts.begin()

    def restore(self, error: BaseException) -> None:
        """Put everything back; where a part has changed that was too large to copy, say so in the error."""
        if not self.lost:
            for put_back in self._restore:
                put_back()
        elif self._count is not None:
            error.add_note(f"The first {self._count() - self._before} rows of this call have been learned.")


@contextmanager
def transaction(undo: Undo) -> Iterator[Undo]:
    """What fails inside is undone; a signal that had to wait is handled at the end."""
    try:
        yield undo
    except BaseException as error:
        undo.restore(error)
        raise
    finally:
        undo.interrupts.end()
