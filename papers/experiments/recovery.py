"""[Sun] Figures 5.1 to 5.3: when does OLSth find all true features, in theory and in fact.

Figure 5.1 has the share found against the number k of true features: it hardly depends on k. The paper gives
neither n nor the signal; here the signal is 0.1, p = 1,000.

Figures 5.2 and 5.3 have the smallest weight that is found: by (3.12), from the smallest eigenvalue of the
sample covariance; by (3.14), from that of the true one (1, with a largest variance of 2); and in fact. With
one noise for all weights, whose least-squares image is e, a run finds all of weight b exactly when
b + e_j > |e_i| for true j and false i, so the smallest b is read off e; the largest over all runs is taken up
to the paper's grid of factors 0.9 below (3.14). k = 10 true features; the paper does not say how many.

Erratum of Proposition 3, whose (3.12) is 2 sigma / lambda sqrt(log(p) / n). A true feature has an error e_j,
too, so that the least weight must exceed twice the largest |e|: a factor 2 is missing. And |e| is at most the
maximum row sum of the inverse covariance times |X'eps / n|, which may be sqrt(p) times 1 / lambda: the
spectral norm bounds another norm. "Mended" has both. [Slides] p. 29 has neither flaw: each e_j is normal with
a variance of at most sigma^2 / (n lambda), and 4 sigma / sqrt(lambda) sqrt(log(p) / n) suffices with
probability 1 - 2 / p.

Proposition 6 has the same bound for rows that depend on the past (`simulate.dependent`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from streamsieve import RunningAverages, metrics, simulate
from streamsieve.averages.extract import ofsa, ols, olsth
from streamsieve.averages.standardize import standardize

from ..report import Figure, Outcomes, Panel, Part, Table

SIZES, ROWS, SIGNAL = (10, 50, 100, 200, 300, 400, 500), (1_500, 2_000, 3_000, 5_000), 0.1
TRUE = 10
WIDTHS, LENGTH = (100, 200, 300, 400, 500, 750, 1_000), 10_000  # Figure 5.2
LENGTHS, WIDTH = (3_000, 5_000, 10_000, 20_000, 50_000, 100_000), 300  # Figure 5.3
MIN_RUNS = 10  # a maximum over fewer runs says little


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    shares: list[dict[str, Any]] = [
        {"what": "share", "k": k, "seed": r} for r in range(runs) for k in SIZES if not quick or k <= 200
    ]
    bounds: list[dict[str, Any]] = []
    for seed in range(max(runs, MIN_RUNS)):
        pairs = [(p, LENGTH) for p in WIDTHS] + [(WIDTH, n) for n in LENGTHS]
        for p, n in dict.fromkeys(pairs):
            if not quick or n * p <= 5_000_000:
                bounds.append({"what": "bound", "p": p, "n": n, "seed": seed})
        bounds.append({"what": "dependent", "p": WIDTH, "n": LENGTH, "seed": seed})
    return [*shares, *bounds]


def measure(what: str, seed: int, **job: Any) -> dict[str, Any]:
    if what == "share":
        return measure_share(seed=seed, **job)
    return measure_bound(seed=seed, dependent=what == "dependent", **job)


def measure_share(k: int, seed: int) -> dict[str, Any]:
    """By n and method: percent found."""
    stream = simulate.correlated(
        max(ROWS), 1_000, k, signal=SIGNAL, spacing=1, block_size=500, random_state=seed
    )
    averages, out = RunningAverages(), {}
    for X, y in stream:
        averages.update(X, y)
        if averages.n_samples_ in ROWS:
            s = standardize(averages)
            out[str(averages.n_samples_)] = {
                name: 100 * metrics.detection_rate(extract(s, k).support, stream.support)
                for name, extract in (("OLSth", olsth), ("OFSA", ofsa))
            }
    return out


def measure_bound(p: int, n: int, seed: int, dependent: bool = False) -> dict[str, Any]:
    """The smallest eigenvalue of the sample covariance, and the smallest weight that this run finds."""
    design: Any = simulate.dependent if dependent else simulate.correlated
    stream = design(n, p, TRUE, signal=0.0, spacing=1, random_state=seed)
    averages = RunningAverages()
    for X, y in stream:
        averages.update(X, y)
    e = ols(averages, standardize=False).coef
    true = np.arange(p) < TRUE
    return {
        "eigenvalue": float(np.linalg.eigvalsh(averages.S_xx_)[0]),
        "row_sum": float(np.abs(np.linalg.inv(averages.S_xx_)).sum(axis=1).max()),
        "found": float(np.abs(e[~true]).max() - e[true].min()),
    }


def theory(p: int, n: int) -> float:
    """(3.14); infinite where it says nothing."""
    root = 0.8 - 2 * math.sqrt(p / n)
    return 2 / (root * root) * math.sqrt(math.log(p) / n) if root > 0 else math.inf


def report(outcomes: Outcomes) -> list[Part]:
    panels = []
    sizes = [k for k in SIZES if outcomes.where(what="share", k=k)]
    for method in ("OLSth", "OFSA"):
        lines = {
            f"n = {n:,}": (sizes, [outcomes.where(what="share", k=k).cell(n, method).mean for k in sizes])
            for n in ROWS
        }
        panels.append(Panel(method, "true features k", "found, %", lines))
    runs = outcomes.where(what="share").runs()
    note = f"p = 1,000, signal {SIGNAL}, correlation 0.5, {runs} runs."
    parts: list[Part] = [Figure("recovery-k", "[Sun] Figure 5.1: detection rate and k", panels, note)]

    names = (
        "(3.14), true covariance",
        "(3.12), sample covariance",
        "[Slides] p. 29",
        "(3.12) mended",
        "in fact",
    )
    rows, found = [], {}
    runs_of_bounds = Outcomes([*outcomes.where(what="bound"), *outcomes.where(what="dependent")])
    for what, p, n in dict.fromkeys((job["what"], job["p"], job["n"]) for job, _ in runs_of_bounds):
        part = outcomes.where(what=what, p=p, n=n)
        top = theory(p, n)
        unit = math.sqrt(math.log(p) / n)
        by_run = [
            (2 / eigenvalue * unit, 4 / math.sqrt(eigenvalue) * unit, 4 * row_sum * unit)
            for eigenvalue, row_sum in zip(part.values("eigenvalue"), part.values("row_sum"))
        ]
        sample, slides, mended = (float(np.mean(bounds)) for bounds in zip(*by_run))
        start = top if math.isfinite(top) else sample
        step = math.floor(math.log(max(part.values("found")) / start, 0.9))
        figures = (top, sample, slides, mended, start * 0.9**step)
        if what == "bound":
            found[p, n] = figures
        shares = [
            f"{np.mean([bounds[i] > smallest for bounds, smallest in zip(by_run, part.values('found'))]):.0%}"
            for i in (0, 1)
        ]
        label = f"{p:,}" if what == "bound" else f"{p:,}, dependent rows"
        rows.append([label, f"{n:,}", *("-" if math.isinf(b) else f"{b:.3f}" for b in figures), *shares])
    panels = []
    for axis, points in (
        ("p", [(p, LENGTH) for p in WIDTHS if (p, LENGTH) in found]),
        ("n", [(WIDTH, n) for n in LENGTHS if (WIDTH, n) in found]),
    ):
        lines = {}
        for i, name in enumerate(names):
            finite = [at for at in points if math.isfinite(found[at][i])]
            lines[name] = ([at[axis == "n"] for at in finite], [found[at][i] for at in finite])
        title = f"n = {LENGTH:,}" if axis == "p" else f"p = {WIDTH}"
        panels.append(Panel(title, axis, "smallest weight found", lines, xlog=axis == "n", ylog=axis == "n"))
    note = (
        f"All of {TRUE} true features in each of {outcomes.where(what='bound').runs()} runs (the paper: "
        "100). The last two columns: the share of the runs that find all true features where the weights "
        "are as large as that bound. (3.12) as printed lacks a factor 2 and takes one norm for another; "
        "where a feature has many rows it promises more than is found. [Slides] p. 29 holds in every run."
    )
    title = "[Sun] Figures 5.2 and 5.3: the smallest weight that OLSth finds"
    parts += [
        Figure("recovery-bound", title, panels, note),
        Table(f"{title}, in numbers", ["p", "n", *names, "found at (3.12)", "at [Slides] p. 29"], rows, note),
    ]
    return parts
