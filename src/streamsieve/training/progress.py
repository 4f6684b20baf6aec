"""How the progress of a run is shown: `Progress` is what the trainer calls, `ProgressLog` writes messages."""

from __future__ import annotations

import logging
import sys
from typing import Any, Protocol

from ..core.words import counted
from .history import Point

logger = logging.getLogger("streamsieve")
_FIRST = 1024  # rows of the first message; the next ones come when the rows have doubled


class Progress(Protocol):
    """Shows the progress of a run."""

    def due(self, rows: int) -> bool:
        """Whether to show progress after this number of rows."""

    def doubled(self, rows: int) -> bool:
        """Whether the number of rows has doubled since the last update."""

    def update(self, rows: int, measured: tuple[float, int] | None, point: Point | None = None) -> None:
        """Show rows and, if measured, loss and number of features; a point that was just recorded."""


class ProgressLog:
    """The progress of `fit` in Python: a message whenever the number of rows of a stream has doubled, and
    after every pass over rows in memory.

    Messages go to the logger or, if its level is above INFO, to stderr.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.rows, self.next_rows, self.passes = -1, _FIRST, 0

    def due(self, rows: int) -> bool:
        return rows == self.rows or self.doubled(rows)

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

    def finish(self, rows: int, passes: int | None, k: int | None) -> None:
        """Say how many passes were made over the rows, and which k was chosen."""
        if passes is not None:
            self.write(f"{'1 pass' if passes == 1 else f'{passes} passes'} over {counted(rows, 'row')}")
        if k is not None:
            self.write(f"k='auto' chose {counted(k, 'feature')}")

    def write(self, text: str) -> None:
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s: %s", self.label, text)
        else:
            print(f"{self.label}: {text}", file=sys.stderr)
