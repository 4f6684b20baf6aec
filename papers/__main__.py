"""`python -m papers NAME`: the papers' tables and figures, beside the published numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as TerminalTable

from . import run as runner
from .check import check
from .experiments import EXPERIMENTS
from .report import Figure, Part, Sources, Table
from .report.pages import write_overview, write_page
from .workers import Progress as ProgressFunction
from .workers import n_processors

VERBS = ("list", "all", "check", "report")


@click.command(epilog="`python -m papers list` lists what each experiment shows, its runs and its cost.")
@click.argument("name", type=click.Choice([*VERBS, *EXPERIMENTS]), metavar=f"NAME|{'|'.join(VERBS)}")
@click.argument("only", nargs=-1, type=click.Choice(list(EXPERIMENTS)), metavar="[NAME]...")
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
    "--unchecked", is_flag=True, help="Compute what is missing or known to be stale; check nothing."
)
@click.option("--pictures", is_flag=True, help="With `report`: draw the pictures again, too.")
@click.option("--workers", type=click.IntRange(1), help="Processes; as many as processors by default.")
def main(
    name: str,
    only: tuple[str, ...],
    scale: str,
    runs: int | None,
    out: Path,
    fresh: bool,
    unchecked: bool,
    pictures: bool,
    workers: int | None,
) -> None:
    """Reproduce tables and figures of the papers with this library's methods.

    An interrupted run continues where it stopped when it is started again. Outcomes that the folder holds are
    checked: one of each setting and method is computed again. If it differs, the outcomes of that setting and
    method are stale and are all computed again. `all` runs every experiment. `check` only checks the outcomes
    of the folder. `report` computes nothing: it writes the pages again from the outcomes.
    """
    if fresh and unchecked:
        raise click.UsageError("--fresh uses no stored outcomes, so that there is nothing to check.")
    if only and name != "check":
        raise click.UsageError("Only `check` takes the names of several experiments.")
    if pictures and name != "report":
        raise click.UsageError("--pictures is for `report`; an experiment that is run draws its own.")
    if name == "list":
        print_list()
        return
    log = Console(stderr=True)
    stored = [each for each in EXPERIMENTS if any(out.joinpath(each).glob("*.json*"))]
    if name == "check":
        for each in only or stored:
            with shown_progress(each, log) as progress:
                found = check(out / each / "outcomes.jsonl", each, workers or n_processors(), progress)
            for checked in found:
                if checked.moved:
                    log.print(f"{each}: {escape(checked.summary())}", soft_wrap=True)
    if name in ("check", "report"):
        for each in stored:
            sources = write_page(each, out / each, pictures)[-1]
            assert isinstance(sources, Sources)
            log.print(f"{each}: {escape(sources.summary())}", soft_wrap=True)
        log.print(f"[dim]Written: {escape(str(write_overview(out)))}")
        return
    written = False
    for each in EXPERIMENTS if name == "all" else [name]:
        with shown_progress(each, log) as progress:
            try:
                parts = runner.run(
                    each,
                    out / each,
                    runs=runs,
                    quick=scale == "quick",
                    fresh=fresh,
                    unchecked=unchecked,
                    workers=workers,
                    progress=progress,
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


@contextmanager
def shown_progress(name: str, log: Console) -> Iterator[ProgressFunction]:
    """A bar on the terminal, as a function of what is being done, outcomes made, and outcomes in all."""
    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    description = TextColumn("[dim]{task.description}")
    with Progress(*columns, description, console=log, transient=True) as bar:
        task = bar.add_task("")
        yield lambda message, done, total: bar.update(
            task, description=escape(message), completed=done, total=total
        )


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
