"""Constraints on the weights: against other solvers, by their optimality conditions, and stated wrongly."""

import pickle
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear
from sklearn.linear_model import ElasticNet, Lasso

import streamsieve
from streamsieve import FoldAverages, RunningAverages, cross_validate, extract, load, path, save
from streamsieve.core.params import ParamError
from streamsieve.methods import METHODS
from streamsieve.methods.averages.path import as_method
from streamsieve.methods.averages.penalized import Walk, walk_to_alpha
from streamsieve.statistics.constraints import Constraints
from streamsieve.statistics.linear_model import as_standardized
from streamsieve.statistics.standardize import members, restore

PENALISED = {
    "lasso": extract.olasso,
    "elasticnet": extract.oelasticnet,
    "adaptivelasso": extract.oadaptivelasso,
    "mcp": extract.omcp,
    "scad": extract.oscad,
}
BY_SIZE = {"olsth": extract.olsth, "ofsa": extract.ofsa, "obestsubset": extract.obestsubset}
EVERY = {**PENALISED, **BY_SIZE}
every = pytest.mark.parametrize("name", EVERY)
penalised = pytest.mark.parametrize("name", PENALISED)


def sample(seed=0, n=300, p=12, q=1, correlation=0.4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + np.sqrt(correlation / (1 - correlation)) * rng.normal(size=(n, 1))
    X *= rng.uniform(0.3, 3, p)
    B = rng.normal(size=(p, q)) * (rng.random((p, q)) < 0.5)
    Y = X @ B + rng.normal(size=(n, q))
    return X, Y[:, 0] if q == 1 else Y


def averages(X, y):
    return RunningAverages().update(X, y)


def scaled(X):
    return (X - X.mean(0)) / X.std(0)


# ---------------------------------------------------------------- keep


@every
def test_features_to_keep_are_in_every_model(name):
    X, y = sample(p=10)
    a = averages(X, y)
    weak = np.argsort(np.abs(extract.ols(a).tvalue))[:2]
    for k in (2, 3, 6):
        model = EVERY[name](a, k, keep=weak)
        assert set(weak) <= set(model.support)
        assert model.k <= k


@penalised
def test_keeping_is_a_penalty_of_zero(name):
    X, y = sample(1)
    a = averages(X, y)
    kept = EVERY[name](a, alpha=0.3, keep=[2, 5], refit=False)
    free = EVERY[name](a, alpha=0.3, penalty_factor={2: 0, 5: 0}, refit=False)
    assert_allclose(kept.coef, free.coef, atol=1e-12)
    # and projecting out is the same as solving with a factor of 0, as bounds that never bind make it do
    bounded = EVERY[name](a, alpha=0.3, keep=[2, 5], bounds={2: (-1e9, 1e9), 5: (-1e9, 1e9)}, refit=False)
    assert_allclose(kept.coef, bounded.coef, atol=1e-8)


def test_best_subset_beside_kept_features_is_the_best_of_all():
    X, y = sample(2, p=9)
    a = averages(X, y)
    found = extract.obestsubset(a, 4, keep=[0, 7])
    best = min(
        combinations(np.setdiff1d(np.arange(9), [0, 7]), 2),
        key=lambda pair: np.linalg.lstsq(np.c_[X[:, [0, 7, *pair]], np.ones(len(X))], y, rcond=None)[1][0],
    )
    assert_array_equal(found.support, np.sort([0, 7, *best]))


def test_a_copy_that_is_to_be_kept_takes_the_place_of_the_first():
    X, y = sample(3, p=5)
    X = np.c_[X, 2 * X[:, 1]]
    assert 5 in extract.olsth(averages(X, y), 2, keep=[5]).support
    assert 1 not in extract.olsth(averages(X, y), 5, keep=[5]).support


def test_constant_columns_cannot_be_kept():
    X, y = sample(3, p=5)
    X[:, 2] = 1.0
    model = extract.olasso(averages(X, y), 2, keep=[2])
    assert 2 not in model.support
    assert 2 in model.dropped


# ---------------------------------------------------------------- against other libraries


@pytest.mark.parametrize("alpha", [0.02, 0.3])
def test_positive_weights_are_those_of_scikit_learn(alpha):
    X, y = sample(4)
    X = scaled(X)
    a = averages(X, y)
    for ours, theirs in (
        (extract.olasso(a, alpha=alpha, positive=True, refit=False), Lasso),
        (extract.oelasticnet(a, alpha=alpha, l1_ratio=0.4, positive=True, refit=False), ElasticNet),
    ):
        options = {} if theirs is Lasso else {"l1_ratio": 0.4}
        other = theirs(alpha=alpha, positive=True, tol=1e-14, max_iter=10**6, **options).fit(X, y)
        assert_allclose(ours.coef, other.coef_, atol=1e-8)
        assert (ours.coef >= 0).all()


def test_weighted_lasso_is_that_of_scaled_columns():
    """A penalty factor of f is a column divided by f, whose weight is multiplied by it."""
    X, y = sample(5)
    X = scaled(X)
    factor = np.random.default_rng(0).uniform(0.2, 3, X.shape[1])
    ours = extract.olasso(averages(X, y), alpha=0.2, penalty_factor=factor, refit=False)
    theirs = Lasso(alpha=0.2, tol=1e-14, max_iter=10**6).fit(X / factor, y)
    assert_allclose(ours.coef, theirs.coef_ / factor, atol=1e-8)


#: Weights 9 and 10 by alpha, of skglm 0.5: AndersonCD(tol=1e-13), MCPenalty(alpha, 3.0, positive=True),
#: Quadratic(), on scaled(X) and y - y.mean(); all others are 0. It takes a minute to compile.
POSITIVE_MCP = {
    0.3: (4.640694281, 0.0),
    0.05: (4.639714707, 0.009342011952),
    0.02: (4.634917023, 0.05509661725),
}


@pytest.mark.parametrize("alpha", POSITIVE_MCP)
def test_positive_mcp_is_that_of_skglm(alpha):
    X, y = sample(6, correlation=0.1)
    ours = extract.omcp(averages(scaled(X), y), alpha=alpha, gamma=3.0, positive=True, refit=False)
    assert_allclose(ours.coef[9:11], POSITIVE_MCP[alpha], rtol=1e-8)
    assert not np.delete(ours.coef, [9, 10]).any()


def test_bounded_least_squares_is_that_of_scipy():
    X, y = sample(7)
    y = y - y.mean()
    lower, upper = np.full(12, -0.2), np.full(12, 0.3)
    lower[3], upper[4] = -np.inf, np.inf
    bounds = np.c_[lower, upper]
    A = X - X.mean(0)
    theirs = lsq_linear(A, y, (lower, upper), method="bvls", tol=1e-14).x
    a = averages(X, y)
    ours = extract.ols(a, bounds=bounds)
    assert_allclose(ours.coef, theirs, atol=1e-8)
    # and so are the refits
    refit = extract.olsth(a, 12, bounds=bounds)
    assert_allclose(refit.coef, theirs, atol=1e-8)
    bound = (theirs == lower) | (theirs == upper)
    assert bound.any()
    assert not bound.all()
    assert np.isnan(ours.stderr[bound]).all()
    assert np.isfinite(ours.stderr[~bound]).all()
    assert_array_equal(ours.info["at_bound"], np.flatnonzero(bound))


def test_group_lasso_meets_its_conditions():
    rng = np.random.default_rng(8)
    n, sizes = 400, [3, 2, 4, 1, 3]
    ends = np.cumsum([0, *sizes])
    groups = [list(range(a, b)) for a, b in pairwise(ends)]
    X = rng.normal(size=(n, ends[-1])) + rng.normal(size=(n, 1))
    y = X[:, groups[0]] @ [1, -1, 0.5] + X[:, 11] + rng.normal(size=n)
    ours = extract.olasso(averages(X, y), alpha=0.2, groups=groups, refit=False)
    assert 0 < np.count_nonzero(ours.coef) < len(ours.coef)
    s = as_standardized(averages(X, y), constraints={"groups": groups})
    assert group_violation(s, ours.coef * X.std(0) / y.std(), 0.2 / y.std()) < 1e-8


def group_violation(s, beta, alpha):
    """Of the conditions of the group lasso, from the correlations of the features as they are."""
    origin = s.origin
    worst = 0.0
    for at in members(origin):
        values, vectors = np.linalg.eigh(origin.R[np.ix_(at, at)])
        use = values > 1e-9
        white = vectors[:, use] / np.sqrt(values[use])
        gradient = white.T @ (origin.r[at, 0] - origin.R[at] @ beta)
        b = np.sqrt(values[use]) * (vectors[:, use].T @ beta[at])
        limit = alpha * np.sqrt(use.sum())
        size = np.linalg.norm(b)
        inside = gradient - limit * b / size if size else np.zeros(1)
        worst = max(worst, np.linalg.norm(inside), 0 if size else np.linalg.norm(gradient) - limit)
    return worst


# ---------------------------------------------------------------- optimality conditions


PENALIZED = ["olasso", "oelasticnet", "oadaptivelasso", "omcp", "oscad"]


def violation(s, name, alpha, solver, target):
    """Largest derivative that is not zero and does not lead out of the bounds, of each weight alone."""
    b = solver.b
    gradient = s.r[:, target] - s.R @ b
    penalty = as_method(name, {}).penalties(s)[0][target]
    worst = 0.0
    for j in np.flatnonzero(s.usable):
        lower, upper = (-np.inf, np.inf) if s.box is None else (s.box[0][j, target], s.box[1][j, target])
        at = np.array([j])
        if b[j] == 0:
            limit = float(np.broadcast_to(penalty.threshold(np.ones(1), at), 1)[0]) * alpha
            up, down = max(gradient[j] - limit, 0.0), max(-gradient[j] - limit, 0.0)
            worst = max(worst, up if upper > 0 else 0.0, down if lower < 0 else 0.0)
            continue
        a, c = penalty.pieces(b[at], alpha, at)
        slope = gradient[j] - a[0] - c[0] * b[j]
        if b[j] == upper:
            slope = min(slope, 0.0)
        elif b[j] == lower:
            slope = max(slope, 0.0)
        worst = max(worst, abs(slope))
    return worst


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(PENALIZED),
    st.integers(0, 10**6),
    st.integers(20, 200),
    st.integers(2, 15),
    st.sampled_from([0.02, 0.1, 0.4]),
    st.integers(1, 2),
    st.booleans(),
)
def test_solutions_within_bounds_satisfy_their_optimality_conditions(name, seed, n, p, share, q, keep):
    rng = np.random.default_rng(seed)
    X, Y = sample(seed, n + 2 * p, p, q)
    bounds = [(-rng.choice([0, 0.1, 1, np.inf]), rng.choice([0, 0.1, 1, np.inf])) for _ in range(p)]
    factor = rng.choice([0.0, 0.5, 1.0, 2.0], p)
    constraints = {"bounds": bounds, "penalty_factor": factor}
    if keep:
        constraints["keep"] = rng.choice(p, 1)
    s = as_standardized(averages(X, Y), constraints=constraints)
    walk = Walk(s, as_method(name, {}).penalties(s)[0])
    alpha = share * max(walk.alpha_max(), 0.01)
    walk_to_alpha(walk, np.full(q, alpha))
    for target, solver in enumerate(walk.solvers):
        if s.box is not None:
            assert (solver.b >= s.box[0][:, target]).all()
            assert (solver.b <= s.box[1][:, target]).all()
        assert violation(s, name, alpha, solver, target) < 1e-8


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(PENALIZED),
    st.integers(0, 10**6),
    st.lists(st.integers(1, 4), min_size=1, max_size=6),
    st.sampled_from([0.05, 0.2, 0.6]),
    st.booleans(),
)
def test_solutions_of_groups_satisfy_their_optimality_conditions(name, seed, sizes, share, keep):
    p = sum(sizes)
    X, y = sample(seed, 60 + 5 * p, p)
    ends = np.cumsum([0, *sizes])
    groups = [list(range(a, b)) for a, b in pairwise(ends)]
    constraints = {"groups": groups, "penalty_factor": {int(ends[0]): 2.0, **dict.fromkeys(groups[0], 2.0)}}
    if keep and len(groups) > 1:
        constraints["keep"] = [groups[-1][0]]
    s = as_standardized(averages(X, y), constraints=constraints)
    penalty = as_method(name, {}).penalties(s)[0][0]
    walk = Walk(s, [penalty])
    alpha = share * walk.alpha_max()
    walk_to_alpha(walk, np.array([alpha]))
    b = walk.solvers[0].b
    gradient = s.r[:, 0] - s.R @ b
    for at in groups:
        at = np.array(at)[s.usable[at]]
        if len(at) == 0:
            continue
        size, head = np.linalg.norm(b[at]), at[:1]
        if size == 0:
            assert (
                np.linalg.norm(gradient[at])
                <= alpha * float(np.broadcast_to(penalty.threshold(np.ones(1), head), 1)[0]) + 1e-8
            )
        else:
            a, c = penalty.pieces(np.array([size]), alpha, head)
            assert_allclose(gradient[at], (a + c * size) * b[at] / size, atol=1e-8)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 10))
