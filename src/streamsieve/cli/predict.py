"""`streamsieve predict`: predictions of a stream, row by row."""

from __future__ import annotations

from typing import Any

import click

from . import options as opt

HELP = """\
Predict the rows of SOURCE with a MODEL from `fit`, one line for each row.

Columns are matched by name, and only selected columns are read. --json writes one object for each row.
"""


@click.command("predict", help=HELP)
@click.argument("model", type=click.Path(dir_okay=False))
@opt.sources
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="File to write to.  [default: stdout]",
)
@click.option("--scores", is_flag=True, help="Also write the scores that decide the labels.")
@click.option("--proba", is_flag=True, help="Also write the probability of each label (logistic loss).")
@click.option(
    "--check",
    is_flag=True,
    help="Also write how many selected features of a row lie outside the range of the training rows; count "
    "such rows.",
)
@click.option("--header/--no-header", default=True, help="Write the names of the columns first.")
@click.option(
    "--format",
    default="auto",
    show_default=True,
    help="auto, svmlight, csv, tsv, jsonl, parquet, arrow, npy, npz, bed.",
)
@click.option("--on-bad-row", type=click.Choice(["error", "skip"]), default="error", show_default=True)
@click.option("--skip", type=click.IntRange(0), default=0, help="Leave out the first rows.")
@click.option("--limit", type=click.IntRange(1), help="Stop after this many rows.")
@opt.output
def command(
    model: str, source: tuple[str, ...], output: str, scores: bool, proba: bool, check: bool, header: bool,
    as_json: bool, quiet: bool, **options: Any,
) -> None:  # fmt: skip
    import json

    from ..core.words import counted
    from ..sources.bad_data import shortened
    from ..training.outside import reach_of
    from ..training.source import input_files
    from .model_files import open_model, select_columns
    from .output import Console, check_outputs, exact, note_rows, writing
    from .progress import ProgressMeter

    check_outputs([model, *input_files(source)], texts={"--output": output})
    fitted = open_model(model)
    if proba and not fitted.has_probabilities:
        raise click.UsageError(f"--proba: {model} is not a classifier with the logistic loss.")
    columns = ["prediction"]
    if scores:
        columns += [f"score {c}" for c in fitted.classes] if fitted.method.q > 1 else ["score"]  # type: ignore[union-attr]
    if proba and fitted.classes is not None:
        columns += [f"p {c}" for c in fitted.classes]
    reach = reach_of(fitted) if check or not quiet else None
    if check and reach is None:
        raise click.UsageError(
            f"--check: {model} does not store the range of its training rows; all methods do from 100 rows "
            "on, learners with standardize=True, but those with half_life=auto, interactions or effects."
        )
    columns += ["outside"] if check else []
    stream, features = _open(source, fitted, options)
    total, rows, outside = stream.bytes_total, 0, 0
    read = (lambda: None) if total is None else (lambda: stream.bytes_read)
    with writing(output) as out, ProgressMeter("predict", total, read, quiet) as meter:
        if header and not as_json:
            out.write("\t".join(map(exact, columns)) + "\n")
        for examples in stream.blocks():
            some = select_columns(examples.rows, features, fitted.p)
            values = _predict(fitted, some, scores, proba)
            if reach is not None:
                beyond = reach.n_outside(some)
                outside += int((beyond > 0).sum())
                values += [beyond.tolist()] if check else []
            if as_json:
                out.writelines(json.dumps(dict(zip(columns, row))) + "\n" for row in zip(*values))
            elif len(values) == 1:
                out.write("\n".join(map(exact, values[0])) + "\n")
            else:
                out.writelines("\t".join(map(exact, row)) + "\n" for row in zip(*values))
            rows += len(examples.rows)
            meter.count(rows)
    console = Console(quiet)
    if outside:
        how = (
            "values far outside were clipped"
            if fitted.method.clip
            else "their predictions are extrapolations"
        )
        console.note(
            f"{outside:,} of {counted(rows, 'row')} lie outside the range of the training rows in a selected "
            f"feature: {how}." + ("" if check else " --check marks them.")
        )
    for name, (count, value) in stream.unknown_values.items():
        console.note(
            f"{counted(count, 'row')} with values of {shortened(name, 40)} that the model does not know, "
            f"such as {shortened(value, 40)!r}: read as its most frequent value."
        )
    note_rows(stream, console)


def _predict(model: Any, rows: Any, scores: bool, proba: bool) -> list[list[Any]]:
    margins = model.scores(model.check(rows))
    values = [model.predict(margins).tolist()]
    if scores:
        values += margins.T.tolist()
    if proba:
        values += model.probabilities(margins).T.tolist()
    return values


def _open(files: tuple[str, ...], model: Any, given: dict[str, Any]) -> tuple[Any, Any]:
    """The source, and the feature of the model for each column; of named columns, only selected ones."""
    import numpy as np

    from ..sources import read
    from ..sources.files import find
    from ..sources.inputs import FORMATS, detect_format
    from .model_files import stored_schema

    known = (model.about.get("source") or {}).get("read", {})
    options = {"missing": model.method.missing_numbers}
    options |= {
        name: known[name] for name in ("missing", "zero_based", "delimiter", "header") if name in known
    }
    options |= {name: value for name, value in given.items() if value is not None}
    if "schema" in model.about:
        options["schema"] = stored_schema(model.about, files[0])
    features = None
    if model.feature_names is not None:
        form = options["format"] if options.get("format", "auto") != "auto" else detect_format(find(files)[0])
        if form in FORMATS and "feature_names" not in FORMATS[form].takes:
            some = ", ".join(map(str, model.feature_names[:3]))
            raise click.UsageError(
                f"The model knows its features by name ({some}, ...), and {files[0]} ({form}) only numbers "
                "them; pass a file with named columns."
            )
        products = model.method.interactions  # a product needs both of its columns
        selected = [] if products else model.support.tolist()
        features = np.array(selected or range(len(model.feature_names)), dtype=np.int64)
        options["feature_names"] = [str(model.feature_names[j]) for j in features]
        if "schema" in options and "schema" not in FORMATS[form].takes:
            del options["schema"]
    return read(files[0] if len(files) == 1 else list(files), **options), features
