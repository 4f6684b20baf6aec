"""`streamsieve select`: the features that matter."""

from __future__ import annotations

from typing import Any

import click

from . import _options


@click.command("select", epilog=_options.METHODS)
@_options.sources
@click.option("-o", "--output", type=_options.Output(), help="File to write the model to as well.")
@_options.model
@_options.stream
@_options.passing
@_options.checkpoint
@_options.output
def command(source: tuple[str, ...], output: str | None, as_json: bool, quiet: bool, **told: Any) -> None:
    """Print the features of SOURCE that matter, with their weights, the strongest first.

    SOURCE is files, globs, or - for standard input; or one model of `fit` or `merge` on running averages,
    from which any -k and --method can be had without reading a row again.
    """
    from ..persist import is_checkpoint, save
    from ._learn import feature_table, test_rows
    from ._output import Say, emit
    from ._stored import select_stored
    from ._verb import learned

    if len(source) == 1 and is_checkpoint(source[0]):
        done, test = select_stored(source[0], told, Say(quiet)), None
    else:
        rows, done = learned(source, told, quiet)
        test = test_rows(rows, done)
    if output is not None:
        save(done.model, output, about=done.about)
    columns, table = feature_table(done.model, done.about)
    about = {name: done.about[name] for name in ("method", "task")}
    about |= {"rows_learned": done.about["rows"], "features": int(done.model.n_features_in_)}
    about |= {f"test_{name}": value for name, value in (test or {}).items()}
    emit(columns, table, as_json=as_json, title=f"{len(table)} features", about=about)
