"""The one rule for files that a command writes: never an input, a model only over a model, whole or not."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from ..persist.files import is_checkpoint, replacing

#: Names of standard output, to which texts are written as they come: it may be a file that others append to.
STDOUT = ("-", "/dev/stdout", "/dev/fd/1")


def check_outputs(
    inputs: Iterable[str],
    *,
    models: dict[str, str | None] | None = None,
    texts: dict[str, str | None] | None = None,
) -> None:
    """Raise UsageError for an output, by option, that would replace an input, another output or other data.

    Models and checkpoints replace nothing but models; texts never replace a model. Standard output is no
    input either: `>> rows.csv` would write below the rows that are being read.
    """
    seen = {key: f"{name}, which this command reads" for name in inputs for key in _identity(name)}
    written = next((seen[key] for key in _of_stream(sys.stdout) if key in seen), None)
    if written is not None:
        raise click.UsageError(f"Standard output leads to {written}; write to another file.")
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
    """What tells that two names are of one file: device and inode, or the path of one that does not exist."""
    if file == "-":
        return _of_stream(sys.stdin)
    try:
        return _of_file(os.stat(file))
    except (OSError, ValueError):
        return [os.path.realpath(file)]


def _of_stream(stream: Any) -> list[Any]:
    try:
        return _of_file(os.fstat(stream.fileno()))
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return []


def _of_file(status: os.stat_result) -> list[Any]:
    return [(status.st_dev, status.st_ino)] if stat.S_ISREG(status.st_mode) else []


@contextmanager
def writing(file: str) -> Iterator[Any]:
    """A text stream to a file that is there as a whole at the end, or to standard output."""
    if file in STDOUT:
        yield sys.stdout
        return
    with replacing(file) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", write_through=False)
        yield text
        text.flush()
        text.detach()
