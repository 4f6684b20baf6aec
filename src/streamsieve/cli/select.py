"""`streamsieve select`: the features that matter."""

from __future__ import annotations

from typing import Any

import click

from . import options as opt

HELP = """\
Print the features of SOURCE that matter, with their effects and weights, the strongest first.

For a table: streamsieve select houses.csv --target price

SOURCE is one or more files, glob patterns, or - for standard input. It can also be a model on running
averages from `fit` or `merge`: -k and --method then extract another model from these averages, without
reading a row.
"""


@click.command("select", cls=opt.Verb, help=HELP, epilog=opt.METHOD_LIST)
@opt.sources
@click.option("-o", "--output", type=opt.Output(), help="Also write the model to this file.")
@opt.schema
@opt.table
@opt.model
@opt.errors
@opt.passing
@opt.files
@opt.checkpoint
@opt.report
@opt.output
def command(source: tuple[str, ...], output: str | None, as_json: bool, quiet: bool, **options: Any) -> None:
    from ..persist import is_checkpoint
    from ..training.saved import save
    from .learning import fit_source, print_schema
    from .model_files import feature_table, note_selection, select_from_file
    from .output import Console, check_outputs, emit

    if options.pop("schema_only"):
        print_schema(source, options, as_json, quiet)
        return
    test: dict[str, float] = {}
    report, trace = options["report"], None
    if len(source) == 1 and is_checkpoint(source[0]):
        check_outputs(source, models={"--output": output}, texts={"--report": report})
        model = select_from_file(source[0], options, Console(quiet))
    else:
        fitted = fit_source(source, options, output, quiet)
        model, trace = fitted.model, fitted.trace()
        test = fitted.measure(Console(quiet), for_report=report is not None)
    columns, table = feature_table(model)
    if output is not None:
        save(model, output)
    if report is not None:
        from .pages import write_report

        write_report(report, model, trace=trace, test=test)
    about = {
        "method": model.method_name.lower(),
        "task": model.task_name,
        "rows_learned": model.n_rows,
        "features": model.p,
        **test,
    }
    linear = model.method.linear_model()
    note_selection(model, Console(quiet))
    for name in ("q", "expected_false", "expected_false_unimodal"):
        if linear is not None and name in linear.info:
            about["fdr" if name == "q" else name] = linear.info[name]
    emit(columns, table, as_json=as_json, title=f"{len(table)} features", about=about)
