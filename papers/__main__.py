"""`python -m papers NAME`: the papers' tables and figures, beside the published numbers."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as TerminalTable

from . import run as runner
from .experiments import EXPERIMENTS
from .report import Figure, Part, Sources, Table
from .report.pages import write_overview, write_page


@click.command(epilog="`python -m papers list` lists what each experiment shows, its runs and its cost.")
@click.argument(
    "name", type=click.Choice(["list", "all", "report", *EXPERIMENTS]), metavar="NAME|list|all|report"
)
@click.option("--scale", type=click.Choice(["quick", "paper"]), default="paper", show_default=True)
@click.option(
    "--runs",
    type=click.IntRange(1),
    help="Runs to average over; by default the experiment's own number (`list`), 1 at the quick scale.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("paper-results"),
    show_default=True,
    help="Folder for pages, pictures and outcomes, by experiment; FOLDER.md leads to the pages.",
)
@click.option("--fresh", is_flag=True, help="Compute all outcomes, also those that the folder holds.")
@click.option(
    "--stale", is_flag=True, help="Compute only missing outcomes, not those whose sources have changed."
)
@click.option("--pictures", is_flag=True, help="With `report`: draw the pictures again, too.")
@click.option("--workers", type=click.IntRange(1), help="Processes; as many as processors by default.")
def main(
    name: str,
    scale: str,
    runs: int | None,
    out: Path,
    fresh: bool,
    stale: bool,
    pictures: bool,
    workers: int | None,
) -> None:
    """Reproduce tables and figures of the papers with this library's methods.

    An interrupted run continues where it stopped when it is started again. Outcomes are computed again if
    they are missing, or if the sources that they depend on have changed. `all` runs every experiment.
    `report` computes nothing: it writes the pages of the folder again from its outcomes, and says how many of
    them the present sources have made.
    """
    if fresh and stale:
        raise click.UsageError(
            "--fresh ignores stored outcomes, --stale uses more of them: pass one of the two."
        )
    if pictures and name != "report":
        raise click.UsageError("--pictures is for `report`; an experiment that is run draws its own.")
    if name == "list":
        print_list()
        return
    log = Console(stderr=True)
    if name == "report":
        for each in EXPERIMENTS:
            if (out / each / "results.json").exists() or (out / each / "outcomes.jsonl").exists():
                sources = write_page(each, out / each, pictures)[-1]
                assert isinstance(sources, Sources)
                log.print(f"{each}: {escape(sources.summary())}", soft_wrap=True)
        log.print(f"[dim]Written: {escape(str(write_overview(out)))}")
        return
    written = False
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
            update = partial(bar.update, bar.add_task("", name=each))
            try:
                parts = runner.run(
                    each,
                    out / each,
                    runs=runs,
                    quick=scale == "quick",
                    fresh=fresh,
                    stale=stale,
                    workers=workers,
                    progress=lambda message, done, total, update=update: update(  # type: ignore[misc]
                        description=escape(message), completed=done, total=total
                    ),
                )
            except FileNotFoundError as error:
                if name != "all":
                    raise click.ClickException(str(error)) from error
                log.print(f"{each}: {escape(str(error))}")
                continue
        written = True
        for part in parts:
            print_part(part)
        log.print(f"[dim]Written: {escape(str(out / each / 'results.md'))}")
    if written:
        log.print(f"[dim]Written: {escape(str(write_overview(out)))}")


def print_part(part: Part) -> None:
    """Print a table to a terminal, Markdown where the output is piped."""
    console = Console()
    if not console.is_terminal:
        click.echo(part.markdown())
    elif isinstance(part, Table):
        table = TerminalTable(*part.columns, title=part.title, caption=part.legend())
        for column in table.columns[1:]:
            column.justify = "right"
        for row in part.rows:
            table.add_row(*(escape(str(cell)) for cell in row))
        console.print(table)
    elif isinstance(part, Figure):
        console.print(f"{part.title}: {part.name}.png")
    else:
        console.print(Markdown(part.markdown()))


def print_list() -> None:
    columns = ("name", "shows", "runs", "quick, 1 run", "paper, all runs")
    rows = [
        (
            name,
            e.shows,
            str(e.runs),
            f"{e.quick_minutes:g}",
            "-" if e.paper_minutes is None else f"{e.paper_minutes:g}",
        )
        for name, e in EXPERIMENTS.items()
    ]
    console = Console()
    if not console.is_terminal:
        for row in (columns, *rows):
            click.echo("\t".join(row))
        return
    table = TerminalTable(*columns, caption="Minutes on two cores; - is not measured.")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)


if __name__ == "__main__":
    main(prog_name="python -m papers")
