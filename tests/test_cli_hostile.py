"""The command line under hostile use: nothing is lost, nothing crashes, and errors name the option."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest

from cli_data import good, run
from streamsieve import load, read_checkpoint
from streamsieve.cli import VERBS, main
from streamsieve.cli.options import Output

PROGRAM = f'"{sys.executable}" -c "from streamsieve.cli import program; program()"'
LIMIT = 120


def said(done):
    return " ".join(done.stderr.split())


def shell(command, **options):
    if os.name == "nt":
        pytest.skip("needs a POSIX shell")
    return subprocess.run(
        f"{PROGRAM} {command}",
        shell=True,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        **options,
    )


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder, the working one, with rows.csv, rows.svm, a model m of rows.csv and a curve."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(3)
    y = X[:, 1] - 2 * X[:, 3]
    lines = ["a,b,c,d,y", *(",".join(map(str, [*x, round(t, 4)])) for x, t in zip(X, y))]
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    lines = [
        f"{1 if t > 0 else -1} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x, t in zip(X, y)
    ]
    Path("rows.svm").write_text("\n".join(lines) + "\n")
    good("fit", "rows.csv", "--target", "y", "--method", "tsgd", "-k", 2, "-o", "m", "-q")
    good("evaluate", "rows.csv", "--target", "y", "--method", "tsgd", "-k", 2, "-o", "curve.json", "-q")
    return tmp_path


LEARN = ["--target", "y", "--method", "tsgd", "-k", "2"]

# ---------------------------------------------------------------- without docstrings


def test_without_docstrings_help_has_its_text_and_estimators_learn():
    """python -OO drops docstrings and assertions; nothing else may depend on them."""
    code = """
import numpy as np, streamsieve
from click.testing import CliRunner
from streamsieve.cli import VERBS, main
from streamsieve.methods import ESTIMATORS
X = np.random.default_rng(0).normal(size=(60, 3))
for name in ESTIMATORS:
    y = X[:, 1] > 0 if name.endswith("Classifier") else X[:, 1]
    getattr(streamsieve, name)().fit(X, y).predict(X)
for name in streamsieve.__all__:
    getattr(streamsieve, name)
for words in ([], *([verb] for verb in VERBS)):
    print(CliRunner().invoke(main, [*words, "--help"], prog_name="streamsieve").stdout)
