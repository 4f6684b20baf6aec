"""Runs of the command line that are killed, interrupted or out of disk, and resumed."""

import errno
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cli_data import LIMIT, PROGRAM, N, good, run, table, write_files
from streamsieve import read_checkpoint
from streamsieve.cli.learning import Interrupted, Signals
from streamsieve.sources.prefetch import prefetch
from streamsieve.training.checkpoint import CheckpointPolicy

kills = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
signals = pytest.mark.skipif(os.name == "nt", reason="Windows sends no signals to other processes")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("data"))


def test_resume_asks_for_the_same_run(files, tmp_path):
    check = tmp_path / "c"
    words = ["fit", files / "rows.svm", "-o", tmp_path / "m", "--checkpoint", check, "--method", "sfsa"]
    done = good(*words, "-k", 2, "--resume")
    assert "There is no checkpoint" in done.stderr
    done = good(*words, "-k", 2, "--resume")
    assert "Resumed" in done.stderr
    done = run(*words, "-k", 3, "--resume")
    assert done.exit_code == 4
    assert "k 2" in done.stderr
    done = run("fit", files / "rows.csv", "--target", "y", *words[2:], "-k", 2, "--resume")
    assert done.exit_code == 4
    check.unlink()
    good("fit", files / "rows.svm", "-o", check, "-k", 2, "-q")
    done = run(*words, "-k", 2, "--resume")
    assert done.exit_code == 4
    assert "is a model, not a checkpoint" in done.stderr
    check.write_bytes(check.read_bytes()[:-3])
    assert run(*words, "-k", 2, "--resume").exit_code == 4


@kills
def test_an_unfinished_run_is_not_written_over(files, tmp_path):
    words = ["fit", files / "rows.svm", "-o", tmp_path / "m", "--checkpoint", tmp_path / "c", "-k", "2"]
    stop_after([*words, "--every", "1rows"], tmp_path / "c", signal.SIGKILL, 1)
    done = run(*words)
    assert done.exit_code == 2
    assert "was not finished; resume it, or delete the file" in " ".join(done.stderr.split())
    good(*words, "--resume")
    good(*words)


def test_products_are_named_by_both(files, tmp_path):
    words = ["fit", files / "rows.svm", "-o", tmp_path / "m", "-q", "--method", "ofsa", "-k", 3]
    good(*words, "--set", "interactions=true", "--task", "regression")
    names = {row["feature"] for row in table(good("select", tmp_path / "m"))}
    assert {"4", "8"} <= names
    assert len(good("predict", tmp_path / "m", files / "rows.svm", "--limit", 9).stdout.splitlines()) == 10
    good("report", tmp_path / "m", "-o", tmp_path / "r.html")
    good("inspect", tmp_path / "m", "--features")


@kills
def test_a_source_that_changed_is_not_resumed(files, tmp_path):
    rows = tmp_path / "rows.svm"
    rows.write_bytes((files / "rows.svm").read_bytes())
    words = [
        "fit",
        rows,
        "-o",
        tmp_path / "m",
        "--checkpoint",
        tmp_path / "c",
        "-k",
        "2",
        "--every",
        "1rows",
        "-q",
    ]
    stop_after(words, tmp_path / "c", signal.SIGKILL, 1)
    with rows.open("a") as file:
        file.write("1 1:1\n")
    done = run(*words, "--resume")
    assert done.exit_code == 4
    assert "cannot be resumed" in done.stderr


