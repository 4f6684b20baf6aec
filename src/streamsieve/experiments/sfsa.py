"""[Sun] Tables 4.1, 4.2 and 4.4: which share of the true features SFSA finds, and how well it predicts.

p = 10,000 features correlated 0.5, k = 100 of them real; and the sparse designs X1 and X2. Every model
matures at the end of the stream, or, with the refit, after two thirds of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import metrics, simulate
from ..learners import SFSAClassifier, SFSARegressor
from . import Progress, Result

BATCH = 25
WEAK = (0.05, 1.0)


Run = Callable[[int], tuple[float, float]]


def correlated(n: int, signal: Any, task: str, share: float, **options: Any) -> Run:
    """Percent found, and test RMSE or AUC, as a function of the seed."""

    def one_run(seed: int) -> tuple[float, float]:
        kind = SFSARegressor if task == "regression" else SFSAClassifier
        T = int(share * n) // BATCH
        design = {"p": 10_000, "k": 100, "signal": signal, "task": task}
        stream = simulate.correlated(n, **design, block_size=500, random_state=seed)
        test = simulate.correlated(None, **design, random_state=10_000 + seed).take(2000)
        return learn(kind(100, T=T, ladder=False, **options), stream, *test)

    return one_run


def sparse(p: int, k: int, nnz: int) -> Run:
    def one_run(seed: int) -> tuple[float, float]:
        stream = simulate.sparse(100_000, p, k, nnz, random_state=seed)
        model = SFSAClassifier(k, T=100_000 // BATCH, ladder=False)
        return learn(model, stream, *stream.take(20_000, start=100_000))

    return one_run


def learn(model: Any, stream: Any, X: Any, y: Any) -> tuple[float, float]:
    labels = {"classes": [-1, 1]} if isinstance(model, SFSAClassifier) else {}
    for rows, target in stream:
        model.partial_fit(rows, target, **labels)
    found = 100 * metrics.detection_rate(model.get_support(indices=True), stream.support)
    if labels:
        return found, metrics.auc(y, model.decision_function(X))
    return found, metrics.rmse(y, model.predict(X))


# design, what is measured, how to run it, published detection and RMSE or AUC
SETTINGS: list[tuple[str, str, Run, str, str]] = [
    ("regression, 1, n = 20,000", "RMSE", correlated(20_000, 1.0, "regression", 1), "100", "39.93"),
    ("  refit, n = 40,000", "RMSE", correlated(40_000, 1.0, "regression", 2 / 3, refit=True), "-", "-"),
    ("sparse X1", "AUC", sparse(10_000, 100, 200), "100", "0.923"),
    ("sparse X2", "AUC", sparse(20_000, 200, 400), "100", "0.919"),
    (
        "regression, 0.05 to 1, n = 100,000",
        "RMSE",
        correlated(100_000, WEAK, "regression", 1),
        "98.3",
        "7.89",
    ),
    ("  refit, n = 100,000", "RMSE", correlated(100_000, WEAK, "regression", 2 / 3, refit=True), "-", "-"),
    ("classification, 1, n = 100,000", "AUC", correlated(100_000, 1.0, "classification", 1), "100", "1.0"),
    (
        "classification, 0.05 to 1, n = 100,000",
        "AUC",
        correlated(100_000, WEAK, "classification", 1),
        "86.1",
        "1.0",
    ),
]


def run(runs: int, quick: bool, progress: Progress) -> Result:
    settings = SETTINGS[:4] if quick else SETTINGS
    rows = []
    for i, (design, measure, one_run, found, error) in enumerate(settings):
        results = []
        for r in range(runs):
            progress(design, i * runs + r, len(settings) * runs)
            results.append(one_run(1000 * i + r))
        mean = np.mean(results, axis=0)
        rows.append([design, f"{mean[0]:.1f}", found, measure, f"{mean[1]:.3f}", error])
    progress("done", len(settings) * runs, len(settings) * runs)
    columns = ["design, signal", "found %", "paper", "", "measured", "paper"]
    return Result("SFSA", columns, rows, f"Defaults, average of {runs} runs; the paper's are of 20.")
