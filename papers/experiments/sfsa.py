"""[Sun] Tables 4.1 to 4.4: SFSA, its variants and competitors; p = 10,000 correlated features, sparse rows.

Every method is given k, SFSA also the number of rows, with which it matures, as published. One stream serves
all n of a signal below 100,000: shorter ones are its beginning. SFSA has its warmup of half the rows; as
printed it has none. With targets SFSA that matures after 90 % of the rows, as `fit` has it, and answers by
its refit, beyond the paper, is beside it. TSGD is [Sun] Algorithm 2, FOFS
`OFSClassifier`, OPG `FOBOS...`. On sparse rows `SieveClassifier`, beyond the paper, is beside them.

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
PRINTED, REFITTED = "SFSA as printed", "SFSA refitted"
VARIANTS = {"SFSA": "plain", "SFSA-AG": "nesterov", "SFSA-Adam": "adam"}
METHODS = {
    "regression": ("SFSA", "SFSA-AG", "TSGD", "OPG", "RDA"),
    "classification": ("SFSA", "SFSA-AG", "SFSA-Adam", "TSGD", "FOFS", "SOFS", "OPG", "RDA"),
}
ROWS = 100_000
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
    online = [design | {"ladders": run < LADDER_RUNS, "seed": 2000 + run} for run, design in out]
    return online + [design | {"sieve": True, "seed": 2000 + run} for run in range(runs) for design in sparse]


def sfsa_variants(task: str, k: int, n: int) -> dict[str, Any]:
    """SFSA for n rows, by variant."""
    kind: Any = SFSARegressor if task == "regression" else SFSAClassifier
    models = {
        name: kind(k, maturity=n // BATCH, ladder=False, variant=variant)
        for name, variant in VARIANTS.items()
        if name in METHODS[task]
    }
    models[PRINTED] = kind(k, maturity=n // BATCH, ladder=False, warmup=0.0)
    if task == "regression":
        models[REFITTED] = kind(k, maturity=9 * n // (10 * BATCH), ladder=False)
    return models


def measure(seed: int, **design: Any) -> dict[str, Any]:
    """By n and method: percent found, test RMSE or AUC, and the seconds of learning."""
    return (
        measure_correlated(seed=seed, **design) if "signal" in design else measure_sparse(seed=seed, **design)
    )


def measure_correlated(task: str, signal: Any, ns: list[int], ladders: bool, seed: int) -> dict[str, Any]:
    options: dict[str, Any] = {"signal": signal, "task": task, "dtype": np.float32}
    stream = simulate.correlated(max(ns), P, K, random_state=seed, **options)
    test = simulate.correlated(None, P, K, random_state=10_000 + seed, **options).take(2000)
    any_n = any_n_methods(task, K, ladders, fofs_params(test[0]))
    return learn_stream(stream, task, K, ns, test, any_n)


def measure_sparse(
    p: int, k: int, nnz: int, n: int, seed: int, ladders: bool = False, sieve: bool = False
) -> dict[str, Any]:
    """Of the online methods, or of `SieveClassifier` alone, which takes longer to read than to learn."""
    stream = simulate.sparse(n, p, k, nnz, random_state=seed)
    any_n = {"Sieve": SieveClassifier(k)} if sieve else {}
    any_n = any_n or any_n_methods("classification", k, ladders, SPARSE_FOFS)
    ns = [] if sieve else [n]
    return learn_stream(stream, "classification", k, ns, stream.take(10_000, start=n), any_n, n)


def any_n_methods(task: str, k: int, ladders: bool, fofs: Params) -> dict[str, Any]:
    """Those that need not know the number of rows; OPG and RDA where `ladders`."""
    methods = {"TSGD": (TSGDRegressor if task == "regression" else TSGDClassifier)(k)}
    methods |= online_methods(task, k, fofs)
    return {name: method for name, method in methods.items() if ladders or name not in LADDERS}


def learn_stream(
    stream: Any,
    task: str,
    k: int,
    ns: list[int],
    test: tuple[Any, Any],
    any_n: dict[str, Any],
    last: int | None = None,
) -> dict[str, Any]:
    """By n and method: those of any n, and SFSA for each of `ns`; read there, and after `last` rows."""
    labels = {} if task == "regression" else {"classes": (-1, 1)}
    models = {(name, 0): model for name, model in any_n.items()}
    models |= {(name, n): model for n in ns for name, model in sfsa_variants(task, k, n).items()}
    seconds = dict.fromkeys(models, 0.0)
    rows, out = 0, {}
    for X, y in stream:
        rows += len(y)
        for at, model in models.items():
            if at[1] == 0 or rows <= at[1]:
                with timed(seconds, at):
                    model.partial_fit(X, y, **labels)
        if rows in ns or rows == last:
            out[str(rows)] = {
                name: quality(model, stream.support, *test) | {"seconds": seconds[name, n]}
                for (name, n), model in models.items()
                if n in (0, rows)
            }
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
        methods = [*METHODS[task], PRINTED, *([REFITTED] if task == "regression" else [])]
        rows: list[list[str | Cell]] = []
        for (t, signal, n), published in PUBLISHED.items():
            part = outcomes.where(task=t, signal=signal)
            if t == task and part.values(n):
                label = f"{signal:g}" if isinstance(signal, float) else f"{signal[0]:g} to {signal[1]:g}"
                rows += _rows([label, f"{n:,}"], part, n, methods, published, fit, better)
        note = (
            f"p = {P:,}, k = {K}, correlation 0.5, noise 1; mini-batches of {BATCH} in SFSA, defaults "
            f"otherwise; {_runs(outcomes.where(task=task))} Seconds of learning n rows, one thread; those of "
            "OPG and RDA are for all penalties together, here as published."
        )
        if task == "regression":
            note += (
                f" {PRINTED}: without warmup. {REFITTED}: k features are left after 90 % of the rows, and "
                "have the weights of least squares on the rest, beyond the paper."
            )
        title = f"True features found, {task}: [Sun] Table{'s' if ',' in table else ''} {table}"
        parts.append(Table(title, ["signal", "n", "", *methods], rows, note, contest="row"))
    rows, methods = [], [*METHODS["classification"], PRINTED, "Sieve"]
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

    def count(jobs: list[dict[str, Any]]) -> int:
        return len({job["seed"] for job in jobs})

    every = [job for job, _ in outcomes]
    lengths = sorted({n for job in every for n in job.get("ns", [])})
    fewer = {f"n = {n:,}": count([job for job in every if n in job.get("ns", [])]) for n in lengths}
    fewer["OPG and RDA"] = count([job for job in every if job.get("ladders")])
    runs = [f"{count(every)} runs", *(f"{what}: {n}" for what, n in fewer.items() if 0 < n < count(every))]
    return f"{', '.join(runs)}; published: 20."


def _rows(
    head: list[str], part: Outcomes, n: int, methods: Any, published: Any, fit: str, better: str
) -> list[list[str | Cell]]:
    """Of one setting: a row of rates, one of test errors, one of times."""
    kinds = (("found %", "found", "more", 1), (fit, "fit", better, 3), ("seconds", "seconds", "", 2))
    rows: list[list[str | Cell]] = []
    for i, (label, name, way, digits) in enumerate(kinds):
        paper = published[i] if i < len(published) else []
        paper = [*paper, *[None] * (len(methods) - len(paper))]
        cells = [
            part.cell(n, m, name, published=x, better=way, digits=digits) for m, x in zip(methods, paper)
        ]
        rows.append([*(head if i == 0 else ["", ""]), label, *cells])
    return rows
