"""Methods that learn row by row: FOFS, SADMM, SGD, the weights of SFSA, TSGD on sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve import (
    OFSClassifier,
    SADMMRegressor,
    SFSARegressor,
    SGDRegressor,
    TSGDClassifier,
    metrics,
    simulate,
)

from ...baselines import PLAIN, UNIT_STEP, fofs_params
from ...report import Cell, Outcomes, Table
from .common import K, P, found, largest

STEP_ROWS, AVERAGED = 30_000, 1_000
# [Sun] Table 5.3, FOFS at n = 30,000: AUC and percent found by signal.
FOFS = {1.0: (0.994, 10.6), 0.01: (0.827, 15.9)}
READ = {"last": "the last row's", "average": f"average of {AVERAGED:,} rows"}
# [Slides] p. 35, SADMM at signal 1: percent found by n.
SADMM = {1_000: 18.05, 3_000: 41.21, 10_000: 65.78}
SADMM_OPTIONS: dict[str, dict[str, Any]] = {
    "1 / sqrt(t), 1": {"schedule": "sqrt", "rho": 1.0},
    "constant, 1": {"schedule": "constant", "rho": 1.0},
    "constant, 0.001": {"schedule": "constant", "rho": 0.001},
}
# [Sun] Table 4.1, SFSA: signal, n; percent found and RMSE.
OWN: dict[tuple[Any, int], tuple[float, float]] = {
    (1.0, 20_000): (100.0, 39.93),
    ((0.05, 1.0), 30_000): (91.35, 16.37),
}
SCHEDULES = ("default", "as printed", "3 / 4 of the rows")
PASSES = (1, 10)


def measure_fofs(seed: int) -> dict[str, Any]:
    """By signal, step and what is read: AUC, and percent found by the k largest weights."""
    out: dict[str, Any] = {}
    for signal in FOFS:
        design: dict[str, Any] = {"signal": signal, "task": "classification"}
        stream = simulate.correlated(STEP_ROWS, P, K, random_state=seed, **design)
        X_test, y_test = simulate.correlated(None, P, K, random_state=10_000 + seed, **design).take(5000)
        derived = fofs_params(X_test)["eta"]
        models = {"as given": OFSClassifier(K, eta=UNIT_STEP, **PLAIN)}
        models["derived"] = OFSClassifier(K, eta=derived, **PLAIN)
        for X, y in stream:
            for model in models.values():
                model.partial_fit(X, y, classes=(-1, 1))
        rows = simulate.correlated(None, P, K, random_state=seed, **design).take(AVERAGED, start=STEP_ROWS)
        out[str(signal)] = {"step": derived}
        for name, model in models.items():
            mean = np.zeros(P)
            for x, label in zip(*rows):
                model.partial_fit(x[None], [label])
                mean += model.coef_[0] / AVERAGED
            out[str(signal)][name] = {
                read: {"auc": metrics.auc(y_test, X_test @ coef), "found": found(largest(coef, K), stream)}
                for read, coef in (("last", model.coef_[0]), ("average", mean))
            }
    return out


def measure_sadmm(seed: int) -> dict[str, Any]:
    """By n and options: percent found by the largest support up to k, and by the default."""
    stream = simulate.correlated(max(SADMM), P, K, signal=1.0, random_state=seed)
    X, y = stream.take(max(SADMM))
    out: dict[str, Any] = {}
    for n in SADMM:
        supports = {name: _largest_support(X[:n], y[:n], **given) for name, given in SADMM_OPTIONS.items()}
        model = SADMMRegressor(K, standardize=False).partial_fit(X[:n], y[:n])
        supports["default"] = model.get_support(indices=True)
        out[str(n)] = {name: found(support, stream) for name, support in supports.items()}
    return out


def _largest_support(X: Any, y: Any, **options: Any) -> Any:
    """The largest support of at most k features: the penalty is bisected, by its logarithm."""
    low, high = -8.0, 6.0
    best = np.zeros(0, dtype=np.int64)
    for _ in range(14):
        middle = (low + high) / 2
        model = SADMMRegressor(alpha=10.0**middle, standardize=False, **options).partial_fit(X, y)
        support = np.flatnonzero(model.coef_)
        if len(support) > K:
            low = middle
        else:
            high = middle
            best = max(best, support, key=len)
    return best


def measure_sgd(seed: int) -> dict[str, Any]:
    """By schedule: test RMSE of SGD at signal 0.01 after 100,000 rows."""
    stream = simulate.correlated(100_000, P, K, signal=0.01, random_state=seed)
    X_test, y_test = simulate.correlated(None, P, K, signal=0.01, random_state=10_000 + seed).take(5000)
    models = {s: SGDRegressor(standardize=False, schedule=s) for s in ("constant", "sqrt")}
    for X, y in stream:
        for model in models.values():
            model.partial_fit(X, y)
    return {name: metrics.rmse(y_test, model.predict(X_test)) for name, model in models.items()}


def measure_own(seed: int) -> dict[str, Any]:
    """By setting and schedule: percent found by SFSA, and the test RMSE of its own weights."""
    out: dict[str, Any] = {}
    for signal, n in OWN:
        design: dict[str, Any] = {"signal": signal, "dtype": np.float32}
        stream = simulate.correlated(n, 10_000, 100, random_state=2000 + seed, **design)
        test = simulate.correlated(None, 10_000, 100, random_state=12_000 + seed, **design).take(2000)
        given: list[dict[str, Any]] = [{}, {"warmup": 0.0}, {"maturity": n * 3 // 4 // 25}]
        models = {
            name: SFSARegressor(100, ladder=False, refit=False, **{"maturity": n // 25} | options)
            for name, options in zip(SCHEDULES, given)
        }
        for X, y in stream:
            for model in models.values():
                model.partial_fit(X, y)
        out[str(n)] = {
            name: {
                "found": found(model.get_support(), stream),
                "rmse": metrics.rmse(test[1], model.predict(test[0])),
            }
            for name, model in models.items()
        }
    return out


def measure_sparse(seed: int) -> dict[str, Any]:
    """X2: percent found and the largest weight missed, by passes of TSGD and by logistic regression.

    The latter has all rows at once, and is refitted on the largest quarter of its features until k are left.
    """
    from sklearn.linear_model import LogisticRegression

    p, k, nnz, n = 20_000, 200, 400, 100_000
    stream = simulate.sparse(n, p, k, nnz, random_state=2000 + seed)
    X, y = stream.take(n)
    weights = np.abs(stream.coef[stream.support])

    def outcome(support: Any) -> dict[str, float]:
        missed = weights[~np.isin(stream.support, support)]
        return {"found": found(support, stream), "missed": float(missed.max(initial=0.0))}

    out: dict[str, Any] = {"mean weight": float(weights.mean())}
    rng, model = np.random.default_rng(seed), TSGDClassifier(k)
    for n_passes in range(1, max(PASSES) + 1):
        order = np.arange(n) if n_passes == 1 else rng.permutation(n)
        for rows in np.array_split(order, 10):
            model.partial_fit(X[rows], y[rows], classes=(-1, 1))
        if n_passes in PASSES:
            out[f"TSGD, passes: {n_passes}"] = outcome(model.get_support(indices=True))
    left = np.arange(p)
    while len(left) > k:
        coef = LogisticRegression(C=10.0, max_iter=50, tol=1e-3).fit(X[:, left], y).coef_[0]
        left = np.sort(left[largest(coef, max(k, len(left) // 4))])
    out["logistic regression"] = outcome(left)
    return out


def fofs_table(part: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for signal, (auc, rate) in FOFS.items():
        for name in ("as given", "derived"):
            better = "more" if name == "derived" else ""  # what is to be shown at fault is not judged
            step = f"{UNIT_STEP}" if name == "as given" else f"{np.mean(part.values(signal, 'step')):.1e}"
            for read, label in READ.items():
                at = signal, name, read
                cells = [
                    part.cell(*at, "auc", published=auc, better=better, digits=3),
                    part.cell(*at, "found", published=rate, better=better),
                ]
                rows.append([f"{signal:g}", step, label, *cells])
    note = (
        f"p = {P:,}, k = {K}, {STEP_ROWS:,} rows, {part.runs()} runs. The small step is that of FOFS's own "
        "paper for rows of norm 1, over the mean squared norm of the rows. Found: by the k largest weights."
    )
    columns = ["signal", "step", "weights", "AUC", "found %"]
    return Table("FOFS on correlated rows: its step, and what is read", columns, rows, note)


def sadmm_table(part: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for name in (*SADMM_OPTIONS, "default"):
        better = "more" if name == "default" else ""
        cells = [part.cell(n, name, published=rate, better=better) for n, rate in SADMM.items()]
        label = "constant, 0.001, the default" if name == "default" else name
        rows.append([label, "k largest" if name == "default" else "support", *cells])
    note = (
        f"Signal 1, p = {P:,}, k = {K}, {part.runs()} runs; percent found. Support: the largest of at most k "
        "features, the penalty found by bisection. k largest: weights, at the penalty whose predictions were "
        "least off."
    )
    columns = ["steps, rho", "read", *(f"n = {n:,}" for n in SADMM)]
    return Table("SADMM: rho, and what is read", columns, rows, note)


def sgd_table(part: Outcomes) -> Table:
    rows: list[list[str | Cell]] = [
        ["constant, the default", part.cell("constant", better="less", digits=3)],
        ["1 / sqrt(t)", part.cell("sqrt", published=1.005, better="less", digits=3)],
    ]
    note = f"p = {P:,}, 100,000 rows, {part.runs()} runs."
    return Table("SGD at signal 0.01: steps that fade", ["steps", "RMSE"], rows, note)


def own_table(part: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for (signal, n), (rate, rmse) in OWN.items():
        label = f"{signal:g}" if isinstance(signal, float) else f"{signal[0]:g} to {signal[1]:g}"
        for what, published, way, digits in (("found", rate, "more", 1), ("rmse", rmse, "less", 3)):
            cells = [
                part.cell(
                    n, s, what, published=published, better="" if s == "default" else way, digits=digits
                )
                for s in SCHEDULES
            ]
            rows.append([label, f"{n:,}", {"found": "found %", "rmse": "test RMSE"}[what], *cells])
    note = (
        f"p = 10,000, k = 100, {part.runs()} runs; weights of gradient steps, `refit=False`. By default "
        "features go in the second half of the rows; as printed, from the first mini-batch on "
        "(`warmup=0`); or k are left after 3 / 4 of the rows, and learn the rest alone."
    )
    columns = ["signal", "n", "", "default", "as printed", "k left after 3 / 4"]
    return Table("SFSA's own weights: when features go", columns, rows, note)


def sparse_table(part: Outcomes) -> Table:
    names = [*(f"TSGD, passes: {n}" for n in PASSES), "logistic regression"]
    rows: list[list[str | Cell]] = [
        [
            name,
            part.cell(name, "found", published=100.0, better=""),
            part.cell(name, "missed", better="", digits=3),
        ]
        for name in names
    ]
    weight = np.mean(part.values("mean weight"))
    note = (
        f"p = 20,000, k = 200, 400 values a row, 100,000 rows, {part.runs()} runs; published: of SFSA and "
        f"TSGD. True weights have a mean size of {weight:.2f}. Logistic regression has all rows in memory, "
        "and is refitted on the largest quarter of its features until k are left."
    )
    return Table(
        "Sparse rows: how far steps have converged", ["model", "found %", "largest weight missed"], rows, note
    )


PARTS = {
    "fofs": (measure_fofs, fofs_table),
    "sadmm": (measure_sadmm, sadmm_table),
    "sgd": (measure_sgd, sgd_table),
    "own": (measure_own, own_table),
    "sparse": (measure_sparse, sparse_table),
}
