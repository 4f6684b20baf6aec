"""[Ma] Tables 2, 3 and 4, Figures 1, 2 and 3: errors, sparsity and stability of stabilized truncated SGD.

As in [Ma] 6.2: features scaled to variance 1, random orders of the training rows, and of each competitor the
parameters and the number of passes that are best on the training data (here by five-fold cross-validation)
from the paper's ranges. Its gravity g_0 is what a row takes off a weight, so that `alpha`, which is
multiplied by the step, is g_0 / eta. Competitors have no intercept, as in the paper. Ours is run with the
defaults of `StabilizedSGDClassifier`, as Algorithm 4 is printed (K, n_K and beta_0 of the paper, gamma, pi_0,
steps and passes from its ranges, none of our units, intercepts, derived steps and longer bursts), and, since
a choice by errors alone has little use for sparsity, chosen among models about as sparse as the paper's
('sparse'), beside what a batch method makes of 5% of the features.

Beyond its ranges, SGD and FOBOS also have derived steps, and truncated gradient has a row with one, since
with the paper's, 0.1 and more, rows of norm 140 make perceptrons of them; RDA is also tried without rho: with
0.005 it selects nothing within 60 passes on some data. Every set whose files are found is run. Figure 3 is on
dorothea where it is at hand, else on dexter, with features scaled to variance 1, as the text has it, and as
they are distributed, as `protocol` finds that they were; and with labels in random order, which no feature
explains. A quick run searches a coarser grid, on dexter only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from streamsieve import (
    FOBOSClassifier,
    RDAClassifier,
    SGDClassifier,
    StabilizedSGDClassifier,
    TruncatedGradientClassifier,
)
from streamsieve.metrics import auc, stability

from .. import data
from ..baselines import RecursiveElimination
from ..published.ma import LOSSES, PUBLISHED, SETS
from ..report import Cell, Figure, Outcomes, Panel, Part, Table
from ..tuning import Params, cross_validate

PASSES = (5, 10, 20, 30, 40, 50, 60)
LAMBDAS = (5e-5, 1e-4, 5e-4, 1e-3, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
OURS, PRINTED = "StabilizedSGD", "StabilizedSGD, as printed"
PLAIN = ("SGD", "TruncatedGradient", "RDA", "FOBOS", OURS)  # as in the paper's tables
BATCH = "RFE (all rows held)"
# Share of the features that a model may have where it is chosen among sparse ones.
MAX_SHARE = {"rcv1": 0.02, "dexter": 0.03, "dorothea": 0.03, "gisette": 0.05, "arcene": 0.06}
GRAVITIES = (0.001, 0.003, 0.005, 0.01)
QUICK_PASSES = (5, 20)
SMALL_SETS = ("dexter", "arcene")
# The estimator, what [Ma] 6.2 fixes of it, and the ranges it chooses from.
METHODS: dict[str, tuple[Any, Params, dict[str, tuple[Any, ...]]]] = {
    "SGD": (
        SGDClassifier,
        {"fit_intercept": False, "standardize": False},
        {"eta": ("auto", 0.1, 0.2, 0.3, 0.4, 0.5)},
    ),
    "TruncatedGradient": (
        TruncatedGradientClassifier,
        {"K": 5, "fit_intercept": False, "standardize": False},
        {"eta": (0.1, 0.3, 0.5), "g0": GRAVITIES},
    ),
    "TruncatedGradient, derived step": (
        TruncatedGradientClassifier,
        {"K": 5, "fit_intercept": False, "standardize": False},
        {"alpha": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)},
    ),
    "RDA": (
        RDAClassifier,
        {"eta": 1 / 5000, "fit_intercept": False, "standardize": False},
        {"rho": (0.0, 0.005), "alpha": LAMBDAS},
    ),
    "FOBOS": (
        FOBOSClassifier,
        {"fit_intercept": False, "standardize": False},
        {"eta": ("auto", 1.0), "alpha": LAMBDAS},
    ),
    OURS: (StabilizedSGDClassifier, {"n_jobs": 1, "refit": False}, {}),
    PRINTED: (
        StabilizedSGDClassifier,
        {"burst_size": 5, "burst_growth": 1e9, "n_bursts": 5, "rejection": 0.7, "min_bursts": 0.0}
        | {"fit_intercept": False, "standardize": False, "n_jobs": 1, "refit": False},
        {
            "eta": (0.1, 0.5),
            "rejection_decay": (-7.0, -5.0, -3.0, -1.0, 0.0, 1.0, 3.0),
            "threshold": (0.5, 0.6, 0.7, 0.8, 0.9),
        },
    ),
    "StabilizedSGD, sparse": (
        StabilizedSGDClassifier,
        {"n_jobs": 1, "refit": False},
        {
            "burst_size": ("auto", 20),
            "rejection": (0.9, 0.97),
            "rejection_decay": (-7.0, 0.0),
            "threshold": (0.7, 0.9, 0.97),
        },
    ),
    BATCH: (RecursiveElimination, {"share": 0.05}, {}),
}
GAMMAS = (-5.0, 0.0, 5.0)
LAST = 1000  # rows of Figure 1
SCALED, UNSCALED = "variance 1", "as distributed"
CHANCE = f"{OURS}, labels in random order"
# The ends of the paper's ranges: the shortest step, the strongest gravity.
SHORT = {"eta": 0.1, "g0": 0.01}
SHORT_STEPS = "TruncatedGradient, eta = 0.1, g0 = 0.01"


def read_rows(name: str, rows: str) -> tuple[Any, NDArray[np.float64], Any, NDArray[np.float64]]:
    """Training and test rows, features scaled or as distributed."""
    if rows == SCALED:
        return scaled_rows(name)
    (X, y), (X_test, y_test) = _parts(name)
    return sp.csr_array(X), y, sp.csr_array(X_test), y_test


@cache
def scaled_rows(name: str) -> tuple[Any, NDArray[np.float64], Any, NDArray[np.float64]]:
    """Training and test rows, each feature scaled to variance 1 over both."""
    (X, y), (X_test, y_test) = _parts(name)
    both = sp.vstack([X, X_test])
    mean = np.asarray(both.mean(axis=0)).ravel()
    deviation = np.sqrt(np.asarray(both.multiply(both).mean(axis=0)).ravel() - mean**2)
    factors = sp.diags(np.divide(1, deviation, out=np.zeros(len(mean)), where=deviation > 1e-12))
    return _scaled(X, factors), y, _scaled(X_test, factors), y_test


def _scaled(X: Any, factors: Any) -> Any:
    """X with scaled columns; scikit-learn's linear SVM takes 32-bit indices only."""
    rows = sp.csr_array(X @ factors)
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows


