import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fsa_data import correlated, standardized
from reference import fsa as twin
from streamsieve.methods.averages.obestsubset import obestsubset
from streamsieve.methods.averages.ofsa import ofsa
from streamsieve.methods.averages.olasso import olasso
from streamsieve.methods.averages.olsth import olsth
from streamsieve.statistics import ridge as ridges
from streamsieve.statistics.least_squares import ols, ols_weights
from streamsieve.statistics.ridge import likeliest_ridge, low_rank_ridge
from streamsieve.statistics.running import RunningAverages


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 3), st.integers(0, 2**31), st.data())
def test_equals_the_twin(p, q, seed, data):
    k = data.draw(st.integers(0, p))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, p)) * rng.uniform(0.1, 10, p) + rng.normal(size=(60, 1)) + 5
    y = X @ rng.normal(size=(p, q)) + rng.normal(size=(60, q))
    model = olsth(standardized(X, y), k)
    support, weights, intercept, rss = twin.olsth(X, y, k)
    assert_array_equal(model.support, support)
    coef = np.atleast_2d(model.coef)
    assert_allclose(coef[:, support], weights.T, rtol=1e-6, atol=1e-9)
    assert np.count_nonzero(coef.any(0)) <= k
    assert_allclose(model.intercept, intercept if q > 1 else intercept[0], rtol=1e-6, atol=1e-8)
    assert_allclose(np.atleast_1d(model.sigma2) * (60 - k - 1), rss, rtol=1e-6)
    assert model.ridge == 0


def test_standard_errors_are_those_of_least_squares():
    X, y, _ = correlated(200, 8, 3)
    model = olsth(standardized(X, y), 3)
    D = np.column_stack([np.ones(200), X[:, model.support]])
    inverse = np.linalg.inv(D.T @ D)
    assert_allclose(model.stderr[model.support], np.sqrt(model.sigma2 * inverse.diagonal()[1:]), rtol=1e-8)


def test_ols_is_least_squares_on_all_features():
    X, y, _ = correlated(100, 9, 3)
    model = ols(standardized(X, y))
    _, weights, intercept, _ = twin.refit(X, y, np.arange(9))
    assert_allclose(model.coef, weights, rtol=1e-8)
    assert_allclose(model.intercept, intercept)
    assert model.ridge == 0
    assert model.stderr is not None


def test_given_ridge_solves_the_ridge_equations():
    X, y, _ = correlated(100, 9, 3, q=2)
    s = standardized(X, y)
    beta, ridge = ols_weights(s, 0.3)
    assert ridge == 0.3
    assert_allclose((s.R + 0.3 * np.eye(9)) @ beta, s.r, atol=1e-12)
    model = ols(s, ridge=0.3)
    assert model.ridge == 0.3
    assert model.stderr is None


@pytest.mark.parametrize(("n", "p"), [(30, 30), (20, 60), (3, 50), (2, 4)])
def test_too_few_rows_get_a_ridge_and_tame_weights(n, p):
    X, y, _ = correlated(n, p, 2)
    s = standardized(X, y)
    model = ols(s)
    assert model.ridge > 0
    assert np.isfinite(model.coef).all()
    assert np.linalg.norm(model.coef) < 100
    chosen = olsth(s, 2)
    assert chosen.ridge > 0
    assert chosen.k == 2
    assert np.isfinite(chosen.coef).all()


def test_chosen_ridge_maximises_the_likelihood_of_the_rows():
    X, y, _ = correlated(25, 40, 3, signal=0.5)
    s = standardized(X, y)
    _, ridge = ols_weights(s)
    Z = (X - X.mean(0)) / X.std(0)
    t = (y - y.mean()) / y.std()
    Q = np.linalg.qr(np.column_stack([np.ones(25), np.eye(25)[:, :24]]))[0][:, 1:]  # rows without the mean

    def minus_log_likelihood(lam):
        V = Q.T @ (np.eye(25) + Z @ Z.T / (25 * lam)) @ Q
        v = Q.T @ t
        return 24 * np.log(v @ np.linalg.solve(V, v)) + np.linalg.slogdet(V)[1]

    near = minus_log_likelihood(ridge)
    assert all(near <= minus_log_likelihood(lam) + 1e-6 for lam in np.geomspace(1e-6, 1e2, 200))


