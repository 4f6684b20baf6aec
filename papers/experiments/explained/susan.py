"""[Susan] Table 2: the length of TSGD's steps, the RMSE of whoever has all features, their variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve import OLSTThenTSGDRegressor, RunningAverages, SIHTRegressor, extract, metrics, simulate

from ...report import Cell, Outcomes, Table
from .common import P, found

# [Susan] Table 2, OLST at weak signal: k, n.
WEAK = {(10, 10_000): 23.51, (10, 100_000): 81.44, (100, 10_000): 21.86, (100, 100_000): 80.58}
STARTS: dict[str, tuple[Any, int]] = {  # the model, and the rows of its start
    "TSGD": (SIHTRegressor, 50),
    "C = 50": (lambda k, **step: OLSTThenTSGDRegressor(k, C=50, **step), 50),
    "C = 500": (lambda k, **step: OLSTThenTSGDRegressor(k, C=500, **step), 500),
}
LENGTHS = (1_000, 3_000, 10_000)
# Signal, k: streams of a run, and by start what is published at LENGTHS; nothing at weak, 3,000.
DESIGNS: dict[tuple[float, int], tuple[int, dict[str, tuple[float | None, ...]]]] = {
    (1.0, 100): (
        1,
        {"TSGD": (18.55,) * 3, "C = 50": (21.66, 24.01, 26.24), "C = 500": (71.22, 90.08, 92.80)},
    ),
    (0.1, 10): (8, {"TSGD": (5.50, None, 5.50), "C = 50": (6.49, None, 6.56)}),
}


def measure_steps(seed: int) -> dict[str, Any]:
    """By design, start and step: percent found at the start and after n rows, and what is left of it."""
    steps: dict[str, dict[str, float]] = {"derived": {}, "2 / p": {"eta": 2 / P}}
    out: dict[str, Any] = {}
    for (signal, k), (streams, starts) in DESIGNS.items():
        figures: dict[tuple[str, str], list[dict[str, float]]] = {}
        for number in range(streams):
            design: dict[str, Any] = {"signal": signal, "spacing": 1, "unit_variance": True}
            stream = simulate.correlated(max(LENGTHS), P, k, random_state=seed + 100 * number, **design)
            X, y = stream.take(max(LENGTHS))
            for name in starts:
                make, begin = STARTS[name]
                for step, options in steps.items():
                    model = make(k, **options).partial_fit(X[:begin], y[:begin])
                    first = model.get_support(indices=True)
                    figure = {"start": found(first, stream)}
                    for a, b in zip((begin, *LENGTHS), LENGTHS):
                        model.partial_fit(X[a:b], y[a:b])
                        figure[str(b)] = found(model.get_support(), stream)
                    figure["left"] = 100 * float(np.mean(model.get_support()[first]))
                    figures.setdefault((name, step), []).append(figure)
        out[f"{signal:g}, {k}"] = {
            f"{name}, {step}": {at: float(np.mean([f[at] for f in many])) for at in many[0]}
            for (name, step), many in figures.items()
        }
    return out


def measure_oracle(seed: int) -> dict[str, Any]:
    """By signal, k and n: the RMSE of least squares on the true features, on the design of [Susan]."""
    out: dict[str, Any] = {}
    for name, k, signal in (("strong", 10, 1.0), ("strong", 100, 1.0), ("weak", 100, 0.1)):
        design: dict[str, Any] = {"signal": signal, "spacing": 1, "unit_variance": True}
        stream = simulate.correlated(10_000, P, k, random_state=seed, **design)
        test = simulate.correlated(None, P, k, random_state=10_000 + seed, **design).take(5000)
        for n in (1_000, 10_000):
            X, y = stream.take(n)
            coef = np.linalg.lstsq(X[:, :k], y)[0]
            out[f"{name}, k = {k}, n = {n:,}"] = metrics.rmse(test[1], test[0][:, :k] @ coef)
    return out


def measure_variance(seed: int) -> dict[str, Any]:
    """By the features' variance, k and n: percent found by OLSth at signal 0.01."""
    out: dict[str, Any] = {}
    for variance in (1, 2):
        for k in (10, 100):
            design: dict[str, Any] = {"signal": 0.01, "spacing": 1, "unit_variance": variance == 1}
            stream = simulate.correlated(100_000, P, k, random_state=seed, **design)
            averages = RunningAverages()
            for X, y in stream:
                averages.update(X, y)
                n = averages.n_samples_
                if (k, n) in WEAK:
                    support = extract.olsth(averages, k).support
                    out.setdefault(str(variance), {})[f"{k}, {n}"] = found(support, stream)
    return out


def steps_table(part: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for (signal, k), (_, starts) in DESIGNS.items():
        for name, published in starts.items():
            for step in ("derived", "2 / p"):
                at = f"{signal:g}, {k}", f"{name}, {step}"
                better = "" if step == "derived" else "more"
                cells = [part.cell(*at, n, published=x, better=better) for n, x in zip(LENGTHS, published)]
                start, left = part.cell(*at, "start"), part.cell(*at, "left")
                rows.append([f"{signal:g}, k = {k}", name, step, start, *cells, left])
    note = (
        f"p = {P:,}, variance 1, {part.runs()} runs, of k = 10 with 8 streams each; percent found. Start: "
        "after 50 rows, of C = 500 after 500. Left: of the features of the start, after 10,000 rows."
    )
    columns = ["signal", "method", "step", "start", *(f"n = {n:,}" for n in LENGTHS), "left %"]
    return Table("[Susan] Table 2, TSGD: the length of its steps", columns, rows, note)


def oracle_table(part: Outcomes) -> Table:
    printed = {
        "strong, k = 10, n = 1,000": 7.67,
        "strong, k = 10, n = 10,000": 4.01,
        "strong, k = 100, n = 1,000": 22.01,
        "strong, k = 100, n = 10,000": 12.31,
        "weak, k = 100, n = 1,000": 2.319,
        "weak, k = 100, n = 10,000": 2.055,
    }
    rows: list[list[str | Cell]] = [
        [name, part.cell(name, better="", digits=3), f"{rmse:.3f}"] for name, rmse in printed.items()
    ]
    note = (
        f"{part.runs()} runs. OMP is published at 100 % in each of these rows, with the errors on the right."
    )
    columns = ["design", "RMSE of least squares on the true features", "of OMP, published"]
    return Table("[Susan] Table 2: the RMSE of whoever has found all", columns, rows, note)


def variance_table(part: Outcomes) -> Table:
    rows: list[list[str | Cell]] = [
        [
            f"{k}",
            f"{n:,}",
            part.cell(1, f"{k}, {n}", published=x, better=""),
            part.cell(2, f"{k}, {n}", published=x),
        ]
        for (k, n), x in WEAK.items()
    ]
    note = f"OLSth, signal 0.01, p = {P:,}, {part.runs()} runs; percent found. Published: OLST, weak signal."
    title = "[Susan] Table 2, weak signal: the features' variance"
    return Table(title, ["k", "n", "variance 1, as in its text", "variance 2, as in [Sun]"], rows, note)


PARTS = {
    "steps": (measure_steps, steps_table),
    "oracle": (measure_oracle, oracle_table),
    "variance": (measure_variance, variance_table),
}