def _parts(name: str) -> list[tuple[Any, NDArray[np.float64]]]:
    """Training and test rows as distributed; of rcv1, as in the paper, 70 and 30% of the training rows."""
    if name != "rcv1":
        return [data.load(name, part) for part in ("train", "test")]
    X, y = data.load(name, "train")
    order = np.random.default_rng(0).permutation(len(y))
    return [(X[rows], y[rows]) for rows in np.split(order, [round(0.7 * len(y))])]


def sets_at_hand() -> list[str]:
    return [name for name in SETS if not missing(name)]


def missing(name: str) -> str | None:
    """Which files of a set are missing; of rcv1 the rows for testing are not needed."""
    return data.missing_files(name, *(["train"] if name == "rcv1" else []))


def options(params: Params) -> Params:
    """Parameters as the estimators take them: without the passes, and g_0 as the penalty of a step."""
    given = {name: value for name, value in params.items() if name != "passes"}
    if "g0" in given:
        given["alpha"] = given.pop("g0") / given["eta"]
    return given


def fit_passes(
    method: str, loss: str, params: Params, X: Any, y: Any, seed: int, passes: tuple[int, ...]
) -> Iterator[tuple[int, Any]]:
    """The model after each number of passes, each over a new order of the rows.

    Ours with derived bursts makes its own passes; as printed a pass is a block, which all paths go over.
    """
    kind, fixed, _ = METHODS[method]
    rng = np.random.default_rng(seed)
    if kind in (StabilizedSGDClassifier, RecursiveElimination) and method != PRINTED:
        order = rng.permutation(len(y))
        yield 0, kind(loss=loss, random_state=seed, **fixed, **options(params)).fit(X[order], y[order])
        return
    own = {"random_state": seed, "block_size": len(y)} if method == PRINTED else {}
    model = kind(loss=loss, **fixed, **own, **options(params))
    for n_passes in range(1, max(passes) + 1):
        order = rng.permutation(len(y))
        model.partial_fit(X[order], y[order], classes=(-1, 1))
        if n_passes in passes:
            yield n_passes, model