def test_bounded_refits_satisfy_their_optimality_conditions(seed, p):
    rng = np.random.default_rng(seed)
    X, y = sample(seed, 50 + p, p)
    bounds = [(-rng.choice([0, 0.1, np.inf]), rng.choice([0, 0.1, np.inf])) for _ in range(p)]
    model = extract.ols(averages(X, y), bounds=bounds, ridge=0)
    gradient = (X - X.mean(0)).T @ (y - model.predict(X)) / len(X) / (X.std(0) * y.std())
    lower, upper = np.array(bounds, dtype=float).T
    coef = model.coef
    assert (coef >= lower - 1e-15).all()
    assert (coef <= upper + 1e-15).all()
    inside = (coef > lower) & (coef < upper)
    assert_allclose(gradient[inside], 0, atol=1e-8)
    assert (gradient[np.isclose(coef, upper, rtol=1e-12, atol=0) & ~inside & (upper > lower)] >= -1e-8).all()


# ---------------------------------------------------------------- penalty factors


@every
def test_a_factor_of_infinity_excludes_and_of_zero_keeps(name):
    X, y = sample(9)
    a = averages(X, y)
    best = int(np.argmax(np.abs(extract.ols(a).tvalue)))
    worst = int(np.argmin(np.abs(extract.ols(a).tvalue)))
    model = EVERY[name](a, 4, penalty_factor={best: np.inf, worst: 0})
    assert best not in model.support
    assert best in model.dropped
    assert worst in model.support


