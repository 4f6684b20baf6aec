"""What do errors by folds cost, against one extraction of the same model, and how large are the folds?

    python benchmarks/bench_inference.py [-p 1000] [--folds 20] [--sizes 20 100 1000]

On one thread; the baseline is `extract.ols` on the same averages, of all features, or `inference.ols` of the
features of a size. Errors are compared with those of refits without each fold before any time is taken.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: BLAS reads it once

import numpy as np

from streamsieve import FoldAverages, RunningAverages, extract, simulate
from streamsieve.methods import inference


def seconds(function, repeats):
    """Median processor time of a call: with one thread that of the wall clock, and free of its load."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return float(np.median(times))


def check(K):
    """Errors by folds are those of refits without each fold."""
    X, y = simulate.correlated(2000, p=30, k=3).take(2000)
    fold, Z = np.arange(2000) % K, np.column_stack([np.ones(2000), X])
    whole = np.linalg.lstsq(Z, y)[0]
    left = np.array([np.linalg.lstsq(Z[fold != f], y[fold != f])[0] for f in range(K)])
    expected = np.sqrt((K - 1) / K * ((left - whole) ** 2).sum(axis=0))[1:]
    np.testing.assert_allclose(
        inference.ols(FoldAverages(K).update(X, y), se="folds").stderr, expected, rtol=1e-7
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-n", type=int, default=8_000)
    parser.add_argument("-p", type=int, default=1_000)
    parser.add_argument("--folds", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    K, p = args.folds, args.p
    check(K)
    X, y = simulate.correlated(args.n, p=p, k=p // 10).take(args.n)
    folds, averages = FoldAverages(K).update(X, y), RunningAverages().update(X, y)
    print(f"NumPy {np.__version__}, n={args.n}, p={p}, {K} folds, 1 thread, median of {args.repeats}")
    one = seconds(lambda: extract.ols(averages), args.repeats)
    all_features = seconds(lambda: inference.ols(folds, se="folds"), args.repeats)
    print(f"  errors by folds, all {p} features: {all_features / one:5.1f}x extract.ols")
    for k in args.sizes:
        support = np.arange(k)
        one = seconds(lambda s=support: inference.ols(averages, s), args.repeats)
        many = seconds(lambda s=support: inference.ols(folds, s, se="folds"), args.repeats)
        print(f"  errors by folds, {k:4d} of {p} features: {many / one:5.1f}x inference.ols of these")
    sums = sum(fold.moments.sums.nbytes for fold in folds.folds_)
    waiting = sum(fold.block * (p + 2) * 8 for fold in folds.folds_)
    print(
        f"  {K} folds: sums {sums / 1e6:.1f} MB, rows that wait for a product {waiting / 1e6:.1f} MB at most"
    )
    plain = seconds(lambda: RunningAverages().update(X, y).flush(), args.repeats)

    def dealt():
        for fold in FoldAverages(K).update(X, y).folds_:
            fold.flush()

    print(
        f"  updates of {K} folds: {seconds(dealt, args.repeats) / plain:4.2f}x those of one set of averages"
    )


if __name__ == "__main__":
    main()