def finished(files, tmp_path, *words, name="rows.csv"):
    """The words of a run that has learned the first half of a file; its other half."""
    lines = (files / name).read_text().splitlines(keepends=True)
    half = len(lines) // 2
    rows = tmp_path / name
    rows.write_text("".join(lines[:half]))
    target = ["--target", "y"] if name.endswith(".csv") else []
    words = ["fit", rows, *target, "-k", 2, *words, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c"]
    good(*words, "-q")
    return words, rows, "".join(lines[half:])


@pytest.mark.parametrize("name", ["rows.csv", "rows.svm"])
@pytest.mark.parametrize(
    "options",
    [["--method", "sieve"], ["--method", "olsth"], ["--method", "tsgd", "--passes", "1"]],
    ids=lambda options: options[1],
)
def test_a_finished_run_learns_the_rows_that_were_added(options, name, files, tmp_path):
    words, rows, more = finished(files, tmp_path, *options, name=name)
    before = read_checkpoint(tmp_path / "m").about["rows"]
    with rows.open("a") as file:
        file.write(more)
    done = good(*words, "--resume")
    assert "The source has grown since" in done.stderr
    resumed = read_checkpoint(tmp_path / "m")
    assert resumed.about["rows"] > 1.9 * before
    (tmp_path / "c").unlink()
    good(*words, "-q")
    whole = read_checkpoint(tmp_path / "m")
    assert whole.about["rows"] == resumed.about["rows"]
    assert_array_equal(resumed.object.get_support(), whole.object.get_support())
    assert_allclose(resumed.object.coef_, whole.object.coef_, rtol=1e-3, atol=1e-9)
    assert "grown" not in good(*words, "--resume").stderr


def test_a_finished_run_learns_the_files_that_were_added(files, tmp_path):
    for part in ("1", "2"):
        (tmp_path / f"part{part}.csv").write_bytes((files / "rows.csv").read_bytes())
    words = ["--target", "y", "-k", 2, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c"]
    good("fit", tmp_path / "part1.csv", *words, "-q")
    rows = read_checkpoint(tmp_path / "m").about["rows"]
    assert "grown" in good("fit", tmp_path / "part1.csv", tmp_path / "part2.csv", *words, "--resume").stderr
    assert read_checkpoint(tmp_path / "m").about["rows"] == 2 * rows


@pytest.mark.parametrize("change", ["cut", "reverse", "edit", "no newline"])
def test_a_finished_run_whose_source_has_changed_is_not_resumed(change, files, tmp_path):
    words, rows, more = finished(files, tmp_path, "--method", "olsth")
    model = (tmp_path / "m").read_bytes()
    head, *lines = rows.read_text().splitlines(keepends=True)
    match change:
        case "cut":
            rows.write_text(head + "".join(lines[:-5]))
        case "reverse":
            rows.write_text(head + "".join(lines[::-1]))
        case "edit":
            rows.write_text(head + "".join([lines[1], *lines[1:]]) + more)
        case "no newline":  # what is added may go on with the last row
            rows.write_text((head + "".join(lines)).rstrip("\n"))
            (tmp_path / "c").unlink()
            good(*words, "-q")
            model = (tmp_path / "m").read_bytes()
            rows.write_text(rows.read_text() + "5\n" + more)
    done = run(*words, "--resume")
    assert done.exit_code == 4
    assert "cannot be resumed" in done.stderr
    assert (tmp_path / "m").read_bytes() == model


@pytest.mark.parametrize("options", [["--method", "tsgd"], ["--method", "sieve", "--shuffle-buffer", "50"]])
def test_rows_that_cannot_follow_are_refused(options, files, tmp_path):
    words, rows, more = finished(files, tmp_path, *options)
    with rows.open("a") as file:
        file.write(more)
    done = run(*words, "--resume")
    assert done.exit_code == 4
    assert "they cannot be appended. Delete the checkpoint" in " ".join(done.stderr.split())


def from_pipe(files, tmp_path, *words, name="rows.csv"):
    """The words of a run that has learned the first half of a file from standard input; and both halves."""
    lines = (files / name).read_text().splitlines(keepends=True)
    half = len(lines) // 2
    words = ["fit", "-", "--format", name[-3:].replace("svm", "svmlight"), "-k", 2, *words]
    words += ["--target", "y"] if name.endswith(".csv") else []
    words += ["-o", tmp_path / "m", "--checkpoint", tmp_path / "c"]
    good(*words, "-q", input="".join(lines[:half]))
    return words, lines[:half], lines[half:]


@pytest.mark.parametrize("name", ["rows.csv", "rows.svm"])
def test_a_finished_run_learns_what_a_pipe_adds(name, files, tmp_path):
    words, old, new = from_pipe(files, tmp_path, "--method", "olsth", name=name)
    assert "grown" not in good(*words, "--resume", input="".join(old)).stderr
    before = read_checkpoint(tmp_path / "m").about["rows"]
    for _ in range(2):  # the second has nothing to learn
        good(*words, "--resume", input="".join(old + new))
        resumed = read_checkpoint(tmp_path / "m")
        assert resumed.about["rows"] == before + len(new)
    (tmp_path / "c").unlink()
    good(*words, "-q", input="".join(old + new))
    assert_allclose(resumed.object.coef_, read_checkpoint(tmp_path / "m").object.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("change", ["cut", "reverse", "prepend", "edit", "nothing", "no newline"])
def test_a_finished_run_whose_pipe_has_other_rows_is_not_resumed(change, files, tmp_path):
    words, (head, *old), new = from_pipe(files, tmp_path, "--method", "olsth")
    model = (tmp_path / "m").read_bytes()
    text = {
        "cut": [head, *old[:-5]],
        "reverse": [head, *old[::-1]],
        "prepend": [head, *new, *old],
        "edit": [head, old[1], *old[1:], *new],
        "nothing": [head],
        "no newline": [head, *old[:-1], old[-1].rstrip("\n") + "7\n"],
    }
    done = run(*words, "--resume", input="".join(text[change]))
    assert done.exit_code == 4
    assert "standard input does not begin with the rows" in " ".join(done.stderr.split())
    assert (tmp_path / "m").read_bytes() == model


def test_a_run_that_stopped_on_a_bad_row_of_a_pipe_goes_on_from_the_same_rows_alone(tmp_path):
    rows = [
        f"{i % 7} 1:{i % 11} 2:{i % 7}\n" for i in range(15_000)
    ]  # more than are looked at before learning
    words = ["fit", "-", "--format", "svmlight", "--method", "olsth", "-k", 1, "--every", "1rows", "-q"]
    words += ["-o", tmp_path / "m", "--checkpoint", tmp_path / "c"]
    assert run(*words, input="".join([*rows, "bad\n"])).exit_code == 3
    other = "".join([rows[1], *rows[1:], "bad\n"])
    assert run(*words, "--resume", input=other).exit_code == 4
    assert run(*words, "--resume", input="".join([*rows, "bad\n"])).exit_code == 3


def test_a_finished_run_of_a_query_is_not_resumed(tmp_path):
    pytest.importorskip("duckdb", reason="duckdb, which runs the query, is not installed")
    words = ["fit", "duckdb:SELECT sin(range) AS a, 2 * range AS y FROM range(50)", "--target", "y", "-k", 1]
    words += ["-o", tmp_path / "m", "--checkpoint", tmp_path / "c", "-q"]
    good(*words)
    done = run(*words, "--resume")
    assert done.exit_code == 4
    assert "cannot be compared with those that were learned" in " ".join(done.stderr.split())


def test_a_full_disk_while_checkpointing_leaves_the_old_checkpoint(files, tmp_path, monkeypatch):
    words = ["fit", files / "rows.svm", "-o", tmp_path / "m", "--checkpoint", tmp_path / "c", "-k", 2]
    words += ["--every", "1rows", "--method", "sfsa", "--passes", "1"]
    real, calls = os.fsync, []

    def full(fd):
        calls.append(fd)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        done = run(*words)
    assert done.exit_code == 1
    assert "No space left on device" in done.stderr
    assert "is unchanged" in done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["c"]
    held = read_checkpoint(tmp_path / "c")
    assert 0 < held.about["rows"] < N
    done = good(*words, "--resume")
    whole = tmp_path / "whole"
    good("fit", files / "rows.svm", "-o", whole, "-k", 2, "--method", "sfsa", "--passes", 1)
    assert (tmp_path / "m").read_bytes() == whole.read_bytes()


def stop_after(words, check, how, writes, pause=0.0):
    """Run a command, and end it once its checkpoint has been written so often; its exit code and stderr."""
    seen = check.stat().st_mtime_ns if check.exists() else 0
    child = subprocess.Popen([*PROGRAM, *map(str, words)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    left, deadline = writes, time.monotonic() + LIMIT
    while child.poll() is None and left > 0 and time.monotonic() < deadline:
        now = check.stat().st_mtime_ns if check.exists() else seen
        left -= now != seen
        seen = now
        time.sleep(0.0005)
    time.sleep(pause)
    child.send_signal(how)
    try:
        said = child.communicate(timeout=LIMIT)[1].decode()
    finally:
        child.kill()
    return child.returncode, said


@signals
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_writes_a_checkpoint_first(how, code, files, tmp_path):
    words = ["fit", files / "rows.csv", "--target", "y", "-k", "3", "--passes", "400", "--method", "sfsa"]
    words += ["-o", tmp_path / "m", "--checkpoint", tmp_path / "c", "--every", "10000rows"]
    came, said = stop_after(words, tmp_path / "c", how, 2)
    assert came == code, said
    assert "Interrupted after" in said
    assert "Traceback" not in said
    assert read_checkpoint(tmp_path / "c").about["rows"] >= 20_000
    assert not (tmp_path / "m").exists()


def test_a_signal_is_no_error_to_the_code_that_it_interrupts():
    """The start of a thread that takes it for a failure leaves the thread to fail by itself."""
    start = "_start_joinable_thread" if sys.version_info >= (3, 13) else "_start_new_thread"
    begin = getattr(threading, start)

    def interrupted(*args, **options):
        begin(*args, **options)
        signal.raise_signal(signal.SIGTERM)

    def blocks():
        yield from range(100)

    with Signals(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading, start, interrupted)
        with pytest.raises(Interrupted):
            list(prefetch(blocks(), 2))
    deadline = time.monotonic() + LIMIT
    while any(thread.name == "streamsieve-reader" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("moment", ["SourceRun.__init__", "SourceRun.interrupt"])
def test_a_signal_before_the_first_row_or_while_another_is_handled_is_no_traceback(moment, files, tmp_path):
    """A run that sends itself a signal then, and one before it learns."""
    words = ["fit", str(files / "rows.csv"), "--target", "y", "-k", "3", "-o", str(tmp_path / "m")]
    script = f"""
import signal, sys
from streamsieve.cli import program
from streamsieve.training.source import SourceRun

def signalled(self, *args, **options):
    signal.raise_signal(signal.SIGTERM)

SourceRun.learn = signalled
{moment} = signalled
sys.argv = ["streamsieve", *{[*words, "--checkpoint", str(tmp_path / "c")]!r}]
program()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 143
    assert "Traceback" not in done.stderr
    assert "Interrupted" in done.stderr
    assert not (tmp_path / "m").exists()


def killed_until_done(words, check, kills, rng):
    """Kill the command so often at random moments, resuming each time, then let it finish."""
    killed = 0
    while killed < kills:
        code, said = stop_after(
            [*words, "--resume"], check, signal.SIGKILL, rng.randrange(4), pause=rng.random() * 0.02
        )
        if code == 0:  # it was faster than the signal
            return killed
        assert code == -signal.SIGKILL, said
        killed += 1
    done = subprocess.run(
        [*PROGRAM, *map(str, words), "--resume"], capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
    return killed


CASES = [
    (
        "rows.svm",
        ["--method", "sfsa", "-k", "3", "--passes", "12", "--shuffle-buffer", "5000", "--hold-out", "7"],
    ),
    ("rows.csv.gz", ["--target", "y", "-k", "3", "--passes", "10"]),
    ("rows.csv", ["--target", "y", "--method", "barda", "-k", "3", "--passes", "10"]),
    (
        "rows.parquet",
        ["--target", "y", "--method", "rda", "-k", "3", "--passes", "10", "--shuffle-buffer", "999"],
    ),
    ("words.csv", ["--target", "kind", "--method", "siht", "-k", "3", "--passes", "10"]),
    ("rows.svm", ["--method", "olsth", "--set", "half_life=3000", "--passes", "10", "--limit", "9999"]),
]


def same_model_however_often_it_is_killed(files, tmp_path, case, kills, seed):
    name, options = case
    rows = ["fit", files / name, *options, "--every", "1rows"]
    good(*rows, "-o", tmp_path / "whole", "--checkpoint", tmp_path / "c0")
    words = [*rows, "-o", tmp_path / "killed", "--checkpoint", tmp_path / "c1"]
    killed = killed_until_done(words, tmp_path / "c1", kills, random.Random(seed))
    assert (tmp_path / "killed").read_bytes() == (tmp_path / "whole").read_bytes()
    assert [file for file in tmp_path.iterdir() if file.name.startswith(".")] == []
    return killed


@kills
@pytest.mark.parametrize("case", CASES[:2], ids=["sfsa-svmlight", "averages-csv.gz"])
def test_killed_and_resumed_is_undisturbed(case, files, tmp_path):
    same_model_however_often_it_is_killed(files, tmp_path, case, 2, 1)


@pytest.mark.slow
def test_killed_thirty_times_and_resumed_is_undisturbed(files, tmp_path):
    killed = 0
    for i, case in enumerate(CASES):
        (tmp_path / str(i)).mkdir()
        killed += same_model_however_often_it_is_killed(files, tmp_path / str(i), case, 5, i)
    assert killed > 0


@signals
@pytest.mark.parametrize(
    ("verb", "how", "code"),
    [
        ("fit", signal.SIGINT, 130),
        ("fit", signal.SIGTERM, 143),
        ("evaluate", signal.SIGINT, 130),
        pytest.param("evaluate", signal.SIGTERM, 143, marks=pytest.mark.slow),  # 20 s: it reads many models
    ],
)
def test_a_signal_ends_a_run_that_waits_for_standard_input(verb, how, code, files, tmp_path):
    words = [
        verb,
        "-",
        "--target",
        "y",
        "--method",
        "sfsa",
        "-k",
        "3",
        "--set",
        "refit=False",  # `evaluate` reads the model of every row, which a refit makes five times as slow
        "-o",
        tmp_path / "m",
        "--format",
        "csv",
    ]
    words += ["--checkpoint", tmp_path / "c", "--every", "1rows"] if verb == "fit" else []
    child = subprocess.Popen(
        [*PROGRAM, *map(str, words)], stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    text = (files / "rows.csv").read_bytes()
    first = text.index(b"\n") + 1
    child.stdin.write(text + 12 * text[first:])  # more than is read at a time, and no end
    child.stdin.flush()
    limit = threading.Timer(LIMIT, child.kill)
    limit.start()
    said = b""
    while b"131,072 rows" not in said and b"102,400 rows" not in said and (line := child.stderr.readline()):
        said += line
    limit.cancel()
    time.sleep(1)  # then all that can be is learned
    child.send_signal(how)
    try:
        assert child.wait(20) == code  # standard input is still open
    finally:
        child.kill()
        out, rest = child.communicate(timeout=LIMIT)
    assert b"Traceback" not in rest
    assert b"Fatal" not in rest
    if verb == "fit":
        assert read_checkpoint(tmp_path / "c").about["rows"] >= 131_072
    else:
        assert b"recent_loss" in out


def test_a_signal_between_reading_a_block_and_learning_it_loses_nothing(files, tmp_path):
    from streamsieve.cli.method_choice import MethodChoice
    from streamsieve.training.source import Source, SourceRun

    source = Source((str(files / "rows.csv"),), {"target": "y", "passes": 3, "missing": "error"})
    choice, file = MethodChoice(k=3, method="sfsa"), str(tmp_path / "c")

    def late(blocks):
        for number, block in enumerate(blocks):
            if number == 4:  # the stream has moved on, and nobody has the block
                raise Interrupted(signal.SIGTERM)
            yield block

    run = SourceRun(source, choice, checkpoint=CheckpointPolicy(file, rows=1))
    run.begin()
    run.blocks = late(run.blocks)
    with pytest.raises(Interrupted):
        run.learn()
    assert run.interrupt()
    rest = SourceRun(source, choice, checkpoint=CheckpointPolicy(file, rows=1, resume=True))
    whole = SourceRun(source, choice)
    for one in (rest, whole):
        one.begin()
        one.learn()
    assert rest.trainer.rows == whole.trainer.rows == 3 * N
    assert not list(rest.model.method.state.differences(whole.model.method.state))


def test_resuming_says_which_option_has_changed(files, tmp_path):
    words = ["fit", files / "rows.csv", "--target", "y", "-k", 3, "-o", tmp_path / "m"]
    words += ["--checkpoint", tmp_path / "c"]
    good(*words)
    done = run(*words, "--drop", "x1", "--resume")
    assert done.exit_code == 4
    assert "run: drop None, not ['x1'];" in done.stderr


def test_progress_is_one_line_unless_a_run_takes_long(monkeypatch, capsys):
    from streamsieve.cli import progress

    clock = [0.0]
    monkeypatch.setattr(progress, "perf_counter", lambda: clock[0])

    def lines(seconds, read=100):
        clock[0] = 0.0
        with progress.ProgressMeter("sgd", 100, lambda: read, quiet=False) as meter:
            for rows in range(1000, 9000, 1000):
                clock[0] += seconds
                meter.count(rows)
        return capsys.readouterr().err.splitlines()

    assert lines(0.1) == ["sgd  100%  8,000 rows  10,000/s"]
    long = lines(3.0)
    assert [line.split("  ")[-2] for line in long] == ["2,000 rows", "3,000 rows", "5,000 rows", "8,000 rows"]
    assert ["%" in line for line in long] == [False, False, False, True]  # all bytes were read before
    assert all("50%" in line for line in lines(3.0, read=50))


def test_a_warning_that_differs_in_its_numbers_is_shown_once(capsys, monkeypatch):
    from streamsieve import cli

    monkeypatch.setattr(cli, "_SHOWN", set())
    shown = ("One target, -3,939, decides.", "Column 'x1', 7, decides.", "Column 'x2', 7, decides.")
    for text in (shown[0], "One target, 2,565, decides.", *shown[1:], "Column 'x2', -8.5, decides."):
        cli.show_warning(UserWarning(text))
    assert capsys.readouterr().err.splitlines() == [f"Warning: {text}" for text in shown]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999.4, "999.4"),
        (-7003.4, "-7,003"),
        (44516.9, "44,517"),
        (12.345678, "12.35"),
        (1e12, "1e+12"),
        (0.0, "0"),
    ],
)
def test_numbers_for_readers_have_four_digits_and_groups(value, text):
    from streamsieve.cli.output import short

    assert short(value) == text


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        (np.arange(600) % 7, "Classification: .*7 whole numbers"),
        (np.arange(27) % 15, r"Regression: the target holds numbers \(0, 1, 2, \.\.\.\)\.$"),  # two rows each
        (np.arange(600) % 7 + 3, "Regression: .*Pass --task classification"),
        (np.arange(600) % 2 * 1992 + 8, "Classification: .*2 whole numbers"),
        (
            np.arange(600) % 300 * 50,
            r"Regression: the target holds numbers \(0, 50, 100, \.\.\.\)\.$",
        ),  # prices
    ],
)
def test_a_few_whole_numbers_with_rows_in_every_fold_are_labels(targets, words, tmp_path):
    x = np.arange(len(targets)) % 11
    lines = "".join(f"{a},{b},{y}\n" for a, b, y in zip(x, x[::-1], targets))
    (tmp_path / "a.csv").write_text("a,b,y\n" + lines)
    done = good("select", tmp_path / "a.csv", "--target", "y", "-k", 1)
    assert re.search(words, done.stderr.splitlines()[0]), done.stderr
