"""How fast are updates of running averages, against the machine's own X.T @ X and scipy's sparse product?

    python benchmarks/bench_averages.py

Prints ratios of rates by processor time (more is better), medians of repeats that take turns with the
baseline, after checking that the answers agree.
"""

import statistics
import sys
import time

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info

from streamsieve import RunningAverages


def seconds(job):
    start = time.process_time()
    job()
    return time.process_time() - start


def ratio(baseline, ours, repeats=7):
    """Median over turns of baseline time / our time, with its quartiles."""
    baseline(), ours()
    turns = [seconds(baseline) / seconds(ours) for _ in range(repeats)]
    low, middle, high = statistics.quantiles(turns, n=4)
    return f"{middle:6.2f}x  (quartiles {low:.2f} to {high:.2f})"


def feed(X, y, rows):
    averages = RunningAverages()
    for start in range(0, len(y), rows):
        averages.update(X[start : start + rows], y[start : start + rows])
    averages.flush()
    return averages


def dense(n=20_000, p=1000):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    gram = X.T @ X
    mean = X.mean(axis=0)
    assert_allclose(feed(X, y, 1000).S_xx_, gram / n - np.outer(mean, mean), atol=1e-12)
    print(f"dense, n={n}, p={p}, float64, rate relative to X.T @ X:")
    for rows in (1, 256, 1000, n):
        print(f"  {rows:>6} rows a call  {ratio(lambda: X.T @ X, lambda rows=rows: feed(X, y, rows))}")
    X32 = X.astype(np.float32)
    narrow = lambda: RunningAverages(dtype="float32").update(X32, y).flush()  # noqa: E731
    print(f"  float32 sums       {ratio(lambda: X.T @ X, narrow)}")
    half = ratio(lambda: feed(X[: n // 2], y[: n // 2], 1000), lambda: feed(X, y, 1000))
    print(f"  half the rows / all the rows, time{half}: cost is linear in n")


def sparse(n=20_000, p=5000, density=0.01, block=1000):
    rng = np.random.default_rng(0)
    X = sp.random_array(
        (n, p), density=density, format="csr", rng=rng, data_sampler=lambda size: rng.normal(size=size)
    )
    y = rng.normal(size=n)
    part = slice(0, 8000)

    def densified(rows):
        total = np.zeros((p, p))
        for start in range(0, rows, block):
            B = X[start : start + block].toarray()
            total += B.T @ B
        return total

    def scipys():
        total = None
        for start in range(0, n, block):
            B = X[start : start + block]
            total = B.T @ B if total is None else total + B.T @ B
        return total

    mean = X.sum(axis=0) / n
    assert_allclose(feed(X, y, block).S_xx_, scipys().toarray() / n - np.outer(mean, mean), atol=1e-12)
    print(f"CSR, n={n}, p={p}, density {density:.0%}, {block} rows a call:")
    dense_ratio = ratio(lambda: densified(8000), lambda: feed(X[part], y[part], block), 3)
    print(f"  than densified blocks, added up       {dense_ratio}  (8,000 rows)")
    print(f"  than scipy's sparse X.T @ X, added up {ratio(scipys, lambda: feed(X, y, block), 3)}")


if __name__ == "__main__":
    threads = {info["num_threads"] for info in threadpool_info()}
    versions = f"Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    print(f"{versions}, BLAS threads {threads}")
    dense()
    sparse()
