"""The regularised learners against their slow twins, laziness, exact zeros, and the ladder."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import streamsieve
from reference import regularised as twins
from streamsieve.methods.learners.ladder import answering, planned_by_error, planned_moves

pytestmark = pytest.mark.usefixtures("one_pass")

#: name of the learner, options that make a variant, its twin
VARIANTS = [
    ("TruncatedGradient", {}, twins.truncated_gradient),
    ("TruncatedGradient", {"K": 3, "theta": 0.05}, twins.truncated_gradient),
    ("FOBOS", {}, twins.fobos),
    ("FOBOS", {"l1_ratio": 0.3}, twins.fobos),
    ("RDA", {}, twins.rda),
    ("RDA", {"rho": 0.01, "l1_ratio": 0.6}, twins.rda),
    ("AdaFOBOS", {}, functools.partial(twins.adaptive, dual=False)),
    ("L1ARDA", {"delta": 0.5}, functools.partial(twins.adaptive, dual=True)),
    ("SADMM", {"rho": 2.0}, twins.sadmm),
    ("SADMM", {"form": "rda", "rho": 0.5}, twins.sadmm),
]
NAMES = ["TruncatedGradient", "FOBOS", "RDA", "AdaFOBOS", "L1ARDA", "SADMM"]
every = pytest.mark.parametrize("name", NAMES)


def learner(name, kind, *args, **options):
    """Of rows exactly as given, as the slow twins read them."""
    return getattr(streamsieve, name + kind)(*args, **{"standardize": False} | options)


def rows(seed, n=60, p=8, density=0.4):
    rng = np.random.default_rng(seed)
    X = rng.normal(0.3, 1.0, (n, p)) * (rng.random((n, p)) < density)
    return X, X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n), rng.choice([0.5, 1.0, 2.0], n)


@pytest.mark.parametrize(
    ("name", "variant", "twin"), VARIANTS, ids=[f"{n}-{'-'.join(v) or 'plain'}" for n, v, _ in VARIANTS]
)
def test_learner_is_its_twin(name, variant, twin):
    @settings(deadline=None, max_examples=25)
    @given(
        st.integers(0, 9),
        st.sampled_from(["squared", "logistic", "hinge", "squared_hinge"]),
        st.sampled_from([None, 0.02]),
        st.sampled_from(["constant", "sqrt", "doubling"]),
        st.sampled_from([0.0, 0.02, 0.2]),
        st.booleans(),
    )
    def law(seed, loss, eta, schedule, lam, sparse):
        X, target, r = rows(seed)
        options = {"eta": eta or "auto", "schedule": schedule, "alpha": lam, **variant}
        kind, y = ("Regressor", target) if loss == "squared" else ("Classifier", np.where(target > 0, 1, -1))
        if kind == "Classifier":
            options["loss"] = loss
        model = learner(name, kind, **options).fit(sp.csr_array(X) if sparse else X, y, r)
        w, b = twin(X, y, loss, r, eta, schedule, lam, **variant)
        assert_allclose(np.ravel(model.coef_), w, rtol=1e-8, atol=1e-11)
        assert_allclose(np.ravel(model.intercept_), b, rtol=1e-8, atol=1e-11)

    law()


@pytest.mark.parametrize(("name", "variant", "twin"), VARIANTS, ids=lambda v: v if isinstance(v, str) else "")
def test_long_untouched_weights_are_right_when_read(name, variant, twin):
    """One feature is seen at first only; the rows go past every point where totals are put back."""
    rng = np.random.default_rng(0)
    n = 9000 if name == "SADMM" else 3000
    if variant.get("form") == "rda":
        n = 1500  # the twin takes means over all rows
    X = rng.normal(size=(n, 4)) * (rng.random((n, 4)) < 0.5)
    X[20:, 2] = 0
    y = X[:, 0] + 3 * X[:, 2] + 0.1 * rng.normal(size=n)
    for lam in (1e-4, 0.05):
        model = learner(name, "Regressor", eta=0.05, schedule="sqrt", alpha=lam, **variant).fit(
            sp.csr_array(X), y
        )
        w, b = twin(X, y, "squared", np.ones(n), 0.05, "sqrt", lam, **variant)
        assert_allclose(model.coef_, w, rtol=1e-7, atol=1e-10)
        assert_allclose(model.intercept_, b, rtol=1e-7, atol=1e-10)


def test_running_totals_are_put_back_unnoticed():
    X, y, r = rows(1, n=4000)
    for alpha, l1_ratio in ((100.0, 0.01), (3000.0, 1.0)):
        options = {"alpha": alpha, "l1_ratio": l1_ratio}
        model = learner("FOBOS", "Regressor", eta=0.5, schedule="constant", **options).fit(X, y, r)
        w, _ = twins.fobos(X, y, "squared", r, 0.5, "constant", alpha, l1_ratio=l1_ratio)
        assert_allclose(model.coef_, w, rtol=1e-8, atol=1e-12)
        assert model.method_.state.scale[0] > 1e-60
    model = learner("AdaFOBOS", "Regressor", eta=0.5, alpha=30.0).fit(X, y, r)
    w, _ = twins.adaptive(X, y, "squared", r, 0.5, "constant", 30.0, dual=False)
    assert_allclose(model.coef_, w, rtol=1e-8, atol=1e-12)


@every
def test_cuts_do_not_change_the_support(name):
    """scikit-learn's L1 SGD keeps 10 of 200 features of 4,000 rows, and 193 when fed ten at a time."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(1000, 200)) * (rng.random((1000, 200)) < 0.1))
    y = np.where(X @ np.r_[np.ones(5), np.zeros(195)] > 0, 1, -1)
    whole = learner(name, "Classifier", alpha=0.02).fit(X, y)
    parts = learner(name, "Classifier", alpha=0.02)
    for at in range(0, 1000, 10):
        parts.partial_fit(X[at : at + 10], y[at : at + 10], classes=[-1, 1])
    assert_array_equal(parts.coef_, whole.coef_)
    assert 0 < len(whole.get_support(indices=True)) < 150


