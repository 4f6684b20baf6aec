"""`streamsieve predict`: predictions of a stream, row by row."""

from __future__ import annotations

from typing import Any

import click

from . import _options


@click.command("predict")
@click.argument("model", type=click.Path(dir_okay=False))
@_options.sources
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    default="-",
    help="File to write to.  [default: stdout]",
)
@click.option("--scores", is_flag=True, help="Also the scores that labels are chosen by.")
@click.option("--proba", is_flag=True, help="Also the probability of each label (logistic loss).")
@click.option("--header/--no-header", default=True, help="Begin with the names of the columns.")
@click.option(
    "--format", default="auto", show_default=True, help="auto, svmlight, csv, tsv, parquet, arrow, npy, npz."
)
@click.option("--on-bad-row", type=click.Choice(["error", "skip"]), default="error", show_default=True)
@click.option("--skip", type=click.IntRange(0), default=0, help="Leave out the first rows.")
@click.option("--limit", type=click.IntRange(1), help="Stop after so many rows.")
@_options.output
def command(
    model: str, source: tuple[str, ...], output: str, scores: bool, proba: bool, header: bool, as_json: bool,
    quiet: bool, **told: Any,
) -> None:  # fmt: skip
    """Predict the rows of SOURCE by a MODEL of `fit`, one line a row.

    Columns are found by their names, and only those that the model selected are read. --json writes one
    object a line.
    """
    import json
    import warnings

    from ._progress import Meter
    from ._stored import open_model, spread

    done = open_model(model)
    # of a model fitted on a frame: its columns are found by name, in the file
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    columns = ["prediction"]
    classes = getattr(done.model, "classes_", None)
    if proba and not hasattr(done.model, "predict_proba"):
        raise click.UsageError(f"--proba: {model} is no classifier with the logistic loss.")
    if scores:
        several = classes is not None and len(classes) > 2
        columns += [f"score {c}" for c in classes] if several and classes is not None else ["score"]
    if proba and classes is not None:
        columns += [f"p {c}" for c in classes]
    rows = 0
    stream, features = _open(source, done, told)
    with click.open_file(output, "w") as out, Meter("predict", stream.bytes_total, quiet) as meter:
        if header and not as_json:
            out.write("\t".join(columns) + "\n")
        for block in stream:
            values = _predict(done.model, spread(block.X, features, done.model.n_features_in_), scores, proba)
            if as_json:
                out.writelines(json.dumps(dict(zip(columns, row))) + "\n" for row in zip(*values))
            elif len(values) == 1:
                out.write("\n".join(map(str, values[0])) + "\n")
            else:
                out.writelines("\t".join(map(str, row)) + "\n" for row in zip(*values))
            rows += block.X.shape[0]
            if meter.due(rows):
                meter.update(rows, None if stream.bytes_total is None else stream.bytes_read, None)
        meter.update(rows, None if stream.bytes_total is None else stream.bytes_read, None, last=True)
    if stream.rows_bad:
        click.echo(f"Skipped {stream.rows_bad:,} bad rows: predictions are of the others.", err=True)


def _predict(model: Any, X: Any, scores: bool, proba: bool) -> list[list[Any]]:
    import numpy as np

    values = [model.predict(X).tolist()]
    if scores:
        told = model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)
        values += np.atleast_2d(told.T).tolist()
    if proba:
        values += model.predict_proba(X).T.tolist()
    return values


def _open(files: tuple[str, ...], done: Any, told: dict[str, Any]) -> tuple[Any, Any]:
    """The source, and which features of the model its columns are: where they have names, those selected."""
    import numpy as np

    from ..streams import read
    from ..streams.files import find
    from ..streams.formats import detect_format

    known = (done.about["source"] or {}).get("read", {})
    options = {
        name: known[name] for name in ("missing", "zero_based", "delimiter", "header") if name in known
    }
    options |= {name: value for name, value in told.items() if value is not None}
    features = None
    if done.names is not None:
        form = options["format"] if options.get("format", "auto") != "auto" else detect_format(find(files)[0])
        if form in ("svmlight", "npy", "npz"):
            raise click.UsageError(
                f"The model knows its features by name ({', '.join(done.names[:3])}, ...), and {files[0]} "
                f"({form}) only numbers them; pass a file with named columns."
            )
        everything = getattr(done.model, "interactions", False)  # a product needs both of its columns
        chosen = [] if everything else done.model.get_support(indices=True).tolist()
        features = np.array(chosen or range(len(done.names)), dtype=np.int64)
        options["feature_names"] = [done.names[j] for j in features]
    return read(files[0] if len(files) == 1 else list(files), **options), features
