"""Units on Dask workers, each a process on a core of its own, against the plain call and against one worker.

    python benchmarks/bench_distributed.py [--mb 200] [--wide 5000] [--repeats 3] [--only speed,memory]

Every process is pinned to one core. Contenders take turns; printed are ratios of medians of wall time, which
the targets are of, and of the processor time of the busiest worker, which a busy machine disturbs less. That
the models agree is checked first. `memory` reduces averages of --wide columns and counts p x p matrices at
the fullest place; `model` measures the costs of docs/scaling.md, checks them at a size that they were not
measured at, and says what they predict. `engines` fits one Parquet file by every engine that is installed,
each in processes of its own, against the plain call; the start of an engine, with the fit of a small file, is
printed apart.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import dask
import dask.array as da
import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet
from distributed import Client
from numpy.testing import assert_allclose

import streamsieve
from streamsieve import OLSthRegressor, SieveRegressor, load, read
from streamsieve import distributed as units
from streamsieve.dask import fit
from streamsieve.distributed.tasks import block_part
from streamsieve.distributed.votes import Votes

CORES = sorted(os.sched_getaffinity(0))
SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(streamsieve.__file__)))


def pinned(core, *command, **options):
    """A process on one core."""
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = {**os.environ, **one_thread, "PYTHONPATH": SOURCES}
    pin = lambda: os.sched_setaffinity(0, {core})  # noqa: E731
    return subprocess.Popen([sys.executable, *command], preexec_fn=pin, env=environment, **options)


class Cluster:
    """A scheduler, and workers of one thread on a core each."""

    def __init__(self, folder, n):
        self.file = os.path.join(tempfile.mkdtemp(dir=folder), "scheduler.json")  # none of a cluster before
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        options = ("--no-dashboard", "--scheduler-file", self.file)
        self.processes = [
            pinned(CORES[-1], "-m", "distributed.cli.dask_scheduler", "--port", "0", *options, **quiet)
        ]
        while not os.path.exists(self.file):
            time.sleep(0.05)
        for i in range(n):
            worker = ("-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", *options)
            self.processes.append(pinned(CORES[i % len(CORES)], *worker, **quiet))
        self.client = Client(scheduler_file=self.file, set_as_default=False, timeout=120)
        self.client.wait_for_workers(n, timeout=120)

    def cpu(self):
        return self.client.run(time.process_time)

    def peak(self):
        """Largest memory of each worker so far, in bytes."""
        return self.client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)

    def close(self):
        self.client.close(timeout=5)
        for process in self.processes:
            process.kill()
            process.wait()


def write_csv(file, n, p):
    rng = np.random.default_rng(0)
    with open(file, "w") as f:
        f.write(",".join([*(f"x{j}" for j in range(p)), "y"]) + "\n")
        for at in range(0, n, 1000):
            X = rng.normal(size=(min(1000, n - at), p)).round(4)
            np.savetxt(f, np.c_[X, X[:, 1] - X[:, 2]], delimiter=",", fmt="%.6g")
    return file


def write_parquet(file, n, p):
    rng = np.random.default_rng(0)
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(p)] + [("y", pa.float64())])
    with pa.parquet.ParquetWriter(file, schema, compression="none", use_dictionary=False) as writer:
        for at in range(0, n, 4096):
            X = rng.normal(size=(min(4096, n - at), p))
            columns = [*X.T, X[:, 1] - X[:, 2]]
            writer.write_table(pa.table([pa.array(c) for c in columns], schema=schema))
    return file


def write_svmlight(file, n, p=200_000, values=60):
    rng = np.random.default_rng(0)
    truth = rng.choice(p, 20, replace=False)
    with open(file, "w") as f:
        for _ in range(n):
            j = np.union1d(rng.integers(0, p, values), rng.choice(truth, 4, replace=False))
            x = rng.normal(size=len(j)).round(4)
            y = x[np.isin(j, truth)].sum() + rng.normal()
            f.write(f"{y:.5g} " + " ".join(f"{a + 1}:{v}" for a, v in zip(j.tolist(), x.tolist())) + "\n")
    return file


PLAIN = """
import sys, time
from streamsieve import OLSthRegressor, read
import scipy.linalg
start = time.perf_counter(), time.process_time()
model = OLSthRegressor(2)
for X, y, _ in read(sys.argv[1], target="y", n_jobs=1):
    model.partial_fit(X, y)
