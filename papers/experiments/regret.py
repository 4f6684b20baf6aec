"""[Sun] Figure 5.4, [Susan] Figure 1: regret against n, what it costs to learn row by row.

R_n is the mean squared error of the rows, each predicted before it is learned, less that of the best model
with k features in hindsight. All models are read after a tenth more rows than the last time, from 100 on, and
predict until then: a regret of every model that is read more often is lower. In hindsight: the better of
OFSA, of scikit-learn's orthogonal matching pursuit ([Susan]'s benchmark) and of least squares on the truth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import orthogonal_mp_gram

from streamsieve import OLSTThenTSGDRegressor, RunningAverages, SADMMRegressor, SIHTRegressor, simulate
from streamsieve.averages.extract import oelasticnet, ofsa, olsth, omcp
from streamsieve.averages.model import least_squares
from streamsieve.averages.standardize import Standardized, standardize

from ..report import Figure, Outcomes, Panel, Part, Table

P = 1_000
EXTRACTORS: dict[str, Any] = {"OLSth": olsth, "OFSA": ofsa, "OMCP": omcp, "OElnet": oelasticnet}
LEARNERS: dict[str, Any] = {
    "TSGD": SIHTRegressor,
    "SADMM": lambda k: SADMMRegressor(k, standardize=False),
    "OLST-then-TSGD, C=50": lambda k: OLSTThenTSGDRegressor(k, C=50),
    "OLST-then-TSGD, C=500": lambda k: OLSTThenTSGDRegressor(k, C=500),
}
# Name: the figure, k, signal, design, methods. OLST is OLSth, read after every row.
SETTINGS: dict[str, tuple[str, int, Any, dict[str, Any], tuple[str, ...]]] = {
    f"Sun, signal {signal:g}": ("regret-sun", 100, signal, {}, ("TSGD", "SADMM", *EXTRACTORS))
    for signal in (1.0, 0.1, 0.01)
} | {
    f"Susan, {name}": (
        "regret-susan",
        10,
        signal,
        {"spacing": 1, "unit_variance": True},
        ("TSGD", "OLSth", "OLST-then-TSGD, C=50", "OLST-then-TSGD, C=500"),
    )
    for name, signal in (("strong signal", 1.0), ("varied signal", (0.1, 1.0)), ("weak signal", 0.01))
}
SHOWN = (1_000, 3_000, 10_000, 30_000, 100_000)
SADMM_ROWS = 30_000  # beyond, it would take most of the time


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    longest = 10_000 if quick else 100_000
    return [{"setting": s, "n": longest, "seed": r} for r in range(runs) for s in SETTINGS]


def measure(setting: str, n: int, seed: int) -> dict[str, Any]:
    """By n and method: regret."""
    _, k, signal, design, methods = SETTINGS[setting]
    stream = simulate.correlated(n, P, k, signal=signal, block_size=100, random_state=seed, **design)
    averages = RunningAverages()
    models: dict[str, Any] = {m: LEARNERS[m](k) for m in methods if m in LEARNERS}
    predictors: dict[str, Any] = {}
    losses = dict.fromkeys(methods, 0.0)
    out: dict[str, Any] = {}
    row_buffer: list[tuple[Any, Any]] = []
    buffered, due = 0, 100
    for X, y in stream:
        row_buffer.append((X, y))
        buffered += len(y)
        if averages.n_samples_ + buffered < due:
            continue
        X, y = (np.concatenate(part) for part in zip(*row_buffer))
        row_buffer, buffered = [], 0
        for m in losses:
            losses[m] += float(np.square(y - (predictors[m].predict(X) if m in predictors else 0.0)).sum())
        averages.update(X, y)
        for m in list(models):
            if m == "SADMM" and averages.n_samples_ > SADMM_ROWS:
                del models[m], losses[m]
            else:
                models[m].partial_fit(X, y)
        s = standardize(averages)
        predictors = models | {m: EXTRACTORS[m](s, k=k) for m in methods if m in EXTRACTORS}
        if averages.n_samples_ in SHOWN:
            best = hindsight_error(s, k, stream.support)
            out[str(averages.n_samples_)] = {
                m: loss / averages.n_samples_ - best for m, loss in losses.items()
            }
        later = [n for n in SHOWN if n > averages.n_samples_]
        due = min([int(1.1 * averages.n_samples_) + 1, *later[:1]])
    return out


def hindsight_error(s: Standardized, k: int, truth: Any) -> float:
    """Mean squared error of the best model with k features, as far as three ways find it."""
    omp_support = np.flatnonzero(orthogonal_mp_gram(s.R, s.r[:, 0], n_nonzero_coefs=k, copy_Gram=True))
    errors = []
    for support in (omp_support, truth, ofsa(s, k).support):
        beta = least_squares(s, np.asarray(support, dtype=np.int64))[0]
        errors.append(
            1 - 2 * beta[:, 0] @ s.r[support, 0] + beta[:, 0] @ s.R[np.ix_(support, support)] @ beta[:, 0]
        )
    return float(min(errors) * s.y_scale[0] ** 2)


def report(outcomes: Outcomes) -> list[Part]:
    parts: list[Part] = []
    for name, title in (
        ("regret-sun", "[Sun] Figure 5.4: regret"),
        ("regret-susan", "[Susan] Figure 1: regret"),
    ):
        panels, rows = [], []
        for setting, (figure, _, _, _, methods) in SETTINGS.items():
            part = outcomes.where(setting=setting)
            if figure != name or not part:
                continue
            lines = {}
            for m in methods:
                cells = {n: part.cell(n, m, digits=4) for n in SHOWN if part.values(n, m)}
                lines[m] = (list(cells), [max(cell.mean, 1e-6) for cell in cells.values()])
                rows.append([setting, m, *(cells.get(n, "-") for n in SHOWN)])
            panels.append(Panel(setting, "n", "regret", lines, xlog=True, ylog=True))
        note = f"p = {P:,}, correlation 0.5, {outcomes.runs()} runs; read after every tenth more rows."
        parts.append(Figure(name, title, panels, note))
        parts.append(
            Table(f"{title}, in numbers", ["setting", "method", *(f"n = {n:,}" for n in SHOWN)], rows, note)
        )
    return parts
