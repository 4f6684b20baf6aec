"""The command line: every verb, its outputs and its exit codes."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import streamsieve
from cli_data import LIMIT, PROGRAM, N, P, good, run, table, write_files
from streamsieve import OFSARegressor, RunningAverages, load, read_checkpoint, save
from streamsieve.cli import VERBS
from streamsieve.methods import METHODS
from streamsieve.training.checkpoint import CheckpointPolicy
from streamsieve.training.saved import read_plain


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("data"))


# ---------------------------------------------------------------- select, fit, path


def test_select_just_works_and_says_what_it_chose(files):
    done = good("select", files / "rows.csv", "--target", "y", "-k", 3)
    rows = table(done)
    assert {row["feature"] for row in rows} == {"x3", "x7", "colour=red"}
    assert_allclose([float(row["weight"]) for row in rows if row["feature"] == "x7"], -2, atol=0.02)
    assert "Regression: the target holds numbers" in done.stderr
    assert "Method: sieve" in done.stderr
    assert "12,000 rows" in done.stderr


def test_select_on_svmlight_counts_features_as_the_file_does(files):
    done = good("select", files / "rows.svm", "-k", 2, "--json")
    result = json.loads(done.stdout)
    assert result["task"] == "classification"
    assert [row["feature"] for row in result["rows"]] == ["8", "4"]
    assert "Classification: the first" in done.stderr
    assert "2 whole numbers (-1, 1)" in done.stderr


@pytest.mark.parametrize(
    ("targets", "task"),
    [
        (np.arange(600) % 26 + 1, "classification"),  # letters, numbered
        (np.arange(600) % 26 + 20, "regression"),  # ages
        (np.random.default_rng(0).poisson(12, 600), "regression"),
    ],
    ids=["numbered", "ages", "counts"],
)
def test_numbered_classes_are_labels(targets, task, tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("".join(f"{t} 1:{t % 7} 2:{t % 3}\n" for t in targets))
    done = good("select", file, "-k", 1, "--json", "--method", "olsth")
    assert json.loads(done.stdout)["task"] == task
    assert f"--task {'regression' if task == 'classification' else 'classification'}" in done.stderr


def test_words_are_labels(files):
    done = good("select", files / "words.csv", "--target", "kind", "-k", 2)
    names = [f"{what} {label}" for label in ("high", "low", "mid") for what in ("effect", "weight")]
    assert sorted(table(done)[0]) == ["feature", *sorted(names)] or "weight high" in table(done)[0]
    assert "the target holds words (high, low, mid)" in done.stderr


def test_memory_bounds_every_method(tmp_path):
    lines = [f"{i % 2} {1 + i % 3}:1" for i in range(13000)] + [f"{i % 2} {i + 1}:1" for i in range(9000)]
    (tmp_path / "rows.svm").write_text("\n".join(lines))
    words = ["fit", tmp_path / "rows.svm", "-k", 2, "-o", tmp_path / "m"]
    done = run(*words, "--memory", "1MB", "--method", "ofsa")
    assert done.exit_code == 1
    assert "OFSA would need" in done.stderr
    assert "Pass more --memory" in done.stderr
    done = run(*words, "--memory", "1kB")
    assert done.exit_code == 2
    assert "--memory 1000: expected" in done.stderr
    good(*words, "--memory", "2MB", "--checkpoint", tmp_path / "c", "--every", "1rows")
    assert type(load(tmp_path / "m")).__name__ == "SieveClassifier"
    assert read_checkpoint(tmp_path / "m").about["rows"] == 22_000
    good(*words, "--memory", "2MB", "--checkpoint", tmp_path / "c", "--resume")


@pytest.mark.parametrize(
    "method", ["olsth", "ofsa", "omcp", "sfsa", "tsgd", "siht", "barda", "rda", "olst", "sgd"]
)
@pytest.mark.parametrize("name", ["rows.csv", "rows.svm"])
def test_fit_is_the_library_on_the_same_rows(method, name, files, tmp_path):
    words = ["fit", files / name, "--method", method, "-o", tmp_path / "model", "-q"]
    words += ["-k", 3] if method != "sgd" else []
    words += ["--target", "y"] if name == "rows.csv" else ["--task", "classification"]
    if method == "olst" and name == "rows.csv":
        words += ["--categories", "drop"]  # it keeps p^2 numbers for the features it began with
    good(*words)
    held = read_checkpoint(tmp_path / "model")
    assert held.about["rows"] == N
    assert read_plain(tmp_path / "model").object.method_name.lower() == method
    again = streamsieve.read(
        files / name,
        target="y" if name == "rows.csv" else None,
        categories="drop" if method == "olst" else "onehot",
    )
    model = held.object.__class__(**held.object.get_params())
    assert_array_equal(held.object.coef_, model.fit(again).coef_)


def test_parameters_are_set_and_wrong_ones_listed(files, tmp_path):
    words = ["fit", files / "rows.svm", "-o", tmp_path / "model", "-q", "-k", 2, "--method", "sfsa"]
    good(*words, "--set", "variant=momentum", "--set", "batch_size=10", "--set", "restart=true")
    model = load(tmp_path / "model")
    assert (model.variant, model.batch_size, model.restart) == ("momentum", 10, True)
    for wrong in ("gamma=3", "annealing", "annealing=-1", "grow=maybe"):
        done = run(*words, "--set", wrong)
        assert done.exit_code == 2
        assert "annealing" in done.stderr or "grow=maybe: expected bool" in done.stderr
    done = run(*words[:-1], "lasso")
    assert done.exit_code == 2
    assert "pass auto or one of" in done.stderr
    done = run(
        "fit", files / "rows.svm", "-o", tmp_path / "m", "--method", "ofs", "--task", "regression", "-k", 2
    )
    assert done.exit_code == 2
    assert "classification only" in done.stderr
    done = run("fit", files / "rows.svm", "-o", tmp_path / "m", "--method", "sgd", "-k", 2)
    assert done.exit_code == 2
    assert "leave -k out" in done.stderr
    done = run("fit", files / "rows.svm", "-o", tmp_path / "m", "--method", "sfsa")
    assert done.exit_code == 2
    assert "needs -k" in done.stderr
    done = run("fit", files / "rows.csv", "-o", tmp_path / "m", "-k", 2)
    assert done.exit_code == 2
    assert "--target: expected the column to predict, out of x0, x1" in done.stderr


def test_a_missing_target_is_asked_for_by_the_columns_of_the_table_not_its_features(tmp_path):
    (tmp_path / "t.csv").write_text("town,price\n" + "".join(f"{'ABC'[i % 3]},{i}\n" for i in range(60)))
    done = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m")
    assert "out of town, price." in done.stderr


def test_a_target_of_arrays_is_asked_for_by_what_they_have(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((9, 4)))
    done = run("fit", tmp_path / "x.npy", "-o", tmp_path / "m")
    assert done.exit_code == 2
    assert "--target: expected the column to predict, a number from 0 to 3." in done.stderr
    np.savez(tmp_path / "x.npz", X=np.ones((9, 4)))
    done = run("fit", tmp_path / "x.npz", "-o", tmp_path / "m")
    assert done.exit_code == 2
    assert "--target: expected the name of the array to predict, saved with the rows." in done.stderr


@pytest.mark.parametrize("quiet", [False, True])
def test_fit_select_and_inspect_name_the_columns_not_used(tmp_path, quiet):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    rows = np.c_[X, np.ones(60), X[:, 0] + 0.1 * rng.normal(size=60)]
    np.savetxt(tmp_path / "x.csv", rows, delimiter=",", header="a,b,c,one,y", comments="")
    more = ["--quiet"] * quiet
    words = ["--target", "y", "--columns", "a,b,c,one", "--method", "olsth", "-k", 1, *more]
    for done in (
        good("fit", tmp_path / "x.csv", "-o", tmp_path / "m", *words),
        good("select", tmp_path / "x.csv", *words),
        good("select", tmp_path / "m", *more),
        good("inspect", tmp_path / "m", *more),
    ):
        note = "Not used, as they are constant or copies of others: one.\n"
        assert (note in done.stderr) is not quiet
        assert note not in done.stdout


def test_every_method_can_be_asked_for(files, tmp_path):
    assert {"OFSA", "SFSA", "BARDA", "OLSTThenTSGD", "TruncatedGradient"} <= set(METHODS)
    for method, entry in METHODS.items():
        words = [
            "fit",
            files / "rows.svm",
            "-o",
            tmp_path / "m",
            "-q",
            "--method",
            method.upper(),
            "--limit",
            500,
        ]
        words += ["--task", "classification", "--features", P]
        good(*words, *(["-k", 2] if "k" in entry.load().params else []))
        assert type(load(tmp_path / "m")).__name__ == f"{method}Classifier"


def test_rows_held_out_are_tested(files):
    result = json.loads(good("select", files / "rows.svm", "-k", 3, "--hold-out", 5, "--json", "-q").stdout)
    assert result["test_rows"] == N // 5
    assert result["rows_learned"] == N - N // 5
    assert 0.8 < result["test_accuracy"] <= 1
    assert 0.85 < result["test_auc"] <= 1


def test_missing_values_are_imputed(files, tmp_path):
    head, first, *rest = (files / "rows.csv").read_text().splitlines()
    first = "," + first.split(",", 1)[1]
    (tmp_path / "rows.csv").write_text("\n".join([head, first, *rest]))
    words = ("select", tmp_path / "rows.csv", "--target", "y", "-k", 3)
    done = good(*words)
    assert "missing: x0 1; missing numbers are replaced by the mean" in done.stderr
    assert run(*words, "--missing", "error").exit_code == 3
    for how in ("mean", "indicator", "zero"):
        good(*words, "--missing", how)
        good(*words, "--missing", how, "--method", "sfsa")
    good(*words, "--missing", "keep")
    done = run(*words, "--missing", "keep", "--method", "sfsa")
    assert done.exit_code == 2
    assert "sfsa does not take missing values; pass mean" in done.stderr


def test_path_from_rows_and_from_a_model(files, tmp_path):
    done = good(
        "path", files / "rows.csv", "--target", "y", "-o", tmp_path / "m", "--all", "--criterion", "ebic"
    )
    rows = table(done)
    assert [int(row["k"]) for row in rows] == list(range(15))
    best = next(row for row in rows if row["best"])
    assert best["k"] == "3"
    assert min(rows, key=lambda row: float(row["ebic"])) == best
    again = good("path", tmp_path / "m", "--method", "olasso", "--json", "-q")
    assert json.loads(again.stdout)["rows"][-1]["alpha"] > 0
    rows = table(good("select", tmp_path / "m", "-k", 2, "--method", "omcp"))
    assert {row["feature"] for row in rows} == {"x3", "x7"}
    assert run("select", tmp_path / "m", "-k", 2, "--method", "sfsa").exit_code == 2


def test_standard_input_is_a_source(files):
    text = (files / "rows.svm").read_bytes()
    done = good("select", "-", "-k", 2, "--format", "svmlight", input=text)
    assert {row["feature"] for row in table(done)} == {"8", "4"}


# ---------------------------------------------------------------- predict, evaluate, merge, inspect, report


def test_predict_finds_columns_by_name(files, tmp_path):
    good("fit", files / "rows.csv", "--target", "y", "-k", 3, "-o", tmp_path / "m", "-q")
    done = good("predict", tmp_path / "m", files / "rows.csv", "-q")
    head, *lines = done.stdout.splitlines()
    assert head == "prediction"
    assert len(lines) == N
    model = load(tmp_path / "m")
    X, y, _ = next(iter(streamsieve.read(files / "rows.csv", target="y")))
    assert_allclose([float(v) for v in lines[: len(y)]], model.predict(X), rtol=1e-12)
    other = [
        "colour,extra,x7,x3",  # the columns that were selected are enough
        "red,9,1,2",
        "violet,9,1,2",
        "red,9,0,0",
    ]
    (tmp_path / "other.csv").write_text("\n".join(other) + "\n")
    result = good("predict", tmp_path / "m", tmp_path / "other.csv", "--json", "-q").stdout.splitlines()
    values = [json.loads(line)["prediction"] for line in result]
    weights = dict(zip(model.schema_.feature_names, model.coef_))
    both = weights["x7"] + 2 * weights["x3"] + model.intercept_
    assert_allclose(values, [both + weights["colour=red"], both, weights["colour=red"] + model.intercept_])


def test_predict_labels_scores_and_probabilities(files, tmp_path):
    good("fit", files / "rows.svm", "--method", "sfsa", "-k", 3, "-o", tmp_path / "m", "-q")
    out = tmp_path / "out.tsv"
    good("predict", tmp_path / "m", files / "rows.svm", "--scores", "--proba", "-o", out, "--limit", 10, "-q")
    head, *lines = out.read_text().splitlines()
    assert head == "prediction\tscore\tp -1\tp 1"
    assert len(lines) == 10
    label, score, no, yes = lines[0].split("\t")
    assert label == ("1" if float(score) > 0 else "-1")
    assert_allclose(float(no) + float(yes), 1)
    good("fit", files / "rows.csv", "--target", "y", "-k", 3, "-o", tmp_path / "r", "-q")
    done = run("predict", tmp_path / "r", files / "rows.csv", "--proba")
    assert done.exit_code == 2


@pytest.mark.parametrize("name", ["rows.csv", "rows.svm"])
def test_evaluate_tests_then_trains(name, files, tmp_path):
    words = ["--target", "y"] if name == "rows.csv" else []
    sfsa = ["--method", "sfsa", "--set", "refit=False"]  # a refit of every model that is read takes 10 s
    done = good("evaluate", files / name, *words, "-k", 3, *sfsa, "-o", tmp_path / "curve.json")
    rows = table(done)
    assert [int(row["rows"]) for row in rows] == [100, 200, 400, 800, 1600, 3200, 6400, 12000]
    measure = "recent_rmse" if name == "rows.csv" else "recent_auc"
    assert measure in rows[0]
    assert json.loads((tmp_path / "curve.json").read_text())["rows"][-1]["rows"] == N
    fixed = table(good("evaluate", files / name, *words, "-k", 3, "--at", 5000, "-q"))
    assert [int(row["rows"]) for row in fixed] == [5000, 10000, 12000]


def test_merge_adds_up_what_machines_learned(files, tmp_path):
    lines = (files / "rows.csv").read_text().splitlines()
    head, rows = lines[0], lines[1:]
    reds = [row for row in rows if ",red," in row]
    rest = [row for row in rows if ",red," not in row]
    (tmp_path / "a.csv").write_text("\n".join([head, *rest]) + "\n")  # without a category
    (tmp_path / "b.csv").write_text("\n".join([head, *reds, *rest[:5]]) + "\n")
    (tmp_path / "all.csv").write_text("\n".join([head, *rest, *reds, *rest[:5]]) + "\n")
    for name, like in (("all", ()), ("a", ("--like", tmp_path / "all")), ("b", ("--like", tmp_path / "all"))):
        good(
            "fit",
            tmp_path / f"{name}.csv",
            "--target",
            "y",
            "-k",
            3,
            "--method",
            "ofsa",
            "-o",
            tmp_path / name,
            "-q",
            *like,
        )
    good("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "sum")
    merged, whole = read_checkpoint(tmp_path / "sum"), read_checkpoint(tmp_path / "all")
    assert merged.about["rows"] == whole.about["rows"]
    assert merged.object.schema_.feature_names == whole.object.schema_.feature_names
    assert_allclose(merged.object.coef_, whole.object.coef_, rtol=1e-9, atol=1e-12)
    words = (
        "fit",
        tmp_path / "a.csv",
        "--target",
        "y",
        "-k",
        3,
        "--method",
        "ofsa",
        "-o",
        tmp_path / "other",
    )
    good(*words, "-q")
    done = run("merge", tmp_path / "all", tmp_path / "other", "-o", tmp_path / "sum")
    assert done.exit_code == 4
    assert "encodes the column colour differently from the first file" in done.stderr
    good("fit", files / "rows.svm", "-k", 3, "--method", "sfsa", "-o", tmp_path / "sfsa", "-q")
    done = run("merge", tmp_path / "a", tmp_path / "sfsa", "-o", tmp_path / "sum")
    assert done.exit_code == 4
    assert "keeps no averages" in done.stderr


def test_merge_widens_the_narrower(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1 2:2\n2 1:3\n3.5 2:1\n4 1:1\n")
    (tmp_path / "b.svm").write_text("1 1:1 3:2\n2 1:3\n3.5 2:1\n0 3:1 2:2\n".replace("3:1 2:2", "2:2 3:1"))
    for name in "ab":
        good(
            "fit",
            tmp_path / f"{name}.svm",
            "--task",
            "regression",
            "-k",
            1,
            "--method",
            "ofsa",
            "-o",
            tmp_path / name,
            "-q",
        )
    good("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "sum")
    assert load(tmp_path / "sum").n_features_in_ == 3
    assert load(tmp_path / "sum").averages_.n_samples_ == 8


def test_inspect_says_what_a_file_holds(files, tmp_path):
    good(
        "fit",
        files / "rows.csv",
        "--target",
        "y",
        "-k",
        3,
        "--method",
        "ofsa",
        "-o",
        tmp_path / "m",
        "--checkpoint",
        tmp_path / "c",
        "-q",
    )
    result = json.loads(good("inspect", tmp_path / "m", "--features", "--json").stdout)
    assert (result["class"], result["rows_learned"], result["features"], result["selected"]) == (
        "OFSARegressor",
        N,
        14,
        3,
    )
    assert result["parameter k"] == 3
    assert {row["feature"] for row in result["selection"]} == {"x3", "x7", "colour=red"}
    assert "finished" in good("inspect", tmp_path / "c").stdout
    save(RunningAverages().update(np.eye(3), np.ones(3)), tmp_path / "averages")
    result = json.loads(good("inspect", tmp_path / "averages", "--json").stdout)
    assert (result["class"], result["rows_learned"], result["features"]) == ("RunningAverages", 3, 3)
    save(OFSARegressor(2), tmp_path / "bare")
    assert json.loads(good("inspect", tmp_path / "bare", "--json").stdout)["rows_learned"] == 0


def test_a_report_needs_nothing_else(files, tmp_path):
    good("fit", files / "rows.csv", "--target", "y", "-k", 3, "--method", "ofsa", "-o", tmp_path / "m", "-q")
    good("evaluate", files / "rows.csv", "--target", "y", "-k", 3, "-o", tmp_path / "curve", "-q")
    words = ["--curve", tmp_path / "curve", "--title", "<Sales>"]
    good("report", tmp_path / "m", "-o", tmp_path / "r.html", *words)
    html = (tmp_path / "r.html").read_text()
    assert "&lt;Sales&gt;" in html
    assert "colour=red" in html
    assert html.count("<svg") == 2
    assert not re.findall(r"(?:src|href)=.(?:https?:)?//|url\([^#]|@import", html)
    good("fit", files / "rows.svm", "-k", 3, "--method", "sfsa", "-o", tmp_path / "s", "-q")
    good("report", tmp_path / "s", "-o", tmp_path / "s.html")
    good("fit", files / "words.csv", "--target", "kind", "-k", 3, "-o", tmp_path / "w", "-q")
    good("report", tmp_path / "w", "-o", tmp_path / "w.html")
    assert ">mid</th>" in (tmp_path / "w.html").read_text()
    done = run("report", tmp_path / "m", "--curve", tmp_path / "m", "-o", tmp_path / "r.html")
    assert done.exit_code == 1


# ---------------------------------------------------------------- exit codes, pipes, help


def test_exit_codes(files, tmp_path):
    (tmp_path / "bad.svm").write_text("1 1:2\n-1 2:x\n")
    done = run("select", tmp_path / "bad.svm", "-k", 1)
    assert done.exit_code == 3
    assert "bad.svm" in done.stderr
    assert "line 2" in done.stderr
    done = good(
        "select", tmp_path / "bad.svm", "-k", 1, "--on-bad-row", "skip", "--task", "regression", "--limit", 5
    )
    assert "Skipped 1 bad row." in done.stderr
    (tmp_path / "torn").write_bytes(b"\x10" + bytes(50))
    for words in (
        ["inspect"],
        ["predict", tmp_path / "torn"],
        ["report", "-o", tmp_path / "r"],
        ["merge", "-o", "m"],
    ):
        verb, *rest = words
        done = run(verb, tmp_path / "torn", *rest)
        assert done.exit_code == 4, done.output
        assert "cannot be loaded" in done.stderr
    assert run("select", tmp_path / "absent.csv", "--target", "y").exit_code == 1
    assert run("inspect", tmp_path / "absent").exit_code == 1
    assert run("select").exit_code == 2
    assert run("sieve").exit_code == 2
    assert run("fit", files / "rows.svm", "-o", tmp_path / "m", "--every", "soon").exit_code == 2
    assert run("fit", files / "rows.svm", "-o", tmp_path / "m", "--resume", "-k", 2).exit_code == 2
    assert run("fit", files / "rows.svm", "-o", tmp_path / "m", "--memory", "much").exit_code == 2
    assert run("fit", files / "rows.svm", "-o", tmp_path / "no" / "m", "-k", 2).exit_code == 2


def test_a_label_that_comes_late_is_named(tmp_path):
    lines = [f"{i % 2} 1:{i % 7}" for i in range(15_000)] + ["2 1:3"]
    (tmp_path / "rows.svm").write_text("\n".join(lines))
    for verb in (["select", "-k", 1], ["evaluate", "-k", 1], ["compare", "--methods", "sgd"]):
        done = run(*verb, tmp_path / "rows.svm")
        assert done.exit_code == 1
        assert "the label 2" in done.stderr
        assert "name all labels in --classes 0,1,2, or pass --task regression." in done.stderr
    result = json.loads(good("select", tmp_path / "rows.svm", "-k", 1, "--classes", "0,1,2", "--json").stdout)
    assert "weight 2" in result["rows"][0]


def test_a_closed_pipe_is_quiet(files, tmp_path):
    good("fit", files / "rows.csv", "--target", "y", "-k", 3, "-o", tmp_path / "m", "-q")
    rows = subprocess.Popen(
        [*PROGRAM, "predict", str(tmp_path / "m"), str(files / "rows.csv")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    rows.stdout.readline()
    rows.stdout.close()
    result = rows.stderr.read().decode()
    rows.stderr.close()
    assert rows.wait(LIMIT) == 0
    assert "Error" not in result
    assert "Traceback" not in result


def test_help_loads_next_to_nothing():
    code = "import sys\nfrom streamsieve.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
    code += "print(*sorted(m for m in ('numpy', 'scipy', 'sklearn', 'rich', 'pyarrow') if m in sys.modules))"
    for words in ([], *([verb] for verb in VERBS if verb != "demo")):
        done = subprocess.run(
            [sys.executable, "-c", code, *words, "--help"],
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT,
        )
        assert done.stdout.splitlines()[-1] == "", done.stdout.splitlines()[-1]
        assert "Usage:" in done.stdout


def test_the_shell_can_complete():
    done = subprocess.run(
        [sys.executable, "-c", "from streamsieve.cli import main; main(prog_name='streamsieve')"],
        env={**os.environ, "_STREAMSIEVE_COMPLETE": "bash_complete", "COMP_WORDS": "streamsieve se"}
        | {"COMP_CWORD": "1"},
        capture_output=True, text=True, check=False, timeout=LIMIT,
    )  # fmt: skip
    assert "select" in done.stdout


# ---------------------------------------------------------------- sources, columns, imports


def test_rows_without_weight_are_named_not_a_traceback(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,w,y\n" + "1,2.5,0,1.5\n3,1.5,0,2.5\n2,1.5,0,2\n1,1,0,7\n" * 20)
    done = run("select", tmp_path / "a.csv", "--target", "y", "--weight", "w")
    assert done.exit_code == 3
    assert "all rows have weight 0" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_last_line_of_progress_is_written_once(files):
    lines = good("select", files / "rows.csv", "--target", "y", "--limit", 4096).stderr.splitlines()
    assert len([line for line in lines if "4,096 rows" in line]) == 1


def test_columns_that_no_feature_is_made_of_may_hold_dates(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    X, day = rng.normal(size=(300, 3)), np.arange(300).astype("datetime64[D]")
    y = X[:, 1] + 0.5 + 1e-6 * X[:, 0]
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"day": day, "y": y}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert (
        "1 date: day (days, month" in good("select", tmp_path / "a.parquet", "--target", "y", "-k", 1).stderr
    )
    good("fit", tmp_path / "a.parquet", "--target", "y", "-k", 1, "--drop", "day", "-o", tmp_path / "m")
    rows = table(good("predict", tmp_path / "m", tmp_path / "a.parquet"))
    assert_allclose([float(row["prediction"]) for row in rows], y, atol=1e-5)
    rows = table(good("select", tmp_path / "a.parquet", "--target", "y", "-k", 1, "--columns", "x0,x1"))
    assert [row["feature"] for row in rows] == ["x1"]


def test_help_names_every_method():
    from streamsieve.cli.options import METHOD_LIST

    assert set(re.findall(r"\w+", METHOD_LIST)) >= {name.lower() for name in METHODS}


@pytest.mark.parametrize("option", ["--output", "--checkpoint"])
def test_a_folder_that_is_not_there_is_said_before_a_row_is_read(option, files, tmp_path):
    words = ["select", files / "rows.csv", "--target", "y", option, tmp_path / "none" / "m"]
    done = run(*words)
    assert done.exit_code == 2
    assert "there is no folder" in done.stderr
    assert "rows" not in done.stderr.split("Error")[0].replace("SOURCE", "")


def test_a_column_called_as_a_value_of_another_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,a=b,y\n" + "b,1,3.5\nc,2,1.5\nc,3,1.5\nc,1,5\n" * 20)
    done = run("select", tmp_path / "a.csv", "--target", "y")
    assert done.exit_code == 3
    assert "two columns make a feature 'a=b'" in done.stderr
    assert "--drop" in done.stderr


def test_csv_of_other_shapes(tmp_path):
    rng = np.random.default_rng(0)
    x, zone = rng.normal(size=200), rng.choice([10, 20, 30], 200)
    lines = [f"{a};{b};{3 * a + (b == 20)}" for a, b in zip(x, zone)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    shape = ["--delimiter", ";", "--no-header", "--categorical", "1"]
    done = good("select", tmp_path / "a.csv", "--target", "2", *shape, "-k", 2, "-o", tmp_path / "m")
    assert [row["feature"] for row in table(done)] == ["0", "1=20"]
    rows = table(good("predict", tmp_path / "m", tmp_path / "a.csv"))
    assert_allclose([float(row["prediction"]) for row in rows], 3 * x + (zone == 20), atol=1e-5)


def test_messages_name_options_not_parameters(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,,3\n")
    said = run("select", tmp_path / "a.csv", "--target", "y", "--missing", "error").stderr
    assert "pass --missing mean or --missing zero" in said
    (tmp_path / "a.svm").write_text("1 0:2\n")
    assert "pass --zero-based" in run("select", tmp_path / "a.svm").stderr


def test_a_model_of_a_frame_predicts_a_file_without_a_warning(files, tmp_path):
    import pandas as pd

    frame = pd.read_csv(files / "rows.csv")
    model = OFSARegressor(k=2).fit(frame[["x1", "x3", "x7"]], frame["y"])
    save(model, tmp_path / "m")
    words = [*PROGRAM, "predict", tmp_path / "m", files / "rows.csv", "--limit", "9", "-q"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=LIMIT)
    assert done.stderr == ""
    rows = [float(line) for line in done.stdout.splitlines()[1:]]
    assert_allclose(rows, model.predict(frame[["x1", "x3", "x7"]][:9]))


ALONE = """
import contextlib, io, json, sys
from streamsieve.cli import main
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()):
        main(words, standalone_mode=False)
    loaded = [name for name in ("sklearn", "scipy", "pandas") if name in sys.modules]
    if loaded:
        sys.exit(f"{words[0]} loads {loaded}")
