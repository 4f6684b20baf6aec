"""[Sun] Tables 4.5, 5.6 and Figure 3.1, [Slides] p. 39, [Susan] Table 1: the data sets whose files are found.

Accuracy (URL, webspam, news20) is measured after one pass over the training rows. R^2 and AUC are averages
over 20 random splits and, for [Susan], over five folds stratified by the target. As in the papers, the k
with the best average on the rows left out is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve import (
    OFSClassifier,
    OLSTRegressor,
    OLSTThenTSGDRegressor,
    RunningAverages,
    SADMMRegressor,
    SFSAClassifier,
    SIHTRegressor,
    SOFSClassifier,
    TSGDClassifier,
    metrics,
    path,
)
from streamsieve.methods.averages.extract import ofsa, olsth
from streamsieve.statistics.interactions import Pairs
from streamsieve.statistics.standardize import standardize

from .. import data
from ..baselines import PLAIN, fofs_params, lasso, omp
from ..report import Cell, Figure, Outcomes, Panel, Part, Table

BATCH = 25
# Which sets a table has.
TABLES = {
    "[Sun] Table 4.5": ("url", "webspam", "news20"),
    "[Sun] Table 5.6": ("wikiface", "msd, products", "msd", "gisette", "dexter"),
    "[Slides] p. 39": ("wikiface", "msd, products", "msd", "gisette", "dexter"),
    "[Susan] Table 1": ("wikiface, [Susan]",),
}
# [Sun] Table 4.5: the share of features kept, rows to learn from, and published accuracies (%).
STREAMED: dict[str, tuple[float, int, dict[str, float]]] = {
    "url": (0.005, 1_980_000, {"SFSA": 98.21, "SFSA-AG": 98.13, "TSGD": 97.38, "FOFS": 97.27, "SOFS": 95.39}),
    "webspam": (
        0.001,
        200_000,
        {"SFSA": 93.66, "SFSA-AG": 93.69, "TSGD": 90.44, "FOFS": 90.41, "SOFS": 96.63},
    ),
    "news20": (0.01, 18_000, {"SFSA": 69.04, "SFSA-AG": 66.42, "TSGD": 54.71, "FOFS": 54.45, "SOFS": 68.47}),
}
# Share of the rows to learn from, the k to try, and what was published by method.
SPLIT: dict[str, tuple[float, tuple[int, ...], dict[str, float]]] = {
    "wikiface": (
        0.875,
        (10, 25, 50, 100, 200, 400),
        {"OLSth": 0.547, "OFSA": 0.545, "Lasso": 0.503, "TSGD": 0.400, "SADMM": 0.487},
    ),
    "wikiface, [Susan]": (
        0.8,
        (10, 25, 50, 100),
        {"OMP": 0.483, "Lasso": 0.501, "TSGD": 0.389, "OLST": 0.538, "C = 50": 0.396, "C = 500": 0.522},
    ),
    "msd, products": (0.8, (100, 200, 400, 800), {"OLSth": 0.303, "OFSA": 0.298, "TSGD": 0.0, "SADMM": 0.0}),
    "msd": (
        0.8,
        (20, 50, 90),
        {"OLSth": 0.237, "OFSA": 0.237, "Lasso": 0.237, "TSGD": 0.157, "SADMM": 0.183},
    ),
    "gisette": (
        0.8,
        (50, 100, 200, 400),
        {"OLSth": 0.990, "OFSA": 0.997, "Lasso": 0.993, "FOFS": 0.566, "SOFS": 0.502},
    ),
    "dexter": (
        0.8,
        (50, 100, 200, 400),
        {"OLSth": 0.936, "OFSA": 0.971, "Lasso": 0.940, "FOFS": 0.499, "SOFS": 0.499},
    ),
}
LABELS = ("gisette", "dexter")
SPLITS, FOLDS = 20, 5  # of [Sun], of [Susan]
EXTRACTORS: dict[str, Any] = {"OLSth": olsth, "OFSA": ofsa}


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if not data.missing_files("msd"):
        found.append({"what": "path"})
    found += [
        {"what": "split", "name": name, "seed": seed}
        for name in SPLIT
        for seed in range(FOLDS if "[Susan]" in name else runs if quick else max(runs, SPLITS))
        if not data.missing_files(_dataset(name)) and not (quick and _dataset(name) == "wikiface")
    ]
    return found + [
        {"what": "stream", "name": name} for name in STREAMED if not (quick or data.missing_files(name))
    ]


def measure(what: str, **job: Any) -> dict[str, Any]:
    function: Any = {"path": measure_paths, "split": measure_split, "stream": measure_stream}[what]
    outcome: dict[str, Any] = function(**job)
    return outcome


def _dataset(name: str) -> str:
    return name.split(",")[0]


def measure_stream(name: str) -> dict[str, float]:
    """Accuracies in percent after one pass."""
    share, n, _ = STREAMED[name]
    p = data.DATASETS[name].p
    k = round(share * p)
    models: dict[str, Any] = {
        "SFSA": SFSAClassifier(k, loss="hinge", maturity=n // BATCH, ladder=False),
        "SFSA-AG": SFSAClassifier(k, loss="hinge", maturity=n // BATCH, ladder=False, variant="nesterov"),
        "TSGD": TSGDClassifier(k),
        "FOFS": OFSClassifier(k, **PLAIN),
        "SOFS": SOFSClassifier(k, gamma=1.0, **PLAIN),
    }
    if name == "news20":
        X, y = data.load(name, "all")
        order = np.random.default_rng(0).permutation(len(y))
        rows: Any = [(X[order[:n]], y[order[:n]])]
        test = X[order[n:]], y[order[n:]]
    else:
        rows, test = data.blocks(name, "train"), data.load(name, "test")
    for X, y in rows:
        for model in models.values():
            model.partial_fit(X, y, classes=(-1, 1))
    return {method: 100 * float(model.score(*test)) for method, model in models.items()}


def measure_split(name: str, seed: int) -> dict[str, Any]:
    """By method and k: R^2 or AUC on the test rows of one random split, or of the fold `seed`."""
    share, ks, published = SPLIT[name]
    X, y = data.load(_dataset(name), "all")
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [round(share * len(y))])
    if "[Susan]" in name:
        fold = stratified_folds(y)
        train, test = order[fold[order] != seed], order[fold[order] == seed]
    if (
        _dataset(name) in LABELS
    ):  # features that the training rows lack have no weight; their averages cost O(p^2)
        seen = np.flatnonzero(np.asarray((X[train] != 0).sum(axis=0)).ravel())
        X = X[:, seen]
        X = X.toarray() if sp.issparse(X) else X
    score = metrics.auc if _dataset(name) in LABELS else metrics.r2
    pairs = Pairs(X.shape[1]) if "products" in name else None
    averages = RunningAverages(interactions=pairs is not None).update(X[train], y[train])
    s = standardize(averages)
    out: dict[str, Any] = {}
    for method in published:
        fit = _fit_function(method, s, X[train], y[train]) if pairs is None or method in EXTRACTORS else None
        if fit is not None:
            out[method] = {str(k): score(y[test], _predict_blocks(fit(k), X[test], pairs)) for k in ks}
    return out


def stratified_folds(y: Any) -> Any:
    """The fold of each row: of every five rows in the order of their targets, one is in each."""
    rng = np.random.default_rng(0)
    drawn = np.concatenate([rng.permutation(FOLDS) for _ in range(-(-len(y) // FOLDS))])[: len(y)]
    fold = np.empty(len(y), dtype=np.int64)
    fold[np.argsort(y, kind="stable")] = drawn
    return fold


def _predict_blocks(predict: Callable[[Any], Any], X: Any, pairs: Pairs | None) -> Any:
    """Predictions, with products of features made for a block of rows at a time."""
    if pairs is None:
        return predict(X)
    return np.concatenate([predict(pairs.expand(X[i : i + 4096])) for i in range(0, X.shape[0], 4096)])


def _fit_function(name: str, s: Any, X: Any, y: Any) -> Callable[[int], Callable[[Any], Any]]:
    """How a method is fitted for a k."""
    if name in EXTRACTORS:
        return lambda k: EXTRACTORS[name](s, k).predict
    if name in ("Lasso", "OMP"):
        return lambda k: (lasso if name == "Lasso" else omp)(X, y, k)[1]
    learners: dict[str, Any] = {
        "TSGD": SIHTRegressor,
        "SADMM": lambda k: SADMMRegressor(k, standardize=False),
        "OLST": OLSTRegressor,
        "C = 50": lambda k: OLSTThenTSGDRegressor(k, C=50),
        "C = 500": lambda k: OLSTThenTSGDRegressor(k, C=500),
        "FOFS": lambda k: OFSClassifier(k, **PLAIN, **fofs_params(X)),
        "SOFS": lambda k: SOFSClassifier(k, gamma=1.0, **PLAIN),
    }

    def fit(k: int) -> Callable[[Any], Any]:
        model = learners[name](k)
        labels = {"classes": np.unique(y)} if hasattr(model, "decision_function") else {}
        model.partial_fit(X, y, **labels)  # one pass, as in the paper
        predict: Callable[[Any], Any] = getattr(model, "decision_function", model.predict)
        return predict

    return fit


def measure_paths() -> dict[str, Any]:
    """Figure 3.1: standardised weights along the paths of OLSth and OLasso on YearPredictionMSD."""
    averages = RunningAverages()
    for X, y in data.blocks("msd", "train"):
        averages.update(X, y)
    out: dict[str, Any] = {}
    for method in ("olsth", "olasso"):
        models = path(averages, method)
        out[method] = {
            "k": [int(k) for k in models.k],
            "beta": [np.round(models.beta(int(k))[:, 0], 5).tolist() for k in models.k],
            "bic": int(models.best_k("bic")),
        }
    return out


def report(outcomes: Outcomes) -> list[Part]:
    rows: list[list[str | Cell]] = []
    for name, (_, ks, published) in SPLIT.items():
        part = outcomes.where(what="split", name=name)
        if part:
            for method, paper in published.items():
                cells = {
                    k: part.cell(method, k, published=paper, digits=3) for k in ks if part.values(method, k)
                }
                if cells:
                    best = max(cells, key=lambda k: cells[k].mean)
                    measure = "AUC" if _dataset(name) in LABELS else "R²"
                    rows.append([name, method, measure, f"{best}", cells[best]])
    for name, (share, _, published) in STREAMED.items():
        part = outcomes.where(what="stream", name=name)
        if part:
            k = round(share * data.DATASETS[name].p)
            rows += [
                [name, m, "accuracy, %", f"{k:,}", part.cell(m, published=x)] for m, x in published.items()
            ]
    absent = [data.missing_files(name) for name in dict.fromkeys((*STREAMED, *map(_dataset, SPLIT)))]
    runs = outcomes.where(what="split").runs()
    note = " ".join([f"{runs} random splits (published: {SPLITS}).", *filter(None, absent)])
    shown = {str(row[0]) for row in rows}
    tables = [table for table, names in TABLES.items() if shown & set(names)]
    title = f"Real data: {', '.join(tables)}"
    parts: list[Part] = [Table(title, ["data", "method", "measure", "k", "test"], rows, note, contest="test")]
    for _, outcome in outcomes.where(what="path"):
        panels = []
        for method, curve in outcome.items():
            lines = {
                f"feature {j}": (curve["k"], list(b)) for j, b in enumerate(zip(*curve["beta"])) if any(b)
            }
            panels.append(Panel(f"{method}, BIC takes {curve['bic']}", "k", "weight", lines, markers=False))
        parts.append(Figure("path-msd", "[Sun] Figure 3.1: paths on YearPredictionMSD", panels))
    return parts
