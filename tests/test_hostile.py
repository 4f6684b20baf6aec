"""The harness of hostile cases notices what it is there for."""

import os
import time

import numpy as np
import pytest

pytest.importorskip("resource", reason="cases run within limits of memory, which Windows does not have")

from tests.hostile import __main__ as harness
from tests.hostile import cases, memory, rules, runner


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (0, None),
        (1, "the process ended with -11"),
        (2, "no answer within 1 s"),
        (3, "IndexError"),
        (4, None),  # in a new process
    ],
)
def test_crashes_hangs_and_errors_are_noticed(number, reason):
    failures = runner.run_all("selftest", [number], 0, limit=1.0, report=lambda _: None)
    assert (reason is None) == (not failures)
    assert reason is None or reason in failures[number]


def test_a_case_follows_from_its_number(tmp_path):
    logs = []
    for _ in range(2):
        session = cases.Session(np.random.default_rng([0, 5]), tmp_path)
        session.learn("partial_fit")
        logs.append(session.log)
    assert logs[0] == logs[1]


@pytest.mark.parametrize(
    "error",
    [
        IndexError("list index out of range"),
        KeyError("k"),
        ZeroDivisionError("division by zero"),
        ValueError("bad"),
    ],
    ids=repr,
)
def test_exceptions_that_tell_a_user_nothing_are_failures(error):
    with pytest.raises(rules.Failure):
        rules.check_refusal(error)
    rules.check_refusal(ValueError("k=7 exceeds the 3 columns of X; pass at most 3."))


def test_a_trace_of_a_refused_call_is_a_failure():
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = cases.streamsieve.SGDRegressor().partial_fit(X, X[:, 0])
    before = cases.snapshot(model)
    cases.check_unchanged(before, model)
    model.partial_fit(X, X[:, 0])
    with pytest.raises(rules.Failure, match="changed the state"):
        cases.check_unchanged(before, model)
    with pytest.raises(rules.Failure, match="not finite"):
        rules.check_finite("coef_", [1.0, np.nan])


def test_one_case_runs_again_by_its_number(capsys):
    assert harness.main(["--only", "cases:3", "--seed", "0"]) == 0
    assert "cases: 1 run, 0 failed, seed 0" in capsys.readouterr().out


def test_kinds_that_are_not_named_run_as_often_as_in_a_short_run(monkeypatch, capsys):
    """The long run of cases, files and kills ran no other kind."""
    ran = {}
    monkeypatch.setattr(harness, "run_all", lambda kind, numbers, *_, **__: ran.update({kind: numbers}) or {})
    assert harness.main(["--cases", "1000", "--kills", "0"]) == 0
    assert {kind: len(numbers) for kind, numbers in ran.items()} == {
        kind: 1000 if kind == "cases" else n for kind, (n, _) in harness.KINDS.items() if kind != "kills"
    }
    ran.clear()
    assert harness.main(["--only", "files", "--files", "20", "--from", "3"]) == 0
    assert ran == {"files": range(3, 23)}
    with pytest.raises(SystemExit):
        harness.main(["--only", "bugs:3"])
    assert "expected one of cases, files" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="resident memory is read from /proc")
def test_memory_that_grows_is_noticed(monkeypatch):
    entry = cases.ESTIMATORS["SGDRegressor"][0]
    lines = []
    assert abs(memory.watch(entry, 0.02, report=lambda line, **_: lines.append(line))) < 50
    sizes = iter(np.arange(0.0, 1e9, 50.0))
    monkeypatch.setattr(memory, "resident", lambda: next(sizes))
    began = time.monotonic()
    assert memory.watch(entry, 0.02, report=lambda *_, **__: None) >= memory.MOST
    assert time.monotonic() - began < 30