def test_duplicates_get_a_ridge_and_share_the_weight():
    X, y, _ = correlated(200, 6, 2)
    X = np.column_stack([X, X[:, 0]])
    model = ols(standardized(X, y))
    assert model.ridge > 0
    assert_allclose(model.coef[0], model.coef[6], rtol=1e-6)
    assert np.abs(model.coef).max() < 2
    assert 6 not in olsth(standardized(X, y), 2).support


def test_equal_weights_go_to_the_lower_index():
    X = np.random.default_rng(0).normal(size=(50, 3))
    s = standardized(np.repeat(X, 2, axis=1), X.sum(1) + X[:, 0])
    assert_array_equal(olsth(s, 2).support, [0, 1])
    third = set(olsth(s, 3).support) - {0, 1}
    assert third in ({2}, {4})


@pytest.mark.parametrize("n", [15, 200])
def test_constant_columns_are_never_selected(n):
    X, y, _ = correlated(n, 10, 2)
    X[:, [0, 7]] = 3.0
    model = olsth(standardized(X, y), 10)
    assert model.k == 8
    assert not {0, 7} & set(model.support)
    assert ols(standardized(X, y)).coef[[0, 7]].tolist() == [0, 0]


def test_nothing_to_fit():
    X, y, _ = correlated(50, 5, 2)
    empty = olsth(standardized(X, y), 0)
    assert empty.k == 0
    assert_allclose(empty.intercept, y.mean())
    constant = olsth(standardized(X, np.full(50, 2.0)), 3)
    assert_allclose(constant.predict(X), 2.0)
    nothing = ols(standardized(np.ones((5, 3)), y[:5]))
    assert_allclose(nothing.predict(np.ones((1, 3))), y[:5].mean())


def test_units_do_not_decide():
    X, y, _ = correlated(100, 10, 3, signal=0.3)
    units = 10.0 ** np.arange(-5, 5)
    assert_array_equal(olsth(standardized(X * units, y), 3).support, olsth(standardized(X, y), 3).support)


def test_raw_weights_of_very_different_units_are_not_taken_for_singular():
    X, y, _ = correlated(100, 4, 2)
    model = ols(standardized(X * 10.0 ** np.arange(-8, 8, 4), y, scale=False))
    assert model.ridge == 0


@pytest.mark.parametrize("k", [-1, 11])
def test_impossible_k_names_both_numbers(k):
    X, y, _ = correlated(50, 10, 2)
    with pytest.raises(ValueError, match=f"k={k} .* 10 features"):
        olsth(standardized(X, y), k)


@pytest.mark.parametrize("ridge", [-1.0, np.inf, np.nan, "gcv"])
def test_impossible_ridge_is_refused(ridge):
    X, y, _ = correlated(50, 10, 2)
    with pytest.raises(ValueError, match="ridge="):
        olsth(standardized(X, y), 2, ridge=ridge)


def test_inputs_are_untouched():
    X, y, _ = correlated(30, 40, 2)
    s = standardized(X, y)
    R, r = s.R.copy(), s.r.copy()
    ols(s), olsth(s, 3), olsth(s, 40)
    assert_array_equal(s.R, R)
    assert_array_equal(s.r, r)


def test_running_averages_give_the_same_model():
    X, y, _ = correlated(300, 20, 4, q=2)
    X *= 10.0 ** np.linspace(-2, 2, 20)
    model, direct = olsth(RunningAverages().update(X, y), 4), olsth(standardized(X, y), 4)
    assert_array_equal(model.support, direct.support)
    assert_allclose(model.coef, direct.coef, rtol=1e-8)
    assert olsth(RunningAverages().update(X, y), 4, fit_intercept=False).intercept.tolist() == [0, 0]


def test_t_values_are_infinite_for_a_perfect_fit_and_undefined_without_residuals():
    X = np.random.default_rng(0).normal(size=(50, 5))
    perfect = olsth(RunningAverages().update(X, -X[:, 1]), k=1)
    assert perfect.tvalue[1] < -1e6
    few = ols(RunningAverages().update(X[:3, :2], X[:3, 2]), ridge=0)
    assert np.isnan(few.sigma2)
    assert np.isnan(few.tvalue).all()


