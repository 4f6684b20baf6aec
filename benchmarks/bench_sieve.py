"""Sieve: features found in the designs of its specification, time beside scikit-learn, peak memory.

python benchmarks/bench_sieve.py detection [SEEDS]
python benchmarks/bench_sieve.py prototype [SEEDS] --file sieve_proto.py [--designs 5,11] [--wall]
python benchmarks/bench_sieve.py speed
python benchmarks/bench_sieve.py classes [--rows N]
python benchmarks/bench_sieve.py memory
python benchmarks/bench_sieve.py file [--rows N]
"""

import argparse
import importlib.util
import resource
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import LogisticRegressionCV
from threadpoolctl import threadpool_limits

from streamsieve import SieveClassifier, read, simulate
from streamsieve.core.rows import as_rows, threads
from streamsieve.methods.learners.sfsa import SFSA
from streamsieve.methods.sieve.sieve import Sieve

# task, signal, rows, columns, shift, share of true features (%) that is asked for
DESIGNS = (
    ("regression", 1.0, 1_000, 1_000, 0, 100),
    ("regression", 0.1, 1_000, 1_000, 0, 75),
    ("regression", 0.1, 3_000, 1_000, 0, 99),
    ("regression", 0.01, 10_000, 1_000, 0, 33),
    ("regression", 0.01, 100_000, 1_000, 0, 87),
    ("classification", 1.0, 3_000, 1_000, 0, 50),
    ("classification", 1.0, 10_000, 1_000, 0, 94),
    ("classification", 0.1, 10_000, 1_000, 0, 70),
    ("classification", 0.01, 30_000, 1_000, 0, 42),
    ("classification", 0.1, 10_000, 1_000, 20, 73),
    ("regression", (0.05, 1.0), 10_000, 10_000, 0, 99),
    ("classification", 1.0, 30_000, 10_000, 0, 99.5),
)


def learn(stream, n, p, task, shift=0.0, block=2_000, **settings):
    """A sieve that has learned the first n rows, and the seconds that took."""
    loss = "squared" if task == "regression" else "logistic"
    method = Sieve(k=100, loss=loss, **settings).begin(p, 1)
    seconds = 0.0
    for at in range(0, n, block):
        X, y = stream.take(min(block, n - at), at)
        rows = as_rows(X + shift if shift else X)[0]
        begin = time.perf_counter()
        method.update(rows, np.asarray(y, dtype=float).reshape(-1, 1))
        seconds += time.perf_counter() - begin
    return method, seconds


def found(method, support):
    chosen = np.flatnonzero(method.weights()[0][0])
    return 100 * np.isin(support, chosen).mean()


def detection(seeds, memory):
    print(f"percent of 100 true features found, memory={memory}, seeds {seeds}")
    print("| task | signal | n | p | shift | asked | found | by seed | learn s | read s |")
    print("|---|--:|--:|--:|--:|--:|--:|---|--:|--:|")
    for task, signal, n, p, shift, asked in DESIGNS:
        shares, learning, reading = [], [], []
        for seed in seeds:
            stream = simulate.correlated(n, p=p, k=100, signal=signal, task=task, random_state=seed)
            method, seconds = learn(stream, n, p, task, shift, memory=memory)
            begin = time.perf_counter()
            shares.append(found(method, stream.support))
            learning.append(seconds)
            reading.append(time.perf_counter() - begin)
        by_seed = " ".join(f"{share:.0f}" for share in shares)
        print(
            f"| {task} | {signal} | {n} | {p} | {shift} | {asked} | {np.mean(shares):.1f} | {by_seed} "
            f"| {np.median(learning):.1f} | {np.median(reading):.1f} |",
            flush=True,
        )


def prototype(path, seeds, designs, wall):
    """Found and time beside the NumPy prototype of the specification.

    Processor time, of one thread each; or `wall` time, of as many threads as each uses by default.
    """
    # before the prototype is loaded, which sets OMP_NUM_THREADS
    clock, jobs = (time.perf_counter, threads()) if wall else (time.process_time, 1)
    spec = importlib.util.spec_from_file_location("prototype", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    print(f"percent of 100 true features found, seeds {seeds}; {'wall' if wall else 'processor'} time")
    print("| task | signal | n | p | shift | Sieve | prototype | Sieve s | prototype s | ratio |")
    print("|---|--:|--:|--:|--:|---|---|--:|--:|--:|")
    for task, signal, n, p, shift, _ in designs:
        shares, seconds = ([], []), [0.0, 0.0]
        loss = "squared" if task == "regression" else "logistic"
        for seed in seeds:
            stream = simulate.correlated(n, p=p, k=100, signal=signal, task=task, random_state=seed)
            blocks = [stream.take(min(2_000, n - at), at) for at in range(0, n, 2_000)]
            blocks = [(X + shift, y) for X, y in blocks] if shift else blocks
            with threadpool_limits(None if wall else 1):
                begin = clock()
                method = Sieve(k=100, loss=loss, n_jobs=jobs).begin(p, 1)
                for X, y in blocks:
                    method.update(as_rows(X)[0], np.asarray(y, dtype=float).reshape(-1, 1))
                shares[0].append(found(method, stream.support))
                seconds[0] += clock() - begin
                begin = clock()
                other = module.Sieve(100, "reg" if task == "regression" else "cls", classes=np.array([-1, 1]))
                for X, y in blocks:
                    other.partial_fit(X, y)
                shares[1].append(100 * np.isin(stream.support, other.result()[0]).mean())
                seconds[1] += clock() - begin
        each = [f"{np.mean(s):.1f} ({' '.join(f'{v:.0f}' for v in s)})" for s in shares]
        print(
            f"| {task} | {signal} | {n} | {p} | {shift} | {each[0]} | {each[1]} "
            f"| {seconds[0]:.0f} | {seconds[1]:.0f} | {seconds[0] / seconds[1]:.2f} |",
            flush=True,
        )


def speed(repeats=3):
    stream = simulate.correlated(10_000, p=1_000, k=100, signal=1, task="classification", random_state=0)
    X, y = stream.take(10_000)
    ours, theirs, shares = [], [], []
    for _ in range(repeats):
        begin = time.perf_counter()
        method = Sieve(k=100, loss="logistic").begin(1_000, 1)
        method.update(as_rows(X)[0], y.reshape(-1, 1))
        method.weights()
        ours.append(time.perf_counter() - begin)
        shares.append(found(method, stream.support))
        begin = time.perf_counter()
        LogisticRegressionCV(Cs=10, cv=3).fit(X, y)
        theirs.append(time.perf_counter() - begin)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"Sieve takes {ratio:.2f} of LogisticRegressionCV(Cs=10, cv=3); n=10000, p=1000, labels")
    print(f"and finds {shares[0]:.0f}% of the true features")


