"""Units, parts and shards: every row once, the same bytes whoever reads, errors that name the unit."""

import gzip
import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from streamsieve import (
    FoldAverages,
    OFSARegressor,
    OLassoClassifier,
    OLSthClassifier,
    OLSthRegressor,
    RunningAverages,
    SieveClassifier,
    SieveRegressor,
    TSGDRegressor,
    cross_validate,
    distributed,
    load,
    read,
    save,
)
from streamsieve.cli import main
from streamsieve.distributed.partial import Tree

rng = np.random.default_rng(0)


def write_csv(file, n=3000, p=6, seed=0, text=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(100, 1, (n, p))
    y = X[:, 1] - 2 * X[:, 4] + 0.1 * rng.normal(size=n)
    with open(file, "w") as f:
        f.write(",".join([f"x{j}" for j in range(p)] + ["colour"] * text + ["y"]) + "\n")
        for i in range(n):
            word = [['"red\nor ""so"""', "blue", f"c{i // 400}"][i % 3]] if text else []
            f.write(",".join([*map(repr, X[i].tolist()), *word, repr(float(y[i]))]) + "\n")
    return str(file)


def write_svmlight(file, n=2000, p=50, labels=(-1, 1)):
    rng = np.random.default_rng(1)
    with open(file, "w") as f:
        for _ in range(n):
            j = np.sort(rng.choice(p, 5, replace=False))
            x = rng.normal(size=5)
            label = labels[int(x[j == j[0]][0] > 0)] if len(labels) == 2 else rng.choice(labels)
            f.write(f"{label} " + " ".join(f"{a + 1}:{v!r}" for a, v in zip(j, x.tolist())) + "\n")
    return str(file)


def write_parquet(file, n=3000, p=6, group=200):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X = np.random.default_rng(0).normal(100, 1, (n, p))
    y = X[:, 1] - 2 * X[:, 4]
    columns = {f"x{j}": X[:, j] for j in range(p)} | {"y": y}
    parquet.write_table(pa.table(columns), file, row_group_size=group)
    return str(file)


def state_bytes(estimator, tmp_path, name="model"):
    save(estimator, tmp_path / name)
    return (tmp_path / name).read_bytes()


def rows_of(blocks):
    """All rows of blocks as one array, as wide as the widest."""
    blocks = [(X.toarray() if hasattr(X, "toarray") else X, y) for X, y, _ in blocks]
    p = max(X.shape[1] for X, _ in blocks)
    X = np.vstack([np.pad(X, ((0, 0), (0, p - X.shape[1]))) for X, _ in blocks])
    return X, np.concatenate([y for _, y in blocks])


# -------------------------------------------------------------------- plans

CELLS = st.sampled_from(["1", "2.5", '"3"', '"a\nb"', '"4,5"', '"say ""x""\n\n1,2,3"', "word", '""'])


@settings(max_examples=30)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=60), st.integers(20, 400), st.booleans())
def test_units_of_csv_hold_every_row_once(tmp_path_factory, rows, unit, scan):
    file = tmp_path_factory.mktemp("csv") / "rows.csv"
    file.write_text("n,a,b,y\n" + "".join(f"{i},{a},{b},{i}\n" for i, (a, b) in enumerate(rows)), newline="")
    options = {"target": "y", "categorical": ["a", "b"], "missing": "zero"}
    units = distributed.plan(file, unit, scan=scan, **options)
    expected = read(file, **options)
    X, y = rows_of(expected)
    try:
        parts = [(unit.open(), rows_of(unit.open())) for unit in units]
    except ValueError as error:  # a cell that looks like rows: noticed, never read
        message = str(error)
    else:
        message = ""
    if message:
        assert "scan=True" in message
        assert not scan
        return
    assert_array_equal(np.concatenate([part[1][1] for part in parts]), y)
    assert_array_equal(np.concatenate([part[1][0][:, 0] for part in parts]), X[:, 0])


