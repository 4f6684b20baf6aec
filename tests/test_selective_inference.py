"""What holds of features that were selected: false discoveries, splits, knockoffs, any time, stability."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from inference_data import data, sparse_truth
from reference import inference as twin
from streamsieve import FoldAverages, FourthMoments, RunningAverages, extract
from streamsieve.methods import inference
from streamsieve.methods.inference.fdr import reject
from streamsieve.methods.inference.knockoffs import cut, mvr, reject_evalues, statistics, with_knockoffs
from streamsieve.methods.inference.stability import bounds
from streamsieve.statistics.intervals import aggregate, majority

# ---------------------------------------------------------------- false discoveries


@given(
    st.lists(st.sampled_from([0.0, 1e-4, 0.01, 0.02, 0.03, 0.2, 0.5, 1.0]), max_size=12), st.floats(0.01, 0.5)
)
def test_step_up_is_benjamini_and_hochberg(p, q):
    assert reject(np.array(p), q).tolist() == twin.step_up(p, q)
    if p:
        for method, by in (("bh", False), ("by", True)):
            adjusted = stats.false_discovery_control(p, method=method)
            sure = np.abs(adjusted - q) > 1e-12
            found = np.isin(np.arange(len(p)), reject(np.array(p), q, by=by))
            assert_array_equal(found[sure], (adjusted <= q)[sure])


def test_fdr_keeps_the_weights_of_the_tests_and_widens_the_intervals():
    X, y = sparse_truth(400, 20, 4)
    averages = RunningAverages().update(X, y)
    full, model = inference.ols(averages), inference.fdr(averages, 0.1)
    on = model.support
    assert set(range(4)) <= set(on)
    assert_allclose(model.coef[on], full.coef[on])
    assert model.honest
    assert_allclose(model.conf_int(0.95)[on], full.conf_int(1 - 0.05 * len(on) / 20)[on])
    assert set(inference.fdr(averages, 0.1, "by").support) <= set(on)
    assert_array_equal(model.info["pvalue"], full.pvalue)


def test_a_feature_counts_once_for_all_targets():
    X, y = sparse_truth(400, 20, 4)
    Y = np.column_stack([np.random.default_rng(0).normal(size=400), y])
    averages = RunningAverages().update(X, Y)
    p = np.minimum(1, 2 * inference.ols(averages).pvalue.min(axis=0))
    model = inference.fdr(averages, 0.1)
    assert_array_equal(model.support, reject(p, 0.1))
    assert model.conf_int().shape == (2, 20, 2)


def test_nothing_to_find_finds_nothing():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(200, 10)), rng.normal(size=200)
    model = inference.fdr(RunningAverages().update(X, y), 0.01)
    assert model.k == 0
    assert model.intercept == pytest.approx(y.mean())
    assert np.isnan(model.conf_int()).all()


def test_screening_tests_on_rows_that_did_not_select():
    X, y = sparse_truth(240, 300, 3, signal=1.0)
    folds = FoldAverages(20).update(X, y)
    model = inference.fdr(folds, 0.1, "screen", random_state=0)
    assert set(range(3)) <= set(model.support)
    assert model.honest
    held = np.isin(np.arange(240) % 20, model.info["held_out"])
    tested = np.flatnonzero(model.info["pvalue"] < 1)
    one = inference.ols(RunningAverages().update(X[held][:, tested], y[held]))
    assert_allclose(model.coef[model.support], one.coef[np.isin(tested, model.support)], rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"q": 1.5}, "between 0 and 1"),
        ({"method": "bonferroni"}, "'bh', 'by'"),
        ({"draws": 3}, "no option 'draws'"),
        ({"method": "knockoff", "se": "folds"}, "se='folds'"),
    ],
)
def test_options_that_do_not_apply_are_refused(options, match):
    X, y = data()
    with pytest.raises((ValueError, TypeError), match=match):
        inference.fdr(FoldAverages(4).update(X, y), **options)


# ---------------------------------------------------------------- splits


def test_a_split_is_least_squares_on_the_rows_held_out():
    X, y = sparse_truth(600, 30, 4)
    folds = FoldAverages(10).update(X, y)
    for se in ("classical", "folds"):
        model = inference.split(folds, "ofsa", 6, se=se, random_state=3)
        held = np.isin(np.arange(600) % 10, model.info["held_out"])
        assert held.sum() == 300
        support = extract.ofsa(RunningAverages().update(X[~held], y[~held]), 6).support
        assert_array_equal(model.support, support)
        rest = FoldAverages(10).update(X[held], y[held], fold=(np.arange(600) % 10)[held])
        expected = inference.ols(rest, support, se=se)
        assert_allclose(model.stderr, expected.stderr, rtol=1e-8)
        assert_allclose(model.pvalue, expected.pvalue, rtol=1e-6, atol=1e-300)
        assert model.honest
    share = inference.split(folds, "ofsa", 6, select=0.2, random_state=3)
    assert len(share.info["held_out"]) == 8


def test_the_size_is_chosen_on_the_selecting_rows():
    X, y = sparse_truth(600, 30, 4, signal=1.0)
    model = inference.split(FoldAverages(10).update(X, y), "olsth", random_state=0)
    assert set(range(4)) <= set(model.support)


def test_several_splits_are_aggregated():
    X, y = sparse_truth(600, 30, 4)
    folds = FoldAverages(10).update(X, y)
    model = inference.split(folds, "ofsa", 6, splits=9, random_state=0)
    assert len(model.splits) == 9
    assert model.honest
    counts = sum(np.isin(np.arange(30), m.support).astype(int) for m in model.splits)
    assert_array_equal(model.support, np.flatnonzero(counts > 4))
    p = np.array(
        [np.where(np.isin(np.arange(30), m.support), np.minimum(1, 6 * m.pvalue), 1) for m in model.splits]
    )
    expected = [
        min(1, (1 - np.log(0.05)) * min(np.sort(p[:, j])[i - 1] * 9 / i for i in range(1, 10)))
        for j in range(30)
    ]
    assert_allclose(model.pvalue, expected)
    assert (model.pvalue[:4] < 0.05).all()


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 9)), min_size=1, max_size=9))
def test_the_vote_holds_the_points_of_most_intervals(pairs):
    intervals = np.array([[low, low + width] for low, width in pairs], dtype=float)
    low, high = majority(intervals)
    for x in np.arange(-9.5, 19, 0.5):
        if 2 * sum(a <= x <= b for a, b in intervals) > len(intervals):
            assert low <= x <= high


def test_one_p_value_stays_within_its_factor():
    assert_allclose(aggregate(np.array([[0.01]])), [0.01 * (1 - np.log(0.05))])
    assert_allclose(aggregate(np.full((20, 1), 0.4)), [1.0])


def test_splits_need_folds():
    X, y = data()
    with pytest.raises(TypeError, match="needs FoldAverages, got RunningAverages"):
        inference.split(RunningAverages().update(X, y), "ofsa", 2)
    with pytest.raises(ValueError, match="2 folds"):
        inference.split(FoldAverages(3).update(X[:1], y[:1]), "ofsa", 2)
    with pytest.raises(ValueError, match="at least 3"):
        inference.split(FoldAverages(2).update(X, y), "ofsa", 2, se="folds")
    with pytest.raises(ValueError, match="select=1"):
        inference.split(FoldAverages(2).update(X, y), "ofsa", 2, select=1.0)
    with pytest.raises(ValueError, match="no option 'gamma'"):
        inference.split(FoldAverages(2).update(X, y), "ofsa", 2, gamma=3)
    model = inference.split(FoldAverages(2).update(X, y), "ofsa", 2, random_state=0)
    assert len(model.info["held_out"]) == 1


# ---------------------------------------------------------------- knockoffs


def correlation(n=300, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.8 * rng.normal(size=(n, 1))
    X -= X.mean(axis=0)
    return X / np.sqrt((X**2).sum(axis=0))


def test_s_is_the_minimum():
    X = correlation()
    R = X.T @ X
    s = mvr(R)
    assert np.linalg.eigvalsh(2 * R - np.diag(s))[0] > 0
    # at the minimum, the derivative -1 / s_j^2 + |A_j|^2 vanishes
    A = np.linalg.inv(2 * R - np.diag(s))
    assert_allclose(1 / s**2, (A**2).sum(axis=0), rtol=1e-3)


def test_averages_are_those_of_fixed_knockoffs():
    """Barber and Candes (2015), (2.2): X (I - R^-1 S) + U C, U orthogonal to X, C'C = 2 S - S R^-1 S."""
    X = correlation()
    R = X.T @ X
    s = mvr(R)
    S, inverse = np.diag(s), np.linalg.inv(R)
    n, p = X.shape
    U = np.linalg.qr(np.hstack([X, np.random.default_rng(0).normal(size=(n, p))]))[0][:, p:]
    C = np.linalg.cholesky(2 * S - S @ inverse @ S).T
    both = np.hstack([X, X @ (np.eye(p) - inverse @ S) + U @ C])
    ours, _ = with_knockoffs(R, np.zeros(p), s, n - 1, np.random.default_rng(0))
    assert_allclose(ours, both.T @ both, atol=1e-8)


