"""FTRL-Proximal against its slow twin, exact zeros, units and the budget."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference.ftrl import ftrl
from streamsieve import FTRLProximalClassifier, FTRLProximalRegressor

pytestmark = pytest.mark.usefixtures("without_centering", "one_pass")


def rows(seed, n=60, p=8, density=0.6):
    rng = np.random.default_rng(seed)
    X = rng.normal(0.3, 1.0, (n, p)) * (rng.random((n, p)) < density) * 2.0 ** rng.integers(-3, 4, p)
    target = X[:, 0] / X[:, 0].std() - X[:, 1] / X[:, 1].std() + 0.3 * rng.normal(size=n)
    return X, target, rng.choice([0.5, 1.0, 2.0], n)


def twin(X, y, loss, r, eta=None, beta=1.0, alpha=0.1, l1_ratio=1.0, standardize=True, fit_intercept=True):
    l1, l2 = alpha * l1_ratio, alpha * (1 - l1_ratio)
    return ftrl(X, y, loss, r, eta, beta, l1, l2, standardize, fit_intercept)


options = st.fixed_dictionaries(
    {
        "eta": st.sampled_from([None, 0.02, 2.0]),
        "beta": st.sampled_from([0.0, 1.0, 5.0]),
        "alpha": st.sampled_from([0.0, 0.3, 3.0]),
        "l1_ratio": st.sampled_from([1.0, 0.4]),
        "standardize": st.booleans(),
        "fit_intercept": st.booleans(),
    }
)
layouts = st.sampled_from([np.asarray, np.float32, sp.csr_array])


@settings(deadline=None, max_examples=80)
@given(
    st.integers(0, 9), st.sampled_from(["squared", "logistic", "hinge", "squared_hinge"]), options, layouts
)
def test_learner_is_its_twin(seed, loss, options, layout):
    X, target, r = rows(seed)
    y = target if loss == "squared" else np.where(target > 0, 1, -1)
    if layout is np.float32:
        X = X.astype(np.float32).astype(np.float64)
    kind, more = FTRLProximalRegressor, {"eta": options["eta"] or "auto"}
    if loss != "squared":
        kind, more["loss"] = FTRLProximalClassifier, loss
    model = kind(**options | more).fit(layout(X), y, r)
    w, b, _ = twin(X, y, loss, r, **options)
    assert_allclose(np.ravel(model.coef_), w, rtol=1e-8, atol=1e-11)
    assert_allclose(np.ravel(model.intercept_), b, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_several_outputs_are_learned_as_if_alone(layout):
    X, target, r = rows(2)
    Y = np.column_stack([target, 100 * X[:, 2], 3 - target])
    model = FTRLProximalRegressor().fit(layout(X), Y, r)
    label = np.digitize(target, [-0.5, 0.5])
    classifier = FTRLProximalClassifier().fit(layout(X), label, r)
    for o in range(3):
        label_o = np.where(label == o, 1, -1)
        for fitted, y, loss in ((model, Y[:, o], "squared"), (classifier, label_o, "logistic")):
            w, b, _ = twin(X, y, loss, r)
            assert_allclose(fitted.coef_[o], w, rtol=1e-8, atol=1e-11)
            assert_allclose(fitted.intercept_[o], b, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("eta", ["auto", 0.5])
def test_a_weight_returns_to_exact_zero(eta):
    """The sign of a feature turns in mid-stream: its weight passes zero, and stays there while |z| <= l1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(np.arange(400) < 80, 1, -1) * np.sign(X[:, 1])
    model, coef = FTRLProximalClassifier(alpha=5.0, eta=eta), []
    for x, t in zip(X, y):
        model.partial_fit(sp.csr_array(x[None]), [t], classes=[-1, 1])
        coef.append(model.coef_[0])
        assert_array_equal(model.coef_[0] == 0, np.abs(model.method_.state.sums[:, 0]) <= 5)
    weight = np.array(coef)[:, 1]
    assert weight[79] > 0 > weight[-1]
    assert np.count_nonzero(weight[80:] == 0) >= 10  # each row moves z by one at most
    _, _, path = twin(X, y, "logistic", np.ones(400), None if eta == "auto" else eta, alpha=5.0)
    assert_allclose(coef, path, rtol=1e-8, atol=1e-11)


def test_the_budget_keeps_the_largest_weights_as_they_are():
    X, target, r = rows(4, n=200, p=20)
    for y, kind in ((target, FTRLProximalRegressor), (np.digitize(target, [-1, 1]), FTRLProximalClassifier)):
        whole = np.atleast_2d(kind().fit(X, y, r).coef_)
        score = (r @ X**2) / (r @ (X != 0)) * np.square(whole).sum(axis=0)
        best = np.sort(np.argsort(-score)[:6])
        model = kind(6).fit(X, y, r)
        assert_array_equal(model.get_support(indices=True), best)
        assert_array_equal(np.atleast_2d(model.coef_)[:, best], whole[:, best])


def test_units_do_not_decide():
    """Powers of two, so that not even rounding can."""
    X, target, _ = rows(3, n=300)
    unit = 2.0 ** np.arange(-12, 12, 3)
    plain, scaled = FTRLProximalRegressor().fit(X, target), FTRLProximalRegressor().fit(X * unit, target)
    assert_array_equal(scaled.coef_ * unit, plain.coef_)
    for options in ({}, {"standardize": False}):
        free = FTRLProximalRegressor(alpha=0, **options)
        plain, scaled = free.fit(X, target).coef_, free.fit(X * 2.0**40, target * 2.0**-30).coef_
        assert_array_equal(scaled * 2.0**70, plain)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_rows_at_the_limit_leave_finite_weights(standardize, beta):
    rng = np.random.default_rng(0)
    X = rng.choice([0, 1e-30, 1.0, 1e30], (300, 4)) * rng.choice([-1, 1], (300, 4))
    y, r = rng.choice([0, 1e-300, 1.0, 1e30, -1e30], 300), rng.choice([1e-30, 1.0, 1e30], 300)
    model = FTRLProximalRegressor(standardize=standardize, beta=beta, alpha=0.0).fit(X, y, r)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.method_.state.sums).all()


@pytest.mark.parametrize(
    ("name", "value"), [("sums", -1.0), ("sums", np.nan), ("targets", -1.0), ("bias_sums", np.inf)]
)
def test_state_that_no_stream_leads_to_is_refused(name, value):
    X, target, _ = rows(0)
    method = FTRLProximalRegressor().fit(X, target).method_
    method.check_state()
    getattr(method.state, name)[...] = value
    with pytest.raises(ValueError, match=r"\w+"):
        method.check_state()
