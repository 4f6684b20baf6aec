"""`streamsieve path`: models of every size, and the choice among them."""

from __future__ import annotations

from typing import Any

import click

from . import _options

_PATHS = ["olsth", "ofsa", "olasso", "oelasticnet", "oadaptivelasso", "omcp", "oscad"]


@click.command("path")
@_options.sources
@click.option(
    "--method",
    type=click.Choice(_PATHS),
    default="olsth",
    show_default=True,
    help="What orders the features.",
)
@click.option("--criterion", type=click.Choice(["aic", "bic", "ebic"]), default="bic", show_default=True)
@click.option(
    "-n", "--sizes", type=click.IntRange(2), default=30, show_default=True, help="Rows of the table, about."
)
@click.option("--all", "every_size", is_flag=True, help="Every size there is.")
@click.option("-o", "--output", type=_options.Output(), help="File to write the averages to (a model).")
@click.option(
    "--task", type=click.Choice(["auto", "regression", "classification"]), default="auto", show_default=True
)
@click.option(
    "--classes", type=_options.Names(), help="All labels, where the first rows do not show them all."
)
@click.option(
    "--memory", type=_options.Size(), help="What averages may take.  [default: a quarter of the machine's]"
)
@_options.stream
@_options.passing
@_options.checkpoint
@_options.output
def command(
    source: tuple[str, ...], method: str, criterion: str, sizes: int, every_size: bool, output: str | None,
    as_json: bool, quiet: bool, **told: Any,
) -> None:  # fmt: skip
    """Print the models of SOURCE by size: residual, R2, AIC, BIC, EBIC, and which of them is best.

    SOURCE is files, globs, or - for standard input; or one model of `fit` or `merge` on running averages.
    """
    import numpy as np

    from ..averages.path import path
    from ..persist import is_checkpoint, save
    from ._output import emit
    from ._stored import averages_of, open_model
    from ._verb import learned

    if len(source) == 1 and is_checkpoint(source[0]):
        done = open_model(source[0])
    else:
        # what is learned are the averages, whatever is extracted from them
        done = learned(source, {**told, "k": "auto", "method": "olsth", "settings": ()}, quiet)[1]
    if output is not None:
        save(done.model, output, about=done.about)
    averages = averages_of(done.model, source[0])
    walk = path(averages, method)
    best = walk.best_k(criterion)  # type: ignore[arg-type]
    at = np.arange(len(walk.k))
    if not every_size:
        near = np.searchsorted(walk.k, best) + np.arange(-3, 4)
        spread = np.geomspace(1, max(len(at), 2), sizes).round().astype(int) - 1
        at = np.unique(np.clip(np.concatenate([spread, near]), 0, len(at) - 1))
    rss = np.asarray(walk.rss).reshape(len(walk.k), -1)
    r2 = 1 - (rss / np.where(rss[0] > 0, rss[0], 1.0)).mean(axis=1)
    columns = ["k", "rss", "r2", "aic", "bic", "ebic", *(["alpha"] if walk.alpha is not None else []), "best"]
    table = []
    for i in at:
        row: list[Any] = [int(walk.k[i]), float(rss[i].sum()), float(r2[i])]
        row += [float(getattr(walk, name)[i]) for name in ("aic", "bic", "ebic")]
        if walk.alpha is not None:
            row.append(float(np.mean(walk.alpha[i])))
        table.append([*row, "*" if walk.k[i] == best else ""])
    about = {"method": method, "task": done.about["task"], "rows_learned": done.about["rows"]}
    about |= {"features": int(done.model.n_features_in_), f"best_by_{criterion}": int(best)}
    emit(
        columns,
        table,
        as_json=as_json,
        title=f"Models by size; {criterion.upper()} is lowest at k = {best}",
        about=about,
    )
