"""Stabilized truncated SGD: paths on threads, and one path against our plain SGD with the same loss.

    python benchmarks/bench_stabilized.py [--rows 100000] [--repeats 5]

Data as in bench_learners.py: Gaussian values at random places, labels from a linear model. Medians.
"""

import argparse
import os
import time
from functools import partial

import numpy as np

from bench_learners import line, once, sparse_rows, timed

del os.environ["OMP_NUM_THREADS"]  # which bench_learners sets: here threads are the question

from streamsieve import SGDClassifier, StabilizedSGDClassifier


def one_path(n, repeats):
    for p in (10_000, 1_000_000):
        X, y = sparse_rows(n, p, 200)
        for loss in ("hinge", "logistic"):
            models = {
                "SGD": SGDClassifier(loss=loss),
                "ours": StabilizedSGDClassifier(loss=loss, n_paths=1, n_jobs=1),
            }
            stable = once(models["ours"], X, y).n_stable_
            t = timed(repeats, **{name: partial(once, m, X, y) for name, m in models.items()})
            where = f"rows/s of our SGD, CSR {n:,} x {p:,}, 200 nnz"
            target = 0.3 if p == 10_000 else 0.2
            line(f"one path, {loss} ({stable} stable)", t["SGD"] / t["ours"], target, where)


def two_threads(n, repeats):
    """By the clock on the wall: processor time is the sum over the threads. Needs two processors at rest."""
    X, y = sparse_rows(n, 10_000, 200)
    for paths in (4, 16):
        for loss in ("hinge", "logistic"):
            models = {k: StabilizedSGDClassifier(loss=loss, n_paths=paths, n_jobs=k) for k in (1, 2)}
            runs = {str(k): partial(once, m, X, y) for k, m in models.items()}
            t = timed(repeats, time.perf_counter, **runs)
            assert np.array_equal(runs["1"]().coef_, runs["2"]().coef_)
            what = f"faster on 2 threads ({t['2'] / t['1']:.2f} of the time)"
            line(f"{paths} paths, {loss}", t["1"] / t["2"], 1 / 0.6, what)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print(f"numpy {np.__version__}, {os.cpu_count()} processors, medians of {args.repeats}")
    one_path(args.rows, args.repeats)
    two_threads(args.rows, args.repeats)