def passes_of(name: str, method: str, quick: bool) -> tuple[int, ...]:
    """Numbers of passes to choose from; the 16 paths as printed, with bursts of 5 rows, take hours for 60."""
    if quick:
        return QUICK_PASSES
    return PASSES[:3] if method == PRINTED and name not in SMALL_SETS else PASSES


@cache
def search_params(name: str, method: str, loss: str, quick: bool = False, rows: str = SCALED) -> Params:
    """The best of the ranges on the training rows, and of the passes; quick tries every third value."""
    ranges = {param: values[:: 3 if quick else 1] for param, values in METHODS[method][2].items()}
    passes = passes_of(name, method, quick)

    def trials(X: Any, y: Any) -> Iterator[tuple[Params, Any]]:
        for values in product(*ranges.values()):
            params = dict(zip(ranges, values))
            for n_passes, model in fit_passes(method, loss, params, X, y, 0, passes):
                yield params | ({"passes": n_passes} if n_passes else {}), model

    max_share = MAX_SHARE[name] if method.endswith("sparse") else 1.0
    return cross_validate(trials, *read_rows(name, rows)[:2], max_share=max_share) if ranges else {}


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    sparse = "dexter" if missing("dorothea") else "dorothea"
    table = [
        {"what": "table", "data": d, "method": m, "loss": loss, "runs": runs, "quick": quick}
        for d in reversed(sets_at_hand() or ["dexter"])  # what takes longest first
        for m in reversed(METHODS)
        for loss in LOSSES
        if not quick or d == "dexter"
    ]
    return [
        *table,
        *({"what": "run", "method": m, "quick": quick} for m in ("TruncatedGradient", SHORT_STEPS, OURS)),
        *(
            {"what": "density", "data": sparse, "method": m, "loss": loss, "rows": rows}
            for m in ("TruncatedGradient", PRINTED, OURS, CHANCE)
            for loss, rows in product(LOSSES, (SCALED, UNSCALED))
        ),
    ]


def measure(what: str, **job: Any) -> dict[str, Any]:
    """Of a job for a table, a figure along the run, or one against density."""
    measures: dict[str, Callable[..., dict[str, Any]]] = {
        "table": measure_orders,
        "run": measure_run,
        "density": measure_density,
    }
    return measures[what](**job)


def measure_orders(data: str, method: str, loss: str, runs: int, quick: bool) -> dict[str, Any]:
    """The parameters, of each order of the rows test error, AUC and share of features (%), and kappa."""
    X, y, X_test, y_test = scaled_rows(data)
    params = search_params(data, method, loss, quick)
    errors, areas, masks = [], [], []
    for seed in range(1, 1 + runs):
        for _, model in fit_passes(method, loss, params, X, y, seed, (params.get("passes", 0),)):
            errors.append(100 - 100 * float(model.score(X_test, y_test)))
            areas.append(100 * auc(y_test, X_test @ np.ravel(model.coef_)))
            masks.append(model.get_support())
    kappa = stability(masks, X.shape[1]).kappa if runs > 1 else None
    shares = [100 * float(mask.mean()) for mask in masks]
    return {"params": params, "error": errors, "auc": areas, "share": shares, "kappa": kappa}


