"""How far a run is: a bar by bytes on a terminal, elsewhere lines at doubling counts. All on stderr."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any, Self

import click


class Meter:
    """Shows rows, rows a second, loss and support; `due` says when it is worth working out the latter two."""

    def __init__(self, what: str, total: int | None, quiet: bool, rows: int = 0) -> None:
        self.what, self.total, self.quiet = what, total, quiet
        self.begun, self.start = rows, perf_counter()
        self.said = -1  # rows of the last line
        self.next_row = 1024
        while self.next_row <= rows:
            self.next_row *= 2
        self.next_look = 0.0
        self.bar: Any = None
        self.told = ""

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            bar = (
                [BarColumn(None), TaskProgressColumn(), TimeRemainingColumn()]
                if self.total
                else [BarColumn(None)]
            )
            self.bar = Progress(
                TextColumn("{task.description}"),
                *bar,
                TextColumn("{task.fields[rows]}"),
                console=Console(stderr=True),
                expand=True,
            )
            self.task = self.bar.add_task(self.what, total=self.total, rows="")
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def due(self, rows: int) -> bool:
        if self.quiet:
            return False
        return rows >= self.next_row or (self.bar is not None and perf_counter() >= self.next_look)

    def doubled(self, rows: int) -> bool:
        """Whether the count has doubled since the last line."""
        return not self.quiet and rows >= self.next_row

    def update(
        self, rows: int, done: int | None, look: tuple[float, int] | None, *, last: bool = False
    ) -> None:
        """`look` is loss and support, where they were worked out."""
        if self.quiet:
            return
        if look is not None:
            self.told = f"  loss {look[0]:.4g}  {look[1]:,} features"
        rate = (rows - self.begun) / max(perf_counter() - self.start, 1e-9)
        text = f"{rows:,} rows  {rate:,.0f}/s{self.told}"
        if self.bar is not None:
            self.bar.update(self.task, completed=done, rows=text)
            self.next_look = perf_counter() + 0.5
        elif rows >= self.next_row or (last and rows != self.said):
            self.said = rows
            share = f"  {done / self.total:4.0%}" if self.total and done is not None else ""
            click.echo(f"{self.what}{share}  {text}", err=True)
        while self.next_row <= rows:
            self.next_row *= 2
