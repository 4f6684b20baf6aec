"""Stabilized truncated SGD: paths on threads, and one path against our plain SGD with the same loss.

    python benchmarks/bench_stabilized.py [--rows 100000] [--repeats 5]

Data as in bench_learners.py: Gaussian values at random places, labels from a linear model. Medians.
"""

import argparse
import os
import time

import numpy as np

from bench_learners import line, sparse_rows, timed

del os.environ["OMP_NUM_THREADS"]  # which bench_learners sets: here threads are the question

from streamsieve import SGDClassifier, StabilizedSGDClassifier


def one_path(n, repeats):
    for p in (10_000, 1_000_000):
        X, y = sparse_rows(n, p, 200)
        for loss in ("hinge", "logistic"):
            ours = StabilizedSGDClassifier(loss=loss, n_paths=1, max_iter=1, n_jobs=1)
            t = timed(repeats, sgd=lambda: SGDClassifier(loss=loss).fit(X, y), ours=lambda: ours.fit(X, y))  # noqa: B023
            where = f"rows/s of our SGD, CSR {n:,} x {p:,}, 200 nnz"
            line(f"one path, {loss} ({ours.n_stable_} stable)", t["sgd"] / t["ours"], 0.3, where)


def two_threads(n, repeats):
    """By the clock on the wall: processor time is the sum over the threads. Needs two processors at rest."""
    X, y = sparse_rows(n, 10_000, 200)
    for paths in (4, 16):
        for loss in ("hinge", "logistic"):
            models = {
                k: StabilizedSGDClassifier(loss=loss, n_paths=paths, max_iter=1, n_jobs=k) for k in (1, 2)
            }
            runs = {str(k): (lambda m=m: m.fit(X, y)) for k, m in models.items()}
            t = timed(repeats, time.perf_counter, **runs)
            assert np.array_equal(models[1].coef_, models[2].coef_)
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
