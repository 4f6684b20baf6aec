"""Sieve: what happens when its memory is full, or features come later."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from streamsieve import SieveRegressor, _core
from streamsieve.core.rows import as_rows
from streamsieve.methods.sieve.sieve import Sieve


def learned(X, y, step=None, method=None, **settings):
    """A sieve that has learned rows, so many in a call."""
    method = method or Sieve(k=5, loss="logistic", n_jobs=1, **settings).begin(X.shape[1], 1)
    step = step or len(y)
    for at in range(0, len(y), step):
        method.update(as_rows(X[at : at + step])[0], y[at : at + step])
    return method


def labels(score):
    return np.where(score > 0, 1.0, -1.0)[:, None]


@pytest.mark.parametrize("rows", [1900, 9000])
def test_features_that_left_do_not_come_back_with_new_ones(rows):
    """With 9,000 rows there is a summary, which grows by as many columns as the store."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 2000)).astype(np.float32)
    X[:, 300:] *= rng.random((rows, 1700)) < 0.05
    y = labels(X[:, :3].sum(axis=1))
    method = learned(X, y, 500, memory="1MB")
    store = method.state.store
    left = np.setdiff1d(np.arange(2000), store.columns)
    assert len(left) > 1000
    assert (method.state.H is not None) == (rows == 9000)
    wider = np.hstack([X[:60], rng.normal(size=(60, 30)).astype(np.float32)])
    learned(wider, y[:60], method=method)
    assert not np.isin(left, store.columns).any()
    assert np.isin(np.arange(2000, 2030), store.columns).all()
    method.check_state()
    assert method.weights()[0].shape == (1, 2030)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("varying", [0, 1, 3, 10])
def test_narrowing_keeps_all_columns_that_vary_while_they_are_few(varying, sparse):
    rng = np.random.default_rng(0)
    X = np.full((6000, 1000), 0.0 if sparse else 1.0, dtype=np.float32)
    X[:, 7 : 7 + varying] = rng.normal(size=(6000, varying))
    if sparse:  # a value in every row, so that the memory fills up
        X[:, 500:] = 1.0 * (rng.random((6000, 1)) < 2)
    y = labels(X[:, 7] + rng.normal(size=6000))
    method = learned(csr_array(X) if sparse else X, y, 1000, memory="1MB")
    assert method.state.store.width <= 40
    assert np.isin(np.arange(7, 7 + varying), method.state.store.columns).all()
    assert set(np.flatnonzero(method.weights()[0])) <= set(range(7, 7 + varying))


def test_values_that_no_code_holds_leave_the_state_to_the_rows_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(2500, 800)).astype(np.float32)
    X[900:, :200] *= 40
    y = labels(X[:, 0])
    whole, *others = (learned(X, y, step, memory="1MB") for step in (2500, 500, 100, 7))
    assert len(whole.state.store.escape_value) > 500
    for other in others:
        assert not list(whole.state.differences(other.state))


def test_values_that_no_code_holds_stay_within_the_memory():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 1000)).astype(np.float32)
    X[1500:] *= 100
    store = learned(X, labels(X[:, 0]), memory="4MB").state.store
    tile = store.tile_rows * 1000 * 17  # of one tile all may be beyond
    assert store.nbytes <= (4 << 20) + tile


def test_values_beyond_any_code_are_finite():
    X = np.random.default_rng(0).normal(size=(900, 1000))
    X[:, 3] *= 1e-20
    X[500:, 3] *= 1e39
    store = learned(X, labels(X[:, 0]), memory="1MB").state.store
    assert np.isfinite(store.escape_value).all()
    store.check(1, 1 << 20)


def test_a_call_of_many_short_rows_takes_little_memory():
    y = labels(np.random.default_rng(0).normal(size=400_000))
    X = np.repeat(y, 2, axis=1).astype(np.float32)
    rows, method = as_rows(X)[0], Sieve(k=1, loss="logistic", n_jobs=1, memory="1MB").begin(2, 1)
    tracemalloc.start()
    method.update(rows, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 << 20


def test_retiring_rows_of_few_columns_stays_within_the_memory():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 2)).astype(np.float32)
    y = labels(X[:, 0] + rng.normal(size=100_000))
    method = Sieve(k=1, loss="logistic", n_jobs=1, memory="40MB").begin(2, 1)
    rows, first = as_rows(X)[0], Sieve(k=1, loss="logistic").begin(2, 1)
    first.update(rows[:100], y[:100])
    first.weights()  # modules that are loaded late do not count
    tracemalloc.start()
    while method.state.H is None:
        method.update(rows, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert method.state.rows > 700_000
    assert peak < (40 + 64) << 20


def test_more_features_than_the_memory_holds_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    method = learned(csr_array(X), labels(X[:, 0]), memory="1MB")
    before = method.state.copy()
    wider = csr_array((np.ones(1), ([0], [59_999])), shape=(1, 60_000))
    with pytest.raises(ValueError, match="does not hold what has been learned with 59,990 more features"):
        method.update(as_rows(wider)[0], np.ones((1, 1)))
    assert not list(before.differences(method.state))
    assert method.p == 10


def test_few_columns_of_a_wide_store_are_copied(monkeypatch):
    """Else every step takes vectors as long as the store is wide: 72 s in place of 9 for 10^7 columns."""
    p, n, limits = 3_000_000, 200, []
    rng = np.random.default_rng(0)
    columns = np.sort(np.append(rng.choice(p, 3 * n, replace=False), 7).astype(np.int32))
    X = csr_array((np.ones(len(columns)), (rng.integers(0, n, len(columns)), columns)), shape=(n, p))
    fit = _core.sieve_fit

    def watched(store, *rest):
        jobs, copies = rest[-4], rest[-3]
        limits.append((max(len(columns) for _, _, columns, *_ in jobs), copies))
        return fit(store, *rest)

    monkeypatch.setattr(_core, "sieve_fit", watched)
    assert SieveRegressor(2, memory="1MB").fit(X, rng.normal(size=n)).get_support().sum() == 2
    few = [copies for widest, copies in limits if 4 * widest <= p]
    assert few
    assert min(few) >= 8 * X.nnz
