"""SIGINT and SIGTERM while a model learns."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self


class Interrupted(KeyboardInterrupt):
    """A signal has ended the run between two blocks.

    No `Exception`: it is raised at any line, and what handles errors there, the start of a thread in the
    standard library too, must not take it for one.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """SIGINT and SIGTERM end a run after the block that is being learned, or at once while it waits."""

    def __init__(self) -> None:
        self.pending, self.learning = 0, False

    def __enter__(self) -> Self:
        self.before = {n: signal.signal(n, self._handle) for n in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: Any) -> None:
        if self.pending or not self.learning:  # a second one does not wait either
            raise Interrupted(number)
        self.pending = number

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Signals that come inside end the run at the end of the block."""
        self.learning = True
        try:
            yield
        finally:
            self.learning = False
        if self.pending:
            raise Interrupted(self.pending)
