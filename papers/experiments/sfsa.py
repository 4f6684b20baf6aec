"""[Sun] Tables 4.1 to 4.4: SFSA, its variants and competitors; p = 10,000 correlated features, sparse rows.

Every method is given k. SFSA is also given the number of rows, after which k features are left, as published.
One stream serves all n of a signal below 100,000: the shorter ones are its beginning. By default SFSA removes
no feature in the first half of the rows; "SFSA as printed" has no such warmup and is [Sun] Algorithm 1.
SFSA-AG and SFSA-Adam are the paper's variants, with the default warmup. With targets, "SFSA refitted" has k
features left after 90 % of the rows, as `fit` does, and then least squares, which the paper does not have.
TSGD is [Sun] Algorithm 2; "TSGD refitted" has the same features, with weights by least squares. FOFS is
`OFSClassifier`, OPG `FOBOS...`. On sparse rows `SieveClassifier`, which is of no paper, stands beside them.

100,000 rows and more, OPG and RDA take most of the time and have fewer runs, the first ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve import (
    SFSAClassifier,
    SFSARegressor,
    SieveClassifier,
    TSGDClassifier,
    TSGDRegressor,
    metrics,
    simulate,
)

from ..baselines import SPARSE_FOFS, fofs_params, online_methods
from ..published.sfsa import PUBLISHED, SPARSE
from ..report import Cell, Outcomes, Part, Table
from ..timing import timed
from ..tuning import Params

P, K, BATCH = 10_000, 100, 25
PRINTED, REFITTED, TSGD_REFITTED = "SFSA as printed", "SFSA refitted", "TSGD refitted"
VARIANTS = {"SFSA": "plain", "SFSA-AG": "nesterov", "SFSA-Adam": "adam"}
METHODS = {
    "regression": ("SFSA", "SFSA-AG", "TSGD", "OPG", "RDA"),
    "classification": ("SFSA", "SFSA-AG", "SFSA-Adam", "TSGD", "FOFS", "SOFS", "OPG", "RDA"),
}
# Beyond the published columns, by the task, or on sparse rows.
BESIDE: dict[str, tuple[str, ...]] = {"regression": (PRINTED, REFITTED, TSGD_REFITTED)}
BESIDE |= {"classification": (PRINTED,), "sparse": (PRINTED, "Sieve")}
ONE_MODEL_EACH = (*VARIANTS, PRINTED, REFITTED)  # mature with n rows: no model serves two n
ROWS = 100_000
SEED = 2000  # of the first run
LONG, LONG_RUNS = 100_000, 2  # rows from which there are fewer runs of correlated features, and how many
LADDERS, LADDER_RUNS = ("OPG", "RDA"), 1


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    """A stream each, the long ones last."""
    short: list[dict[str, Any]] = []
    for task, signal in dict.fromkeys((task, signal) for task, signal, _ in PUBLISHED):
        lengths = [n for t, s, n in PUBLISHED if (t, s) == (task, signal)]
        ns = [n for n in lengths if n < (20_000 if quick else LONG)]
        short.append({"task": task, "signal": signal, "ns": ns})
    sparse = [
        {"p": p, "k": k, "nnz": nnz, "n": 30_000 if quick else ROWS}
        for p, k, nnz in SPARSE
        if not quick or p <= P
    ]
    long = sorted(
        ({"task": task, "signal": signal, "ns": [n]} for task, signal, n in PUBLISHED if n >= LONG),
        key=lambda job: job["ns"],
    )
    out = [(run, design) for run in range(runs) for design in [*short, *sparse]]
    out += [(run, design) for run in range(min(runs, LONG_RUNS)) for design in ([] if quick else long)]
    return [design | {"seed": SEED + run} for run, design in out]


def methods(seed: int, **design: Any) -> list[str]:
    """What is compared on a stream."""
    task = design.get("task", "classification")
    names = (*METHODS[task], *BESIDE[design.get("task", "sparse")])
    return [name for name in names if seed < SEED + LADDER_RUNS or name not in LADDERS]


def make_model(name: str, task: str, k: int, n: int, fofs: Params) -> Any:
    """A method; those of SFSA mature with n rows."""
    if name in ("TSGD", TSGD_REFITTED):
        tsgd: Any = TSGDRegressor if task == "regression" else TSGDClassifier
        return tsgd(k, refit=name == TSGD_REFITTED)
    if name == "Sieve":
        return SieveClassifier(k)
    if name not in ONE_MODEL_EACH:
        return online_methods(task, k, fofs)[name]
    kind: Any = SFSARegressor if task == "regression" else SFSAClassifier
    options: dict[str, Any] = {"maturity": n // BATCH, "ladder": False}
    if name == REFITTED:
        options["maturity"] = 9 * n // (10 * BATCH)
    if name == PRINTED:
        options["warmup"] = 0.0
    return kind(k, variant=VARIANTS.get(name, "plain"), **options)


def measure(methods: list[str], seed: int, **design: Any) -> dict[str, Any]:
    """By method and n: percent found, test RMSE or AUC, and the seconds of learning."""
    if "signal" in design:
        return measure_correlated(methods, seed=seed, **design)
    return measure_sparse(methods, seed=seed, **design)


def measure_correlated(
    methods: list[str], task: str, signal: Any, ns: list[int], seed: int
) -> dict[str, Any]:
    options: dict[str, Any] = {"signal": signal, "task": task, "dtype": np.float32}
    stream = simulate.correlated(max(ns), P, K, random_state=seed, **options)
    test = simulate.correlated(None, P, K, random_state=10_000 + seed, **options).take(2000)
    return learn_stream(methods, stream, task, K, ns, test, fofs_params(test[0]))


def measure_sparse(methods: list[str], p: int, k: int, nnz: int, n: int, seed: int) -> dict[str, Any]:
    stream = simulate.sparse(n, p, k, nnz, random_state=seed)
    test = stream.take(10_000, start=n)
    return learn_stream(methods, stream, "classification", k, [n], test, SPARSE_FOFS)


def learn_stream(
    methods: list[str], stream: Any, task: str, k: int, ns: list[int], test: Any, fofs: Params
) -> dict[str, Any]:
    """By method and n. One model of a method serves all n, but for SFSA, which has one for each."""
    labels = {} if task == "regression" else {"classes": (-1, 1)}
    models = {
        (name, last): make_model(name, task, k, last, fofs)
        for name in methods
        for last in (ns if name in ONE_MODEL_EACH else [max(ns)])
    }
    seconds = dict.fromkeys(models, 0.0)
    rows, out = 0, {name: {} for name in methods}  # type: ignore[var-annotated]
    for X, y in stream:
        rows += len(y)
        for (name, last), model in models.items():
            if rows <= last:
                with timed(seconds, (name, last)):
                    model.partial_fit(X, y, **labels)
            if rows == last or (rows in ns and name not in ONE_MODEL_EACH):
                result = quality(model, stream.support, *test)
                out[name][str(rows)] = result | {"seconds": seconds[name, last]}
    return out


def quality(model: Any, support: Any, X: Any, y: Any) -> dict[str, float]:
    """Detection rate in percent, and RMSE or AUC on test rows."""
    rate = 100 * metrics.detection_rate(model.get_support(indices=True), support)
    if hasattr(model, "classes_"):
        return {"found": rate, "fit": metrics.auc(y, model.decision_function(X))}
    return {"found": rate, "fit": metrics.rmse(y, model.predict(X))}


def report(outcomes: Outcomes) -> list[Part]:
    parts: list[Part] = []
    for task, table, fit, better in (
        ("regression", "4.1", "test RMSE", "less"),
        ("classification", "4.2, 4.3", "test AUC", "more"),
    ):
        methods = [*METHODS[task], *BESIDE[task]]
        rows: list[list[str | Cell]] = []
        for (t, signal, n), published in PUBLISHED.items():
            part = outcomes.where(task=t, signal=signal)
            if t == task and any(part.values(method, n) for method in methods):
                label = f"{signal:g}" if isinstance(signal, float) else f"{signal[0]:g} to {signal[1]:g}"
                rows += _rows([label, f"{n:,}"], part, n, methods, published, fit, better)
        note = (
            f"p = {P:,}, k = {K}, correlation 0.5, noise 1; mini-batches of {BATCH} in SFSA, defaults "
            f"otherwise; {_runs(outcomes.where(task=task))} Seconds of learning n rows, one thread; those of "
            "OPG and RDA are for all penalties together, here as published. "
            f"{PRINTED}: Algorithm 1, without a warmup; its published figures are those of SFSA."
        )
        if task == "regression":
            note += (
                f" {TSGD_REFITTED}: the features of TSGD, with weights by least squares on the latest rows."
                f" {REFITTED}: k features are left after 90 % of the rows, and least squares on the other "
                "rows gives their weights, which the paper does not have."
            )
        title = f"True features found, {task}: [Sun] Table{'s' if ',' in table else ''} {table}"
        parts.append(Table(title, ["signal", "n", "", *methods], rows, note, contest="row"))
    rows, methods = [], [*METHODS["classification"], *BESIDE["sparse"]]
    for (p, k, nnz), published in SPARSE.items():
        for n in (30_000, ROWS):
            part = outcomes.where(p=p, nnz=nnz, n=n)
            if part:
                beside = published if n == ROWS else []
                head = [f"p = {p:,}, k = {k}, {nnz} a row", f"{n:,}"]
                rows += _rows(head, part, n, methods, beside, "test AUC", "more")
    note = (
        f"{_runs(outcomes.where(nnz=200))} Times are not published. Sieve: beyond the paper; its time is "
        "without reading the model."
    )
    columns = ["design", "n", "", *methods]
    title = "True features found, sparse rows: [Sun] Table 4.4"
    parts.append(Table(title, columns, rows, note, contest="row"))
    return parts


def _runs(outcomes: Outcomes) -> str:
    """How many runs there were, and of what fewer."""
    ladders = len({job["seed"] for job, by in outcomes if "OPG" in by})
    return outcomes.describe_runs(20, **{"OPG and RDA": ladders})


def _rows(
    head: list[str], part: Outcomes, n: int, methods: Any, published: Any, fit: str, better: str
) -> list[list[str | Cell]]:
    """Of one setting: a row of rates, one of test errors, one of times."""
    kinds = (("found %", "found", "more", 1), (fit, "fit", better, 3), ("seconds", "seconds", "", 2))
    rows: list[list[str | Cell]] = []
    for i, (label, name, way, digits) in enumerate(kinds):
        paper = dict(zip(methods, published[i] if i < len(published) else []))
        paper[PRINTED] = paper.get("SFSA")
        cells = [part.cell(m, n, name, published=paper.get(m), better=way, digits=digits) for m in methods]
        rows.append([*(head if i == 0 else ["", ""]), label, *cells])
    return rows
