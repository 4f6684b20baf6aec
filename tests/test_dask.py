"""On real clusters, scheduler and workers being processes: the same bytes, and errors instead of hanging."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import streamsieve
from streamsieve import (
    FTRLProximalClassifier,
    OFSAClassifier,
    OLassoRegressor,
    OLSthClassifier,
    OLSthRegressor,
    SieveRegressor,
    TSGDClassifier,
    TSGDRegressor,
    cross_validate,
    distributed,
    path,
    read,
    save,
)
from streamsieve.cli import main
from test_distributed import write_csv, write_parquet, write_svmlight
from test_votes import write_wide

pytest.importorskip("distributed", reason="dask and distributed are not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
from distributed import Client  # noqa: E402

from streamsieve.dask import DaskSelector, fit  # noqa: E402

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows any signal ends a process at once

START = 90  # seconds for a process to come up on a busy machine


class Cluster:
    """A scheduler and workers of one thread, each a process without a nanny: a killed one stays dead."""

    def __init__(self, folder, **config):
        self.folder, self.processes = folder, []
        here = os.path.dirname(os.path.abspath(__file__))
        package = os.path.dirname(os.path.dirname(os.path.abspath(streamsieve.__file__)))
        paths = os.pathsep.join([package, here])
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths, **config}
        self.file = str(folder / "scheduler.json")
        self._start("dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", self.file)
        deadline = time.monotonic() + START
        while not os.path.exists(self.file):
            assert time.monotonic() < deadline, "the scheduler does not start"
            time.sleep(0.05)
        self.client = Client(scheduler_file=self.file, timeout=START, set_as_default=False)

    def _start(self, module, *options):
        log = open(self.folder / f"{module}-{len(self.processes)}.log", "wb")  # noqa: SIM115
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
        self.processes.append(
            subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=self.environment, cwd=self.folder
            )
        )
        log.close()

    @property
    def address(self):
        return self.client.scheduler.address

    def workers(self, n):
        """Wait until n workers are there, and start those that are missing."""
        for _ in range(n - len(self.client.nthreads())):
            options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--scheduler-file", self.file)
            self._start("dask_worker", *options)
        self.client.wait_for_workers(n, timeout=START)

    def kill_one(self):
        """Kill a worker."""
        os.kill(next(iter(self.client.run(os.getpid).values())), KILL)

    def close(self):
        self.client.close(timeout=5)
        for process in reversed(self.processes):
            process.kill()
            process.wait(timeout=START)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    made.workers(2)
    yield made
    made.close()


@pytest.fixture
def client(cluster):
    cluster.workers(2)
    return cluster.client


def same_bytes(a, b, tmp_path):
    for name, estimator in (("a.sieve", a), ("b.sieve", b)):
        save(estimator, tmp_path / name)
    assert (tmp_path / "a.sieve").read_bytes() == (tmp_path / "b.sieve").read_bytes()


# -------------------------------------------------------------------- the same bytes


def test_one_two_and_three_workers_and_a_killed_one_give_the_same_bytes(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=6000, text=True)
    units = distributed.plan(file, "40KB", target="y")
    assert len(units) > 12
    expected = distributed.fit(OLSthRegressor(criterion="cv"), units)
    cluster = Cluster(tmp_path)
    done = []

    def kill_in_the_middle(finished, n):  # noqa: ARG001
        done.append(finished)
        if len(done) == 5:
            cluster.kill_one()

    try:
        for n in (1, 2, 3):
            cluster.workers(n)
            same_bytes(fit(OLSthRegressor(criterion="cv"), units, client=cluster.client), expected, tmp_path)
        killed = fit(
            OLSthRegressor(criterion="cv"), units, client=cluster.client, progress=kill_in_the_middle
        )
        same_bytes(killed, expected, tmp_path)
        assert done == list(range(1, len(units) + 1))
        assert len(cluster.client.nthreads()) == 2
    finally:
        cluster.close()


@pytest.mark.parametrize("kind", ["parquet", "svmlight"])
def test_workers_read_files_of_any_format(client, tmp_path, kind):
    if kind == "parquet":
        file, options = write_parquet(tmp_path / "rows.parquet"), {"target": "y"}
        estimator = OLassoRegressor(2)
    else:
        file, options, estimator = write_svmlight(tmp_path / "rows.svm"), {}, OFSAClassifier(3)
    units = distributed.plan(file, "20KB", **options)
    assert len(units) > 3
    same_bytes(fit(estimator, units, client=client), distributed.fit(estimator, units), tmp_path)


def test_finished_units_are_skipped_after_a_restart(client, tmp_path):
    file = write_csv(tmp_path / "rows.csv")
    units = distributed.plan(file, "60KB", target="y")
    folder = tmp_path / "units"

    class Stop(Exception):
        pass

    def stop(finished, n):  # noqa: ARG001
        if finished == 3:
            raise Stop

    with pytest.raises(Stop):
        fit(OLSthRegressor(2), units, client=client, folder=folder, progress=stop)
    kept = {name: (folder / name).stat().st_mtime_ns for name in os.listdir(folder)}
    assert len(kept) >= 3
    again = fit(OLSthRegressor(2), units, client=client, folder=folder)
    assert all((folder / name).stat().st_mtime_ns == at for name, at in kept.items())
    same_bytes(again, distributed.fit(OLSthRegressor(2), units), tmp_path)


# -------------------------------------------------------------------- collections


def collections():
    rng = np.random.default_rng(3)
    X = rng.normal(20, 1, (2000, 7))
    y = X[:, 2] - 3 * X[:, 5] + 0.1 * rng.normal(size=2000)
    return X, y, rng.uniform(0.5, 2, 2000)


def test_arrays(client):
    X, y, w = collections()
    lazy, targets = da.from_array(X, chunks=(300, 4)), da.from_array(y, chunks=450)
    weights = da.from_array(w, chunks=300)
    selector = DaskSelector(OLSthRegressor(2), client).fit(lazy, targets, sample_weight=weights)
    plain = OLSthRegressor(2).fit(X, y, w)
    assert_allclose(selector.coef_, plain.coef_, rtol=1e-9)
    assert type(selector.estimator_) is OLSthRegressor
    predicted, selected = selector.predict(lazy), selector.transform(lazy)
    assert isinstance(predicted, da.Array)
    assert isinstance(selected, da.Array)
    assert_allclose(client.compute(predicted).result(timeout=60), plain.predict(X), rtol=1e-9)
    assert_array_equal(client.compute(selected).result(timeout=60), X[:, [2, 5]])
    two = fit(OLSthRegressor(2), lazy, da.from_array(np.c_[y, -y], chunks=(300, 1)), client=client)
    assert_allclose(two.coef_, OLSthRegressor(2).fit(X, np.c_[y, -y]).coef_, rtol=1e-9)
    assert_array_equal(selector.predict(X[:5]), selector.estimator_.predict(X[:5]))


@pytest.mark.parametrize("classes", [2, 3])
def test_lazy_probabilities_are_those_of_the_estimator(classes):
    X = np.random.default_rng(0).normal(size=(300, 5))
    y = np.digitize(X[:, 1], [0.0, 0.7][: classes - 1])
    selector = DaskSelector(TSGDClassifier(2))
    selector.estimator_ = TSGDClassifier(2).fit(X, y)
    for name in ("predict_proba", "decision_function", "predict"):
        lazy = getattr(selector, name)(da.from_array(X, chunks=(100, 5)))
        assert_allclose(
            lazy.compute(scheduler="synchronous"), getattr(selector.estimator_, name)(X), rtol=1e-9
        )


def test_lazy_predictions_are_clipped_as_those_of_the_estimator():
    X = np.random.default_rng(0).normal(size=(300, 5))
    selector = DaskSelector(SieveRegressor(2))
    selector.estimator_ = SieveRegressor(2).fit(X, X[:, 1] - X[:, 3])
    far = X[:4] * np.array([[1], [1], [1e6], [1]])
    with pytest.warns(UserWarning, match="clipped to that range"):
        expected = selector.estimator_.predict(far)
    lazy = selector.predict(da.from_array(far, chunks=(2, 5)))
    assert_allclose(lazy.compute(scheduler="synchronous"), expected, rtol=1e-9)


@pytest.mark.parametrize("options", [{"effects": "shapes"}, {"missing": "mean"}])
def test_lazy_predictions_are_those_of_shapes_and_of_filled_values(options):
    X = np.random.default_rng(0).normal(size=(600, 5))
    y, names = X[:, 1] ** 2, list("abcde")
    if "missing" in options:
        X[::9, 1] = np.nan
    selector, frame = DaskSelector(SieveRegressor(2, **options)), pd.DataFrame(X, columns=names)
    selector.estimator_ = SieveRegressor(2, **options).fit(X, y)
    lazy = selector.predict(da.from_array(X, chunks=(200, 5)))
    assert_allclose(lazy.compute(scheduler="synchronous"), selector.estimator_.predict(X), rtol=1e-9)
    selector.estimator_ = SieveRegressor(2, **options).fit(frame, y)
    lazy = selector.predict(dd.from_pandas(frame, npartitions=3))
    assert_allclose(lazy.compute(scheduler="synchronous"), selector.estimator_.predict(frame), rtol=1e-9)


def test_lazy_predictions_of_a_frame_with_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "kind": rng.choice(["one", "two", "three"], 300)})
    selector = DaskSelector(OLSthRegressor(2))
    selector.estimator_ = OLSthRegressor(2).fit(frame, frame.a + (frame.kind == "two"))
    lazy = selector.predict(dd.from_pandas(frame, npartitions=3))
    assert_allclose(lazy.compute(scheduler="synchronous"), selector.estimator_.predict(frame), rtol=1e-9)


def test_frames_wide_and_narrow(client):
    X, y, w = collections()
    names = [f"c{j}" for j in range(7)]
    frame = pd.DataFrame(X, columns=names).assign(y=y, w=w)
    wide = dd.from_pandas(frame, npartitions=5)
    plain = OLSthRegressor(2).fit(frame[names], y, w)
    by_name = DaskSelector(OLSthRegressor(2), client).fit(wide, "y", sample_weight="w")
    by_series = fit(OLSthRegressor(2), wide[names], wide["y"], sample_weight=wide["w"], client=client)
    for model in (by_name, by_series):
        assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
        assert_array_equal(model.get_feature_names_out(), ["c2", "c5"])
        assert_array_equal(model.feature_names_in_, names)
    assert_array_equal(by_name.transform(wide).columns, ["c2", "c5"])
    predicted = client.compute(by_name.predict(wide)).result(timeout=60)
    assert_allclose(predicted.to_numpy(), plain.predict(frame[names]), rtol=1e-9)
    few = (
        frame[[*names, "y"]]
        .assign(row=range(2000))
        .melt("row", var_name="f", value_name="v")
        .set_index("row")
    )
    narrow = dd.from_pandas(few.sort_index(kind="stable"), npartitions=6, sort=True)
    model = fit(OLSthRegressor(2), narrow, "y", narrow=("f", "v"), client=client)
    assert_allclose(model.coef_, OLSthRegressor(2).fit(frame[names], y).coef_, rtol=1e-9)
    numbered = few[few.f != "y"].assign(f=lambda t: t.f.str[1:].astype(int))
    both = pd.concat([numbered, few[few.f == "y"].assign(f=-1)]).sort_index(kind="stable")
    again = fit(
        OLSthRegressor(2),
        dd.from_pandas(both, npartitions=4, sort=True),
        -1,
        narrow=("f", "v"),
        client=client,
    )
    assert_allclose(again.coef_, model.coef_, rtol=1e-9)


def test_bags_and_labels(client):
    X, y, _ = collections()
    labels = np.where(y > np.median(y), "up", "down")
    rows = [{f"c{j}": X[i, j] for j in range(7)} | {"label": str(labels[i])} for i in range(2000)]
    model = fit(OLSthClassifier(2), db.from_sequence(rows, npartitions=6), "label", client=client)
    plain = OLSthClassifier(2).fit(X, labels)
    assert_array_equal(model.classes_, ["down", "up"])
    assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    selector = DaskSelector(OLSthClassifier(2), client)
    selector.fit(da.from_array(X, chunks=(500, 7)), da.from_array(labels, chunks=500))
    assert_array_equal(
        client.compute(selector.predict(da.from_array(X, chunks=400))).result(timeout=60), plain.predict(X)
    )


def test_paths_and_cross_validation_from_the_same_pass(client):
    X, y, _ = collections()
    lazy = da.from_array(X, chunks=(333, 7)), da.from_array(y, chunks=333)
    model = fit(OLSthRegressor(criterion="cv", n_folds=4), *lazy, client=client)
    plain = OLSthRegressor(criterion="cv", n_folds=4).fit(X, y)
    assert_allclose(cross_validate(model.averages_).mse, cross_validate(plain.averages_).mse, rtol=1e-7)
    ours, theirs = (path(m.averages_.total(), "olasso") for m in (model, plain))
    assert_array_equal(ours.best("bic").support, theirs.best("bic").support)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-9)


# -------------------------------------------------------------------- learners that cannot be merged


def test_row_wise_learners_equal_one_machine_bit_for_bit(client, tmp_path):
    file = write_csv(tmp_path / "rows.csv", text=True)
    model = fit(TSGDRegressor(2), file, unit="40KB", target="y", client=client)
    stream = read(file, target="y")
    plain = TSGDRegressor(2)
    plain = TSGDRegressor(2, grow=True) if "grow" in plain.get_params() else plain
    for X, y, _ in stream:
        plain.partial_fit(X, y)
    assert not list(model.method_.state.differences(plain.method_.state))
    file = write_svmlight(tmp_path / "rows.svm")
    model = fit(FTRLProximalClassifier(k=5), file, unit="20KB", client=client, n_features=50)
    plain = FTRLProximalClassifier(k=5)
    for X, y, _ in read(file, n_features=50):
        plain.partial_fit(X, y, classes=[-1, 1])
    assert not list(model.method_.state.differences(plain.method_.state))
    X, y, _ = collections()
    model = fit(
        TSGDRegressor(2), da.from_array(X, chunks=(300, 7)), da.from_array(y, chunks=300), client=client
    )
    assert not list(model.method_.state.differences(TSGDRegressor(2).partial_fit(X, y).method_.state))


def test_two_passes_give_the_same_bytes(client, tmp_path):
    file, truth = write_wide(tmp_path / "rows.svm")
    units = distributed.plan(file, "100KB")
    for estimator, options in (
        (OLSthRegressor(10), {"candidates": 40}),
        (SieveRegressor(10, memory="1MB"), {}),
    ):
        model = fit(estimator, units, client=client, **options)
        expected = distributed.fit(estimator, units, **options)
        assert not list(model.method_.state.differences(expected.method_.state))
    assert_array_equal(model.get_support(indices=True), truth)
    X, y, _ = collections()
    lazy = da.from_array(X, chunks=(500, 7)), da.from_array(y, chunks=500)
    few = fit(OLSthRegressor(2), *lazy, candidates=4, client=client)
    assert_array_equal(few.candidates_[few.get_support(indices=True)], [2, 5])
    assert_allclose(
        fit(SieveRegressor(2), *lazy, client=client).coef_, SieveRegressor(2).fit(X, y).coef_, rtol=1e-6
    )


# -------------------------------------------------------------------- errors that name the unit


def test_a_corrupt_unit_and_other_columns_are_named(client, tmp_path):
    file = tmp_path / "rows.csv"
    write_csv(file, n=2000)
    lines = file.read_text().splitlines(keepends=True)
    lines[1401] = lines[1401].split(",")[0] + "\n"
    file.write_text("".join(lines))
    with pytest.raises(distributed.UnitError, match=r"^Unit 14 \(bytes .* of .*rows.csv\).*line 1402"):
        fit(OLSthRegressor(1), file, unit="12KB", target="y", client=client)
    write_csv(tmp_path / "a.csv", n=100)
    write_csv(tmp_path / "b.csv", n=100, p=7)
    with pytest.raises(distributed.UnitError, match=r"^Unit 1 \(.*b.csv\).*columns are not those of"):
        fit(OLSthRegressor(1), [tmp_path / "a.csv", tmp_path / "b.csv"], target="y", client=client)
    X = da.concatenate([da.ones((10, 3), chunks=5), da.from_array(np.full((5, 3), np.nan), chunks=5)])
    with pytest.raises(distributed.UnitError, match=r"^Unit 2.*NaN"):
        fit(OLSthRegressor(1), X, da.ones(15, chunks=5), client=client)
    bad = X[:10].map_blocks(_narrower, dtype=float)
    with pytest.raises(distributed.UnitError, match=r"^Unit 1: it has 2 features, the units before it 3"):
        fit(OLSthRegressor(1), bad, da.arange(10, chunks=5), client=client)


def _narrower(block, block_info=None):
    return block[:, :2] if block_info and block_info[0]["chunk-location"][0] == 1 else block


def test_what_is_no_collection_is_refused(client):
    with pytest.raises(TypeError, match="ndarray; pass a Dask array"):
        fit(OLSthRegressor(1), np.ones((3, 2)), np.ones(3), client=client)
    with pytest.raises(ValueError, match="y=None"):
        fit(OLSthRegressor(1), da.ones((4, 2)), client=client)


@pytest.mark.slow
def test_a_worker_that_stays_dead_is_an_error(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=6000)
    cluster = Cluster(tmp_path)
    try:
        cluster.workers(1)
        start = time.monotonic()
        with pytest.raises(distributed.UnitError, match=r"no worker for .* not finished: .*unit 2 \(bytes"):
            fit(
                OLSthRegressor(2), file, unit="40KB", target="y", client=cluster.client, worker_timeout=3,
                progress=lambda finished, n: cluster.kill_one() if finished == 2 else None,  # noqa: ARG005
            )  # fmt: skip
        assert time.monotonic() - start < 60
    finally:
        cluster.close()


@pytest.mark.slow
def test_a_unit_that_kills_its_workers_is_named(tmp_path):
    cluster = Cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
    try:
        cluster.workers(3)
        X = da.ones((40, 3), chunks=10).map_blocks(_suicide, dtype=float)
        with pytest.raises(distributed.UnitError, match=r"^Unit 2"):
            fit(OLSthRegressor(1), X, da.arange(40, chunks=10), client=cluster.client, worker_timeout=20)
    finally:
        cluster.close()


def _suicide(block, block_info=None):
    if block_info and block_info[0]["chunk-location"][0] == 2:
        os.kill(os.getpid(), KILL)
    return block


# -------------------------------------------------------------------- the command line


def test_fit_on_a_scheduler(cluster, client, tmp_path):  # noqa: ARG001
    file = write_csv(tmp_path / "rows.csv")
    options = ["fit", file, "--target", "y", "--method", "olsth", "-k", "2", "--unit", "60KB"]
    result = CliRunner().invoke(
        main, [*options, "--scheduler", cluster.address, "-o", str(tmp_path / "a"), "--json"]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["rows_learned"] == 3000
    assert "100%" in result.stderr
    assert CliRunner().invoke(main, [*options, "-o", str(tmp_path / "b")]).exit_code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