@every
def test_weights_return_to_exact_zero(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    y = np.where(np.arange(3000) < 200, 2 * X[:, 3], 0) + X[:, 0]
    X[200:, 3] = 0  # once a good feature, then gone
    lam = {"AdaFOBOS": 1.0, "L1ARDA": 0.3}.get(name, 0.1)
    model = learner(name, "Regressor", eta=0.05, schedule="constant", alpha=lam)
    model.partial_fit(X[:200], y[:200])
    assert model.coef_[3] != 0
    model.partial_fit(sp.csr_array(X[200:]), y[200:])
    assert model.coef_[3] == 0
    assert model.coef_[0] != 0


@every
def test_a_rung_is_a_run_at_its_penalty(name):
    X, target, r = rows(0, n=15)  # the ladder first moves after 16
    y = np.digitize(target, [-0.5, 0.5])
    ladder = learner(name, "Classifier", 3, alpha=0.01, n_penalties=7).fit(sp.csr_array(X), y, r)
    assert_allclose(ladder.penalty_, 0.01 * 2.0 ** np.arange(3, -4, -1))
    weights = ladder.method_.columns().reshape(8, 7, 3)
    for rung, lam in enumerate(ladder.penalty_):
        alone = learner(name, "Classifier", alpha=lam).fit(sp.csr_array(X), y, r)
        assert_allclose(weights[:, rung].T, alone.coef_, rtol=1e-10, atol=1e-13)
        assert_allclose(
            ladder.method_.state.bias.reshape(7, 3)[rung], alone.intercept_, rtol=1e-10, atol=1e-13
        )


@every
@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_the_ladder_finds_k(name, kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 100)) * (rng.random((3000, 100)) < 0.2)
    target = X @ np.r_[np.linspace(1, 2, 10), np.zeros(90)]
    y = np.where(target > 0, 1, -1) if kind == "Classifier" else target
    for lam in (1e-7, 1e-3, 10.0):  # wherever it starts
        model = learner(name, kind, 10, alpha=lam)
        options = {"classes": [-1, 1]} if kind == "Classifier" else {}
        for at in range(0, 3000, 100):
            model.partial_fit(sp.csr_array(X[at : at + 100]), y[at : at + 100], **options)
            assert len(model.get_support(indices=True)) <= 10
        found = model.get_support(indices=True)
        assert 6 <= len(found) <= 10, lam
        if name in ("RDA", "L1ARDA"):  # the others' supports are mostly what the last row has touched
            assert np.count_nonzero(found < 10) >= 6, lam


