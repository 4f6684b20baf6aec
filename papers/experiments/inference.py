"""The guarantees of `streamsieve.inference`, measured in simulations.

- "coverage": confidence intervals of selected features without weight, and the naive intervals of the same
  method. The covered quantity is the weight in the selected submodel, by the true covariance.
- "fdr": the share of false discoveries and of the true features found, in three designs with three kinds of
  noise. "rows": the noise of a row grows with the size of its features. "clusters": five rows share half of
  their features' variance and half of their noise; folds consist of clusters.
- "anytime": the probability that a test of a feature without weight ever rejects, read after every row up to
  100 and every 3 % more up to 2,000.
- "stability": features without weight among the stable ones, and the bounds on their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsieve import FoldAverages, FourthMoments, RunningAverages, extract
from streamsieve.methods import inference
from streamsieve.methods.inference.fdr import reject
from streamsieve.methods.inference.knockoffs import cut
from streamsieve.methods.inference.stability import bounds
from streamsieve.statistics.intervals import two_sided

from ..report import Cell, Outcomes, Part, Table

Array = NDArray[np.float64]

DESIGNS = ("independent", "equal", "neighbours")  # correlation 0, 0.5 for all pairs, 0.7^|i - j|
NOISES = ("plain", "rows", "clusters")
REPEATS = {"coverage": 60, "fdr": 40, "anytime": 80, "stability": 10}
QS = (0.1, 0.2)
THRESHOLDS = (0.6, 0.7, 0.9)
FOLDS, PAIRS = 20, 25


def covariance(design: str, p: int) -> Array:
    if design == "equal":
        return 0.5 * np.eye(p) + 0.5
    at = np.arange(p)
    return 0.7 ** np.abs(at[:, None] - at) if design == "neighbours" else np.eye(p)


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    scale = 10 if quick else 1
    settings = [
        *({"part": "coverage", "design": d} for d in DESIGNS),
        *({"part": "fdr", "design": d, "noise": noise} for d in DESIGNS for noise in NOISES),
        *({"part": "anytime", "noise": noise} for noise in ("plain", "rows")),
        *({"part": "stability", "design": d} for d in DESIGNS),
    ]
    return [
        {**setting, "repeats": max(REPEATS[setting["part"]] // scale, 1), "seed": seed}
        for seed in range(runs)
        for setting in settings
    ]


def measure(part: str, repeats: int, seed: int, design: str = "independent", noise: str = "plain") -> Any:
    """Figures of each repeat, in lists."""
    parts: dict[str, Any] = {"coverage": coverage, "fdr": discoveries, "anytime": ever, "stability": stable}
    once, words = parts[part], [part, design, noise]
    out: dict[str, list[float]] = {}
    for i in range(repeats):
        rng = np.random.default_rng([seed, i, *(sum(map(ord, word)) for word in words)])
        found = once(rng, noise) if part == "anytime" else once(rng, design, noise)
        for name, value in found.items():
            out.setdefault(name, []).append(value)
    return out


# ---------------------------------------------------------------- coverage


def coverage(rng: np.random.Generator, design: str, noise: str) -> dict[str, float]:  # noqa: ARG001
    """Of the null features among 20 selected of 200 (10 are real): how many there are, how many covered."""
    n, p, k = 1000, 200, 20
    S = covariance(design, p)
    beta = np.zeros(p)
    beta[rng.choice(p, 10, replace=False)] = 0.3 * rng.choice([-1, 1], 10)
    X = rng.normal(size=(n, p)) @ np.linalg.cholesky(S).T
    folds = FoldAverages(FOLDS).update(X, X @ beta + rng.normal(size=n))
    out = {}
    for name, model in (
        ("naive", extract.ofsa(folds.total(), k)),
        ("split", inference.split(folds, "ofsa", k, random_state=rng)),
        ("splits", inference.split(folds, "ofsa", k, splits=9, random_state=rng)),
    ):
        nulls = np.flatnonzero(beta[model.support] == 0)
        at = model.support
        weights = np.linalg.solve(S[np.ix_(at, at)], S[at] @ beta)
        low, high = model.conf_int()[at].T
        out[f"{name} nulls"] = float(len(nulls))
        out[f"{name} covered"] = float(((low <= weights) & (weights <= high))[nulls].sum())
        out[f"{name} width"] = float((high - low)[nulls].mean()) if len(nulls) else np.nan
    return {name: value for name, value in out.items() if not np.isnan(value)}


# ---------------------------------------------------------------- false discoveries


def rows_with_noise(
    rng: np.random.Generator, design: str, noise: str, n: int, p: int
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Features, noise of variance near 1, and the cluster of each row."""
    root = np.linalg.cholesky(covariance(design, p)).T
    cluster = np.arange(n) // 5 if noise == "clusters" else np.arange(n)
    X, e = rng.normal(size=(n, p)) @ root, rng.normal(size=n)
    if noise == "rows":
        size = np.exp(0.4 * rng.normal(size=n))
        size /= np.sqrt((size**2).mean())
        X, e = X * size[:, None], e * size
    if noise == "clusters":
        m = n // 5
        X = np.sqrt(0.5) * (X + (rng.normal(size=(m, p)) @ root)[cluster])
        e = np.sqrt(0.5) * (e + rng.normal(size=m)[cluster])
    return X, e, cluster


