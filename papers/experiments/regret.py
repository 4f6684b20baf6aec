"""[Sun] Figure 5.4, [Susan] Figure 1: regret against n, what it costs to learn row by row.

R_n is the mean squared error of the rows, each predicted before it is learned, less that of the best model
with k features in hindsight. All models are read after a tenth more rows than the last time, from 100 on, and
predict until then: a regret of every model that is read more often is lower. In hindsight: the better of
OFSA, of scikit-learn's orthogonal matching pursuit ([Susan]'s benchmark) and of least squares on the truth.

The regret of a model that has found its features falls as 1 / n. One that keeps a wrong support (TSGD and C =
50 in [Susan] Figure 1) comes to a plateau, the error of that support: its loss a row does not fall any more.
In print these curves begin with the plateau and then fall at 1 / n as well, which a support that is never
left cannot do.
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
SHOWN = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
# The last n of each figure. A run of 10^6 rows takes minutes: of those there is one.
LONGEST = {"regret-sun": 100_000, "regret-susan": 1_000_000}
SADMM_ROWS = 30_000  # beyond, it would take most of the time


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    return [
        {"setting": s, "n": 10_000 if quick else LONGEST[figure], "seed": r}
        for s, (figure, *_) in reversed(SETTINGS.items())  # what takes longest first
        for r in range(1 if figure == "regret-susan" else runs)
    ]


def measure(setting: str, n: int, seed: int) -> dict[str, Any]:
    """By n and method: regret."""
    _, k, signal, design, methods = SETTINGS[setting]
    stream = simulate.correlated(n, P, k, signal=signal, block_size=100, random_state=seed, **design)
    averages = RunningAverages()
    models: dict[str, Any] = {m: LEARNERS[m](k) for m in methods if m in LEARNERS}
    read: dict[str, tuple[Any, float]] = dict.fromkeys(methods, (np.zeros(P), 0.0))  # weights and intercept
    losses = dict.fromkeys(methods, 0.0)
    out: dict[str, Any] = {}
    due = 100
    for X, y in stream:
        for m in losses:
            coef, intercept = read[m]
            losses[m] += float(np.square(y - X @ coef - intercept).sum())
        averages.update(X, y)
        if averages.n_samples_ > SADMM_ROWS and "SADMM" in models:
            del models["SADMM"], losses["SADMM"]
        for model in models.values():
            model.partial_fit(X, y)
        if averages.n_samples_ < due:
            continue
        s = standardize(averages)
        fitted = {m: EXTRACTORS[m](s, k=k) for m in methods if m in EXTRACTORS}
        read = {m: (model.coef_.copy(), float(model.intercept_)) for m, model in models.items()}
        read |= {m: (model.coef, float(model.intercept)) for m, model in fitted.items()}
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
        runs = max(
            part.runs() for part in (outcomes.where(setting=s) for s in SETTINGS if SETTINGS[s][0] == name)
        )
        note = f"p = {P:,}, correlation 0.5, runs: {runs}; read after every tenth more rows."
        if name == "regret-susan":
            note += (
                " A support that is wrong and never left (TSGD, C = 50, and C = 500 where the signal is "
                "weak) costs the same in every row: a plateau, where what has found its features falls as "
                "1 / n. In print the curves of TSGD and C = 50 begin with the plateau and then fall, too."
            )
        parts.append(Figure(name, title, panels, note))
        parts.append(
            Table(f"{title}, in numbers", ["setting", "method", *(f"n = {n:,}" for n in SHOWN)], rows, note)
        )
    return parts
