"""The penalised extractors: optimality, agreement with the papers' iteration, and the walk to k."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, lasso_path

from reference.proximal import mcp, proximal, scad, soft
from streamsieve import OAdaptiveLassoRegressor, _core
from streamsieve.methods.averages.oadaptivelasso import OAdaptiveLasso, oadaptivelasso
from streamsieve.methods.averages.oelasticnet import OElasticNet, oelasticnet
from streamsieve.methods.averages.olasso import OLasso, olasso
from streamsieve.methods.averages.omcp import OMCP, omcp
from streamsieve.methods.averages.oscad import OSCAD, oscad
from streamsieve.statistics.least_squares import ols_weights
from streamsieve.statistics.linear_model import strongest, unexplained
from streamsieve.statistics.newton import Factor, Solver
from streamsieve.statistics.penalties import L1L2, MCP, SCAD
from streamsieve.statistics.standardize import Standardized

EXTRACTORS = {
    "lasso": olasso,
    "elasticnet": oelasticnet,
    "adaptivelasso": oadaptivelasso,
    "mcp": omcp,
    "scad": oscad,
}
METHODS = {
    "lasso": OLasso,
    "elasticnet": OElasticNet,
    "adaptivelasso": OAdaptiveLasso,
    "mcp": OMCP,
    "scad": OSCAD,
}
PENALTIES = {
    "lasso": L1L2(),
    "elasticnet": L1L2(0.4),
    "weighted": L1L2(1.0, np.array([0.3, 1.0, 2.0, np.inf])),
    "mcp": MCP(3.0),
    "mcp, near the hard threshold": MCP(1.01),
    "scad": SCAD(3.7),
}


def standardized(X, Y, scale=True):
    Y = Y.reshape(len(X), -1)
    x, y = X - X.mean(0), Y - Y.mean(0)
    deviation, y_scale = x.std(0), y.std(0)
    usable = deviation > 1e-12
    x_scale = np.where(usable, deviation if scale else 1.0, 0.0)
    x = np.where(usable, x / np.where(usable, x_scale, 1), 0.0)
    y = y / np.where(y_scale > 0, y_scale, 1)
    R = x.T @ x / len(X)
    R = (R + R.T) / 2
    R[~usable, ~usable] = 1.0
    return Standardized(R, x.T @ y / len(X), usable, X.mean(0), x_scale, Y.mean(0), y_scale, float(len(X)))


def correlated(n, p, k, signal):
    """The design of [Sun] 4.1: every (p / k)-th feature is real."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
    return standardized(X, signal * X[:, :: p // k].sum(1) + rng.standard_normal(n))


def sample(seed, n, p, q=1, correlation=0.5, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + np.sqrt(correlation / (1 - correlation)) * rng.standard_normal((n, 1))
    B = rng.standard_normal((p, q)) * (rng.random((p, q)) < 0.3)
    return X, X @ B + noise * rng.standard_normal((n, q))


@st.composite
def averages(draw):
    """Averages of few or many rows, some with duplicate, constant or nearly dependent columns."""
    n, p = draw(st.integers(3, 40)), draw(st.integers(1, 25))
    X, Y = sample(draw(st.integers(0, 10**6)), n, p, 1, draw(st.sampled_from([0.0, 0.5, 0.95])))
    for kind in draw(st.lists(st.sampled_from(["duplicate", "opposite", "constant", "close"]), max_size=3)):
        i, j = draw(st.integers(0, p - 1)), draw(st.integers(0, p - 1))
        if kind == "constant":
            X[:, i] = 3.0
        elif i != j:
            X[:, i] = X[:, j] * (-1 if kind == "opposite" else 1)
            if kind == "close":
                X[:, i] += 1e-5 * np.random.default_rng(i).standard_normal(n)
    if draw(st.booleans()):
        return standardized(X, Y)
    return standardized(X * np.geomspace(0.1, 10, p), Y, scale=False)


def derivative(penalty, b, lam):
    """P'(b) by differences, for b > 0."""
    h = 1e-6 * lam
    return (penalty.value(b + h, lam) - penalty.value(b - h, lam)) / (2 * h)


def slope(name, size, lam, weights=1.0):
    """P'(|b|), from the definitions in the extractors' notes."""
    return {
        "lasso": lambda: np.full(size.shape, lam),
        "elasticnet": lambda: lam * (0.999 + 0.001 * size),
        "adaptivelasso": lambda: lam * weights,
        "mcp": lambda: np.maximum(lam - size / 3.0, 0),
        "scad": lambda: np.where(size <= lam, lam, np.maximum(3.7 * lam - size, 0) / 2.7),
    }[name]()


def violation(name, s, b, lam, weights):
    """Distance of zero from the subdifferential of the documented objective, in standardised units."""
    unit = s.y_scale[0]
    g, p = s.r[:, 0] - s.R @ b, slope(name, np.abs(b) * unit, lam * unit, weights) / unit
    out = np.where(b == 0, np.maximum(np.abs(g) - p, 0), np.abs(g * np.where(b < 0, -1, 1) - p))
    return (out / np.sqrt(s.R.diagonal()))[s.usable].max(initial=0.0)


@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
@settings(deadline=None)
@given(st.floats(-4, 4, allow_subnormal=False), st.floats(0.05, 3), st.floats(0.01, 2, allow_subnormal=False))
def test_prox_is_the_minimum_on_a_grid(penalty, z, d, lam):
    p = 4
    x = penalty.prox(np.full(p, z), np.full(p, d), lam)
    reach = abs(z) / d + 1
    for j in range(p):
        at = np.full(4001, j)
        grid = np.linspace(-reach, reach, 4001)
        grid[2000] = 0.0

        def f(v, at=at):
            return d * v**2 / 2 - z * v + penalty.value(v, lam, at[: len(v)])

        assert f(x[[j]])[0] <= f(grid).min() + 1e-12 * (1 + abs(z) * reach)


@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
@settings(deadline=None)
@given(st.floats(-4, 4), st.floats(0.05, 3), st.floats(0.01, 2))
def test_kernels_have_the_same_prox(penalty, z, d, lam):
    """One coordinate of a diagonal problem is one prox."""
    R, b, g = d * np.eye(4), np.zeros(4), np.full(4, z)
    penalty.descend(R, np.arange(4), lam, 1, 0.0, g, b)
    assert_allclose(b, penalty.prox(np.full(4, z), np.full(4, d), lam), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("penalty", [L1L2(), L1L2(0.4), MCP(3.0), SCAD(3.7)])
@settings(deadline=None)
@given(st.floats(0.01, 2), st.lists(st.floats(-9, 9), min_size=1, max_size=9))
def test_pieces_are_the_derivative(penalty, lam, values):
    b, kinks = np.array(values), lam * np.array([0, 1, 3.0, 3.7])
    b = b[(np.abs(np.abs(b)[:, None] - kinks) > 1e-4).all(axis=1)]
    a, c = penalty.pieces(b, lam)
    assert_allclose(a + c * b, np.sign(b) * derivative(penalty, np.abs(b), lam), atol=1e-6)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 14), min_size=1, max_size=8))
def test_factor_follows_a_changing_set(seed, sizes):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((40, 14))
    R = A.T @ A / 40
    factor = Factor(R)
    for size in sizes:
        want = np.sort(rng.choice(14, size, replace=False))
        c = rng.choice([0.0, 0.5], size)
        assert factor.follow(want, c)
        order = np.argsort(factor.at)
        assert_array_equal(factor.at[order], want)
        x = rng.standard_normal(size)
        expected = np.linalg.solve(R[np.ix_(factor.at, factor.at)] + np.diag(factor.c), x)
        assert_array_equal(factor.c[order], c)
        assert_allclose(factor.solve(x.copy()), expected, atol=1e-10)


def test_factor_leaves_out_what_the_others_explain():
    A = np.random.default_rng(0).standard_normal((30, 5))
    A = np.c_[A, A[:, 0], A[:, 1] + A[:, 2], A[:, 3]]
    factor = Factor(A.T @ A)
    assert factor.follow(np.arange(8), np.zeros(8))
    assert_array_equal(factor.at, np.arange(5))
    assert not Factor(np.eye(3)).follow(np.arange(3), np.full(3, -2.0))


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=100, deadline=None)
@given(s=averages(), share=st.floats(0.001, 1.1))
def test_solutions_are_optimal(name, s, share):
    penalties, _ = METHODS[name]().penalties(s)
    solver = Solver(s.R, s.r[:, 0], s.usable, penalties[0])
    start = solver.alpha_max()
    assume(start > 1e-6)
    weights = getattr(penalties[0], "weights", None)
    for lam in itertools.takewhile(lambda lam: lam >= share * start, np.geomspace(1.05, 1e-3, 40) * start):
        before = solver.objective(lam)
        left = solver.solve(lam)
        # nearly equal columns that a folded concave penalty leaves free may share weights of 1e5
        rounding = 1e-12 * np.abs(solver.b).max()
        assert left <= 1e-9 + rounding
        assert violation(name, s, solver.b, lam, weights) <= 1e-8 + rounding
        # never uphill; nearly equal columns may share huge weights, whose squares are rounded
        assert solver.objective(lam) <= before + 1e-13 + 1e-14 * (solver.b @ solver.b)
        assert not solver.b[~s.usable].any()
        if lam > start:
            assert not solver.b.any()


