"""SGD, TSGD and SIHT against their slow twins, and what is particular to each."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference.sgd import Truncate, descend
from streamsieve import (
    SFSARegressor,
    SGDClassifier,
    SGDRegressor,
    SIHTClassifier,
    SIHTRegressor,
    TSGDClassifier,
    TSGDRegressor,
)

pytestmark = pytest.mark.usefixtures("without_centering", "one_pass")


def rows(seed, n=60, p=8, density=0.6):
    rng = np.random.default_rng(seed)
    X = rng.normal(1.0, 2.0, (n, p)) * (rng.random((n, p)) < density) * 2.0 ** rng.integers(-3, 4, p)
    target = X[:, 0] / X[:, 0].std() - X[:, 1] / X[:, 1].std() + rng.normal(size=n)
    return X, target, rng.choice([0.5, 1.0, 2.0], n)


options = st.fixed_dictionaries(
    {
        "eta": st.sampled_from([None, 1e-3]),
        "schedule": st.sampled_from(["constant", "sqrt", "doubling"]),
        "alpha": st.sampled_from([0.0, 0.3]),
    }
)
losses = st.sampled_from(["squared", "logistic", "hinge", "squared_hinge"])


def fitted(kind, loss, X, target, r, args, **options):
    options = {**options, "eta": options["eta"] or "auto"}
    if loss == "squared":
        return kind[0](*args, **options).fit(X, target, r), target
    y = np.where(target > 0, 1, -1)
    return kind[1](*args, loss=loss, **options).fit(X, y, r), y


def same(model, w, b):
    assert_allclose(np.ravel(model.coef_), w, rtol=1e-9, atol=1e-12)
    assert_allclose(np.ravel(model.intercept_), b, rtol=1e-9, atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 9), losses, options, st.booleans(), st.booleans())
def test_sgd_is_its_twin(seed, loss, options, sparse, intercept):
    X, target, r = rows(seed)
    model, y = fitted(
        (SGDRegressor, SGDClassifier),
        loss,
        sp.csr_array(X) if sparse else X,
        target,
        r,
        (),
        fit_intercept=intercept,
        **options,
    )
    w, b, _ = descend(X, y, loss, r=r, standardize=False, intercept=intercept, **options)
    same(model, w, b)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 9), losses, options, st.booleans(), st.integers(1, 9))
def test_tsgd_is_its_twin(seed, loss, options, standardize, k):
    X, target, r = rows(seed)
    model, y = fitted(
        (TSGDRegressor, TSGDClassifier), loss, X, target, r, (k,), standardize=standardize, **options
    )
    w, b, variance = descend(X, y, loss, r=r, standardize=standardize, **options)
    same(model, Truncate(k)(w, variance), b)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 9), losses, options, st.booleans(), st.integers(1, 9), st.sampled_from([0.2, 0.6, 1.0]))
def test_siht_is_its_twin(seed, loss, options, standardize, k, density):
    X, target, r = rows(seed, density=density)
    model, y = fitted(
        (SIHTRegressor, SIHTClassifier),
        loss,
        sp.csr_array(X),
        target,
        r,
        (k,),
        standardize=standardize,
        **options,
    )
    w, b, _ = descend(X, y, loss, r=r, standardize=standardize, truncate=Truncate(min(k, 8)), **options)
    same(model, w, b)


@pytest.mark.parametrize("kind", [TSGDRegressor, SIHTRegressor, TSGDClassifier, SIHTClassifier])
def test_units_do_not_decide(kind):
    """Powers of two, so that not even rounding can: the same features, weights in the new units."""
    X, target, _ = rows(3, n=300)
    y = target > 0 if "Classifier" in kind.__name__ else target
    unit = 2.0 ** np.arange(-12, 12, 3)
    plain, scaled = kind(3).fit(X, y), kind(3).fit(X * unit, y)
    assert_array_equal(np.ravel(scaled.coef_) * unit, np.ravel(plain.coef_))


def test_the_penalty_survives_many_rescalings():
    """v takes the tiny scale in when it underflows; the model must not notice."""
    X, target, _ = rows(1, n=4000)
    model = SGDRegressor(eta=0.004, alpha=100.0).fit(X, target)
    w, _, _ = descend(X, target, "squared", 0.004, "constant", 100.0, np.ones(4000), standardize=False)
    assert_allclose(model.coef_, w, rtol=1e-8, atol=1e-14)
    model = SIHTRegressor(3, eta=0.004, alpha=100.0, standardize=False).fit(X[:500], target[:500])
    w, _, _ = descend(
        X[:500], target[:500], "squared", 0.004, "constant", 100.0, np.ones(500), False, truncate=Truncate(3)
    )
    assert_allclose(model.coef_, w, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("kind", [TSGDRegressor, SIHTRegressor])
def test_a_constant_column_is_never_selected(kind):
    X, target, _ = rows(0, n=200, density=1.0)
    X[:, 4] = 1e6
    assert not kind(8).fit(X, target).get_support()[4]


def test_a_classifier_with_several_classes_has_one_budget():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 30))
    y = np.argmax(X[:, [3, 11, 20]], axis=1)
    for kind in (TSGDClassifier, SIHTClassifier):
        model = kind(3).fit(X, y)
        assert_array_equal(model.get_support(indices=True), [3, 11, 20])
        assert model.coef_.shape == (3, 30)
        assert model.score(X, y) > 0.85
        assert_allclose(model.predict_proba(X[:50]).sum(axis=1), 1.0)


def test_several_outputs_are_learned_as_if_alone():
    X, target, _ = rows(2, n=200)
    both = SGDRegressor().fit(X, np.column_stack([target, 3 - target]))
    for o, y in enumerate([target, 3 - target]):
        one = SGDRegressor().fit(X, y)
        assert_allclose(both.coef_[o], one.coef_, rtol=1e-10)
        assert_allclose(both.intercept_[o], one.intercept_, rtol=1e-10)


def test_probabilities_come_with_the_logistic_loss_only():
    assert not hasattr(SGDClassifier(loss="hinge"), "predict_proba")
    assert hasattr(SGDClassifier(), "predict_proba")


def test_labels_of_bytes_are_refused():
    with pytest.raises(TypeError, match="bytes"):
        SGDClassifier().fit(np.eye(2), np.array([b"a", b"b"]))


def test_the_estimators_are_listed_before_they_are_loaded():
    code = "import streamsieve.estimators as a; assert set(a.__all__) <= set(dir(a)); help(a)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "class SADMMRegressor" in told


def test_the_derived_step_bears_any_scale():
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy((500, 6))
    y = X @ np.arange(6.0)
    for unit in (1e-60, 1e-6, 1.0, 1e6, 1e60):
        assert_allclose(
            SGDRegressor().fit(X * unit, y).coef_ * unit, SGDRegressor().fit(X, y).coef_, rtol=1e-6
        )


@pytest.mark.parametrize("kind", [TSGDRegressor, SGDRegressor, SFSARegressor], ids=lambda kind: kind.__name__)
def test_a_first_value_whose_square_is_hardly_a_number(kind):
    """Its inverse would overflow: such a feature has no unit until larger values come."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[:150, 2] *= 1e-155
    model = kind().partial_fit(X, X[:, 0] + X[:, 1])
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(("n", "k", "least"), [(3000, 10, 7.5), (6000, 100, 65)])
def test_the_step_of_siht_is_that_of_the_features_it_can_concern(n, k, least):
    """Of p = 1,000 independent features, steps by the norm of all of them found 6 of 10 and 55 of 100."""
    found = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X, true = rng.normal(size=(n, 1000)), rng.permutation(1000)[:k]
        y = X[:, true] @ rng.choice([-1.0, 1.0], k) + rng.normal(size=n)
        model = SIHTRegressor(k).partial_fit(X, y)
        found.append(np.isin(model.get_support(indices=True), true).sum())
    assert np.mean(found) >= least
