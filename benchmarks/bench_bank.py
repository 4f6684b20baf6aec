"""Updates of `AveragesBank` beside those of one set of averages: `python benchmarks/bench_bank.py`.

Prints the ratio of the times to learn the same rows, in alternation, and the memory of both.
"""

import argparse
import statistics
import time

import numpy as np
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

from streamsieve import AveragesBank, RunningAverages


def seconds(averages, X, y):
    start = time.process_time()
    for at in range(0, len(y), 1000):
        averages.update(X[at : at + 1000], y[at : at + 1000])
    averages.blocks[-1].flush() if hasattr(averages, "blocks") else averages.flush()
    return time.process_time() - start


def size(averages):
    blocks = getattr(averages, "blocks", [averages])
    return sum(block.moments.sums.nbytes for block in blocks)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=16_384)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(given.rows, given.features))
    y = X[:, :5].sum(axis=1) + rng.normal(size=given.rows)
    ratios = []
    with threadpool_limits(1):  # threads that wait for each other count as time
        for _ in range(given.repeats):
            one, bank = RunningAverages(), AveragesBank()
            ratios.append(seconds(bank, X, y) / seconds(one, X, y))
    assert_allclose(bank.member(np.inf).S_xy_, one.S_xy_, atol=1e-9)
    print(
        f"{statistics.median(ratios):.2f}x the processor time of RunningAverages, 1 thread "
        f"(p={given.features}, n={given.rows}, {len(bank.half_lives)} members in {len(bank.blocks)} blocks, "
        f"{given.repeats} repeats from {min(ratios):.2f}x to {max(ratios):.2f}x), "
        f"{size(bank) / size(one):.0f}x the memory"
    )


if __name__ == "__main__":
    main()
