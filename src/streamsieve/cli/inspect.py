"""`streamsieve inspect`: what a file holds."""

from __future__ import annotations

from typing import Any

import click

from . import _options


@click.command("inspect")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--features/--no-features", default=False, help="Also the features selected, with their weights."
)
@_options.output
def command(file: str, features: bool, as_json: bool, quiet: bool) -> None:  # noqa: ARG001
    """Show what a model or checkpoint holds: method, parameters, rows, features, and whether it goes on."""
    import os

    from ..persist import read_checkpoint
    from ._learn import feature_table
    from ._output import emit, size
    from ._stored import defaults

    held = read_checkpoint(file)
    model, about = held.object, held.about
    told: dict[str, Any] = {"file": file, "size": size(os.path.getsize(file)), "class": type(model).__name__}
    started = getattr(model, "n_features_in_", None) is not None
    estimator = hasattr(model, "get_support")
    if estimator:
        about = {**defaults(model), **about} if started else about
        told |= {name: about[name] for name in ("task", "method") if name in about}
        told["rows_learned"] = about.get("rows", 0)
    elif hasattr(model, "n_samples_"):
        told["rows_learned"] = model.n_samples_
    if started:
        told["features"] = int(model.n_features_in_)
    if hasattr(model, "classes_"):
        told["classes"] = [str(c) for c in model.classes_]
    if estimator and started:
        told["selected"] = int(model.get_support().sum())
    if about.get("rows_bad"):
        told["rows_skipped"] = about["rows_bad"]
    if about.get("source"):
        told["source"] = about["source"]["files"]
        target = about["source"]["read"].get("target")
        told |= {"target": target} if target is not None else {}
    if "position" in about:
        told["checkpoint"] = "of a run that was finished" if about["done"] else "of a run that can be resumed"
    if estimator:
        told |= {f"parameter {name}": value for name, value in model.get_params(deep=False).items()}
    if as_json and features and estimator and started:
        columns, rows = feature_table(model, about)
        told["selection"] = [dict(zip(columns, row)) for row in rows]
    emit(["name", "value"], list(told.items()), as_json=as_json, keyed=True)
    if features and not as_json and estimator and started:
        emit(*feature_table(model, about), as_json=False, title="Features")
