"""`streamsieve export`: write a model for use without Python."""

from __future__ import annotations

import click

HELP = """\
Write a model as SQL, C, JSON, ONNX or a model card.

\b
sql   one expression over the columns of a table: SELECT <expression> FROM rows
c     a C99 function without dependencies
json  terms and weights; streamsieve/export/reader.py (35 lines, no dependencies) predicts with them
onnx  a graph for ONNX runtimes, to a file
card  what the model is, how good it is and what it selects, in Markdown

Missing values, categories and dates are treated as the model treats them. Text columns cannot be exported.
"""


@click.command("export", help=HELP)
@click.argument("model", type=click.Path(dir_okay=False))
@click.option(
    "--format", type=click.Choice(["sql", "c", "json", "onnx", "card"]), required=True, help="What to write."
)
@click.option(
    "--dialect",
    type=click.Choice(["postgresql", "duckdb", "sqlite"]),
    help="Dialect of SQL.  [default: postgresql]",
)
@click.option(
    "--value",
    type=click.Choice(["prediction", "score", "probability"]),
    help="Value that the SQL computes.  [default: prediction]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="File to write to.  [default: stdout]",
)
def command(model: str, format: str, dialect: str | None, value: str | None, output: str) -> None:
    from ..export import to_c, to_card, to_json, to_onnx, to_sql
    from ..persist.files import replacing
    from .model_files import open_model
    from .output import check_outputs, writing

    if format != "sql":
        for option, given in (("--dialect", dialect), ("--value", value)):
            if given is not None:
                raise click.UsageError(f"{option} is for --format sql; leave it out with --format {format}.")
    check_outputs([model], texts={"--output": output})
    fitted = open_model(model)
    if format == "sql":
        text = to_sql(fitted, dialect or "postgresql", value or "prediction")
    elif format == "onnx":
        if output == "-":
            raise click.UsageError("--format onnx is not text; name a file with --output.")
        with replacing(output) as stream:
            stream.write(to_onnx(fitted).SerializeToString())
        return
    else:
        text = {"c": to_c, "json": to_json, "card": to_card}[format](fitted)
    with writing(output) as out:
        out.write(text.rstrip("\n") + "\n")