def test_methods_that_compare_weights_divide_them_by_the_factors():
    X, y = sample(10)
    a = averages(X, y)
    beta = np.abs(extract.ols(a).coef * X.std(0))
    factor = np.random.default_rng(0).uniform(0.1, 5, 12)
    model = extract.olsth(a, 5, penalty_factor=factor, ridge=0)
    assert_array_equal(model.support, np.sort(np.argsort(-beta / factor)[:5]))


def test_a_ridge_is_multiplied_by_the_factors():
    X, y = sample(11)
    factor = np.r_[0.0, np.linspace(0.5, 3, 11)]
    model = extract.ols(averages(X, y), ridge=0.3, penalty_factor=factor)
    Z, t = scaled(X), y - y.mean()
    expected = np.linalg.solve(Z.T @ Z / len(Z) + 0.3 * np.diag(factor), Z.T @ t / len(Z))
    assert_allclose(model.coef * X.std(0), expected, atol=1e-10)


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize("name", [*PENALISED, "olsth", "ofsa"])
@pytest.mark.parametrize("q", [1, 2])
def test_bounds_hold_in_every_extractor(name, q):
    X, y = sample(12, q=q)
    model = EVERY[name](averages(X, y), 6, positive=[0, 1, 2, 3], bounds={4: (-0.1, 0.1), 5: (0, 0)})
    coef = np.atleast_2d(model.coef)
    assert (coef[:, :4] >= 0).all()
    assert (np.abs(coef[:, 4]) <= 0.1).all()
    assert (coef[:, 5] == 0).all()
    assert_array_equal(model.support, np.flatnonzero(coef.any(axis=0)))