@pytest.mark.parametrize(
    ("name", "theta", "constants"),
    [
        ("lasso", soft, {}),
        ("elasticnet", soft, {"l1_ratio": 0.999}),
        ("mcp", mcp, {"b": 3.0}),
        ("scad", scad, {"a": 3.7}),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_papers_iteration(name, theta, constants, seed):
    """From our solution the slow iteration does not move; for convex penalties it comes there by itself."""
    s = standardized(*sample(seed, 200, 15))
    unit = s.y_scale[0]  # the objective is in units of the target
    alphas, betas = METHODS[name]().solutions(s, n_alphas=6, eps=0.01)
    for alpha, beta in zip(alphas * unit, betas):
        b = beta.toarray()[:, 0] * unit
        assert_allclose(proximal(s.R, s.r[:, 0] * unit, theta, alpha, b, 50, **constants), b, atol=1e-9)
        if name in ("lasso", "elasticnet"):
            assert_allclose(proximal(s.R, s.r[:, 0] * unit, theta, alpha, **constants), b, atol=1e-9)


def test_adaptive_lasso_is_a_lasso_on_rescaled_averages():
    """[Slides] Algorithm 3, lines 2 and 3."""
    s = standardized(*sample(3, 100, 12))
    unit = s.y_scale[0]
    w = np.abs(ols_weights(s)[0][:, 0]) * unit
    alphas, betas = OAdaptiveLasso().solutions(s, n_alphas=8)
    for alpha, beta in zip(alphas * unit, betas):
        theirs = proximal(s.R * np.outer(w, w), s.r[:, 0] * unit * w, soft, alpha)
        assert_allclose(w * theirs, beta.toarray()[:, 0] * unit, atol=1e-8)


@pytest.mark.parametrize("n", [30, 300])
def test_no_worse_than_scikit_learn_at_every_lambda(n):
    X, y = sample(1, n, 60)
    s = standardized(X, y)
    x = (X - X.mean(0)) / X.std(0)
    t = (y[:, 0] - y.mean()) / y.std()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alphas, coefs, _ = lasso_path(x, t, precompute=x.T @ x, Xy=x.T @ t)
    lams, betas = OLasso().solutions(s, alphas=alphas)
    assert_array_equal(lams, alphas)

    def objective(b, lam):
        return b @ s.R @ b / 2 - b @ s.r[:, 0] + lam * np.abs(b).sum()

    for lam, beta, theirs in zip(lams, betas, coefs.T):
        assert objective(beta.toarray()[:, 0], lam) <= objective(theirs, lam) + 1e-13


@pytest.mark.parametrize("name", EXTRACTORS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(0, 20), n=st.sampled_from([15, 60]))
def test_k_bounds_the_support(name, seed, k, n):
    s = standardized(*sample(seed, n, 20))
    model = EXTRACTORS[name](s, k)
    assert model.k <= k
    assert_array_equal(model.support, np.flatnonzero(model.coef))
    again = EXTRACTORS[name](s, k)
    assert_array_equal(model.coef, again.coef)


@pytest.mark.parametrize("name", ["lasso", "elasticnet", "adaptivelasso"])
@pytest.mark.parametrize("seed", range(3))
def test_k_is_the_largest_support_on_a_fine_grid(name, seed):
    s = standardized(*sample(seed, 80, 20))
    _, betas = METHODS[name]().solutions(s, n_alphas=2000, eps=1e-3)
    sizes = [beta.nnz for beta in betas]
    for k in range(1, 15):
        within = list(itertools.takewhile(lambda size: size <= k, sizes))  # noqa: B023
        assert EXTRACTORS[name](s, k).k >= max(within)


@pytest.mark.parametrize("rows", [150, 300, 600])
@pytest.mark.parametrize("name", ["mcp", "scad"])
def test_solutions_of_folded_penalties_are_minima_over_their_supports(name, rows):
    s = correlated(rows, 300, 30, 0.1)
    penalty = METHODS[name]().penalties(s)[0][0]
    solver = Solver(s.R, s.r[:, 0], s.usable, penalty)
    start, hard = solver.alpha_max(), 0
    for alpha in np.geomspace(0.95 * start, start / 500, 60):
        solver.solve(alpha)
        hard += solver.hard
        at = np.flatnonzero(solver.b)
        curvature = s.R[np.ix_(at, at)] + np.diag(penalty.pieces(solver.b[at], alpha, at)[1])
        assert np.linalg.eigvalsh(curvature)[0] > -1e-9
    assert hard > 0


@pytest.mark.parametrize("rows", [150, 300, 600])
@pytest.mark.parametrize("name", ["mcp", "scad"])
def test_k_of_folded_penalties_fits_as_well_as_any_point_of_the_path(name, rows):
    s, k = correlated(rows, 300, 30, 0.3), 30
    support = EXTRACTORS[name](s, k).support
    assert len(support) == k
    _, betas = METHODS[name]().solutions(s, n_alphas=60, eps=5e-3)
    fits = [unexplained(s, strongest(s, beta.toarray(), k)) for beta in betas if beta.nnz >= k]
    assert unexplained(s, support) <= 1.1 * min(fits)  # the two walk other grids to other local minima
    lasso = olasso(s, k).support
    true = np.arange(0, 300, 10)
    assert len(np.intersect1d(support, true)) >= 5 + len(np.intersect1d(lasso, true))


@pytest.mark.parametrize("name", ["mcp", "scad"])
def test_k_of_folded_penalties_has_all_weak_features_that_many_rows_show(name):
    s = correlated(60_000, 100, 10, 0.03)
    assert_array_equal(EXTRACTORS[name](s, 10).support, np.arange(0, 100, 10))


@pytest.mark.parametrize("name", EXTRACTORS)
def test_two_targets_are_each_alone(name):
    X, Y = sample(5, 120, 15, q=2)
    both, first, second = standardized(X, Y), standardized(X, Y[:, :1]), standardized(X, Y[:, 1:])
    lams = np.geomspace(0.5, 0.01, 10)
    if name == "adaptivelasso":
        lams = lams / 10
    _, betas = METHODS[name]().solutions(both, alphas=lams)
    for t, alone in enumerate((first, second)):
        for beta, one in zip(betas, METHODS[name]().solutions(alone, alphas=lams)[1]):
            assert_allclose(beta.toarray()[:, t], one.toarray()[:, 0], atol=1e-10)
    model = EXTRACTORS[name](both, 6)
    assert len(model.support) <= 6
    assert_array_equal(model.support, np.flatnonzero(model.coef.any(axis=0)))


@pytest.mark.parametrize("name", EXTRACTORS)
def test_duplicate_and_constant_columns(name):
    X, y = sample(2, 100, 8, noise=0.1)
    y = X[:, [1]] * 2 - X[:, [4]] + 0.1 * y
    whole = standardized(np.c_[X, X[:, 1], np.ones(100), -X[:, 4]], y)
    model = EXTRACTORS[name](whole, 2)
    assert model.k <= 2
    assert 9 not in model.support
    assert {j % 8 if j == 8 else {10: 4}.get(j, j) for j in model.support.tolist()} <= {0, 1, 4}
    assert np.isfinite(model.coef).all()


@pytest.mark.parametrize("name", EXTRACTORS)
@pytest.mark.parametrize("unit", [0.2, 1.0, 30.0])
def test_alpha_is_that_of_the_documented_objective(name, unit):
    X, y = sample(7, 100, 10)
    y = unit * y
    x = (X - X.mean(axis=0)) / X.std(axis=0)
    S_xx, S_xy = x.T @ x / 100, x.T @ (y[:, 0] - y.mean()) / 100
    weights = 1 / np.abs(np.linalg.solve(S_xx, S_xy))
    alpha = 0.1 * unit * (unit if name == "adaptivelasso" else 1.0)
    model = EXTRACTORS[name](standardized(X, y), alpha=alpha, refit=False)
    b = model.coef * X.std(axis=0)
    assert model.alpha == alpha
    assert 0 < model.k < 10
    g, p = S_xy - S_xx @ b, slope(name, np.abs(b), alpha, weights)
    assert_allclose((g * np.sign(b) - p)[b != 0], 0, atol=1e-9 * unit)
    assert (np.abs(g) - p)[b == 0].max() <= 1e-9 * unit


def test_the_elastic_net_is_that_of_scikit_learn():
    X, y = sample(7, 100, 10)
    x = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = ElasticNet(0.7, l1_ratio=0.3, tol=1e-12).fit(x, 5 * y[:, 0])
    ours = oelasticnet(standardized(X, 5 * y), alpha=0.7, l1_ratio=0.3, refit=False)
    assert_allclose(ours.coef * X.std(axis=0), theirs.coef_, atol=1e-8)


@pytest.mark.parametrize("name", EXTRACTORS)
def test_no_penalty_is_least_squares(name):
    X, y = sample(8, 100, 10)
    s = standardized(X, y)
    model = EXTRACTORS[name](s, alpha=0.0, refit=False)
    assert_allclose(s.R @ (model.coef * s.x_scale / s.y_scale), s.r[:, 0], atol=1e-9)


def test_weights_of_the_adaptive_lasso_that_underflow_still_penalise():
    X, _ = sample(3, 60, 4)
    y = 1e74 * (X[:, [1]] - 2 * X[:, [2]])
    s = standardized(X, y)
    for k, expected in ((0, []), (1, [2]), (2, [1, 2])):
        assert oadaptivelasso(s, k, gamma=1e6).support.tolist() == expected
    alphas, betas = OAdaptiveLasso(gamma=1e6).solutions(s)
    assert betas[0].nnz == 0
    assert np.isfinite(alphas).all()
    row = OAdaptiveLassoRegressor("auto", gamma=1e6, fit_intercept=False).fit([[9e74, 9e74]], [1e74])
    assert_array_equal(row.coef_, 0.0)


@pytest.mark.parametrize("name", EXTRACTORS)
def test_a_constant_target_has_no_features(name):
    X, y = sample(9, 50, 6)
    s = standardized(X, np.c_[y, np.full(50, 2.0)])
    for model in (EXTRACTORS[name](s, 3), EXTRACTORS[name](s, alpha=0.01)):
        assert model.k > 0
        assert_array_equal(model.coef[1], 0.0)
        assert_allclose(model.intercept[1], 2.0)
    assert EXTRACTORS[name](standardized(X, np.ones((50, 1))), 3).k == 0


@pytest.mark.parametrize("name", EXTRACTORS)
def test_refuses_what_it_cannot_do(name):
    s, function = standardized(*sample(0, 30, 5)), EXTRACTORS[name]
    for arguments in ({}, {"k": 2, "alpha": 0.1}):
        with pytest.raises(ValueError, match="either k or alpha"):
            function(s, **arguments)
    with pytest.raises(ValueError, match="k=6 is out of range for 5 features"):
        function(s, 6)
    with pytest.raises(ValueError, match="alpha=-1"):
        function(s, alpha=-1)
    assert function(s, 0).k == 0
    bad = {"elasticnet": {"l1_ratio": 0.0}, "adaptivelasso": {"gamma": 0}, "mcp": {"gamma": 0}}.get(
        name, {"gamma": 2}
    )
    if name != "lasso":
        with pytest.raises(ValueError, match=f"{next(iter(bad))}=.*expected float"):
            function(s, 2, **bad)
    with pytest.raises(ValueError, match=r"expected one of .*k, alpha,"):
        function(s, 2, delta=1.0)


def test_says_when_it_does_not_converge(monkeypatch):
    from streamsieve.statistics import newton as _newton

    monkeypatch.setattr(_newton, "STEPS", 0)
    monkeypatch.setattr(_newton, "ROUNDS", 1)
    monkeypatch.setattr(_newton, "SWEEPS", 1)
    s = standardized(*sample(0, 50, 10))
    with pytest.warns(ConvergenceWarning, match=r"alpha=.*violated by"):
        OLasso().solutions(s, n_alphas=3)


def test_kernels_refuse_arrays_they_would_copy():
    R, b = np.eye(3), np.zeros(3)
    with pytest.raises(TypeError):
        _core.descend_mcp(R, np.arange(3), 1.0, 3.0, 1, 0.0, b, b.astype(np.float32))


@pytest.mark.parametrize("gamma", [0.3, 1.0])
def test_mcp_of_constant_one_or_less_is_a_hard_threshold(gamma):
    """[Sun] eq. (3.10) with b <= 1 / eta: weights are zero or not shrunk."""
    s = standardized(*sample(0, 200, 8))
    alpha = 0.3
    model = omcp(s, alpha=alpha * s.y_scale[0], gamma=gamma, refit=False)
    beta = model.coef * s.x_scale / s.y_scale
    gradient, kept = s.r[:, 0] - s.R @ beta, beta != 0
    assert 0 < kept.sum() < 8
    assert_allclose(gradient[kept], 0, atol=1e-8)
    assert np.abs(gradient[~kept]).max() <= alpha * np.sqrt(gamma) <= np.abs(beta[kept]).min()
