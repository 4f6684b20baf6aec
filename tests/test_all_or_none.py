"""A call learns all of its rows or leaves the model as it was, whatever ends it; threads take turns."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier

import streamsieve
from streamsieve import (
    FoldAverages,
    RunningAverages,
    SFSARegressor,
    SieveClassifier,
    SieveRegressor,
    load,
    save,
)
from streamsieve.core.rows import MODERATE, as_rows
from streamsieve.methods import ESTIMATORS
from streamsieve.methods.sieve import room
from streamsieve.methods.sieve.sieve import Sieve
from streamsieve.methods.sieve.store import Store
from streamsieve.statistics import running
from streamsieve.statistics.moments import Moments
from streamsieve.training import saved as models
from test_laws import LEARNERS, begin, data, feed

ROW_WISE = pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)
AVERAGES = [getattr(streamsieve, name) for name, (e, _) in ESTIMATORS.items() if e.family == "averages"]
SIEVES = [SieveRegressor, SieveClassifier]


def same_state(a, b):
    return not list(a._model.differences(b._model))


class Nth:
    """A function that raises when it is called for the n-th time."""

    def __init__(self, function, n, error):
        self.function, self.left, self.error = function, n, error

    def __get__(self, owner, kind=None):
        return partial(self, owner)

    def __call__(self, *args, **options):
        self.left -= 1
        if self.left == 0:
            raise self.error
        return self.function(*args, **options)


# ---------------------------------------------------------------- row-wise learners


@ROW_WISE
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_a_kernel_that_stops_early_leaves_nothing(kind, layout, monkeypatch):
    X, y = data(kind, n=400)
    new = begin(kind, y)
    if "standardize" in kind._params:
        new.set_params(standardize=False)  # else the value is not learned
    model = feed(new, layout(X[:200]), y[:200])
    if model.method_.limit <= MODERATE:
        pytest.skip("its values are bounded so that no product overflows")
    before = copy.deepcopy(model)
    method = kind._method_class
    learn = method.learn

    def stops(self, rows, y, w):
        learn(self, rows[:60], y[:60], None if w is None else w[:60])
        return 60

    monkeypatch.setattr(method, "learn", stops)
    X[300, 5] = 10 * MODERATE  # from where on a product may overflow
    with pytest.raises(ValueError, match="The model is as it was"):
        feed(model, layout(X[200:]), y[200:])
    assert same_state(model, before)


@ROW_WISE
def test_a_failure_between_parts_of_a_call_leaves_nothing(kind, monkeypatch):
    X, y = data(kind, n=300)
    model = feed(begin(kind, y), X[:150], y[:150])
    before = copy.deepcopy(model)
    monkeypatch.setattr("streamsieve.core.rows._BLOCK", 40 * X.shape[1])
    method = kind._method_class
    monkeypatch.setattr(method, "learn", Nth(method.learn, 2, MemoryError("no room for more")))
    with pytest.raises(MemoryError, match="no room"):
        feed(model, np.asfortranarray(X[150:]), y[150:])
    assert same_state(model, before)


@pytest.mark.parametrize("wide", [False, True], ids=["same width", "wider"])
def test_a_lack_of_memory_for_new_features_leaves_the_old_ones(wide, monkeypatch):
    X, y = data(SFSARegressor)
    model = SFSARegressor(5, grow=True).partial_fit(sp.csr_array(X[:, :11]), y)
    before = copy.deepcopy(model)
    resized, calls = streamsieve.core.state.resized, []

    def full(a, axes, p):
        calls.append(p)
        if p == X.shape[1] and len(calls) == 2:
            raise MemoryError("no room for more")
        return resized(a, axes, p)

    monkeypatch.setattr("streamsieve.core.state.resized", full)
    if wide:
        with pytest.raises(MemoryError, match="no room"):
            model.partial_fit(sp.csr_array(X), y)
        assert same_state(model, before)
        assert model.n_features_in_ == model.method_.p == 11
    else:
        model.partial_fit(sp.csr_array(X[:, :11]), y)
        assert not same_state(model, before)


def test_rows_that_wait_for_their_centre_are_not_too_large_when_it_is_too_late():
    X, y = data(streamsieve.SGDRegressor)
    model = streamsieve.SGDRegressor(eta=1e150).partial_fit(X[:1], y[:1])
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match=r"eta=1e\+150"):
        model.partial_fit(X[1:20], y[1:20])
    assert same_state(model, before)
    model.coef_  # noqa: B018


def test_an_interrupt_between_two_steps_waits_for_the_end_of_the_call(monkeypatch):
    X, y = data(SFSARegressor, n=400)
    whole = SFSARegressor(5, batch_size=5).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    model = SFSARegressor(5, batch_size=5).partial_fit(X[:100], y[:100])
    method = type(model)._method_class
    promote = method._promote

    def interrupted(self):
        signal.raise_signal(signal.SIGINT)
        promote(self)

    monkeypatch.setattr(method, "_promote", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[100:], y[100:])
    assert signal.getsignal(signal.SIGINT) is handler
    assert same_state(model, whole)


# ---------------------------------------------------------------- averages


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(
    "options", [{}, {"missing": "mean"}, {"half_life": 30.0}, {"interactions": True}], ids=str
)
@pytest.mark.parametrize("kind", [RunningAverages, FoldAverages])
@pytest.mark.parametrize("begun", [0, 5, 1500])
def test_averages_take_all_rows_of_a_call_or_none(kind, options, layout, begun, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(3, 1, size=(9000, 12)) * (rng.random((9000, 12)) < 0.6)
    y = X[:, 1]
    if options.get("missing"):
        X[::7, 3] = np.nan
    averages = kind(**options)
    if begun:
        averages.update(layout(X[:begun]), y[:begun])
    before = averages.copy()
    for name in ("add_block", "add_sparse", "recentre"):
        for nth in (1, 2, 3):
            function = Nth(getattr(Moments, name), nth, KeyboardInterrupt())
            with monkeypatch.context() as patch:
                patch.setattr(Moments, name, function)
                try:
                    averages.update(layout(X[begun:]), y[begun:])
                except KeyboardInterrupt:
                    assert not list(averages.differences(before))
                else:  # so often it is not called
                    averages = before.copy()
    assert not list(averages.differences(before))


@pytest.mark.parametrize("kind", [RunningAverages, FoldAverages])
@pytest.mark.parametrize("flushed", [False, True])
def test_averages_that_fail_while_they_grow_are_as_before(kind, flushed, monkeypatch):
    X = np.random.default_rng(0).normal(3, 1, size=(6000, 5))
    averages = kind().update(X[:300, :3], X[:300, 1])
    if flushed:
        averages.total() if kind is FoldAverages else averages.flush()
    before = averages.copy()
    with monkeypatch.context() as patch:
        patch.setattr(Moments, "add_block", Nth(Moments.add_block, 2, MemoryError("full")))
        with pytest.raises(MemoryError, match="full"):
            averages.add(as_rows(X)[0], X[:, :1])
    assert not list(averages.differences(before))
    more = averages.update(X[:500, :3], X[:500, 1]), before.update(X[:500, :3], X[:500, 1])
    assert not list(more[0].differences(more[1]))


def test_large_averages_hold_an_interrupt_back(monkeypatch):
    monkeypatch.setattr(running, "LARGE", 0)
    X = np.random.default_rng(0).normal(size=(5000, 4))
    averages, whole = RunningAverages().update(X[:9], X[:9, 1]), RunningAverages().update(X[:9], X[:9, 1])
    add_block = Moments.add_block

    def interrupted(self, rows):
        signal.raise_signal(signal.SIGINT)
        add_block(self, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Moments, "add_block", interrupted)
        with pytest.raises(KeyboardInterrupt):
            averages.update(X[9:], X[9:, 1])
    assert not list(averages.differences(whole.update(X[9:], X[9:, 1])))
    monkeypatch.setattr(Moments, "add_block", Nth(add_block, 3, MemoryError("full")))
    with pytest.raises(MemoryError, match="full") as error:
        averages.update(X, X[:, 1])
    assert "rows of this call have been learned" in error.value.__notes__[0]


# ---------------------------------------------------------------- Sieve


@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("step", ["narrow", "retire", "keep_columns", "recode", "make_room"])
@pytest.mark.parametrize("nth", [1, 2])
def test_a_sieve_interrupted_while_it_makes_room_is_as_before(loss, layout, step, nth, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 500)).astype(np.float32)
    y = X[:, 3] - 2 * X[:, 7] + 0.1 * rng.normal(size=1200)
    model = SieveRegressor(5, memory="1MB", loss=loss).partial_fit(layout(X[:20]), y[:20])
    before = copy.deepcopy(model)
    owner = Store if step == "recode" else room
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, Nth(getattr(owner, step), nth, KeyboardInterrupt()))
        try:
            model.partial_fit(layout(X[20:]), y[20:])
        except KeyboardInterrupt:
            assert same_state(model, before)
        else:
            pytest.skip("these rows need no such step")
    whole = before.partial_fit(layout(X[20:]), y[20:])
    assert same_state(model.partial_fit(layout(X[20:]), y[20:]), whole)


def test_a_large_sieve_holds_an_interrupt_back(monkeypatch):
    """Its store is not copied, since memory is bounded."""
    monkeypatch.setattr(streamsieve.methods.sieve.store, "EXTRA", 0)
    X = np.random.default_rng(0).normal(size=(1200, 500)).astype(np.float32)
    whole = SieveRegressor(5, memory="1MB", loss="huber").partial_fit(X[:20], X[:20, 1])
    model = copy.deepcopy(whole)
    whole.partial_fit(X[20:], X[20:, 1])
    make_room = room.make_room

    def interrupted(self):
        signal.raise_signal(signal.SIGINT)
        make_room(self)

    with monkeypatch.context() as patch:
        patch.setattr(room, "make_room", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[20:], X[20:, 1])
    assert same_state(model, whole)


def test_the_first_of_two_passes_is_as_before(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 30))
    sieve = Sieve(k=3, loss="squared").screened().begin(30, 1)
    sieve.update(as_rows(X[:40])[0], X[:40, :1])
    before = sieve.state.copy()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "append", Nth(Store.append, 1, MemoryError("no room for more")))
        with pytest.raises(MemoryError, match="no room"):
            sieve.update(as_rows(X[40:])[0], X[40:, :1])
    assert not list(sieve.state.differences(before))


def test_the_memory_of_a_sieve_is_a_promise():
    """At most `memory` and 64 MB, also while room is made."""
    rng = np.random.default_rng(0)
    sieve = Sieve(k=10, loss="logistic", memory="128MB").begin(4000, 1)
    block = as_rows(rng.normal(size=(400, 4000)).astype(np.float32))[0]
    y = np.where(rng.random((400, 1)) < 0.5, -1.0, 1.0)
    tracemalloc.start()
    for _ in range(22):
        sieve.update(block, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sieve.state.store.layout == "codes"  # room has been made
    assert peak < (128 + 64) << 20


def test_a_sieve_that_does_not_grow_is_as_before(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    for first in (X[:40, :20], sp.csr_array(X[:40, :20])):
        model = SieveRegressor(3, grow=True).partial_fit(first, X[:40, 1])
        before = copy.deepcopy(model)
        with monkeypatch.context() as patch:
            patch.setattr(Sieve, "learn", Nth(Sieve.learn, 1, MemoryError("no room for more")))
            with pytest.raises(MemoryError, match="no room"):
                model.partial_fit(sp.csr_array(X[40:]), X[40:, 1])
        assert same_state(model, before)
        assert model.n_features_in_ == model.method_.p == 20
        model.partial_fit(sp.csr_array(X[40:]), X[40:, 1])
        assert model.n_features_in_ == 30


# ---------------------------------------------------------------- threads


def run_threads(*calls):
    errors = []

    def guarded(call):
        try:
            call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


@pytest.mark.parametrize("kind", AVERAGES + SIEVES, ids=lambda kind: kind.__name__)
def test_two_threads_learn_in_some_order(kind):
    X, y = data(kind, n=2000)
    parts = slice(0, 1000), slice(1000, 2000)
    ends = []
    for order in (parts, parts[::-1]):
        model = begin(kind, y, k=3) if "k" in kind._params else begin(kind, y)
        for part in order:
            feed(model, X[part], y[part])
        ends.append(model)
    both = begin(kind, y, k=3) if "k" in kind._params else begin(kind, y)  # the first call is one of them
    run_threads(*(lambda part=part: feed(both, X[part], y[part]) for part in parts))
    assert both.method_.n_rows == 2000
    if kind in SIEVES:
        assert any(same_state(both, end) for end in ends)
    else:
        np.testing.assert_allclose(both.coef_, ends[0].coef_, rtol=1e-6, atol=1e-9)


@ROW_WISE
def test_of_two_first_calls_none_is_lost(kind):
    X, y = data(kind, n=240)
    y[[0, 1, 120, 121]] = [0, 1, 0, 1]
    parts = slice(0, 120), slice(120, 240)
    ends = []
    for order in (parts, parts[::-1]):
        model = begin(kind, y)
        for part in order:
            feed(model, X[part], y[part])
        ends.append(model)
    both = begin(kind, y)
    run_threads(*(lambda part=part: feed(both, X[part], y[part]) for part in parts))
    assert any(same_state(both, end) for end in ends)


@pytest.mark.parametrize("kind", [*LEARNERS, *AVERAGES, *SIEVES], ids=lambda kind: kind.__name__)
def test_readers_see_a_whole_state(kind):
    """Of rows that all are alike, every model between two calls is one of a few."""
    X, y = data(kind, n=60)
    model = begin(kind, y, k=3) if "k" in kind._params else begin(kind, y)
    feed(model, X, y)
    seen = [(model.coef_.tobytes(), np.asarray(model.intercept_).tobytes())]
    alone = copy.deepcopy(model)
    known = {seen[0]}
    for _ in range(6):
        feed(alone, X, y)
        known.add((alone.coef_.tobytes(), np.asarray(alone.intercept_).tobytes()))

    def learn():
        for _ in range(6):
            feed(model, X, y)

    def read():
        for _ in range(20):
            coef, intercept = model._weights()
            coef = coef[0] if not is_classifier(model) else coef
            seen.append((coef.tobytes(), np.asarray(intercept).tobytes()))
            model.predict(X[:3])

    run_threads(learn, read)
    if kind in AVERAGES:  # readers cut the sums, which rounds them otherwise
        return
    assert set(seen) <= known


def test_names_of_two_threads_are_all_there():
    model = streamsieve.SGDRegressor().learn_one({"x": 1.0}, 1.0)

    def learn(prefix):
        for i in range(300):
            model.learn_one({f"{prefix}{i}": 1.0, "x": 1.0}, 1.0)

    run_threads(lambda: learn("a"), lambda: learn("b"))
    assert model.n_features_in_ == model.method_.p == len(model.names_) == 601
    assert sorted(model.names_.values()) == list(range(601))


@pytest.mark.parametrize(
    "kind", [SFSARegressor, streamsieve.OLSthClassifier, SieveRegressor], ids=lambda kind: kind.__name__
)
def test_copies_and_files_made_while_names_join_are_of_one_moment(kind, tmp_path):
    model = kind(**({"grow": True} if "grow" in kind._params else {}))
    options = {"classes": [0, 1]} if is_classifier(model) else {}
    model.learn_one({"x": 1.0}, 1, **options)
    learned = threading.Event()

    def learn():
        for i in range(120):
            model.learn_one({f"a{i}": 1.0, "x": float(i % 3)}, i % 2)
        learned.set()

    def read():
        while not learned.is_set():
            save(model, tmp_path / "model")
            for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), load(tmp_path / "model")):
                assert len(other.names_) == other.method_.p == other.n_features_in_
                assert other.method_.feature_names is other.names_
            model.get_feature_names_out()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        run_threads(learn, read)
    finally:
        sys.setswitchinterval(interval)


def test_a_copy_names_the_features_that_join_it():
    rng = np.random.default_rng(0)
    model = streamsieve.OLSRegressor(grow=True)
    for _ in range(9):
        model.learn_one({"a": rng.normal(), "b": rng.normal()}, rng.normal())
    other = copy.deepcopy(model)
    for _ in range(9):
        other.learn_one({"b": rng.normal(), "c": rng.normal()}, rng.normal())
    assert list(model.model_.feature_names) == ["a", "b"]
    assert list(other.model_.feature_names) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "make",
    [
        SFSARegressor,
        streamsieve.OLSthRegressor,
        SieveRegressor,
        RunningAverages,
        FoldAverages,
        streamsieve.AveragesBank,
        streamsieve.FourthMoments,
    ],
    ids=lambda make: make.__name__,
)
def test_learning_waits_for_a_file_that_is_being_written(make, tmp_path, monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(60, 5)), np.arange(60.0)
    model = make()
    learn = partial(model.partial_fit if hasattr(model, "partial_fit") else model.update, X, y)
    learn()
    write, threads = models.write_tensors, []

    def slowly(*args):
        threads.append(threading.Thread(target=learn))
        threads[0].start()
        threads[0].join(0.2)
        assert threads[0].is_alive()
        write(*args)

    monkeypatch.setattr(models, "write_tensors", slowly)
    save(model, tmp_path / "model")
    threads[0].join()
    load(tmp_path / "model")


# ---------------------------------------------------------------- lack of memory in C++

THREADS_WITHOUT_MEMORY = """
import resource, threading
import numpy as np, scipy.sparse as sp
from streamsieve import {kind}
rng = np.random.default_rng(0)
X = sp.random_array((6000, 400), density=0.2, format="csr", rng=rng)
y = np.asarray(X[:, [3]].sum(axis=1)).ravel()
model, other = ({kind}({options}) for _ in range(2))
for m in (model, other):
    m.partial_fit(X[:20], y[:20])
    m.coef_
