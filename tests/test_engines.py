"""One Parquet file, every engine, the same bytes; also where a worker is killed in the middle.

`tests/engines/run` runs all; engines that are not installed are skipped, with the reason.
"""

import hashlib
import importlib.util
import os
import signal
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from streamsieve import OLSthRegressor, SGDRegressor, SieveClassifier, SieveRegressor, distributed, read, save

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn of each other's versions

N = 12_000
ESTIMATORS = [OLSthRegressor(criterion="cv"), SieveRegressor(3), SieveClassifier(2)]


def needs(package, extra=None):
    """Skips with the reason where a package is missing."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'streamsieve[{extra or package}]'")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Numbers, a category, a weight and two targets, in many row groups."""
    rng = np.random.default_rng(0)
    X = rng.normal(100, 1, (N, 8))
    frame = pd.DataFrame({f"x{j}": X[:, j] for j in range(8)})
    frame["colour"] = rng.choice(["red", "green", "blue"], N)
    frame["w"] = rng.uniform(0.5, 2, N)
    frame["y"] = X[:, 1] - 2 * X[:, 4] + (frame.colour == "red") + 0.5 * rng.normal(size=N)
    frame["label"] = np.where(frame.y > frame.y.mean(), "high", "low")
    path = str(tmp_path_factory.mktemp("engines") / "rows.parquet")
    frame.to_parquet(path, row_group_size=1000, index=False)
    return path


def options_of(estimator):
    labels = "Classifier" in type(estimator).__name__
    return {"target": "label" if labels else "y", "drop": ["y" if labels else "label"]}


def digest(estimator, tmp_path):
    """Of all that is stored of a model."""
    save(estimator, tmp_path / "model.sieve")
    return hashlib.sha256((tmp_path / "model.sieve").read_bytes()).hexdigest()


@pytest.fixture(params=ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def case(request, file, tmp_path, monkeypatch):
    """An estimator, its options, and what checks a model against those of one machine.

    That of `distributed.fit` has the same bytes, and that of the plain call equal weights, to rounding; on
    labels, where the rows are kept, the same bytes too. Leaves are short, so that partitions cut them.
    """
    monkeypatch.setattr(importlib.import_module("streamsieve.distributed.partial"), "_LEAF_VALUES", 1)
    estimator, options = request.param, {**options_of(request.param), "weight": "w"}
    plain = clone(estimator).fit(read(file, **options))
    expected = digest(distributed.fit(estimator, file, **options), tmp_path)
    if isinstance(estimator, SieveClassifier):
        assert digest(plain, tmp_path) == expected

    def check(model):
        assert digest(model, tmp_path) == expected
        assert_allclose(model.coef_, plain.coef_, rtol=1e-7)

    return estimator, options, check


# ---------------------------------------------------------------- on this machine


def test_polars(case, file):
    needs("polars")
    import polars as pl

    estimator, options, check = case
    check(distributed.fit(estimator, pl.scan_parquet(file), **options))
    check(distributed.fit(estimator, pl.read_parquet(file), **options))


def test_pandas_and_pyarrow(case, file):
    import pyarrow.parquet as pq

    estimator, options, check = case
    check(distributed.fit(estimator, pd.read_parquet(file), **options))
    check(distributed.fit(estimator, pq.read_table(file), **options))


def test_duckdb(case, file):
    needs("duckdb", "sql")
    import duckdb

    estimator, options, check = case
    check(distributed.fit(estimator, duckdb.sql(f"SELECT * FROM '{file}'"), **options))
    check(distributed.fit(estimator, f"duckdb:SELECT * FROM '{file}'", **options))


def test_ibis(case, file):
    needs("ibis", "engines")
    import ibis  # on polars: Ibis 12 calls a method that DuckDB 2 no longer has

    estimator, options, check = case
    check(distributed.fit(estimator, ibis.polars.connect().read_parquet(file), **options))


def test_dask(case, file, tmp_path):
    needs("distributed", "dask")
    from distributed import Client, LocalCluster

    from streamsieve.dask import fit

    estimator, options, check = case
    local = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**local, local_directory=str(tmp_path)) as cluster, Client(cluster) as client:
        check(fit(estimator, file, client=client, unit="100KB", **options))