@pytest.mark.parametrize("unit", [500, 5000, "1MB"])
def test_units_of_svmlight_hold_every_row_once(tmp_path, unit):
    file = write_svmlight(tmp_path / "rows.svm")
    units = distributed.plan(file, unit)
    X, y = rows_of(read(file))
    parts = [rows_of(unit.open(n_features=X.shape[1])) for unit in units]
    assert len(units) == max(1, -(-os.path.getsize(file) // (unit if isinstance(unit, int) else 1 << 20)))
    assert_array_equal(np.vstack([part[0] for part in parts]), X)
    assert_array_equal(np.concatenate([part[1] for part in parts]), y)


def test_units_of_parquet_are_row_groups(tmp_path):
    file = write_parquet(tmp_path / "rows.parquet")
    units = distributed.plan([file, file], "25KB", target="y")
    assert len(units) > 4
    assert {(unit.start, unit.stop) for unit in units} >= {(0, units[0].stop)}
    X, y = rows_of(read([file, file], target="y"))
    parts = [rows_of(unit.open()) for unit in units]
    assert_array_equal(np.vstack([part[0] for part in parts]), X)
    assert_array_equal(np.concatenate([part[1] for part in parts]), y)


def test_a_packed_file_is_one_unit(tmp_path):
    plain = write_csv(tmp_path / "rows.csv", n=500)
    packed = tmp_path / "more.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    units = distributed.plan([plain, packed], 5000, target="y")
    assert [unit for unit in units if unit.files == (str(packed),)] == [units[-1]]
    assert (units[-1].start, units[-1].stop) == (0, None)
    assert sum(len(rows_of(unit.open())[1]) for unit in units) == 1000


def test_a_cell_that_looks_like_rows_is_noticed_and_scanned(tmp_path):
    file = tmp_path / "rows.csv"
    decoy = '"' + "1,2,3\n" * 50 + '"'
    file.write_text("a,b,y\n" + "".join(f"{i % 3},{decoy},{i % 7}\n" for i in range(20)), newline="")
    options = {"target": "y", "categories": "drop", "on_bad_row": "skip"}
    units = distributed.plan(file, 1000, **options)
    like = distributed.prepare(OLSthRegressor(1), units)
    with pytest.raises(distributed.UnitError, match=r"Unit 0 \(bytes 0 to .*rows.csv\).*scan=True"):
        distributed.merge_in_order(distributed.accumulate(unit, like) for unit in units)
    scanned = distributed.plan(file, 1000, scan=True, **options)
    assert len(scanned) > 3
    whole = distributed.merge_in_order(distributed.accumulate(unit, like) for unit in scanned)
    assert whole.whole().rows == 20


def test_a_plan_depends_on_files_and_options_alone(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=300)
    first = distributed.plan(file, 3000, target="y")
    assert distributed.plan(str(tmp_path / "*.csv"), 3000, target="y").digest == first.digest
    assert distributed.plan(file, 3001, target="y").digest != first.digest
    assert distributed.plan(file, 3000, target="x0").digest != first.digest
    write_csv(file, n=300, seed=1)
    assert distributed.plan(file, 3000, target="y").digest != first.digest
    with pytest.raises(distributed.UnitError, match=r"Unit 1 .* not the file that the plan was made of"):
        distributed.accumulate(first[1], distributed.prepare(OLSthRegressor(1)))


@pytest.mark.parametrize("option", [{"limit": 10}, {"hold_out": 5}, {"shuffle_buffer": 10}, {"passes": 2}])
def test_options_that_count_rows_of_the_whole_source_are_refused(tmp_path, option):
    file = write_csv(tmp_path / "rows.csv", n=50)
    with pytest.raises(ValueError, match=next(iter(option))):
        distributed.plan(file, target="y", **option)


# -------------------------------------------------------------------- parts


@pytest.mark.parametrize("estimator", [OLSthRegressor(2), OLSthRegressor(criterion="cv"), OFSARegressor(2)])
def test_units_in_any_order_give_the_same_bytes(tmp_path, estimator):
    file = write_csv(tmp_path / "rows.csv", text=True)
    units = distributed.plan(file, "20KB", target="y")
    whole = distributed.fit(estimator, units)
    like = distributed.prepare(estimator, units)
    parts = {}
    for number in random.Random(0).sample(range(len(units)), len(units)):
        parts[number] = pickle.loads(pickle.dumps(distributed.accumulate(units[number], like)))
    merged = Tree(distributed.merge)
    for number in range(len(units)):
        merged.add(parts[number])
    again = distributed.fit(estimator, units)
    last = merged.whole().model.method
    last.averages.unpack()
    assert not list(whole.method_.state.differences(last.state))
    assert state_bytes(whole, tmp_path, "a") == state_bytes(again, tmp_path, "b")


def test_a_tree_merges_neighbours_of_one_height():
    for n in range(40):
        heights = Tree(lambda a, b: (a[0] + b[0], max(a[1], b[1]) + 1))
        for leaf in range(n):
            heights.add(([leaf], 0))
            assert len(heights.subtrees) == (leaf + 1).bit_count()
        found = heights.whole()
        assert found == (None if n == 0 else (list(range(n)), (n - 1).bit_length()))


def test_units_are_one_machine_to_rounding(tmp_path):
    file = write_csv(tmp_path / "rows.csv", text=True)
    plain = OLSthRegressor(2, grow=True)
    folds = FoldAverages(5)
    stream = read(file, target="y", block_size=1000)
    for X, y, _ in stream:
        plain.partial_fit(X, y)
        folds.add(*_checked(X, y))
    whole = distributed.fit(OLSthRegressor(2), file, unit="20KB", target="y")
    assert list(whole.get_feature_names_out()) == ["x1", "x4"]
    assert whole.schema_.feature_names == stream.feature_names
    assert_allclose(whole.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    assert whole.averages_.n_samples_ == plain.averages_.n_samples_ == 3000
    by_fold = distributed.fit(OLSthRegressor(criterion="cv"), file, unit="20KB", target="y")
    # row i is in fold i mod K, whichever unit it is in
    assert [f.n_samples_ for f in by_fold.averages_.folds_] == [f.n_samples_ for f in folds.folds_]
    assert_allclose(cross_validate(by_fold.averages_).mse, cross_validate(folds).mse, rtol=1e-6)


def _checked(X, y):
    from streamsieve.core.rows import as_rows

    return as_rows(X)[0], y[:, None]


def test_classes_come_from_the_first_rows_or_the_user(tmp_path):
    file = write_svmlight(tmp_path / "rows.svm")
    model = distributed.fit(OLSthClassifier(3), file, unit="10KB")
    assert_array_equal(model.classes_, [-1, 1])
    blocks = list(read(file))
    plain = OLSthClassifier(3, grow=True)
    for X, y, _ in blocks:
        plain.partial_fit(X, y, classes=[-1, 1])
    assert_allclose(model.coef_, plain.coef_, atol=1e-12)
    late = distributed.fit(OLassoClassifier(3), file, unit="10KB", classes=[-1, 1, 7])
    assert_array_equal(late.classes_, [-1, 1, 7])
    with pytest.raises(distributed.UnitError, match=r"Unit 0 .*label -1"):
        distributed.fit(OLSthClassifier(3), file, unit="10KB", classes=[1, 7])


def test_threads_of_blas_do_not_change_the_bytes(tmp_path):
    X = rng.normal(size=(1500, 600))
    np.savez(tmp_path / "rows.npz", X=X, y=X[:, 3])
    states = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            states.append(distributed.fit(OLSthRegressor(1), tmp_path / "rows.npz", target="y").method_.state)
    assert not list(states[0].differences(states[1]))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_packed_averages_are_half_and_merge_alike(dtype):
    X, y = rng.normal(50, 1, (400, 200)), rng.normal(size=400)
    a, b = (RunningAverages(dtype=dtype).update(X[at], y[at]) for at in (slice(0, 150), slice(150, 400)))
    a.flush()
    full = a.copy().merge(b)
    size = len(pickle.dumps(a.copy().unpack()))
    left, right = a.copy().pack(), b.copy().pack()
    assert len(pickle.dumps(left)) < 0.55 * a.moments.sums.nbytes < size
    left.merge(right)
    assert left.moments.packed
    assert_allclose(left.unpack().moments.sums, np.triu(full.moments.sums), rtol=1e-4, atol=1e-5)
    assert_array_equal(a.copy().pack().unpack().moments.sums, np.triu(a.moments.sums))
    # reading and learning unpack
    assert_allclose(right.mean_x_, X[150:].mean(axis=0), rtol=1e-5)
    assert_allclose(b.copy().pack().update(X[:10], y[:10]).n_samples_, 260)
    assert_allclose((b.copy().pack() - RunningAverages(dtype=dtype).update(X[150:200], y[150:200])).mean_x_,
                    X[200:].mean(axis=0), rtol=1e-4)  # fmt: skip


@given(st.integers(0, 20), st.integers(0, 20))
def test_folds_go_on_counting(n, m):
    X, y = np.arange(2.0 * (n + m)).reshape(-1, 2), np.arange(1.0 * (n + m))
    whole, first, then = FoldAverages(3), FoldAverages(3), FoldAverages(3)
    for folds, at in ((whole, slice(0, n + m)), (first, slice(0, n)), (then, slice(n, n + m))):
        if len(y[at]):
            folds.update(X[at], y[at])
    first.append(then)
    assert [f.n_samples_ for f in first.folds_] == [f.n_samples_ for f in whole.folds_]
    for a, b in zip(first.folds_, whole.folds_):
        if a.n_samples_:
            assert_allclose(a.mean_x_, b.mean_x_)


def test_parts_merge_only_with_those_that_follow(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=600)
    units = distributed.plan(file, "10KB", target="y")
    like = distributed.prepare(OLSthRegressor(1), units)
    a, b, c = (distributed.accumulate(units[i], like) for i in range(3))
    with pytest.raises(distributed.PartError, match="unit 2 cannot follow unit 0: expected unit 1 next"):
        distributed.merge(a, c)
    with pytest.raises(distributed.PartError, match="unit 0 cannot follow unit 1"):
        distributed.merge_in_order([b, a])


def test_errors_name_unit_file_and_line(tmp_path):
    file = tmp_path / "rows.csv"
    write_csv(file, n=2000)
    lines = file.read_text().splitlines(keepends=True)
    lines[1401] = lines[1401].replace(".", "x", 1)
    file.write_text("".join(lines))
    with pytest.raises(
        distributed.UnitError, match=r"Unit 14 \(bytes .* of .*rows.csv\).*line 1402, column 'x0'"
    ):
        distributed.fit(OLSthRegressor(1), file, unit="12KB", target="y", missing="error")
    write_csv(tmp_path / "a.csv", n=100)
    write_csv(tmp_path / "b.csv", n=100, p=7)
    with pytest.raises(distributed.UnitError, match=r"Unit 1 \(.*b.csv\).*columns are not those of"):
        distributed.fit(OLSthRegressor(1), [tmp_path / "a.csv", tmp_path / "b.csv"], target="y")


def test_methods_that_cannot_be_merged_go_through_the_units_in_turn(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=500, text=True)
    model = distributed.fit(TSGDRegressor(2), file, unit="20KB", target="y")
    plain = TSGDRegressor(2, grow=True)
    for X, y, _ in read(file, target="y"):
        plain.partial_fit(X, y)
    assert not list(model.method_.state.differences(plain.method_.state))


def test_rows_that_fade_are_refused(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=50)
    with pytest.raises(ValueError, match="half_life=None"):
        distributed.fit(OLSthRegressor(1, half_life=10), file, target="y")


# -------------------------------------------------------------------- finished units as files


def test_a_restarted_run_skips_finished_units(tmp_path, monkeypatch):
    from streamsieve.distributed import jobs

    file = write_csv(tmp_path / "rows.csv")
    folder = tmp_path / "units"
    units = distributed.plan(file, "60KB", target="y")
    calls = []
    real = jobs.accumulate

    def counted(unit, task):
        calls.append(unit.number)
        if len(calls) == 4 and len(units) > 4:
            raise KeyboardInterrupt
        return real(unit, task)

    monkeypatch.setattr(jobs, "accumulate", counted)
    with pytest.raises(KeyboardInterrupt):
        distributed.fit(OLSthRegressor(2), units, folder=folder)
    assert sorted(os.listdir(folder)) == [f"unit-{i:06d}.sieve" for i in range(3)]
    again = distributed.fit(OLSthRegressor(2), units, folder=folder)
    assert calls == [0, 1, 2, 3, *range(3, len(units))]
    whole = distributed.fit(OLSthRegressor(2), units)
    assert not list(whole.method_.state.differences(again.method_.state))
    # a damaged file is computed again, one of other settings refused
    (folder / "unit-000001.sieve").write_bytes(b"damaged")
    calls.clear()
    distributed.fit(OLSthRegressor(2), units, folder=folder)
    assert calls == [1]
    with pytest.raises(distributed.PartError, match=r"unit-000000.sieve is not unit 0 of this plan"):
        distributed.fit(OLSthRegressor(3), units, folder=folder)
    with pytest.raises(distributed.PartError, match=r"unit-000000.sieve is not unit 0 of this plan"):
        distributed.fit(OLSthRegressor(2), file, unit="50KB", target="y", folder=folder)


# -------------------------------------------------------------------- shards on the command line


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def shards(tmp_path, file, n, *options, name="part"):
    for i in range(1, n + 1):
        result = run("fit", file, "--shard", f"{i}/{n}", "-o", tmp_path / f"{name}-{i}", "-q", *options)
        assert result.exit_code == 0, result.output
    return [tmp_path / f"{name}-{i}" for i in range(1, n + 1)]


def test_shards_merge_to_the_same_bytes_in_any_order(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=8000)
    options = ("--target", "y", "--method", "olsth", "-k", "2")
    parts = shards(tmp_path, file, 3, *options)
    for name, order in (("a", parts), ("b", parts[::-1])):
        assert run("merge", *order, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert run("fit", file, "-o", tmp_path / "plain", "-q", *options).exit_code == 0
    merged, plain = load(tmp_path / "a"), load(tmp_path / "plain")
    assert_allclose(merged.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    assert merged.averages_.n_samples_ == 8000
    listed = json.loads(run("inspect", tmp_path / "a", "--json").output)
    assert listed["rows_learned"] == 8000


def with_labels(file):
    """Targets of a CSV file become whether they are above their middle."""
    head, *lines = Path(file).read_text().splitlines()
    y = np.array([float(line.rsplit(",", 1)[1]) for line in lines])
    labels = (y > np.median(y)).astype(int)
    rows = [f"{line.rsplit(',', 1)[0]},{label}" for line, label in zip(lines, labels)]
    Path(file).write_text("\n".join([head, *rows, ""]))


@pytest.mark.parametrize("labels", [False, True])
def test_shards_of_the_default_method_are_the_sieve_of_all_rows(tmp_path, labels):
    file = write_csv(tmp_path / "rows.csv", n=4000)
    options = ("--target", "y", "-k", "2")
    if labels:
        with_labels(file)
    parts = shards(tmp_path, file, 3, *options)
    for name, order in (("a", parts), ("b", parts[::-1])):
        result = run("merge", *order, "-o", tmp_path / name)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert run("fit", file, "-o", tmp_path / "plain", "-q", *options).exit_code == 0
    merged, plain = load(tmp_path / "a"), load(tmp_path / "plain")
    assert type(merged) is type(plain) is (SieveClassifier if labels else SieveRegressor)
    assert_allclose(merged.coef_, plain.coef_, rtol=0 if labels else 1e-6)  # of labels: the very same rows
    X = np.full((3, merged.n_features_in_), 100.0)
    assert merged.partial_fit(X, merged.predict(X)).method_.n_rows == 4003


def test_shards_whose_rows_the_memory_does_not_hold_are_refused(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=20_000)
    options = ("--target", "y", "-k", "2", "--memory", 2**20)
    with_labels(file)
    result = run("fit", file, "--shard", "1/1", "-o", tmp_path / "part", "-q", *options)
    assert result.exit_code != 0
    assert (
        "The 20,000 rows of units 0 to 3 take more than memory=1048576; pass a larger memory" in result.output
    )


def test_merge_refuses_parts_by_name(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=8000)
    options = ("--target", "y", "--method", "olsth", "-k", "2")
    a, b, c = shards(tmp_path, file, 3, *options)
    (other, *_) = shards(tmp_path, file, 2, *options, name="other")
    assert run("fit", file, "-o", tmp_path / "plain", "-q", *options).exit_code == 0
    copy = tmp_path / "copy"
    copy.write_bytes(b.read_bytes())
    for files, message in (
        ((a, c), "1 shard missing: 2/3"),
        ((a, b, copy, c), f"{copy} and {b} are both shard 2/3"),
        ((a, b, other), f"{other} is a shard of another plan"),
        ((a, tmp_path / "plain"), "plain is not a shard"),
    ):
        result = run("merge", *files, "-o", tmp_path / "out")
        assert result.exit_code == 4, result.output
        assert message in result.output
        assert not (tmp_path / "out").exists()


def test_shards_need_averages_and_enough_units(tmp_path):
    file = write_csv(tmp_path / "rows.csv", n=300)
    result = run(
        "fit", file, "--target", "y", "--shard", "1/2", "-o", tmp_path / "m", "--method", "tsgd", "-k", "2"
    )
    assert result.exit_code == 2
    assert "TSGDRegressor learns row by row" in result.output
    result = run("fit", file, "--target", "y", "--shard", "2/5", "-o", tmp_path / "m", "--method", "olsth")
    assert "the source has only 1 units" in result.output
    for option in (["--limit", "5"], ["--hold-out", "3"], ["--resume"]):
        result = run("fit", file, "--target", "y", "--shard", "1/1", "-o", tmp_path / "m", *option)
        assert result.exit_code == 2, result.output
        assert option[0] in result.output


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b"])
def test_a_shard_is_one_of_n(tmp_path, shard):
    result = run("fit", "x.csv", "--shard", shard, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "from 1/64 to 64/64" in result.output


def test_shards_without_dask(tmp_path):
    """The engine-neutral part and the command line load no engine."""
    file = write_csv(tmp_path / "rows.csv", n=300)
    code = (
        "import sys; from streamsieve.cli import main\n"
        f"main(['fit', {file!r}, '--target', 'y', '--method', 'ols', '--shard', '1/1', '-o', "
        f"{str(tmp_path / 'm')!r}], standalone_mode=False)\n"
        "assert not {'dask', 'distributed', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
