"""OLST and OLST-then-TSGD: what the explicit computation gives, after every row."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from reference.olst import deviance, first_step, olst
from reference.sgd import Truncate, descend
from streamsieve import (
    OLSTClassifier,
    OLSTRegressor,
    OLSTThenTSGDClassifier,
    OLSTThenTSGDRegressor,
    RunningAverages,
    SIHTClassifier,
    SIHTRegressor,
    TSGDRegressor,
    extract,
)
from streamsieve.core.rows import Rows
from streamsieve.methods.learners.inverse import InverseMoments

pytestmark = pytest.mark.usefixtures("without_centering", "one_pass")


def data(n=300, p=12, seed=0, density=1.0, q=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p)) * (rng.random((n, p)) < density)
    y = X[:, 3] - 2 * X[:, 7] + 0.3 * X[:, 1] + 0.5 * rng.normal(size=n) + 4
    return X, y if q is None else np.column_stack([y, X[:, 1:q] + y[:, None]])


def assert_same(a, b):
    assert not list(a.method_.state.differences(b.method_.state))


CASES = {
    "plain": {},
    "more features than rows": {"n": 90, "p": 150},
    "sparse, features come late": {"density": 0.05, "p": 40},
    "several targets": {"q": 3},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"standardize": False}, {"ridge": 1e-3}])
def test_the_model_after_every_row_is_the_explicit_one(case, options):
    X, y = data(**CASES[case])
    options = {"ridge": 2.0, **options}
    weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(y))
    model = OLSTRegressor(3, **options)
    intercept, standardize = options.get("fit_intercept", True), options.get("standardize", True)
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weight[i : i + 1])
        coef, bias = olst(
            X[: i + 1], y[: i + 1], 3, options["ridge"], weight[: i + 1], intercept, standardize
        )
        scale = np.abs(coef).max() + np.abs(bias).max()
        assert_allclose(np.atleast_2d(model.coef_), coef, rtol=1e-6, atol=1e-7 * scale, err_msg=f"row {i}")
        assert_allclose(model.intercept_, bias if len(bias) > 1 else bias[0], rtol=1e-6, atol=1e-7 * scale)


def test_constant_and_repeated_columns_are_harmless_after_every_row():
    X, y = data(200)
    X[:, 0], X[:, 5] = 1e6, 0.1
    X[:, 9] = X[:, 7]  # ties go to the lower index, and from row 64 on copies are left out
    model = OLSTRegressor(2, ridge=1.0)
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        coef, _ = olst(X[: i + 1], y[: i + 1], 2, 1.0)
        assert_allclose(model.coef_, coef[0], rtol=1e-6, atol=1e-6, err_msg=f"row {i}")
    assert not model.coef_[[0, 5]].any()
    assert_array_equal(OLSTRegressor(1).fit(X[:, 5:], y).get_support(indices=True), [2])
    both = OLSTRegressor(12).fit(X, y)  # even where all others must stay
    assert_array_equal(np.flatnonzero(both.coef_ == 0), [0, 5, 9])
    assert np.abs(both.coef_).max() < 10


def test_far_from_zero_nothing_is_lost():
    X, y = data(500)
    near, far = OLSTRegressor(4).fit(X, y), OLSTRegressor(4).fit(X + 1e6, y - 1e6)
    assert_allclose(far.coef_, near.coef_, rtol=1e-6)


def test_units_do_not_decide():
    X, y = data()
    unit = 10.0 ** np.arange(-6, 6)
    assert_allclose(
        OLSTRegressor(3).fit(X * unit, y).coef_ * unit, OLSTRegressor(3).fit(X, y).coef_, rtol=1e-7
    )


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_state_is_a_function_of_the_rows_bit_for_bit(layout):
    X, y = data(400, density=0.5)
    X = layout(X)
    whole = OLSTRegressor(3).fit(X, y)
    for edges in ([0, 1, 65, 128, 400], [0, 63, 64, 200, 201, 333, 400], list(range(401))):
        for read in (False, True):
            parts = OLSTRegressor(3)
            for a, b in pairwise(edges):
                parts.partial_fit(X[a:b], y[a:b])
                if read:
                    parts.predict(X[:1])
            assert_same(parts, whole)
            assert_array_equal(parts.coef_, whole.coef_)


@pytest.mark.parametrize("n", [10, 100, 330])
def test_reading_and_pickling_change_nothing(n):
    X, y = data(400)
    model = OLSTRegressor(3).fit(X[:n], y[:n])
    again = pickle.loads(pickle.dumps(model))
    assert model.coef_.any()
    assert_array_equal(again.coef_, model.coef_)
    for m in (model, again):
        m.partial_fit(X[n:], y[n:])
    assert_same(model, again)
    assert_array_equal(model.coef_, OLSTRegressor(3).fit(X, y).coef_)


def test_the_inverse_keeps_its_digits():
    X, y = data(6000, p=20)
    X[:, 5] = X[:, 6] + 1e-4 * X[:, 8]  # all but singular
    state = OLSTRegressor(3, ridge=1e-4).fit(X, y).method_.state
    assert state.rows % 4096  # many updates after the last renewal
    beta = first_step(X, y[:, None], 1e-4, np.ones(len(y)))
    assert_allclose(state.ridge_weights(), beta, rtol=1e-4, atol=1e-4 * np.abs(beta).max())


def test_an_inverse_that_has_drifted_is_made_anew():
    X, y = data(256 + 64)
    model = OLSTRegressor(3, ridge=1.0).fit(X[:256], y[:256])
    model.method_.state.inverse *= 1.01
    model.partial_fit(X[256:], y[256:])
    S = np.cov(X.T, bias=True) * len(X)
    P = np.tril(model.method_.state.inverse) + np.tril(model.method_.state.inverse, -1).T
    assert_allclose(P @ (S + np.diag(model.method_.state.prior)), np.eye(12), atol=1e-9)


@pytest.mark.parametrize("n", [64, 128, 512])
def test_the_derived_ridge_is_the_likeliest_or_the_floor(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 30))
    y = 0.1 * X.sum(axis=1) + rng.normal(size=n)
    ridge = OLSTRegressor(3).fit(X, y).method_.state.lam
    grid = np.exp(np.linspace(np.log(3), np.log(1e5), 200))
    assert ridge > 3
    assert deviance(X, y, ridge) <= min(deviance(X, y, g) for g in grid) + 1e-3
    strong = OLSTRegressor(3).fit(X, X @ np.full(30, 1e3) + y).method_.state
    assert_allclose([strong.lam, strong.ridge()], [3, 3 / n], rtol=1e-12)


def test_ridge_fades_and_the_end_is_olsth():
    X, y = data(4000)
    model = OLSTRegressor(3).fit(X, y)
    assert model.current_ridge_ < 1e-3
    expected = extract.olsth(RunningAverages().update(X, y), 3)
    assert_allclose(model.coef_, expected.coef, rtol=1e-9, atol=1e-12)
    assert_allclose(model.intercept_, expected.intercept, rtol=1e-9)


def test_classes_share_one_support():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 15))
    y = np.argmax(X[:, [2, 5, 11]] + 0.1 * rng.normal(size=(900, 3)), axis=1)
    model = OLSTClassifier(3).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [2, 5, 11])
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    assert_allclose(model.coef_[:, [2, 5, 11]], LinearRegression().fit(X[:, [2, 5, 11]], Y).coef_, rtol=1e-9)
    assert model.score(X, y) > 0.85


def test_growing_is_as_if_the_features_had_been_zero():
    X, y = data(200, p=20)
    X[:100, 11:] = 0
    rows, y = Rows(X), y[:, None]
    full, grown = InverseMoments(20, 1, 2.0, True), InverseMoments(11, 1, 2.0, True)
    full.update(rows, y, None)
    grown.update(Rows(np.ascontiguousarray(X[:100, :11])), y[:100], None)
    grown.resize(20)
    grown.update(rows[100:], y[100:], None)
    assert_allclose(grown.ridge_weights(), full.ridge_weights(), rtol=1e-10)


# ------------------------------------------------------------------------------------ OLST, then TSGD


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("eta", ["auto", 0.002])
def test_the_hybrid_is_olst_and_then_siht_from_there(standardize, eta):
    X, y = data(160, density=0.8)
    C, options = 70, {"standardize": standardize}
    hybrid, first = OLSTThenTSGDRegressor(3, C=C, eta=eta, **options), OLSTRegressor(3, **options)
    for i in range(C):
        hybrid.partial_fit(X[i : i + 1], y[i : i + 1])
        first.partial_fit(X[i : i + 1], y[i : i + 1])
        if i < C - 1:
            assert_array_equal(hybrid.coef_, first.coef_)
            assert_array_equal(hybrid.intercept_, first.intercept_)
            assert_allclose(hybrid.predict(X[:5]), first.predict(X[:5]), rtol=1e-12)
    start = (C, first.coef_, first.intercept_)
    for i in range(C, len(y)):
        assert_allclose(
            hybrid.coef_, expected(X[:i], y[:i], eta, standardize, start)[0], rtol=1e-8, atol=1e-12
        )
        hybrid.partial_fit(X[i : i + 1], y[i : i + 1])
    w, b, _ = expected(X, y, eta, standardize, start)
    assert_allclose(hybrid.coef_, w, rtol=1e-8, atol=1e-12)
    assert_allclose(hybrid.intercept_, b, rtol=1e-8)


def expected(X, y, eta, standardize, start):
    step = None if eta == "auto" else eta
    return descend(
        X,
        y,
        "squared",
        step,
        "constant",
        0.0,
        np.ones(len(y)),
        standardize,
        truncate=Truncate(3),
        start=start,
    )


def test_the_square_state_is_dropped_after_C_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(130, 300)), rng.normal(size=130)
    model = OLSTThenTSGDRegressor(5, C=120).fit(X[:119], y[:119])
    assert len(pickle.dumps(model)) > 8 * 300**2
    model.partial_fit(X[119:120], y[119:120])
    assert model.olst_ is None
    assert len(pickle.dumps(model)) < 8 * 300 * 10
    model.partial_fit(X[120:], y[120:])
    assert model.get_support().sum() == 5


@pytest.mark.parametrize("kind", [OLSTThenTSGDRegressor, OLSTThenTSGDClassifier])
def test_an_overflow_in_the_call_that_passes_C_undoes_all_of_it(kind):
    X, y = data(60, p=40, density=0.1)
    X = sp.csr_array(X)
    options = {"classes": [False, True], "sample_weight": None} if kind is OLSTThenTSGDClassifier else {}
    y = y > 4 if options else y
    loss = {"loss": "squared"} if options else {}
    model = kind(3, C=30, eta=1e30, **loss).partial_fit(X[:20], y[:20], **options)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="eta"):
        model.partial_fit(X[20:], y[20:])
    assert_same(model, before)


# ------------------------------------------------------------------------------------ a start from any model


@pytest.mark.parametrize("standardize", [True, False])
def test_siht_starts_from_a_model_of_the_first_batch(standardize):
    X, y = data(120)
    model = extract.olsth(RunningAverages().update(X[:60], y[:60]), 3)
    siht = SIHTRegressor(3, standardize=standardize).start_from(model, X[:60], y[:60])
    assert_allclose(siht.coef_, model.coef, rtol=1e-15)
    assert siht.intercept_ == model.intercept
    siht.partial_fit(X[60:], y[60:])
    w, b, _ = expected(X, y, "auto", standardize, (60, model.coef, model.intercept))
    assert_allclose(siht.coef_, w, rtol=1e-8, atol=1e-12)
    assert_allclose(siht.intercept_, b, rtol=1e-8)


def test_a_start_is_cut_to_the_budget():
    X, y = data()
    fit = LinearRegression().fit(X, y)
    siht = SIHTRegressor(2).start_from(fit, X, y)
    best = np.sort(np.argsort(-np.abs(fit.coef_) * X.std(axis=0))[:2])
    assert_array_equal(siht.get_support(indices=True), best)
    assert_array_equal(siht.coef_[best], fit.coef_[best])
    tsgd = TSGDRegressor(2).start_from((fit.coef_, fit.intercept_), X, y)
    assert_array_equal(tsgd.coef_, siht.coef_)
    assert_allclose(tsgd.method_.state.weight[:, 0], fit.coef_)  # it keeps all and shows two


def test_a_classifier_starts_with_the_classes_to_come():
    X, y = data()
    labels = np.where(y > 6, 2, np.where(y > 4, 1, 0))
    first = OLSTClassifier(3).fit(X, labels)
    siht = SIHTClassifier(3).start_from(first, X, labels, classes=[0, 1, 2])
    assert_allclose(siht.coef_, first.coef_)
    assert_array_equal(siht.partial_fit(X, labels).classes_, [0, 1, 2])
    with pytest.raises(ValueError, match=r"shape \(3, 12\).*need \(4, 12\)"):
        SIHTClassifier(3).start_from(first, X, labels, classes=[0, 1, 2, 3])


def test_a_start_that_cannot_be_is_refused_and_changes_nothing():
    X, y = data()
    siht = SIHTRegressor(2).fit(X, y)
    before = siht.coef_
    for model, match in (
        ((np.ones(5), 0.0), r"shape \(1, 5\)"),
        ((np.full(12, np.nan), 0.0), "not finite"),
        ("olsth", "Cannot start from str"),
    ):
        with pytest.raises(ValueError, match=match):
            siht.start_from(model, X, y)
        assert_array_equal(siht.coef_, before)
    with pytest.raises(ValueError, match="a regressor has none"):
        siht.start_from((np.ones(12), 0.0), X, y, classes=[0, 1])
    assert_array_equal(siht.fit(X, y).coef_, before)


def test_a_good_start_finds_what_the_steps_alone_do_not():
    from streamsieve import metrics, simulate

    stream = simulate.correlated(1500, 200, 10, spacing=1, unit_variance=True)
    X, y = stream.take(1500)
    rates = [
        metrics.detection_rate(model.fit(X, y).get_support(), stream.support)
        for model in (SIHTRegressor(10), OLSTThenTSGDRegressor(10, C=150))
    ]
    assert rates[1] >= 0.9 > rates[0] + 0.3


def test_without_a_ridge_the_first_step_is_least_squares():
    """As printed, once there are more rows than features; before, the model is at least finite."""
    X, y = data(n=120, p=12)
    model = OLSTRegressor(3, ridge=0)
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        assert np.isfinite(model.coef_).all()
        if i >= 40:
            coef, bias = olst(X[: i + 1], y[: i + 1], 3, 1e-12)
            assert_allclose(np.atleast_2d(model.coef_), coef, rtol=1e-5, atol=1e-6 * np.abs(coef).max())
            assert_allclose(model.intercept_, bias[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("eps", [0.0, 1e-10])
def test_a_copy_takes_no_place_among_the_k(eps):
    """Each pair of copies shared its weight: 3 of 5 features that matter were selected, two of them twice."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = X[:, :5] @ np.array([3.0, -2.0, 1.5, 2.5, -1.0]) + 0.5 * rng.normal(size=500)
    Z = np.hstack([X, X + eps * rng.normal(size=X.shape)])
    model = OLSTRegressor(k=5).fit(Z, y)
    assert set(model.get_support(indices=True) % 10) == set(range(5))
    assert_allclose(model.predict(Z), OLSTRegressor(k=5).fit(X, y).predict(X), atol=1e-6)
