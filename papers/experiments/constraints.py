"""Constraints: the distance of solutions from their optimality conditions.

Penalised solutions at a tenth of the penalty that empties the model: with bounds and penalty factors drawn at
random, and with groups of one to four features. The violation is the largest derivative of the objective that
is neither zero nor held by a bound or by the penalty at zero, in standardised units, from the correlations
alone. p = 40 features of correlation 0.5, 400 rows. Bounded least squares beside `scipy.optimize.lsq_linear`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve import RunningAverages, extract
from streamsieve.core.rows import Array
from streamsieve.methods.averages.oadaptivelasso import OAdaptiveLasso
from streamsieve.methods.averages.oelasticnet import OElasticNet
from streamsieve.methods.averages.olasso import OLasso
from streamsieve.methods.averages.omcp import OMCP
from streamsieve.methods.averages.oscad import OSCAD
from streamsieve.methods.averages.penalized import Walk, walk_to_alpha
from streamsieve.statistics.linear_model import as_standardized
from streamsieve.statistics.penalties import Penalty
from streamsieve.statistics.standardize import Standardized

from ..report import Outcomes, Part, Table

ROWS, FEATURES, SHARE = 400, 40, 0.1
METHODS = {
    "lasso": OLasso,
    "elasticnet": OElasticNet,
    "adaptivelasso": OAdaptiveLasso,
    "mcp": OMCP,
    "scad": OSCAD,
}


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    return [{"seed": seed} for seed in range(1 if quick else max(runs, 20))]


def measure(seed: int) -> dict[str, Any]:
    """By penalty, the violations with bounds and with groups; of least squares, the distance to SciPy's."""
    from scipy.optimize import lsq_linear

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, FEATURES)) + rng.normal(size=(ROWS, 1))
    y = X @ (rng.normal(size=FEATURES) * (rng.random(FEATURES) < 0.3)) + rng.normal(size=ROWS)
    averages = RunningAverages().update(X, y)
    ends = rng.choice([0.0, 0.1, 1.0, np.inf], (FEATURES, 2))
    bounds = np.c_[-ends[:, 0], ends[:, 1]]
    groups = np.split(np.arange(FEATURES), np.cumsum(rng.integers(1, 5, 10)))
    constraints: dict[str, Any] = {
        "bounds": {"bounds": bounds, "penalty_factor": rng.choice([0.0, 0.5, 1.0, 2.0], FEATURES)},
        "groups": {"groups": [at for at in groups if len(at)]},
    }
    out: dict[str, Any] = {}
    for name, method in METHODS.items():
        out[name] = {}
        for kind, given in constraints.items():
            s = as_standardized(averages, constraints=given)
            penalty = method().penalties(s)[0][0]
            walk = Walk(s, [penalty])
            alpha = SHARE * walk.alpha_max()
            walk_to_alpha(walk, np.array([alpha]))
            check = bounded_violation if kind == "bounds" else group_violation
            out[name][kind] = check(s, penalty, alpha, walk.solvers[0].b)
    ours = extract.ols(averages, bounds=bounds).coef
    inside = ends.sum(axis=1) > 0  # SciPy takes no empty interval
    theirs = np.zeros(FEATURES)
    Z = (X - X.mean(0))[:, inside]
    theirs[inside] = lsq_linear(Z, y - y.mean(), bounds[inside].T, method="bvls", tol=1e-14).x
    out["least squares"] = {"bounds": float(np.abs(ours - theirs).max())}
    return out


def bounded_violation(s: Standardized, penalty: Penalty, alpha: float, b: Array) -> float:
    """Of the conditions of each weight alone."""
    assert s.box is not None
    at = np.flatnonzero(s.usable)
    lower, upper = s.box[0][at, 0], s.box[1][at, 0]
    gradient, b = s.r[at, 0] - s.R[at] @ b, b[at]
    limit = alpha * penalty.threshold(np.ones(len(at)), at)
    a, c = penalty.pieces(np.where(b == 0, 1.0, b), alpha, at)
    slope = gradient - a - c * b
    slope = np.where(b == upper, np.minimum(slope, 0), np.where(b == lower, np.maximum(slope, 0), slope))
    up = np.where(upper > 0, gradient - limit, 0.0)
    down = np.where(lower < 0, -gradient - limit, 0.0)
    return float(np.where(b == 0, np.maximum(np.maximum(up, down), 0.0), np.abs(slope)).max())


def group_violation(s: Standardized, penalty: Penalty, alpha: float, b: Array) -> float:
    """Of the conditions of each group."""
    assert s.group is not None
    gradient, worst = s.r[:, 0] - s.R @ b, 0.0
    for g in np.unique(s.group[s.usable]):
        at = np.flatnonzero((s.group == g) & s.usable)
        size, head = float(np.linalg.norm(b[at])), at[:1]
        if size == 0:
            limit = alpha * float(np.ravel(penalty.threshold(np.ones(1), head))[0])
            worst = max(worst, float(np.linalg.norm(gradient[at])) - limit)
        else:
            a, c = penalty.pieces(np.array([size]), alpha, head)
            worst = max(worst, float(np.linalg.norm(gradient[at] - (a + c * size) * b[at] / size)))
    return worst


def report(outcomes: Outcomes) -> list[Part]:
    rows = []
    for name in (*METHODS, "least squares"):
        found = [outcomes.values(name, kind) for kind in ("bounds", "groups")]
        rows.append([name, *(f"{max(values):.1e}" if values else "-" for values in found)])
    note = (
        f"Largest violation over {outcomes.runs()} runs, in standardised units; of least squares, the "
        "largest difference of a weight to that of SciPy."
    )
    head = ["penalty", "bounds and factors", "groups"]
    return [Table("Violation of the optimality conditions", head, rows, note)]
