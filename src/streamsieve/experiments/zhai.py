"""[Zhai] Figures 1 and 2: test accuracy against the budget, on dexter, basehock and arcene.

As in [Zhai] 5.2: tau = ceil(2 d / n) shuffled passes, delta = 0.01, and the parameters that are best on the
training data, from a grid of powers of sqrt(10); the average over runs, each with its own order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..learners import BAMDClassifier, BARDAClassifier, OFSClassifier, SOFSClassifier
from . import Progress, Result
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


def accuracy(name: str, method: str, params: dict[str, float], runs: int) -> list[list[float]]:
    """Test accuracies in percent: for each budget, of each run."""
    X, y = load(name, "train")
    X_test, y_test = load(name, "test")
    times = int(np.ceil(2 * X.shape[1] / X.shape[0]))
    return [
        [100 * learned(method, k, params, X, y, 1 + r, times).score(X_test, y_test) for r in range(runs)]
        for k in BUDGETS
    ]


def run(runs: int, quick: bool, progress: Progress, folder: Path | None = None) -> Result:
    """Table of accuracies; with a folder (and matplotlib) also the picture `zhai.png`."""
    sets = SETS[:1] if quick else SETS
    steps = len(sets) * len(METHODS)
    rows, curves = [], {}
    for i, (name, method) in enumerate(product(sets, METHODS)):
        progress(f"{name}, {method}", i, steps)
        X, y = load(name, "train")
        times = int(np.ceil(2 * X.shape[1] / X.shape[0]))
        params = GIVEN[method] if quick else choose(method, X, y, times)
        scores = np.mean(accuracy(name, method, params, runs), axis=1)
        curves[name, method] = scores
        told = ", ".join(f"{p} = {v:.0e}" for p, v in params.items())
        rows.append([name, method, *(f"{s:.1f}" for s in scores), told])
    progress("done", steps, steps)
    if folder is not None:
        picture(curves, Path(folder) / "zhai.png")
    how = "given parameters" if quick else "parameters that are best on the training data at B = 500"
    note = f"Test accuracy in percent, ceil(2 d / n) shuffled passes, {how}, average of {runs} runs."
    title = "Accuracy against budget, [Zhai] Figures 1 and 2"
    return Result(title, ["data", "method", *(f"B = {k}" for k in BUDGETS), "parameters"], rows, note)


def picture(curves: dict[tuple[str, str], NDArray[np.float64]], file: Path) -> None:
    """One panel a data set, one line a method."""
    from matplotlib.figure import Figure

    sets = list(dict.fromkeys(name for name, _ in curves))
    figure = Figure(figsize=(4.2 * len(sets), 3.6), layout="constrained")
    for axes, name in zip(np.ravel(figure.subplots(1, len(sets))), sets):
        for marker, method in zip("osD^", METHODS):
            axes.plot(BUDGETS, curves[name, method], marker=marker, label=method)
        axes.set(title=name, xlabel="features kept (B)", ylabel="test accuracy, %", xscale="log")
        axes.set_xticks(BUDGETS, [str(k) for k in BUDGETS])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=150)
