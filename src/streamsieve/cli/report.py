"""`streamsieve report`: a page about a model."""

from __future__ import annotations

import click

from . import _options


@click.command("report")
@click.argument("model", type=click.Path(dir_okay=False))
@click.option("-o", "--output", type=_options.Output(), required=True, help="HTML file to write.")
@click.option("--curve", type=click.Path(dir_okay=False), help="A curve that `evaluate --output` wrote.")
@click.option("--title", help="Heading of the page.")
@_options.output
def command(
    model: str, output: str, curve: str | None, title: str | None, as_json: bool, quiet: bool
) -> None:
    """Write a page about MODEL: what it selected, how sizes compare, how well it predicts.

    One file that needs no network. Needs jinja2 and matplotlib: pip install 'streamsieve[report]'.
    """
    import json

    try:
        from ..report import page
    except ImportError as error:
        raise ImportError(f"{error.name} is missing; pip install 'streamsieve[report]'.") from None
    from ._learn import feature_names
    from ._output import Say, emit
    from ._stored import open_model

    done = open_model(model)
    points = None
    if curve is not None:
        with open(curve) as file:
            try:
                points = json.load(file)["rows"]
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"{curve} is no curve; make one by `streamsieve evaluate --output`."
                ) from None
    about = {"task": done.about["task"], "rows learned": done.about["rows"]}
    if done.about["source"]:
        about["target"] = done.about["source"]["read"].get("target")
        about["source"] = done.about["source"]["files"]
    html = page(
        done.model, names=feature_names(done.model, done.about), about=about, curve=points, title=title
    )
    with open(output, "w", encoding="utf-8") as file:
        file.write(html)
    Say(quiet or as_json)(f"Wrote {output}.")
    if as_json:
        emit(["name", "value"], [("report", output), ("bytes", len(html.encode()))], as_json=True, keyed=True)
