"""`streamsieve report`: a page about a model."""

from __future__ import annotations

from typing import Any

import click

from . import options as opt

HELP = """\
Write a page about MODEL: what it selected, how models of other sizes compare, how well it predicts.

For a checkpoint, the page also shows what was recorded along the run. The page is one file and loads nothing
from the network. Needs jinja2 and matplotlib: pip install 'streamsieve[report]'.
"""


@click.command("report", help=HELP)
@click.argument("model", type=click.Path(dir_okay=False))
@click.option("-o", "--output", type=opt.Output(), required=True, help="HTML file to write.")
@click.option("--curve", type=click.Path(dir_okay=False), help="A curve that `evaluate --output` wrote.")
@click.option("--title", help="Heading of the page.")
@opt.output
def command(
    model: str, output: str, curve: str | None, title: str | None, as_json: bool, quiet: bool
) -> None:
    from .model_files import open_run
    from .output import Console, check_outputs, emit, writing
    from .pages import report_html

    check_outputs([model] if curve is None else [model, curve], texts={"--output": output})
    fitted, run = open_run(model)
    trace = run.get("trace")
    points = None if curve is None else _read_curve(curve)
    html = report_html(fitted, trace=trace, curve=points, title=title)
    with writing(output) as file:
        file.write(html)
    Console(quiet or as_json).note(f"Wrote {output}.")
    if as_json:
        emit(["name", "value"], [("report", output), ("bytes", len(html.encode()))], as_json=True, keyed=True)


_COUNTS = ("rows", "support", "entered", "left")
_MEASURES = ("loss", "accuracy", "rmse", "recent_loss", "recent_accuracy", "recent_auc", "recent_rmse")


def _read_curve(file: str) -> list[dict[str, Any]]:
    """The points of a curve; raise ValueError if `evaluate` did not write the file."""
    import json

    try:
        with open(file, encoding="utf-8") as text:
            points = json.load(text)["rows"]
        good = isinstance(points, list) and all(map(_is_point, points))
    except (ValueError, KeyError, TypeError, RecursionError):
        good = False
    if not good:
        raise ValueError(f"{file} is not a curve; write one with `streamsieve evaluate --output`.")
    return [{name: point.get(name) for name in (*_COUNTS, *_MEASURES)} for point in points]


def _is_point(point: Any) -> bool:
    counts = (point[name] for name in _COUNTS)
    measures = (point.get(name) for name in _MEASURES)
    return all(type(n) is int and 0 <= n < 2**53 for n in counts) and all(
        value is None or (type(value) in (int, float) and abs(value) < 1e300) for value in measures
    )
