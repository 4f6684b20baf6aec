"""`streamsieve merge`: add up what was learned on different machines."""

from __future__ import annotations

from typing import Any

import click

from . import _options


@click.command("merge")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option("-o", "--output", type=_options.Output(), required=True, help="File to write the sum to.")
@_options.output
def command(files: tuple[str, ...], output: str, as_json: bool, quiet: bool) -> None:
    """Add up running averages: models (or checkpoints) of `fit` with the same method on different rows.

    The sum is the model of all rows, as if one machine had seen them, to rounding. Named features are matched
    by name, and those that a file does not have were 0 there.
    """
    from ..persist import save
    from ._output import Say, emit
    from ._stored import add_up

    done = add_up(files)
    save(done.model, output, about=done.about)
    Say(quiet)(f"Added {len(files)} files.")
    result: dict[str, Any] = {
        "model": output,
        "method": done.about["method"],
        "rows_learned": done.about["rows"],
    }
    result["features"] = int(done.model.n_features_in_)
    emit(["name", "value"], list(result.items()), as_json=as_json, keyed=True)
