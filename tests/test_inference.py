import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from reference import inference as twin
from streamsieve import (
    FoldAverages,
    FourthMoments,
    OFSARegressor,
    OLassoRegressor,
    OLSClassifier,
    OLSRegressor,
    OLSthClassifier,
    OLSthRegressor,
    RunningAverages,
    SieveClassifier,
    SieveRegressor,
    TSGDRegressor,
    extract,
    inference,
    load,
    save,
)
from streamsieve.averages.intervals import aggregate, majority
from streamsieve.averages.model import LinearModel
from streamsieve.clusters import hash_ids
from streamsieve.inference.fdr import reject
from streamsieve.inference.knockoffs import cut, mvr, reject_evalues, statistics, with_knockoffs
from streamsieve.inference.stability import bounds


def data(n=300, p=5, seed=0, far=0.0):
    """Rows whose noise varies with the first feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.arange(1, p + 1) + far * np.arange(p)
    y = X[:, 0] - 0.5 * X[:, 1] + (0.5 + np.abs(X[:, 0])) * rng.normal(size=n) + far
    return X, y


def clustered(n_clusters=60, size=5, p=3, seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_clusters), size)
    X = rng.normal(size=(n_clusters, p))[group] + 0.1 * rng.normal(size=(len(group), p))
    return X, X[:, 0] + rng.normal(size=n_clusters)[group] + rng.normal(size=len(group)), group


def sparse_truth(n, p, k, seed=0, signal=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    b = np.zeros(p)
    b[:k] = signal * rng.choice([-1, 1], k)
    return X, X @ b + rng.normal(size=n)


# ---------------------------------------------------------------- least squares


@pytest.mark.parametrize("far", [0.0, 1e3])
def test_errors_are_those_of_the_rows(far):
    X, y = data(far=far)
    fold = np.arange(len(y)) % 7
    folds = FoldAverages(7).update(X, y)
    assert_allclose(inference.ols(folds, se="folds").stderr, twin.jackknife(X, y, fold), rtol=1e-8)
    assert_allclose(inference.ols(folds, se="cluster").stderr, twin.cluster(X, y, fold), rtol=1e-7)
    moments = FourthMoments().update(X, y)
    assert_allclose(inference.ols(moments, se="hc1").stderr, twin.hc1(X, y), rtol=1e-7)


def test_submodels_come_from_the_same_averages():
    X, y = data()
    some = [1, 3]
    folds, moments = FoldAverages(6).update(X, y), FourthMoments().update(X, y)
    fold = np.arange(len(y)) % 6
    assert_allclose(
        inference.ols(folds, some, se="folds").stderr[some], twin.jackknife(X[:, some], y, fold), rtol=1e-8
    )
    assert_allclose(inference.ols(moments, some, se="hc1").stderr[some], twin.hc1(X[:, some], y), rtol=1e-8)
    assert_array_equal(inference.ols(folds, some).support, some)
    mask = np.isin(np.arange(5), some)
    assert_allclose(inference.ols(folds, mask).stderr, inference.ols(folds, some).stderr)
    assert len(inference.ols(folds, mask).dropped) == 0
    assert inference.ols(folds, []).k == 0


def test_statsmodels_has_the_same_errors_p_values_and_intervals():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is the oracle of this test")
    X, y, group = clustered()
    Z = sm.add_constant(X)
    folds = FoldAverages(60).update(X, y, fold=group)
    for ours, kind, more in (
        (inference.ols(RunningAverages().update(X, y)), "nonrobust", {}),
        (inference.ols(FourthMoments().update(X, y), se="hc1"), "HC1", {"use_t": True}),
        (
            inference.ols(folds, se="cluster"),
            "cluster",
            {"cov_kwds": {"groups": group}, "use_t": True},
        ),
    ):
        theirs = sm.OLS(y, Z).fit(cov_type=kind, **more)
        assert_allclose(ours.coef, theirs.params[1:], rtol=1e-8)
        assert_allclose(ours.stderr, theirs.bse[1:], rtol=1e-8)
        assert_allclose(ours.pvalue, theirs.pvalues[1:], rtol=1e-8)
        assert_allclose(ours.conf_int(0.9), theirs.conf_int(0.1)[1:], rtol=1e-8)
    left = [sm.OLS(y[group != g], Z[group != g]).fit().params[1:] for g in range(60)]
    jackknife = np.sqrt(59 / 60 * ((np.array(left) - inference.ols(folds).coef) ** 2).sum(axis=0))
    assert_allclose(inference.ols(folds, se="folds").stderr, jackknife, rtol=1e-8)


def test_without_an_intercept_moments_are_about_zero():
    X, y = data()
    b = np.linalg.lstsq(X, y)[0]
    e = y - X @ b
    bread = np.linalg.inv(X.T @ X)
    meat = (X * e[:, None]).T @ (X * e[:, None])
    expected = np.sqrt(np.diag(bread @ meat @ bread) * len(y) / (len(y) - X.shape[1]))
    model = inference.ols(FourthMoments().update(X, y), se="hc1", fit_intercept=False)
    assert_allclose(model.coef, b, rtol=1e-8)
    assert_allclose(model.stderr, expected, rtol=1e-8)
    fold = np.arange(len(y)) % 5
    left = np.array([np.linalg.lstsq(X[fold != f], y[fold != f])[0] for f in range(5)])
    folds = inference.ols(FoldAverages(5).update(X, y), se="folds", fit_intercept=False)
    assert_allclose(folds.stderr, np.sqrt(0.8 * ((left - b) ** 2).sum(axis=0)), rtol=1e-8)


def test_a_weight_counts_as_so_many_rows():
    X, y = data(n=80)
    w = np.random.default_rng(1).integers(0, 4, 80)
    again, fold = np.repeat(np.arange(80), w), np.arange(80) % 5
    weighted = FoldAverages(5).update(X, y, w, fold=fold)
    repeated = FoldAverages(5).update(X[again], y[again], fold=fold[again])
    pairs = (
        (weighted, repeated, "classical"),
        (weighted, repeated, "folds"),
        (weighted, repeated, "cluster"),
        (FourthMoments().update(X, y, w), FourthMoments().update(X[again], y[again]), "hc1"),
    )
    for a, b, se in pairs:
        assert_allclose(inference.ols(a, se=se).pvalue, inference.ols(b, se=se).pvalue, rtol=1e-8)


@settings(max_examples=15)
@given(st.sets(st.integers(1, 119), max_size=4), st.integers(0, 1000))
def test_chunks_and_merging_do_not_matter(cuts, seed):
    X, y = data(n=120, seed=seed)
    fold = np.random.default_rng(seed).integers(0, 4, 120)
    whole, parts, merged = FoldAverages(4), FoldAverages(4), FoldAverages(4)
    fourth, fourth_merged = FourthMoments(), FourthMoments()
    whole.update(X, y, fold=fold)
    fourth.update(X, y)
    for rows in np.split(np.arange(120), sorted(cuts)):
        parts.update(X[rows], y[rows], fold=fold[rows])
        merged.merge(FoldAverages(4).update(X[rows], y[rows], fold=fold[rows]))
        fourth_merged.merge(FourthMoments().update(X[rows], y[rows]))
    expected = inference.ols(whole, se="folds").stderr
    assert_allclose(inference.ols(parts, se="folds").stderr, expected, rtol=1e-9)
    assert_allclose(inference.ols(merged, se="folds").stderr, expected, rtol=1e-8)
    assert_allclose(
        inference.ols(fourth_merged, se="hc1").stderr, inference.ols(fourth, se="hc1").stderr, rtol=1e-7
    )


def test_sparse_rows_give_what_dense_ones_do():
    X, y = data()
    X = X * (np.random.default_rng(0).random(X.shape) < 0.3)
    dense, sparse = FoldAverages(4).update(X, y), FoldAverages(4).update(sp.csr_array(X), y)
    assert_allclose(inference.ols(sparse, se="folds").stderr, inference.ols(dense, se="folds").stderr)
    dense, sparse = FourthMoments().update(X, y), FourthMoments().update(sp.csr_array(X), y)
    assert_allclose(inference.ols(sparse, se="hc1").stderr, inference.ols(dense, se="hc1").stderr)


def test_several_targets_are_each_by_itself():
    X, y = data()
    Y = np.column_stack([y, X[:, 2] + np.random.default_rng(3).normal(size=len(y))])
    for kind, se in (
        (lambda: FoldAverages(5), "folds"),
        (lambda: FoldAverages(5), "cluster"),
        (FourthMoments, "hc1"),
    ):
        both = inference.ols(kind().update(X, Y), se=se)
        for t in range(2):
            one = inference.ols(kind().update(X, Y[:, t]), se=se)
            assert_allclose(both.stderr[t], one.stderr, rtol=1e-8)
            assert_allclose(both.pvalue[t], one.pvalue, rtol=1e-7, atol=1e-300)
            assert_allclose(both.conf_int()[t], one.conf_int(), rtol=1e-7)


def test_constant_copied_and_dependent_columns_have_no_error():
    X, y = data()
    X = np.column_stack([X, np.ones(len(y)), X[:, 0], X[:, 1] + X[:, 2]])
    folds = FoldAverages(5).update(X, y)
    for se in ("classical", "folds", "cluster"):
        model = inference.ols(folds, se=se)
        assert model.k == 5
        assert {5, 6} <= set(model.dropped)
        assert len(set(model.dropped) & {1, 2, 7}) == 1
        assert np.isnan(model.conf_int()[5]).all()
        assert np.isfinite(model.stderr[model.support]).all()
        assert_allclose(model.r2, inference.ols(RunningAverages().update(X[:, :5], y)).r2)


def test_a_feature_of_one_fold_has_no_error_by_folds():
    X, y = data()
    X[:, 4] = 0
    X[::5, 4] = np.random.default_rng(0).normal(size=60)  # fold 0 of 5
    model = inference.ols(FoldAverages(5).update(X, y), se="folds")
    assert np.isnan(model.stderr[4])
    assert np.isfinite(model.stderr[:4]).all()
    assert 4 not in inference.fdr(FoldAverages(5).update(X, y), 0.5, se="folds").support


@pytest.mark.parametrize("n", [4, 6])
def test_too_few_rows_are_refused(n):
    X, y = data(n=n)
    with pytest.raises(ValueError, match="do not determine"):
        inference.ols(FoldAverages(2).update(X, y), se="folds")
    with pytest.raises(ValueError, match="screen"):
        inference.fdr(FoldAverages(2).update(X, y))


def test_two_folds_have_one_degree_of_freedom():
    X, y = data()
    model = inference.ols(FoldAverages(2).update(X, y), se="folds")
    assert model.nu == 1
    assert_allclose(model.stderr, twin.jackknife(X, y, np.arange(len(y)) % 2), rtol=1e-8)


def test_empty_folds_do_not_count():
    X, y = data()
    spread = FoldAverages(50).update(X, y, fold=np.arange(len(y)) % 6)
    assert inference.ols(spread, se="folds").nu == 5
    assert_allclose(
        inference.ols(spread, se="folds").stderr,
        inference.ols(FoldAverages(6).update(X, y), se="folds").stderr,
    )
    with pytest.raises(ValueError, match="2 folds"):
        inference.ols(FoldAverages(5).update(X, y, fold=np.zeros(len(y), dtype=int)), se="folds")


def test_what_errors_need_is_said():
    X, y = data()
    plain = RunningAverages().update(X, y)
    with pytest.raises(TypeError, match="needs FoldAverages, got RunningAverages"):
        inference.ols(plain, se="folds")
    with pytest.raises(TypeError, match="needs FourthMoments"):
        inference.ols(plain, se="hc1")
    with pytest.raises(ValueError, match="'classical', 'folds'"):
        inference.ols(plain, se="white")
    with pytest.raises(ValueError, match="there are 5"):
        inference.ols(plain, [7])
    with pytest.raises(ValueError, match="GB"):
        FourthMoments().update(np.ones((2, 300)), [0.0, 1.0])


def test_p_values_and_intervals_are_those_of_the_t_distribution():
    X, y = data(n=20)
    model = extract.olsth(RunningAverages().update(X, y), 2)
    assert model.nu == 17
    on = model.support
    assert_allclose(model.pvalue[on], 2 * stats.t.sf(np.abs(model.tvalue[on]), 17))
    low, high = model.conf_int(0.8).T
    assert_allclose((high - low)[on], 2 * stats.t.ppf(0.9, 17) * model.stderr[on])
    off = np.setdiff1d(np.arange(5), on)
    assert (model.pvalue[off] == 1).all()
    assert np.isnan(low[off]).all()
    assert not model.honest
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.conf_int(95)
    with pytest.raises(ValueError, match="no standard errors"):
        extract.olasso(RunningAverages().update(X, y), 2, refit=False).conf_int()


# ---------------------------------------------------------------- folds


def test_clusters_go_to_one_fold_wherever_they_are_hashed():
    folds = FoldAverages(20)
    ids = np.array(["a", "b", "a", "long name", "b"])
    fold = folds.fold_of(ids)
    assert fold[0] == fold[2]
    assert_array_equal(folds.fold_of(ids[::-1]), fold[::-1])
    assert_array_equal(folds.fold_of(ids), [11, 6, 11, 6, 6])  # the same for ever: models of machines merge
    assert_array_equal(hash_ids([3, 17]), hash_ids([3.0, 17.0]))
    assert hash_ids([1.5, 2.0])[1] == hash_ids([2])[0]
    counts = np.bincount(folds.fold_of(np.arange(10_000)), minlength=20)
    assert stats.chisquare(counts).pvalue > 1e-3
    for missing in ([1.0, np.nan], np.array(["a", None], dtype=object)):
        with pytest.raises(ValueError, match="every row needs an id"):
            folds.fold_of(missing)


def test_shards_of_a_stream_keep_clusters_together():
    X, y, group = clustered()
    parts = [
        OFSARegressor(2, se="folds").fit(X[at], y[at], cluster=group[at])
        for at in (slice(0, 52), slice(52, 300))
    ]
    parts[0].method_.merge(parts[1].method_, follows=True)
    whole = OFSARegressor(2, se="folds").fit(X, y, cluster=group)
    assert_allclose(parts[0].model_.stderr, whole.model_.stderr, rtol=1e-8)


@pytest.mark.parametrize(
    ("fold", "match"), [([0, 1], "one a row"), ([0.5] * 300, "one int"), ([5] * 300, "there are 5")]
)
def test_folds_that_are_none_are_refused(fold, match):
    X, y = data()
    folds = FoldAverages(5)
    with pytest.raises(ValueError, match=match):
        folds.update(X, y, fold=fold)
    assert folds.n_samples_ == 0


def test_moments_and_models_can_be_saved(tmp_path):
    X, y = data()
    moments = FourthMoments().update(X[:100], y[:100])
    save(moments, tmp_path / "moments")
    again = load(tmp_path / "moments").update(X[100:], y[100:])
    moments.update(X[100:], y[100:])
    assert_array_equal(inference.ols(again, se="hc1").stderr, inference.ols(moments, se="hc1").stderr)
    folds = FoldAverages(6).update(X, y)
    for model in (
        inference.ols(moments, se="hc1"),
        inference.split(folds, "olsth", 2, splits=3, random_state=0),
        inference.fdr(folds, 0.1),
        inference.stability(folds, 2, random_state=0),
    ):
        save(model, tmp_path / "model")
        read = load(tmp_path / "model")
        assert (read.se, read.honest, read.nu, read.fcr) == (model.se, model.honest, model.nu, model.fcr)
        assert_array_equal(read.conf_int(), model.conf_int())
        assert_array_equal(read.pvalue, model.pvalue)
    plain = inference.split(folds, "olsth", 2, splits=3, random_state=0).to_plain()
    plain["splits"][0]["tvalue"] = None
    with pytest.raises(ValueError, match="splits"):
        LinearModel.from_plain(plain)


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
    with pytest.raises(ValueError, match="3 at least"):
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


def test_knockpy_agrees_on_objective_averages_and_selection():
    knockpy = pytest.importorskip("knockpy", reason="knockpy is the oracle of this test")
    X = correlation()
    R = X.T @ X
    s = mvr(R)
    theirs = knockpy.mrc.solve_mvr(R, tol=1e-9, num_iter=500, converge_tol=1e-12, choldate_warning=False)
    loss = knockpy.mrc.mvr_loss
    assert_allclose(
        loss(R, np.diag(s)), (1 / s).sum() + np.trace(np.linalg.inv(2 * R - np.diag(s))), rtol=1e-8
    )
    assert loss(R, np.diag(s)) <= loss(R, theirs) * (1 + 1e-8)
    Xk = knockpy.knockoffs.FXSampler(X, S=np.diag(s)).sample_knockoffs()
    both = np.hstack([X, Xk])
    ours, _ = with_knockoffs(R, np.zeros(20), s, 299, np.random.default_rng(0))
    assert_allclose(ours, both.T @ both, atol=1e-8)
    rng = np.random.default_rng(0)
    for _ in range(100):
        W = rng.normal(size=50) + 3 * (rng.random(50) < 0.3)
        for q in (0.1, 0.2):
            t = knockpy.knockoff_stats.data_dependent_threshhold(W, fdr=q)
            assert_array_equal(np.greater_equal(W, cut(W, q)), np.greater_equal(W, t))


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
    with pytest.raises(ValueError, match="knockoffs needs rows that all count alike"):
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
        (["x"], {}, "only number"),
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
        with pytest.raises(ValueError, match="anytime needs rows that all count alike"):
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


# ---------------------------------------------------------------- estimators


@pytest.mark.parametrize("se", ["classical", "folds", "cluster", "hc1"])
def test_estimators_make_their_errors_as_asked(se, tmp_path):
    X, y, group = clustered(p=6)
    clusters = {"cluster": group} if se in ("folds", "cluster") else {}
    model = OFSARegressor(3, se=se)
    model.partial_fit(X[:100], y[:100], **{k: v[:100] for k, v in clusters.items()})
    save(model, tmp_path / "half")
    model = load(tmp_path / "half")
    model.partial_fit(X[100:], y[100:], **{k: v[100:] for k, v in clusters.items()})
    folds = FoldAverages(20).update(X, y, fold=FoldAverages(20).fold_of(group))
    averages = {"hc1": FourthMoments().update(X, y)}.get(se, folds)
    support = extract.ofsa(RunningAverages().update(X, y), 3).support
    expected = inference.ols(averages, support, se=se)
    assert_allclose(model.model_.stderr, expected.stderr, rtol=1e-8)
    assert_allclose(model.model_.pvalue, expected.pvalue, rtol=1e-6, atol=1e-300)
    assert (model.model_.se, model.model_.honest) == (se, False)
    assert_allclose(model.coef_, expected.coef)


def test_rows_of_weight_0_take_their_clusters_along():
    X, y, group = clustered(p=6)
    w = (np.arange(len(y)) % 3 > 0).astype(float)
    weighted = OLSthRegressor(3, se="folds").fit(X, y, w, cluster=group)
    only = OLSthRegressor(3, se="folds").fit(X[w > 0], y[w > 0], cluster=group[w > 0])
    assert_allclose(weighted.model_.stderr, only.model_.stderr)


def test_honest_estimators_estimate_on_rows_that_did_not_select(tmp_path):
    X, y = sparse_truth(600, 30, 4)
    model = OFSARegressor(6, honest=0.5).fit(X, y)
    folds = FoldAverages(20).update(X, y)
    expected = inference.split(folds, "ofsa", 6, random_state=0)
    assert model.model_.honest
    assert_allclose(model.coef_, expected.coef)
    assert_allclose(model.model_.conf_int(), expected.conf_int())
    save(model, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").model_.conf_int(), model.model_.conf_int())
    labels = OLSthClassifier(honest=0.5, criterion="cv").fit(X, y > 0)
    assert labels.model_.honest


def test_stable_estimators_select_what_halves_select():
    X, y = sparse_truth(400, 30, 4, signal=0.5)
    model = OFSARegressor(6, stability=0.8).fit(X, y)
    expected = inference.stability(FoldAverages(20).update(X, y), 6, threshold=0.8, random_state=0)
    assert_array_equal(model.get_support(indices=True), expected.support)
    assert model.model_.info["expected_false"] == expected.info["expected_false"]


def test_least_squares_selects_at_a_false_discovery_rate():
    X, y = sparse_truth(400, 20, 4)
    for se, averages in (
        ("classical", RunningAverages().update(X, y)),
        ("hc1", FourthMoments().update(X, y)),
        ("folds", FoldAverages(20).update(X, y)),
    ):
        model, expected = OLSRegressor(fdr=0.1, se=se).fit(X, y), inference.fdr(averages, 0.1, se=se)
        assert_array_equal(model.get_support(indices=True), expected.support)
        assert_allclose(model.coef_, expected.coef)
        assert model.model_.honest
    X, y = sparse_truth(240, 300, 3, signal=1.0)
    assert set(range(3)) <= set(OLSRegressor(fdr=0.1, se="folds").fit(X, y).get_support(indices=True))
    with pytest.raises(ValueError, match="se='folds' before the first rows"):
        _ = OLSRegressor(fdr=0.1).fit(X, y).coef_


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: OFSARegressor(2, se="hc1", half_life=50), "beside half_life"),
        (lambda: OFSARegressor(2, se="hc1", honest=0.5), "beside honest"),
        (lambda: OFSARegressor(2, se="hc1", interactions=True), "beside interactions"),
        (lambda: OFSARegressor(2, honest=0.5, stability=0.7), "beside stability"),
        (lambda: OLassoRegressor(2, se="folds", refit=False), "beside refit=False"),
        (lambda: OFSARegressor(2, se="white"), "se='white'"),
        (lambda: OLSClassifier(fdr=0.1, loss="logistic"), "beside loss='logistic'"),
        (lambda: OFSARegressor(2, stability=0.5), "stability=0.5"),
        (lambda: SieveRegressor(2, se="folds"), "summed up"),
        (lambda: SieveRegressor(2, se="classical", loss="huber"), "loss='huber'"),
    ],
)
def test_errors_that_a_method_does_not_have_are_refused(make, match):
    X, y = data()
    model = make()
    with pytest.raises(ValueError, match=match):
        model.fit(X, y > 0 if isinstance(model, OLSClassifier) else y)


def test_clusters_need_folds():
    X, y, group = clustered()
    for model in (OFSARegressor(2), TSGDRegressor(2), SieveRegressor(2)):
        with pytest.raises(ValueError, match="se='folds'"):
            model.fit(X, y, cluster=group)
    with pytest.raises(ValueError, match="5 ids for 300 rows"):
        OFSARegressor(2, se="folds").fit(X, y, cluster=group[:5])
    late = OFSARegressor(2).fit(X, y).set_params(se="folds")
    with pytest.raises(ValueError, match="from the first rows on"):
        _ = late.coef_


def labels(n=800, seed=0):
    rng = np.random.default_rng(seed)
    X = 3 * rng.normal(size=(n, 10)) + 5
    eta = 0.4 * (X[:, 0] - 5) - 0.4 * (X[:, 3] - 5)
    return X, rng.random(n) < 1 / (1 + np.exp(-eta))


def newton(X, y, w=None):
    """Logistic regression: weights with the intercept first, and errors by the information."""
    Z, w = twin.with_one(X), np.ones(len(y)) if w is None else w
    b = np.zeros(Z.shape[1])
    for _ in range(30):
        share = 1 / (1 + np.exp(-Z @ b))
        information = (Z * (w * share * (1 - share))[:, None]).T @ Z
        b = b + np.linalg.solve(information, Z.T @ (w * (y - share)))
    return b, np.sqrt(np.diag(np.linalg.inv(information)))


def test_labels_have_errors_by_the_observed_information(tmp_path):
    X, y = labels()
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = SieveClassifier(3, se="classical").fit(X, y, w)
    on = model.get_support()
    b, error = newton(X[:, on], y, w)
    assert_allclose(model.coef_[0, on], b[1:], rtol=1e-5)
    assert_allclose(model.intercept_, b[:1], rtol=1e-5)
    assert_allclose(model.model_.stderr[on], error[1:], rtol=1e-6)
    assert_allclose(model.model_.pvalue[on], 2 * stats.norm.sf(np.abs(b / error)[1:]), rtol=1e-4)
    assert not model.model_.honest
    save(model, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").model_.conf_int(), model.model_.conf_int())


def test_labels_have_errors_by_folds():
    X, y = labels()
    model = SieveClassifier(3, se="folds").fit(X, y)
    on, store = model.get_support(), model.method_.state.store
    b = newton(X[:, on], y)[0]
    left = [newton(X[store.fold[:800] != f][:, on], y[store.fold[:800] != f])[0] for f in range(5)]
    expected = np.sqrt(0.8 * ((np.array(left) - b) ** 2).sum(axis=0))[1:]
    assert_allclose(model.model_.stderr[on], expected, rtol=1e-5)
    assert model.model_.nu == 4


def test_statsmodels_has_the_same_errors_of_labels_and_counts():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is the oracle of this test")
    X, y = labels()
    rng = np.random.default_rng(1)
    counts = rng.poisson(np.exp(0.1 * (X[:, 0] - 5)))
    cases = (
        (SieveClassifier(3, se="classical"), y, sm.families.Binomial()),
        (SieveRegressor(3, se="classical", loss="poisson"), counts, sm.families.Poisson()),
        (SieveRegressor(3, se="classical"), X[:, 2] + rng.normal(size=len(y)), None),
    )
    for model, target, family in cases:
        on = model.fit(X, target).get_support()
        Z = sm.add_constant(X[:, on])
        theirs = sm.OLS(target, Z).fit() if family is None else sm.GLM(target, Z, family=family).fit()
        # the rows are kept in 32 bits
        assert_allclose(model.model_.stderr[on], theirs.bse[1:], rtol=1e-6)
        assert_allclose(model.model_.conf_int()[on], theirs.conf_int()[1:], rtol=1e-5)


def test_rows_that_were_summed_up_count_in_the_information():
    X, y = labels(40_000)
    few = SieveClassifier(3, se="classical", memory="1MB").fit(X, y)
    assert few.method_.state.H is not None
    on = few.get_support()
    b, error = newton(X[:, on], y)
    assert_allclose(few.model_.stderr[on], error[1:], rtol=0.02)
    assert_allclose(few.coef_[0, on], b[1:], atol=0.5 * error[1:].max())
    with pytest.raises(ValueError, match="pass more memory"):
        _ = SieveClassifier(3, se="folds", memory="1MB").fit(X, y).coef_


def test_separated_classes_keep_their_ridge_and_have_no_errors():
    X, _ = labels()
    model = SieveClassifier(2, se="classical").fit(X, X[:, 0] > 5)
    assert np.isnan(model.model_.stderr[model.get_support()]).all()
    assert np.isfinite(model.coef_).all()
    assert model.score(X, X[:, 0] > 5) > 0.95


def test_a_sieve_without_errors_has_no_model():
    X, y = labels()
    assert not hasattr(SieveClassifier(2).fit(X, y), "model_")
    with pytest.raises(ValueError, match="3 classes"):
        SieveClassifier(2, se="classical").fit(X, np.arange(len(y)) % 3)
