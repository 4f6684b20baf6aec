"""Sieve: the default method."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.sparse import random as sparse_random
from scipy.special import logsumexp

from reference import sieve as twin
from streamsieve import SieveClassifier, SieveRegressor
from streamsieve.core.losses import expit, softmax
from streamsieve.core.params import ParamError
from streamsieve.core.rows import as_rows
from streamsieve.methods.sieve import read, solve, store
from streamsieve.methods.sieve.sieve import Sieve
from streamsieve.methods.sieve.solve import Fit, Problem, Start


def data(n=300, p=30, q=1, seed=0, loss="logistic", sparse=False):
    """Rows, outputs as a method gets them, and the true features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    if sparse:
        X[rng.random((n, p)) < 0.8] = 0
    true = np.arange(2, p, max(p // 4, 1))[:4]
    effect = rng.permuted(np.tile(np.linspace(-2, 2, q) if q > 1 else [1.5], (len(true), 1)), axis=1)
    effect *= rng.choice([-1, 1], (len(true), 1))
    score = X[:, true] @ effect
    if loss == "logistic" and q == 1:
        y = np.where(score + rng.logistic(size=score.shape) > 0, 1.0, -1.0)
    elif loss == "logistic":
        y = np.where(
            (score + rng.gumbel(size=score.shape)).argmax(axis=1)[:, None] == np.arange(q), 1.0, -1.0
        )
    elif loss == "poisson":
        y = rng.poisson(np.exp(np.clip(score / 4, -3, 3))).astype(float)
    else:
        y = score + rng.normal(size=score.shape)
    return X, y, true


def learned(X, y, cuts=(), w=None, n_jobs=1, **settings):
    method = Sieve(n_jobs=n_jobs, **settings).begin(X.shape[1], y.shape[1])
    for part in np.split(np.arange(len(y)), sorted(cuts)):
        if len(part):
            rows = as_rows(X[part], nan_ok=True)[0]
            method.update(rows, y[part], None if w is None else w[part])
    return method


def support(method):
    return np.flatnonzero(method.weights()[0].any(axis=0))


def scores(method, X):
    return method.scores(as_rows(X)[0], *method.weights())


def problem_of(method):
    """What a method fits, from its rows, and the columns that vary."""
    problem = Problem(method, *read.folds_of(method)[:2])
    return problem, np.flatnonzero(problem.deviation > 0).astype(np.int32)


def target(method):
    """Targets as the store has them."""
    store = method.state.store
    return store.y[: store.n]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("loss", "q"),
    [("logistic", 1), ("logistic", 3), ("logistic", 7), ("logistic", 8), ("poisson", 1), ("squared", 2)],
)
def test_elimination_equals_the_slow_twin(loss, q, sparse):
    X, y, _ = data(200, 12, q, loss=loss, sparse=sparse)
    w = np.random.default_rng(1).integers(1, 4, 200).astype(float)
    method = learned(csr_array(X) if sparse else X, y, w=w, k=3, loss=loss)
    problem, active = problem_of(method)
    problem.y = target(method).copy() if problem.joint or loss != "logistic" else y
    start = Start(problem.zero(active), 0.01, None, [3])
    fit = problem.eliminate([start], 1e-9)[0][0]
    kind = "softmax" if problem.joint else loss
    columns, coef, intercept = twin.eliminate(X, target(method), w, kind, 3, 0.01)
    assert_array_equal(fit.columns, columns)
    ours = fit.B / problem.scale[columns]
    assert_allclose(ours, coef, atol=2e-4)
    center = problem.mean[columns] + method.state.store.shift[columns]
    assert_allclose(fit.b - ours @ center, intercept, atol=1e-3)


@pytest.mark.parametrize(("loss", "q"), [("logistic", 1), ("logistic", 3), ("squared", 1), ("squared", 2)])
@pytest.mark.parametrize("sparse", [False, True])
def test_finds_the_true_features(loss, q, sparse):
    X, y, true = data(1500, 40, q, loss=loss, sparse=sparse)
    method = learned(csr_array(X) if sparse else X, y, k=4, loss=loss)
    assert_array_equal(support(method), true)


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 1e4])
def test_losses_of_many_classes_are_those_of_any_margins(size):
    X, y, _ = data(200, 10, 6)
    problem, active = problem_of(learned(X, y, k=4, loss="logistic"))
    B = size * np.random.default_rng(1).normal(size=(6, len(active)))
    fit = Fit(active, B, np.arange(6.0))
    margins, code = problem.margins(fit), y.argmax(axis=1)
    expected = logsumexp(margins, axis=1) - margins[np.arange(200), code]
    by_part = np.bincount(problem.part, expected)
    assert_allclose(problem.loss(fit, None), by_part, rtol=1e-12, atol=1e-10 * size)


