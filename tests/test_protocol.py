"""The protocol of engines: zero, update, merge, bytes, finish. The same bytes for any partitioning."""

import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from streamsieve import (
    OFSARegressor,
    OLSthClassifier,
    OLSthRegressor,
    SieveClassifier,
    SieveRegressor,
    TSGDRegressor,
    distributed,
)
from streamsieve.distributed.partial import Loose, leaf_rows
from streamsieve.persist import CheckpointError

pd = pytest.importorskip("pandas", reason="pandas is not installed")
N = 20_000


@pytest.fixture(scope="module")
def frame():
    """Numbers far from zero, a category, rows without a target."""
    rng = np.random.default_rng(0)
    X = rng.normal(1000, 1, (N, 70))
    data = {f"x{j}": X[:, j] for j in range(70)}
    data["colour"] = rng.choice(["red", "green", "blue"], N)
    y = X[:, 3] - X[:, 7] + (data["colour"] == "red") + rng.normal(size=N)
    y[rng.random(N) < 0.01] = np.nan
    data["w"] = rng.uniform(0.5, 2, N)
    return pd.DataFrame({**data, "y": y})


def same(a, b):
    return not list(a.method_.state.differences(b.method_.state))


def run_in(cuts, frame):
    """An engine whose partitions end at some rows: states travel as bytes; neighbours merge in any order."""

    def run(task):
        ends = [0, *sorted(cuts), len(frame)]
        if not task.merges:
            ends = [0, len(frame)]
        parts = [task.zero(i, a).update(frame[a:b]).to_bytes() for i, (a, b) in enumerate(pairwise(ends))]
        while len(parts) > 1:
            i = (7 * len(parts)) % (len(parts) - 1)
            merged = task.from_bytes(parts[i]).merge(task.from_bytes(parts[i + 1]))
            parts[i : i + 2] = [merged.to_bytes()]
        return task.from_bytes(parts[0])

    return run


def fit_in(estimator, cuts, frame, **options):
    task = distributed.task(estimator, frame, target="y", **options)
    return distributed.fit_task(task, run_in(cuts, frame))


@pytest.mark.parametrize(
    "estimator", [OLSthRegressor(3), OLSthRegressor(criterion="cv"), OFSARegressor(3), SieveRegressor(3)]
)
def test_any_partitioning_gives_the_same_bytes(frame, estimator):
    whole = distributed.fit(estimator, frame, target="y", weight="w")
    assert set(whole.get_feature_names_out()) >= {"x3", "x7"}
    rng = np.random.default_rng(1)
    for cuts in ([1], [4096], [5, 6, 15_000], rng.integers(1, N, 12).tolist()):
        assert same(fit_in(estimator, cuts, frame, weight="w"), whole)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 9000), max_size=6), st.booleans())
def test_arrays_dense_and_sparse_in_any_partitions(cuts, sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 1200)) * (rng.random((9000, 1200)) < 0.02)
    X = csr_array(X) if sparse else X[:, :40].copy()
    y = np.asarray(X[:, [3]].todense() if sparse else X[:, [3]]).ravel() + rng.normal(size=9000)
    task = distributed.task(OLSthRegressor(2), p=X.shape[1])
    assert leaf_rows(1200) == 4096 < leaf_rows(40)
    task = replace(task, leaf=4096)
    ends = [0, *sorted(cuts), 9000]
    parts = [task.zero(row=a).update((X[a:b], y[a:b])) for a, b in pairwise(ends)]
    merged = distributed.merge_in_order(pickle.loads(pickle.dumps(part)) for part in parts)
    whole = task.zero(row=0)
    for a in range(0, 9000, 777):
        whole.update((X[a : a + 777], y[a : a + 777]))
    assert same(merged.finish(), whole.finish())


def test_rows_that_another_partition_has_begun_travel_as_they_are(frame):
    task = distributed.task(OLSthRegressor(3), frame, target="y")
    assert task.leaf == 4096 * 7  # of 73 columns: 16 MB
    small = replace(task, leaf=4096)
    part = small.zero(row=4000).update(frame[4000:13_000])
    assert [type(piece).__name__ for piece in part.pieces] == ["Loose", "Part", "Part", "Open"][
        : len(part.pieces)
    ]
    first = part.pieces[0]
    assert isinstance(first, Loose)
    assert (first.first, first.last) == (4000, 4096)
    with pytest.raises(distributed.PartError, match="Row 0 is missing"):
        part.finish()
    with pytest.raises(distributed.PartError, match="expected row 13000 next"):
        part.merge(small.zero(row=13_001))


def test_labels_are_sieved_in_one_pass_by_rows_that_travel(frame):
    data = frame.dropna().assign(y=lambda f: np.where(f.y > f.y.mean(), "up", "down"))[:3000]
    passes = []

    def run(task):
        passes.append(type(task.like.method).__name__)
        return run_in([10, 1000], data)(task)

    estimator = SieveClassifier(3)
    task = distributed.task(estimator, data, target="y")
    found = distributed.fit_task(task, run)
    assert passes == ["KeptRows"]
    plain = distributed.fit(SieveClassifier(3), data, target="y")
    serial = task.zero().update(data)  # a sieve itself, rows in turn
    assert same(found, plain)
    assert same(found, serial.finish())
    assert list(found.classes_) == ["down", "up"]