def measure_run(method: str, quick: bool) -> dict[str, Any]:
    """Share of non-zeros (%) after each of the last rows of 60 passes over dexter, logistic loss."""
    X, y, *_ = scaled_rows("dexter")
    kind, fixed, _ = METHODS[method.partition(",")[0]]
    params = SHORT if method == SHORT_STEPS else search_params("dexter", method, "logistic", quick)
    given: Params = {"loss": "logistic"} | fixed | options(params)
    if method == OURS:  # a stream does not tell that its rows come again, and would have longer bursts
        given |= {"block_size": len(y), "burst_size": kind(**given).fit(X, y).first_burst_}
    model = kind(**given)
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(len(y)) for _ in range(max(PASSES))])
    model.partial_fit(X[order[:-LAST]], y[order[:-LAST]], classes=(-1, 1))
    share = []
    for i in order[-LAST:]:
        model.partial_fit(X[[i]], y[[i]])
        share.append(round(100 * np.count_nonzero(model.coef_) / X.shape[1], 3))
    return {"share": share}


def measure_density(data: str, method: str, loss: str, rows: str) -> dict[str, Any]:
    """Share of features selected (%) by the share of rows that have them; parameters from the coarse grid."""
    X, y, *_ = read_rows(data, rows)
    if method == CHANCE:
        method, y = OURS, np.random.default_rng(0).permutation(y)
    params = search_params(data, method, loss, True, rows)
    ((_, model),) = fit_passes(method, loss, params, X, y, 0, (params.get("passes", 0),))
    times = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    edges = np.unique(np.round(np.geomspace(1, times.max() + 1, 16)).astype(int))
    level = np.digitize(times, edges)
    chosen = model.get_support()
    levels = [at for at in range(1, len(edges)) if np.any(level == at)]
    return {
        "density": [float(times[level == at].mean() / len(y)) for at in levels],
        "selected": [100 * float(chosen[level == at].mean()) for at in levels],
    }


