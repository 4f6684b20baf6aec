"""[Sun] Tables 5.3, 5.4, [Slides] p. 37: true features found from labels, running averages and competitors.

p = 1,000 features with correlation 0.5, every tenth is true; labels are the signs of targets with noise 1;
every method is given k. Each signal has one stream. FOFS is `OFSClassifier` with a step derived from the
rows (its own paper has rows of norm 1), OPG is `FOBOSClassifier`. OPG and RDA have l1 + l2 penalties as
published (in a proportion that is not) on a ladder, where the paper tries 200.
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


def methods(ns: list[int], **_: Any) -> list[str]:
    """What is compared on a stream; RAVE is the time of the averages."""
    return ["RAVE", *(name for name in METHODS if min(ns) <= LONGEST.get(name, min(ns)))]


def measure(methods: list[str], signal: float, ns: list[int], seed: int) -> dict[str, Any]:
    """By method and n: percent found, test AUC and seconds."""
    design: dict[str, Any] = {"signal": signal, "task": "classification"}
    stream = simulate.correlated(max(ns), P, K, random_state=seed, **design)
    X_test, y_test = simulate.correlated(None, P, K, random_state=10_000 + seed, **design).take(5000)
    averages, seconds = RunningAverages(), dict.fromkeys(("RAVE", *methods), 0.0)
    with_averages = any(name == "RAVE" or name in EXTRACTORS for name in methods)
    competitors = online_methods("classification", K, fofs_params(X_test))
    learners = {name: model for name, model in competitors.items() if name in methods}
    out: dict[str, Any] = {name: {} for name in methods}
    n = 0
    for X, y in stream:
        n += len(y)
        if with_averages:
            with timed(seconds, "RAVE"):
                averages.update(X, y)
        current = [name for name in methods if n <= LONGEST.get(name, n)]
        for name in (name for name in current if name in learners):
            with timed(seconds, name):
                learners[name].partial_fit(X, y, classes=(-1, 1))
        if n not in ns:
            continue
        if with_averages:
            s = standardize(averages)
        for name in current:
            if name in learners:
                model = learners[name]
                support, scores = model.get_support(indices=True), model.decision_function(X_test)
            elif name in EXTRACTORS:
                with timed(seconds, name, reset=True):
                    fitted = EXTRACTORS[name](s, k=K)
                support, scores = fitted.support, fitted.predict(X_test)
            out[name][str(n)] = {"seconds": seconds[name]}
            if name != "RAVE":
                out[name][str(n)]["found"] = 100 * metrics.detection_rate(support, stream.support)
                out[name][str(n)]["auc"] = metrics.auc(y_test, scores)
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
            cells = [
                part.cell(m, n, what, published=paper.get(m), better=better, digits=digits) for m in methods
            ]
            if any(cell.runs for cell in cells):
                rows.append([f"{signal:g}", f"{n:,}", *cells])
        parts.append(Table(title, ["signal", "n", *methods], rows, note, contest="row"))
    return parts
