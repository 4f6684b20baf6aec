"""What a command writes: results on stdout (a table on a terminal, TSV when piped, JSON on request), notes on
stderr, and files: never an input, a model only over a model, whole or not.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from ..core.words import counted, printable
from ..persist.files import is_checkpoint, replacing

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
    facts = (
        f"[dim]{name.replace('_', ' ')}[/dim] {escape(short(value))}"
        for name, value in about.items()
        if not name.startswith("test_")  # a note says it in words
    )
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
        return f"{value:,.0f}" if 1e3 <= abs(value) < 1e12 else f"{value:.4g}"
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
    """Exit at once: a normal exit would block on the thread that reads standard input."""
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


def note_rows(stream: Any, console: Console, known: dict[str, int] | None = None) -> None:
    """Rows that were left out and words read as missing, but not the `known` words of a schema."""
    if stream.rows_bad:
        console.note(f"Skipped {counted(stream.rows_bad, 'bad row')}.")
    if stream.rows_unlabelled:
        console.note(f"Left out {counted(stream.rows_unlabelled, 'row')} without a target.")
    odd = {name: n for name, n in stream.odd_cells.items() if n > (known or {}).get(name, 0)}
    if odd:
        few = ", ".join(f"{name} ({n:,})" for name, n in list(odd.items())[:6])
        console.note(f"Words among numbers, read as missing: {few}.")


# ---------------------------------------------------------------- files

#: Names of standard output. Text is written to it line by line: it may be a file that others append to.
STDOUT = ("-", "/dev/stdout", "/dev/fd/1")


def check_outputs(
    inputs: Iterable[str],
    *,
    models: dict[str, str | None] | None = None,
    texts: dict[str, str | None] | None = None,
) -> None:
    """Raise UsageError if an output (given by option) would replace an input, another output or other data.

    Models and checkpoints replace nothing but models; text never replaces a model. Standard output must not
    be an input either: `>> rows.csv` would append to the rows that are being read.
    """
    seen = {key: f"{name}, which this command reads" for name in inputs for key in _identity(name)}
    written = next((seen[key] for key in _of_stream(sys.stdout) if key in seen), None)
    if written is not None:
        raise click.UsageError(f"Standard output is redirected to {written}; write to another file.")
    for is_model, outputs in ((True, models or {}), (False, texts or {})):
        for option, file in outputs.items():
            if is_model and file == "-":
                raise click.UsageError(f"{option} -: a model is written to a file, not to standard output.")
            if file is None or (file in STDOUT and not is_model):
                continue
            keys = _identity(file)
            clash = next((seen[key] for key in keys if key in seen), None)
            if clash is not None:
                raise click.UsageError(f"{option} {file} would replace {clash}; write to another file.")
            seen |= dict.fromkeys(keys, f"the file of {option}")
            if not os.path.isfile(file) or os.path.getsize(file) == 0:
                continue
            if is_model and not is_checkpoint(file):
                raise click.UsageError(
                    f"{option} {file} exists and is not a model; delete it first, or write to another file."
                )
            if not is_model and is_checkpoint(file):
                raise click.UsageError(
                    f"{option} {file} is a model; delete it first, or write to another file."
                )


def _identity(file: str) -> list[Any]:
    """Key that two names of one file share: device and inode, or the path if it does not exist."""
    if file == "-":
        return _of_stream(sys.stdin)
    try:
        return _of_file(os.stat(file))
    except (OSError, ValueError):
        return [os.path.realpath(file)]


def _of_stream(stream: Any) -> list[Any]:
    try:
        return _of_file(os.fstat(stream.fileno()))
    except (AttributeError, OSError, ValueError):  # closed, or not a file
        return []


def _of_file(status: os.stat_result) -> list[Any]:
    return [(status.st_dev, status.st_ino)] if stat.S_ISREG(status.st_mode) else []


@contextmanager
def writing(file: str) -> Iterator[Any]:
    """A text stream to standard output, or to a file that appears only when it is complete."""
    if file in STDOUT:
        yield sys.stdout
        return
    with replacing(file) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", write_through=False)
        yield text
        text.flush()
        text.detach()