@pytest.mark.parametrize("name", [*PENALISED, "olsth", "ofsa"])
def test_bounds_that_do_not_bind_change_nothing(name):
    X, y = sample(13)
    a = averages(X, y)
    assert_allclose(EVERY[name](a, 5, bounds=(-1e6, 1e6)).coef, EVERY[name](a, 5).coef, atol=1e-8)


def test_a_feature_that_is_kept_stays_within_its_bounds():
    X, y = sample(14)
    a = averages(X, y)
    negative = int(np.argmin(extract.ols(a).tvalue))
    for name in (*PENALISED, "olsth", "ofsa"):
        model = EVERY[name](a, 4, keep=[negative], positive=True)
        assert model.coef[negative] == 0
        assert (model.coef >= 0).all()


# ---------------------------------------------------------------- groups


def categories(n=600, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.integers(0, 4, n)
    day = rng.integers(0, 3, n)
    X = np.c_[np.eye(4)[city], np.eye(3)[day], rng.normal(size=(n, 5))]
    y = np.array([0.0, 2.0, -2.0, 4.0])[city] + X[:, 8] + 0.3 * rng.normal(size=n)
    names = [f"city={c}" for c in "abcd"] + [f"day={d}" for d in "xyz"] + list("pqrst")
    return pd.DataFrame(X, columns=names), y


@every
def test_groups_enter_whole_and_k_counts_them(name):
    frame, y = categories()
    a = averages(frame, y)
    model = EVERY[name](a, 2, group_categories=True)
    assert_array_equal(model.support, [0, 1, 2, 3, 8])
    assert model.df == 3 + 1 + 1  # four levels have three degrees of freedom
    assert np.isfinite(model.stderr[model.support]).all()
    design = np.c_[frame.to_numpy()[:, model.support], np.ones(len(y))]
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert_allclose(model.predict(frame), fitted, atol=1e-7)
    kept = EVERY[name](a, 2, group_categories=True, keep=["day"])
    assert_array_equal(kept.support, [0, 1, 2, 3, 4, 5, 6])
    assert_array_equal(EVERY[name](a, 2, group_categories=True, keep=["day=x"]).support, kept.support)


@every
def test_groups_of_one_are_no_groups(name):
    X, y = sample(15)
    a = averages(X, y)
    one = EVERY[name](a, 4, groups=[[j] for j in range(12)])
    assert_allclose(one.coef, EVERY[name](a, 4).coef, atol=1e-7)


@pytest.mark.parametrize("name", ["olasso", "omcp", "olsth", "ofsa", "obestsubset"])
def test_paths_and_cross_validation_count_groups(name):
    frame, y = categories()
    a = averages(frame, y)
    walk = path(a, name, group_categories=True)
    assert walk.best_k() == 2
    assert_array_equal(walk.best().support, [0, 1, 2, 3, 8])
    assert set(walk.support(2)) == {0, 1, 2, 3, 8}
    folds = FoldAverages(4).update(frame, y)
    assert set(cross_validate(folds, name, group_categories=True).best().support) >= {0, 1, 2, 3, 8}


def test_best_subset_of_groups_is_the_best_of_all():
    rng = np.random.default_rng(16)
    X, _ = sample(16, p=14, correlation=0.7)
    groups = [[0, 1, 2], [3, 4], [5, 6, 7], [8, 9], [10, 11], [12], [13]]
    y = X @ rng.normal(size=14) * 0.3 + rng.normal(size=len(X))
    found = extract.obestsubset(averages(X, y), 3, groups=groups)

    def error(chosen):
        design = np.c_[X[:, [j for g in chosen for j in groups[g]]], np.ones(len(X))]
        return np.linalg.lstsq(design, y, rcond=None)[1][0]

    best = min(combinations(range(7), 3), key=error)
    assert_array_equal(found.support, np.sort([j for g in best for j in groups[g]]))


# ---------------------------------------------------------------- paths, cross-validation, estimators


@pytest.mark.parametrize("name", ["olasso", "omcp", "olsth", "ofsa", "obestsubset"])
def test_paths_have_the_kept_features_in_every_model(name):
    X, y = sample(17)
    walk = path(averages(X, y), name, keep=[3, 9])
    assert walk.k[0] == 2
    for k in walk.k:
        assert {3, 9} <= set(walk.support(k))
    smallest = walk.model(2)
    Z = np.c_[X[:, [3, 9]], np.ones(len(X))]
    assert_allclose(smallest.coef[[3, 9]], np.linalg.lstsq(Z, y, rcond=None)[0][:2], rtol=1e-8)
    assert_allclose(walk.rss[0], np.linalg.lstsq(Z, y, rcond=None)[1][0], rtol=1e-8)


@pytest.mark.parametrize("name", ["olasso", "omcp", "olsth", "ofsa"])
def test_paths_are_within_bounds(name):
    X, y = sample(18)
    a = averages(X, y)
    for refit in (True, False) if name in ("olasso", "omcp") else (True,):
        walk = path(a, name, positive=True, refit=refit)
        for k in walk.k:
            model = walk.model(k)
            assert (model.coef >= 0).all()
            assert model.k == k
            assert_allclose(((y - model.predict(X)) ** 2).sum(), walk.rss[list(walk.k).index(k)], rtol=1e-6)


@pytest.mark.parametrize("name", ["olasso", "olsth", "ofsa"])
def test_cross_validation_is_within_bounds_and_keeps(name):
    X, y = sample(19)
    folds = FoldAverages(4).update(X, y)
    model = cross_validate(folds, name, positive=True).best()
    assert (model.coef >= 0).all()
    assert {1, 4} <= set(cross_validate(folds, name, keep=[1, 4]).best().support)


ESTIMATORS = [entry.name for entry in METHODS.values() if entry.family == "averages" and entry.name != "OLS"]


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("k", [3, "auto"])
def test_estimators_take_constraints_and_go_on_from_files(name, k, tmp_path):
    X, y = sample(20)
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    limits = {} if name == "OBestSubset" else {"bounds": {"b": (0, 1)}, "penalty_factor": {"c": 2.0}}
    model = getattr(streamsieve, name + "Regressor")(k, keep=["a", "d"], **limits).fit(frame, y)
    assert set(model.get_feature_names_out()) >= {"a", "d"}
    if limits:
        assert 0 <= model.coef_[1] <= 1
    save(model, tmp_path / "m.sieve")
    for again in (load(tmp_path / "m.sieve"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(again.coef_, model.coef_)
        again.partial_fit(frame, y)
        assert set(again.get_feature_names_out()) >= {"a", "d"}
    labels = getattr(streamsieve, name + "Classifier")(k, keep=["a"]).fit(frame, np.digitize(y, [-1, 1]))
    assert "a" in labels.get_feature_names_out()


def test_constraints_may_change_between_calls():
    X, y = sample(21)
    model = streamsieve.OLassoRegressor(3).fit(X, y)
    model.set_params(positive=True)
    assert (model.coef_ >= 0).all()
    model.set_params(positive=False, keep=[int(np.argmin(np.abs(extract.ols(model.averages_).tvalue)))])
    assert model.get_support()[model.keep].all()


def test_products_have_names_to_keep():
    X, y = sample(22, p=4)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = streamsieve.OLSthRegressor(2, interactions=True, keep=["a b", "c^2"]).fit(frame, y)
    assert set(model.get_feature_names_out()) == {"a b", "c^2"}


def test_rows_as_mappings_name_what_is_kept():
    rng = np.random.default_rng(0)
    model = streamsieve.OLSthRegressor(2, keep=["noise"], group_categories=True)
    for _ in range(200):
        city = "abc"[rng.integers(3)]
        x = {f"city={city}": 1.0, "x": rng.normal(), "noise": rng.normal()}
        model.learn_one(x, 3 * (city == "b") + 0.1 * x["x"])
    assert set(model.get_feature_names_out()) == {"noise", "city=a", "city=b", "city=c"}


# ---------------------------------------------------------------- stated wrongly


@every
def test_more_features_to_keep_than_k(name):
    X, y = sample(23)
    with pytest.raises(ValueError, match="k=2; expected at least 3"):
        EVERY[name](averages(X, y), 2, keep=[0, 1, 2])
    with pytest.raises(ValueError, match="at least 3"):
        EVERY[name](averages(X, y), 0, penalty_factor={0: 0, 1: 0, 2: 0})
    if name in BY_SIZE:
        with pytest.raises(ValueError, match="range 3 to 12"):
            path(averages(X, y), name, keep=[0, 1, 2], ks=[2])


def test_unknown_features_are_named_when_the_first_rows_come():
    X, y = sample(24)
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(12)])
    wrongs = ({"keep": ["colum 3"]}, {"bounds": {"colum 3": (0, 1)}}, {"groups": [["column 1", "colum 3"]]})
    for wrong in wrongs:
        with pytest.raises(ValueError, match=r"'colum 3'.*did you mean 'column 3'"):
            streamsieve.OLassoRegressor(3, **wrong).fit(frame, y)
    with pytest.raises(ValueError, match="numbered 0 to 11"):
        streamsieve.OLassoRegressor(3, keep=[12]).fit(X, y)
    with pytest.raises(ValueError, match="have no names"):
        streamsieve.OLassoRegressor(3, keep=["a"]).fit(X, y)
    with pytest.raises(ValueError, match="features with names"):
        streamsieve.OLassoRegressor(3, group_categories=True).fit(X, y)


@pytest.mark.parametrize(
    "wrong",
    [
        {"bounds": (1, 2)},
        {"bounds": {0: (-2, -1)}},
        {"bounds": {0: (0, np.nan)}},
        {"bounds": [(0, 1)] * 3},
        {"penalty_factor": {0: -1}},
        {"penalty_factor": {0: np.nan}},
        {"penalty_factor": [1.0, 2.0]},
        {"penalty_factor": 2},
        {"groups": [[0, 1], []]},
        {"groups": {"a": []}},
        {"groups": [[0, 1], [1, 2]]},
        {"groups": [[0, 0]]},
        {"groups": [[0, 1]], "penalty_factor": {0: 2.0}},
        {"groups": [[0, 1]], "positive": True},
        {"groups": [[0, 1]], "bounds": (0, 1)},
        {"groups": [[0, 1]], "standardize": False},
        {"keep": [-1]},
        {"keep": [True]},
        {"keep": {0: 1}},
        {"positive": [0.5]},
    ],
    ids=str,
)
def test_wrong_constraints_are_refused_by_name(wrong):
    X, y = sample(25)
    with pytest.raises(ParamError) as error:
        streamsieve.OLassoRegressor(3, **wrong).fit(X, y)
    assert error.value.name in wrong
    with pytest.raises(ParamError):
        extract.olasso(averages(X, y), 3, **wrong)


def test_what_a_method_cannot_do_is_refused_by_name():
    X, y = sample(26)
    for wrong in ({"positive": True}, {"bounds": (0, 1)}, {"penalty_factor": {0: 2}}):
        with pytest.raises(ParamError, match="OBestSubset"):
            streamsieve.OBestSubsetRegressor(3, **wrong).fit(X, y).coef_  # noqa: B018
        with pytest.raises(ParamError, match="OBestSubset"):
            extract.obestsubset(averages(X, y), 3, **wrong)
    for wrong in ({"keep": [0]}, {"groups": [[0, 1]]}):
        with pytest.raises(ParamError, match="OLS uses all features"):
            streamsieve.OLSRegressor(**wrong).fit(X, y)


def test_nothing_is_left_where_everything_is_excluded():
    X, y = sample(27)
    for name, extractor in EVERY.items():
        model = extractor(averages(X, y), 3, penalty_factor=[np.inf] * 12)
        assert model.k == 0, name
        if name != "obestsubset":
            assert extractor(averages(X, y), 3, bounds=(0, 0)).k == 0, name


def test_empty_constraints_are_none():
    X, y = sample(28)
    a = averages(X, y)
    plain = extract.olasso(a, 3)
    assert_array_equal(extract.olasso(a, 3, keep=[], groups={}, bounds={}, positive=[]).coef, plain.coef)
    assert not Constraints(keep=[], groups=[], positive=False).given


def test_restored_weights_are_those_of_all_features():
    X, y = sample(29)
    s = as_standardized(averages(X, y), constraints={"keep": [0, 3], "groups": [[1, 2], [4, 5, 6]]})
    beta = np.linalg.lstsq(s.R, s.r, rcond=None)[0] * s.usable[:, None]
    full = np.linalg.solve(s.origin.R, s.origin.r)
    assert_allclose(restore(s, beta), full, atol=1e-9)


def test_errors_of_free_least_squares_are_refused_beside_bounds_and_groups():
    for errors in ({"se": "folds"}, {"honest": 0.5}, {"stability": 0.7}):
        for wrong in ({"positive": True}, {"groups": [[0, 1]]}):
            with pytest.raises(ParamError, match=f"{next(iter(errors))}.*without {next(iter(wrong))}"):
                streamsieve.OLassoRegressor(3, **errors, **wrong).fit(*sample(30))
    X, y = sample(30)
    with pytest.raises(ParamError, match="loss='logistic'; expected without positive"):
        streamsieve.OLassoClassifier(3, loss="logistic", positive=True).fit(X, y > 0)
    model = streamsieve.OLassoRegressor(4, se="folds", keep=[0, 1]).fit(X, y)
    assert model.get_support()[[0, 1]].all()


@pytest.mark.parametrize("name", ["TSGD", "FTRLProximal"])
def test_learners_that_choose_when_they_are_read_keep_and_group(name, tmp_path):
    frame, y = categories(3000)
    # as many passes: what ends them is the loss of the features that are kept
    plain = getattr(streamsieve, name + "Regressor")(2, max_iter=1, refit=False).fit(frame, y)
    kept = getattr(streamsieve, name + "Regressor")(2, max_iter=1, refit=False, keep=["t"]).fit(frame, y)
    assert "t" in kept.get_feature_names_out()
    assert len(kept.get_feature_names_out()) == 2
    both = plain.get_support() & kept.get_support()
    assert_array_equal(kept.coef_[both], plain.coef_[both])  # the weights are learned alike
    grouped = getattr(streamsieve, name + "Regressor")(2, group_categories=True).fit(frame, y)
    assert set(grouped.get_feature_names_out()) <= {"city=a", "city=b", "city=c", "city=d", "q"}
    assert grouped.get_support().sum() >= 4
    save(kept, tmp_path / "m")
    assert_array_equal(load(tmp_path / "m").coef_, kept.coef_)
    with pytest.raises(ParamError, match="at least 2"):
        getattr(streamsieve, name + "Regressor")(1, keep=["t", "q"]).fit(frame, y).coef_  # noqa: B018
    with pytest.raises(ParamError, match="keep='tt'; expected features"):
        getattr(streamsieve, name + "Regressor")(1, keep=["tt"]).fit(frame, y).coef_  # noqa: B018
    if name == "FTRLProximal":
        with pytest.raises(ParamError, match="expected k"):
            streamsieve.FTRLProximalRegressor(keep=["t"]).fit(frame, y)
