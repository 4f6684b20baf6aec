"""`streamsieve fit`: learn a model from a stream and write it to a file."""

from __future__ import annotations

from typing import Any

import click

from . import _options


@click.command("fit", epilog=_options.METHODS)
@_options.sources
@click.option("-o", "--output", type=_options.Output(), required=True, help="File to write the model to.")
@_options.model
@_options.stream
@_options.passing
@_options.checkpoint
@_options.output
def command(source: tuple[str, ...], output: str, as_json: bool, quiet: bool, **told: Any) -> None:
    """Learn a model from SOURCE (files, globs, or - for standard input), row by row or by running averages.

    What it chose, and how far it is, is said on stderr. --checkpoint keeps the state of the run; after a
    crash the same command with --resume ends with the very same model.
    """
    from ..persist import save
    from ._learn import test_rows
    from ._output import emit
    from ._verb import learned

    rows, done = learned(source, told, quiet)
    save(done.model, output, about=done.about)
    chosen = int(done.model.get_support().sum())
    result = {
        "model": output,
        "method": done.about["method"],
        "task": done.about["task"],
        "rows_learned": done.about["rows"],
        "features": int(done.model.n_features_in_),
        "selected": chosen,
        **{f"test_{name}": value for name, value in (test_rows(rows, done) or {}).items()},
    }
    emit(["name", "value"], list(result.items()), as_json=as_json, keyed=True)