"""


def assert_light(*commands):
    """One process runs the commands and loads neither scikit-learn nor SciPy nor pandas."""
    words = json.dumps([[*map(str, command)] for command in commands])
    done = subprocess.run([sys.executable, "-c", ALONE, words], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("method", ["sgd", "sfsa", "ofs", "stabilizedsgd"])
def test_no_command_loads_scikit_learn_nor_scipy_unless_it_solves(method, files, tmp_path):
    k = [] if method == "sgd" else ["-k", 3]
    data, model = files / "rows.svm", tmp_path / "m"
    rows = [data, "--method", method, *k, "--limit", 500, "-q"]
    once = [*rows, "--passes", 1]  # a refit solves
    assert_light(
        ["fit", *once, "-o", model],
        ["select", *once],
        ["evaluate", *rows],
        ["select", model, "-q"],
        ["predict", model, data, "--limit", 50, "-q"],
        ["inspect", model, "--features"],
        ["report", model, "-o", tmp_path / "page.html"],
    )


def test_predict_does_not_load_scipy_for_a_model_that_is_in_its_file(files, tmp_path):
    for method in ("sieve", "ofsa", "sgd"):
        fit = ["fit", files / "rows.csv", "--target", "y", "--method", method, "--limit", 500, "-q"]
        good(*fit, *([] if method == "sgd" else ["-k", 3]), "-o", tmp_path / method)
        assert_light(["predict", tmp_path / method, files / "rows.csv", "--limit", 50, "-q"])


def test_a_model_of_named_features_says_why_it_cannot_read_numbered_ones(files, tmp_path):
    good("fit", files / "rows.csv", "--target", "y", "-k", 2, "-q", "--output", tmp_path / "m")
    done = run("predict", tmp_path / "m", files / "rows.svm")
    assert done.exit_code == 2
    assert "by name (x0, x1, x2, ...)" in " ".join(done.stderr.split())


def test_a_second_pass_where_the_memory_of_the_sieve_is_short(tmp_path):
    """--passes auto reads rows that do not fit, even in 8 bits a value, again for the best features alone."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 2200))
    y = np.where(X[:, 5] - X[:, 1700] + 0.3 * rng.normal(size=600) > 0, "yes", "no")
    with open(tmp_path / "wide.csv", "w") as file:
        file.write(",".join([*(f"x{j}" for j in range(2200)), "y"]) + "\n")
        file.writelines(",".join([*map("{:.3f}".format, x), t]) + "\n" for x, t in zip(X, y))
    words = ["fit", tmp_path / "wide.csv", "--target", "y", "-k", 2, "--memory", 1 << 20, "-o"]
    kept = ["--checkpoint", tmp_path / "c", "--every", "250rows"]
    done = good(*words, tmp_path / "m", *kept)
    assert "a second pass keeps all rows" in done.stderr
    assert list(load(tmp_path / "m").get_feature_names_out()) == ["x5", "x1700"]
    held = read_plain(tmp_path / "m")
    assert held.about["rows"] == held.object.method.state.store.n == 600
    assert "second pass" not in good(*words, tmp_path / "once", "--passes", 1).stderr
    # a checkpoint of either pass leads to the same model
    write = CheckpointPolicy.write
    for pass_number in (1, 2):
        (tmp_path / "c").unlink()

        def stop_there(policy, model, *args, **options):
            write(policy, model, *args, **options)
            if (model.method.state.chosen is not None) == (pass_number == 2):  # noqa: B023
                raise RuntimeError("stop here")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CheckpointPolicy, "write", stop_there)
            assert run(*words, tmp_path / "n", *kept).exit_code != 0
        assert "Resumed" in good(*words, tmp_path / "n", *kept, "--resume").stderr
        assert_array_equal(load(tmp_path / "n").coef_, load(tmp_path / "m").coef_)


@pytest.mark.parametrize("verb", ["select", "fit", "path", "evaluate", "compare"])
def test_help_shows_every_option_once_under_a_title(verb):
    from importlib import import_module

    import click

    text = good(verb, "--help").stdout.split("\n\nOptions:")[1]
    text = "Options:" + text
    titles = re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE)
    assert titles[0] == "Options"
    assert [title for title in titles if title in ("Table", "Model", "Files", "Output")] == [
        "Table", "Model", "Files", "Output",
    ]  # fmt: skip
    assert len(titles) == len(set(titles))
    command = import_module(f"streamsieve.cli.{verb}").command
    for option in command.params:
        if isinstance(option, click.Option):
            assert len(re.findall(rf"^  (?:-\w, )?{option.opts[-1]}[ ,\n]", text, re.MULTILINE)) == 1, option
