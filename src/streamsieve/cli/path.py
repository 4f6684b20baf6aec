"""`streamsieve path`: models of every size, and the choice among them."""

from __future__ import annotations

from typing import Any

import click

from ..methods import METHODS
from . import options as opt

_PATHS = [name.lower() for name, entry in METHODS.items() if entry.family == "averages" and name != "OLS"]


HELP = """\
Print models of every size for SOURCE: residual, R2, AIC, BIC, EBIC, and which size is best.

SOURCE is one or more files, glob patterns, or - for standard input. It can also be a model on running
averages from `fit` or `merge`.
"""


@click.command("path", cls=opt.Verb, help=HELP)
@opt.sources
@click.option(
    "--method",
    type=click.Choice(_PATHS, case_sensitive=False),
    help="Method that orders the features.  [default: obestsubset, or olsth with limits on the weights]",
)
@click.option(
    "--criterion",
    type=click.Choice(["aic", "bic", "ebic"]),
    default="bic",
    show_default=True,
    help="Criterion that chooses the best size.",
)
@click.option(
    "-n",
    "--sizes",
    type=click.IntRange(2),
    metavar="N",
    default=30,
    show_default=True,
    help="Print about this many sizes.",
)
@click.option("--all", "every_size", is_flag=True, help="Print every size.")
@click.option("-o", "--output", type=opt.Output(), help="File to write the averages to, as a model.")
@opt.table
@opt.constraints
@opt.task
@opt.memory
@opt.passing
@opt.files
@opt.checkpoint
@opt.output
def command(
    source: tuple[str, ...],
    method: str | None,
    criterion: str,
    sizes: int,
    every_size: bool,
    output: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    import numpy as np

    from ..methods import method_class
    from ..methods.averages.path import path
    from ..persist import is_checkpoint
    from ..training.saved import save
    from .learning import fit_source
    from .model_files import averages_of, open_model
    from .output import check_outputs, emit

    limits = {name: options.pop(name) for name in ("keep", "positive", "group_categories")}
    if (
        method is None
    ):  # best subsets order features better, but do not support sign constraints, and are slow with groups
        limited = limits["positive"] or limits["group_categories"]
        method = "olsth" if limited else "obestsubset"
    if len(source) == 1 and is_checkpoint(source[0]):
        check_outputs(source, models={"--output": output})
        model = open_model(source[0])
    else:
        # only the averages are learned, whichever method extracts a model from them
        learned = {**options, "k": "auto", "method": "olsth", "settings": ()}
        learned |= dict.fromkeys(limits)
        model = fit_source(source, learned, output, quiet).model
    chosen = method_class(method)(**{name: value for name, value in limits.items() if value})
    chosen.feature_names, chosen.first_index, chosen.p = model.feature_names, model.first_index, model.p
    walk = path(averages_of(model, source[0]), chosen)
    best = walk.best_k(criterion)  # type: ignore[arg-type]
    if output is not None:
        save(model, output)
    at = np.arange(len(walk.k))
    if not every_size:
        near = np.searchsorted(walk.k, best) + np.arange(-3, 4)
        spaced = np.geomspace(1, max(len(at), 2), sizes).round().astype(int) - 1
        at = np.unique(np.clip(np.concatenate([spaced, near]), 0, len(at) - 1))
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
    about = {"method": method, "task": model.task_name, "rows_learned": model.n_rows}
    about |= {"features": model.p, f"best_by_{criterion}": int(best)}
    title = f"Models by size; {criterion.upper()} is lowest at k = {best}"
    emit(columns, table, as_json=as_json, title=title, about=about)
