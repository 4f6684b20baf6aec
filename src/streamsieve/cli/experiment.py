"""`streamsieve experiment NAME`: the papers' tables and figures, beside the published numbers."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from .. import _light
from ..experiments import EXPERIMENTS

_light.wanted = False  # experiments hand our estimators to scikit-learn


@click.command("experiment", epilog="`streamsieve experiment list` shows what each reproduces and its cost.")
@click.argument("name", type=click.Choice(["list", "all", *EXPERIMENTS]), metavar="NAME|list|all")
@click.option("--scale", type=click.Choice(["quick", "paper"]), default="paper", show_default=True)
@click.option(
    "--runs", type=click.IntRange(1), default=5, show_default=True, help="Average over so many runs."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("streamsieve-experiments"),
    show_default=True,
    help="Folder for results.md, results.json, the pictures, and what is done so far, by experiment; "
    "FOLDER.md has all that it holds on one page.",
)
@click.option("--fresh", is_flag=True, help="Compute again what the folder already holds.")
@click.option("--workers", type=click.IntRange(1), help="Processes; as many as processors by default.")
def command(name: str, scale: str, runs: int, out: Path, fresh: bool, workers: int | None) -> None:
    """Reproduce tables and figures of the papers with this library's methods.

    An interrupted run goes on where it stopped when it is started again.
    """
    if name == "list":
        _list()
        return
    from ..experiments._run import gather, run

    log = Console(stderr=True)
    done: list[str] = []
    for each in EXPERIMENTS if name == "all" else [name]:
        with Progress(
            TextColumn("{task.fields[name]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.description}"),
            console=log,
            transient=True,
        ) as bar:
            show = partial(bar.update, bar.add_task("", name=each))
            try:
                parts = run(
                    each,
                    runs=runs,
                    quick=scale == "quick",
                    out=out / each,
                    fresh=fresh,
                    workers=workers,
                    progress=lambda what, done, total, show=show: show(  # type: ignore[misc]
                        description=escape(what), completed=done, total=total
                    ),
                )
            except FileNotFoundError as missing:
                if name != "all":
                    raise click.ClickException(str(missing)) from missing
                log.print(f"{each}: {escape(str(missing))}")
                continue
        done.append(each)
        for part in parts:
            _show(part)
        log.print(f"[dim]Written: {escape(str(out / each / 'results.md'))}")
    if done:
        log.print(f"[dim]Written: {escape(str(gather(out)))}")


def _show(part: object) -> None:
    """A table on a terminal, Markdown where the output is piped."""
    from ..experiments._report import Figure
    from ..experiments._report import Table as Shown

    console = Console()
    if not console.is_terminal:
        click.echo(part.markdown())  # type: ignore[attr-defined]
    elif isinstance(part, Shown):
        table = Table(*part.columns, title=part.title, caption=part.legend())
        for column in table.columns[1:]:
            column.justify = "right"
        for row in part.rows:
            table.add_row(*(escape(str(cell)) for cell in row))
        console.print(table)
    elif isinstance(part, Figure):
        console.print(f"{part.title}: {part.name}.png")
    else:
        console.print(Markdown(part.markdown()))  # type: ignore[attr-defined]


def _list() -> None:
    columns = ("name", "reproduces", "quick, 1 run", "paper, 5 runs")
    rows = [
        (name, e.what, f"{e.quick:g}", "-" if e.paper is None else f"{e.paper:g}")
        for name, e in EXPERIMENTS.items()
    ]
    console = Console()
    if not console.is_terminal:
        for row in (columns, *rows):
            click.echo("\t".join(row))
        return
    table = Table(*columns, caption="Minutes, measured on two cores; - is not measured.")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
