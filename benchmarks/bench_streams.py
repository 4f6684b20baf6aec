"""Text into models, as whole processes on 2 threads, against scikit-learn, Vowpal Wabbit and pyarrow.

    python benchmarks/bench_streams.py [--rows 100000] [--csv-mb 1000] [--repeats 3]

Contenders take turns, each in a process of its own. Printed are medians of wall time, of processor time (user
and system, of all threads: what a busy machine disturbs least) and of peak memory. "work" is without imports
and exit, which take longer than the rows do here for what loads scikit-learn; the command does not. Vowpal
Wabbit (`pip install vowpalwabbit`) reads the same rows in its own text format, and learns floats of 4 bytes.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from bench_learners import sparse_rows
from streamsieve import RunningAverages, read

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "2"  # bench_learners has set them to 1

OURS = """
from streamsieve import SGDClassifier, read
{started}
model = SGDClassifier(grow=True)
for X, y, _ in read({file!r}):
    model.partial_fit(X, y, classes=[-1, 1])
"""
READ_SVM = """
import scipy.sparse
from streamsieve import read
{started}
for block in read({file!r}): pass
"""
SKLEARN = """
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
{started}
X, y = load_svmlight_file({file!r})
X.indices, X.indptr = X.indices.astype("i4"), X.indptr.astype("i4")  # it refuses the int64 that it loads
SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False).fit(X, y)
"""
AVERAGES = """
import scipy.linalg  # its BLAS is to be limited, too
from streamsieve import RunningAverages, read
from threadpoolctl import threadpool_limits
{started}
averages = RunningAverages()
with threadpool_limits(1):  # the second thread parses; two of BLAS would wait for it, spinning
    for X, y, _ in read({file!r}, target="y"):
        averages.update(X, y)
