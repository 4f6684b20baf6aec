from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fsa_data import correlated, standardized
from reference.obestsubset import best_subset
from streamsieve import OBestSubsetRegressor, RunningAverages, path, simulate
from streamsieve.core import linalg
from streamsieve.methods.averages.obestsubset import Subset, obestsubset


def explained(s, support):
    """Share of the targets' variance that least squares on some features explains, added over the targets."""
    A = np.asarray(support, dtype=int)
    return float((s.r[A] * np.linalg.solve(s.R[np.ix_(A, A)], s.r[A])).sum())


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(1, 3), st.integers(0, 2**31), st.data())
def test_what_a_subset_knows_follows_its_features(p, q, seed, data):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, p)) + rng.normal(size=(60, 1))
    s = standardized(X, rng.normal(size=(60, q)) + X[:, :1])
    subset = Subset(s)
    for _ in range(data.draw(st.integers(1, 12))):
        if len(subset.at) and (len(subset.at) == p or data.draw(st.booleans())):
            subset.remove(data.draw(st.integers(0, len(subset.at) - 1)))
        else:
            subset.add(data.draw(st.sampled_from(np.setdiff1d(np.arange(p), subset.at).tolist())))
    anew = Subset(s, subset.at)
    for name in ("G", "T", "b", "c", "v", "explained"):
        assert_allclose(getattr(subset, name), getattr(anew, name), rtol=1e-6, atol=1e-9, err_msg=name)
    for i, loss in enumerate(subset.backward):
        assert_allclose(loss, subset.explained - explained(s, np.delete(subset.at, i)), atol=1e-8)
    gain = subset.forward
    for j in np.flatnonzero(gain >= 0):
        assert_allclose(gain[j], explained(s, np.append(subset.at, j)) - subset.explained, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 2), st.integers(0, 2**31))
def test_no_exchange_of_two_features_improves_the_fit(k, q, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 15)) + rng.normal(size=(80, 1))
    s = standardized(X, X @ rng.normal(size=(15, q)) * 0.3 + rng.normal(size=(80, q)))
    A = obestsubset(s, k).support
    assert len(A) == k
    best = max(explained(s, np.append(np.delete(A, i), j)) for i in range(k) for j in set(range(15)) - set(A))
    assert best <= explained(s, A) + 1e-8


@pytest.mark.parametrize("seed", range(10))
def test_finds_the_best_of_all_subsets(seed):
    X, y, _ = correlated(100, 10, 4, signal=0.3, seed=seed)
    s = standardized(X, y)
    found = path(s, "obestsubset", ks=range(1, 8))
    for k in range(1, 8):
        best = max(explained(s, A) for A in combinations(range(10), k))
        assert explained(s, obestsubset(s, k).support) >= best - 2e-3  # a few per mill: no guarantee
        assert explained(s, found.support(k)) >= best - 1e-3


@pytest.mark.parametrize(("n", "p", "signal"), [(300, 60, 1.0), (1000, 100, (0.05, 1)), (150, 200, 1.0)])
def test_never_worse_than_splicing_as_printed(n, p, signal):
    X, y = simulate.correlated(n, p=p, k=p // 10, signal=signal).take(n)
    s = standardized(X, y)
    sizes = np.arange(1, p // 5)
    found = path(s, "obestsubset", ks=sizes)
    for k in sizes:
        theirs = explained(s, best_subset(X, y, int(k)))
        assert explained(s, obestsubset(s, int(k)).support) >= theirs - 1e-9
        assert explained(s, found.support(k)) >= theirs - 1e-9


def test_the_path_ends_after_the_best_size():
    X, y, true = correlated(2000, 200, 10)
    found = path(RunningAverages().update(X, y), "obestsubset")
    assert found.best_k("ebic") == 10
    assert_array_equal(found.best("ebic").support, true)
    assert 20 <= found.k[-1] <= 60
    assert_allclose(found.rss[found.k], found.rss)  # every size
    assert (np.diff(found.rss) < 0).all()


def test_dependent_and_constant_columns_are_left_out():
    X, y, _ = correlated(200, 6, 2)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(200)])
    model = obestsubset(standardized(X, y), 8)
    assert model.k == 6
    assert model.ridge == 0
    assert obestsubset(standardized(X, y), 0).k == 0
    assert obestsubset(standardized(X[:4], y[:4]), 8).k == 3
    with pytest.raises(ValueError, match=r"k=9 .* 8 features"):
        obestsubset(standardized(X, y), 9)
    with pytest.raises(ValueError, match="max_exchange=0"):
        obestsubset(standardized(X, y), 2, max_exchange=0)


def test_units_do_not_decide():
    X, y, _ = correlated(300, 30, 5, signal=0.2)
    scaled = X * np.logspace(-3, 3, 30)
    whole = OBestSubsetRegressor(5).fit(X, y).get_support()
    for options in ({}, {"standardize": False}):
        assert_array_equal(OBestSubsetRegressor(5, **options).fit(scaled, y).get_support(), whole)


def test_several_targets_share_one_support():
    X, y, _ = correlated(300, 20, 3, q=2)
    model = obestsubset(standardized(X, y), 3)
    assert_array_equal(model.support, np.flatnonzero(model.coef.any(axis=0)))
    best = max(explained(standardized(X, y), A) for A in combinations(range(20), 3))
    assert_allclose(explained(standardized(X, y), model.support), best)


@pytest.mark.parametrize(("narrow", "limits"), [(5, [1]), (4, [])])
def test_narrow_models_are_read_with_one_thread_of_blas(narrow, limits, monkeypatch):
    """On a busy machine two took ten times as long, waiting for each other."""
    X = np.random.default_rng(0).normal(size=(60, 5))
    model = OBestSubsetRegressor(2).fit(X, X[:, 1])
    seen, limit = [], linalg.limit_threads
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(linalg, "NARROW", narrow)
    monkeypatch.setattr(linalg, "limit_threads", lambda n: seen.append(n) or limit(n))
    assert model.coef_.any()
    assert seen == limits
