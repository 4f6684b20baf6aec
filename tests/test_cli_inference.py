"""The command line on how sure a selection is: errors, false discoveries, intervals, any-time tests."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

from streamsieve import (
    FoldAverages,
    FourthMoments,
    OFSARegressor,
    OLSRegressor,
    RunningAverages,
    SieveClassifier,
    read,
)
from streamsieve.cli import main
from streamsieve.methods import inference

N, P = 600, 8


def rows():
    rng = np.random.default_rng(0)
    shop = np.repeat(np.arange(120), 5)
    X = rng.normal(size=(N, P))
    y = X[:, 0] - 0.5 * X[:, 3] + rng.normal(size=120)[shop] + rng.normal(size=N)
    return X, y, np.array([f"shop {g}" for g in shop])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y, shop = rows()
    file = tmp_path_factory.mktemp("data") / "rows.csv"
    lines = [",".join([*(f"x{j}" for j in range(P)), "shop", "number", "y", "label"])]
    for i in range(N):
        number = shop[i].split()[1]
        lines.append(
            ",".join([*map(repr, X[i].tolist()), shop[i], number, repr(float(y[i])), "ny"[int(y[i] > 0)]])
        )
    file.write_text("\n".join(lines) + "\n")
    return file


def run(*words, code=0):
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == code, done.output
    return done


def select(table, *words, target="y"):
    unused = {"y", "label", "shop", "number"} - {target} - set(words)
    done = run(
        "select", table, "--target", target, "--drop", ",".join(sorted(unused)), "--json", "-q", *words
    )
    return json.loads(done.stdout)


def intervals(found):
    return {row["feature"]: (row["95% low"], row["95% high"]) for row in found["rows"]}


def expected(model):
    return {f"x{j}": tuple(model.conf_int()[j]) for j in model.support}


def same(found, model):
    ours, theirs = intervals(found), expected(model)
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert_allclose(ours[name], theirs[name], rtol=1e-6)


def test_false_discovery_rate(table):
    X, y, _ = rows()
    found = select(table, "--fdr", "0.1")
    same(found, inference.fdr(RunningAverages().update(X, y), 0.1))
    assert found["method"] == "ols"
    assert found["fdr"] == 0.1
    assert {row["interval"] for row in found["rows"]} == {"honest"}


@pytest.mark.parametrize("column", ["shop", "number"])
def test_errors_by_clusters(table, column):
    X, y, shop = rows()
    cluster = shop if column == "shop" else np.array([int(s.split()[1]) for s in shop])
    model = OFSARegressor(3, se="folds").fit(X, y, cluster=cluster)
    found = select(table, "--se", "folds", "--cluster", column, "-k", "3")
    same(found, model.model_)
    assert {row["interval"] for row in found["rows"]} == {"given the selection"}
    assert select(table, "--cluster", column, "-k", "3")["rows"] == found["rows"]


def test_clusters_of_a_frame_and_a_file_are_the_same(table, tmp_path):
    pd = pytest.importorskip("pandas", reason="frames have columns of words")
    frame = pd.read_csv(table)
    a = np.concatenate([e.cluster for e in read(str(table), target="y", cluster="shop").blocks()])
    b = np.concatenate([e.cluster for e in read(frame, target="y", cluster="shop").blocks()])
    assert (a == b).all()
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    frame.to_parquet(tmp_path / "rows.parquet")
    found = select(tmp_path / "rows.parquet", "--cluster", "shop", "-k", "3")
    assert intervals(found).keys() == intervals(select(table, "--cluster", "shop", "-k", "3")).keys()


def test_robust_errors(table):
    X, y, _ = rows()
    found = select(table, "--se", "hc1", "-k", "2")
    same(found, inference.ols(FourthMoments().update(X, y), [0, 3], se="hc1"))


def test_honest_intervals(table):
    X, y, _ = rows()
    found = select(table, "--honest", "0.5", "-k", "4")
    same(found, inference.split(FoldAverages(20).update(X, y), "ofsa", 4, random_state=0))
    assert {row["interval"] for row in found["rows"]} == {"honest"}


def test_stable_features(table):
    X, y, _ = rows()
    found = select(table, "--stability", "0.7", "-k", "3")
    model = inference.stability(FoldAverages(20).update(X, y), 3, random_state=0)
    same(found, model)
    assert found["expected_false"] == pytest.approx(model.info["expected_false"])


def test_labels_have_errors(table):
    X, y, _ = rows()
    for se in ("classical", "folds"):
        found = select(table, "--se", se, "-k", "2", target="label")
        assert found["method"] == "sieve"
        same(found, SieveClassifier(2, se=se).fit(X, y > 0).model_)
    assert select(table, "--honest", "0.5", target="label")["method"] == "olsth"


def test_a_table_without_honest_intervals_says_so(table):
    found = run(
        "select", table, "--target", "y", "--drop", "shop,number,label", "--method", "olsth", "-k", "2", "-q"
    )
    header, *lines = found.stdout.splitlines()
    assert header.split("\t")[-3:] == ["95% low", "95% high", "interval"]
    assert all(line.endswith("given the selection") for line in lines)


def test_a_model_with_folds_gives_honest_ones_later(table, tmp_path):
    X, y, shop = rows()
    file = tmp_path / "model.sieve"
    words = ("--target", "y", "--drop", "number,label", "--cluster", "shop", "-k", "3")
    run("fit", table, *words, "-o", file)
    found = json.loads(run("select", file, "--honest", "0.5", "--json", "-q").stdout)
    same(found, OFSARegressor(3, se="folds", honest=0.5).fit(X, y, cluster=shop).model_)
    found = json.loads(run("select", file, "--fdr", "0.1", "--json", "-q").stdout)
    same(found, OLSRegressor(fdr=0.1, se="folds").fit(X, y, cluster=shop).model_)
    assert "pass it to `fit`" in run("select", file, "--cluster", "shop", code=2).output


def test_any_time_since_a_snapshot(table, tmp_path):
    X, y, _ = rows()
    words = ("--target", "y", "--drop", "shop,number,label", "--method", "ofsa", "-k", "2")
    run("fit", table, *words, "--limit", "300", "-o", tmp_path / "then")
    run("fit", table, *words, "-o", tmp_path / "now")
    since = ("--since", tmp_path / "then")
    found = json.loads(run("inspect", tmp_path / "now", "--anytime", "x3,x5", *since, "--json").stdout)
    tests = inference.anytime(RunningAverages().update(X[300:], y[300:]), [3, 5])
    assert [row["feature"] for row in found["rows"]] == ["x3", "x5"]
    assert_allclose([row["log e"] for row in found["rows"]], tests.log_e, rtol=1e-6)
    assert found["rows"][0]["p"] < 1e-6
    whole = run("inspect", tmp_path / "now", "--anytime", "x3")
    assert "named before the first row" in whole.stderr
    assert "no such feature" in run("inspect", tmp_path / "now", "--anytime", "z", code=2).output
    wrong = run("inspect", tmp_path / "then", "--anytime", "x3", "--since", tmp_path / "now", code=4)
    assert "not an earlier state" in wrong.output
    assert "--since is for --anytime" in run("inspect", tmp_path / "now", *since, code=2).output
    assert (
        "no rows"
        in run("inspect", tmp_path / "now", "--anytime", "x3", "--since", tmp_path / "now", code=4).output
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--fdr", "0.1", "-k", "3"), "leave -k out"),
        (("--fdr", "0.1", "--method", "ofsa"), "leave --method ofsa out"),
        (("--fdr", "0.1", "--honest", "0.5"), "pass one of them"),
        (
            ("--honest", "0.5", "--method", "tsgd", "-k", "3"),
            "--honest is not for --method tsgd; it is for olsth",
        ),
        (("--stability", "0.7", "--method", "sieve"), "--stability is not for --method sieve"),
        (("--se", "folds", "--method", "sgd"), "--se is not for --method sgd"),
        (("--se", "hc1", "--method", "sieve"), "--se hc1: sieve expected"),
        (("--se", "hc1", "--honest", "0.5"), "--se hc1: expected 'folds' with honest"),
        (("--cluster", "shop", "--se", "classical"), "--cluster needs --se folds"),
        (("--stability", "0.5"), "--stability"),
    ],
)
def test_options_that_do_not_apply_are_refused_by_name(table, words, message):
    drop = "number,label" if "--cluster" in words else "shop,number,label"
    done = run("select", table, "--target", "y", "--drop", drop, "-q", *words, code=2)
    assert message in " ".join(done.output.split())


def test_columns_of_clusters_that_cannot_be(table, tmp_path):
    for column, message in (("nope", "there is no cluster 'nope'"), ("y", "both target and cluster")):
        done = run("select", table, "--target", "y", "--cluster", column, code=3)
        assert message in done.output
    (tmp_path / "rows.svm").write_text("1 1:2\n")
    assert "--cluster" in run("select", tmp_path / "rows.svm", "--cluster", "x", code=2).output
    (tmp_path / "gap.csv").write_text("x,g,y\n1,a,2\n2,,3\n3,b,1\n")
    done = run("select", tmp_path / "gap.csv", "--target", "y", "--cluster", "g", code=3)
    assert "'g'" in done.output
    one = run(
        "select", tmp_path / "rows.svm", "--se", "folds", "--honest", "0.5", "--task", "regression", code=1
    )
    assert "2 folds" in one.output


def test_models_with_and_without_folds_do_not_merge(table, tmp_path):
    words = ("--target", "y", "--drop", "shop,number,label", "--method", "ofsa", "-k", "2")
    run("fit", table, *words, "-o", tmp_path / "plain")
    run("fit", table, *words, "--se", "folds", "-o", tmp_path / "folds")
    done = run("merge", tmp_path / "plain", tmp_path / "folds", "-o", tmp_path / "both", code=4)
    assert "has folds, the other has not" in " ".join(done.output.split())