model.coef_
print(time.perf_counter() - start[0], time.process_time() - start[1])
"""


def plain(file):
    """Wall and processor seconds of the plain call in a process on one core, without imports."""
    process = pinned(CORES[0], "-c", PLAIN, file, stdout=subprocess.PIPE, text=True)
    return [float(t) for t in process.communicate()[0].split()]


def on_cluster(cluster, call):
    """Wall seconds, and processor seconds of the busiest worker."""
    before, start = cluster.cpu(), time.perf_counter()
    call(cluster.client)
    wall, after = time.perf_counter() - start, cluster.cpu()
    return [wall, max(after[worker] - before[worker] for worker in after)]


def turns(repeats, **contenders):
    figures = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            figures[name].append(run())
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in figures.items()}


def ratio(text, figures, slow, fast, target, at_least=True):
    wall, cpu = (figures[slow][i] / figures[fast][i] for i in (0, 1))
    good = wall >= target if at_least else wall <= target
    verdict = f"target at {'least' if at_least else 'most'} {target}x, {'ok' if good else 'missed'}"
    seconds = f"{figures[slow][0]:.2f} s, {figures[fast][0]:.2f} s"
    print(f"{wall:6.2f}x wall, {cpu:5.2f}x processor: {text} ({verdict}; {seconds})", flush=True)


def speed(folder, mb, repeats):
    n = max(2000, int(mb * 1e6 / (500 * 8)))
    files = {
        "CSV": (write_csv(f"{folder}/rows.csv", n, 500), {"target": "y"}, OLSthRegressor(2)),
        "Parquet": (write_parquet(f"{folder}/rows.parquet", 2 * n, 500), {"target": "y"}, OLSthRegressor(2)),
        "svmlight": (write_svmlight(f"{folder}/rows.svm", 3 * n // 2), {}, SieveRegressor(20, memory="16MB")),
    }
    one, two = Cluster(folder, 1), Cluster(folder, 2)
    try:
        for kind, (file, options, estimator) in files.items():
            size = os.path.getsize(file)
            plan = units.plan(file, size // 8 + 1, **options)

            def call(client, plan=plan, estimator=estimator):
                return fit(estimator, plan, client=client)

            states = [
                call(cluster.client).method_.state for cluster in (one, two)
            ]  # also loads what is imported
            assert not list(states[0].differences(states[1]))
            contenders = {
                "one": lambda call=call: on_cluster(one, call),
                "two": lambda call=call: on_cluster(two, call),
            }
            if kind != "svmlight":
                contenders["plain"] = lambda file=file: plain(file)
            figures = turns(repeats, **contenders)
            what = "the screen and the candidates' averages" if kind == "svmlight" else "averages, p = 500"
            text = f"2 workers against 1, {what}, {kind} of {size / 1e6:.0f} MB, {len(plan)} units"
            ratio(text, figures, "one", "two", 1.6)
            if "plain" in figures:
                ratio(
                    f"1 worker against the plain call, {kind}", figures, "one", "plain", 1.15, at_least=False
                )
        peak = max(two.peak().values())
        print(f"{peak / 1e6:6.0f} MB at most in a worker so far, libraries included")
    finally:
        one.close()
        two.close()


def start_dask():
    from distributed import LocalCluster

    return Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))


def start_spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.driver.host", "127.0.0.1").getOrCreate()


def start_ray():
    import ray

    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    return importlib.import_module("ray.data")


#: What starts an engine, and what fits a Parquet file with it.
ENGINES = {
    "plain call": (lambda: None, lambda _, model, file: model.fit(read(file, target="y", n_jobs=1))),
    "units, here": (lambda: None, lambda _, model, file: units.fit(model, file, unit="16MB", target="y")),
    "polars": (
        lambda: importlib.import_module("polars"),
        lambda polars, model, file: units.fit(model, polars.scan_parquet(file), target="y"),
    ),
    "duckdb": (
        lambda: importlib.import_module("duckdb"),
        lambda duckdb, model, file: units.fit(model, duckdb.sql(f"SELECT * FROM '{file}'"), target="y"),
    ),
    "dask": (
        start_dask,
        lambda client, model, file: fit(model, file, unit="16MB", target="y", client=client),
    ),
    "pyspark, a frame": (
        start_spark,
        lambda spark, model, file: streamsieve.spark.fit(model, spark.read.parquet(file), "y"),
    ),
    "pyspark, files": (
        start_spark,
        lambda _, model, file: streamsieve.spark.fit(model, file, "y", unit="16MB"),
    ),
    "ray, a dataset": (
        start_ray,
        lambda data, model, file: streamsieve.ray.fit(model, data.read_parquet(file), "y"),
    ),
    "ray, files": (start_ray, lambda _, model, file: streamsieve.ray.fit(model, file, "y", unit="16MB")),
}


def used():
    """Wall seconds, and processor seconds of this process and all that it has started."""
    import psutil

    mine = psutil.Process()
    seconds = 0.0
    for process in [mine, *mine.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            seconds += sum(process.cpu_times()[:2])
    return np.array([time.perf_counter(), seconds])


def run_engine(name, file, small):
    """In a process of its own: seconds to start, seconds to fit, and a digest of the state."""
    package = name.split(",")[0]
    if package in ("pyspark", "ray"):
        importlib.import_module(f"streamsieve.{package.removeprefix('py')}")
    first = used()
    start, call = ENGINES[name]
    engine = start()
    call(engine, OLSthRegressor(2), small)
    ready = used()
    model = call(engine, OLSthRegressor(2), file)
    done = used()
    state = hashlib.sha256(np.ascontiguousarray(model.averages_.current()[0].sums).tobytes()).hexdigest()
    figures = {"start": (ready - first).tolist(), "fit": (done - ready).tolist(), "state": state}
    print(json.dumps(figures | {"coef": model.coef_.tolist()}), flush=True)


def engines(folder, mb, repeats):
    p = 200
    n = max(20_000, int(mb * 1e6 / (p * 8)))
    file, small = (
        write_parquet(f"{folder}/rows.parquet", n, p),
        write_parquet(f"{folder}/small.parquet", 500, p),
    )
    found = {}
    for _ in range(repeats):
        for name in ENGINES:
            package = name.split(",")[0]
            if package not in ("plain call", "units") and importlib.util.find_spec(package) is None:
                continue
            command = [sys.executable, __file__, "--engine", name, file, small]
            one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": SOURCES}
            environment = {**os.environ, **one_thread}
            # a session of its own: Ray signals the processes of its group when it ends
            alone = {"env": environment, "start_new_session": True}
            done = subprocess.run(command, capture_output=True, text=True, check=False, **alone)
            assert not done.returncode, f"{name} failed: {done.stderr}"
            found.setdefault(name, []).append(json.loads(done.stdout.strip().splitlines()[-1]))
    plain = found["plain call"]
    other = ("plain call", "ray, a dataset")  # sums of all rows, and rows in an order of Ray's own
    states = {run["state"] for name, runs in found.items() for run in runs if name not in other}
    assert len(states) == 1, "engines differ"
    for runs in found.values():
        assert_allclose(runs[0]["coef"], plain[0]["coef"], rtol=1e-9, atol=1e-12)
    size = os.path.getsize(file) / 1e6
    print(f"one Parquet file of {size:.0f} MB, {n:,} rows x {p}, averages of OLSth; equal states")
    figures = {name: np.median([run["fit"] for run in runs], axis=0) for name, runs in found.items()}
    for name, runs in list(found.items())[1:]:
        start = statistics.median(run["start"][0] for run in runs)
        text = f"{name} against the plain call, after a start of {start:.1f} s"
        ratio(text, figures, name, "plain call", 1.15, at_least=False)


SHARD = "from streamsieve.cli import main; import sys; main(sys.argv[1:], standalone_mode=False)"


def shards(folder, mb, repeats):
    n = max(2000, int(mb * 1e6 / (500 * 8)))
    file = write_csv(f"{folder}/shards.csv", n, 500)

    def run(of, cores):
        start, processes = time.perf_counter(), []
        for i, core in enumerate(cores):
            options = ["fit", file, "--target", "y", "--method", "olsth", "-k", "2", "-q"]
            parts = ["--shard", f"{i + 1}/{of}", "-o", f"{folder}/part-{of}-{i + 1}"]
            processes.append(pinned(core, "-c", SHARD, *options, *parts, stdout=subprocess.DEVNULL))
        used = [os.wait4(process.pid, 0)[2] for process in processes]
        return [time.perf_counter() - start, max(u.ru_utime + u.ru_stime for u in used)]

    figures = turns(repeats, one=lambda: run(1, CORES[:1]), two=lambda: run(2, (CORES * 2)[:2]))
    merged, both = f"{folder}/merged", [f"{folder}/part-2-1", f"{folder}/part-2-2"]
    pinned(CORES[0], "-c", SHARD, "merge", *both, "-o", merged, "-q", stdout=subprocess.DEVNULL).wait()
    assert_allclose(load(merged).coef_, load(f"{folder}/part-1-1").coef_, rtol=1e-9, atol=1e-12)
    size = os.path.getsize(file) / 1e6
    ratio(f"--shard in 2 processes against 1, CSV of {size:.0f} MB", figures, "one", "two", 1.8)


def memory(folder, p):
    """Matrices of p x p at the fullest place while averages are reduced, beyond a worker that has worked."""
    two = Cluster(folder, 2)
    try:
        few = da.random.default_rng(0).normal(size=(64, 100), chunks=(16, 100))
        fit(OLSthRegressor(2), few, few[:, 0], client=two.client)
        before = two.peak()
        blocks, rows = 12, 256
        X = da.random.default_rng(0).normal(size=(blocks * rows, p), chunks=(rows, p))
        model = fit(OLSthRegressor(2), X, X[:, 1], client=two.client)
        assert model.averages_.n_samples_ == blocks * rows
        after = two.peak()
        few = (1024 + 3 * rows) * p * 8  # the buffer of rows to multiply, and some blocks of rows
        most = max(after[worker] - before[worker] for worker in after)
        matrices = (most - few) / (8 * p**2)
        print(
            f"{matrices:6.2f} p x p matrices at the fullest worker, p = {p:,}, {blocks} units "
            f"({most / 1e6:.0f} MB in all, {few / 1e6:.0f} MB of rows taken off; target at most 3, "
            f"{'ok' if matrices <= 3 else 'missed'})"
        )
        sent = len(pickle.dumps(model.method_.averages.pack()))
        print(f"{sent / (8 * p**2):6.2f} p x p matrices are sent for a state")
    finally:
        two.close()


def clocked(call):
    start = time.process_time()
    value = call()
    return time.process_time() - start, value


def count_rows(file, options):
    return sum(len(y) for _, y, _ in read(file, n_jobs=1, **options))


def model(folder, mb):
    """The costs of docs/scaling.md, in processor seconds of one core, and a prediction to check them by."""
    n = max(2000, int(mb * 1e6 / (300 * 8)))
    files = {
        "csv": (write_csv(f"{folder}/a.csv", n, 300), {"target": "y"}),
        "parquet": (write_parquet(f"{folder}/a.parquet", 2 * n, 300), {"target": "y"}),
        "svmlight": (write_svmlight(f"{folder}/a.svm", 4 * n), {}),
    }
    reading = {}
    for kind, (file, options) in files.items():
        count_rows(file, options)
        reading[kind] = clocked(lambda f=file, o=options: count_rows(f, o))[0] / os.path.getsize(file)
        print(f"{1e-6 / reading[kind]:8.0f} MB/s read from {kind}", flush=True)
    task, product = units.task(OLSthRegressor(2)), {}
    for p in (200, 1000, 4000):
        X = np.random.default_rng(0).normal(size=(4096, p))
        X = np.tile(X, (max(1, 2000 // p), 1))
        seconds, part = clocked(lambda X=X: block_part(task, 0, X, X[:, 0], None))
        product[p] = seconds / (len(X) * p**2)
        print(f"{1e-9 / product[p]:8.1f} GFlop/s of products, p = {p:,}", flush=True)
    after = block_part(task, 1, X[:16], X[:16, 0], None)
    merging = clocked(lambda: part.merge(after))[0] / 4000**2
    print(f"{merging * 1e9:8.1f} ns to merge an entry of the matrix, p = 4,000")
    few = units.plan(write_csv(f"{folder}/few.csv", 20, 300), target="y")[0]
    opening = statistics.median(clocked(lambda: units.accumulate(few, task.like))[0] for _ in range(9))
    print(f"{opening * 1e3:8.1f} ms to open a unit")
    screening = screen_costs(files["svmlight"][0])
    p, n = 450, max(3000, int(mb * 1e6 / (450 * 6)))
    file = write_csv(f"{folder}/check.csv", n, p)
    plan = units.plan(file, os.path.getsize(file) // 8 + 1, target="y")
    rate = np.interp(np.log(p), np.log(list(product)), list(product.values()))
    expected = reading["csv"] * os.path.getsize(file) + rate * n * p**2
    expected += len(plan) * opening + merging * (len(plan) - 1) * p**2
    took = statistics.median(clocked(lambda: units.fit(OLSthRegressor(2), plan))[0] for _ in range(3))
    print(
        f"{expected / took:8.2f}x: predicted {expected:.2f} s, took {took:.2f} s, p = {p}, {n:,} rows, "
        f"{len(plan)} units of CSV"
    )
    predict(reading, product[4000], merging, screening)


def screen_costs(file):
    """Seconds a value and a unit of the first pass, from a unit and one of a quarter of its size."""
    wide, size = units.prepare(SieveRegressor(20, memory="16MB")), os.path.getsize(file)
    screen = replace(wide, method=Votes(wide.method, 800))
    points = []
    for unit in (size + 1, size // 4 + 1):
        seconds, part = clocked(lambda unit=unit: units.accumulate(units.plan(file, unit)[0], screen))
        points.append((seconds, part.model.method.state.values))
    (whole, values), (quarter, few) = points
    slope = (whole - quarter) / (values - few)
    print(
        f"{1e9 * slope:8.0f} ns a value to read and screen, and {whole - slope * values:.2f} s a unit "
        f"({values:,} values of {part.model.p:,} features)"
    )
    return slope, max(whole - slope * values, 0.0)


def predict(reading, product, merging, screening, workers=64, network=1e9):
    """What the costs give for 10^9 x 10^4 on 64 workers, and for 10^7 sparse features."""
    n, p, unit = 1e9, 1e4, 256 * 2**20
    size = 8 * n * p
    for kind in ("csv", "parquet"):
        read_s, learn_s = reading[kind] * size / workers, product * n * p**2 / workers
        merge_s = size / unit / workers * (merging * p**2 + 4 * p**2 / network)
        print(
            f"1e9 x 1e4, {kind} of {size / 1e12:.0f} TB, {workers} workers: "
            f"{(read_s + learn_s + merge_s) / 3600:.1f} h (reading {read_s / 3600:.1f}, products "
            f"{learn_s / 3600:.1f}, merging and sending {size / unit:,.0f} states of {4 * p**2 / 1e9:.1f} GB "
            f"{merge_s / 3600:.1f})"
        )
    values, p = 1e9 * 100, 1e7
    size, state, unit = 12 * values, 32 * p, 2**32
    each, fixed = screening
    one_s = (each * values + fixed * size / unit) / workers
    merge_s = size / unit / workers * state * (1 / network + merging / 8)
    print(
        f"1e9 rows of 100 of 1e7 features, svmlight of {size / 1e12:.1f} TB, 4 GB a unit, {workers} workers: "
        f"pass one {one_s / 3600:.2f} h, its merging ({state / 1e6:.0f} MB a state) {merge_s / 3600:.2f} h, "
        f"reading for pass two {reading['svmlight'] * size / workers / 3600:.2f} h"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--mb", type=float, default=200)
    parser.add_argument("--wide", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="speed,shards,memory,model")
    parser.add_argument("--engine", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        run_engine(*options.engine)
        sys.exit()
    wanted = options.only.split(",")
    versions = f"numpy {np.__version__}, dask {dask.__version__}, distributed {distributed.__version__}"
    print(f"{versions}, {len(CORES)} cores, medians of {options.repeats}")
    with tempfile.TemporaryDirectory() as folder:
        if "speed" in wanted:
            speed(folder, options.mb, options.repeats)
        if "shards" in wanted:
            shards(folder, options.mb, options.repeats)
        if "memory" in wanted:
            memory(folder, options.wide)
        if "model" in wanted:
            model(folder, options.mb / 4)
        if "engines" in wanted:
            engines(folder, options.mb, options.repeats)
