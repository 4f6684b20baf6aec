"""Constraints from the command line: --keep, --positive, --group-categories, and others by --set."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from streamsieve.cli import main


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def selected(*words):
    done = run("select", *words, "--json", "-q")
    assert done.exit_code == 0, done.output
    return {row["feature"]: row["weight"] for row in json.loads(done.stdout)["rows"]}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 2000
    city = rng.choice(["Rome", "Oslo", "Lima"], n)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["a", "b", "c", "age"]).round(3)
    frame["city"] = city
    effect = pd.Series(city).map({"Rome": 4.0, "Oslo": 0.0, "Lima": -4.0})
    frame["y"] = (effect + frame.a - frame.b + 0.5 * rng.normal(size=n)).round(4)
    file = tmp_path_factory.mktemp("data") / "rows.csv"
    frame.to_csv(file, index=False)
    return file


def test_features_are_kept_by_name(rows):
    assert {"age", "c"} <= selected(rows, "--target", "y", "-k", 3, "--keep", "age,c").keys()
    assert "age" in selected(rows, "--target", "y", "-k", 2, "--keep", "age", "--method", "omcp")
    assert "age" in selected(rows, "--target", "y", "--keep", "age")


def test_weights_are_positive_or_within_bounds(rows):
    assert min(selected(rows, "--target", "y", "--positive").values()) > 0
    bounds = ("--method", "omcp", "--set", "bounds={'a': (None, 0.5)}")
    assert selected(rows, "--target", "y", *bounds)["a"] == 0.5


def test_categories_are_groups(rows):
    cities = {"city=Rome", "city=Oslo"}  # than in Lima
    grouped = selected(rows, "--target", "y", "-k", 2, "--group-categories")
    assert len(grouped) == 3
    assert cities <= grouped.keys()
    kept = selected(rows, "--target", "y", "-k", 2, "--group-categories", "--keep", "city")
    assert cities <= kept.keys()


def test_a_model_file_gives_constrained_models(rows, tmp_path):
    file = tmp_path / "m.sieve"
    assert run("fit", rows, "--target", "y", "--method", "olsth", "-o", file, "-q").exit_code == 0
    assert "age" in selected(file, "-k", 2, "--keep", "age")
    assert len(selected(file, "-k", 1, "--group-categories", "--method", "olasso")) == 2
    lines = run("path", file, "--keep", "age,c", "-q").stdout.splitlines()
    assert lines[1].startswith("2\t")


def test_resumed_with_other_constraints_is_another_run(rows, tmp_path):
    words = ("fit", rows, "--target", "y", "-k", 3, "--method", "ofsa", "-o", tmp_path / "m", "-q")
    words = (*words, "--checkpoint", tmp_path / "c")
    assert run(*words, "--keep", "age").exit_code == 0
    assert run(*words, "--keep", "age", "--resume").exit_code == 0
    assert run(*words, "--keep", "c", "--resume").exit_code != 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--keep", "agee"], "--keep agee: expected features of this model; did you mean 'age'"),
        (["-k", 1, "--keep", "a,b"], "-k 1: expected at least 2"),
        (["-k", 2, "--keep", "a", "--method", "sfsa"], "--keep: sfsa does not take it; pass --method with"),
        (["--positive", "--group-categories"], "--positive: expected without group_categories"),
        (["-k", 2, "--positive", "--method", "obestsubset"], "OBestSubset compares"),
        (["--method", "olsth", "--set", "bounds=(1,2)"], "lower <= 0 <= upper"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_errors_name_the_option(rows, words, message):
    done = run("select", rows, "--target", "y", *words)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_numbered_features_are_called_as_the_source_counts_them(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4)).round(3)
    lines = [f"{x[0] - x[1]:.4f} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x in X.tolist()]
    file = tmp_path / "rows.svm"
    file.write_text("\n".join(lines) + "\n")
    assert "4" in selected(file, "--task", "regression", "-k", 2, "--keep", "4")
    done = run("select", file, "--task", "regression", "--keep", "0")
    assert done.exit_code == 2
    assert "numbered 1 to 4" in done.stderr
