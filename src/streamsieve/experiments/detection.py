"""[Sun] Tables 5.1 and A.1, [Slides] p. 35: which share of the true features is found.

p = 1,000 features correlated 0.5, every tenth of them real (k = 100), noise 1; every method is given k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import metrics, simulate
from ..averages import extract
from ..averages.running import RunningAverages
from ..averages.standardize import standardize
from . import Progress, Result

METHODS: dict[str, Any] = {
    "OLSth": extract.olsth,
    "OFSA": extract.ofsa,
    "OLasso": extract.olasso,
    "OElasticNet": extract.oelasticnet,
    "OAdaptiveLasso": extract.oadaptivelasso,
    "OMCP": extract.omcp,
}
# Published percentages, by (signal, n) in the order of METHODS; OLasso was not run there.
PUBLISHED = {
    (1.0, 1_000): (77.40, 99.96, None, 32.12, 81.05, 91.27),
    (1.0, 3_000): (100, 100, None, 45.19, 100, 99.93),
    (0.1, 3_000): (95.57, 98.68, None, 44.11, 95.77, 95.17),
    (0.01, 100_000): (80.55, 85.19, None, 81.80, 80.84, 85.03),
}
P, K = 1000, 100


def one_run(signal: float, n: int, seed: int) -> dict[str, tuple[float, float]]:
    """Detection rate and test RMSE of every method on one stream."""
    stream = simulate.correlated(n, P, K, signal=signal, random_state=seed)
    X, y = simulate.correlated(None, P, K, signal=signal, random_state=10_000 + seed).take(5000)
    averages = RunningAverages()
    for block in stream:
        averages.update(*block)
    s = standardize(averages)
    out = {}
    for name, method in METHODS.items():
        model = method(s, k=K)
        rate = metrics.detection_rate(model.support, stream.support)
        out[name] = 100 * rate, metrics.rmse(y, model.predict(X))
    return out


def run(runs: int, quick: bool, progress: Progress) -> Result:
    settings = [s for s in PUBLISHED if not quick or s[1] < 100_000]
    rows = []
    for i, (signal, n) in enumerate(settings):
        results = []
        for r in range(runs):
            progress(f"signal {signal:g}, n = {n:,}", i * runs + r, len(settings) * runs)
            results.append(one_run(signal, n, seed=1000 * i + r))
        rates = {m: np.mean([x[m][0] for x in results]) for m in METHODS}
        errors = {m: np.mean([x[m][1] for x in results]) for m in METHODS}
        published = PUBLISHED[signal, n]
        rows += [
            [f"{signal:g}", f"{n:,}", "found %", *(f"{rates[m]:.1f}" for m in METHODS)],
            ["", "", "published %", *("-" if x is None else f"{x:.1f}" for x in published)],
            ["", "", "test RMSE", *(f"{errors[m]:.3f}" for m in METHODS)],
        ]
    progress("done", len(settings) * runs, len(settings) * runs)
    note = f"p = {P}, k = {K}, correlation 0.5, average of {runs} runs; published: [Slides] p. 35, 100 runs."
    return Result("True features found, running averages", ["signal", "n", "", *METHODS], rows, note)