def test_the_threshold_is_that_of_knockoffs_plus():
    """Barber and Candes (2015), (3.9)."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        W = rng.normal(size=50) + 3 * (rng.random(50) < 0.3)
        for q in (0.1, 0.2):
            good = [t for t in abs(W) if (1 + sum(w <= -t for w in W)) / max(1, sum(w >= t for w in W)) <= q]
            assert cut(W, q) == min(good, default=np.inf)


def test_drawn_averages_are_those_of_knockoff_rows():
    rng = np.random.default_rng(0)
    n, p = 60, 4
    X = correlation(n, p)
    y = X @ [3.0, 0, 0, 1] + rng.normal(size=n)
    y -= y.mean()
    y /= np.sqrt(y @ y)
    R, r = X.T @ X, X.T @ y
    s = mvr(R)
    # rows: X~ = X (I - R^-1 S) + U C with U orthonormal, orthogonal to 1 and X, C'C = 2 S - S R^-1 S
    inverse = np.linalg.inv(R)
    lam, Q = np.linalg.eigh(np.diag(2 * s) - s[:, None] * inverse * s)
    C = (Q * np.sqrt(np.maximum(lam, 0))).T
    basis = np.linalg.qr(np.column_stack([np.ones(n), X, rng.normal(size=(n, n - p - 1))]))[0][:, p + 1 :]
    rows = []
    for _ in range(4000):
        U, T = np.linalg.qr(rng.normal(size=(basis.shape[1], p)))
        U = basis @ (U * np.sign(np.diag(T)))  # or LAPACK's signs prefer directions
        rows.append((X @ (np.eye(p) - inverse * s) + U @ C).T @ y)
    drawn = np.array([with_knockoffs(R, r, s, n - 1, rng)[1][p:] for _ in range(4000)])
    rows = np.array(rows)
    error = np.sqrt(np.diag(np.cov(rows.T)) / 2000)
    assert (np.abs(rows.mean(axis=0) - drawn.mean(axis=0)) < 5 * error).all()
    assert_allclose(np.cov(drawn.T), np.cov(rows.T), atol=0.15 * np.cov(rows.T).max())


def test_signs_of_nulls_are_coins():
    rng = np.random.default_rng(0)
    X = correlation(200, 10)
    R, s = X.T @ X, mvr(X.T @ X)
    for statistic in ("ofsa", "lasso"):
        positive = total = 0
        for _ in range(60):
            y = rng.normal(size=200)
            y -= y.mean()
            r = X.T @ y / np.sqrt(y @ y)
            W = statistics(*with_knockoffs(R, r, s, 199, rng), 200, statistic, rng)
            positive, total = positive + (W > 0).sum(), total + (W != 0).sum()
        assert stats.binomtest(int(positive), int(total)).pvalue > 1e-3


def test_knockoffs_find_strong_features():
    X, y = sparse_truth(1000, 60, 20, signal=0.5)
    averages = RunningAverages().update(X, y)
    for options in ({}, {"statistic": "lasso"}, {"draws": 5, "q": 0.2}):
        model = inference.knockoffs(averages, **{"q": 0.1, "random_state": 0} | options)
        assert set(range(20)) <= set(model.support)
        assert len(model.support) <= 32
        assert not model.honest
    assert inference.knockoffs(averages, random_state=0).info["W"].shape == (60,)
    few = RunningAverages().update(X[:100], y[:100])  # n - 1 < 2 p
    assert len(set(inference.knockoffs(few, 0.2, random_state=1).support) & set(range(20))) >= 5


def test_knockoffs_pass_over_columns_that_no_model_can_use():
    X, y = sparse_truth(1000, 40, 20, signal=0.5)
    X = np.column_stack([np.ones(1000), X, X[:, 0], X[:, 1] + X[:, 2]])
    model = inference.knockoffs(RunningAverages().update(X, y), random_state=0)
    assert model.k >= 19
    assert not {0, 41} & set(model.support)


def test_what_knockoffs_cannot_do_is_said():
    X, y = data(n=5)
    with pytest.raises(ValueError, match="more rows than features"):
        inference.knockoffs(RunningAverages().update(X, y))
    X, y = data()
    with pytest.raises(ValueError, match="one target"):
        inference.knockoffs(RunningAverages().update(X, np.column_stack([y, y])))
    with pytest.raises(ValueError, match="knockoffs needs rows of equal weight"):
        inference.knockoffs(RunningAverages(half_life=50).update(X, y))
    with pytest.raises(ValueError, match='"ofsa", "lasso"'):
        inference.knockoffs(RunningAverages().update(X, y), statistic="t")


def test_e_values_are_rejected_by_their_rank():
    assert_array_equal(reject_evalues(np.array([40.0, 0, 25, 1]), 0.1), [0, 2])
    assert len(reject_evalues(np.array([9.0, 9, 0, 0]), 0.1)) == 0


# ---------------------------------------------------------------- any time


def test_e_values_are_bayes_factors():
    rng = np.random.default_rng(0)
    for n in (4, 30):
        x, y = rng.normal(size=n), rng.normal(size=n)
        y += 0.5 * x
        test = inference.anytime(RunningAverages().update(x[:, None], y), [0], g=7.0)
        scaled = (x - x.mean()) / x.std()
        assert_allclose(test.log_e, [twin.log_bayes_factor(scaled, y, 7.0)], rtol=1e-8)


@pytest.mark.parametrize("se", ["classical", "folds", "hc1"])
def test_intervals_hold_the_weights_that_are_not_rejected(se):
    X, y = data()
    make = FourthMoments if se == "hc1" else lambda: FoldAverages(20)
    for level in (0.8, 0.95):
        low, high = inference.anytime(make().update(X, y), [1], given=[0], se=se).conf_int(level)[0]
        for b, miss in ((low, 1 - level), (high, 1 - level)):
            shifted = inference.anytime(make().update(X, y - b * X[:, 1]), [1], given=[0], se=se)
            assert_allclose(shifted.pvalue, [miss], rtol=1e-6)


def test_few_rows_say_nothing():
    X, y = data(n=4)
    test = inference.anytime(RunningAverages().update(X, y), [0], g=1e6)
    assert np.isinf(test.conf_int(0.99)).all()
    assert test.pvalue[0] == 1
    X, _ = data()
    perfect = inference.anytime(RunningAverages().update(X, X[:, 0]), [0])
    assert perfect.pvalue[0] < 1e-50


def test_features_just_selected_are_watched_on_rows_to_come():
    X, y = data(n=400)
    snapshot, now = RunningAverages().update(X[:200], y[:200]), RunningAverages().update(X, y)
    later = inference.anytime(now - snapshot, [0, 1])
    only = inference.anytime(RunningAverages().update(X[200:], y[200:]), [0, 1])
    assert_allclose(later.log_e, only.log_e, rtol=1e-8)
    assert "any-time" in str(later)


def test_any_time_by_name_and_with_several_targets():
    pd = pytest.importorskip("pandas", reason="frames have names")
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcde"))
    Y = np.column_stack([y, y + 1, X[:, 2]])
    named = inference.anytime(RunningAverages().update(frame, Y), ["b", "a"], given=["c"])
    plain = inference.anytime(RunningAverages().update(X, Y), [1, 0], given=[2])
    assert named.log_e.shape == (3, 2)
    assert_allclose(named.log_e, plain.log_e)
    assert named.feature_names == ["b", "a"]
    assert named.conf_int().shape == (3, 2, 2)
    assert "b" in str(named)


@pytest.mark.parametrize(
    ("features", "options", "match"),
    [
        ([9], {}, "there are 5 features"),
        (["x"], {}, "no feature names"),
        ([], {}, "empty"),
        ([0, 0], {}, "twice"),
        ([0], {"g": 0}, "g=0"),
        ([0.5], {}, "indices or names"),
    ],
)
def test_what_any_time_cannot_test_is_said(features, options, match):
    X, y = data()
    with pytest.raises(ValueError, match=match):
        inference.anytime(RunningAverages().update(X, y), features, **options)


def test_any_time_refuses_forgetting_and_columns_that_do_not_vary():
    X, y = data()
    for averages in (RunningAverages(half_life=50), FoldAverages(3, decay=0.01)):
        with pytest.raises(ValueError, match="anytime needs rows of equal weight"):
            inference.anytime(averages.update(X, y), [0])
    X[:, 2] = 3
    with pytest.raises(ValueError, match="Feature 2 is constant"):
        inference.anytime(RunningAverages().update(X, y), [0, 2])


# ---------------------------------------------------------------- stability


def test_frequencies_count_the_halves():
    X, y = sparse_truth(400, 30, 4, signal=0.5)
    folds = FoldAverages(10).update(X, y)
    model = inference.stability(folds, 6, pairs=15, random_state=0)
    frequency = model.info["frequency"]
    assert_allclose(frequency.sum(), 6)
    assert_allclose(frequency * 30, np.round(frequency * 30))
    assert_array_equal(model.support, np.flatnonzero(frequency >= 0.7 - 1e-9))
    assert set(range(4)) <= set(model.support)
    assert_allclose(model.info["expected_false"], 36 / (30 * 0.4))
    assert_allclose(model.info["expected_false_unimodal"], 36 / (30 * 2 * (0.4 - 1 / 30)))
    assert not model.honest


def test_frequencies_of_fold_halves_are_those_of_row_halves():
    X, y = sparse_truth(400, 30, 6, signal=0.15)
    frequency = inference.stability(FoldAverages(20).update(X, y), 8, pairs=50, random_state=0).info[
        "frequency"
    ]
    rng, counts = np.random.default_rng(0), np.zeros(30)
    for _ in range(100):
        half = rng.permutation(400)[:200]
        counts[extract.ofsa(RunningAverages().update(X[half], y[half]), 8).support] += 0.01
    assert np.corrcoef(frequency, counts)[0, 1] > 0.95


def test_bounds_on_false_features():
    assert bounds(10, 1000, 0.9, 50)[0] == pytest.approx(0.125)
    assert bounds(10, 1000, 0.9, 50)[1] == pytest.approx(4 * 0.11 / 1.02 * 0.1)
    assert bounds(60, 100, 0.7, 50)[1] is None  # k / p too large for the second
    assert bounds(10, 1000, 0.5 + 1e-9, 50)[1] is None


@pytest.mark.parametrize(
    ("options", "match"),
    [({"threshold": 0.5}, "above 0.5"), ({"pairs": 0}, "pairs=0"), ({"method": "ridge"}, "'olsth'")],
)
def test_stability_refuses_what_has_no_bound(options, match):
    X, y = data()
    with pytest.raises(ValueError, match=match):
        inference.stability(FoldAverages(4).update(X, y), 2, **options)
