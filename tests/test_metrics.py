"""Laws of the metrics: equal to scikit-learn, to the slow twins, and clear where they are undefined."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pandas import DataFrame
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, cohen_kappa_score, r2_score, root_mean_squared_error

from reference import stability as twin
from streamsieve.metrics import (
    accuracy,
    auc,
    detection_rate,
    nonzero_share,
    r2,
    regret,
    rmse,
    selection_stability,
    stability,
)

numbers = st.floats(-1e3, 1e3, width=32)
pairs = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=30).map(lambda rows: np.array(rows).T)
features = st.sets(st.integers(0, 11))
runs = st.lists(st.sets(st.integers(0, 7)).map(sorted), min_size=2, max_size=6)


def mask(indices, p):
    return np.isin(np.arange(p), list(indices))


@given(features, features.filter(len), st.randoms())
def test_detection_rate_is_set_arithmetic(selected, true, random):
    expected = len(selected & true) / len(true)
    shuffled = random.sample(sorted(selected), len(selected))
    assert detection_rate(shuffled, sorted(true)) == expected
    assert detection_rate(mask(selected, 12), mask(true, 12)) == expected
    assert detection_rate(shuffled, mask(true, 12)) == expected
    assert detection_rate(shuffled * 2, sorted(true)) == expected


@given(pairs)
def test_rmse_and_r2_equal_scikit_learn(data):
    y, pred = data
    assert_allclose(rmse(y, pred), root_mean_squared_error(y, pred), rtol=1e-12)
    if y.min() < y.max():
        assert_allclose(r2(y, pred), r2_score(y, pred), rtol=1e-9, atol=1e-9)
    assert r2(y, y) == 1


def test_r2_of_a_constant_target_survives_rounding():
    y = np.full(10, 0.1)  # their mean is not 0.1
    assert r2(y, y) == 1
    assert r2(y, y + 1) == 0


def test_float32_sums_in_double():
    y = np.full(1000, 2**24, dtype=np.float32)
    assert rmse(y, (y - 1).astype(np.float32)) == 1
    y = np.r_[np.zeros(10**5), 4096].astype(np.float32)
    assert_allclose(rmse(y, y * 0), np.sqrt(4096**2 / len(y)), rtol=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40))
def test_auc_is_the_share_of_pairs_in_order(rows):
    y, score = np.array(rows).T
    if y.min() == y.max():
        with pytest.raises(ValueError, match="1 classes"):
            auc(y, score)
        return
    won = [(a > b) + (a == b) / 2 for a in score[y == 1] for b in score[y == 0]]
    assert_allclose(auc(y, score), np.mean(won), rtol=1e-12)
    assert auc(y, np.exp(score)) == auc(y, score)
    assert auc(np.where(y == 1, "yes", "no"), score) == auc(2 * y - 1, score) == auc(y, score)
    assert_allclose(auc(1 - y, score), 1 - auc(y, score), atol=1e-12)


def test_auc_takes_infinite_scores_and_refuses_nan():
    assert auc([0, 0, 1], [-np.inf, 1, np.inf]) == 1
    with pytest.raises(ValueError, match="NaN"):
        auc([0, 1], [0.5, np.nan])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_accuracy_equals_scikit_learn(rows):
    y, pred = np.array(rows).T
    assert accuracy(y, pred) == accuracy_score(y, pred)


@given(pairs)
def test_regret_is_the_mean_excess_loss(data):
    losses, best = data
    assert_allclose(regret(losses, best), losses.mean() - best.mean(), atol=1e-9)


@given(features)
def test_nonzero_share_counts(support):
    coef = -1e-300 * mask(support, 12)
    assert nonzero_share(coef) == len(support) / 12
    assert nonzero_share(np.vstack([coef, np.zeros(12)])) == len(support) / 24


@given(runs)
def test_stability_equals_its_slow_twin(supports):
    s = stability(supports, 8)
    phi, variance = twin.nogueira(supports, 8)
    assert_allclose(s.kappa, twin.kappa(supports, 8), atol=1e-12)
    assert_allclose([s.nogueira, s.variance], [phi, variance], atol=1e-12)
    assert stability(np.array([mask(r, 8) for r in supports]), 8) == s


@given(runs)
def test_kappa_equals_scikit_learn(supports):
    values = []
    for a, b in combinations([mask(r, 8) for r in supports], 2):
        undefined = a.all() == b.all() and a.any() == b.any() and (a.all() or not a.any())
        values.append(1.0 if undefined else cohen_kappa_score(a, b))
    assert_allclose(stability(supports, 8).kappa, np.mean(values), atol=1e-12)


@given(runs, st.permutations(range(8)))
def test_names_of_features_and_the_sense_of_selection_do_not_matter(supports, names):
    Z = np.array([mask(r, 8) for r in supports])
    s = stability(Z, 8)
    for other in (Z[:, names], Z[::-1], ~Z):
        o = stability(other, 8)
        assert_allclose([o.kappa, o.nogueira, o.variance], [s.kappa, s.nogueira, s.variance], atol=1e-12)


@given(st.integers(1, 7), st.lists(st.permutations(range(8)), min_size=2, max_size=6))
def test_both_measures_agree_for_selections_of_one_size(k, orders):
    s = stability([order[:k] for order in orders], 8)
    assert_allclose(s.nogueira, s.kappa, atol=1e-12)


def test_interval_covers_the_spread_of_the_estimator():
    rng = np.random.default_rng(0)
    chance = np.r_[np.full(5, 0.9), np.full(15, 0.15)]

    def once():  # half of the runs choose far fewer features: the terms in k_i matter
        eager = rng.choice([0.2, 1.0], (100, 1))
        return stability(rng.random((100, 20)) < eager * chance, 20)

    results = [once() for _ in range(400)]
    share = 0.6 * chance
    truth = 1 - np.mean(share * (1 - share)) / (share.mean() * (1 - share.mean()))
    phi = np.array([s.nogueira for s in results])
    assert abs(phi.mean() - truth) < 4 * phi.std() / 20
    # a deviation from 400 draws is good to 3.5%
    assert_allclose(np.mean([s.variance for s in results]) ** 0.5, phi.std(), rtol=0.12)
    assert 0.91 < np.mean([s.low <= truth <= s.high for s in results]) < 0.98


def test_higher_level_is_a_wider_interval():
    supports = [[0, 1], [0, 2], [0, 1, 3]]
    s, wide = stability(supports, 6), stability(supports, 6, level=0.99)
    assert wide.low < s.low < s.nogueira < s.high < wide.high
    assert_allclose((s.high - s.low) / 2, 1.959963984540054 * s.variance**0.5, rtol=1e-12)


@pytest.mark.parametrize("support", [[], [0, 1, 2], [1]])
def test_runs_that_all_agree_are_perfectly_stable(support):
    s = stability([support] * 4, 3)
    assert_allclose([s.kappa, s.nogueira, s.low, s.high, s.variance], [1, 1, 1, 1, 0], atol=1e-12)


def test_opposite_runs_disagree_completely():
    assert stability([[0, 1], [2, 3]], 4).kappa == -1
    assert stability([[], [0, 1]], 2).kappa == 0  # q_o = q_e = 0: one run is chance itself


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_stability_of_many_wide_runs_needs_no_dense_matrix(seed):
    rng = np.random.default_rng(seed)
    p = 10**6
    supports = [rng.integers(0, p, 50) for _ in range(200)]  # dense they would take 200 MB
    assert abs(stability(supports, p).kappa) < 1e-3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: detection_rate([1], []), ValueError, "true has no features"),
        (lambda: detection_rate([0.5, 0.0], [1]), TypeError, "np.flatnonzero"),
        (lambda: detection_rate([-1], [1]), ValueError, "index -1"),
        (lambda: detection_rate([[1]], [1]), ValueError, r"shape \(1, 1\)"),
        (lambda: detection_rate([True], [True, False]), ValueError, "masks of 1 and 2 features"),
        (lambda: rmse([], []), ValueError, "empty"),
        (lambda: rmse([1, 2], [1]), ValueError, r"\(2,\) and pred \(1,\)"),
        (lambda: r2([[1.0]], [[1.0]]), ValueError, "1-D"),
        (lambda: regret([1.0], [1.0, 2.0]), ValueError, r"losses has shape \(1,\) and best \(2,\)"),
        (lambda: auc([0, 1, 2], [0, 1, 2]), ValueError, "3 classes"),
        (lambda: nonzero_share([]), ValueError, "no weights"),
        (lambda: stability([[0]], 3), ValueError, "has 1 runs; pass at least 2"),
        (lambda: stability([[0], [3]], 3), ValueError, r"supports\[1\] has index 3, but p=3"),
        (lambda: stability([[True], [False]], 3), ValueError, "mask of 1 features, expected p=3"),
        (lambda: stability([[], []], 0), ValueError, "p=0"),
        (lambda: stability([[0], [1]], 3, level=95), ValueError, "level=95"),
    ],
)
def test_errors_say_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


class Recorder(BaseEstimator):
    """Selects the features that are 1 in the first row it gets."""

    def __init__(self, random_state=0, seen=None):
        self.random_state, self.seen = random_state, seen

    def fit(self, X, y, sample_weight=None):
        X = np.asarray(X.todense() if hasattr(X, "todense") else X)
        self.seen.append((X, np.asarray(y), sample_weight, self.random_state))
        self.support_ = X[0] == 1
        return self

    def get_support(self):
        return self.support_


@pytest.mark.parametrize("kind", [np.asarray, csr_array, DataFrame])
def test_selection_stability_fits_the_same_rows_in_other_orders(kind):
    X = np.eye(4, 7) + np.eye(4, 7, 1)
    y = np.arange(4.0)
    told, log = [], Log()
    s = selection_stability(
        Recorder(seen=log), kind(X), y, 6, sample_weight=10 * y, progress=lambda *at: told.append(at)
    )
    assert told == [(i, 6) for i in range(1, 7)]
    orders = {tuple(targets) for _, targets, _, _ in log}
    assert len(orders) > 2
    assert len({seed for *_, seed in log}) == 6
    for rows, targets, weight, _ in log:
        order = targets.astype(int)
        assert_allclose(rows, X[order])
        assert_allclose(weight, 10 * targets)
    assert s == stability([rows[0] == 1 for rows, *_ in log], 7)
    assert s.share == pytest.approx(2 / 7)
    with pytest.raises(ValueError, match="at least 2"):
        selection_stability(Recorder(seen=log), X, y, 1)


class Log(list):
    """A list that clones share."""

    def __deepcopy__(self, memo):
        return self