def discoveries(rng: np.random.Generator, design: str, noise: str) -> dict[str, float]:
    """Share of false discoveries and of 15 signals found among 60 features, by method and q."""
    n, p, k = 1500, 60, 15
    X, e, cluster = rows_with_noise(rng, design, noise, n, p)
    beta = np.zeros(p)
    real = rng.choice(p, k, replace=False)
    beta[real] = (0.1 if design == "independent" else 0.14) * rng.choice([-1, 1], k)
    folds = FoldAverages(FOLDS)
    folds.update(X, X @ beta + e, fold=folds.fold_of(cluster))
    # what inference.fdr does at each q, with p values and knockoffs made once
    classical = np.asarray(inference.ols(folds).pvalue)
    robust = np.asarray(inference.ols(folds, se="folds").pvalue)
    W = inference.knockoffs(folds, random_state=rng).info["W"]
    out = {}
    for q in QS:
        for name, support in (
            ("BH", reject(classical, q)),
            ("BH, folds", reject(robust, q)),
            ("BY, folds", reject(robust, q, by=True)),
            ("knockoffs", np.flatnonzero(cut(W, q) <= W)),
        ):
            false = np.setdiff1d(support, real)
            out[f"{name} {q} fdp"] = len(false) / max(len(support), 1)
            out[f"{name} {q} found"] = (len(support) - len(false)) / k
    return out


# ---------------------------------------------------------------- looking at any time


def ever(rng: np.random.Generator, noise: str) -> dict[str, float]:
    """Whether a test of the second of two features, which has no weight, ever has p < .05."""
    X, e, _ = rows_with_noise(rng, "equal", noise, 2000, 2)
    y = X[:, 0] + e
    looks = [*range(5, 101)]
    while looks[-1] < 2000:
        looks.append(min(int(np.ceil(1.03 * looks[-1])), 2000))
    averages, fourth = RunningAverages(), FourthMoments()
    out = {"naive": 0.0, "any time": 0.0, "any time, hc1": 0.0}
    at = 0
    for n in looks:
        averages.update(X[at:n], y[at:n])
        at = n
        test = inference.anytime(averages, [1], given=[0])
        out["naive"] = max(out["naive"], float(two_sided(test.tvalue[0], test.nu) < 0.05))
        out["any time"] = max(out["any time"], float(test.pvalue[0] < 0.05))
        if noise == "rows" and n >= 50:  # robust errors are for many rows
            fourth.update(X[fourth.n_samples_ : n], y[fourth.n_samples_ : n])
            test = inference.anytime(fourth, [1], given=[0], se="hc1")
            out["any time, hc1"] = max(out["any time, hc1"], float(test.pvalue[0] < 0.05))
    return out if noise == "rows" else {name: out[name] for name in ("naive", "any time")}


# ---------------------------------------------------------------- stability


def stable(rng: np.random.Generator, design: str, noise: str) -> dict[str, float]:  # noqa: ARG001
    """Null features among the stable ones, and the bounds; p = 200, 10 signals, k = 15 of each half."""
    n, p, k = 500, 200, 15
    beta = np.zeros(p)
    beta[rng.choice(p, 10, replace=False)] = 0.3 * rng.choice([-1, 1], 10)
    X = rng.normal(size=(n, p)) @ np.linalg.cholesky(covariance(design, p)).T
    folds = FoldAverages(FOLDS).update(X, X @ beta + rng.normal(size=n))
    frequency = inference.stability(folds, k, pairs=PAIRS, random_state=rng).info["frequency"]
    out = {}
    for t in THRESHOLDS:
        chosen = frequency >= t - 1e-12
        out[f"{t} false"] = float((chosen & (beta == 0)).sum())
        out[f"{t} found"] = float((chosen & (beta != 0)).sum()) / 10
        worst, unimodal = bounds(k, p, t, PAIRS)
        out[f"{t} worst"], out[f"{t} unimodal"] = worst, float(unimodal or worst)
    return out