used = int(open("/proc/self/statm").read().split()[0]) * 4096
soft = used + {spare}
resource.setrlimit(resource.RLIMIT_AS, (soft, resource.RLIM_INFINITY))
try:
    model.partial_fit(X, y)
    model.coef_
    print("learned")
except MemoryError as error:
    assert len(str(error)) > 20, error
    print("refused")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
other.partial_fit(X, y)
if model.method_.n_rows != other.method_.n_rows:
    model.partial_fit(X, y)
assert not list(model.method_.state.differences(other.method_.state))
np.testing.assert_array_equal(model.coef_, other.coef_)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are those of Linux")
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("StabilizedSGDRegressor", "n_jobs=500"),
        ("RDARegressor", "k=5, n_jobs=500"),
        ("SieveRegressor", "k=5, n_jobs=500, loss='huber'"),
    ],
)
@pytest.mark.parametrize("spare", [12 << 20, 60 << 20])
def test_threads_without_memory_end_in_an_error(kind, options, spare):
    code = textwrap.dedent(THREADS_WITHOUT_MEMORY).format(kind=kind, options=options, spare=spare)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "OMP_NUM_THREADS": "500", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stdout.split()[-1] in ("learned", "refused")


GRAM = """
import resource
import numpy as np, scipy.sparse as sp
from streamsieve import _core
X = sp.random_array((500, 60), density=0.2, format="csr", rng=np.random.default_rng(0))
extra, where = np.ones((500, 1)), np.array([60])
def gram(threads):
    sums = np.zeros((61, 61))
    sparse = np.ones(60, np.uint8)
    _core.gram_csr(X.indptr, X.indices, X.data, np.ones(500), sparse, extra, where, sums, threads)
    return sums
one = gram(1)
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
np.testing.assert_array_equal(gram(1000), one)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are those of Linux")
def test_shares_of_threads_that_cannot_be_started_are_done_all_the_same():
    done = subprocess.run(
        [sys.executable, "-c", GRAM], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
