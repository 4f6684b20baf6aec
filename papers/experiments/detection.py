"""[Sun] Tables 5.1, 5.2, A.1, [Slides] pp. 35, 36: true features found by the running averages, and the time.

The features have correlation 0.5, every tenth is true, the noise is 1; every method is given k. Each signal
has one stream, and shorter streams are its first rows. Lasso is scikit-learn's, on the rows in memory: of
200 penalties, the largest model with at most k features. SGD does not select.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from streamsieve import (
    RunningAverages,
    SADMMRegressor,
    SGDRegressor,
    SIHTRegressor,
    extract,
    metrics,
    simulate,
)
from streamsieve.statistics.standardize import standardize

from ..baselines import lasso
from ..published.detection import EARLIER, PUBLISHED
from ..report import Cell, Outcomes, Part, Table
from ..timing import timed

EXTRACTORS: dict[str, Any] = {
    "OLSth": extract.olsth,
    "OFSA": extract.ofsa,
    "OALa": extract.oadaptivelasso,
    "OElnet": extract.oelasticnet,
    "OLasso": extract.olasso,
    "OMCP": extract.omcp,
}
LEARNERS: dict[str, Any] = {
    "SGD": lambda k: SGDRegressor(standardize=False),  # noqa: ARG005
    "SIHT": SIHTRegressor,
    "SADMM": lambda k: SADMMRegressor(k, standardize=False),
}
METHODS = ("Lasso", *LEARNERS, *EXTRACTORS)
SHORT, MORE = 10_000, 4  # rows up to which there are so many times as many runs: they take seconds
# The longest streams, by p, of the methods that would take hours on the others.
LONGEST = {
    1_000: {"Lasso": 10_000, "SADMM": 100_000},
    10_000: dict.fromkeys(("Lasso", "SADMM"), 0),
}


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    if quick:
        return streams(1_000, SHORT, range(runs))
    return streams(1_000, 1_000_000, range(runs)) + streams(1_000, SHORT, range(runs, MORE * runs))


def streams(p: int, longest: int, seeds: Iterable[int]) -> list[dict[str, Any]]:
    """A stream for each signal and seed."""
    signals = dict.fromkeys(signal for q, signal, _ in reversed(PUBLISHED) if q == p)
    return [
        {
            "p": p,
            "signal": s,
            "ns": [n for q, t, n in PUBLISHED if (q, t) == (p, s) and n <= longest],
            "seed": r,
        }
        for s in signals
        for r in seeds
    ]


def methods(p: int, ns: list[int], **_: Any) -> list[str]:
    """What is compared on a stream; RAVE is the time of the averages."""
    return ["RAVE", *(name for name in METHODS if min(ns) <= LONGEST[p].get(name, min(ns)))]


def measure(methods: list[str], p: int, signal: float, ns: list[int], seed: int) -> dict[str, Any]:
    """By method and n: percent found, test RMSE and seconds."""
    k = p // 10
    stream = simulate.correlated(max(ns), p, k, signal=signal, random_state=seed)
    X_test, y_test = simulate.correlated(None, p, k, signal=signal, random_state=10_000 + seed).take(5000)
    averages, seconds = RunningAverages(), dict.fromkeys(("RAVE", *methods), 0.0)
    with_averages = any(name == "RAVE" or name in EXTRACTORS for name in methods)
    row_buffer: list[tuple[Any, Any]] = []
    learners = {name: make(k) for name, make in LEARNERS.items() if name in methods}
    out: dict[str, Any] = {name: {} for name in methods}
    n = 0
    for X, y in stream:
        n += len(y)
        if with_averages:
            with timed(seconds, "RAVE"):
                averages.update(X, y)
        current = [name for name in methods if n <= LONGEST[p].get(name, n)]
        for name in (name for name in current if name in learners):
            with timed(seconds, name):
                learners[name].partial_fit(X, y)
        row_buffer = [*row_buffer, (X, y)] if "Lasso" in current else []
        if n not in ns:
            continue
        found: dict[str, tuple[Any, Any]] = {}
        if "Lasso" in current:
            with timed(seconds, "Lasso", reset=True):
                X_all, y_all = (np.concatenate(part) for part in zip(*row_buffer))
                support, predict = lasso(X_all, y_all, k)
            found["Lasso"] = support, predict(X_test)
        if with_averages:
            s = standardize(averages)
        for name in current:
            if name in EXTRACTORS:
                with timed(seconds, name, reset=True):
                    fitted = EXTRACTORS[name](s, k=k)
                found[name] = fitted.support, fitted.predict(X_test)
            elif name in LEARNERS:
                model = learners[name]
                found[name] = model.get_support(indices=True), model.predict(X_test)
        for name in current:
            out[name][str(n)] = {"seconds": seconds[name]}
        for name, (support, predicted) in found.items():
            out[name][str(n)]["rmse"] = metrics.rmse(y_test, predicted)
            if name != "SGD":
                out[name][str(n)]["found"] = 100 * metrics.detection_rate(support, stream.support)
    return out


def report(outcomes: Outcomes) -> list[Part]:
    titles: dict[str, tuple[str, list[str], int, str, str]] = {
        "found": (
            "True features found, percent: [Slides] p. 35, [Sun] Tables 5.1, A.1",
            [m for m in METHODS if m != "SGD"],
            1,
            "more",
            f"k = p / 10, {outcomes.describe_runs('20 to 100')}",
        ),
        "rmse": ("Test RMSE (noise 1)", list(METHODS), 3, "less", ""),
        "seconds": (
            "Seconds: [Slides] p. 36, [Sun] Table 5.2",
            ["RAVE", *METHODS],
            3,
            "",
            "One thread: learning n rows (RAVE, SGD, SIHT, SADMM), or a model from what was kept. RAVE: the "
            "running averages, from which OLSth and all after it are read.",
        ),
    }
    parts: list[Part] = []
    for i, (what, (title, methods, digits, better, note)) in enumerate(titles.items()):
        rows: list[list[str | Cell]] = []
        for at, published in PUBLISHED.items():
            paper = dict(zip((*METHODS, "RAVE"), published[i]))
            rows += _row(outcomes, at, [(m, what, paper.get(m), better, digits) for m in methods])
        parts.append(Table(title, ["p, signal", "n", *methods], rows, note, contest="row"))
    rows = []
    for at, (found, rmse) in EARLIER.items():
        cells = [(m, "found", x, "more", 1) for m, x in zip(("OFSA", "OMCP"), found)]
        cells += [(m, "rmse", x, "less", 3) for m, x in zip(("OFSA", "OMCP"), rmse)]
        rows += _row(outcomes, at, cells)
    columns = ["p, signal", "n", "OFSA, found %", "OMCP, found %", "OFSA, RMSE", "OMCP, RMSE"]
    title = "The same beside the figures of [Sun] Tables 5.1 and A.1, where the slides have others"
    return [*parts, Table(title, columns, rows)]


def _row(outcomes: Outcomes, at: Any, cells: list[tuple[str, str, Any, str, int]]) -> list[list[str | Cell]]:
    """What was measured of a setting, if it was: method, measure, published, which way is up, digits."""
    p, signal, n = at
    part = outcomes.where(p=p, signal=signal)
    shown = [part.cell(m, n, what, published=x, better=up, digits=d) for m, what, x, up, d in cells]
    return [[f"{p:,}, {signal:g}", f"{n:,}", *shown]] if any(cell.runs for cell in shown) else []
