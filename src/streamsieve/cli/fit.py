"""`streamsieve fit`: learn a model from a stream and write it to a file."""

from __future__ import annotations

import os
from typing import Any

import click

from . import options as opt

HELP = """\
Learn a model from SOURCE and write it to a file.

For a table: streamsieve fit houses.csv --target price -o houses.model

SOURCE is one or more files, glob patterns, or - for standard input. Notes and progress go to standard error.

With --checkpoint, a run that was interrupted continues: the same command with --resume gives the same
model, bit for bit. On several machines, run it with --shard 1/64 to 64/64 and `merge` the models, or pass
--scheduler.
"""


@click.command("fit", cls=opt.Verb, help=HELP, epilog=opt.METHOD_LIST)
@opt.sources
@click.option("-o", "--output", type=opt.Output(), help="File to write the model to.  [required]")
@opt.schema
@opt.table
@opt.model
@opt.errors
@opt.passing
@opt.files
@opt.checkpoint
@opt.units
@opt.report
@opt.output
def command(source: tuple[str, ...], output: str | None, as_json: bool, quiet: bool, **options: Any) -> None:
    from ..training.saved import save
    from .learning import fit_source, print_schema
    from .model_files import note_names, note_selection
    from .output import Console, emit

    if options.pop("schema_only"):
        print_schema(source, options, as_json, quiet)
        return
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
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
                "--report needs a whole model; `merge` the parts, then `report` the merged one."
            )
        del options["report"], options["history"]

        model, about = fit_units(source, options, output, quiet, **units)
    else:
        fitted = fit_source(source, options, output, quiet)
        model, trace = fitted.model, fitted.trace()
        if os.path.isfile(output) or not os.path.exists(
            output
        ):  # what was written to a pipe cannot be replaced
            save(model, output)  # before it is measured, which may be interrupted
        note_names(model, Console(quiet))
        test = fitted.measure(Console(quiet), for_report=report is not None)
    selected = len(model.support)
    save(model, output, about=about)
    if report is not None:
        from .pages import write_report

        write_report(report, model, trace=trace, test=test)
    note_selection(model, Console(quiet))
    result = {
        "model": output,
        "method": model.method_name.lower(),
        "task": model.task_name,
        "rows_learned": model.n_rows,
        "features": model.p,
        "selected": selected,
        **test,
        **({} if report is None else {"report": report}),
    }
    emit(["name", "value"], list(result.items()), as_json=as_json, keyed=True)
