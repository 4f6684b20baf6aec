"""What does a row cost OLST, learned and read, beside one symmetric rank-one update and a k x k solve?

    python benchmarks/bench_olst.py

One thread for both. Prints multiples of the baseline (less is better), medians of repeats that take turns,
after checking that the model is that of the explicit computation.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import sys
import time

import numpy as np
import scipy
from numpy.testing import assert_allclose
from scipy.linalg import blas, cho_factor, cho_solve
from threadpoolctl import threadpool_info

from streamsieve import OLSTRegressor, simulate

P, K, ROWS = 1000, 100, 256


def seconds(job):
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def check(model, X, y):
    """The first step on the rows so far, O(p^3)."""
    state = model.method_.state
    Xc = X - X.mean(axis=0)
    explicit = np.linalg.solve(Xc.T @ Xc + np.diag(state.prior), Xc.T @ (y - y.mean()))
    assert_allclose(state.ridge_weights()[:, 0], explicit, rtol=1e-7, atol=1e-9)


def main():
    n = 4 * P
    X, y = simulate.correlated(n + 8 * ROWS, P, K, spacing=1, unit_variance=True).take(n + 8 * ROWS)
    A = np.asfortranarray(np.cov(X[:n].T))
    block, b = A[:K, :K].copy(), A[:K, -1].copy()

    def baseline():
        for x in X[:ROWS]:
            blas.dsyr(1e-9, x, a=A, lower=1, overwrite_a=1)
            cho_solve(cho_factor(block), b)

    def update():
        for x in X[:ROWS]:
            blas.dsyr(1e-9, x, a=A, lower=1, overwrite_a=1)

    model = OLSTRegressor(K).fit(X[:n], y[:n])
    at = n

    def row_by_row(read):
        nonlocal at
        for i in range(at, at + ROWS):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
            if read:
                model.coef_  # noqa: B018
        at += ROWS

    def as_one():
        nonlocal at
        model.partial_fit(X[at : at + ROWS], y[at : at + ROWS])
        at += ROWS

    baseline(), row_by_row(True)
    check(model, X[:at], y[:at])
    turns = []
    for _ in range(5):  # 256 rows each, whole blocks: the updates of the p x p matrices are in the price
        turns.append([seconds(baseline), seconds(update), seconds(lambda: row_by_row(True))])
    both, rank_one, ours = (1e6 * statistics.median(t) / ROWS for t in zip(*turns))
    print(f"p={P}, k={K}, a row: dsyr {rank_one:.0f} us, with a k x k solve {both:.0f} us")
    print(f"  learn and read    {ours:4.0f} us  {ours / both:.2f}x dsyr + solve  (at most 4)")
    print(
        f"                             {(ours - both + rank_one) / rank_one:.2f}x dsyr, one solve set aside"
    )
    silent, whole = 1e6 * seconds(lambda: row_by_row(False)) / ROWS, 1e6 * seconds(as_one) / ROWS
    print(f"  learn, one a call {silent:4.0f} us  {silent / rank_one:.2f}x dsyr")
    print(f"  learn, {ROWS} a call {whole:4.0f} us  {whole / rank_one:.2f}x dsyr")
    start = time.perf_counter()
    fresh = OLSTRegressor(K)
    for i in range(n):
        fresh.partial_fit(X[i : i + 1], y[i : i + 1]).coef_  # noqa: B018
    every = 1e6 * (time.perf_counter() - start) / n
    print(f"  rows 1 to {n:,}, the inverse made anew and the ridge chosen at 64, 128, ..., learned and read:")
    print(f"                    {every:4.0f} us  {every / both:.2f}x dsyr + solve")


if __name__ == "__main__":
    threads = {info["num_threads"] for info in threadpool_info()}
    versions = f"Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    print(f"{versions}, BLAS threads {threads}")
    main()
