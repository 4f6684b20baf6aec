"""SFSA: its slow twin, the ladder, restarts, the refit, and work that does not follow p."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference import sfsa as twin
from streamsieve import SFSAClassifier, SFSARegressor

LOSSES = ("squared", "logistic", "hinge", "squared_hinge")
VARIANTS = ("plain", "momentum", "nesterov", "adam")


def rows(n=400, p=60, classes=0, density=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < density) * np.exp(rng.normal(size=p))
    X[:, 5] += 3.0  # far from zero: the intercept and the variance are at work
    target = X[:, 7] - 2 * X[:, 21] + 0.3 * rng.normal(size=n)
    if classes:
        return X, np.digitize(target, np.quantile(target, np.arange(1, classes) / classes))
    return X, target


def normal(rng, shape):
    return rng.normal(size=shape)


def counts(rng, shape):
    """A mean far from 0: the variance of a feature grows with rows that do not have it."""
    return 1.0 + rng.poisson(1.0, size=shape)


def outputs(y, classes):
    if not classes:
        return y[:, None]
    return (
        np.where(y[:, None] == np.arange(classes), 1.0, -1.0)
        if classes > 2
        else np.where(y == 1, 1.0, -1.0)[:, None]
    )


def assert_equals_twin(X, y, classes=0, layout=np.asarray, r=None, **options):
    defaults = dict(
        k=4, T=12, mu=1.0, delay=0.25, batch_size=25, variant="plain", lam=0.0, schedule="constant"
    )
    defaults |= {"standardize": True, "eta": "auto", "loss": "logistic" if classes else "squared"}
    o = defaults | options
    kind = SFSAClassifier if classes else SFSARegressor
    named = {name: o[name] for name in o if name != "loss" or classes}
    model = kind(ladder=False, **named)
    model.fit(layout(X), y, sample_weight=r)
    n = len(y) // o["batch_size"] * o["batch_size"]
    r = np.ones(len(y)) if r is None else r
    w, bias, alive = twin.sfsa(
        X[:n],
        outputs(y, classes)[:n],
        r[:n],
        **{
            name: o[name]
            for name in ("k", "T", "mu", "delay", "variant", "lam", "schedule", "standardize", "loss")
        },
        batch=o["batch_size"],
        eta=0 if o["eta"] == "auto" else o["eta"],
    )
    assert np.count_nonzero(w.any(axis=1)) > 0
    assert_allclose(np.atleast_2d(model.coef_), w.T, rtol=1e-8, atol=1e-12)
    assert_allclose(np.atleast_1d(model.intercept_), bias, rtol=1e-8, atol=1e-12)
    rung = model.answer_ or model.growing_
    here = (rung.slot > 0) | ((rung.slot == 0) & (np.arange(len(rung.slot)) < rung["limit"]))
    assert_array_equal(here, alive)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_equals_the_slow_twin(layout, variant, loss):
    X, y = rows(classes=2)
    assert_equals_twin(X, y, 2, layout, variant=variant, loss=loss)
    assert_equals_twin(
        X, y, 2, layout, variant=variant, loss=loss, standardize=False, T=30, mu=10.0, lam=0.01
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_the_slow_twin_in_regression_with_weights_and_schedules(variant):
    X, y = rows()
    r = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(y))
    for schedule in ("constant", "sqrt", "doubling"):
        assert_equals_twin(X, y, r=r, variant=variant, schedule=schedule, delay=0.0, T=20)
    assert_equals_twin(X, y, variant=variant, eta=0.01, lam=0.1)
    assert_equals_twin(X, y, variant=variant, batch_size=1, T=300)
    assert_equals_twin(X, y, variant=variant, batch_size=64, T=3)


def test_equals_the_slow_twin_with_several_classes():
    X, y = rows(classes=3)
    for variant in VARIANTS:
        assert_equals_twin(X, y, 3, sp.csr_array, variant=variant)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10_000),
    st.integers(300, 1500),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.sampled_from([0.0, 3.0, 30.0]),
    st.sampled_from(LOSSES),
    st.sampled_from([normal, counts]),
)
def test_equals_the_slow_twin_on_wide_sparse_rows(seed, p, delay, mu, loss, values):
    """Most removals are of features never seen, and of those seen once, a quarter at a time."""
    rng = np.random.default_rng(seed)
    X = values(rng, (300, p)) * (rng.random((300, p)) < 8 / p)
    y = np.where(X[:, :40].sum(axis=1) + rng.normal(size=300) > 0, 1, 0)
    assert_equals_twin(X, y, 2, sp.csr_array, batch_size=5, T=50, delay=delay, mu=mu, loss=loss)
