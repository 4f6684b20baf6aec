"""Regularised learners against our plain SGD, and a ladder of 20 penalties against one; medians in one run.

    python benchmarks/bench_regularised.py [--rows 20000] [--repeats 5]

CSR rows with 200 values over 10,000 features, logistic loss; one thread unless a line says otherwise.
"""

import argparse
import os
from functools import partial

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded

import numpy as np

import streamsieve
from bench_learners import line, once, sparse_rows, timed

NAMES = ("FOBOS", "RDA", "AdaFOBOS", "L1ARDA", "TruncatedGradient")


def make(name, *args, **options):
    return getattr(streamsieve, f"{name}Classifier")(*args, **options)


def check(X, y):
    """A rung of a ladder must be the run at its penalty, or the ratios below compare different things."""
    one_pass = {"max_iter": 1, "refit": False}
    for name in NAMES:
        ladder = make(name, 100, **one_pass).fit(X[:15], y[:15])  # the ladder first moves after row 16
        for rung in (0, 10, 19):
            alone = make(name, alpha=ladder.penalty_[rung], **one_pass).fit(X[:15], y[:15])
            weights = ladder.method_.columns()[:, rung], alone.method_.columns()[:, 0]
            np.testing.assert_allclose(*weights, rtol=1e-9, atol=1e-12)


def main(n, repeats):
    X, y = sparse_rows(n, 10_000, 200)
    check(X, y)
    runs = {"SGD": streamsieve.SGDClassifier()}
    for name in NAMES:
        runs[name] = make(name, alpha=1e-4)
        runs[f"{name}, k=100"] = make(name, 100)
    t = timed(repeats, **{name: partial(once, m, X, y) for name, m in runs.items()})
    for name in NAMES:
        line(name, t["SGD"] / t[name], 0.4, f"rows/s of our SGD, CSR {n:,} x 10,000, 200 nnz")
    for name in NAMES:
        cost = t[f"{name}, k=100"] / t[name]
        verdict = "ok" if cost <= 8 else "ABOVE"
        print(f"{cost:6.2f}x the time of one penalty for a ladder of 20 (at most 8x, {verdict})  {name}")
    two = make("FOBOS", 100, n_jobs=2)
    t = timed(repeats, one=lambda: once(runs["FOBOS, k=100"], X, y), two=lambda: once(two, X, y))
    print(f"{t['one'] / t['two']:6.2f}x the speed of one thread on two, a ladder of 20  FOBOS")
    one = sparse_rows(2000, 10_000, 200, seed=1)
    model = make("SADMM", alpha=1e-4)
    t = timed(3, SGD=lambda: once(runs["SGD"], *one), SADMM=lambda: once(model, *one))
    print(f"{t['SGD'] / t['SADMM']:6.3f}x rows/s of our SGD, 2,000 rows (no target)  SADMM")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print(f"numpy {np.__version__}, medians of {args.repeats}")
    main(args.rows, args.repeats)
