"""`streamsieve inspect`: what a file holds."""

from __future__ import annotations

from typing import Any

import click

from . import options as opt

HELP = """\
Show what a model or checkpoint holds: method, parameters, rows, features, position in the source.
"""


@click.command("inspect", help=HELP)
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--features/--no-features", default=False, help="Also print the selected features with their weights."
)
@click.option(
    "--effects", is_flag=True, help="Print the curves of a model with shapes, level by level, and exit."
)
@opt.names(
    "--anytime",
    "Test these features, chosen before seeing the data, and print p-values that are valid at any time.",
)
@click.option(
    "--since",
    type=click.Path(dir_okay=False),
    metavar="SNAPSHOT",
    help="With --anytime: test on the rows since this earlier model only, which may have selected the "
    "features.",
)
@opt.output
def command(
    file: str,
    features: bool,
    effects: bool,
    anytime: list[str] | None,
    since: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    if since is not None and anytime is None:
        raise click.UsageError("--since is for --anytime; name the features to test there.")
    from .output import check_outputs

    check_outputs([file] if since is None else [file, since])
    if anytime is not None:
        from .anytime import test_features

        test_features(file, anytime, since, as_json, quiet)
        return
    import os

    from ..core.words import format_bytes
    from ..training.model import Model
    from ..training.saved import read_plain
    from .model_files import feature_table, note_unused_columns
    from .output import Console, emit

    if effects:
        from .model_files import level_table, open_model

        opened = open_model(file)
        if opened.method.linear:
            raise click.UsageError(f"{file} holds a linear model, which has no shapes; see --features.")
        emit(*level_table(opened), as_json=as_json, title="Shapes")
        return
    held = read_plain(file)
    model, about = held.object, held.about
    facts: dict[str, Any] = {"file": file, "size": format_bytes(os.path.getsize(file))}
    if not isinstance(model, Model):
        facts |= {"class": type(model).__name__}
        facts |= {"rows_learned": model.n_samples_} if hasattr(model, "n_samples_") else {}
        facts |= {"features": model.n_features_in_} if hasattr(model, "n_features_in_") else {}
        emit(["name", "value"], list(facts.items()), as_json=as_json, keyed=True)
        return
    facts |= {"class": model.name, "task": model.task_name, "method": model.method_name.lower()}
    facts["rows_learned"] = model.n_rows
    if model.started:
        facts["features"] = model.p
    if model.classes is not None:
        facts["classes"] = [str(c) for c in model.classes]
    if model.started:
        facts["selected"] = len(model.support)
    method: Any = model.method
    if model.started and method.drift is not None:
        facts |= {"half_life_now": method.current_half_life, "drift_at_rows": method.drift}
    if about.get("rows_bad"):
        facts["rows_skipped"] = about["rows_bad"]
    if about.get("source"):
        facts["source"] = about["source"]["files"]
        target = about["source"]["read"].get("target")
        facts |= {"target": target} if target is not None else {}
    if "run" in about:
        facts["checkpoint"] = "of a finished run" if about["run"]["done"] else "of a resumable run"
    facts |= {f"parameter {name}": value for name, value in model.method.values.items()}
    show = features and model.started
    columns, rows = feature_table(model) if show else ([], [])
    if as_json and show:
        facts["selection"] = [dict(zip(columns, row)) for row in rows]
    if model.started:
        note_unused_columns(model, Console(quiet))
    emit(["name", "value"], list(facts.items()), as_json=as_json, keyed=True)
    if show and not as_json:
        emit(columns, rows, as_json=False, title="Features")
