"""`streamsieve predict`: predictions of a stream, row by row."""

from __future__ import annotations

from typing import Any

import click

from . import options as opt


@click.command("predict")
@click.argument("model", type=click.Path(dir_okay=False))
@opt.sources
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="File to write to.  [default: stdout]",
)
@click.option("--scores", is_flag=True, help="Also write the scores that labels are chosen by.")
@click.option("--proba", is_flag=True, help="Also write the probability of each label (logistic loss).")
@click.option("--header/--no-header", default=True, help="Write the names of the columns first.")
@click.option(
    "--format",
    default="auto",
    show_default=True,
    help="auto, svmlight, csv, tsv, parquet, arrow, npy, npz, bed.",
)
@click.option("--on-bad-row", type=click.Choice(["error", "skip"]), default="error", show_default=True)
@click.option("--skip", type=click.IntRange(0), default=0, help="Leave out the first rows.")
@click.option("--limit", type=click.IntRange(1), help="Stop after this many rows.")
@opt.output
def command(
    model: str, source: tuple[str, ...], output: str, scores: bool, proba: bool, header: bool, as_json: bool,
    quiet: bool, **options: Any,
) -> None:  # fmt: skip
    """Predict the rows of SOURCE by a MODEL of `fit`, one line for each row.

    Columns are found by their names, and only those that the model selected are read. --json writes one
    object for each line.
    """
    import json

    from ..runs.source import input_files
    from ..words import counted
    from .files import check_outputs, writing
    from .model_files import open_model, select_columns
    from .output import exact
    from .progress import ProgressMeter

    check_outputs([model, *input_files(source)], texts={"--output": output})
    fitted = open_model(model)
    if proba and not fitted.has_probabilities:
        raise click.UsageError(f"--proba: {model} is no classifier with the logistic loss.")
    columns = ["prediction"]
    if scores:
        columns += [f"score {c}" for c in fitted.classes] if fitted.method.q > 1 else ["score"]  # type: ignore[union-attr]
    if proba and fitted.classes is not None:
        columns += [f"p {c}" for c in fitted.classes]
    stream, features = _open(source, fitted, options)
    total, rows = stream.bytes_total, 0
    read = (lambda: None) if total is None else (lambda: stream.bytes_read)
    with writing(output) as out, ProgressMeter("predict", total, read, quiet) as meter:
        if header and not as_json:
            out.write("\t".join(map(exact, columns)) + "\n")
        for examples in stream.blocks():
            values = _predict(fitted, select_columns(examples.rows, features, fitted.p), scores, proba)
            if as_json:
                out.writelines(json.dumps(dict(zip(columns, row))) + "\n" for row in zip(*values))
            elif len(values) == 1:
                out.write("\n".join(map(str, values[0])) + "\n")
            else:
                out.writelines("\t".join(map(str, row)) + "\n" for row in zip(*values))
            rows += len(examples.rows)
            meter.count(rows)
    if stream.rows_bad:
        click.echo(f"Skipped {counted(stream.rows_bad, 'bad row')}: predictions are of the others.", err=True)


def _predict(model: Any, rows: Any, scores: bool, proba: bool) -> list[list[Any]]:
    margins = model.scores(model.check(rows))
    values = [model.predict(margins).tolist()]
    if scores:
        values += margins.T.tolist()
    if proba:
        values += model.probabilities(margins).T.tolist()
    return values


def _open(files: tuple[str, ...], model: Any, given: dict[str, Any]) -> tuple[Any, Any]:
    """The source, and which features of the model its columns are: where they have names, those selected."""
    import numpy as np

    from ..streams import read
    from ..streams.files import find
    from ..streams.formats import FORMATS, detect_format

    known = (model.about.get("source") or {}).get("read", {})
    options = {
        name: known[name] for name in ("missing", "zero_based", "delimiter", "header") if name in known
    }
    options |= {name: value for name, value in given.items() if value is not None}
    features = None
    if model.feature_names is not None:
        form = options["format"] if options.get("format", "auto") != "auto" else detect_format(find(files)[0])
        if form in FORMATS and "feature_names" not in FORMATS[form].takes:
            some = ", ".join(map(str, model.feature_names[:3]))
            raise click.UsageError(
                f"The model knows its features by name ({some}, ...), and {files[0]} ({form}) only numbers "
                "them; pass a file with named columns."
            )
        products = getattr(model.method, "interactions", False)  # a product needs both of its columns
        selected = [] if products else model.support.tolist()
        features = np.array(selected or range(len(model.feature_names)), dtype=np.int64)
        options["feature_names"] = [str(model.feature_names[j]) for j in features]
    return read(files[0] if len(files) == 1 else list(files), **options), features
