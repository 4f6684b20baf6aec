"""How good and how fast is the best subset from averages, against abess.LinearRegression on the rows?

    python benchmarks/bench_bestsubset.py [--sizes 5 20 100]

On the correlated design of [Sun] 4.1; both on one thread, ours with the averages included. Needs abess.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: BLAS reads it once

import numpy as np

from streamsieve import RunningAverages, extract, path, simulate


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def unexplained(X, y, support):
    """1 - R^2 of least squares."""
    Z = np.column_stack([np.ones(len(X)), X[:, support]])
    residual = y - Z @ np.linalg.lstsq(Z, y)[0]
    return residual @ residual / ((y - y.mean()) ** 2).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-n", type=int, default=20_000)
    parser.add_argument("-p", type=int, default=1_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 10, 20, 50, 100])
    parser.add_argument("--path", type=int, default=0, help="also all sizes up to this one")
    args = parser.parse_args()
    import abess

    X, y = simulate.correlated(args.n, p=args.p, k=args.p // 10).take(args.n)
    print(f"NumPy {np.__version__}, abess {abess.__version__}, n={args.n}, p={args.p}, 1 thread")
    for k in args.sizes:
        theirs, slow = timed(lambda k=k: abess.LinearRegression(support_size=k).fit(X, y))
        ours, fast = timed(lambda k=k: extract.obestsubset(RunningAverages().update(X, y), k))
        a, b = (unexplained(X, y, s) for s in (ours.support, np.flatnonzero(theirs.coef_)))
        assert a <= b * (1 + 1e-9)
        print(f"  k={k:4d}: {slow / fast:5.1f}x abess, unexplained {a:.6f}, abess {b:.6f}", flush=True)
    if args.path:
        sizes = range(args.path + 1)
        _, slow = timed(lambda: abess.LinearRegression(support_size=list(sizes)).fit(X, y))
        _, fast = timed(lambda: path(RunningAverages().update(X, y), "obestsubset", ks=sizes))
        print(f"  k=0 to {args.path}: {slow / fast:5.1f}x abess")


if __name__ == "__main__":
    main()
