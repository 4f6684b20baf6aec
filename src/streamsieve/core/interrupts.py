"""Ctrl-C that waits until a change of state is complete."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` makes enums, at ten times the cost
import threading
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
