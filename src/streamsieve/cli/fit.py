"""`streamsieve fit`: learn a model from a stream and write it to a file."""

from __future__ import annotations

from typing import Any

import click

from . import options as opt


@click.command("fit", epilog=opt.METHOD_LIST)
@opt.sources
@click.option("-o", "--output", type=opt.Output(), required=True, help="File to write the model to.")
@opt.model
@opt.errors
@opt.stream
@opt.passing
@opt.checkpoint
@opt.units
@opt.report
@opt.output
def command(source: tuple[str, ...], output: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Learn a model from SOURCE (files, globs, or - for standard input), row by row or by running averages.

    Notes and progress go to stderr. --checkpoint writes the state of the run to a file; after a crash the
    same command with --resume gives the very same model.

    More than one machine: --shard 1/64 to 64/64 in a batch queue, then `merge`; or --scheduler, or --workers.
    """
    from ..persist import save
    from .model_files import note_unused_columns
    from .output import Console, emit

    units = {name: options.pop(name) for name in ("shard", "scheduler", "workers", "unit")}
    units["folder"] = options.pop("unit_folder")
    about: dict[str, Any] = {}
    test: dict[str, float] = {}
    report = options["report"]
    trace = None
    if any(value is not None for value in units.values()):
        from .units import fit_units

        if report is not None:
            raise click.UsageError(
                "--report is of a whole model; `merge` the parts, then `report` the merged one."
            )
        del options["report"], options["history"]

        model, about = fit_units(source, options, output, quiet, **units)
    else:
        from .learning import fit_source

        fitted = fit_source(source, options, output, quiet)
        model, test, trace = fitted.model, fitted.test(), fitted.trace()
    selected = len(model.support)
    save(model, output, about=about)
    if report is not None:
        from .pages import write_report

        write_report(report, model, trace=trace, test=test)
    note_unused_columns(model, Console(quiet))
    result = {
        "model": output,
        "method": model.method_name.lower(),
        "task": model.task_name,
        "rows_learned": model.n_rows,
        "features": model.p,
        "selected": selected,
        **test,
    }
    emit(["name", "value"], list(result.items()), as_json=as_json, keyed=True)
