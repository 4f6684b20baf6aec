"""[Sun] Tables 4.1, 4.2, 4.4 and 5.3, columns OPG and RDA: the share of the true features that they find.

Where the paper tries 200 penalties one after the other, the ladder runs once, row by row.

On the sparse design X1, OPG stays at chance as the text describes it, far below the published 70%. After a
row its support holds the features of that row whose gradient exceeds the penalty; a row has 200, so to leave
100 the penalty must exceed most gradients, and then it holds the true features at zero too. Where the true
features are in every row and 200 others at random places ("always": see `greedy`, where SOFS leaves no other
reading) and gradients are means over 25 rows ("batches", as [Sun] has for its own methods), OPG finds about
what was published. RDA finds more than published either way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import metrics, simulate
from ..learners import FOBOSClassifier, FOBOSRegressor, RDAClassifier, RDARegressor
from ._report import Cell, Outcomes, Part, Table

K = 100
BATCH = 25
# l1 for regression and l1 + l2 for classification, as the paper says; it does not say in which proportion.
L1 = 0.9
LEARNERS: dict[str, dict[str, Any]] = {
    "regression": {"OPG": lambda: FOBOSRegressor(K), "RDA": lambda: RDARegressor(K)},
    "classification": {
        "OPG": lambda: FOBOSClassifier(K, l1_ratio=L1),
        "RDA": lambda: RDAClassifier(K, l1_ratio=L1),
    },
}
# generator, its options, published percentages of OPG and RDA, and whether it takes long
DESIGNS: dict[str, tuple[Any, dict[str, Any], tuple[float, float], bool]] = {
    "correlated, regression": (
        simulate.correlated,
        {"n": 10_000, "p": 10_000, "task": "regression"},
        (1.20, 1.25),
        True,
    ),
    "correlated, classification": (
        simulate.correlated,
        {"n": 10_000, "p": 10_000, "task": "classification"},
        (1.05, 1.50),
        True,
    ),
    "correlated, classification, p = 1,000": (
        simulate.correlated,
        {"n": 30_000, "p": 1000, "task": "classification"},
        (10.42, 10.34),
        False,
    ),
    "sparse, X1": (
        simulate.sparse,
        {"n": 100_000, "p": 10_000, "nnz": 200, "task": "classification"},
        (70.45, 83.30),
        True,
    ),
    "sparse, X1, always": (
        simulate.sparse,
        {"n": 100_000, "p": 10_000, "nnz": 200, "task": "classification", "always": True},
        (70.45, 83.30),
        True,
    ),
}


def by_batches(blocks: Iterable[tuple[Any, Any]], p: int) -> dict[str, NDArray[np.int64]]:
    """Supports of OPG and RDA, logistic loss, whose gradients are means over `BATCH` rows; eta_t = t^-1/2.

    Of an exponential grid of penalties the one with the largest support of at most K, as the paper tunes.
    """
    lams = {"OPG": np.geomspace(1e-2, 1, 20), "RDA": np.geomspace(1e-4, 1e-2, 20)}
    W = {name: np.zeros((p, 20)) for name in lams}
    G, t = np.zeros((p, 20)), 0
    for X, y in blocks:
        for i in range(0, len(y), BATCH):
            rows, labels = X[i : i + BATCH], y[i : i + BATCH, None]
            t += 1
            eta = t**-0.5
            for name, lam in lams.items():
                g = rows.T @ (-labels / (1 + np.exp(labels * (rows @ W[name])))) / len(labels)
                if name == "OPG":
                    v, by, shrink = W[name] - eta * g, eta * L1 * lam, 1 + eta * (1 - L1) * lam
                else:
                    G += g
                    v, by, shrink = -G, t * L1 * lam, 1 / eta + t * (1 - L1) * lam
                W[name] = np.copysign(np.maximum(np.abs(v) - by, 0) / shrink, v)
    out = {}
    for name, w in W.items():
        sizes = np.count_nonzero(w, axis=0)
        out[name] = np.flatnonzero(w[:, np.argmax(np.where(sizes <= K, sizes, -1))])
    return out


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    designs = [name for name, d in DESIGNS.items() if not (quick and d[-1])]
    return [{"design": name, "seed": seed} for seed in range(runs) for name in designs]


def measure(design: str, seed: int) -> dict[str, Any]:
    """Percentage found and number selected by every learner on one stream, all in one pass over its rows."""
    make, options, *_ = DESIGNS[design]
    stream = make(**options, k=K, random_state=seed)
    classify = options["task"] == "classification"
    models = {name: new() for name, new in LEARNERS[options["task"]].items()}
    for X, y in stream:
        for model in models.values():
            model.partial_fit(X, y, **({"classes": [-1, 1]} if classify else {}))
    supports = {"rows": {name: model.get_support(indices=True) for name, model in models.items()}}
    if "nnz" in options:
        supports["batches"] = by_batches(stream, options["p"])
    return {
        how: {
            name: {"found": 100 * metrics.detection_rate(s, stream.support), "selected": len(s)}
            for name, s in found.items()
        }
        for how, found in supports.items()
    }


def report(outcomes: Outcomes) -> list[Part]:
    rows: list[list[str | Cell]] = []
    for name, (_, options, published, _) in DESIGNS.items():
        part = outcomes.where(design=name)
        for method, paper in zip(("OPG", "RDA"), published):
            if part:
                cells = [part.cell("rows", method, "found", published=paper)]
                cells.append(part.cell("rows", method, "selected"))
                batches = part.cell("batches", method, "found", published=paper)
                rows.append(
                    [name, method, *cells, batches if batches.values else "-", f"{100 * K / options['p']:g}"]
                )
    note = (
        f"k = {K}, p = 10,000 unless said, {outcomes.runs()} runs; published: 20 runs. always: the true "
        f"features are in every row. batches: gradients are means over {BATCH} rows, plain NumPy."
    )
    columns = ["design", "method", "found %", "selected", "found %, batches", "chance %"]
    return [Table("True features found, online l1: [Sun] Tables 4.1, 4.2, 4.4, 5.3", columns, rows, note)]
