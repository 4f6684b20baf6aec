"""[Zhai] Figures 1 and 2: test accuracy against the budget, on dexter, basehock and arcene.

As in [Zhai] 5.2: tau = ceil(2 d / n) shuffled passes, delta = 0.01, and the parameters that are best on the
training data, from a grid of powers of sqrt(10); the average over runs, each with its own order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..learners import BAMDClassifier, BARDAClassifier, OFSClassifier, SOFSClassifier
from ._report import Cell, Figure, Outcomes, Panel, Part, Table
from .data import load

# The learners that take a budget. Those with a penalty in its place (Figure 3) join here.
METHODS: dict[str, Any] = {
    "B-ARDA": BARDAClassifier,
    "B-AMD": BAMDClassifier,
    "OFS": OFSClassifier,
    "SOFS": SOFSClassifier,
}
SETS = ("dexter", "basehock", "arcene")
BUDGETS = (100, 200, 500, 1000, 2000)
# Chosen by `choose` on all of the grid, at a budget of 500, so that a quick run need not search.
GIVEN: dict[str, dict[str, float]] = {
    "B-ARDA": {"lam": 1e-2, "eta": 1e-4},
    "B-AMD": {"lam": 1e-2, "eta": 1e-4},
    "OFS": {"lam": 1e-2, "eta": 1e-4},
    "SOFS": {"gamma": 1e4},
}


def passes(X: Any, y: NDArray[np.float64], seed: int, times: int) -> Iterator[tuple[Any, Any]]:
    """The rows again and again, each time in another order."""
    rng = np.random.default_rng(seed)
    for _ in range(times):
        order = rng.permutation(X.shape[0])
        yield X[order], y[order]


def learned(method: str, k: int, params: dict[str, float], X: Any, y: Any, seed: int, times: int) -> Any:
    model = METHODS[method](k, **params)
    for rows, labels in passes(X, y, seed, times):
        model.partial_fit(rows, labels, classes=(-1, 1))
    return model


def grid(method: str) -> list[dict[str, float]]:
    """{10^-1, 10^-1.5, ..., 10^-8} for lambda and eta, and for 1 / gamma."""
    powers = 10.0 ** np.arange(-1, -8.5, -0.5)
    if method == "SOFS":
        return [{"gamma": float(1 / g)} for g in powers]
    return [{"lam": float(lam), "eta": float(eta)} for lam, eta in product(powers, powers)]


def choose(method: str, X: Any, y: Any, times: int, k: int = 500) -> dict[str, float]:
    """The parameters that do best on the training data, one run each.

    That is the accuracy on every row before it is learned, over all passes: after the last of them many
    parameters fit all rows, and there is nothing left to choose by.
    """
    options = grid(method)
    scores = []
    for params in options:
        model = METHODS[method](k, **params)
        right = 0.0
        for rows, labels in passes(X, y, 0, times):
            if hasattr(model, "classes_"):
                right += model.score(rows, labels)
            model.partial_fit(rows, labels, classes=(-1, 1))
        scores.append(right)
    return options[int(np.argmax(scores))]


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    sets = SETS[:1] if quick else SETS
    return [{"data": d, "method": m, "runs": runs, "search": not quick} for d in sets for m in METHODS]


def measure(data: str, method: str, runs: int, search: bool) -> dict[str, Any]:
    """The parameters, and by budget the test accuracies in percent of all runs."""
    X, y = load(data, "train")
    X_test, y_test = load(data, "test")
    times = int(np.ceil(2 * X.shape[1] / X.shape[0]))
    params = choose(method, X, y, times) if search else GIVEN[method]
    return {"params": params} | {
        str(k): [
            100 * learned(method, k, params, X, y, 1 + r, times).score(X_test, y_test) for r in range(runs)
        ]
        for k in BUDGETS
    }


def report(outcomes: Outcomes) -> list[Part]:
    rows: list[list[str | Cell]] = []
    panels = []
    searched = any(job["search"] for job, _ in outcomes)
    for data in SETS:
        curves = {}
        for job, outcome in outcomes.where(data=data):
            cells = [Cell(outcome[str(k)]) for k in BUDGETS]
            told = ", ".join(f"{p} = {v:.0e}" for p, v in outcome["params"].items())
            rows.append([data, job["method"], *cells, told])
            curves[job["method"]] = (BUDGETS, [cell.mean for cell in cells])
        if curves:
            panels.append(Panel(data, "features kept (B)", "test accuracy, %", curves, xlog=True))
    how = "parameters that are best on the training data at B = 500" if searched else "given parameters"
    runs = max(len(cell.values) for row in rows for cell in row if isinstance(cell, Cell))
    note = f"Test accuracy in percent, ceil(2 d / n) shuffled passes, {how}, {runs} runs."
    title = "Accuracy against budget, [Zhai] Figures 1 and 2"
    columns = ["data", "method", *(f"B = {k}" for k in BUDGETS), "parameters"]
    return [Table(title, columns, rows, note), Figure("zhai", title, panels, note)]