@pytest.mark.parametrize("loss", ["poisson", "huber"])
def test_other_losses_find_the_true_features(loss):
    X, y, true = data(1500, 40, loss=loss)
    if loss == "huber":
        y[::20] += 100
    assert_array_equal(support(learned(X, y, k=4, loss=loss)), true)


SMALL = 1 << 20  # the least memory: rows are recoded, columns leave, rows are retired


@settings(max_examples=5, deadline=None)
@given(cuts=st.sets(st.integers(1, 2499), max_size=5))
@pytest.mark.parametrize(("loss", "sparse"), [("logistic", False), ("logistic", True), ("squared", False)])
def test_chunks_do_not_matter(loss, sparse, cuts):
    X, y, _ = data(2500, 600, loss=loss, sparse=sparse)
    X = csr_array(X) if sparse else X.astype(np.float32)
    key = (loss, sparse)
    if key not in WHOLE:
        WHOLE[key] = learned(X, y, k=5, loss=loss, memory=SMALL)
    parts = learned(X, y, cuts, k=5, loss=loss, memory=SMALL)
    assert list(parts.state.differences(WHOLE[key].state)) == []


WHOLE: dict = {}


@pytest.mark.parametrize(("loss", "memory"), [("logistic", "256MB"), ("logistic", SMALL), ("squared", SMALL)])
def test_pickled_mid_stream_equals_uninterrupted(loss, memory):
    X, y, _ = data(2000, 200, loss=loss)
    first = learned(X[:1200], y[:1200], k=5, loss=loss, memory=memory)
    first.weights()
    again = pickle.loads(pickle.dumps(first))
    whole = learned(X, y, k=5, loss=loss, memory=memory)
    again.update(as_rows(X[1200:])[0], y[1200:])
    assert list(again.state.differences(whole.state)) == []
    assert_array_equal(again.weights()[0], whole.weights()[0])


@pytest.mark.parametrize(("q", "sparse"), [(1, False), (8, False), (1, True)])
def test_threads_change_no_bit(q, sparse):
    X, y, _ = data(2000, 200, q, sparse=sparse)
    X = csr_array(X) if sparse else X  # copied, so that each thread takes eliminations
    one, two = (learned(X, y, k=5, loss="logistic", n_jobs=jobs) for jobs in (1, 3))
    assert_array_equal(one.weights()[0], two.weights()[0])


def stored(layout, q, n=300, p=70):
    """A problem on rows of this layout, with values that no 8-bit code holds, and its columns."""
    X, y, _ = data(n, p, q=q, sparse=layout == "csr")
    X[::7, 3] *= 40
    method = learned(csr_array(X) if layout == "csr" else X, y, k=5, loss="logistic")
    if layout == "codes":
        method.state.store.recode()
    assert method.state.store.layout == layout
    return problem_of(method)


@pytest.mark.parametrize("layout", ["tiles", "codes"])
def test_threads_append_the_same_bits(layout):
    X = np.random.default_rng(0).standard_t(2, size=(700, 1003)).astype(np.float32)
    rows, y, key = as_rows(X)[0], np.zeros((700, 1)), np.zeros(700, dtype=np.uint32)
    stores = []
    for threads in (1, 2, 3):
        one = store.Store.of(1003, 1, 1, 8 << 20, sparse=False)
        assert one.append(rows[:100], y[:100], None, key[:100], 1 << 62, 1) == 100
        if layout == "codes":
            one.recode()
        assert one.append(rows[100:], y[100:], None, key[100:], 1 << 62, threads) == 600
        stores.append(one)
    assert layout == "tiles" or len(stores[0].escape_value) > 100
    for other in stores[1:]:
        assert not list(stores[0].differences(other))


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("layout", ["tiles", "codes", "csr"])
def test_margins_are_those_of_the_decoded_rows(layout, q):
    problem, active = stored(layout, q)
    store, rng = problem.store, np.random.default_rng(1)
    columns = np.sort(rng.choice(active, 29, replace=False)).astype(np.int32)
    fit = Fit(columns, rng.normal(size=(problem.c, 29)), rng.normal(size=problem.c))
    X = (store.decode(0, store.n, columns) - problem.mean[columns]) / problem.scale[columns]
    assert_allclose(problem.margins(fit), X @ fit.B.T + fit.b, atol=1e-4)
    if layout == "codes":
        assert len(store.escape_row) > 0


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("layout", ["tiles", "codes", "csr"])
def test_copies_of_columns_change_no_bit(layout, q, monkeypatch):
    problem, active = stored(layout, q)
    start = Start(problem.zero(active), 1e-3, None, [40, 20, 5])
    monkeypatch.setattr(solve, "CACHE_BYTES", 0)
    copied = problem.eliminate([start])[0]
    monkeypatch.setattr(solve, "WORK_BYTES", 0)
    problem.store.memory = 0
    for one, other in zip(copied, problem.eliminate([start])[0]):
        for a, b in zip(one, other):
            if layout == "csr":  # a copy may be dense, and is summed in another order
                assert_allclose(a, b, rtol=1e-3, atol=1e-5)
            else:
                assert_array_equal(a, b)


