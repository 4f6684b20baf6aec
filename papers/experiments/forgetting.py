"""Adaptive forgetting compared with fixed half-lives: four kinds of drift.

y = x'b_t + e, p = 10 features, deviation 1 of the noise, 12,000 rows. b_t is constant; is a random walk
with steps of 0.003; moves from one vector to another between 30 and 70 % of the rows; or jumps three times.
Least squares on `AveragesBank` and on `RunningAverages` with each half-life of the bank; the error is that of
the prediction of the next 100 rows without their noise, (x'(b_t - b) - a)^2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from streamsieve import AveragesBank, RunningAverages, extract
from streamsieve.core.rows import Array
from streamsieve.statistics.bank import HALF_LIVES

from ..report import Outcomes, Part, Table

ROWS, FEATURES, STEP, FIRST = 12_000, 10, 100, 200
KINDS = ("none", "slow", "gradual", "abrupt")
BANKS = {"bank": True, "bank without resets": False}


def coefficients(kind: str, rng: np.random.Generator) -> Array:
    """b_t of every row."""
    b = np.tile(rng.normal(size=FEATURES), (ROWS, 1))
    if kind == "slow":
        b += 0.003 * rng.normal(size=b.shape).cumsum(axis=0)
    elif kind == "gradual":
        share = np.clip((np.arange(ROWS) / ROWS - 0.3) / 0.4, 0, 1)[:, None]
        b = (1 - share) * b + share * rng.normal(size=FEATURES)
    elif kind == "abrupt":
        for at in range(1, 4):
            b[at * ROWS // 4 :] = rng.normal(size=FEATURES)
    return b


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    return [{"kind": kind, "seed": seed} for seed in range(1 if quick else runs) for kind in KINDS]


def measure(kind: str, seed: int) -> dict[str, Any]:
    """By half-life, and of the bank with and without resets: mean squared error; the rows of its resets."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    b = coefficients(kind, rng)
    X = rng.normal(size=b.shape)
    y = (X * b).sum(axis=1) + rng.normal(size=ROWS)
    learners: dict[str, Any] = {
        f"{h:g}": RunningAverages(half_life=None if math.isinf(h) else h) for h in HALF_LIVES
    }
    learners |= {name: AveragesBank(reset=reset) for name, reset in BANKS.items()}
    errors: dict[str, list[float]] = {name: [] for name in learners}
    for at in range(0, ROWS, STEP):
        rows = slice(at, at + STEP)
        for name, averages in learners.items():
            if at >= FIRST:
                model = extract.ols(averages.total() if name in BANKS else averages)
                away = (X[rows] * (b[rows] - model.coef)).sum(axis=1) - model.intercept
                errors[name].append(float((away**2).mean()))
            averages.update(X[rows], y[rows])
    return {**{name: float(np.mean(e)) for name, e in errors.items()}, "drift": learners["bank"].drift_}


def report(outcomes: Outcomes) -> list[Part]:
    rows = []
    for kind in KINDS:
        part = outcomes.where(kind=kind)
        if not part:
            continue
        fixed = {f"{h:g}": part.cell(f"{h:g}", better="", digits=4) for h in HALF_LIVES}
        best = min(fixed, key=lambda name: fixed[name].mean)
        banks = [part.cell(name, better="", digits=4) for name in BANKS]
        rows.append(
            [
                kind,
                f"{fixed[best]} (half-life {best})",
                str(fixed["inf"]),
                *map(str, banks),
                *(f"{bank.mean / fixed[best].mean:.2f}" for bank in banks),
                f"{np.mean([len(found) for found in part.values('drift')]):.1f}",
            ]
        )
    head = ["drift", "best fixed in hindsight", "all rows", *BANKS]
    head += ["bank / best", "without resets / best", "resets"]
    note = (
        f"Mean squared error of predictions beyond the noise, p = {FEATURES}, {ROWS:,} rows, "
        f"{outcomes.runs()} runs; ± is the standard error over runs."
    )
    return [Table("Adaptive forgetting beside the best fixed half-life", head, rows, note)]
