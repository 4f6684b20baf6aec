"""Budgeted learners against our plain SGD, and B-ARDA against its slow twin; one thread, medians in one run.

    python benchmarks/bench_budgeted.py [--rows 100000] [--repeats 3] [--passes 2]

Rows as in bench_learners.py: 200 Gaussian values at random places, labels from a linear model. The twin is
`tests/reference/budgeted.py`, which sorts all p scores after every row, over a few passes of dexter.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded

import time
from functools import partial

import numpy as np

from bench_learners import line, once, sparse_rows, timed
from streamsieve import BAMDClassifier, BARDAClassifier, OFSClassifier, SGDClassifier, SOFSClassifier

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from papers.data import load
from reference import budgeted as twin


def quick_twin(X, y, B, eta, alpha, delta):
    """The twin as fast as NumPy allows: the row's non-zeros only, a partition in place of the sort.

    Ties are left to the partition, so that it is the time, not the answer, that it is for.
    """
    p = X.shape[1]
    w, G, square = np.zeros(p), np.zeros(p), np.zeros(p)
    for t in range(1, X.shape[0] + 1):
        at = slice(X.indptr[t - 1], X.indptr[t])
        j, x = X.indices[at], X.data[at]
        m = x @ w[j]
        if y[t - 1] * m < 1:
            g = -2 * y[t - 1] * (1 - y[t - 1] * m) * x
            G[j] += g
            square[j] += g * g
        H = delta + np.sqrt(square)
        z = -eta * G / (alpha * eta * t + H)
        w = np.zeros(p)
        score = H * z * z
        kept = np.flatnonzero(score)  # NumPy's partition is slow where most are equal
        if len(kept) > B:
            kept = kept[np.argpartition(score[kept], -B)[-B:]]
        w[kept] = z[kept]
    return w


def learners(k):
    return {
        "BARDA, squared hinge": BARDAClassifier(k),
        "BARDA, logistic": BARDAClassifier(k, loss="logistic"),
        "BAMD, squared hinge": BAMDClassifier(k),
        "BAMD, logistic": BAMDClassifier(k, loss="logistic"),
        "OFS": OFSClassifier(k),
        "SOFS": SOFSClassifier(k),
    }


def rows_per_second(n, repeats):
    for p, target in ((10_000, 0.15), (1_000_000, 0.1)):
        X, y = sparse_rows(n, p, 200)
        runs = {"SGD, squared_hinge": SGDClassifier(alpha=1e-4, loss="squared_hinge")}
        runs["SGD, logistic"] = SGDClassifier(alpha=1e-4)
        runs |= learners(100)
        t = timed(repeats, **{name: partial(once, m, X, y) for name, m in runs.items()})
        for name in list(runs)[2:]:
            base = "SGD, logistic" if name.endswith("logistic") else "SGD, squared_hinge"
            what = f"rows/s of our SGD, CSR {n:,} x {p:,}, 200 nnz"
            line(f"{name} ({t[name] / n * 1e6:.2f} us a row)", t[base] / t[name], target, what)


def against_the_twin(passes, repeats, k=500, full=134):
    try:
        X, y = load("dexter", "train")
    except FileNotFoundError as missing:
        print(f"        dexter is not compared: {missing}")
        return
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(X.shape[0]) for _ in range(full)])
    few = order[: passes * X.shape[0]]
    rule = {"eta": 1e-4, "alpha": 1e-2, "delta": 1e-2}
    dense, labels = X.toarray()[few], y[few, None]
    start = time.perf_counter()
    w, _ = twin.barda(dense, labels, np.ones(len(few)), k, **rule)
    slow = (time.perf_counter() - start) * full / passes
    ours = BARDAClassifier(k, standardize=False, fit_intercept=False, **rule)  # as the twin is
    assert np.array_equal(once(ours, X[few], y[few]).coef_[0], w[:, 0]), "the twin disagrees"
    rows, labels, some = X[order], y[order], X[few]
    t = timed(
        repeats, ours=lambda: once(ours, rows, labels), quick=lambda: quick_twin(some, y[few], k, **rule)
    )
    quick = t["quick"] * full / passes
    for name, seconds in (("sorts", slow), ("partitions", quick)):
        what = f"the O(p) twin that {name}, dexter, {full} passes, B = {k}"
        line(f"BARDA ({t['ours']:.3f} s; twin {seconds:.1f} s)", seconds / t["ours"], 200, what)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--passes", type=int, default=2)
    args = parser.parse_args()
    print(f"numpy {np.__version__}, one thread, medians of {args.repeats}")
    against_the_twin(args.passes, args.repeats)
    rows_per_second(args.rows, args.repeats)
