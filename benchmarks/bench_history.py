"""What does the history of a run cost? Processor time of the thread that learns, spent on it and on the rest.

    python benchmarks/bench_history.py [--rows 100000] [--repeats 7]

Blocks are in memory, so that nothing is hidden by the parsing of a file. Learning with a history and without
must end with equal models; the ratio of their times is printed too, and means little on a busy machine.
"""

import argparse
import itertools
import statistics
import time

import numpy as np
from numpy.testing import assert_array_equal

from streamsieve.core.rows import as_rows
from streamsieve.methods import method_class
from streamsieve.training.model import Model
from streamsieve.training.trace import Trace
from streamsieve.training.trainer import Block, Trainer

BOUND = 0.03
PASSES = 5  # over the blocks, which need not be new ones to take their time


def blocks(n, p, block=4096):
    rng = np.random.default_rng(0)
    weight = np.where(np.arange(p) % 10 == 0, 1.0, 0.0)
    for start in range(0, n, block):
        X = rng.normal(size=(min(block, n - start), p))
        yield Block(as_rows(X)[0], X @ weight + rng.normal(size=len(X)))


def learn(name, data, trace):
    method = method_class(name)
    params = {"k": 10} if "k" in method.params else {}
    model = Model(method(**params), "regression")
    start = time.thread_time()
    Trainer(model, trace=trace).learn(itertools.chain.from_iterable([data] * PASSES))
    return time.thread_time() - start, model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    for name, p in (("SGD", 200), ("SFSA", 200), ("OFSA", 200), ("Sieve", 200)):
        data = list(blocks(args.rows, p))
        times = []
        for _ in range(args.repeats):
            trace = Trace()
            plain, model = learn(name, data, None)
            traced, same = learn(name, data, trace)
            assert_array_equal(model.method.coefficients()[0], same.method.coefficients()[0])
            losses = sum(point["recent_loss"] is not None for point in trace.points)
            times.append((plain, traced, trace.spent / (traced - trace.spent)))
        plain, traced, share = map(statistics.median, zip(*times))
        verdict = "ok" if share <= BOUND else "ABOVE"
        print(
            f"{share:.1%} of learning (bound {BOUND:.0%}, {verdict}; ratio {traced / plain:.2f}x)  {name}, "
            f"{PASSES * args.rows:,} x {p}, {len(trace.points)} points, {losses} with a loss"
        )


if __name__ == "__main__":
    main()