def classes(n, p=1_000, c=20, k=50):
    """Processor time with many classes, k true features that all of them share; one thread each."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, p)) + rng.normal(size=(2 * n, 1))
    true = rng.choice(p, k, replace=False)
    y = (X[:, true] @ rng.normal(size=(k, c)) / k**0.5 * 2 + rng.gumbel(size=(2 * n, c))).argmax(axis=1)
    with threadpool_limits(1):
        begin = time.process_time()
        ours = SieveClassifier(k, n_jobs=1).fit(X[:n], y[:n])
        chosen = ours.get_support(indices=True)
        middle = time.process_time()
        theirs = LogisticRegressionCV(Cs=10, cv=3).fit(X[:n], y[:n])
        end = time.process_time()
    print(
        f"Sieve takes {(middle - begin) / (end - middle):.2f} of the processor time of "
        f"LogisticRegressionCV(Cs=10, cv=3), {end - middle:.1f} s; n={n}, p={p}, {c} classes, k={k}"
    )
    print(
        f"and finds {100 * np.isin(true, chosen).mean():.0f}% of the true features; accuracy "
        f"{100 * ours.score(X[n:], y[n:]):.1f}, with all features {100 * theirs.score(X[n:], y[n:]):.1f}"
    )


def file(n, p=10_000, nnz=200, k=100):
    """A pass over svmlight text with SFSA and with Sieve, then reading; processor time, one thread."""
    from bench_learners import sparse_rows  # it sets the threads of the others to one

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.svm"
        dump_svmlight_file(*sparse_rows(n, p, nnz), str(path), zero_based=False)
        seconds = {}
        for method in (SFSA(k=k, loss="logistic"), Sieve(k=k, loss="logistic", n_jobs=1)):
            method.begin(p, 1)
            begin = time.process_time()
            for X, y, _ in read(path, n_features=p):
                method.update(as_rows(X)[0], np.asarray(y, dtype=float).reshape(-1, 1))
            middle = time.process_time()
            method.weights()
            seconds[type(method).__name__] = middle - begin, time.process_time() - middle
        size = path.stat().st_size / 1e6
    (one, _), (other, reading) = seconds["SFSA"], seconds["Sieve"]
    print(f"a pass over {size:.0f} MB of svmlight, n={n}, p={p}, {nnz} values a row: Sieve takes")
    print(
        f"{other / one:.2f} of SFSA's {one:.1f} s of processor time; reading k={k} then takes {reading:.1f} s"
    )


def peak():
    """Peak resident memory in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory(limit):
    n, p = 40_000, 4_000
    stream = simulate.correlated(n, p=p, k=100, signal=1, task="classification", random_state=0)
    small = Sieve(k=10, loss="logistic").begin(5, 1)
    X, y = stream.take(500)
    small.update(as_rows(np.ascontiguousarray(X[:, :5]))[0], y.reshape(-1, 1))
    small.weights()
    before = peak()
    method, _ = learn(stream, n, p, "classification", block=500, memory=limit)
    learned = peak()
    method.weights()
    print(
        f"memory={limit}: {learned - before:.0f} MB more to learn, {peak() - before:.0f} MB to learn and read"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["detection", "prototype", "speed", "classes", "memory", "file"])
    parser.add_argument("seeds", nargs="*", type=int, default=[101, 102, 103])
    parser.add_argument("--memory", default="256MB")
    parser.add_argument("--rows", type=int, help="of classes and file")
    parser.add_argument("--file", type=Path, help="where the prototype is")
    parser.add_argument("--wall", action="store_true", help="of prototype: wall time, all threads")
    parser.add_argument("--designs", help="numbers of the lines of `detection` to compare, from 0; else all")
    options = parser.parse_args()
    print(f"numpy {np.__version__}, scikit-learn {sklearn.__version__}, threads {threads()}")
    if options.what == "detection":
        detection(options.seeds, options.memory)
    elif options.what == "prototype":
        if options.file is None:
            parser.error("prototype needs --file, where its module is")
        lines = map(int, options.designs.split(",")) if options.designs else range(len(DESIGNS))
        prototype(options.file, options.seeds, [DESIGNS[i] for i in lines], options.wall)
    elif options.what == "speed":
        speed()
    elif options.what == "classes":
        classes(options.rows or 10_000)
    elif options.what == "file":
        file(options.rows or 100_000)
    else:
        memory(options.memory)


if __name__ == "__main__":
    main()