def test_tables_are_fitted_by_the_name_of_their_target(file):
    needs("polars")
    needs("duckdb", "sql")
    import duckdb
    import polars as pl

    columns = [*(f"x{j}" for j in range(8)), "colour", "w", "y"]
    table = pd.read_parquet(file)[columns]
    plain = OLSthRegressor(3).fit(read(table, target="y", weight="w"))
    query = f"SELECT {', '.join(columns)} FROM '{file}'"
    sources = [
        table, pl.scan_parquet(file).select(columns), pa.Table.from_pandas(table), duckdb.sql(query),
        f"duckdb:{query}",
    ]  # fmt: skip
    for source in sources:
        found = OLSthRegressor(3).fit(source, "y", "w")
        assert_array_equal(found.coef_, plain.coef_)
        assert_array_equal(found.predict(table[:9]), plain.predict(table[:9]))
        stream = OLSthRegressor(3).partial_fit(source, "y", "w")
        assert_allclose(stream.coef_, plain.coef_, rtol=1e-9)
        assert list(stream.get_feature_names_out()) == list(plain.get_feature_names_out())
    once = pa.RecordBatchReader.from_batches(sources[2].schema, sources[2].to_batches(1000))
    stream = OLSthRegressor(3).partial_fit(once, "y", "w").partial_fit(table, "y", "w")
    assert_allclose(stream.coef_, plain.coef_, rtol=1e-9)
    labels = SieveClassifier(2).fit(pd.read_parquet(file).drop(columns=["y"]), "label")
    assert list(labels.classes_) == ["high", "low"]


def test_the_schema_of_a_long_frame_does_not_depend_on_its_kind(file, tmp_path, monkeypatch):
    """It is made of the first rows, however they are cut: fills and levels are the same."""
    import pyarrow.parquet as pq

    module = importlib.import_module("streamsieve.distributed.fit")
    monkeypatch.setattr(module, "sample_rows", lambda columns: 1500)  # noqa: ARG005
    frame = pd.read_parquet(file).drop(columns="label")
    frame.loc[::7, "x1"] = np.nan
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=700, index=False)
    sources = [frame, pq.read_table(tmp_path / "rows.parquet")]
    sources.append([pa.table(frame[:10]), pa.table(frame[10:])])
    if importlib.util.find_spec("polars") is not None:
        import polars as pl

        sources.append(pl.scan_parquet(tmp_path / "rows.parquet"))
    found = {digest(distributed.fit(OLSthRegressor(3), s, target="y"), tmp_path) for s in sources}
    assert len(found) == 1


