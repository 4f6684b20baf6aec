"""[Ma] Tables 2 and 3: which features and rows the paper used.

SGD with logistic loss has a weight for every feature of the rows it learns. Its share of non-zeros, printed
with a deviation of .00, therefore counts features. On dorothea and arcene it is the share of the features
that occur in both training and test rows: the others were left out. The errors of SGD with a step in the
paper's range then show how rows were scaled: on dorothea the published errors and non-zeros are those of the
rows as distributed, not of features scaled to variance 1, as the text says. Truncated gradient is compared
likewise.

StabilizedSGD as printed in Algorithm 4, on these rows: gamma and pi_0 from the paper's ranges, and two
parameters without a printed value, the step and delta_K of its Section 5. The published error is compared
with the smallest test error of all choices, which is a bound and not a method.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve import SGDClassifier, StabilizedSGDClassifier, TruncatedGradientClassifier

from .. import data as files
from ..published.ma import LOSSES, PUBLISHED, SETS
from ..report import Cell, Outcomes, Part, Table
from . import ma

SCALED, SHARED, UNSCALED = "variance 1", "variance 1, shared", "as distributed, shared"
ROWS = (SCALED, SHARED, UNSCALED)
TABLED = ("dorothea", "arcene")
PLAIN: dict[str, Any] = {"fit_intercept": False, "standardize": False}
# In the order of Table 2, with a step, a gravity and passes of the paper's ranges.
COMPETITORS: dict[str, tuple[Any, dict[str, Any]]] = {
    "SGD": (SGDClassifier, {"eta": 0.1} | PLAIN),
    "TruncatedGradient": (TruncatedGradientClassifier, {"K": 5, "eta": 0.5, "alpha": 0.001 / 0.5} | PLAIN),
}
PASSES = 20
FIXED = ma.METHODS[ma.PRINTED][1] | {"max_iter": 5}
RANGES: dict[str, tuple[Any, ...]] = {
    "eta": (0.05, 0.5),
    "min_bursts": (0.0, 80.0, 300.0),
    "rejection_decay": (-3.0, 3.0),
    "threshold": (0.5, 0.7),
}


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    at_hand = [name for name in SETS if not ma.missing(name)] or ["dexter"]
    tabled = [name for name in TABLED if name in at_hand and not (quick and name == "dorothea")]
    return [
        *({"what": "features", "data": name} for name in at_hand),
        *(
            {"what": "competitors", "data": name, "loss": loss, "rows": rows, "seed": seed}
            for name, loss, rows, seed in product(tabled, LOSSES, ROWS, range(runs))
        ),
        *(
            {"what": "stabilized", "data": name, "loss": loss, "rows": rows, "quick": quick, "seed": seed}
            for name, loss, rows, seed in product(tabled, LOSSES, (SHARED, UNSCALED), range(runs))
            if (name, rows) != ("dorothea", SHARED)
        ),
    ]


def measure(what: str, **job: Any) -> dict[str, Any]:
    measures: dict[str, Any] = {
        "features": measure_features,
        "competitors": measure_competitors,
        "stabilized": measure_stabilized,
    }
    outcome: dict[str, Any] = measures[what](**job)
    return outcome


def measure_features(data: str) -> dict[str, float]:
    """Percent of the features that training rows have, and that rows of both parts have."""
    seen, shared = _seen(data)
    return {"training": 100 * float(seen.mean()), "both": 100 * float(shared.mean())}


def _seen(name: str) -> tuple[Any, Any]:
    train, test = (sp.csr_array(files.load(name, part)[0]) for part in ("train", "test"))
    seen, also = (np.bincount(X.indices[X.data != 0], minlength=X.shape[1]) > 0 for X in (train, test))
    return seen, seen & also


def read_rows(name: str, rows: str) -> tuple[Any, Any, Any, Any]:
    """Training and test rows, features that one of them lacks being zero where the others are shared."""
    if rows == UNSCALED:
        (X, y), (X_test, y_test) = (files.load(name, part) for part in ("train", "test"))
    else:
        X, y, X_test, y_test = ma.scaled_rows(name)
    if rows == SCALED:
        return X, y, X_test, y_test
    kept = sp.diags(_seen(name)[1].astype(float))
    return ma._scaled(X, kept), y, ma._scaled(X_test, kept), y_test


def measure_competitors(data: str, loss: str, rows: str, seed: int) -> dict[str, Any]:
    """By method: test error and share of the features (%) after 20 passes."""
    X, y, X_test, y_test = read_rows(data, rows)
    out = {}
    for name, (kind, params) in COMPETITORS.items():
        rng, model = np.random.default_rng(1 + seed), kind(loss=loss, **params)
        for _ in range(PASSES):
            order = rng.permutation(len(y))
            model.partial_fit(X[order], y[order], classes=(-1, 1))
        out[name] = _figures(model, X_test, y_test)
    return out


def measure_stabilized(data: str, loss: Any, rows: str, quick: bool, seed: int) -> dict[str, Any]:
    """By parameters: test error and share of the features (%), one order of the rows."""
    X, y, X_test, y_test = read_rows(data, rows)
    order = np.random.default_rng(1 + seed).permutation(len(y))
    out = {}
    for values in product(*(some[-1:] if quick else some for some in RANGES.values())):
        params = dict(zip(RANGES, values))
        model = StabilizedSGDClassifier(loss=loss, random_state=1 + seed, **(FIXED | params))
        figures = _figures(model.fit(X[order], y[order]), X_test, y_test)
        out[", ".join(f"{name} = {value}" for name, value in params.items())] = figures
    return out


def _figures(model: Any, X: Any, y: Any) -> dict[str, float]:
    return {
        "error": 100 - 100 * float(model.score(X, y)),
        "share": 100 * float(np.mean(model.coef_[0] != 0)),
    }


def report(outcomes: Outcomes) -> list[Part]:
    made = {
        "features": _features_table,
        "competitors": _competitors_table,
        "stabilized": _stabilized_table,
    }
    return [make(part) for what, make in made.items() if (part := outcomes.where(what=what))]


def _features_table(part: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for name in SETS:
        if one := part.where(data=name):
            cells = [one.cell(which, better="", digits=2) for which in ("training", "both")]
            rows.append([name, *cells, f"{PUBLISHED['logistic', name][2][0]:.2f}"])
    columns = ["data", "in training rows, %", "in training and test rows, %", "SGD, logistic, published, %"]
    note = "Features with a value other than zero. The published share has a deviation of .00 in each row."
    return Table("[Ma] Table 3: which features the paper had", columns, rows, note)


def _competitors_table(part: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for name, loss, method, read in product(TABLED, LOSSES, COMPETITORS, ROWS):
        if one := part.where(data=name, loss=loss, rows=read):
            errors, _, shares, *_ = PUBLISHED[loss, name]
            at = list(COMPETITORS).index(method)
            error = one.cell(method, "error", published=errors[at], better="", digits=2)
            share = one.cell(method, "share", published=shares[at], better="", digits=2)
            rows.append([name, loss, method, read, error, share])
    columns = ["data", "loss", "method", "rows", "test error, %", "non-zeros, %"]
    note = (
        f"{part.runs()} orders of the rows, {PASSES} passes; steps of 0.1 (SGD) and 0.5, gravity 0.001. "
        "Shared: only features that training and test rows both have."
    )
    return Table("[Ma] Tables 2 and 3: which rows the paper had", columns, rows, note)


def _stabilized_table(part: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for name, loss, read in product(TABLED, LOSSES, (SHARED, UNSCALED)):
        if one := part.where(data=name, loss=loss, rows=read):
            errors, _, shares, *_ = PUBLISHED[loss, name]
            choices = list(one.pairs[0][1])
            error = {c: one.cell(c, "error", published=errors[-1], better="less", digits=2) for c in choices}
            best = min(choices, key=lambda c: error[c].mean)
            share = one.cell(best, "share", published=shares[-1], better="", digits=2)
            rows.append([name, loss, read, error[best], share, best])
    columns = ["data", "loss", "rows", "test error, %", "non-zeros, %", "parameters"]
    count = len(part.pairs[0][1])
    note = (
        f"As Algorithm 4 is printed, {FIXED['max_iter']} passes, {part.runs()} orders of the rows; of "
        f"{count} choices the one with the least mean error on the rows of the test, which no rows for "
        "training can tell. Published: StabilizedSGD."
    )
    return Table("[Ma] Table 2: StabilizedSGD on these rows", columns, rows, note)
