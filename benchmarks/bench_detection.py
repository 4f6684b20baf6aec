"""Which share of the true features is found? Run: python benchmarks/bench_detection.py

The design of [Sun] 4.1 and 5.1: p = 1000, x = z 1 + u (correlations of 1/2), every tenth feature true,
y = x'b + e with unit noise. Beside the paper's weights, all positive, the same with signs drawn at random.
Baseline: the paper's Table A.1 (OLSth, OFSA).
"""

from __future__ import annotations

import argparse

import numpy as np

from streamsieve.averages.extract.ofsa import ofsa
from streamsieve.averages.extract.olsth import olsth
from streamsieve.averages.standardize import Standardized

CASES = {  # (n, signal): Table A.1, where legible
    (1_000, 1.0): (77.40, 99.81),
    (3_000, 1.0): (100, 100),
    (3_000, 0.1): (None, None),
    (100_000, 0.01): (80.55, 85.14),
}


def averages(
    n: int, signal: float, seed: int, *, random_signs: bool, p: int = 1000, k: int = 100
) -> tuple[Standardized, np.ndarray]:
    rng = np.random.default_rng(seed)
    true = np.arange(0, p, p // k)
    b = np.zeros(p)
    b[true] = signal * (rng.choice([-1, 1], k) if random_signs else 1)
    S, total = np.zeros((p + 1, p + 1)), np.zeros(p + 1)
    for start in range(0, n, 5000):  # by blocks: any n in the memory of one
        rows = min(5000, n - start)
        X = rng.normal(size=(rows, p)) + rng.normal(size=(rows, 1))
        Z = np.column_stack([X, X @ b + rng.normal(size=rows)])
        S += Z.T @ Z
        total += Z.sum(0)
    mean = total / n
    C = S / n - np.outer(mean, mean)
    scale = np.sqrt(C.diagonal())
    C /= np.outer(scale, scale)
    s = Standardized(
        np.ascontiguousarray(C[:p, :p]), C[:p, p:].copy(), np.ones(p, bool), mean[:p], scale[:p], mean[p:],
        scale[p:], float(n),
    )  # fmt: skip
    return s, true


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=2000)
    parser.add_argument("--n", type=int, default=None, help="this n alone")
    args = parser.parse_args()
    print(f"average of {args.runs} runs, seeds from {args.seed}")
    print(f"{'n':>7} {'signal':>6} {'signs':>8} {'OLSth %':>8} {'OFSA %':>8}   Table A.1")
    for (n, signal), paper in CASES.items():
        if args.n not in (None, n):
            continue
        for random_signs in (False, True):
            found = []
            for run in range(args.runs):
                s, true = averages(n, signal, args.seed + run, random_signs=random_signs)
                found.append([100 * np.isin(true, f(s, 100).support).mean() for f in (olsth, ofsa)])
            a, b = np.mean(found, axis=0)
            known = "" if random_signs or paper[0] is None else f"{paper[0]}, {paper[1]}"
            print(
                f"{n:7d} {signal:6} {'random' if random_signs else '+':>8} {a:8.2f} {b:8.2f}   {known}",
                flush=True,
            )


if __name__ == "__main__":
    main()
