"""`streamsieve evaluate`: test, then train."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from . import _options


class At(_options.ParamType):
    name = "points"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        if value == "doubling" or isinstance(value, int):
            return value
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"{value!r}: pass doubling, or a number of rows.", param, ctx)
        return int(value)


@click.command("evaluate", epilog=_options.METHODS)
@_options.sources
@click.option(
    "--at",
    type=At(),
    default="doubling",
    show_default=True,
    help="Points after 100, 200, 400, ... or every N rows.",
)
@click.option(
    "-o",
    "--output",
    type=_options.Output(),
    help="File to write the curve to, as JSON, for `report`.",
)
@_options.model
@_options.stream
@_options.passing
@_options.output
def command(
    source: tuple[str, ...], at: Any, output: str | None, as_json: bool, quiet: bool, **told: Any
) -> None:
    """Predict every row of SOURCE by the model of the rows before it, then learn it.

    Each line of the curve is of the rows so far, and (recent) of those since the line before; so the data
    need not be split, and a change in the stream shows.
    """
    import json

    from ..evaluate import Prequential, prequential
    from ._learn import Keep, Signals, Stopped, prepared, source_of
    from ._methods import ASKED, Ask
    from ._output import Say, emit, leave, plain
    from ._progress import Meter

    ask = Ask(**{name: told.pop(name) for name in ASKED}, missing=told["missing"])
    run = prepared(source_of(source, told), ask, Keep(None, (None, None), False), Say(quiet))
    total = run.stream.bytes_total
    passes = told["passes"]
    points: list[Any] = []
    code = 0
    with Signals() as signals, Meter(run.method, total and total * passes, quiet) as meter:

        def progress(point: Any, rows: int) -> None:
            look = None
            if point is not None:
                points.append(point)
                look = (point.recent_loss, point.support)
            if meter.due(rows) or look is not None:
                meter.update(rows, run.bytes(), look)
            signals.check()

        def blocks() -> Iterator[Any]:
            for block in run.labelled():
                signals.busy = True
                yield block
                signals.busy = False

        try:
            points = prequential(run.model, blocks(), classes=run.classes, at=at, progress=progress).points
        except Stopped as stop:
            code = 128 + stop.number
    about = {"method": run.method, "task": run.task, "features": int(getattr(run.model, "n_features_in_", 0))}
    curve = Prequential(points, run.model).as_dicts()
    if output is not None:
        with open(output, "w") as file:
            json.dump(plain({**about, "rows": curve}), file, indent=1, allow_nan=False)
    columns = list(dict.fromkeys(name for row in curve for name in row))
    emit(
        columns,
        [[row.get(name) for name in columns] for row in curve],
        as_json=as_json,
        title="Test, then train",
        about=about,
    )
    if code:
        leave(code)
