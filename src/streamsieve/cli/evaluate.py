"""`streamsieve evaluate`: test, then train."""

from __future__ import annotations

from typing import Any

import click

from . import options as opt


class Points(opt.ParamType):
    """When to add a point to the curve: at doubling counts, or every N rows."""

    name = "points"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        if value == "doubling" or isinstance(value, int):
            return value
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"{value!r}: pass doubling, or a number of rows.", param, ctx)
        return int(value)


HELP = """\
Predict each row of SOURCE with the model of the rows before it, then learn it.

Each line measures all rows so far and, as "recent", the rows since the previous line. The data need no split,
and changes in the stream become visible.
"""


@click.command("evaluate", cls=opt.Verb, help=HELP, epilog=opt.METHOD_LIST)
@opt.sources
@click.option(
    "--at",
    type=Points(),
    default="doubling",
    show_default=True,
    help="Points after 100, 200, 400, ... or every N rows.",
)
@click.option(
    "-o",
    "--output",
    type=opt.Output(),
    help="File to write the curve to, as JSON, for `report`.",
)
@opt.table
@opt.model
@opt.passing
@opt.files
@opt.output
def command(
    source: tuple[str, ...], at: Any, output: str | None, as_json: bool, quiet: bool, **options: Any
) -> None:
    import json

    from ..training.history import History
    from .learning import Interrupted, Signals, meter_of, prepare_evaluation
    from .output import emit, leave, plain, writing

    history = History(at)
    code = 0
    with Signals() as signals:
        try:
            run = prepare_evaluation(source, options, history, output, quiet)
            with meter_of(run, quiet) as meter:
                run.learn(meter, signals.deferred)
        except Interrupted as signal:
            code = 128 + signal.number
            if not history.points:
                leave(code)
    about = {"method": run.model.method_name.lower(), "task": run.model.task_name, "features": run.model.p}
    curve = [point.as_dict() for point in history.points]
    if output is not None:
        with writing(output) as file:
            json.dump(plain({**about, "rows": curve}), file, indent=1, allow_nan=False)
    columns = list(dict.fromkeys(name for row in curve for name in row))
    rows = [[row.get(name) for name in columns] for row in curve]
    emit(columns, rows, as_json=as_json, title="Test, then train", about=about)
    if code:
        leave(code)
