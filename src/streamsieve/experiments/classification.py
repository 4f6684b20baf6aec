"""[Sun] Tables 5.3, 5.4, [Slides] p. 37: true features found from labels, running averages and competitors.

p = 1,000 features correlated 0.5, every tenth real, labels the signs of targets with noise 1; every method is
given k. One stream serves all n of a signal. FOFS is `OFSClassifier`, OPG `FOBOSClassifier`; OPG and RDA have
penalties l1 + l2 as published (the proportion is not), on a ladder where the paper tries 200.
"""

from __future__ import annotations

from typing import Any

from .. import metrics, simulate
from ..averages import extract
from ..averages.running import RunningAverages
from ..averages.standardize import standardize
from ._baselines import online
from ._report import Cell, Outcomes, Part, Table, clock, printed

P, K = 1_000, 100
EXTRACTORS: dict[str, Any] = {
    "OFSA": extract.ofsa,
    "OLSth": extract.olsth,
    "OLasso": extract.olasso,
    "OMCP": extract.omcp,
}
METHODS = (*online("classification", K), *EXTRACTORS)
LONGEST = {"OPG": 100_000, "RDA": 100_000}

# [Slides] p. 37: signal, n; detection rates (%), AUC and seconds in the order of METHODS, and the seconds of
# the averages.
PUBLISHED = {
    (signal, int(n)): rest
    for (signal, n), *rest in printed(
        """
        1 10000 | 10.64 10.19 10.46 10.97 38.89 30.30 34.70 41.54 |
            0.995 0.992 0.992 0.990 0.995 0.990 0.996 0.996 | .001 .001 .490 .848 .005 .001 .080 .160 .247
        1 30000 | 10.64 9.95 10.42 10.34 67.67 59.32 56.18 67.52 |
            0.994 0.992 0.992 0.989 0.998 0.996 0.997 0.998 | .003 .004 1.471 2.210 .005 .001 .083 .158 .742
        1 100000 | 10.64 9.95 10.43 11.08 94.95 93.21 86.90 94.77 |
            0.994 0.992 0.992 0.990 1.000 1.000 0.999 1.000 | .010 .015 4.900 6.118 .005 .001 .079 .159 2.478
        0.01 10000 | 13.40 10.19 10.00 10.37 19.41 15.93 22.55 23.81 |
            0.827 0.829 0.828 0.828 0.824 0.815 0.829 0.830 | .001 .001 .494 .815 .005 .001 .073 .148 .249
        0.01 30000 | 15.86 9.95 10.23 10.34 34.46 27.35 35.14 37.70 |
            0.827 0.829 0.829 0.829 0.831 0.827 0.832 0.832 | .003 .004 1.481 2.093 .005 .001 .074 .152 .743
        0.01 100000 | 17.36 9.95 10.32 10.91 64.84 56.42 61.07 64.95 |
            0.830 0.831 0.831 0.830 0.834 0.833 0.834 0.834 | .010 .015 4.935 5.827 .005 .001 .078 .161 2.472
        0.01 300000 | 17.13 9.23 10.32 10.37 91.55 88.91 88.69 91.58 |
            0.826 0.828 0.828 0.827 0.833 0.833 0.833 0.833 | .030 .044 14.81 17.31 .005 .001 .073 .164 7.446
        0.01 1000000 | 17.72 9.91 - - 99.97 99.94 99.88 99.97 |
            0.828 0.829 - - 0.834 0.834 0.834 0.834 | .100 .146 - - .005 .001 .039 .110 24.85
        """
    )
}


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    return [
        {
            "signal": signal,
            "ns": [n for s, n in PUBLISHED if s == signal and not (quick and n > 30_000)],
            "seed": r,
        }
        for r in range(runs)
        for signal in dict.fromkeys(signal for signal, _ in reversed(PUBLISHED))
    ]


def measure(signal: float, ns: list[int], seed: int) -> dict[str, Any]:
    """By n and method: percent found, test AUC and seconds; RAVE is the time of the averages."""
    design: dict[str, Any] = {"signal": signal, "task": "classification"}
    stream = simulate.correlated(max(ns), P, K, random_state=seed, **design)
    X_test, y_test = simulate.correlated(None, P, K, random_state=10_000 + seed, **design).take(5000)
    averages, seconds = RunningAverages(), dict.fromkeys(("RAVE", *METHODS), 0.0)
    learners = online("classification", K)
    out: dict[str, Any] = {}
    for X, y in stream:
        with clock(seconds, "RAVE"):
            averages.update(X, y)
        n = averages.n_samples_
        learners = {name: model for name, model in learners.items() if n <= LONGEST.get(name, n)}
        for name, model in learners.items():
            with clock(seconds, name):
                model.partial_fit(X, y, classes=(-1, 1))
        if n not in ns:
            continue
        found = {
            name: (model.get_support(indices=True), model.decision_function(X_test))
            for name, model in learners.items()
        }
        s = standardize(averages)
        for name, method in EXTRACTORS.items():
            with clock(seconds, name, begin=True):
                fitted = method(s, k=K)
            found[name] = fitted.support, fitted.predict(X_test)
        out[str(n)] = {"RAVE": {"seconds": seconds["RAVE"]}} | {
            name: {
                "found": 100 * metrics.detection_rate(support, stream.support),
                "auc": metrics.auc(y_test, scores),
                "seconds": seconds[name],
            }
            for name, (support, scores) in found.items()
        }
    return out


def report(outcomes: Outcomes) -> list[Part]:
    titles = {
        "found": (
            "True features found from labels, percent: [Sun] Table 5.3, [Slides] p. 37",
            METHODS,
            1,
            "more",
            f"p = {P:,}, k = {K}, {outcomes.runs()} runs; published: 100.",
        ),
        "auc": ("Test AUC", METHODS, 3, "more", ""),
        "seconds": (
            "Seconds: [Sun] Table 5.4",
            ("RAVE", *METHODS),
            3,
            "",
            "One thread: learning n rows (RAVE, FOFS, SOFS, OPG, RDA), or a model from the averages. Those "
            "of OPG and RDA are for all penalties together.",
        ),
    }
    parts: list[Part] = []
    for i, (what, (title, methods, digits, better, note)) in enumerate(titles.items()):
        rows: list[list[str | Cell]] = []
        for (signal, n), published in PUBLISHED.items():
            part = outcomes.where(signal=signal)
            paper = dict(zip((*METHODS, "RAVE"), published[i]))
            if part.values(n):
                cells = [
                    part.cell(n, m, what, published=paper.get(m), better=better, digits=digits)
                    for m in methods
                ]
                rows.append([f"{signal:g}", f"{n:,}", *cells])
        parts.append(Table(title, ["signal", "n", *methods], rows, note))
    return parts
