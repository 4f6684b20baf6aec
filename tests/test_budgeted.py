"""BARDA, BAMD, OFS and SOFS against their slow twins, and what is particular to each."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference import budgeted as twin
from streamsieve import (
    BAMDClassifier,
    BAMDRegressor,
    BARDAClassifier,
    BARDARegressor,
    OFSClassifier,
    SOFSClassifier,
)


def rows(seed, n, p, density, kind):
    """Gaussian values, or whole numbers, which tie."""
    rng = np.random.default_rng(seed)
    X = rng.normal(1.0, 2.0, (n, p)) if kind == "gaussian" else rng.integers(-1, 3, (n, p)).astype(float)
    X *= rng.random((n, p)) < density * rng.random(p) * 2
    target = X[:, 0] - X[:, 1] + rng.normal(size=n)
    return X, target, rng.choice([0.5, 1.0, 2.0], n)


designs = {
    "seed": st.integers(0, 99),
    "n": st.sampled_from([1, 40, 150]),
    "p": st.sampled_from([4, 30, 700]),
    "density": st.sampled_from([0.05, 0.4, 1.0]),
    "kind": st.sampled_from(["gaussian", "whole"]),
}
design = st.fixed_dictionaries(designs)
losses = st.sampled_from(["squared", "logistic", "hinge", "squared_hinge"])
adaptive = st.fixed_dictionaries(
    {
        "eta": st.sampled_from([1e-3, 0.1, 3.0]),
        "lam": st.sampled_from([0.0, 1e-4, 0.03, 5.0]),
        "delta": st.sampled_from([0.01, 1.0]),
    }
)
budgets = st.sampled_from([1, 2, 7, 29])


def labels(target, classes):
    if classes == 2:
        y = np.where(target > 0, 1, -1)
        return y, y[:, None].astype(float)
    y = np.digitize(target, np.quantile(target, np.arange(1, classes) / classes))
    y[:classes] = np.arange(classes)[: len(y)]
    return y, np.where(y[:, None] == np.arange(classes), 1.0, -1.0)


def learned(model, X, y, r, classes):
    return model.partial_fit(
        sp.csr_array(X), y, sample_weight=r, classes=range(classes) if classes > 2 else [-1, 1]
    )


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("barda", (BARDARegressor, BARDAClassifier)), ("bamd", (BAMDRegressor, BAMDClassifier))],
)
@settings(max_examples=150)
@given(data=st.data())
def test_adaptive_learners_are_their_twins_bit_for_bit(name, kinds, data):
    """Not a tie, not a crossing of two fading scores may be decided otherwise."""
    X, target, r = rows(**data.draw(design))
    k, options, intercept = data.draw(budgets), data.draw(adaptive), data.draw(st.booleans())
    loss, classes = data.draw(losses), data.draw(st.sampled_from([2, 3]))
    if loss == "squared" and classes == 2:
        y, Y = target, target[:, None]
        model = kinds[0](k, fit_intercept=intercept, **options).fit(sp.csr_array(X), y, r)
    else:
        y, Y = labels(target, classes)
        model = learned(kinds[1](k, loss=loss, fit_intercept=intercept, **options), X, y, r, classes)
    w, b = getattr(twin, name)(X, Y, r, k, loss=loss, intercept=intercept, **options)
    if loss == "logistic" or classes > 2:  # exp, and sums over outputs, may be rounded otherwise
        assert_allclose(np.atleast_2d(model.coef_).T, w, rtol=1e-9, atol=1e-13)
    else:
        assert_array_equal(np.atleast_2d(model.coef_).T, w)
    assert_allclose(np.ravel(model.intercept_), b, rtol=1e-9, atol=1e-13)


@settings(max_examples=100)
@given(
    design,
    budgets,
    st.sampled_from([1e-3, 0.2]),
    st.sampled_from([0.0, 0.01, 0.5]),
    st.booleans(),
    st.sampled_from([2, 3]),
)
def test_ofs_is_its_twin(design, k, eta, lam, intercept, classes):
    X, target, r = rows(**design)
    y, Y = labels(target, classes)
    model = learned(OFSClassifier(k, eta=eta, lam=lam, fit_intercept=intercept), X, y, r, classes)
    w, b = twin.ofs(X, Y, r, k, eta, lam, intercept)
    assert_allclose(model.coef_.T, w, rtol=1e-8, atol=1e-12)
    assert_allclose(model.intercept_, b, rtol=1e-8, atol=1e-12)


@settings(max_examples=100)
@given(design, budgets, st.sampled_from([0.1, 1.0, 30.0]), st.booleans(), st.sampled_from([2, 3]))
def test_sofs_is_its_twin(design, k, gamma, intercept, classes):
    X, target, r = rows(**design)
    y, Y = labels(target, classes)
    model = learned(SOFSClassifier(k, gamma=gamma, fit_intercept=intercept), X, y, r, classes)
    w, b = twin.sofs(X, Y, r, k, gamma, intercept)
    assert_allclose(model.coef_.T, w, rtol=1e-8, atol=1e-12)
    assert_allclose(model.intercept_, b, rtol=1e-8, atol=1e-12)