def test_values_at_the_edge_of_the_codes_do_not_depend_on_cuts():
    X, y, _ = data(420, 1000)
    X = X.astype(np.float32)
    store = learned(X, y, k=5, memory="1MB", loss="logistic").state.store
    assert store.layout == "codes"
    edge = store.shift + store.offset + 127.5 * store.unit
    for j in range(16):
        value = np.float32(edge[j])
        for _ in range(j):  # some float32 numbers beside it, which roundings take to either side
            value = np.nextafter(value, np.float32(np.inf if j % 2 else -np.inf))
        X[400, j] = value
    X[401, :16] = 60  # beyond the codes in the same tile
    whole, cut = (learned(X, y, cuts, k=5, memory="1MB", loss="logistic").state.store for cuts in ([], [401]))
    for name in ("escape_tile", "escape_row", "escape_column", "escape_value"):
        order = [np.lexsort((s.escape_column, s.escape_row, s.escape_tile)) for s in (whole, cut)]
        assert_array_equal(getattr(whole, name)[order[0]], getattr(cut, name)[order[1]])


def test_a_call_of_sparse_rows_does_not_walk_all_features(monkeypatch):
    """What maps features to columns is O(p): it is made once, not by every call or part of one."""
    made, places = [], store.places
    monkeypatch.setattr(store, "places", lambda *args: made.append(1) or places(*args))
    X = sparse_random(40, 300_000, density=1e-4, format="csr", random_state=0)
    method = Sieve(k=5, loss="logistic").begin(X.shape[1], 1)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)[:, None]
    method.update(as_rows(X)[0], y)
    for i in range(40):
        method.update(as_rows(X[i : i + 1])[0], y[i : i + 1])
    assert len(made) == 1
    assert method.state.store.n == 80


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_shift_and_scale_do_not_matter(loss):
    X, y, _ = data(600, 30, loss=loss)
    scale = 2.0 ** np.random.default_rng(0).integers(-3, 3, 30)
    one, two = learned(X, y, k=4, loss=loss), learned(X * scale + 20, y, k=4, loss=loss)
    assert_array_equal(support(one), support(two))
    # folds depend on the values of a row, so that another of the ridges that predict alike may be chosen
    assert_allclose(scores(one, X), scores(two, X * scale + 20), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_constant_columns_are_never_selected(loss):
    X, y, _ = data(300, 10, loss=loss)
    X[:, [0, 3]] = 0.1
    method = learned(X, y, k=20, loss=loss)
    assert_array_equal(support(method), [1, 2, 4, 5, 6, 7, 8, 9])


@pytest.mark.parametrize(
    ("loss", "memory"), [("logistic", "256MB"), ("squared", "256MB"), ("logistic", SMALL)]
)
@pytest.mark.parametrize("k", [1, 7, 30])
def test_k_is_exact(loss, memory, k):
    X, y, _ = data(2000, 200, loss=loss)
    assert len(support(learned(X, y, k=k, loss=loss, memory=memory))) == k


@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson", "huber"])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_rows_work(loss, n):
    X, y, _ = data(20, 5, loss=loss)
    coef, intercept = learned(X[:n], y[:n], k=2, loss=loss).weights()
    assert coef.shape == (1, 5)
    assert np.isfinite(coef).all()
    assert np.isfinite(intercept).all()


@pytest.mark.parametrize("q", [1, 3])
def test_one_class_gives_the_prior(q):
    X, y, _ = data(50, 5, q)
    y = np.repeat(y[:1], 50, axis=0)
    method = learned(X, y, k=2, loss="logistic")
    assert not method.weights()[0].any()
    margins = scores(method, X[:1])
    share = softmax(margins)[0] if q > 1 else np.append(expit(margins), 1 - expit(margins))
    assert share.max() > 0.9
    assert share.sum() == pytest.approx(1)


def test_missing_values_are_the_mean_so_far():
    X, y, _ = data(200, 8, loss="squared")
    holes = np.random.default_rng(0).random(X.shape) < 0.1
    filled = X.copy()
    for i, j in zip(*np.nonzero(holes)):
        filled[i, j] = filled[:i, j].mean() if i else 0.0
    method = learned(np.where(holes, np.nan, X), y, k=3, missing="mean")
    # the hashes of the rows are others, and with them the folds and the ridge
    assert_allclose(method.weights()[0], learned(filled, y, k=3).weights()[0], rtol=0.02)
    assert_array_equal(method.state.mean_count, holes.sum(axis=0))


def test_half_life_forgets():
    X, y, _ = data(4000, 10, loss="squared")
    y[:2000] *= -1
    slow, fast = learned(X, y, k=4), learned(X, y, k=4, half_life=200)
    assert np.corrcoef(scores(fast, X[2000:])[:, 0], y[2000:, 0])[0, 1] > 0.9
    assert np.corrcoef(scores(slow, X[2000:])[:, 0], y[2000:, 0])[0, 1] < 0.5
    with pytest.raises(ParamError, match="half_life"):
        Sieve(loss="logistic", half_life=10)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_auto_finds_the_size(loss):
    X, y, true = data(3000, 40, loss=loss)
    found = support(learned(X, y, k="auto", loss=loss))
    assert set(true) <= set(found)
    assert len(found) <= 8


def test_narrower_features_grow():
    X, y, _ = data(800, 30, sparse=True)
    method = Sieve(k=4, loss="logistic", grow=True).begin(10, 1)
    method.update(as_rows(csr_array(X[:200, :10]))[0], y[:200])
    method.update(as_rows(csr_array(X[200:]))[0], y[200:])
    early = X.copy()
    early[:200, 10:] = 0
    whole = learned(csr_array(early), y, k=4, loss="logistic")
    assert_array_equal(method.weights()[0], whole.weights()[0])


def test_memory_is_bounded():
    X, y, _ = data(3000, 300)
    method = learned(X, y, k=5, loss="logistic", memory=SMALL)
    s = method.state
    held = sum(a.nbytes for a in s.store.fields().values() if isinstance(a, np.ndarray))
    held += 0 if s.H is None else s.H.nbytes
    assert held <= 1.3 * SMALL + 100 * 300


def test_reading_is_cached_until_more_rows_come(monkeypatch):
    X, y, _ = data()
    method = learned(X, y, k=3, loss="logistic")
    method.weights()
    monkeypatch.setattr("streamsieve.methods.sieve.sieve.read", lambda _: pytest.fail("read twice"))
    method.weights()


def test_reading_reports_progress_and_ends_where_that_raises():
    X, y, _ = data()
    method = learned(X, y, k=3, loss="logistic")
    calls = []
    method.progress = lambda: calls.append(1) if len(calls) < 3 else 1 / 0
    before = method.state.copy()
    with pytest.raises(ZeroDivisionError):
        method.weights()
    assert len(calls) == 3
    assert list(method.state.differences(before)) == []
    assert pickle.loads(pickle.dumps(method)).progress is None


def test_memory_is_written_with_units():
    assert Sieve(memory="2MB").bytes == Sieve(memory=2 << 20).bytes
    for bad in ("2 apples", 10, "1KB", True):
        with pytest.raises(ParamError, match="memory"):
            Sieve(memory=bad)


@pytest.mark.parametrize("sparse", [False, True])
def test_second_pass_keeps_all_rows_of_the_best_columns(sparse):
    X, y, true = data(2000, 600, sparse=sparse)
    X = csr_array(X) if sparse else X
    first = Sieve(k=4, loss="logistic", memory=SMALL).screened().begin(600, 1)
    for at in range(0, 2000, 500):
        first.update(as_rows(X[at : at + 500])[0], y[at : at + 500])
    second = first.next_pass()
    for at in range(0, 2000, 700):
        second.update(as_rows(X[at : at + 700])[0], y[at : at + 700])
    assert second.state.store.n == 2000
    assert_array_equal(support(second), true)


def test_no_second_pass_where_all_rows_were_kept():
    X, y, _ = data(500, 30)
    first = Sieve(k=4, loss="logistic").screened().begin(30, 1)
    first.update(as_rows(X)[0], y)
    assert first.next_pass() is None


def test_fit_makes_a_second_pass_where_memory_is_short():
    X, y, true = data(1500, 2000)
    model = SieveClassifier(4, memory="2MB").fit(X, y[:, 0])
    assert model.method_.state.store.n == 1500
    assert_array_equal(model.get_support(indices=True), true)
    stream = SieveClassifier(4, memory="2MB").partial_fit(X, y[:, 0], classes=[-1, 1])
    assert stream.method_.state.chosen is None


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
@pytest.mark.parametrize("k", [2, "auto"])
def test_columns_that_do_not_vary_leave_the_constant(loss, k):
    y = np.array([7.0, 8.0, 9.0])
    for rows in (np.ones((3, 30)), csr_array((3, 30))):
        model = SieveRegressor(k, loss=loss).fit(rows, y)
        assert not model.coef_.any()
        assert model.intercept_ == pytest.approx(np.log(8) if loss == "poisson" else 8, rel=1e-4)
    one = SieveRegressor(k, loss=loss).fit(np.ones((1, 30)), [7.0])
    assert one.predict(np.ones((1, 30))) == pytest.approx(7, rel=1e-4)


def test_poisson_models_predict_means():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = rng.poisson(np.exp(1 + 0.5 * X[:, 3]))
    model = SieveRegressor(1, loss="poisson").fit(X, y)
    assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_))
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=0.02)
    assert model.predict_one(dict(enumerate(X[0]))) == pytest.approx(model.predict(X[:1])[0])


