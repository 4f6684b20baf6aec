"""Progress of `fit` in Python: to the logger "streamsieve" and, with `verbose`, to stderr."""

from __future__ import annotations

import logging
import sys
from typing import Any

from ..core.words import counted

logger = logging.getLogger("streamsieve")
_FIRST = 1024  # rows of the first message; the next ones come when the rows have doubled


class ProgressLog:
    """Writes a message whenever the number of rows of a stream has doubled, and after every pass over rows in
    memory.

    Messages go to the logger at level INFO. If it has no handler, `verbose` prints them to stderr.
    """

    def __init__(self, label: str, verbose: bool) -> None:
        self.label, self.verbose = label, verbose
        self.rows, self.next_rows = -1, _FIRST
        self.passes = 0

    @property
    def on(self) -> bool:
        return self.verbose or logger.isEnabledFor(logging.INFO)

    def due(self, rows: int) -> bool:
        return self.on and (rows == self.rows or self.doubled(rows))

    def doubled(self, rows: int) -> bool:
        return rows >= self.next_rows

    def update(self, rows: int, measured: tuple[float, int] | None, point: Any = None) -> None:  # noqa: ARG002
        found = "" if measured is None else f", loss {measured[0]:.4g}, {counted(measured[1], 'feature')}"
        self.passes = self.passes + 1 if rows == self.rows else 1
        again = f", pass {self.passes}" if self.passes > 1 else ""
        self.write(f"{counted(rows, 'row')}{again}{found}")
        self.rows = rows
        while self.next_rows <= rows:
            self.next_rows *= 2

    def write(self, text: str) -> None:
        """Write one message, if there is a handler."""
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s: %s", self.label, text)
        elif self.verbose:
            print(f"{self.label}: {text}", file=sys.stderr)
