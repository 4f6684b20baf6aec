"""`streamsieve demo`: a stream with a known truth, and what OFSA finds in it."""

from __future__ import annotations

from pathlib import Path as File
from time import perf_counter

import click
import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from .. import metrics, simulate
from ..methods.averages.extract import ofsa
from ..methods.averages.path import Path, path
from ..persist.files import replacing
from ..statistics.running import RunningAverages
from . import options as opt
from .output import check_outputs

HELP = """\
Simulate a stream of correlated features of which K matter, select K in one pass, compare with the truth.

Only running averages are kept: rows are read once and forgotten, and a model can be read at any time.
"""


@click.command("demo", help=HELP)
@click.option(
    "-n", "--rows", type=click.IntRange(1), default=20_000, show_default=True, help="Rows of the stream."
)
@click.option(
    "-p",
    "--features",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Number of features; their correlation is 0.5.",
)
@click.option(
    "-k",
    "--select",
    "k",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Number of features that matter, and to select.",
)
@click.option(
    "--signal",
    type=click.FloatRange(0, min_open=True),
    default=0.15,
    show_default=True,
    help="Weight of the strongest feature; the noise has standard deviation 1.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the simulated stream."
)
@click.option(
    "--picture",
    type=opt.Output(),
    default="streamsieve-demo.png",
    show_default=True,
    help="File to write the picture of the path to.",
)
def command(rows: int, features: int, k: int, signal: float, seed: int, picture: str) -> None:
    console = Console()
    check_outputs([], texts={"--picture": picture})
    spacing = min(10, features // k)
    if spacing < 1:
        raise click.UsageError(f"-k {k} is more than the {features} features.")
    stream = simulate.correlated(
        rows, features, k, signal=(signal / 5, signal), spacing=spacing, block_size=500, random_state=seed
    )
    X_test, y_test = simulate.correlated(
        None, features, k, signal=(signal / 5, signal), spacing=spacing, random_state=seed + 1
    ).take(2000)
    console.print(
        f"A stream of [b]{rows:,}[/b] rows, [b]{features:,}[/b] features correlated 0.5, [b]{k}[/b] of them "
        f"real (weights {signal / 5:g} to {signal:g}, noise 1)."
    )

    averages = RunningAverages()
    seen = Table(
        "rows", "true features found", "test RMSE", title="any time, from the averages so far", min_width=60
    )
    for column in seen.columns:
        column.justify = "right"
    bar = Progress(
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]} rows/s"),
        TimeRemainingColumn(),
        console=console,
    )
    task = bar.add_task("one pass", total=rows, rate="-")
    look, spent = 500, 0.0
    with Live(Group(seen, bar), console=console, refresh_per_second=8):
        for X, y in stream:
            start = perf_counter()
            averages.update(X, y)
            spent += perf_counter() - start
            rate = f"{averages.n_samples_ / max(spent, 1e-9):,.0f}"
            bar.update(task, completed=averages.n_samples_, rate=rate)
            if averages.n_samples_ >= look or averages.n_samples_ == rows:
                model = ofsa(averages, k)
                seen.add_row(
                    f"{averages.n_samples_:,}",
                    f"{round(k * metrics.detection_rate(model.support, stream.support))} of {k}",
                    f"{metrics.rmse(y_test, model.predict(X_test)):.4f}",
                )
                look = 2 * averages.n_samples_

    console.print()
    model = ofsa(averages, k)
    console.print(_against_truth(model, stream.coef))
    whole = path(averages, "olsth")
    console.print(_chart(whole, k))
    _save(whole, picture, console)


def _against_truth(model, coef) -> Table:  # type: ignore[no-untyped-def]
    table = Table(
        "feature", "true weight", "estimate", "std. error", "t", "", title="what was found, and the truth"
    )
    for column in table.columns[:5]:
        column.justify = "right"
    true = np.flatnonzero(coef)
    order = sorted(set(true) | set(model.support), key=lambda j: (-abs(coef[j]), j))
    for j in order:
        found = j in model.support
        verdict = "[green]found" if found and coef[j] else "[yellow]not real" if found else "[red]missed"
        numbers = (
            (f"{model.coef[j]:.4f}", f"{model.stderr[j]:.4f}", f"{model.tvalue[j]:.1f}")
            if found
            else ("", "", "")
        )
        table.add_row(str(j), f"{coef[j]:.4f}" if coef[j] else "-", *numbers, verdict)
    hits = len(set(true) & set(model.support))
    table.caption = (
        f"{hits} of {len(true)} true features found, R2 {model.r2:.4f}, noise {model.sigma2**0.5:.4f}"
    )
    return table


def _chart(whole: Path, k: int, height: int = 8, width: int = 60) -> str:
    """BIC against k, drawn with characters."""
    last = int(np.searchsorted(whole.k, min(4 * k, whole.k[-1])))
    ks, bic = np.asarray(whole.k[1 : last + 1]), np.asarray(whole.bic[1 : last + 1])
    if len(ks) == 0:
        return "too few rows for a path"
    at = np.unique(np.linspace(0, len(ks) - 1, min(width, len(ks))).round().astype(int))
    levels = (bic[at] - bic.min()) / max(np.ptp(bic), 1e-300) * (height - 1)
    best = whole.best_k("bic")
    lines = [f"BIC of the OLSth path, one factorisation for all k; lowest at k = {best} (truth: {k})"]
    for row in range(height - 1, -1, -1):
        lines.append(" |" + "".join("*" if round(level) == row else " " for level in levels))
    lines.append(" +" + "-" * len(at) + f"> k = {ks[0]} ... {ks[-1]}")
    return "\n".join(lines)


def _save(whole: Path, picture: str, console: Console) -> None:
    try:
        import matplotlib as mpl
    except ImportError:
        console.print("[dim]For a picture of the path as well: pip install 'streamsieve[plot]'")
        return
    from ..displays import PathDisplay

    mpl.use("Agg")
    with replacing(picture, "picture") as file:
        PathDisplay.from_path(whole).figure_.savefig(file, dpi=120, format=File(picture).suffix[1:] or "png")
    console.print(f"Picture of the path: [b]{picture}[/b]")