def test_long_frames_are_sampled_for_the_schema(file, monkeypatch):
    import pyarrow.parquet as pq

    from streamsieve.sources.readers import frames

    monkeypatch.setattr(frames, "SAMPLE", N // 5)
    sources = [pd.read_parquet(file), pq.read_table(file)]
    if importlib.util.find_spec("polars") is not None:
        import polars as pl

        sources.append(pl.read_parquet(file))
    found = [OLSthRegressor(3).fit(source, "y").coef_ for source in sources]
    for coef in found:
        assert_allclose(coef, found[0], rtol=1e-9)


# ---------------------------------------------------------------- Spark


@pytest.fixture(scope="module")
def spark():
    needs("pyspark", "spark")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    settings = {
        "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.task.maxFailures": "4",
        "spark.sql.files.maxPartitionBytes": "200000", "spark.sql.files.openCostInBytes": "0",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2,4]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.mark.engines
def test_spark(case, file, spark):
    from streamsieve.spark import fit

    estimator, options, check = case
    frame = spark.read.parquet(file)
    assert frame.rdd.getNumPartitions() > 2
    check(fit(estimator, frame, **options))
    check(fit(estimator, frame.coalesce(1), **options))
    assert len(distributed.plan(file, "1KB", target="y")) == N // 1000  # more than one task merges
    check(fit(estimator, file, unit="1KB", **options))


@pytest.mark.engines
def test_partitions_are_numbered_with_and_without_a_shuffle(file, spark):
    from pyspark.sql import functions as F

    from streamsieve.spark.run import _first_rows

    frame = spark.read.parquet(file)
    for some in (
        frame,
        frame.where("x1 > 100"),
        frame.where("x1 > 1e9"),
        frame.limit(5000),
        frame.orderBy("x1"),
    ):
        where = some.withColumn("at", F.spark_partition_id()).groupBy("at").count().collect()
        sizes = {row["at"]: row["count"] for row in where}
        rows = _first_rows(some, 7)
        assert set(sizes) <= set(rows)
        for number, first in rows.items():
            assert first == 7 + sum(n for at, n in sizes.items() if at < number)


@pytest.mark.engines
def test_a_spark_task_that_is_killed_is_learned_again(case, file, spark, tmp_path):
    from streamsieve.spark import run

    estimator, options, check = case
    flag = str(tmp_path / "killed")
    real = run._learn

    def learn(made, frame, features, rows):
        return real(
            made, frame.mapInArrow(lambda batches: kill_once(batches, flag), frame.schema), features, rows
        )

    run._learn = learn
    try:
        check(run.fit(estimator, spark.read.parquet(file), **options))
    finally:
        run._learn = real
    assert os.path.exists(flag)


def kill_once(batches, flag):
    """Kill the process in the middle of its rows, the first time."""
    for i, batch in enumerate(batches):
        if i == 0:
            yield batch[: len(batch) // 2]
            batch = batch[len(batch) // 2 :]
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
        yield batch


@pytest.mark.engines
def test_stages_of_a_spark_pipeline(file, spark, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import VectorAssembler

    from streamsieve.spark import Selector, SieveSelector

    frame = spark.read.parquet(file)
    names = [f"x{j}" for j in range(8)]
    plain = pd.read_parquet(file)
    assembler = VectorAssembler(inputCols=names, outputCol="features")
    stage = SieveSelector(2, featuresCol="features", labelCol="y", weightCol="w", predictionCol="guess")
    pipeline = Pipeline(stages=[assembler, stage])
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    model = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
    model.write().overwrite().save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    rows = again.transform(frame).select("selected", "guess").limit(50).collect()
    assert_array_equal(np.array([row.selected.toArray() for row in rows]), plain[["x1", "x4"]][:50])
    found = again.stages[1].estimator
    assert_allclose([row.guess for row in rows], found.predict(plain[names].to_numpy()[:50]))
    alone = SieveRegressor(2).fit(plain[names].to_numpy(), plain.y, plain.w)
    assert_allclose(found.coef_, alone.coef_, rtol=1e-6)
    # plain columns, with categories
    stage = Selector(OLSthRegressor(3), labelCol="y", outputCol="chosen", predictionCol="guess")
    fitted = stage.fit(frame.drop("label", "w"))
    rows = fitted.transform(frame).select("chosen", "guess").limit(20).collect()
    expected = fitted.estimator.transform(plain.drop(columns=["label", "w", "y"])[:20])
    assert_allclose(np.array([row.chosen.toArray() for row in rows]), expected)


@pytest.mark.engines
def test_sparse_vectors_and_row_wise_learners_on_spark(spark):
    from pyspark.ml.linalg import Vectors

    from streamsieve.spark import fit

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30)) * (rng.random((400, 30)) < 0.2)
    y = X[:, 3] - X[:, 7] + 0.1 * rng.normal(size=400)
    rows = [
        (
            Vectors.dense(x)
            if i % 5 == 0
            else Vectors.sparse(30, np.flatnonzero(x).tolist(), x[x != 0].tolist()),
            float(t),
        )
        for i, (x, t) in enumerate(zip(X, y))
    ]
    frame = spark.createDataFrame(rows, ["features", "y"]).repartition(3).cache()
    found = fit(OLSthRegressor(2), frame, "y", features="features")
    assert_array_equal(found.get_support(indices=True), [3, 7])
    turn = fit(SGDRegressor(), frame, "y", features="features")
    assert np.corrcoef(turn.predict(X), y)[0, 1] > 0.8
    labels = frame.withColumn("y", (frame.y > 0).cast("int"))
    assert set(fit(SieveClassifier(2), labels, "y", features="features").get_support(indices=True)) == {3, 7}


@pytest.mark.engines
@pytest.mark.parametrize("estimator", [*ESTIMATORS, SGDRegressor()], ids=lambda e: type(e).__name__)
def test_micro_batches_are_learned_once(estimator, file, spark):
    from streamsieve.spark import MicroBatches

    options = {**options_of(estimator), "weight": "w"}
    plain, learner = pd.read_parquet(file), MicroBatches(estimator, **options)
    for number, at in enumerate((slice(0, 5000), slice(5000, 5001), slice(5001, N))):
        frame = spark.createDataFrame(plain[at])
        learner(frame, number)
        learner(frame, number)  # repeated after a failure
        assert learner.model.method_.n_rows in (at.stop, None)  # reading it changes nothing
    whole = distributed.fit(estimator, plain, **options, schema=learner.model.schema_)
    assert not list(whole.method_.state.differences(learner.model.method_.state))


@pytest.mark.engines
@pytest.mark.parametrize("estimator", [
    SieveRegressor(2, effects="shapes"), SieveRegressor(2), OLSthRegressor(2, half_life=1e9),
])  # fmt: skip
def test_micro_batches_of_vectors(estimator, file, spark):
    from pyspark.ml.feature import VectorAssembler

    from streamsieve.spark import MicroBatches

    names = [f"x{j}" for j in range(8)]
    assembler = VectorAssembler(inputCols=names, outputCol="features")
    plain, learner = pd.read_parquet(file), MicroBatches(estimator, "y", weight="w", features="features")
    stream = type(estimator)(**estimator.get_params())
    for number, at in enumerate((slice(0, 5000), slice(5000, N))):
        learner(assembler.transform(spark.createDataFrame(plain[at])), number)
        stream.partial_fit(plain[names].to_numpy()[at], plain.y[at], plain.w[at])
    X = plain[names].to_numpy()
    assert_allclose(learner.model.predict(X), stream.predict(X), rtol=1e-6)


# ---------------------------------------------------------------- Ray


@pytest.fixture(scope="module")
def ray_cluster():
    needs("ray")
    import ray

    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield ray
    ray.shutdown()


@pytest.mark.engines
def test_ray(case, file, ray_cluster):  # noqa: ARG001
    import ray.data

    from streamsieve.ray import fit

    estimator, options, check = case
    check(fit(estimator, ray.data.read_parquet(file, override_num_blocks=5), **options))
    check(fit(estimator, ray.data.from_pandas(pd.read_parquet(file)), **options))
    check(fit(estimator, file, unit="100KB", **options))


@pytest.mark.engines
def test_a_ray_worker_that_is_killed_is_replaced(case, file, ray_cluster, tmp_path, monkeypatch):
    import ray.data

    import streamsieve.ray as engine

    estimator, options, check = case
    flag = str(tmp_path / "killed")

    @ray_cluster.remote(max_retries=5)
    def learn(made, number, row, block, at):
        part = made.zero(number, row)
        for piece in kill_once(block[at].to_batches(), flag):
            part.update(piece)
        return part.to_bytes()

    monkeypatch.setattr(engine, "_learn", learn)
    check(engine.fit(estimator, ray.data.read_parquet(file, override_num_blocks=5), **options))
    assert os.path.exists(flag)


@pytest.mark.engines
def test_row_wise_learners_on_ray(file, ray_cluster):  # noqa: ARG001
    import ray.data

    from streamsieve.ray import fit

    found = fit(SGDRegressor(), ray.data.read_parquet(file), target="y", drop=["label"])
    plain = distributed.fit(SGDRegressor(), pd.read_parquet(file), target="y", drop=["label"])
    assert not list(found.method_.state.differences(plain.method_.state))
    assert found.n_features_in_ == plain.n_features_in_


def test_no_engine_is_imported_by_another():
    import subprocess

    code = (
        "import sys, streamsieve, streamsieve.cli, streamsieve.distributed;"
        "print([m for m in ('pyspark', 'ray', 'distributed', 'duckdb', 'polars', 'fsspec', 'onnx', 'mlflow', "
        "'pyarrow') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
