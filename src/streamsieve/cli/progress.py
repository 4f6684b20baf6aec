"""Progress of a run on stderr: a bar by bytes on a terminal, elsewhere lines at doubling counts of rows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, Self

import click

from ..core.words import counted

BRIEF = 2.0  # seconds; a run that takes less prints one line


class ProgressMeter:
    """Shows rows, rows a second, loss and number of features.

    Parameters
    ----------
    label : str
    total : int or None
        Bytes that will be read.
    bytes_read : callable
        Gives the bytes read so far, or None.
    quiet : bool
    rows : int
        Rows that were learned before.
    """

    def __init__(
        self, label: str, total: int | None, bytes_read: Callable[[], int | None], quiet: bool, rows: int = 0
    ) -> None:
        self.label, self.total, self.bytes_read, self.quiet = label, total, bytes_read, quiet
        self.first_rows, self.rows, self.start = rows, rows, perf_counter()
        self.printed = -1  # rows of the last line
        self.next_rows = 1024
        self.next_time = 0.0
        self.bar: Any = None
        self.measured = ""
        self._double(rows)

    def _double(self, rows: int) -> None:
        while self.next_rows <= rows:
            self.next_rows *= 2

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            columns = [TaskProgressColumn(), TimeRemainingColumn()] if self.total else []
            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(None),
                *columns,
                TextColumn("{task.fields[rows]}"),
                console=Console(stderr=True),
                expand=True,
            )
            self.task = self.bar.add_task(self.label, total=self.total, rows="")
            self.bar.start()
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self._show(self.rows, last=True)
        if self.bar is not None:
            self.bar.stop()

    def due(self, rows: int) -> bool:
        if self.quiet:
            return False
        return rows >= self.next_rows or (self.bar is not None and perf_counter() >= self.next_time)

    def doubled(self, rows: int) -> bool:
        return not self.quiet and rows >= self.next_rows

    def count(self, rows: int) -> None:
        """Record the number of rows; show it if an update is due."""
        self.rows = rows
        if self.due(rows):
            self._show(rows)

    def update(self, rows: int, measured: tuple[float, int] | None, point: Any = None) -> None:  # noqa: ARG002
        """Show rows and, if measured, loss and number of features."""
        self.rows = rows
        if measured is not None:
            self.measured = f"  loss {measured[0]:.4g}  {counted(measured[1], 'feature')}"
        self._show(rows)

    def _show(self, rows: int, *, last: bool = False) -> None:
        if self.quiet:
            return
        done = self.bytes_read()
        rate = (rows - self.first_rows) / max(perf_counter() - self.start, 1e-9)
        text = f"{counted(rows, 'row')}  {rate:,.0f}/s{self.measured}"
        brief = self.total is not None and perf_counter() <= self.start + BRIEF  # a pipe may pause
        due = rows >= self.next_rows and not brief
        if self.bar is not None:
            self.bar.update(self.task, completed=done, rows=text)
            self.next_time = perf_counter() + 0.5
        elif due or (last and rows != self.printed):
            self.printed = rows
            ahead = done == self.total and not last  # all is read, but not yet learned
            share = f"  {done / self.total:4.0%}" if self.total and done is not None and not ahead else ""
            click.echo(f"{self.label}{share}  {text}", err=True)
        self._double(rows)


class UnitMeter:
    """Shows how many units are done: a bar on a terminal, elsewhere at most a line for each percent."""

    def __init__(self, label: str, quiet: bool) -> None:
        self.label, self.quiet, self.start = label, quiet, perf_counter()
        self.printed = -1  # percent of the last line
        self.bar: Any = None

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description} units"), BarColumn(None), MofNCompleteColumn())
            self.bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), expand=True)
            self.task = self.bar.add_task(self.label, total=None)
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Record the number of finished units."""
        if self.bar is not None:
            self.bar.update(self.task, completed=done, total=total)
        elif not self.quiet and 100 * done // total > self.printed:
            self.printed = 100 * done // total
            seconds = perf_counter() - self.start
            click.echo(
                f"{self.label}  {self.printed:3d}%  {done:,} of {counted(total, 'unit')}  {seconds:.1f} s",
                err=True,
            )
