from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fsa_data import correlated, standardized
from reference import fsa as twin
from streamsieve.methods.averages.ofsa import ofsa
from streamsieve.methods.averages.olsth import olsth
from streamsieve.methods.averages.path import path


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 15), st.integers(1, 2), st.integers(0, 2**31))
def test_every_size_is_the_model_of_its_own_fit(p, q, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(3, 2, size=(70, p)) + rng.normal(size=(70, 1))
    y = X @ rng.normal(size=(p, q)) + rng.normal(size=(70, q))
    s = standardized(X, y)
    result = path(s)
    assert_array_equal(result.k, np.arange(p + 1))
    for k in result.k:
        model = olsth(s, k)
        assert_array_equal(result.support(k), model.support)
        assert_allclose(result.coef(k), model.coef, rtol=1e-7, atol=1e-10)
        assert_allclose(result.model(k).coef, model.coef)
        _, _, _, rss = twin.refit(X, y, model.support)
        assert_allclose(result.rss[k], rss if q > 1 else rss[0], rtol=1e-7)


def test_criteria_are_those_of_the_books():
    X, y, _ = correlated(80, 10, 3, q=2)
    result = path(standardized(X, y), ebic_gamma=0.5)
    for i, k in enumerate(result.k):
        fit = 80 * np.log(result.rss[i] / 80).sum()
        assert_allclose(result.aic[i], fit + 2 * 2 * k)
        assert_allclose(result.bic[i], fit + 2 * k * np.log(80))
        models = len(list(combinations(range(10), k)))
        assert_allclose(result.ebic[i], fit + 2 * k * np.log(80) + 2 * 0.5 * np.log(models))


def test_best_finds_the_true_size():
    X, y, true = correlated(2000, 100, 10)
    result = path(standardized(X, y))
    assert result.best_k("ebic") == 10
    assert_array_equal(result.best("ebic").support, true)
    assert result.best_k("bic") <= result.best_k("aic")


def test_noise_free_targets_choose_no_more_than_they_need():
    X, _, _ = correlated(200, 20, 3)
    assert path(standardized(X, X[:, 3] - 2 * X[:, 8])).best_k() == 2


def test_few_rows_stop_at_what_can_be_identified():
    X, y, true = correlated(50, 80, 3, signal=5)
    result = path(standardized(X, y))
    assert result.k[-1] == 48
    assert result.ridge > 0
    assert result.best_k() <= 25  # the criteria alone would take all 48
    assert set(true) <= set(result.best("bic").support)
    for k in (0, 1, 5, 24, 48):
        assert_allclose(result.coef(k), olsth(standardized(X, y), k).coef, rtol=1e-5, atol=1e-8)


def test_duplicates_are_said_and_fitted_with_jitter():
    X, y, _ = correlated(200, 6, 2)
    X = np.column_stack([X, X])
    result = path(standardized(X, y))
    assert result.singular_at is not None
    assert str(result.singular_at) in str(result)
    for k in result.k:
        model = olsth(standardized(X, y), k)
        assert_allclose(result.coef(k), model.coef, rtol=1e-4, atol=1e-5)
        assert_allclose(result.rss[k], twin.refit(X, y, model.support)[3], rtol=1e-5)


def test_constant_columns_and_targets():
    X, y, _ = correlated(60, 8, 2, q=2)
    X[:, 3] = 1.0
    y[:, 1] = 4.0
    result = path(standardized(X, y))
    assert result.k[-1] == 7
    assert np.isfinite(result.bic).all()
    assert_allclose(result.rss[:, 1], 0)
    nothing = path(standardized(np.ones((9, 4)), y[:9, 0]))
    assert nothing.best().k == 0


def test_chosen_sizes():
    X, y, _ = correlated(60, 8, 2)
    s = standardized(X, y)
    some = path(s, ks=[5, 2, 2])
    assert_array_equal(some.k, [2, 5])
    assert_allclose(some.rss, path(s).rss[[2, 5]])
    with pytest.raises(ValueError, match="k=3 is not on this path"):
        some.coef(3)
    with pytest.raises(ValueError, match=r"9 .* 0 to 8"):
        path(s, ks=[9])


@pytest.mark.parametrize("q", [1, 2])
def test_ofsa_runs_every_size(q):
    X, y, _ = correlated(100, 30, 4, q=q)
    s = standardized(X, y)
    result = path(s, "ofsa", maturity=100)
    assert result.k[0] == 0
    assert result.k[-1] == 30
    for k in result.k[::4]:
        model = ofsa(s, int(k), maturity=100)
        assert_array_equal(result.support(k), model.support)
        assert_allclose(result.coef(k), model.coef)
        assert_allclose(result.rss[result.k == k][0], twin.refit(X, y, model.support)[3], rtol=1e-7)
    assert len(result.best().support) == result.best_k()


@pytest.mark.parametrize("bad", [{"method": "ols"}, {"ebic_gamma": 2.0}, {"method": "olasso", "ks": [3]}])
def test_impossible_options_are_refused(bad):
    X, y, _ = correlated(50, 10, 2)
    with pytest.raises(ValueError, match=r"(method|gamma)="):
        path(standardized(X, y), **bad)
    with pytest.raises(ValueError, match="criterion="):
        path(standardized(X, y)).best_k("cp")


def test_the_table_marks_the_best_and_is_thinned():
    X, y, _ = correlated(2000, 200, 10)
    result = path(standardized(X, y))
    text = str(result).splitlines()
    assert len(text) < 35
    (row,) = [line for line in text if "best" in line and "EBIC" in line]
    assert int(row.split()[0]) == result.best_k("ebic")
    assert "not shown" in text[-1]
    few = str(path(standardized(X, y), ks=range(5))).splitlines()
    assert len(few) == 7
