"""Passive-aggressive learning, truncated."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.linear_model import SGDClassifier

from reference.passive_aggressive import passive_aggressive
from streamsieve import PassiveAggressiveClassifier, PassiveAggressiveRegressor

AS_GIVEN = {"standardize": False, "refit": False}


def rows(seed, n=120, p=15):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)), 2) * (rng.random((n, p)) < 0.6)
    return X, X[:, 2] - 2 * X[:, 9] + 0.3 * rng.normal(size=n), rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("variant", ["PA-I", "PA-II"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("k", [3, 15])
def test_equals_the_slow_twin(variant, intercept, layout, k):
    X, target, r = rows(k)
    options = {"C": 0.3, "variant": variant, "fit_intercept": intercept, **AS_GIVEN}
    for labels in (2, 3):
        y = np.digitize(target, np.quantile(target, np.arange(1, labels) / labels))
        model = PassiveAggressiveClassifier(k, **options)
        model.partial_fit(layout(X), y, classes=range(labels), sample_weight=r)
        Y = np.where(y[:, None] == (range(labels) if labels > 2 else [1]), 1.0, -1.0)
        w, b = passive_aggressive(X, Y, r, k, 0.3, variant == "PA-II", None, intercept)
        assert_allclose(model.coef_, w.T, rtol=1e-9, atol=1e-12)
        assert_allclose(model.intercept_, b, rtol=1e-9, atol=1e-12)
        assert (np.count_nonzero(model.coef_.any(axis=0))) <= k
    model = PassiveAggressiveRegressor(k, epsilon=0.2, **options)
    model.partial_fit(layout(X), target, sample_weight=r)
    w, b = passive_aggressive(X, target[:, None], r, k, 0.3, variant == "PA-II", 0.2, intercept)
    assert_allclose(model.coef_, w[:, 0], rtol=1e-9, atol=1e-12)
    assert_allclose(model.intercept_, b[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("variant", "rate"), [("PA-I", "pa1"), ("PA-II", "pa2")])
def test_without_truncation_it_is_scikit_learns(variant, rate):
    X, target, _ = rows(0)
    options = {"loss": "hinge", "penalty": None, "learning_rate": rate, "max_iter": 1, "tol": None}
    name = "PA_C" if "PA_C" in SGDClassifier().get_params() else "eta0"  # since scikit-learn 1.8
    theirs = SGDClassifier(shuffle=False, fit_intercept=False, **options, **{name: 0.3}).fit(X, target > 0)
    ours = PassiveAggressiveClassifier(15, C=0.3, variant=variant, fit_intercept=False, **AS_GIVEN)
    ours.partial_fit(X, target > 0, classes=[False, True])
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


def test_a_row_that_is_right_changes_nothing():
    X, target, _ = rows(1)
    y = target > 0
    model = PassiveAggressiveClassifier(15, C=1e6, fit_intercept=False, **AS_GIVEN)
    before = model.partial_fit(X[:1], y[:1], classes=[False, True]).coef_
    assert before.any()
    assert_allclose(model.partial_fit(X[:1], y[:1]).coef_, before, rtol=1e-12)  # its loss is zero now
    assert_allclose(model.partial_fit(X[:1], ~y[:1]).coef_, -before, rtol=1e-12)