@every
@pytest.mark.parametrize("wide", [False, True], ids=["own copies", "shared state"])
def test_threads_do_not_matter(name, wide):
    X, target, r = rows(3, n=400, p=30)
    y = np.digitize(target, [-0.5, 0.5])
    if wide:  # more features than the rows have values: no thread makes a copy
        spread = np.random.default_rng(0).permutation(20_000)[:30]
        X = sp.csr_array(X) @ sp.csr_array((np.ones(30), (np.arange(30), spread)), shape=(30, 20_000))
    one = learner(name, "Classifier", 4).fit(X, y, r)
    for jobs in (2, 5, -1):
        many = learner(name, "Classifier", 4, n_jobs=jobs).fit(X, y, r)
        assert_array_equal(many.method_.columns(), one.method_.columns())
        assert_array_equal(many.penalty_, one.penalty_)


@pytest.mark.parametrize("lam", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize(("eta", "rho"), [(0.01, 0.1), (0.1, 5.0), (1.0, 1.0)])
@pytest.mark.parametrize("schedule", ["constant", "sqrt"])
def test_rows_skipped_are_made_up_for_as_if_one_by_one(lam, eta, rho, schedule):
    X, target, r = rows(4, n=5000, p=20, density=0.005)  # 200 rows apart; a period has 4,096
    y = np.where(target > 0, 1.0, -1.0)
    options = {"eta": eta, "schedule": schedule, "alpha": lam, "rho": rho}
    model = learner("SADMM", "Classifier", **options).fit(X, y, r)
    coef, _ = twins.sadmm(X, y, "logistic", r, eta, schedule, lam, rho=rho)
    assert_allclose(model.coef_[0], coef, rtol=1e-9, atol=1e-11)


def test_the_answer_is_the_largest_support_of_at_most_k_or_the_next_cut_to_it():
    penalty = np.array([4.0, 3.0, 2.0, 1.0])
    assert answering(penalty, np.array([0, 3, 6, 9]), 6) == 2
    assert answering(penalty, np.array([6, 6, 6, 9]), 6) == 2  # of equals the smallest penalty
    assert answering(penalty, np.array([0, 4, 9, 8]), 6) == 3  # supports leap from 4 to 8
    assert answering(penalty, np.array([7, 8, 9, 9]), 6) == 0  # all are larger: the highest penalty
    assert answering(penalty, np.array([0, 1, 2, 4]), 6) == 3  # none is
    X, target, _ = rows(5, n=200, p=30)
    assert np.count_nonzero(learner("RDA", "Regressor", 6).fit(X, target).coef_) == 6


def test_a_ladder_by_error_goes_on_beyond_its_best_end():
    penalty = np.array([1.0, 4.0, 2.0])
    assert planned_by_error(penalty, 2, 1.0) == []
    assert planned_by_error(penalty, 0, 1.0) == [(1, 0, 0.5)]
    assert planned_by_error(penalty, 1, 1.0) == [(0, 1, 8.0)]


@pytest.mark.parametrize("name", ["FOBOS", "AdaFOBOS", "TruncatedGradient"])
def test_proximal_steps_by_k_find_the_true_features(name):
    """The smallest supports of these are what the last row has touched; the k largest weights are not."""
    X, target, _ = rows(8, n=2000, p=60, density=1.0)
    target = X[:, :6] @ np.array([1.0, -1.0, 2.0, -2.0, 1.0, 1.5])
    model = learner(name, "Regressor", 6).fit(X, target)
    assert_array_equal(model.get_support(indices=True), np.arange(6))


@pytest.mark.parametrize("lam", [1e-9, 1e9])
def test_two_rungs_move_too(lam):
    X, target, _ = rows(7, n=300, p=30)
    model = learner("RDA", "Regressor", 6, n_penalties=2, alpha=lam).fit(X, target)
    assert (model.penalty_ > 2 * lam).any() if lam < 1 else (model.penalty_ < lam / 2).any()


def test_a_thousand_penalties_stay_within_reach_of_alpha():
    X, target, _ = rows(7, n=40, p=6)
    model = learner("RDA", "Regressor", 2, n_penalties=1000, alpha=0.5).partial_fit(X[:1], target[:1])
    assert len(model.penalty_) == 1000
    assert model.penalty_.max() / 0.5 == pytest.approx(1e9)
    assert model.penalty_.min() / 0.5 == pytest.approx(1e-9)


def test_a_ladder_far_too_low_still_keeps_the_budget():
    X, target, _ = rows(5, n=10, p=30, density=1.0)
    model = learner("FOBOS", "Regressor", 4, alpha=1e-30).fit(X, target)
    assert len(model.get_support(indices=True)) == 4


def test_reading_leaves_the_state_alone():
    X, target, _ = rows(2, n=300)
    for name in NAMES:
        model = learner(name, "Regressor", 3).fit(sp.csr_array(X), target)
        before = model.method_.state.copy()
        model.coef_, model.predict(X)
        assert not list(model.method_.state.differences(before))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("FOBOS", {"l1_ratio": 0.0}),
        ("RDA", {"rho": -1.0}),
        ("RDA", {"l1_ratio": 1.5}),
        ("L1ARDA", {"delta": 0.0}),
        ("AdaFOBOS", {"delta": "small"}),
        ("TruncatedGradient", {"K": 0}),
        ("TruncatedGradient", {"theta": 0.0}),
        ("SADMM", {"form": "dual"}),
        ("SADMM", {"rho": 0.0}),
        ("FOBOS", {"n_penalties": 1}),
        ("FOBOS", {"n_penalties": 1001}),
        ("FOBOS", {"n_jobs": 0}),
        ("FOBOS", {"k": 3, "alpha": 0.0}),
    ],
)
def test_parameters_outside_their_domain_are_refused(name, wrong):
    X, target, _ = rows(0)
    with pytest.raises(ValueError, match=rf"{list(wrong)[-1]}="):
        learner(name, "Regressor", **wrong).fit(X, target)


