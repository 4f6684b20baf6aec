import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fsa_data import correlated, standardized
from reference import fsa as twin
from streamsieve.methods.averages.ofsa import anneal, ofsa
from streamsieve.statistics.annealing import schedule


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 60), st.integers(1, 3), st.integers(1, 80), st.sampled_from([-0.5, 0.0, 3.0, 100.0]),
    st.integers(0, 2**31), st.data(),
)  # fmt: skip
def test_equals_the_twin(p, q, steps, mu, seed, data):
    k = data.draw(st.integers(1, p))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, p)) + rng.normal(size=(50, 1))
    y = X @ rng.normal(size=(p, q)) + rng.normal(size=(50, q))
    s = standardized(X, y)
    warmup = data.draw(st.sampled_from([0.0, 0.2]))
    support, weights, etas = anneal(s, k, steps, mu, "auto", warmup)
    assert len(etas) == steps
    expected, beta = twin.ofsa(s.R, s.r, k, etas, mu, int(warmup * steps))
    assert_array_equal(support, expected)
    assert_allclose(weights, beta[support], rtol=1e-6, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 80), st.integers(3, 200), st.sampled_from([0.0, 0.3, 3.0]), st.integers(0, 2**31))
def test_steps_stay_below_divergence_and_near_it(p, n, common, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + common * rng.normal(size=(n, 1))
    s = standardized(X, rng.normal(size=n))
    _, _, etas = anneal(s, 1, 200)
    limit = 2 / np.linalg.eigvalsh(s.R)[-1]
    assert etas[0] < limit
    assert etas[0] > 0.7 * limit
    assert (np.diff(etas) >= 0).all()


def test_fixed_step_is_kept_and_a_diverging_one_refused():
    X, y, _ = correlated(100, 20, 4)
    s = standardized(X, y)
    top = np.linalg.eigvalsh(s.R)[-1]
    model = ofsa(s, 4, eta=1 / top, maturity=50, annealing=10)
    assert_array_equal(model.info["eta"], 1 / top)
    assert_array_equal(model.support, twin.ofsa(s.R, s.r, 4, [1 / top] * 50, 10, 5)[0])
    with pytest.raises(ValueError, match="eta="):
        ofsa(s, 4, eta=2.1 / top)


def test_schedule_is_that_of_the_paper():
    p, k, T, mu = 1000, 100, 500, 7.0
    M = [int(k + (p - k) * max(0, (T - t) / (t * mu + T))) for t in range(1, T + 1)]
    assert_array_equal(schedule(p, k, T, mu), M)
    assert M[-1] == k


def test_refit_is_least_squares_on_the_support():
    X, y, _ = correlated(200, 30, 5, q=2)
    model = ofsa(standardized(X, y), 5)
    _, weights, _, _ = twin.refit(X, y, model.support)
    assert_allclose(model.coef[:, model.support], weights.T, rtol=1e-8)
    raw = ofsa(standardized(X, y), 5, refit=False)
    assert_array_equal(raw.support, model.support)
    assert raw.stderr is None


@pytest.mark.parametrize("seed", range(5))
def test_strong_features_of_any_sign_are_found(seed):
    # Alg. 4 as printed drops those whose sign is opposed to the common part in its first steps.
    X, y, true = correlated(1000, 100, 5, seed=seed)
    assert_array_equal(ofsa(standardized(X, y), 5).support, true)


def test_few_rows():
    X, y, true = correlated(60, 100, 4, signal=3)
    model = ofsa(standardized(X, y), 4)
    assert_array_equal(model.support, true)


def test_of_duplicates_the_lower_index_stays():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 5))
    s = standardized(np.hstack([X, X, X]), X @ [3, 0, -2, 0, 0] + rng.normal(size=100))
    R = np.tile(np.corrcoef(X.T), (3, 3))
    object.__setattr__(s, "R", np.ascontiguousarray(R))
    object.__setattr__(s, "r", np.tile(s.r[:5], (3, 1)))
    # Three copies share a weight: the last of each goes first, and what is left grows.
    assert_array_equal(ofsa(s, 2, maturity=100).support, [0, 2])


@pytest.mark.parametrize("n", [12, 200])
def test_constant_columns_are_never_selected(n):
    X, y, _ = correlated(n, 20, 2)
    X[:, [0, 7]] = 3.0
    model = ofsa(standardized(X, y), 20)
    assert model.k == 18
    assert not {0, 7} & set(model.support)
    rest = np.r_[1:7, 8:20]
    without = ofsa(standardized(X[:, rest], y), 3)
    assert_array_equal(ofsa(standardized(X, y), 3).support, rest[without.support])


def test_the_ends_of_the_budget():
    X, y, _ = correlated(100, 12, 3)
    s = standardized(X, y)
    assert ofsa(s, 0).k == 0
    assert ofsa(s, 12).k == 12
    assert ofsa(standardized(X, np.ones(100)), 3).k <= 3
    assert ofsa(standardized(np.ones((9, 4)), y[:9]), 2).k == 0
    with pytest.raises(ValueError, match=r"k=13 .* 12 features"):
        ofsa(s, 13)


@pytest.mark.parametrize(
    "bad",
    [
        {"maturity": 0},
        {"maturity": 2.5},
        {"annealing": -1.0},
        {"annealing": np.nan},
        {"warmup": 1.0},
        {"eta": 0.0},
    ],
)
def test_impossible_options_are_refused(bad):
    X, y, _ = correlated(50, 10, 2)
    with pytest.raises(ValueError, match=f"{next(iter(bad))}="):
        ofsa(standardized(X, y), 2, **bad)


def test_inputs_are_untouched():
    X, y, _ = correlated(30, 40, 2)
    s = standardized(X, y)
    R, r = s.R.copy(), s.r.copy()
    ofsa(s, 3)
    assert_array_equal(s.R, R)
    assert_array_equal(s.r, r)
