"""`streamsieve compare`."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import streamsieve
from streamsieve.cli import main

N = 600


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 8))
    y = X[:, 1] - 2 * X[:, 4] + 0.3 * rng.normal(size=N)
    for name, target in (("numbers", y), ("words", np.where(y > 0, "yes", "no"))):
        lines = ["a,b,c,d,e,f,g,h,y"]
        lines += [",".join([*(repr(float(v)) for v in row), str(t)]) for row, t in zip(X, target)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder, X, y


def run(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def rows_of(*words):
    done = run("compare", *words, "--target", "y", "--json")
    assert done.exit_code == 0, done.output
    return {row["method"]: row for row in json.loads(done.stdout)["rows"]}


def test_each_method_is_measured_on_the_rows_that_none_has_learned(files):
    folder, X, y = files
    found = rows_of(folder / "numbers.csv", "--methods", "ofsa,tsgd,sgd", "-k", 2)
    held = np.arange(1, N + 1) % 5 == 0
    assert found["(constant)"]["rmse"] == pytest.approx(y[held].std())
    for name, model in (
        ("ofsa", streamsieve.OFSARegressor(2)),
        ("tsgd", streamsieve.TSGDRegressor(2)),
        ("sgd", streamsieve.SGDRegressor()),
    ):
        model.fit(X[~held], y[~held])
        rmse = np.sqrt(np.mean((model.predict(X[held]) - y[held]) ** 2))
        assert found[name]["rmse"] == pytest.approx(rmse, rel=1e-9)
        assert found[name]["selected"] == np.count_nonzero(model.coef_)
    assert [row["rmse"] for row in found.values()] == sorted(row["rmse"] for row in found.values())


def test_labels_by_default_have_accuracy_and_auc(files):
    folder, _, _ = files
    found = rows_of(folder / "words.csv")
    assert list(found)[-1] == "(constant)"
    assert all(0.85 < row["accuracy"] <= 1 < 1 + row["auc"] for m, row in found.items() if m != "(constant)")
    assert {"sieve", "ofsa", "barda"} < found.keys()


def test_beyond_memory_each_block_is_learned_as_it_goes_by(files):
    folder, X, y = files
    words = [folder / "numbers.csv", "--methods", "ofsa,tsgd", "-k", 2, "--memory", "20KB"]
    found = rows_of(*words)
    held = np.arange(1, N + 1) % 5 == 0
    model = streamsieve.TSGDRegressor(2).partial_fit(X[~held], y[~held])
    rmse = np.sqrt(np.mean((model.predict(X[held]) - y[held]) ** 2))
    assert found["tsgd"]["rmse"] == pytest.approx(rmse, rel=1e-9)


def test_a_method_that_cannot_is_left_out_with_the_reason(files):
    folder, _, _ = files
    done = run("compare", folder / "numbers.csv", "--target", "y", "--methods", "ofs,tsgd", "-k", 2)
    assert done.exit_code == 0
    assert "ofs is left out: --method ofs is for classification only" in done.stderr
    assert "tsgd" in done.stdout
    unknown = run("compare", folder / "numbers.csv", "--target", "y", "--methods", "nonesuch")
    assert unknown.exit_code == 2
    assert "there is no such method" in unknown.stderr


def test_a_picture_shows_all_methods(files, tmp_path):
    folder, _, _ = files
    rows_of(folder / "numbers.csv", "--methods", "ofsa,tsgd", "-k", 2, "--picture", tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")