# ---------------------------------------------------------------- calls that fail, and state from files


def wide_stream(n, p=2000, seed=0):
    """Sparse rows over forty features, after ten of them over ten only; the last step overflows."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, p))
    for i in range(n):
        X[i, rng.choice(40 if i < 10 else 10, 12 if i < 10 else 3, replace=False)] = rng.normal()
    X[-1, :3] = 1e70
    y, r = X.sum(axis=1), np.ones(n)
    y[-1], r[-1] = 1e70, 1e70
    return sp.csr_array(X), y, r


def assert_undone(model, X, y, r):
    before = model.method_.state.copy()
    with pytest.raises(ValueError, match=r"overflow at row .*eta=0.01"):
        model.partial_fit(X, y, r)
    assert not list(model.method_.state.differences(before))


@every
def test_a_call_that_fails_after_the_penalties_moved_is_undone(name):
    X, y, r = wide_stream(30)
    model = learner(name, "Regressor", 5, eta=0.01).fit(X[:10], y[:10])
    moved = learner(name, "Regressor", 5, eta=0.01).fit(X[:29], y[:29]).penalty_
    assert not np.array_equal(moved, model.penalty_)
    assert_undone(model, X[10:], y[10:], r[10:])


def test_a_call_that_fails_after_all_weights_were_stored_anew_is_undone():
    X, y, r = wide_stream(30)
    for name in ("FOBOS", "AdaFOBOS"):
        model = learner(name, "Regressor", alpha=0.01, eta=0.01, schedule="constant").fit(X[:10], y[:10])
        state = model.method_.state
        state.weight += np.copysign(1024.0, state.weight)
        state.spent += 1024.0  # as far as it may go
        assert_undone(model, X[10:], y[10:], r[10:])
    X, y, r = wide_stream(4100)
    model = learner("SADMM", "Regressor", eta=0.01).fit(X[:4090], y[:4090])
    assert_undone(model, X[4090:], y[4090:], r[4090:])


@pytest.mark.parametrize(("name", "variant", "twin"), VARIANTS, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("k", [None, 3])
def test_the_state_of_a_stream_is_accepted(name, variant, twin, k):  # noqa: ARG001
    X, target, r = rows(0, n=4200)
    S = sp.csr_array(X)
    model = learner(name, "Regressor", k, grow=True, **variant)
    for a, b, width in ((0, 5, 4), (5, 16, 6), (16, 4095, 8), (4095, 4200, 8)):
        model.partial_fit(S[a:b, :width], target[a:b], r[a:b])
        method = model.method_
        method.check_state()
        method.state.verify(method.start(method.p, method.q))


def set_field(path, value):
    """A change of one number of the state, in place."""
    *where, last = path.split(".")

    def change(state):
        for part in where:
            state = getattr(state, part) if not isinstance(state, np.ndarray) else state[part]
        if isinstance(state, np.ndarray):
            state[last] = value
        elif isinstance(getattr(state, last), np.ndarray):
            getattr(state, last)[...] = value
        else:
            setattr(state, last, value)

    return change


COUNTERS = [
    ("ladder.next_move", 0),
    ("ladder.next_move", 30),
    ("ladder.next_move", -(10**18)),
    ("ladder.penalty", 0.0),
    ("ladder.penalty", np.nan),
    ("clock.rows", 29.5),
    ("clock.rows", -1e18),
    ("clock.rows", np.inf),
    ("clock.rows", 1e17),
    ("clock.weight", np.nan),
    ("clock.horizon", 0.0),
    ("bias", np.inf),
]
OWN = [
    ("FOBOS", {}, "scale", 0.0),
    ("FOBOS", {}, "spent", -1.0),
    ("FOBOS", {}, "weight", np.nan),
    ("RDA", {}, "last.step", -1.0),
    ("L1ARDA", {}, "root", -1.0),
    ("AdaFOBOS", {}, "targets.squares", -1.0),
    ("TruncatedGradient", {}, "gravity.pull", np.nan),
    ("TruncatedGradient", {}, "ladder.next_move", 41),
    ("TruncatedGradient", {}, "then", np.zeros((8, 20))),
    ("TruncatedGradient", {"theta": 1.0}, "then", None),
    ("SADMM", {}, "then", -1e18),
    ("SADMM", {}, "then", 29.5),
    ("SADMM", {}, "then", 1e18),
    ("SADMM", {}, "sum", np.zeros((8, 20))),
    ("SADMM", {"form": "rda"}, "dual", None),
    ("SADMM", {"form": "rda"}, "then", -1e18),
]


@pytest.mark.parametrize(("name", "variant", "path", "value"), [("FOBOS", {}, *c) for c in COUNTERS] + OWN)
def test_counters_that_no_stream_leads_to_are_refused(name, variant, path, value):
    """A loop or a kernel would follow them: for ever, beyond its arrays, or to weights not finite."""
    X, target, _ = rows(0, n=30)
    method = learner(name, "Regressor", 3, **variant).fit(sp.csr_array(X), target).method_
    method.check_state()
    if value is None:
        setattr(method.state, path, None)
    else:
        set_field(path, value)(method.state)
    with pytest.raises(ValueError, match=r"\w+"):
        method.check_state()


def test_threads_may_change_in_mid_stream_and_penalties_not():
    X, target, _ = rows(0, n=60)
    model = learner("RDA", "Regressor", 3).fit(X[:30], target[:30]).set_params(n_jobs=2)
    model.partial_fit(X[30:], target[30:])
    assert_array_equal(model.coef_, learner("RDA", "Regressor", 3).fit(X, target).coef_)
    with pytest.raises(ValueError, match=r"alpha was 0.001 .* call fit"):
        model.set_params(alpha=0.1).partial_fit(X, target)


@pytest.mark.parametrize(("size", "sign"), [(0, -1), (100, 1)])
def test_a_ladder_that_has_closed_in_gets_wide_again(size, sign):
    """Supports that all became too small, or too large, leave penalties within 1 % that must get far."""
    penalty, first = 1.0 + 0.0005 * np.arange(20.0), 1.0
    for _ in range(3):
        for move in planned_moves(penalty, np.full(20, size), k=10, alpha=1.0):
            penalty[move.rung] = move.penalty
    reached = penalty.min() if sign < 0 else penalty.max()
    assert (reached / first) ** sign > 8
