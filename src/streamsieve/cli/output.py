"""Results on stdout (a table on a terminal, TSV when piped, JSON on request), all else on stderr."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from ..core.words import printable

Row = Sequence[Any]


def emit(
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    as_json: bool,
    title: str = "",
    about: dict[str, Any] | None = None,
    keyed: bool = False,
) -> None:
    """Print rows. `about` heads the JSON and ends a table; `keyed` rows are names and values."""
    about = about or {}
    if as_json:
        tree = {**about, "rows": [dict(zip(columns, row)) for row in rows]}
        tree = {row[0]: row[1] for row in rows} if keyed else tree
        click.echo(json.dumps(plain(tree), indent=2, allow_nan=False))
    elif sys.stdout.isatty():
        _print_pairs(rows) if keyed else _print_table(columns, rows, title, about)
    else:
        click.echo("\t".join(map(exact, columns)))
        for row in rows:
            click.echo("\t".join(exact(value) for value in row))


def _print_table(columns: Sequence[str], rows: Sequence[Row], title: str, about: dict[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console as Terminal
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=escape(title), box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False
    )
    for j, name in enumerate(columns):
        numeric = all(isinstance(row[j], int | float | None) for row in rows)
        table.add_column(escape(printable(name)), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(short(value)) for value in row))
    terminal = Terminal()
    terminal.print(table)
    facts = (f"[dim]{name.replace('_', ' ')}[/dim] {escape(short(value))}" for name, value in about.items())
    terminal.print(" [dim]·[/dim] ".join(facts), highlight=False)


def _print_pairs(rows: Sequence[Row]) -> None:
    from rich.console import Console as Terminal
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in rows:
        shown = name if name.startswith("parameter ") else name.replace("_", " ")
        table.add_row(f"[dim]{shown}", "none" if value is None else escape(short(value)))
    Terminal().print(table, highlight=False)


def exact(value: Any) -> str:
    """For another program: all digits of numbers, and text that can be read back.

    Tabs, line ends, other control characters and backslashes are escaped as in Python. So is a first letter
    that would make a spreadsheet compute a name: '=', '+', '-' or '@'.
    """
    if isinstance(value, float | int):
        return str(value)
    if not isinstance(value, str):
        return "" if value is None else printable(str(value))
    text = printable(value.replace("\\", "\\\\"))
    return f"\\x{ord(text[0]):02x}{text[1:]}" if text[:1] in tuple("=+-@") and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def short(value: Any) -> str:
    """For a reader."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(short(v) for v in value)
    return printable(str(value))


def plain(value: Any) -> Any:
    """The value as JSON has it; NaN and infinity are null."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def leave(code: int) -> NoReturn:
    """End at once: an orderly end would wait for the thread that waits for standard input."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Console:
    """Notes on stderr, unless the command is quiet."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    def note(self, text: str) -> None:
        if text and not self.quiet:
            click.echo(printable(text), err=True)
