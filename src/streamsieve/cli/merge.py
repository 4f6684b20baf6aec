"""`streamsieve merge`: merge models that were learned on different machines."""

from __future__ import annotations

import click

from . import options as opt

HELP = """\
Merge models (or checkpoints) on running averages that `fit` learned from different rows with one method.

The result is the model of all rows, as if one machine had read them, up to rounding. Named features are
matched by name; a feature that a file does not have counts as 0 there.

Shards (`fit --shard I/N`) are merged in any order, each of the N once; the result is always the same bytes.
"""


@click.command("merge", help=HELP)
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option("-o", "--output", type=opt.Output(), required=True, help="File to write the merged model to.")
@opt.output
def command(files: tuple[str, ...], output: str, as_json: bool, quiet: bool) -> None:
    from ..core.words import counted
    from ..training.saved import save
    from .model_files import merge_files
    from .output import Console, check_outputs, emit

    check_outputs(files, models={"--output": output})
    model = merge_files(files)
    selected = len(model.support)
    save(model, output)
    Console(quiet).note(f"Merged {counted(len(files), 'file')}.")
    result = {
        "model": output,
        "method": model.method_name.lower(),
        "rows_learned": model.n_rows,
        "features": model.p,
        "selected": selected,
    }
    emit(["name", "value"], list(result.items()), as_json=as_json, keyed=True)