"""
    done = subprocess.run(
        [sys.executable, "-OO", "-W", "ignore", "-c", code],
        capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pages = [run(*words, "--help").stdout for words in ([], *([verb] for verb in VERBS))]
    assert "Learn a model from SOURCE" in "".join(pages)
    assert (
        done.stdout.replace("streamsieve", "main").split()
        == "".join(pages).replace("streamsieve", "main").split()
    )


# ---------------------------------------------------------------- outputs

WRITES = {
    "compare --picture": ["compare", "rows.csv", "--target", "y", "--methods", "sgd", "--picture", "{}"],
    "fit": ["fit", "rows.csv", *LEARN, "-o", "{}"],
    "fit --checkpoint": ["fit", "rows.csv", *LEARN, "-o", "new", "--checkpoint", "{}"],
    "fit --report": ["fit", "rows.csv", *LEARN, "-o", "new", "--report", "{}"],
    "select": ["select", "rows.csv", *LEARN, "-o", "{}"],
    "select --report": ["select", "rows.csv", *LEARN, "--report", "{}"],
    "select a model --report": ["select", "m", "--report", "{}"],
    "select --checkpoint": ["select", "rows.csv", *LEARN, "--checkpoint", "{}"],
    "select a model": ["select", "m", "-o", "{}"],
    "path": ["path", "rows.csv", "--target", "y", "-o", "{}"],
    "path --checkpoint": ["path", "rows.csv", "--target", "y", "--checkpoint", "{}"],
    "predict": ["predict", "m", "rows.csv", "-o", "{}"],
    "evaluate": ["evaluate", "rows.csv", *LEARN, "-o", "{}"],
    "export": ["export", "m", "--format", "json", "-o", "{}"],
    "merge": ["merge", "m", "-o", "{}"],
    "report": ["report", "m", "--curve", "curve.json", "-o", "{}"],
}


def inputs(words):
    return [name for name in ("rows.csv", "m", "curve.json") if name in words]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("verb", WRITES)
def test_no_output_replaces_an_input(verb):
    words = WRITES[verb]
    for name in inputs(words):
        os.link(name, f"hard-{name}")
        os.symlink(name, f"soft-{name}")
        before = Path(name).read_bytes()
        for other in (name, f"./{name}", f"hard-{name}", f"soft-{name}"):
            done = run(*(word.format(other) for word in words))
            assert done.exit_code == 2, (verb, other, done.output)
            assert "would replace" in said(done)
            assert Path(name).read_bytes() == before
    assert not Path("new").exists()


def test_every_option_that_writes_a_file_is_among_the_laws():
    written = set()
    for verb in VERBS:
        command = main.get_command(None, verb)
        for option in command.params:
            if isinstance(option, click.Option) and (
                isinstance(option.type, Output) or option.name == "output"
            ):
                written.add((verb, option.opts[-1]))
    tested = {(words[0], words[words.index("{}") - 1]) for words in WRITES.values()}
    tested = {(verb, "--output" if option == "-o" else option) for verb, option in tested}
    assert written - {("demo", "--picture")} == tested  # the demo reads nothing


@pytest.mark.usefixtures("data")
def test_files_that_belong_to_an_input_are_inputs():
    for name in ("g.bed", "g.bim", "g.fam"):
        Path(name).write_bytes(b"genotypes")
    for words in (["predict", "m", "g.bed"], ["evaluate", "g.bed", *LEARN]):
        for name in ("g.bim", "g.fam"):
            done = run(*words, "-o", name)
            assert done.exit_code == 2
            assert "would replace" in said(done)
            assert Path(name).read_bytes() == b"genotypes"


@pytest.mark.usefixtures("data")
def test_standard_input_is_an_input_too():
    done = shell("predict m - --format csv -o rows.csv < rows.csv")
    assert done.returncode == 2
    assert "would replace" in " ".join(done.stderr.split())
    assert len(Path("rows.csv").read_text().splitlines()) == 301


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("verb", WRITES)
def test_models_replace_nothing_but_models_and_texts_no_model(verb):
    words = WRITES[verb]
    Path("thesis.txt").write_text("years of work")
    good("fit", "rows.svm", "--method", "sgd", "-o", "other", "-q")
    before = Path("other").read_bytes()
    texts = verb in ("predict", "evaluate", "report", "export") or "--report" in verb or "--picture" in verb
    target = "other" if texts or "--checkpoint" in verb else "thesis.txt"
    done = run(*(word.format(target) for word in words))
    assert done.exit_code == 2, done.output
    assert "is a model" in said(done) if target == "other" else "is not a model" in said(done)
    assert Path("thesis.txt").read_text() == "years of work"
    assert Path("other").read_bytes() == before


@pytest.mark.usefixtures("data")
def test_two_outputs_are_two_files():
    done = run("fit", "rows.csv", *LEARN, "-o", "new", "--checkpoint", "./new")
    assert done.exit_code == 2
    assert "would replace the file of --output" in said(done)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("verb", ["predict", "evaluate", "report"])
def test_a_full_disk_leaves_the_old_text(verb, monkeypatch):
    words = [word.format("out") for word in WRITES[verb]]
    Path("out").write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = run(*words)
    assert done.exit_code == 1
    assert "No space left on device" in done.stderr
    assert Path("out").read_text() == "old"
    assert not [name for name in os.listdir() if name.endswith(".part")]


@pytest.mark.usefixtures("data")
def test_predictions_go_to_a_device():
    good("predict", "m", "rows.csv", "-o", os.devnull, "-q")
    assert not os.path.isfile(os.devnull)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.usefixtures("data")
def test_a_run_is_not_resumed_after_the_middle_of_its_source_has_changed():
    rows = Path("rows.svm").read_text().splitlines() * 200
    Path("long.svm").write_text("\n".join(rows) + "\n")
    words = ["fit", "long.svm", "--method", "sgd", "--passes", "1", "-o", "new", "--checkpoint", "c"]
    stop = "import os, signal\nfrom streamsieve.training.checkpoint import CheckpointPolicy as P\n"
    stop += "write = P.write\n"
    stop += "def once(*a, **k):\n    write(*a, **k)\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    stop += "P.write = once\nfrom streamsieve.cli import program; program()"
    done = subprocess.run(
        [sys.executable, "-c", stop, *words, "--every", "1rows"], timeout=LIMIT, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert 0 < read_checkpoint("c").about["rows"] < len(rows)
    size = os.path.getsize("long.svm")
    with open("long.svm", "r+b") as file:
        file.seek(size // 2)
        at = file.read(1000).index(b".") + size // 2 + 1
        file.seek(at)
        file.write(b"9")
    assert os.path.getsize("long.svm") == size
    done = run(*words, "--resume")
    assert done.exit_code == 4
    assert "long.svm has been written to since" in said(done)
    assert not Path("new").exists()


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", ["predict m rows.csv", "predict m - --format csv < rows.csv"])
@pytest.mark.parametrize("output", ["", "-o -", "-o /dev/stdout"])
def test_standard_output_is_no_input(command, output):
    before = Path("rows.csv").read_bytes()
    done = shell(f"{command} {output} >> rows.csv")
    assert done.returncode == 2
    assert "Standard output is redirected to" in " ".join(done.stderr.split())
    assert Path("rows.csv").read_bytes() == before


@pytest.mark.usefixtures("data")
def test_standard_output_is_no_input_of_select_either():
    before = Path("rows.csv").read_bytes(), Path("m").read_bytes()
    for command in ("select rows.csv --target y -k 2 >> rows.csv", "inspect m >> m", "report m -o - >> m"):
        assert shell(command).returncode == 2, command
    assert (Path("rows.csv").read_bytes(), Path("m").read_bytes()) == before


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="the system has no /dev/stdout")
@pytest.mark.usefixtures("data")
def test_standard_output_has_a_name_and_is_appended_to():
    piped = shell("predict m rows.csv -q -o /dev/stdout")
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout == shell("predict m rows.csv -q").stdout
    Path("log").write_text("years of work\n")
    assert shell("predict m rows.csv -q -o /dev/stdout >> log").returncode == 0
    assert Path("log").read_text() == "years of work\n" + piped.stdout
    page = shell("report m -q -o /dev/fd/1")
    assert page.stdout.rstrip().endswith("</html>")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
@pytest.mark.usefixtures("data")
def test_models_go_to_named_pipes():
    os.mkfifo("pipe")
    done = shell("fit rows.csv --target y --method tsgd -k 2 -q -o pipe & cat pipe > copy; wait")
    assert done.returncode == 0, done.stderr
    assert load("copy").get_support().sum() == 2


@pytest.mark.usefixtures("data")
def test_a_private_file_stays_private():
    for words in (["fit", "rows.csv", *LEARN, "-o", "new"], ["predict", "m", "rows.csv", "-o", "texts"]):
        good(*words, "-q")
        os.chmod(words[-1], 0o600)
        good(*words, "-q")
        assert os.stat(words[-1]).st_mode & 0o777 == 0o600


# ---------------------------------------------------------------- usage

USAGE = {
    "--format nope": ["fit", "rows.csv", *LEARN, "-o", "new", "--format", "nope"],
    "--delimiter ab": ["fit", "rows.csv", *LEARN, "-o", "new", "--delimiter", "ab"],
    "--delimiter": ["fit", "rows.csv", *LEARN, "-o", "new", "--delimiter", ""],
    "--hold-out 1": ["fit", "rows.csv", *LEARN, "-o", "new", "--hold-out", "1"],
    "--seed": ["fit", "rows.csv", *LEARN, "-o", "new", "--seed", "-1"],
    "--memory": ["fit", "rows.csv", *LEARN, "-o", "new", "--memory", "0"],
    "--set grow=maybe": ["fit", "rows.csv", *LEARN, "-o", "new", "--set", "grow=maybe"],
    "--set eta=-1": ["fit", "rows.csv", *LEARN, "-o", "new", "--set", "eta=-1"],
    "-k": ["fit", "rows.csv", *LEARN[:-1], "0", "-o", "new"],
    "--passes 2": ["fit", "-", *LEARN, "-o", "new", "--passes", "2", "--format", "csv"],
    "--zero-based": ["fit", "rows.csv", *LEARN, "-o", "new", "--zero-based"],
    "--target y": ["fit", "rows.svm", *LEARN, "-o", "new"],
    "--target": ["fit", "rows.csv", *LEARN[2:], "-o", "new"],
    "--classes": ["fit", "rows.svm", *LEARN[2:], "-o", "new", "--classes", "yes,no"],
    "--rows": ["demo", "-n", "0"],
    "-k 9": ["demo", "-p", "3", "-k", "9"],
    "--output -": ["fit", "rows.csv", *LEARN, "-o", "-"],
    "--checkpoint -": ["fit", "rows.csv", *LEARN, "-o", "new", "--checkpoint", "-"],
    "--resume": ["fit", "rows.csv", *LEARN, "-o", "new", "--resume"],
}


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("option", USAGE)
def test_usage_errors_exit_2_and_name_the_option(option):
    done = run(*USAGE[option])
    assert done.exit_code == 2, done.output
    assert option in said(done)
    assert not Path("new").exists()


@pytest.mark.usefixtures("data")
def test_drop_and_columns_may_be_given_several_times():
    result = json.loads(
        good("select", "rows.csv", *LEARN, "--drop", "a", "--drop", "c,b", "--json", "-q").stdout
    )
    assert result["features"] == 1
    result = json.loads(
        good("select", "rows.csv", *LEARN, "--columns", "a", "--columns", "d", "--json", "-q").stdout
    )
    assert result["features"] == 2


@pytest.mark.usefixtures("data")
def test_file_names_are_not_taken_for_options():
    for name in ("a_target=1.csv", "passes=.csv", "(drop).csv", "categorical=zero_based=True.csv"):
        Path(name).write_text("x,y\n1,oops\n1,2\n" + "2,3\n" * 30)
        done = run("select", name, "--target", "y", "--method", "tsgd", "-k", 1)
        assert done.exit_code == 3
        assert f"Error: {name}: line 2" in done.stderr


@pytest.mark.usefixtures("data")
def test_no_option_is_advised_that_the_verb_lacks():
    Path("bad.csv").write_text("a,b,c,d\n1,2,3,\n1,2,3,4\n")
    good("fit", "rows.csv", "--target", "y", "--method", "ols", "--missing", "error", "-o", "strict")
    done = run("predict", "strict", "bad.csv")
    assert done.exit_code == 3
    assert "a missing value" in done.stderr
    assert "--missing" not in done.stderr
    done = run("predict", "strict", "bad.csv", "--on-bad-row", "skip")
    assert "Skipped 1 bad row." in done.stderr


def test_one_row_is_singular(data):
    (data / "one.csv").write_text("a,y\n1,2.5\n")
    done = good("select", "one.csv", "--target", "y", "--method", "tsgd", "-k", 1)
    assert "  1 row  " in done.stderr
    assert "1 rows" not in done.stderr


@pytest.mark.usefixtures("data")
def test_a_feature_beyond_the_memory_is_named_at_once():
    lines = Path("rows.svm").read_text().splitlines()
    Path("far.svm").write_text("\n".join([*lines, "1 2147483647:1"]) + "\n")
    for words in (["--method", "tsgd", "-k", 2], ["--method", "sgd"], ["--method", "olasso"], []):
        done = run("fit", "far.svm", *words, "-o", "new", "--memory", "100MB")
        assert done.exit_code == 1
        assert "far.svm: line 301" in said(done)
        assert "2147483647:1" in said(done)
        assert "--memory" in said(done)


@pytest.mark.usefixtures("data")
def test_rows_in_order_of_their_labels_are_noted():
    lines = sorted(Path("rows.svm").read_text().splitlines())
    Path("sorted.svm").write_text("\n".join(lines) + "\n")
    words = ["--method", "sgd", "-o", "new"]
    assert "--shuffle-buffer" in said(good("fit", "sorted.svm", *words))
    assert "--shuffle-buffer" not in said(good("fit", "rows.svm", *words))


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("name", ["rows.csv", "rows.svm"])
def test_lines_that_end_in_a_carriage_return_alone_are_named(name):
    Path(f"old-{name}").write_bytes(Path(name).read_bytes().replace(b"\n", b"\r"))
    done = run("fit", f"old-{name}", "--method", "sgd", "-o", "new", *(LEARN[:2] if "csv" in name else []))
    assert done.exit_code == 3
    assert f"old-{name}: the lines end in a carriage return alone" in said(done)
    assert "tr '\\r' '\\n'" in said(done)
    # a single line, and CRLF, are no such files
    Path("one.csv").write_bytes(b"a,y\r\n1,2.5\r\n2,3.5\r")
    good("fit", "one.csv", "--target", "y", "--method", "sgd", "-o", "new", "-q")


def test_a_number_too_large_is_named_by_column_and_text(data):
    (data / "big.svm").write_text("1 1:1 2:2\n-1 1:1e400 2:1\n")
    assert "line 2, column 6: '1e400' is infinite or too large" in run("fit", "big.svm", "-o", "new").stderr
    (data / "big.svm").write_text("1 1:1 2:2\n1e400 1:1 2:1\n")
    assert "line 2, column 1: '1e400' is infinite or too large" in run("fit", "big.svm", "-o", "new").stderr


@pytest.mark.usefixtures("data")
def test_integers_that_no_double_holds_are_named_by_column():
    pa = pytest.importorskip("pyarrow", reason="pyarrow, which writes Parquet, is not installed")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1.0, 2.0], "id": [1, 2**53 + 1], "y": [1.5, 2.5]}), "big.parquet")
    words = ["fit", "big.parquet", "--target", "y", "--method", "sgd", "-o", "new"]
    done = run(*words)
    assert done.exit_code == 3
    assert "column 'id'" in said(done)
    assert "9007199254740993" in said(done)
    assert "--drop" in said(done)
    good(*words, "--drop", "id", "-q")


@pytest.mark.usefixtures("data")
def test_columns_that_are_not_used_are_named():
    head, *rows = Path("rows.csv").read_text().splitlines()
    rows = [f"{row.split(',')[0]},1,{row}" for row in rows]
    Path("copies.csv").write_text("\n".join([f"first,one,{head}", *rows]) + "\n")
    assert "one (always 1); a (a copy of first)" in said(good("select", "copies.csv", "--target", "y"))
    words = ["--columns", f"first,one,{head.removesuffix(',y')}"]
    done = good("select", "copies.csv", "--target", "y", "--method", "ols", "-o", "new", *words)
    assert "constant or copies of others: one, a." in said(done)
    assert "constant or copies of others: one, a." in said(good("select", "new"))


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("method", ["sgd", "olsth", "sieve", "fobos"])
def test_features_that_all_vanish_are_an_error(method):
    head, *rows = Path("rows.csv").read_text().splitlines()
    rows = [",".join([*(f"{v}e-160" for v in row.split(",")[:-1]), row.split(",")[-1]]) for row in rows]
    Path("tiny.csv").write_text("\n".join([head, *rows]) + "\n")
    done = run("select", "tiny.csv", "--target", "y", "--method", method)
    assert done.exit_code == 1
    assert "rescale" in said(done)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("setting", ["max_iter=3", "tol=0.1", "shuffle=false"])
def test_settings_of_passes_are_refused_for_a_stream(setting):
    words = ["fit", "rows.svm", "--method", "sgd", "--set", setting, "-o", "new"]
    assert run(*words).exit_code == 0
    done = run(*words, "--passes", 2)
    assert done.exit_code == 2
    assert "--passes" in said(done)


# ---------------------------------------------------------------- terminals


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
@pytest.mark.parametrize(
    "command",
    [
        "fit rows.csv --target y --method tsgd -k 2 -o new",
        "select rows.csv --target y --method tsgd -k 2 -o new",
        "predict m rows.csv -o new",
        "evaluate rows.csv --target y --method tsgd -k 2 -o new",
        "inspect m",
        "--help",
    ],
)
def test_closed_standard_streams_are_empty_ones(command, closed):
    done = shell(f"{command} {closed}")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if "new" in command:
        assert os.path.getsize("new") > 0
    if "-k 2 -o new" in command and "evaluate" not in command:
        assert load("new").get_support().sum() == 2


def test_a_closed_standard_input_has_no_rows(data):  # noqa: ARG001
    done = shell("select - --format svmlight --method sgd <&-")
    assert done.returncode == 3
    assert "not a single row" in done.stderr


@pytest.mark.usefixtures("data")
def test_control_characters_do_not_reach_the_terminal():
    text = Path("rows.csv").read_text().replace("a,b,c,d,y", "a,\x1b[31mb\x07,c,d\x9b2J,y")
    Path("evil.csv").write_text(text)
    done = good("select", "evil.csv", *LEARN, "-o", "new")
    assert "\\x1b[31mb\\x07" in done.stdout
    done_inspect = good("inspect", "new", "--features")
    refused = run("select", "evil.csv", "--target", "\x1b[31mnone")
    assert refused.exit_code == 3
    for text in (done.output, done_inspect.output, refused.output):
        assert not {"\x1b", "\x07", "\x9b"} & set(text)
    rows = json.loads(good("select", "new", "--json").stdout)["rows"]
    assert {row["feature"] for row in rows} == {"\x1b[31mb\x07", "d\x9b2J"}


@pytest.mark.usefixtures("data")
def test_an_encoding_that_lacks_a_letter_is_no_failure():
    head, *rows = Path("rows.csv").read_text().splitlines()
    rows = [f"{row.rpartition(',')[0]},{'groß' if i % 2 else 'klein'}" for i, row in enumerate(rows)]
    Path("words.csv").write_text("\n".join([head.replace("b", "größe"), *rows]), encoding="utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for command in ("fit words.csv --target y --method sgd -o new", "select new", "predict new words.csv"):
        done = shell(command, env=ascii_only)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert "gro\\xdf" in done.stdout


# ---------------------------------------------------------------- forged curves


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    "change",
    [
        lambda point: point.update(rows="many"),
        lambda point: point.update(rows=10**400),
        lambda point: point.pop("support"),
        lambda point: point.update(recent_rmse="small"),
        lambda point: point.update(recent_rmse=[1]),
        lambda point: point.update(entered=-1),
        lambda point: point.update(left=None),
    ],
)
def test_a_forged_curve_is_refused(change):
    curve = json.loads(Path("curve.json").read_text())
    change(curve["rows"][0])
    Path("forged.json").write_text(json.dumps(curve))
    done = run("report", "m", "--curve", "forged.json", "-o", "page.html")
    assert done.exit_code == 1
    assert "is not a curve" in said(done)
    assert not Path("page.html").exists()


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": 3}', '{"rows": ["x"]}', "[" * 100_000, "\xff"])
def test_what_is_no_curve_is_refused(text):
    Path("forged.json").write_text(text, encoding="latin-1")
    done = run("report", "m", "--curve", "forged.json", "-o", "page.html")
    assert done.exit_code == 1
    assert "is not a curve" in said(done)


# ---------------------------------------------------------------- names

NAMES = [
    "=1+1",
    "@x",
    "-a",
    "+b",
    "tab\there",
    "line\nend",
    "C:\\new",
    "\\x3d",
    '"quoted"',
    "-1",
    "plain",
    "é",
]


@pytest.mark.usefixtures("data")
def test_names_in_tsv_are_read_back_and_never_a_formula():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, len(NAMES)))
    frame = pd.DataFrame(X.round(3), columns=NAMES)
    frame["y"] = X.sum(axis=1).round(3)
    frame.to_csv("named.csv", index=False)
    done = good("select", "named.csv", "--target", "y", "--method", "olsth", "-k", len(NAMES), "-q")
    head, *lines = done.stdout.splitlines()
    at = head.split("\t").index("feature")
    shown = [line.split("\t")[at] for line in lines]
    assert not [name for name in shown if name[0] in "=+@" or (name[0] == "-" and name != "-1")]
    as_written = [name.encode("latin-1", "backslashreplace").decode("unicode_escape") for name in shown]
    assert sorted(as_written) == sorted(NAMES)


@pytest.mark.usefixtures("data")
def test_predicted_labels_are_no_formulas():
    text = Path("rows.csv").read_text().splitlines()
    rows = [
        f"{line.rpartition(',')[0]},{'=A1' if float(line.rpartition(',')[2]) > 0 else 'b'}"
        for line in text[1:]
    ]
    Path("labels.csv").write_text("\n".join([text[0], *rows]) + "\n")
    good("fit", "labels.csv", "--target", "y", "-o", "labels", "-q", "--method", "tsgd", "-k", 2)
    assert set(good("predict", "labels", "labels.csv", "--no-header", "-q").stdout.split()) == {
        "\\x3dA1",
        "b",
    }


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("name", ["m" * 250, "é" * 125])
def test_output_names_of_250_bytes(name):
    """The name under which a file is first written was longer than file systems allow."""
    good("fit", "rows.csv", *LEARN, "-o", name, "--checkpoint", name[:-1] + "c", "-q")
    good("predict", name, "rows.csv", "-o", name[:-1] + "p", "-q")
    assert load(name).coef_.shape == (4,)
    assert not [left for left in os.listdir() if left.endswith(".part")]


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="needs another user's folder")
def test_folders_of_other_users(request):
    """A folder for all with what another user left behind, and one that may be written to but not read."""
    data = Path(tempfile.mkdtemp())  # pytest's folders are closed to other users
    request.addfinalizer(lambda: shutil.rmtree(data))
    data.chmod(0o755)
    for folder, mode in (("all", 0o1777), ("drop", 0o333), ("closed", 0o755)):
        (data / folder).mkdir()
        (data / folder).chmod(mode)
    (data / "all" / ".m.999999-abcd.part").write_text("")
    code = (
        "import os, sys, streamsieve, numpy as np;"
        "m = streamsieve.SGDRegressor().fit(np.eye(3), [1, 2, 3]);"
        "streamsieve.save(m, os.devnull); os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        "streamsieve.save(m, 'all/m'); streamsieve.save(m, 'drop/m');"
        "\ntry:\n streamsieve.save(m, 'closed/m')\nexcept PermissionError as error:\n print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=data,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Cannot write" in done.stdout
    assert load(data / "all" / "m").coef_.shape == load(data / "drop" / "m").coef_.shape == (3,)
