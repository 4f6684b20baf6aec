"""Errors of estimates: least squares against textbooks and statsmodels, folds and clusters, estimators."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from inference_data import clustered, data, sparse_truth
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
    load,
    save,
)
from streamsieve.methods import inference
from streamsieve.methods.sieve.read import folds_of
from streamsieve.statistics.folds import hash_ids
from streamsieve.statistics.linear_model import LinearModel

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
        (lambda: OFSARegressor(2, se="hc1", half_life=50), "with half_life"),
        (lambda: OFSARegressor(2, se="hc1", honest=0.5), "with honest"),
        (lambda: OFSARegressor(2, se="hc1", interactions=True), "with interactions"),
        (lambda: OFSARegressor(2, honest=0.5, stability=0.7), "with stability"),
        (lambda: OLassoRegressor(2, se="folds", refit=False), "with refit=False"),
        (lambda: OFSARegressor(2, se="white"), "se='white'"),
        (lambda: OLSClassifier(fdr=0.1, loss="logistic"), "with loss='logistic'"),
        (lambda: OFSARegressor(2, stability=0.5), "stability=0.5"),
        (lambda: SieveRegressor(2, se="folds"), "summed up; use OFSA for errors by folds"),
        (lambda: SieveRegressor(2, se="classical", loss="huber"), "loss='huber'"),
    ],
)
def test_errors_that_a_method_does_not_have_are_refused(make, match):
    X, y = data()
    model = make()
    with pytest.raises(ValueError, match=match):
        model.fit(X, y > 0 if isinstance(model, OLSClassifier) else y)


def test_features_that_depend_on_each_other_have_weights_and_no_errors():
    """The model could not be read."""
    X = np.eye(2, 6)
    model = SieveRegressor(6, se="classical").fit(X, [1.0, 2.0])
    assert np.isfinite(model.coef_).all()
    assert np.isnan(model.model_.stderr[model.get_support()]).all()


def test_clusters_need_folds():
    X, y, group = clustered()
    for model in (OFSARegressor(2), TSGDRegressor(2), SieveRegressor(2)):
        with pytest.raises(ValueError, match="se='folds'"):
            model.fit(X, y, cluster=group)
    with pytest.raises(ValueError, match="5 ids for 300 rows"):
        OFSARegressor(2, se="folds").fit(X, y, cluster=group[:5])
    late = OFSARegressor(2).fit(X, y).set_params(se="folds")
    with pytest.raises(ValueError, match="set before the first rows"):
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
    on, fold = model.get_support(), folds_of(model.method_)[0]
    b = newton(X[:, on], y)[0]
    left = [newton(X[fold != f][:, on], y[fold != f])[0] for f in range(5)]
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