"""
READ_CSV = """
import scipy.sparse
from streamsieve import read
{started}
for block in read({file!r}, target="y"): pass
"""
PYARROW = """
import pyarrow as pa, pyarrow.csv
pa.set_cpu_count(2)
{started}
pa.csv.read_csv({file!r})
"""


# A small process starts each contender: its peak memory counts from the fork, that of the parent included.
LAUNCH = """
import json, os, sys, time
start = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
wall = time.perf_counter() - start
print(json.dumps([status, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def run(command):
    """Wall and processor seconds of a process, the same between imports and exit, and its peak MB."""
    launch = [sys.executable, "-S", "-c", LAUNCH, *command]
    *clocks, figures = subprocess.run(launch, capture_output=True, text=True, check=True).stdout.splitlines()
    status, wall, cpu, peak = json.loads(figures)
    if status:
        raise RuntimeError(f"{command[:3]} failed with status {status}")
    work = (wall, cpu)
    if clocks:
        start, end = ([float(clock) for clock in line.split()] for line in clocks)
        work = [b - a for a, b in zip(start, end)]
    return wall, cpu, *work, peak


CLOCKS = "\nimport time; print(time.perf_counter(), time.process_time(), flush=True)\n"


def python(code, file):
    return [sys.executable, "-c", code.format(file=file, started=CLOCKS) + CLOCKS]


def fit(file, options):
    """The whole command, its output thrown away; it does not say when its imports are done."""
    command = f"streamsieve fit {file} {options} --output {file}.model --quiet > {os.devnull}"
    return ["/bin/sh", "-c", f"exec {os.path.dirname(sys.executable)}/{command}"]


def turns(repeats, folder, **commands):
    """Medians of each process's figures; they take turns, so that a busy moment hits all.

    The folder's files are read before each, so that all find them in the page cache.
    """
    figures = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            for file in os.scandir(folder):
                with open(file, "rb", buffering=0) as bytes_:
                    while bytes_.read(1 << 24):
                        pass
            figures[name].append(run(command))
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in figures.items()}


def table(figures, size):
    print(
        f"{'':10}{'wall s':>9}{'cpu s':>8}      work:{'wall s':>9}{'cpu s':>8}{'MB/cpu s':>10}{'peak MB':>9}"
    )
    for name, (wall, cpu, run_wall, run_cpu, peak) in figures.items():
        since = f"{run_wall:20.2f}{run_cpu:8.2f}{size / 1e6 / run_cpu:10.0f}"
        print(f"{name:10}{wall:9.2f}{cpu:8.2f}{since}{peak:9.0f}", flush=True)


def ratio(figures, ours, theirs, target, what):
    """Ratios of processor time; a busy machine has no other that means something."""
    wall, cpu, _, work, _ = (b / a for a, b in zip(figures[ours], figures[theirs]))
    verdict = f"(target {target:g}x, {'ok' if cpu >= target else 'BELOW'})"
    print(f"{cpu:6.2f}x {what} {verdict}", flush=True)
    alone = "" if ours.startswith("fit") else f"{work:.2f}x of the work alone; "  # a command has no clocks
    print(f"        {alone}{wall:.2f}x in wall time", flush=True)


def bandwidth():
    """MB/s at which memory is copied, one thread."""
    a, b = np.ones(1 << 24), np.empty(1 << 24)
    times = []
    for _ in range(7):
        start = time.perf_counter()
        np.copyto(b, a)
        times.append(time.perf_counter() - start)
    return a.nbytes / 1e6 / min(times)


def svmlight(folder, n, repeats):
    file, vw = os.path.join(folder, "rows.svm"), os.path.join(folder, "rows.vw")
    dump_svmlight_file(*sparse_rows(n, 10_000, 200), file, zero_based=False)
    with open(file) as rows, open(vw, "w") as out:
        for line in rows:
            label, features = line.split(" ", 1)
            out.write(f"{label} | {features}")
    size = os.path.getsize(file)
    head = os.path.join(folder, "head.svm")
    with open(file) as rows, open(head, "w") as out:
        out.writelines(line for _, line in zip(range(2000), rows))
    (block,) = read(head, n_features=10_000)
    X, y = load_svmlight_file(head, n_features=10_000)
    assert_array_equal(block.X.indices, X.indices)
    assert_allclose(block.X.data, X.data, rtol=1e-15)
    assert_array_equal(block.y, y)
    print(f"svmlight, {n:,} rows x 200 non-zeros, p = 10,000, {size / 1e6:.0f} MB, 2 threads")
    runs = dict(ours=python(OURS, file), read=python(READ_SVM, file), sklearn=python(SKLEARN, file))
    if importlib.util.find_spec("vowpalwabbit"):
        command = [sys.executable, "-m", "vowpalwabbit", "-d", vw, "--loss_function", "logistic", "--quiet"]
        runs["vw"] = command
    else:
        print("Vowpal Wabbit is not installed: no ratio to it")
    runs["fit 2,000"] = fit(head, "--method sgd --passes 1")  # rows: what it takes to begin and end
    runs["fit sgd"] = fit(file, "--method sgd --passes 1")  # as often as Vowpal Wabbit
    runs["fit sfsa"] = fit(file, "--method sfsa -k 100 --passes 1")
    runs["passes"] = fit(file, "--method sfsa -k 100")  # as many as it wants of rows that fit into memory
    figures = turns(repeats, folder, **runs)
    table(figures, size)
    for name, what in (("ours", "in Python"), ("fit sgd", "whole command"), ("fit sfsa", "whole command")):
        if "vw" in figures:
            ratio(figures, name, "vw", 4, f"Vowpal Wabbit, logistic: {name}, {what}")
        ratio(figures, name, "sklearn", 20, f"load_svmlight_file + SGDClassifier: {name}, {what}")


def delimited(folder, megabytes, repeats):
    file, p, rng = os.path.join(folder, "rows.csv"), 200, np.random.default_rng(0)
    names = [*(f"x{j}" for j in range(p - 1)), "y"]
    options, first = pa.csv.WriteOptions(include_header=False), True
    with open(file, "wb") as out:
        while out.tell() < megabytes * 1e6:
            block = pa.table(list(rng.normal(size=(p, 5000))), names=names)
            pa.csv.write_csv(block, out, None if first else options)
            first = False
    size = os.path.getsize(file)
    averages = RunningAverages()
    for X, y, _ in read(file, target="y", limit=5000):
        averages.update(X, y)
    theirs = pa.csv.read_csv(file).slice(0, 5000).to_pandas().to_numpy()
    X = np.vstack([b.X for b in read(file, target="y", limit=5000)])
    assert_array_equal(X, theirs[:, :-1])
    del theirs
    print(f"\nCSV, {p} columns of numbers, {size / 1e6:.0f} MB, 2 threads")
    figures = turns(
        repeats, folder, ours=python(AVERAGES, file), read=python(READ_CSV, file),
        pyarrow=python(PYARROW, file),
        **{"fit ofsa": fit(file, "--target y --method ofsa -k 20")},
    )  # fmt: skip
    table(figures, size)
    ratio(figures, "ours", "pyarrow", 1, "pyarrow.csv.read_csv into a table, ours into RunningAverages")
    ratio(figures, "read", "pyarrow", 1, "pyarrow.csv.read_csv into a table, read alone")
    ratio(figures, "fit ofsa", "pyarrow", 4, "pyarrow.csv.read_csv into a table, whole command `fit`")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--csv-mb", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    print(f"numpy {np.__version__}, scikit-learn {sklearn.__version__}, pyarrow {pa.__version__}")
    print(f"memory is copied at {bandwidth():,.0f} MB/s")
    with tempfile.TemporaryDirectory() as folder:
        svmlight(folder, args.rows, args.repeats)
    with tempfile.TemporaryDirectory() as folder:
        delimited(folder, args.csv_mb, args.repeats)


if __name__ == "__main__":
    main()