@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("n", [54, 56, 300])
def test_without_an_intercept_a_column_of_ones_is_one(loss, n):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 10))])
    y = 10 + X[:, 1] + rng.normal(size=n)
    model = SieveRegressor(2, loss=loss, fit_intercept=False).fit(X, y)
    assert_array_equal(np.flatnonzero(model.coef_), [0, 1])


@pytest.mark.parametrize("cut", [0, 1, 150])
def test_sparse_rows_that_are_not_sparse_are_kept_as_dense_ones(cut):
    X, y, _ = data()
    X[:, 0] = 0
    dense, sparse = (learned(rows, y, {cut}, k=4, loss="logistic") for rows in (X, csr_array(X)))
    assert sparse.state.store.layout == "tiles"
    assert_array_equal(sparse.weights()[0], dense.weights()[0])


@pytest.mark.parametrize("loss", ["logistic", "poisson", "huber"])
def test_large_weights_and_losses_do_not_overflow(loss):
    X, y, true = data(loss=loss)
    method = learned(X, y, w=np.full(len(y), 1e30), k=4, loss=loss)
    assert_array_equal(support(method), true)
    if loss == "poisson":
        y[5] = 1e12
        with pytest.warns(UserWarning, match="alone decides the model"):
            method = learned(X, y, w=np.full(len(y), 1e28), k=4, loss=loss)
        assert np.isfinite(method.weights()[0]).all()


@pytest.mark.parametrize("share", [1e-3, 1e-28])
@pytest.mark.parametrize("k", [4, "auto"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_weights_below_one_are_shares_not_counts(loss, k, share):
    X, y, true = data(1000, 40, loss=loss)
    whole, shares = (
        learned(X, y, w=np.full(1000, w), k=k, loss=loss, criterion="ebic") for w in (1.0, share)
    )
    assert_array_equal(support(whole), true)
    assert_array_equal(support(shares), true)
    assert_allclose(shares.weights()[0], whole.weights()[0], rtol=0.02)


@pytest.mark.parametrize(
    ("loss", "se"), [("squared", "classical"), ("logistic", "classical"), ("logistic", "folds")]
)
def test_standard_errors_do_not_depend_on_the_unit_of_weights_below_one(loss, se):
    X, y, _ = data(1000, 40, loss=loss)
    whole, shares = (
        learned(X, y, w=np.full(1000, w), k=4, loss=loss, se=se).linear_model() for w in (1.0, 1e-3)
    )
    assert_allclose(shares.stderr, whole.stderr, rtol=1e-4)
    assert shares.nu == pytest.approx(whole.nu)
