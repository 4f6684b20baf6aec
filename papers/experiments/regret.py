"""[Sun] Figure 5.4, [Susan] Figure 1: regret against n, the cost of learning row by row.

R_n is the mean squared error of the rows, each predicted before it is learned, minus that of the best model
with k features in hindsight. From 100 rows on, all models are read each time the number of rows has grown
by a tenth, and predict the rows until then; reading them more often would lower every regret. The best
model in hindsight is the better of OFSA, scikit-learn's orthogonal matching pursuit ([Susan]'s benchmark)
and least squares on the true features.

In print, TSGD's regret has a plateau and then falls as 1 / n, and SADMM's does not fall. Both depend on the
variant:

- TSGD with truncation after every row ([Susan] 3, and the tables of both papers, where it finds what a
  random choice finds) keeps the support of its first rows. Its regret falls to the error of that support
  and stays there with any steps: the plateau is at the end. With truncation only when the model is read
  ([Sun] Algorithm 2) all weights are learned, the true features are found, and the regret is as printed,
  with the plateau at the start. If TSGD is compared with its own last model, its regret falls as 1 / n too,
  without a plateau.
- SADMM's regret does not fall with rho = 1 and steps of 1 / sqrt(t), and falls with our defaults.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.linear_model import orthogonal_mp_gram

from streamsieve import (
    OLSTThenTSGDRegressor,
    RunningAverages,
    SADMMRegressor,
    SIHTRegressor,
    TSGDRegressor,
    simulate,
)
from streamsieve.methods.averages.extract import oelasticnet, ofsa, olsth, omcp
from streamsieve.statistics.linear_model import least_squares
from streamsieve.statistics.standardize import Standardized, standardize

from ..published.regret import CLAIMS, FALLING, FLAT, RULE, WHY
from ..report import Figure, Outcomes, Panel, Part, Table

P = 1_000
EXTRACTORS: dict[str, Any] = {"OLSth": olsth, "OFSA": ofsa, "OMCP": omcp, "OElnet": oelasticnet}
LEARNERS: dict[str, Any] = {
    "TSGD": SIHTRegressor,
    "TSGD, fading steps": lambda k: SIHTRegressor(k, schedule="sqrt"),
    "TSGD, cut when read": TSGDRegressor,
    "SADMM": lambda k: SADMMRegressor(k, standardize=False),
    "SADMM, rho = 1, fading steps": lambda k: SADMMRegressor(k, rho=1.0, schedule="sqrt", standardize=False),
    "C = 50": lambda k: OLSTThenTSGDRegressor(k, C=50),
    "C = 500": lambda k: OLSTThenTSGDRegressor(k, C=500),
}
OWN = "TSGD, against its last model"
# Name: the figure, k, signal, design, methods. OLST is OLSth, read after every row; C is of OLST-then-TSGD.
SETTINGS: dict[str, tuple[str, int, Any, dict[str, Any], tuple[str, ...]]] = {
    f"Sun, signal {signal:g}": ("regret-sun", 100, signal, {}, (*[*LEARNERS][:5], *EXTRACTORS))
    for signal in (1.0, 0.1, 0.01)
} | {
    f"Susan, {name}": (
        "regret-susan",
        10,
        signal,
        {"spacing": 1, "unit_variance": True},
        ("TSGD", "TSGD, cut when read", "OLSth", "C = 50", "C = 500"),
    )
    for name, signal in (("strong signal", 1.0), ("varied signal", (0.1, 1.0)), ("weak signal", 0.01))
}
SHOWN = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
# A run of 10^6 rows takes minutes: there is one of each setting, and the other runs of [Sun]'s end before.
LONGEST, LONG = 1_000_000, 100_000
SADMM_ROWS = 100_000  # 40 seconds a curve; the 10^6 rows of print would take 400


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    return [
        {"setting": s, "n": 10_000 if quick else LONGEST if r == 0 else LONG, "seed": r}
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
        if averages.n_samples_ > SADMM_ROWS:
            for m in [m for m in models if m.startswith("SADMM")]:
                del models[m], losses[m]
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
            mean_losses = {m: loss / averages.n_samples_ for m, loss in losses.items()}
            out[str(averages.n_samples_)] = {m: loss - best for m, loss in mean_losses.items()}
            out[str(averages.n_samples_)][OWN] = mean_losses["TSGD"] - model_error(averages, *read["TSGD"])
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


def model_error(averages: RunningAverages, coef: Any, intercept: float) -> float:
    """Mean squared error of a model on all rows of the averages."""
    off = np.ravel(averages.mean_y_)[0] - averages.mean_x_ @ coef - intercept
    within = np.ravel(averages.S_yy_)[0] - 2 * np.ravel(averages.S_xy_) @ coef + coef @ averages.S_xx_ @ coef
    return float(within + off * off)


def report(outcomes: Outcomes) -> list[Part]:
    parts: list[Part] = []
    for name, title in (
        ("regret-sun", "[Sun] Figure 5.4: regret"),
        ("regret-susan", "[Susan] Figure 1: regret"),
    ):
        shown = {s: outcomes.where(setting=s) for s, (figure, *_) in SETTINGS.items() if figure == name}
        shown = {s: part for s, part in shown.items() if part}
        if not shown:
            continue
        panels, rows = [], []
        for setting, part in shown.items():
            lines = {}
            for m in SETTINGS[setting][-1]:
                cells = {n: part.cell(n, m, digits=4) for n in SHOWN if part.values(n, m)}
                lines[m] = (list(cells), [max(cell.mean, 1e-6) for cell in cells.values()])
                rows.append([setting, m, *(cells.get(n, "-") for n in SHOWN)])
            panels.append(Panel(setting, "n", "regret", lines, xlog=True, ylog=True))
        note = f"p = {P:,}, correlation 0.5, {_runs(shown)}; read after every tenth more rows."
        if name == "regret-sun":
            note += (
                f" SADMM ends at n = {SADMM_ROWS:,} for the time it takes: the million rows of print "
                "would take some six minutes a curve."
            )
        parts.append(Figure(name, title, panels, note))
        parts.append(_claims(name, title.partition(":")[0], shown))
        parts.append(
            Table(f"{title}, in numbers", ["setting", "method", *(f"n = {n:,}" for n in SHOWN)], rows, note)
        )
    return parts


def _runs(shown: dict[str, Outcomes]) -> str:
    counts: dict[int, int] = {}
    for part in shown.values():
        for n in SHOWN:
            counts[n] = max(counts.get(n, 0), len(part.values(n)))
    most = max(counts.values(), default=0)
    fewer = [n for n in SHOWN if 0 < counts.get(n, 0) < most]
    return f"runs: {most}" + (f", from n = {fewer[0]:,} on: {counts[fewer[0]]}" if fewer else "")


def _claims(name: str, figure: str, shown: dict[str, Outcomes]) -> Table:
    """What the paper says of a figure, and how the curves here fall at first and at last."""
    rows = []
    for claim, shape, methods in CLAIMS[name]:
        for i, m in enumerate(methods):
            cells = []
            for part in shown.values():
                first, last = _slopes(part, m)
                flat, falls = first > FLAT, FALLING[0] <= last <= FALLING[1]
                holds = {"falls": falls, "plateau, then falls": flat and falls, "stays": last > FLAT}[shape]
                slopes = ["below 0" if math.isnan(slope) else f"{slope:.2f}" for slope in (first, last)]
                cells.append(f"{', then '.join(slopes)}: {'holds' if holds else 'does not hold'}")
            rows.append(["" if i else claim, m, *cells])
    return Table(f"What is said of {figure}", ["claim", "method", *shown], rows, RULE + WHY[name])


def _slopes(part: Outcomes, method: str) -> tuple[float, float]:
    """Of log(regret) against log(n) between the first two n and the last two, nan below 0; means of runs."""
    at = [n for n in SHOWN if part.values(n, method)]
    slopes = []
    for low, high in ((at[0], at[1]), (at[-2], at[-1])):
        both = Outcomes([(job, by) for job, by in part if str(high) in by and method in by[str(high)]])
        ratios = [b / a for a, b in zip(both.values(low, method), both.values(high, method))]
        log_ratios = [math.log(ratio) if ratio > 0 else math.nan for ratio in ratios]
        slopes.append(float(np.mean(log_ratios)) / math.log(high / low))
    return slopes[0], slopes[1]
