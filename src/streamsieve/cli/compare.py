"""`streamsieve compare`: several methods on one source, read once, measured on held-out rows."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import click

from . import options as opt

METHODS = ("sieve", "olsth", "ofsa", "olasso", "sfsa", "tsgd", "ftrlproximal", "barda")


HELP = """\
Fit several methods to SOURCE and compare them on held-out rows, the best first.

The source is read once. If its rows fit into memory, each method learns them as `fit` does; otherwise
each method learns block by block. "(constant)" predicts the mean, or the most frequent label.
"""


@click.command("compare", cls=opt.Verb, help=HELP, epilog=opt.METHOD_LIST)
@opt.sources
@opt.names("--methods", f"Methods to compare, separated by commas.  [default: {','.join(METHODS)}]")
@click.option(
    "-k",
    type=opt.CountOrAuto("k"),
    default="auto",
    show_default=True,
    help="Features to select, or auto.",
)
@click.option(
    "--hold-out",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    metavar="J",
    help="Hold out every J-th row and measure the models on these.",
)
@click.option("--picture", type=opt.Output(), help="File for a picture of scores and sizes (PNG, SVG, PDF).")
@opt.table
@opt.task
@opt.memory
@opt.files
@opt.output
def command(
    source: tuple[str, ...],
    methods: list[str] | None,
    k: int | str,
    hold_out: int,
    picture: str | None,
    memory: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    from dataclasses import replace

    from ..training.model import Model
    from ..training.source import SourceRun
    from .learning import read_source
    from .method_choice import MethodChoice, method_entry
    from .output import Console, check_outputs, emit

    console = Console(quiet)
    check_outputs(source, texts={"--picture": picture})
    asked = MethodChoice(
        method="sgd",
        task=options.pop("task"),
        classes=options.pop("classes"),
        memory=memory,
        missing=options["missing"] or "mean",
        console=console,
    )
    run = SourceRun(read_source(source, options), asked, memory=asked.bytes_allowed)
    run.begin()  # which determines the task
    models = {}
    for name in dict.fromkeys(methods or METHODS):
        choice = replace(asked, method=name, k=k if "k" in method_entry(name).load().params else None)
        try:
            method = choice.make(name, run.model.task_name)
        except click.UsageError as error:
            console.note(f"{name} is left out: {error.message}")
            continue
        model = Model(method, run.model.task_name, run.model.task)
        model.feature_names, model.first_index = run.model.feature_names, run.model.first_index
        models[name] = model
    if not models:
        raise click.UsageError("--methods: none of them can learn this source.")
    rows = Comparison(models, hold_out, run.row_memory, console).learn(run.blocks_to_read())
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = [[row.get(name) for name in columns] for row in rows]
    about = {"task": run.model.task_name, "features": max(model.p for model in models.values())}
    if picture is not None:
        draw(rows, picture)
    emit(columns, table, as_json=as_json, title=f"Every {hold_out}th row held out", about=about)


class Comparison:
    """Models that learn the same blocks, and the held-out rows."""

    def __init__(self, models: dict[str, Any], hold_out: int, memory: float, console: Any) -> None:
        from ..training.trainer import Trainer

        self.models, self.hold_out, self.memory, self.console = models, hold_out, memory, console
        self.trainers = {name: Trainer(model) for name, model in models.items()}
        self.seconds = dict.fromkeys(models, 0.0)
        self.held: list[Any] = []
        self.kept: list[Any] | None = []  # blocks to learn at the end, while they fit into memory

    def learn(self, blocks: Iterator[Any]) -> list[dict[str, Any]]:
        """Learn all blocks; return the lines of the table, the best first."""
        import numpy as np

        from ..training.trainer import bytes_joined, join

        seen = values = 0
        for block in blocks:
            held = (seen + 1 + np.arange(len(block.rows))) % self.hold_out == 0
            seen, values = seen + len(block.rows), values + block.rows.n_values
            self.held.append(part_of(block, held))
            learned = part_of(block, ~held)
            if self.kept is None:
                self._each(lambda trainer, model, part=learned: trainer.learn([part]))  # noqa: ARG005
                continue
            self.kept.append(learned)
            if bytes_joined(values, block.rows.sparse) > self.memory:
                self.console.note("The rows do not fit into memory: each method learns block by block.")
                waiting, self.kept = self.kept, None
                self._each(lambda trainer, model, parts=waiting: trainer.learn(parts))  # noqa: ARG005
        if self.kept is not None:
            whole = join(self.kept)
            self._each(lambda trainer, model: trainer.fit(*model.encode(*whole)))
        return self._measured()

    def _each(self, learn: Any) -> None:
        """Let every model learn; leave out one that fails, and print the reason."""
        for name in list(self.trainers):
            start = perf_counter()
            try:
                learn(self.trainers[name], self.models[name])
            except (ValueError, MemoryError) as error:
                self.console.note(f"{name} is left out: {error}")
                del self.trainers[name]
            self.seconds[name] += perf_counter() - start

    def _measured(self) -> list[dict[str, Any]]:
        from ..training.evaluate import measure

        rows = [{"method": "(constant)", "selected": 0, **self._constant(), "seconds": 0.0}]
        for name in self.trainers:
            model, start = self.models[name], perf_counter()
            found = measure(model, self.held)
            self.seconds[name] += perf_counter() - start
            shown = {score: value for score, value in found.items() if score in ("rmse", "accuracy", "auc")}
            selected = len(model.support)
            rows.append({"method": name, "selected": selected, **shown, "seconds": self.seconds[name]})
        if "rmse" in rows[0]:
            return sorted(rows, key=lambda row: row["rmse"])
        return sorted(rows, key=lambda row: -row["accuracy"])

    def _constant(self) -> dict[str, float]:
        """Scores of the constant that is best on the held-out rows."""
        import numpy as np

        y = np.concatenate([block.y for block in self.held])
        if next(iter(self.models.values())).task_name == "regression":
            return {"rmse": float(y.std())}
        return {"accuracy": float(np.unique(y, return_counts=True)[1].max() / max(1, len(y)))}


def part_of(block: Any, at: Any) -> Any:
    """The rows of a block where the mask is true."""
    others = {
        name: value[at] for name in ("y", "weight", "cluster") if (value := getattr(block, name)) is not None
    }
    return block._replace(rows=block.rows.take(at), **others)


def draw(rows: list[dict[str, Any]], file: str) -> None:
    """A picture: the score of each method against the number of features that it selects."""
    from pathlib import Path

    from ..displays.style import BLUE, FAINT, axes_for, title
    from ..persist.files import replacing

    (ax,) = axes_for(None, 1, (7, 4.5))
    name = "rmse" if "rmse" in rows[0] else "accuracy"
    for row in rows:
        if row["method"] == "(constant)":
            ax.axhline(row[name], color=FAINT, lw=1, zorder=0)
            ax.annotate("constant", (0, row[name]), color=FAINT, va="bottom", fontsize=9)
        else:
            ax.plot(row["selected"], row[name], "o", color=BLUE)
            ax.annotate(
                row["method"], (row["selected"], row[name]), xytext=(5, 3), textcoords="offset points"
            )
    ax.set_xlabel("features selected")
    ax.set_ylabel(name)
    title(ax, f"{name} on rows held out")
    with replacing(file, "picture") as stream:
        ax.figure.savefig(stream, dpi=120, format=Path(file).suffix[1:] or "png")