def annealed_rate(d: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """(12) over beta_0, d the share of features purged."""
    if gamma >= 0:
        return np.asarray(np.exp(-gamma * d) - d * np.exp(-gamma))
    return np.asarray(np.log(1 - gamma * (1 - d)) / np.log(1 - gamma))


def report(outcomes: Outcomes) -> list[Part]:
    rows = [row for loss in LOSSES for d in SETS for row in _rows(outcomes, d, loss)]
    count = max((job["runs"] for job, _ in outcomes.where(what="table")), default=0)
    shown = [d for d in SETS if outcomes.where(what="table", data=d)]
    caps = [f"{100 * MAX_SHARE[d]:g} % ({d})" for d in shown]
    absent = " ".join(filter(None, map(missing, SETS)))
    grid = " on a coarse grid" if any(job.get("quick") for job, _ in outcomes) else ""
    note = (
        f"{count} orders of the training rows (published: 50); parameters of all but the defaults best by "
        f"five-fold cross-validation on the training rows{grid}; 'sparse': best of those with at most "
        f"{' and '.join(caps)} of the features; sd over the orders. 'As printed': at most "
        f"{PASSES[2]} passes but on {' and '.join(SMALL_SETS)}. {absent}"
    ).rstrip()
    columns = ["loss", "data", "method", "test error, %", "sd", "non-zeros, %", "sd", "kappa"]
    columns += ["AUC, %", "parameters"]
    title = "[Ma] Tables 2, 3 and 4: error, sparsity, stability"
    parts: list[Part] = [Table(title, columns, rows, note, contest="test error, %")]
    return [*parts, *_run_figures(outcomes), _annealing_figure(), *_density_figures(outcomes)]


def _run_figures(outcomes: Outcomes) -> Iterator[Figure]:
    part = outcomes.where(what="run")
    if part:
        lines = {j["method"]: (list(range(-LAST + 1, 1)), o["share"]) for j, o in part}
        panel = Panel(
            "dexter, logistic", "row, counted from the last", "non-zeros, %", lines, ylog=True, markers=False
        )
        note = (
            f"The last {LAST:,} rows of {max(PASSES)} passes; what a reader of `coef_` gets after each. "
            "TruncatedGradient as cross-validation chose it has long steps: few rows have a loss, and what "
            "one brings in goes slowly. With the shortest step and the strongest gravity of the paper's "
            "ranges it oscillates as in print. StabilizedSGD in blocks of a pass, with the bursts of `fit`."
        )
        yield Figure("ma-run", "[Ma] Figure 1: non-zeros along the run", [panel], note)


def _annealing_figure() -> Figure:
    d = np.linspace(0, 1, 101)
    curves = {f"gamma = {g:g}": (d.tolist(), annealed_rate(d, g).tolist()) for g in GAMMAS}
    panel = Panel("", "share of features purged", "rejection rate / beta_0", curves, markers=False)
    return Figure("ma-annealing", "[Ma] Figure 2: how the rejection rate anneals", [panel])


def _density_figures(outcomes: Outcomes) -> Iterator[Figure]:
    panels = []
    for loss, rows in product(LOSSES, (SCALED, UNSCALED)):
        part = outcomes.where(what="density", loss=loss, rows=rows)
        if part:
            lines = {j["method"]: (o["density"], o["selected"]) for j, o in part}
            title = f"{part.pairs[0][0]['data']}, {loss}, {rows}"
            panels.append(Panel(title, "share of rows that have it", "selected, %", lines, xlog=True))
    if panels:
        note = (
            "In print truncated gradient selects the more features the denser they are. It does so here on "
            "rows as distributed, and not where features have variance 1: the values of rare ones are then "
            "large. StabilizedSGD has its own units and is the same on both. With labels in random order no "
            "feature explains them, and a method that density does not decide selects all alike. Parameters "
            "of the others from the coarse grid, on the same rows."
        )
        yield Figure(
            "ma-density", "[Ma] Figure 3: features selected at each density", panels, note, columns=2
        )


def _rows(outcomes: Outcomes, name: str, loss: str) -> Iterator[list[str | Cell]]:
    *columns, kappa = PUBLISHED[loss, name]
    published = dict(zip(PLAIN, zip(*columns)))
    for method in METHODS:
        part = outcomes.where(what="table", data=name, method=method, loss=loss)
        if not part:
            continue
        kind = method.partition(",")[0]
        error, error_sd, share, share_sd = published.get(kind, (None,) * 4)
        errors = Cell([e for chunk in part.values("error") for e in chunk], error, "less", 2)
        shares = Cell([s for chunk in part.values("share") for s in chunk], share, "less", 2)
        published_kappa = {"TruncatedGradient": kappa[0], OURS: kappa[1]}.get(kind)
        areas = [a for chunk in part.values("auc") for a in chunk]
        params = ", ".join(f"{k} = {v}" for k, v in part.values("params")[0].items()) or "defaults"
        yield [
            *(loss, name, method),
            *(errors, _deviation_text(errors, error_sd), shares, _deviation_text(shares, share_sd)),
            *(part.cell("kappa", published=published_kappa, digits=2), Cell(areas), params),
        ]


def _deviation_text(cell: Cell, published: float | None) -> str:
    own = f"{np.std(cell.values, ddof=1):.2f}" if len(cell.values) > 1 else "-"
    return own if published is None else f"{own} ({published:.2f})"
