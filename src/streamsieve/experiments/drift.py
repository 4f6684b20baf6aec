"""[Sun] 5.4, Table 5.5: coefficients that drift, followed by forgetting.

p = 100, k = 10, 1,000 rows a time step; the paper's alpha = 0.01 is per step: 1 - 0.99^(1/1000) per row.
"""

from __future__ import annotations

import numpy as np

from .. import metrics, simulate
from ..averages.extract import ofsa
from ..averages.running import RunningAverages
from . import Progress, Result

PUBLISHED = {"with adaptation": 1.028, "without": 2.280}


def one_run(steps: int, seed: int, progress: Progress, base: int, total: int) -> dict[str, float]:
    """Test-then-train RMSE over the last 300 time steps, of OFSA read before every step."""
    stream = simulate.drifting(steps * 1000, block_size=1000, random_state=seed)
    kept = {"with adaptation": RunningAverages(alpha=1 - 0.99 ** (1 / 1000)), "without": RunningAverages()}
    errors: dict[str, list[float]] = {name: [] for name in kept}
    for step, (X, y) in enumerate(stream):
        if step % 20 == 0:
            progress(f"time step {step}", base + step, total)
        for name, averages in kept.items():
            if step >= steps - 300:
                errors[name].append(metrics.rmse(y, ofsa(averages, k=10).predict(X)))
            averages.update(X, y)
    return {name: float(np.sqrt(np.mean(np.square(e)))) for name, e in errors.items()}


def run(runs: int, quick: bool, progress: Progress) -> Result:
    steps = 1000 if quick else 2000
    results = [one_run(steps, seed, progress, seed * steps, runs * steps) for seed in range(runs)]
    progress("done", runs * steps, runs * steps)
    rows = [
        [name, f"{np.mean([r[name] for r in results]):.3f}", f"{PUBLISHED[name]:.3f}"] for name in PUBLISHED
    ]
    note = f"{steps} steps of 1,000 rows, RMSE on each of the last 300 before it is learned, {runs} runs."
    return Result("Drifting coefficients", ["averages", "RMSE", "published"], rows, note)
