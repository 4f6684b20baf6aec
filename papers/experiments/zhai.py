"""[Zhai] Figures 1, 2 and 3: test accuracy against the number of features, on the sets whose files are found.

As in [Zhai] 5.2: tau = ceil(2 d / n) shuffled passes, delta = 0.01, and the parameters that are best on the
training data, here by five-fold cross-validation, from a grid of powers of sqrt(10); the average over runs,
each with its own order of the rows.
As in 5.3, of l1-ARDA and Ada-FOBOS the step is chosen so, and then the penalty is lowered to have more and
more features.

Parameters are chosen after 10 passes; then, of those within a decade of that choice, after up to 50.
Chosen by rows that a model has learned in passes before, as one may read the paper too, the longest steps
win: they fit rows soonest, and predict others worse (pcmac, B-ARDA at B = 50: 82.1 in place of 85.8). B-ARDA
and B-AMD are run at the same budgets in all figures, where the paper gives them as many features as the
penalties happened to leave. A quick run searches a coarser grid, on dexter only.

What 5.3 says of Figure 3 is compared where the penalties left 10 to 200 features, with the accuracy of the
other method by linear interpolation in the logarithm of the features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsieve import (
    AdaFOBOSClassifier,
    BAMDClassifier,
    BARDAClassifier,
    L1ARDAClassifier,
    OFSClassifier,
    SOFSClassifier,
)

from ..baselines import PLAIN
from ..data import load, missing_files
from ..published.zhai import CLAIMS, L1_CLAIMS, SIZES
from ..report import Cell, Figure, Outcomes, Panel, Part, Table
from ..tuning import Params, cross_validate

BUDGETED: dict[str, Any] = {
    "B-ARDA": BARDAClassifier,
    "B-AMD": BAMDClassifier,
    "OFS": OFSClassifier,
    "SOFS": SOFSClassifier,
}
PENALIZED: dict[str, Any] = {"l1-ARDA": L1ARDAClassifier, "Ada-FOBOS": AdaFOBOSClassifier}
BUDGETS = (10, 20, 50, 100, 200, 500, 1000, 2000)
FEW, SMALL = 10, 200  # budgets from and up to here are Figure 1
FEW_PASSES, MOST_PASSES = 10, 50  # by which parameters are chosen
HALVINGS = 14  # of the l1 penalty, from 16 times the largest at which l1-ARDA would take a first feature


BUDGET_TITLE = "Accuracy against budget, [Zhai] Figures 1 and 2"
PENALTY_TITLE = "Accuracy against features left by l1, [Zhai] Figure 3"
L1_TITLE = "What [Zhai] 5.3 says of Figure 3"


def shuffled_passes(X: Any, y: NDArray[np.float64], seed: int, times: int) -> Iterator[tuple[Any, Any]]:
    """The rows again and again, each time in another order."""
    rng = np.random.default_rng(seed)
    for _ in range(times):
        order = rng.permutation(X.shape[0])
        yield X[order], y[order]


def make_model(method: str, k: int, params: Params) -> Any:
    if method in BUDGETED:
        return BUDGETED[method](k, **PLAIN, **params)
    fixed = {"loss": "squared_hinge", "schedule": "constant", **PLAIN}
    return PENALIZED[method](**fixed, **{"alpha": 0.0, **params})


def fit(method: str, k: int, params: Params, X: Any, y: Any, seed: int, times: int) -> Any:
    model = make_model(method, k, params)
    for rows, labels in shuffled_passes(X, y, seed, times):
        model.partial_fit(rows, labels, classes=(-1, 1))
    return model


def grid(method: str, quick: bool = False) -> list[Params]:
    """{10^-1, 10^-1.5, ..., 10^-8} for lambda and eta, and for 1 / gamma; quick has every third of them."""
    powers = [float(v) for v in 10.0 ** np.arange(-1, -8.5, -0.5)][:: 3 if quick else 1]
    if method == "SOFS":
        return [{"gamma": 1 / g} for g in powers]
    if method in PENALIZED:
        return [{"eta": eta} for eta in powers]
    return [{"alpha": alpha, "eta": eta} for alpha, eta in product(powers, powers)]


def search_params(method: str, X: Any, y: Any, times: int, k: int = 500, quick: bool = False) -> Params:
    """The parameters with the fewest errors on training rows left out, in five folds."""

    def best(options: list[Params], passes: int) -> Params:
        def trials(rows: Any, labels: Any) -> Iterator[tuple[Params, Any]]:
            for params in options:
                yield params, fit(method, k, params, rows, labels, 0, passes)

        return cross_validate(trials, X, y, total=len(options))

    options = grid(method, quick)
    first = best(options, min(times, FEW_PASSES))
    near = [params for params in options if all(0.09 < params[n] / first[n] < 11 for n in first)]
    return best(near, min(times, MOST_PASSES))


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    found = [name for name in SIZES if not missing_files(name)]
    sets = ["dexter"] if quick or not found else found[::-1]  # what takes longest first
    methods = (*BUDGETED, *PENALIZED)
    return [{"data": d, "method": m, "runs": runs, "quick": quick} for d in sets for m in methods]


def measure(data: str, method: str, runs: int, quick: bool) -> dict[str, Any]:
    """The parameters, and for each budget or penalty the features kept and the accuracies of all runs."""
    (X, y), (X_test, y_test) = load(data, "train"), load(data, "test")
    times = int(np.ceil(2 * X.shape[1] / X.shape[0]))
    params = search_params(method, X, y, times, quick=quick)
    if method in BUDGETED:
        trials = [(k, params) for k in BUDGETS]
    else:  # the gradient of the squared hinge at w = 0 is -2 y x
        most = 32 * float(np.abs(X.T @ y).max()) / len(y)
        trials = [(0, params | {"alpha": most * 0.5**i}) for i in range(HALVINGS + 1)]
    curve = []
    for k, options in trials:
        models = [fit(method, k, options, X, y, 1 + r, times) for r in range(runs)]
        sizes = [int(np.count_nonzero(model.coef_)) for model in models]
        accuracies = [100 * model.score(X_test, y_test) for model in models]
        curve.append({"k": k, "features": float(np.mean(sizes)), "accuracy": accuracies})
    return {"params": params, "curve": curve}


def report(outcomes: Outcomes) -> list[Part]:
    runs = max(job["runs"] for job, _ in outcomes)
    note = (
        "Test accuracy in percent, ceil(2 d / n) shuffled passes, parameters best on training rows left out "
        f"(at B = 500), {runs} runs."
    )
    absent = " ".join(filter(None, map(missing_files, SIZES)))
    columns = ["data", "method", *(f"B = {k}" for k in BUDGETS), "parameters"]
    budgets = Table(BUDGET_TITLE, columns, _budget_rows(outcomes), f"{note} {absent}".rstrip())
    penalties = Table(
        PENALTY_TITLE,
        ["data", "method", "features", "accuracy", "parameters"],
        _penalty_rows(outcomes),
        "Mean number of features over the runs, each line half the penalty of the line above.",
    )
    l1_claims = claims_of_l1(budgets, penalties)
    return [budgets, _claims(outcomes), l1_claims, penalties, *_figures(outcomes, note)]


def _claims(outcomes: Outcomes) -> Table:
    """At which budgets what [Zhai] 5.2 says of its figures is true of ours, by the means."""
    sets = [d for d in SIZES if outcomes.where(data=d)]
    rows = []
    for claim, (best, others, low, high) in CLAIMS.items():
        row = [claim]
        for data in sets:
            curves = {m: cells for _, m, _, _, cells in _curves(outcomes.where(data=data), (best, *others))}
            at = [(i, k) for i, k in enumerate(BUDGETS) if low <= k <= high]
            lost = [str(k) for i, k in at if any(curves[best][i].mean < curves[m][i].mean for m in curves)]
            row.append(
                f"{len(at) - len(lost)} of {len(at)}" + (f", not at {', '.join(lost)}" if lost else "")
            )
        rows.append(row)
    note = "At how many of the budgets in question each is true here, by the means over the runs."
    return Table("What [Zhai] 5.2 says of Figures 1 and 2", ["claim", *sets], rows, note)


def claims_of_l1(budgets: Table, penalties: Table) -> Table:
    """At how many points what [Zhai] 5.3 says of few features is true of ours, by the means over the runs."""
    curves: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for data, method, *cells, _ in budgets.rows:
        means = [(float(k), cell.mean) for k, cell in zip(BUDGETS, cells) if isinstance(cell, Cell)]
        curves[str(data), str(method)] = means
    for data, method, size, cell, _ in penalties.rows:
        if isinstance(cell, Cell):
            curves.setdefault((str(data), str(method)), []).append((float(str(size)), cell.mean))
    sets = [d for d in SIZES if any(data == d for data, _ in curves)]
    rows = []
    for claim, (better, worse) in L1_CLAIMS.items():
        row = [claim]
        for data in sets:
            pairs = _compare(
                curves.get((data, better), []), curves.get((data, worse), []), worse in PENALIZED
            )
            lost = [f"{size:.0f} ({a:.1f} and {b:.1f})" for size, a, b in pairs if a < b]
            held = f"{len(pairs) - len(lost)} of {len(pairs)}" if pairs else "-"
            row.append(held + (f", not at {', '.join(lost)}" if lost else ""))
        rows.append(row)
    note = (
        f"At how many of the points with {FEW} to {SMALL} features each is true here, by the means over the "
        "runs: at the numbers that a penalty left, with the other accuracy interpolated, or at the budgets. "
        "In brackets: both accuracies. That the gaps shrink with more features is not judged."
    )
    return Table(L1_TITLE, ["claim", *sets], rows, note)


def _compare(
    better: list[tuple[float, float]], worse: list[tuple[float, float]], at_worse: bool
) -> list[tuple[float, float, float]]:
    """Number of features and both accuracies, at the points of one curve within the range of the other."""
    points, curve = (worse, sorted(better)) if at_worse else (better, sorted(worse))
    found = []
    for size, accuracy in points:
        if curve and max(FEW, curve[0][0]) <= size <= min(SMALL, curve[-1][0]):
            other = float(np.interp(np.log(size), np.log([x for x, _ in curve]), [y for _, y in curve]))
            found.append((size, other, accuracy) if at_worse else (size, accuracy, other))
    return found


def _curves(
    outcomes: Outcomes, methods: Iterable[str]
) -> Iterator[tuple[str, str, str, list[float], list[Cell]]]:
    """Data, method, parameters, and along the curve the features and the accuracies."""
    for data in SIZES:
        for method in methods:
            for _, outcome in outcomes.where(data=data, method=method):
                params = ", ".join(f"{p} = {v:.0e}" for p, v in outcome["params"].items())
                sizes = [point["features"] for point in outcome["curve"]]
                yield data, method, params, sizes, [Cell(point["accuracy"]) for point in outcome["curve"]]


def _budget_rows(outcomes: Outcomes) -> list[list[str | Cell]]:
    return [[data, method, *cells, params] for data, method, params, _, cells in _curves(outcomes, BUDGETED)]


def _penalty_rows(outcomes: Outcomes) -> list[list[str | Cell]]:
    return [
        [data, method, f"{size:.0f}", cell, params]
        for data, method, params, sizes, cells in _curves(outcomes, PENALIZED)
        for size, cell in zip(sizes, cells)
        if 1 <= size <= 2 * SMALL
    ]


def _figures(outcomes: Outcomes, note: str) -> Iterator[Figure]:
    for name, title, methods, low, high in (
        ("small", "[Zhai] Figure 1: accuracy against small budgets", BUDGETED, 0, SMALL),
        ("large", "[Zhai] Figure 2: accuracy against large budgets", BUDGETED, SMALL, np.inf),
        ("l1", "[Zhai] Figure 3: budgets beside l1 penalties", ("B-ARDA", "B-AMD", *PENALIZED), 1, 2 * SMALL),
    ):
        lines: dict[str, dict[str, tuple[list[float], list[float]]]] = {}
        for data, method, _, sizes, cells in _curves(outcomes, methods):
            points = [(size, cell.mean) for size, cell in zip(sizes, cells) if low <= size <= high]
            panel = lines.setdefault(data, {})
            if points:
                panel[method] = ([size for size, _ in points], [accuracy for _, accuracy in points])
        panels = [Panel(d, "features kept", "test accuracy, %", by, xlog=True) for d, by in lines.items()]
        yield Figure(f"zhai-{name}", title, panels, note)