def test_few_rows_take_a_shorter_way_to_the_same_ridge():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(30, 200))
    R, r = Z.T @ Z / 30, Z.T @ rng.normal(size=(30, 2)) / 30
    weights, lam = low_rank_ridge(np.asfortranarray(R), r, 29.0)
    assert_allclose(lam, likeliest_ridge(np.asfortranarray(R), r, 29.0)[1], rtol=1e-6)
    assert_allclose(weights, np.linalg.solve(R + lam * np.eye(200), r), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("blocked", [1, 100])
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**31))
def test_a_band_solves_as_the_matrix_does(blocked, p, q, seed):
    rng = np.random.default_rng(seed)
    A, z = rng.normal(size=(p, p + 5)), rng.normal(size=(p, q))
    A = A @ A.T
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"BLOCKED": blocked, "WIDTH": 3, "ROWS": 6}.items():
            patch.setattr(ridges, name, value)
        form = ridges.Band(A.copy())
        x, log_det = form.solve(0.1, form.turn(z))
        assert_allclose(form.turn_back(x), np.linalg.solve(A + 0.1 * np.eye(p), z), rtol=1e-8, atol=1e-10)
        assert_allclose(log_det, np.linalg.slogdet(np.eye(p) + A / 0.1)[1], rtol=1e-10)
        assert_allclose(form.turn_back(form.turn(z)), z, atol=1e-12)


@pytest.mark.parametrize("shape", [(200, 150), (60, 200)])
def test_a_band_of_many_diagonals_has_the_same_ridge(monkeypatch, shape):
    X, y, _ = correlated(*shape, 5, signal=0.3)
    s = standardized(X, y)
    expected, ridge = ols_weights(s, rows_per_feature=4.0)
    for name, value in {"BLOCKED": 50, "WIDTH": 16, "ROWS": 64}.items():
        monkeypatch.setattr(ridges, name, value)
    weights, lam = ols_weights(s, rows_per_feature=4.0)
    assert_allclose(lam, ridge, rtol=1e-6)
    assert_allclose(weights, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("extractor", [olsth, ofsa, olasso, obestsubset])
@pytest.mark.parametrize("k", [60, 79, 80])
def test_a_refit_of_nearly_as_many_features_as_rows_predicts(extractor, k):
    X, y, _ = correlated(80, 200, 10, positive=True)
    new, truth, _ = correlated(500, 200, 10, positive=True, seed=1)
    model = extractor(standardized(X, y), k)
    error = np.mean((model.predict(new) - truth) ** 2)
    assert error < 0.2 * truth.var()
    assert model.info["refit_ridge"] > 0
    assert model.stderr is None
    assert "refitted with a ridge" in str(model)
    if model.k == 79 and extractor is not olasso:  # least squares interpolates
        D = np.column_stack([np.ones(80), X[:, model.support]])
        w = np.linalg.solve(D, y)
        assert error < np.mean((w[0] + new[:, model.support] @ w[1:] - truth) ** 2)


def test_a_refit_of_few_features_is_least_squares():
    X, y, _ = correlated(80, 200, 10)
    model = olsth(standardized(X, y), 39)
    assert "refit_ridge" not in model.info
    _, weights, _, _ = twin.refit(X, y, model.support)
    assert_allclose(model.coef[model.support], np.ravel(weights), rtol=1e-6)


def test_a_crowded_refit_stays_within_bounds_and_keeps_groups():
    X, y, _ = correlated(40, 60, 10, q=2)
    s = standardized(X, y)
    assert (olsth(s, 30, positive=True).coef >= 0).all()
    model = olsth(s, 12, groups=[list(range(i, i + 3)) for i in range(0, 60, 3)])
    assert model.k == 36
    assert model.info["refit_ridge"] > 0


def test_weights_are_rows_where_a_refit_is_crowded():
    X, y, _ = correlated(30, 40, 5)
    weighted = olsth(RunningAverages().update(X, y, np.full(30, 2.0)), 20)
    repeated = olsth(
        RunningAverages().update(np.repeat(X, 2, axis=0), np.repeat(y, 2)), 20, ridge=weighted.ridge
    )
    assert "refit_ridge" not in weighted.info
    assert_allclose(weighted.coef, repeated.coef, rtol=1e-8)
