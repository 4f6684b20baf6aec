"""[Sun] Table 4.4, X1: possible origins of the competitors' numbers, which the text does not explain.

Three departures from the text (`sfsa` follows the text, with all methods):

- "read": FOFS and SOFS without truncation; the k largest |w| are selected at the end;
- "always": every row has the true features, and 200 others ("noise" in Table 4.4) at random places. In the
  text all places are random: every feature is in one row of fifty with values of the same size, its variance
  does not depend on its weight, and SOFS, which selects by variance, is at chance for any gamma;
- "batches": gradients are means over 25 rows, as for [Sun]'s own methods, in plain NumPy, with the penalty
  tuned as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsieve import OFSClassifier, SOFSClassifier, metrics, simulate

from ..baselines import L1, PLAIN, SPARSE_FOFS, online_methods
from ..published.sfsa import SPARSE
from ..report import Cell, Outcomes, Part, Table
from ..tuning import Params, largest_model
from .sfsa import BATCH, METHODS, ROWS

P, K, NNZ = 10_000, 100, 200  # X1
PUBLISHED = {
    method: (found, auc)
    for method, found, auc in zip(METHODS["classification"], *SPARSE[P, K, NNZ])
    if method in ("FOFS", "SOFS", "OPG", "RDA")
}
FOFS_PARAMS: dict[bool, Params] = {
    False: SPARSE_FOFS,
    True: {"eta": 1e-3, "alpha": 1e-2},
}  # the best of a grid each
HOW = ("as given", "read", "batches")
Array = NDArray[np.float64]


def batch_weights(blocks: Iterable[tuple[Any, Any]], p: int) -> dict[str, Array]:
    """Weights by mean gradients of `BATCH` rows: FOFS, and OPG and RDA with logistic loss, eta_t = t^-1/2."""
    lams = {"OPG": np.geomspace(1e-2, 1, 20), "RDA": np.geomspace(1e-4, 1e-2, 20)}
    W = {name: np.zeros((p, 20)) for name in lams} | {"FOFS": np.zeros((p, 1))}
    G, t = np.zeros((p, 20)), 0
    for X, y in blocks:
        for i in range(0, len(y), BATCH):
            rows, labels = X[i : i + BATCH], y[i : i + BATCH, None]
            t += 1
            eta = t**-0.5
            mean: Callable[[Array], Array] = lambda slopes: rows.T @ slopes / len(labels)  # noqa: B023, E731
            _ofs_step(W["FOFS"][:, 0], mean(labels * (labels * (rows @ W["FOFS"]) <= 1))[:, 0])
            for name, lam in lams.items():
                g = mean(-labels / (1 + np.exp(labels * (rows @ W[name]))))
                if name == "OPG":
                    v, by, shrink = W[name] - eta * g, eta * L1 * lam, 1 + eta * (1 - L1) * lam
                else:
                    G += g
                    v, by, shrink = -G, t * L1 * lam, 1 / eta + t * (1 - L1) * lam
                W[name] = np.copysign(np.maximum(np.abs(v) - by, 0) / shrink, v)
    out = {"FOFS": W["FOFS"][:, 0]}
    for name in lams:
        sizes = np.count_nonzero(W[name], axis=0)
        out[name] = W[name][:, largest_model((({"at": i}, int(s)) for i, s in enumerate(sizes)), K)["at"]]
    return out


def _ofs_step(w: Array, step: Array, eta: float = 0.01, lam: float = 1e-4) -> None:
    """A step of FOFS in place: shrink, move, back into the ball, keep the K largest."""
    w *= 1 - lam * eta
    if step.any():
        w += eta * step
        w *= min(1.0, 1 / (np.sqrt(lam) * np.linalg.norm(w)))
        w[np.argpartition(-np.abs(w), K)[K:]] = 0


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    n = ROWS // 10 if quick else ROWS
    return [{"always": a, "n": n, "seed": seed} for seed in range(runs) for a in (False, True)]


def measure(always: bool, n: int, seed: int) -> dict[str, Any]:
    """By reading and method: percent found and test AUC."""
    stream = simulate.sparse(n, P, K, NNZ, always=always, random_state=seed)
    budgeted = online_methods("classification", K, FOFS_PARAMS[always])
    untruncated: dict[str, Any] = {
        "FOFS": OFSClassifier(P, **PLAIN, **FOFS_PARAMS[always]),
        "SOFS": SOFSClassifier(P, gamma=1.0, **PLAIN),
    }
    for X, y in stream:
        for model in (*budgeted.values(), *untruncated.values()):
            model.partial_fit(X, y, classes=(-1, 1))
    weights = {
        "as given": {name: model.coef_[0] for name, model in budgeted.items()},
        "read": {name: model.coef_[0] for name, model in untruncated.items()},
        "batches": batch_weights(stream, P),
    }
    X, y = stream.take(5000, start=n)
    out: dict[str, Any] = {}
    for how, by_method in weights.items():
        for name, w in by_method.items():
            largest = np.sort(np.argsort(-np.abs(w), kind="stable")[:K])
            rate = metrics.detection_rate(largest[w[largest] != 0], stream.support)
            area = metrics.auc(y, X[:, largest] @ w[largest])
            out.setdefault(how, {})[name] = {"found": 100 * rate, "auc": area}
    return out


def report(outcomes: Outcomes) -> list[Part]:
    rows: list[list[str | Cell]] = []
    for always, design in ((False, "as in the text"), (True, "always")):
        part = outcomes.where(always=always)
        for how in HOW if part else ():
            for label, name, i, digits in (("found %", "found", 0, 1), ("test AUC", "auc", 1, 3)):
                cells = [
                    part.cell(how, m, name, published=x[i], digits=digits) if part.values(how, m) else "-"
                    for m, x in PUBLISHED.items()
                ]
                rows.append([design, how, label, *cells])
    note = (
        f"p = {P:,}, k = {K}, {NNZ} values a row, n = {max(job['n'] for job, _ in outcomes):,}, "
        f"{outcomes.runs()} runs; published: 20. always: the true features are in every row. read: no "
        f"truncation, the k largest |w| at the end. batches: mean gradients of {BATCH} rows."
    )
    title = "Readings of X1: [Sun] Table 4.4"
    return [Table(title, ["design", "method", "", *PUBLISHED], rows, note)]
