"""[Sun] Tables 5.1, 5.2, A.1, [Slides] pp. 35, 36: true features found by the running averages, and how fast.

Features correlated 0.5, every tenth of them real, noise 1; every method is given k. One stream serves all n
of a signal: shorter ones are its beginning. Lasso is scikit-learn's, on the rows themselves, as far as they
were kept; the largest of 200 models with at most k features. SGD does not select.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import metrics, simulate
from ..averages import extract
from ..averages.running import RunningAverages
from ..averages.standardize import standardize
from ..learners import SADMMRegressor, SGDRegressor, SIHTRegressor
from ._baselines import lasso
from ._report import Cell, Outcomes, Part, Table, clock, printed

EXTRACTORS: dict[str, Any] = {
    "OLSth": extract.olsth,
    "OFSA": extract.ofsa,
    "OALa": extract.oadaptivelasso,
    "OElnet": extract.oelasticnet,
    "OLasso": extract.olasso,
    "OMCP": extract.omcp,
}
LEARNERS: dict[str, Any] = {
    "SGD": lambda k: SGDRegressor(),  # noqa: ARG005
    "SIHT": SIHTRegressor,
    "SADMM": SADMMRegressor,
}
METHODS = ("Lasso", *LEARNERS, *EXTRACTORS)
# The longest streams, by p, of the methods that would take hours on the others.
LONGEST = {1_000: {"Lasso": 10_000, "SADMM": 100_000}, 10_000: {"Lasso": 0, "SADMM": 0}}

# [Slides] p. 35: p, signal, n; detection rates (%) and test RMSE in the order of METHODS.
PUBLISHED = {
    (int(p), signal, int(n)): (found, rmse)
    for (p, signal, n), found, rmse in printed(
        """
        1000 1 1000 | 32.14 - 11.22 18.1 77.4 99.96 81.05 32.12 - 91.27 |
            11.63 9.424 23.15 95.05 5.592 1.072 5.045 11.61 - 3.405
        1000 1 3000 | 46.05 - 11.22 41.23 100 100 100 45.19 - 99.93 |
            9.464 8.772 13.45 93.5 1.017 1.017 1.017 9.557 - 1.047
        1000 1 10000 | 72.4 - 11.22 65.78 100 100 100 72.42 - 100 |
            6.07 7.913 13.34 94.92 1.003 1.003 1.003 6.042 - 1.003
        1000 0.1 1000 | 31.33 - 10.89 17.53 11.92 77.64 13.15 31.33 - 69.98 |
            1.557 1.387 2.522 9.56 1.728 1.197 1.712 1.555 - 1.244
        1000 0.1 3000 | 44.85 - 10.89 40.11 95.57 98.68 95.77 44.11 - 95.17 |
            1.389 1.335 1.674 9.392 1.044 1.024 1.042 1.403 - 1.044
        1000 0.1 10000 | 70.53 - 10.89 62.48 100 100 100 71.1 - 100 |
            1.183 1.276 1.663 9.541 1.003 1.003 1.003 1.176 - 1.003
        1000 0.01 1000 | 14.09 - 10.89 13.53 10.11 12.15 11.34 14.08 - 13.53 |
            1.128 1.022 1.027 1.363 1.069 1.201 1.06 1.124 - 1.128
        1000 0.01 10000 | 31.58 - 10.89 19.8 22.48 26.64 23.16 31.54 - 32.52 |
            1.009 1.007 1.007 1.37 1.025 1.021 1.024 1.006 - 1.005
        1000 0.01 100000 | 81.93 - 10.89 11.3 80.55 85.19 80.84 81.8 - 85.03 |
            1.001 1.005 1.01 1.382 1.003 1.003 1.003 1.003 - 1.003
        1000 0.01 300000 | 98.66 - 10.89 10.8 98.94 99.28 98.96 98.71 - 99.27 |
            0.999 1.002 1.008 1.383 0.998 0.998 0.998 0.998 - 0.998
        1000 0.01 1000000 | - - 10.89 - 100 100 100 100 - 100 |
            - 0.997 1.005 - 0.996 0.996 0.996 0.996 - 0.996
        10000 1 10000 | 22.8 - 10.2 24.01 98.09 99.56 98.8 22.76 - 41.71 |
            40.05 29.38 42.21 913.4 4.606 2.415 3.675 40.72 - 33.48
        10000 1 30000 | 26.64 - 10.2 10.22 100 100 100 26.48 - 69.38 |
            37.11 27.82 42.01 924.6 1.017 1.017 1.017 36.99 - 20.58
        10000 0.1 10000 | 22.69 - 10.22 21.03 14.51 98.64 14.9 22.91 - 41.63 |
            4.219 3.097 4.326 92.51 4.351 1.128 4.337 4.194 - 3.502
        10000 0.1 30000 | 26.69 - 10.22 8.76 100 100 100 26.46 - 68.84 |
            3.819 2.957 4.321 93.51 1.017 1.017 1.017 3.838 - 2.314
        10000 0.01 10000 | 21.89 - 10.21 17.03 10.07 31.23 10.48 21.83 - 26.92 |
            1.113 1.058 1.089 9.118 1.144 1.076 1.143 1.105 - 1.09
        10000 0.01 30000 | 25.87 - 10.21 9.3 35.02 52.45 35.14 26.12 - 43.86 |
            1.07 1.043 1.086 9.228 1.108 1.046 1.108 1.079 - 1.056
        """
    )
}


def jobs(runs: int, quick: bool, p: int = 1_000) -> list[dict[str, Any]]:
    """A stream each, the longest first."""
    signals = dict.fromkeys(signal for q, signal, _ in reversed(PUBLISHED) if q == p)
    longest = 10_000 if quick else max(n for _, _, n in PUBLISHED)
    return [
        {
            "p": p,
            "signal": s,
            "ns": [n for q, t, n in PUBLISHED if (q, t) == (p, s) and n <= longest],
            "seed": r,
        }
        for s in signals
        for r in range(runs)
    ]


def measure(p: int, signal: float, ns: list[int], seed: int) -> dict[str, Any]:
    """By n and method: percent found, test RMSE and seconds; RAVE is the time of the averages."""
    k = p // 10
    stream = simulate.correlated(max(ns), p, k, signal=signal, random_state=seed)
    test = simulate.correlated(None, p, k, signal=signal, random_state=10_000 + seed).take(5000)
    averages, seconds = RunningAverages(), dict.fromkeys(("RAVE", *METHODS), 0.0)
    learners = {name: make(k) for name, make in LEARNERS.items()}
    kept: list[tuple[Any, Any]] = []
    out: dict[str, Any] = {}
    for X, y in stream:
        with clock(seconds, "RAVE"):
            averages.update(X, y)
        n = averages.n_samples_
        learners = {name: model for name, model in learners.items() if n <= LONGEST[p].get(name, n)}
        for name, model in learners.items():
            with clock(seconds, name):
                model.partial_fit(X, y)
        batch = n <= LONGEST[p]["Lasso"]
        kept = [*kept, (X, y)] if batch else []
        if n not in ns:
            continue
        found: dict[str, tuple[Any, Any]] = {}
        if batch:
            with clock(seconds, "Lasso", begin=True):
                X_kept, y_kept = (np.concatenate(part) for part in zip(*kept))
                support, predict = lasso(X_kept, y_kept, k)
            found["Lasso"] = support, predict(test[0])
        with clock(seconds, "standardize", begin=True):
            s = standardize(averages)
        for name, method in EXTRACTORS.items():
            with clock(seconds, name, begin=True):
                fitted = method(s, k=k)
            found[name] = fitted.support, fitted.predict(test[0])
        for name, model in learners.items():
            found[name] = model.get_support(indices=True), model.predict(test[0])
        out[str(n)] = {"RAVE": {"seconds": seconds["RAVE"]}} | {
            name: {
                "found": None if name == "SGD" else 100 * metrics.detection_rate(support, stream.support),
                "rmse": metrics.rmse(test[1], predicted),
                "seconds": seconds[name],
            }
            for name, (support, predicted) in found.items()
        }
    return out


def report(outcomes: Outcomes) -> list[Part]:
    titles: dict[str, tuple[str, list[str], int, str]] = {
        "found": (
            "True features found, percent: [Sun] Tables 5.1, A.1, [Slides] p. 35",
            [m for m in METHODS if m != "SGD"],
            1,
            f"k = p / 10, {outcomes.runs()} runs; published: 20 to 100.",
        ),
        "rmse": ("Test RMSE (noise 1)", list(METHODS), 3, ""),
        "seconds": (
            "Seconds: [Sun] Table 5.2, [Slides] p. 36",
            ["RAVE", *METHODS],
            3,
            "One thread: learning n rows (RAVE, SGD, SIHT, SADMM), or a model from what was kept. RAVE: the "
            "running averages, from which OLSth and all after it are read. The published times are another "
            "machine's.",
        ),
    }
    parts: list[Part] = []
    for what, (title, methods, digits, note) in titles.items():
        rows: list[list[str | Cell]] = []
        for (p, signal, n), (found, rmse) in PUBLISHED.items():
            part = outcomes.where(p=p, signal=signal)
            paper = dict(zip(METHODS, found if what == "found" else rmse)) if what != "seconds" else {}
            better = "more" if what == "found" else "less"
            if part.values(n):
                cells = [
                    part.cell(n, m, what, published=paper.get(m), digits=digits, better=better)
                    for m in methods
                ]
                rows.append([f"{p:,}, {signal:g}", f"{n:,}", *cells])
        parts.append(Table(title, ["p, signal", "n", *methods], rows, note))
    return parts