# ---------------------------------------------------------------- report


def report(outcomes: Outcomes) -> list[Part]:
    tables = [_coverage(outcomes), _fdr(outcomes), _anytime(outcomes), _stability(outcomes)]
    return [table for table in tables if table.rows]


def _all(outcomes: Outcomes, name: str) -> list[float]:
    return [value for run in outcomes.values(name) for value in run]


def _coverage(outcomes: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for design in DESIGNS:
        part = outcomes.where(part="coverage", design=design)
        for name in ("naive", "split", "splits") if part else ():
            nulls, covered = np.array(_all(part, f"{name} nulls")), np.array(_all(part, f"{name} covered"))
            share = covered.sum() / nulls.sum()
            # nulls of one stream are not independent: the error is over the streams
            error = np.sqrt(((covered - share * nulls) ** 2).sum()) / nulls.sum()
            text = f"{100 * share:.1f} ± {100 * error:.1f}"
            width = Cell(_all(part, f"{name} width"), digits=3)
            rows.append([design, name, f"{int(nulls.sum())}", text, width])
    note = (
        "n = 1,000, p = 200, of which 10 have a weight; OFSA selects 20, from all rows (naive), from half of "
        "20 folds (split), or from nine such halves (splits). Nulls: selected features without weight."
    )
    columns = ["design", "intervals", "nulls", "covered %", "width"]
    return Table("Coverage of 95% intervals of selected nulls", columns, rows, note)


def _fdr(outcomes: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    names = ("BH", "BH, folds", "BY, folds", "knockoffs")
    for noise in NOISES:
        for design in DESIGNS:
            part = outcomes.where(part="fdr", design=design, noise=noise)
            for q in QS if part else ():
                cells: list[str | Cell] = []
                for name in names:
                    false = Cell(_all(part, f"{name} {q} fdp"), digits=3)
                    kept = "" if false.mean <= q + 2 * (false.error or 0.0) else " **lost**"
                    found = np.mean(_all(part, f"{name} {q} found"))
                    cells.append(f"{false}, {100 * found:.0f} %{kept}")
                rows.append([noise, design, f"{q}", *cells])
    note = (
        "n = 1,500, p = 60, of which 15 have a weight. In each cell the share of false discoveries and that "
        "of the 15 found. **lost**: more than q and two standard errors."
    )
    return Table("False discovery rate and power", ["noise", "design", "q", *names], rows, note)


def _anytime(outcomes: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for noise in ("plain", "rows"):
        part = outcomes.where(part="anytime", noise=noise)
        if part:
            names = ("naive", "any time", "any time, hc1")
            values = [_all(part, name) for name in names]
            rows.append([noise, f"{len(values[0])}", *(Cell(v, digits=3) if v else "-" for v in values)])
    note = (
        "A feature without weight, beside one with weight 1; after every row from 5 to 100, then every 3 % "
        "more. hc1: from 50 rows on. With noise that varies with the row only hc1 is meant to hold."
    )
    columns = ["noise", "streams", "naive", "any time", "any time, hc1"]
    return Table("P(ever p < .05) in 2,000 rows", columns, rows, note)


def _stability(outcomes: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for design in DESIGNS:
        part = outcomes.where(part="stability", design=design)
        for t in THRESHOLDS if part else ():
            cells = [
                Cell(_all(part, f"{t} {name}"), digits=2) for name in ("false", "unimodal", "worst", "found")
            ]
            rows.append([design, f"{t}", *cells])
    note = (
        "n = 500, p = 200, of which 10 have a weight; OFSA selects 15 from each of 50 halves of 20 folds. "
        "Bounds on the expected number of features that a half selects no more often than by chance."
    )
    columns = ["design", "threshold", "false", "bound, unimodal", "bound", "share found"]
    return Table("False features among the stable ones", columns, rows, note)
