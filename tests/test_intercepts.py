"""Where intercepts begin, so that features do not learn how frequent the classes are."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import streamsieve
from streamsieve import StabilizedSGDClassifier, StabilizedSGDRegressor


def rare_and_dense(n, p, density, seed=0):
    """Ones and zeros, the features of either half in a share of the rows."""
    rng = np.random.default_rng(seed)
    density = np.repeat(density, p // 2)
    return sp.csr_array((rng.random((n, p)) < density).astype(float)), density, rng


def planted(n, p, density, strength=0.4):
    """Labels, a tenth of them positive, that ten features of either half explain equally well."""
    X, density, rng = rare_and_dense(n, p, density)
    true = np.r_[:10, p // 2 : p // 2 + 10]
    target = X[:, true] @ (strength / np.sqrt(density * (1 - density))[true]) + 0.3 * rng.normal(size=n)
    return X, target > np.quantile(target, 0.9), true


@pytest.mark.parametrize("name", ["FOBOS", "RDA", "L1ARDA", "TSGD", "SFSA"])
def test_a_rare_class_does_not_hide_the_features(name):
    X, y, true = planted(3000, 1000, [0.1, 0.1])
    model = getattr(streamsieve, f"{name}Classifier")(20).fit(X, y)
    assert model.get_support()[true].sum() >= 18


@pytest.mark.parametrize("name", ["RDA", "L1ARDA", "TSGD", "SFSA"])
def test_a_rare_class_does_not_hide_the_features_of_a_stream(name):
    X, y, true = planted(3000, 1000, [0.1, 0.1])
    model = getattr(streamsieve, f"{name}Classifier")(20)
    for at in range(0, 3000, 500):
        model.partial_fit(X[at : at + 500], y[at : at + 500], classes=[False, True])
    # the first hundred rows tell the share of a class to a third of it only
    assert model.get_support()[true].sum() >= 15


@pytest.mark.parametrize(("loss", "most"), [("logistic", 2), ("squared_hinge", 2), ("hinge", 8)])
def test_density_does_not_decide_where_one_class_is_rare(loss, most):
    X, _, rng = rare_and_dense(800, 6000, [0.01, 0.1])
    y = rng.random(800) < 0.1  # of nothing
    kept = StabilizedSGDClassifier(loss=loss, refit=False).fit(X, y).get_support()
    rare, dense = kept[:3000].mean(), kept[3000:].mean()
    assert max(rare, dense) < 0.1
    assert rare / most < dense < rare * most


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_rare_and_dense_features_that_explain_as_much_are_both_found(loss):
    X, y, _ = planted(4000, 2000, [0.01, 0.1], strength=0.3)
    kept = StabilizedSGDClassifier(loss=loss, refit=False).fit(X, y).get_support()
    assert min(kept[:10].sum(), kept[1000:1010].sum()) >= 8
    assert kept.sum() < 50


FEW_VALUES = sp.csr_array(np.eye(30, 3))
CONSTANTS = {"logistic": np.log(2.5 / 28.5), "hinge": -1.0, "squared_hinge": -26 / 30, "squared": -26 / 30}


@pytest.mark.parametrize("name", ["SGD", "FOBOS", "RDA", "SADMM", "StabilizedSGD", "TSGD"])
@pytest.mark.parametrize("loss", CONSTANTS)
def test_intercepts_begin_with_the_best_constant(name, loss):
    X, y = FEW_VALUES, np.repeat([0, 1], [28, 2])
    make = getattr(streamsieve, f"{name}Classifier")
    model = make(loss=loss, eta=1e-12).partial_fit(X, y, classes=[0, 1])
    assert_allclose(model.intercept_, CONSTANTS[loss], atol=1e-9)
    without = make(loss=loss, eta=1e-12, fit_intercept=False).partial_fit(X, y, classes=[0, 1])
    assert not np.any(without.intercept_)
    rows = np.random.default_rng(0).normal(size=(30, 3))
    dense = make(loss=loss, eta=1e-12).partial_fit(rows, y, classes=[0, 1])
    assert_allclose(dense.intercept_, 0, atol=1e-6)


def test_intercepts_begin_with_zero_where_the_rest_may_be_chance():
    X, y = FEW_VALUES, np.repeat([0, 1], [18, 12])
    assert_allclose(
        StabilizedSGDClassifier(eta=1e-12).partial_fit(X, y, classes=[0, 1]).intercept_, 0, atol=1e-9
    )
    one_class = StabilizedSGDClassifier(eta=1e-12).partial_fit(X, 0 * y, classes=[0, 1])
    assert np.isfinite(one_class.intercept_).all()
    far = StabilizedSGDRegressor(eta=1e-12).partial_fit(X, 100.0 + y)
    assert_allclose(far.intercept_, 100.4, atol=1e-9)