def test_labels_that_do_not_fit_into_memory_are_read_again(frame):
    data = frame.dropna().assign(y=lambda f: (f.y > f.y.mean()).astype(int)).reset_index(drop=True)
    estimator, passes = SieveClassifier(3, memory="1MB"), []
    task = distributed.task(estimator, data, target="y")

    def run(task):
        passes.append(type(task.like.method).__name__)
        return run_in([10_000], data)(task)

    found = distributed.fit_task(task, run)
    assert passes == ["KeptRows", "Sieve"]  # all features are candidates: rows in turn
    assert same(found, task.zero().update(data).finish())


def test_methods_that_learn_in_turn_are_learned_by_one_worker(frame):
    found = fit_in(TSGDRegressor(3), [100], frame)
    assert set(found.get_feature_names_out()) >= {"x3"}
    assert not hasattr(distributed.task(TSGDRegressor(3), frame, target="y").like.method, "merge")


def test_units_of_parquet_do_not_matter(frame, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=3000, index=False)
    whole = distributed.fit(OLSthRegressor(criterion="cv"), frame, target="y", weight="w")
    for unit in ("100KB", "1MB", "1GB"):
        found = distributed.fit(
            OLSthRegressor(criterion="cv"), tmp_path / "a.parquet", unit=unit, target="y", weight="w"
        )
        assert same(found, whole)
    for name, rows in (("b0", slice(0, 7000)), ("b1", slice(7000, N))):
        frame[rows].to_parquet(tmp_path / f"{name}.parquet", index=False)
    schema = distributed.plan(tmp_path / "a.parquet", target="y", weight="w").layout.table["schema"]
    from streamsieve.sources.schema import Schema

    found = distributed.fit(OLSthRegressor(criterion="cv"), str(tmp_path / "b*.parquet"), unit="500KB",
                            target="y", weight="w", schema=Schema.from_plain(schema),
                            folder=tmp_path / "units")  # fmt: skip
    assert same(found, whole)


def test_a_sieve_of_sums_predicts_and_clips_as_one_machine():
    rng = np.random.default_rng(0)
    X = rng.normal(100, 1, (6000, 5))
    X[:, 4] *= rng.random(6000) < 0.1
    y = X[:, 1] + 0.5 * X[:, 2] + 0.1 * X[:, 4] + rng.normal(size=6000)
    plain = SieveRegressor(3).fit(X, y)
    for Z in (X, csr_array(X)):
        task = distributed.task(SieveRegressor(3), p=5)

        def run(task, Z=Z):
            first = task.zero(0, 0).update((Z[:2500], y[:2500]))
            return first.merge(task.zero(1, 2500).update((Z[2500:], y[2500:])))

        found = distributed.fit_task(task, run)
        assert_allclose(found.predict(X), plain.predict(X), rtol=1e-6)
        with pytest.warns(UserWarning, match="outside"):
            assert_allclose(found.predict(10 * X), plain.predict(10 * X), rtol=1e-6)


def test_it_equals_one_machine_to_rounding(frame):
    numbers = frame.drop(columns=["colour", "w"])[frame.y.notna()]
    whole = distributed.fit(OLSthRegressor(3), numbers, target="y")
    plain = OLSthRegressor(3).fit(numbers.drop(columns=["y"]), numbers.y)
    assert_allclose(whole.coef_, plain.coef_, rtol=1e-6)


def test_damaged_bytes_are_refused(frame):
    task = distributed.task(OLSthClassifier(2), frame.dropna().assign(y=1 * (frame.x3 > 1000)), target="y")
    data = task.zero(row=0).to_bytes()
    assert task.from_bytes(data).pieces == []
    with pytest.raises(CheckpointError):
        task.from_bytes(data[:-1])
    with pytest.raises(CheckpointError):
        task.from_bytes(b"nothing")


def test_no_rows_and_one_row(frame):
    task = distributed.task(OLSthRegressor(1), frame, target="y")
    with pytest.raises(ValueError, match="not a single row"):
        task.zero(row=0).finish()
    parts = [task.zero(row=0), task.zero(row=0).update(frame[:1]), task.zero(row=1)]
    assert distributed.merge_in_order(parts).finish().n_features_in_ == 72


def test_workers_that_learn_a_task_do_not_import_scikit_learn(tmp_path):
    task = distributed.task(OLSthRegressor(2), p=3)
    sent = []

    def run(made):
        sent.append(made)
        return made.zero(row=0).update((np.eye(3), np.arange(3.0)))

    assert distributed.fit_task(task, run).coef_.shape == (3,)
    file = tmp_path / "task.pickle"
    file.write_bytes(pickle.dumps(sent[0]))
    code = (
        f"import pickle, sys, numpy as np; task = pickle.load(open({str(file)!r}, 'rb'))\n"
        "task.zero(row=0).update((np.eye(3), np.arange(3.0))).to_bytes()\n"
        "assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
