"""`streamsieve experiment NAME`: a table of the papers, beside the published numbers."""

from __future__ import annotations

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ..experiments import EXPERIMENTS, run


@click.command(
    "experiment", epilog="\b\n" + "\n".join(f"{name:<12} {what}" for name, what in EXPERIMENTS.items())
)
@click.argument("name", type=click.Choice(list(EXPERIMENTS)))
@click.option("--scale", type=click.Choice(["quick", "paper"]), default="paper", show_default=True)
@click.option("--runs", default=5, show_default=True, help="Average over this many runs.")
def command(name: str, scale: str, runs: int) -> None:
    """Reproduce a table of the papers with this library's methods."""
    if runs < 1:
        raise click.UsageError(f"--runs {runs}: at least one run is needed.")
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name)
        result = run(
            name,
            runs=runs,
            quick=scale == "quick",
            progress=lambda what, done, total: bar.update(
                task, description=what, completed=done, total=total
            ),
        )
    table = Table(*result.columns, title=result.title, caption=result.note)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in result.rows:
        table.add_row(*row)
    Console().print(table)
