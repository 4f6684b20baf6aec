"""[Sun] Tables 5.3, 5.4, [Slides] p. 37: true features found from labels, running averages and competitors.

p = 1,000 features correlated 0.5, every tenth real, labels the signs of targets with noise 1; every method is
given k. One stream serves all n of a signal. FOFS is `OFSClassifier` with a step that follows from the rows
(its own paper has rows of norm 1), OPG `FOBOSClassifier`; OPG and RDA have penalties l1 + l2 as published
(the proportion is not), on a ladder where the paper tries 200.
"""

from __future__ import annotations

from typing import Any

from streamsieve import RunningAverages, extract, metrics, simulate
from streamsieve.statistics.standardize import standardize

from ..baselines import fofs_params, online_methods
from ..published.classification import PUBLISHED
from ..report import Cell, Outcomes, Part, Table
from ..timing import timed

P, K = 1_000, 100
EXTRACTORS: dict[str, Any] = {
    "OFSA": extract.ofsa,
    "OLSth": extract.olsth,
    "OLasso": extract.olasso,
    "OMCP": extract.omcp,
}
METHODS = (*online_methods("classification", K), *EXTRACTORS)
SHORT, MORE = 30_000, 4  # rows up to which there are so many times as many runs: they take seconds
LONGEST = {"OPG": 100_000, "RDA": 100_000}


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    return [
        {
            "signal": signal,
            "ns": [n for s, n in PUBLISHED if s == signal and (n <= SHORT or (r < runs and not quick))],
            "seed": r,
        }
        for r in range(runs if quick else MORE * runs)
        for signal in dict.fromkeys(signal for signal, _ in reversed(PUBLISHED))
    ]


def measure(signal: float, ns: list[int], seed: int) -> dict[str, Any]:
    """By n and method: percent found, test AUC and seconds; RAVE is the time of the averages."""
    design: dict[str, Any] = {"signal": signal, "task": "classification"}
    stream = simulate.correlated(max(ns), P, K, random_state=seed, **design)
    X_test, y_test = simulate.correlated(None, P, K, random_state=10_000 + seed, **design).take(5000)
    averages, seconds = RunningAverages(), dict.fromkeys(("RAVE", *METHODS), 0.0)
    learners = online_methods("classification", K, fofs_params(X_test))
    out: dict[str, Any] = {}
    for X, y in stream:
        with timed(seconds, "RAVE"):
            averages.update(X, y)
        n = averages.n_samples_
        learners = {name: model for name, model in learners.items() if n <= LONGEST.get(name, n)}
        for name, model in learners.items():
            with timed(seconds, name):
                model.partial_fit(X, y, classes=(-1, 1))
        if n not in ns:
            continue
        found = {
            name: (model.get_support(indices=True), model.decision_function(X_test))
            for name, model in learners.items()
        }
        s = standardize(averages)
        for name, method in EXTRACTORS.items():
            with timed(seconds, name, reset=True):
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
            f"p = {P:,}, k = {K}, {outcomes.describe_runs(100)}",
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
        parts.append(Table(title, ["signal", "n", *methods], rows, note, contest="row"))
    return parts
