"""SFSA: its slow twin, the ladder, restarts, the refit, and work that does not follow p."""

import copy
import pathlib
import pickle
import re
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference import sfsa as twin
from streamsieve import SFSAClassifier, SFSARegressor, simulate
from streamsieve.learners._rung import CLOCK

LOSSES = ("squared", "logistic", "hinge", "squared_hinge")
VARIANTS = ("plain", "momentum", "nesterov", "adam")


def rows(n=400, p=60, classes=0, density=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < density) * np.exp(rng.normal(size=p))
    X[:, 5] += 3.0  # far from zero: the intercept and the variance are at work
    target = X[:, 7] - 2 * X[:, 21] + 0.3 * rng.normal(size=n)
    if classes:
        return X, np.digitize(target, np.quantile(target, np.arange(1, classes) / classes))
    return X, target


def normal(rng, shape):
    return rng.normal(size=shape)


def counts(rng, shape):
    """A mean far from 0: the variance of a feature grows with rows that do not have it."""
    return 1.0 + rng.poisson(1.0, size=shape)


def outputs(y, classes):
    if not classes:
        return y[:, None]
    return (
        np.where(y[:, None] == np.arange(classes), 1.0, -1.0)
        if classes > 2
        else np.where(y == 1, 1.0, -1.0)[:, None]
    )


def assert_equals_twin(X, y, classes=0, layout=np.asarray, r=None, **options):
    defaults = dict(
        k=4, T=12, mu=1.0, delay=0.25, batch_size=25, variant="plain", lam=0.0, schedule="constant"
    )
    defaults |= {"standardize": True, "eta": "auto", "loss": "logistic" if classes else "squared"}
    o = defaults | options
    kind = SFSAClassifier if classes else SFSARegressor
    named = {name: o[name] for name in o if name != "loss" or classes}
    model = kind(ladder=False, **named)
    model.fit(layout(X), y, sample_weight=r)
    n = len(y) // o["batch_size"] * o["batch_size"]
    r = np.ones(len(y)) if r is None else r
    w, bias, alive = twin.sfsa(
        X[:n],
        outputs(y, classes)[:n],
        r[:n],
        **{
            name: o[name]
            for name in ("k", "T", "mu", "delay", "variant", "lam", "schedule", "standardize", "loss")
        },
        batch=o["batch_size"],
        eta=0 if o["eta"] == "auto" else o["eta"],
    )
    assert np.count_nonzero(w.any(axis=1)) > 0
    assert_allclose(np.atleast_2d(model.coef_), w.T, rtol=1e-8, atol=1e-12)
    assert_allclose(np.atleast_1d(model.intercept_), bias, rtol=1e-8, atol=1e-12)
    rung = model.answer_ or model.growing_
    here = (rung.slot > 0) | ((rung.slot == 0) & (np.arange(len(rung.slot)) < rung["limit"]))
    assert_array_equal(here, alive)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_equals_the_slow_twin(layout, variant, loss):
    X, y = rows(classes=2)
    assert_equals_twin(X, y, 2, layout, variant=variant, loss=loss)
    assert_equals_twin(
        X, y, 2, layout, variant=variant, loss=loss, standardize=False, T=30, mu=10.0, lam=0.01
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_the_slow_twin_in_regression_with_weights_and_schedules(variant):
    X, y = rows()
    r = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(y))
    for schedule in ("constant", "sqrt", "doubling"):
        assert_equals_twin(X, y, r=r, variant=variant, schedule=schedule, delay=0.0, T=20)
    assert_equals_twin(X, y, variant=variant, eta=0.01, lam=0.1)
    assert_equals_twin(X, y, variant=variant, batch_size=1, T=300)
    assert_equals_twin(X, y, variant=variant, batch_size=64, T=3)


def test_equals_the_slow_twin_with_several_classes():
    X, y = rows(classes=3)
    for variant in VARIANTS:
        assert_equals_twin(X, y, 3, sp.csr_array, variant=variant)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10_000),
    st.integers(300, 1500),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.sampled_from([0.0, 3.0, 30.0]),
    st.sampled_from(LOSSES),
    st.sampled_from([normal, counts]),
)
def test_equals_the_slow_twin_on_wide_sparse_rows(seed, p, delay, mu, loss, values):
    """Most removals are of features never seen, and of those seen once, a quarter at a time."""
    rng = np.random.default_rng(seed)
    X = values(rng, (300, p)) * (rng.random((300, p)) < 8 / p)
    y = np.where(X[:, :40].sum(axis=1) + rng.normal(size=300) > 0, 1, 0)
    assert_equals_twin(X, y, 2, sp.csr_array, batch_size=5, T=50, delay=delay, mu=mu, loss=loss)


# ---------------------------------------------------------------- the ladder


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_a_ladder_is_single_runs_one_after_the_other(layout):
    X, y = rows(800)
    X = layout(X)
    b = 5
    for batches, T, start in (
        (3, 4, 0),
        (4, 4, 0),
        (11, 4, 0),
        (12, 8, 4),
        (27, 8, 4),
        (28, 16, 12),
        (70, 32, 28),
    ):
        ladder = SFSARegressor(4, batch_size=b).fit(X[: batches * b], y[: batches * b])
        alone = SFSARegressor(4, batch_size=b, T=T, ladder=False)
        alone.fit(X[start * b : batches * b], y[start * b : batches * b])
        assert_array_equal(ladder.coef_, alone.coef_)
        assert ladder.intercept_ == alone.intercept_
        assert ladder.maturity_ == (T if batches >= 4 else 0)


def test_exactly_k_features_are_alive_at_maturity():
    for layout in (np.asarray, sp.csr_array):
        X, y = rows(600, p=300, density=0.1)
        model = SFSARegressor(7, T=20, ladder=False, batch_size=25).fit(layout(X[:500]), y[:500])
        assert model.answer_.size + model.answer_["unseen"] == 7
        before = model.get_support()
        assert before.sum() == 7
        assert_array_equal(model.partial_fit(layout(X[500:]), y[500:]).get_support(), before)


def test_there_is_an_answer_before_the_first_batch_has_ended():
    X, y = rows(3, density=1.0)
    model = SFSARegressor(4).fit(X, y)
    assert 0 < model.get_support().sum() <= 4
    assert model.growing_["batches"] == 0  # reading changes nothing


def test_features_that_come_later_join_the_model_that_grows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8))
    y = X[:, 1] + 3 * X[:, 6] * (np.arange(4000) >= 1500)
    model = SFSARegressor(2, grow=True, batch_size=10)
    model.partial_fit(sp.csr_array(X[:1500, :3]), y[:1500])
    model.partial_fit(sp.csr_array(X[1500:]), y[1500:])
    assert_array_equal(model.get_support(indices=True), [1, 6])


@pytest.mark.parametrize(
    "options", [{"restart": True}, {"variant": "adam"}, {"refit": True}, {"T": 3, "ladder": False}]
)
def test_chunks_do_not_matter_to_any_option(options):
    X, y = rows(700)
    y[350:] = X[350:, 11] * 5
    S = sp.csr_array(X)
    whole = SFSARegressor(3, batch_size=5, **options).fit(S, y)

    @settings(deadline=None, max_examples=10)
    @given(st.sets(st.integers(1, 699)))
    def law(cuts):
        parts = SFSARegressor(3, batch_size=5, **options)
        edges = [0, *sorted(cuts), 700]
        for a, b in pairwise(edges):
            parts.partial_fit(S[a:b], y[a:b])
            if a % 3 == 0:
                parts = pickle.loads(pickle.dumps(parts))
        assert_array_equal(parts.coef_, whole.coef_)
        assert parts.n_restarts_ == whole.n_restarts_
        for rung, other in ((parts.growing_, whole.growing_), (parts.answer_, whole.answer_)):
            assert (rung is None) == (other is None)
            if rung is not None:
                assert_array_equal(rung.clock, other.clock)
                assert_array_equal(rung.slot, other.slot)
                assert_array_equal(rung.slots[: rung.size], other.slots[: rung.size])

    law()


# ---------------------------------------------------------------- change


def changing(n=12_000, p=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    truth = np.where((np.arange(n) < n // 2)[:, None], [3, 7], [50, 120])
    return X, np.take_along_axis(X, truth, axis=1) @ [2.0, -1.0] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("classify", [False, True])
def test_a_restart_finds_the_new_features(classify):
    X, y = changing()
    y = y > 0 if classify else y
    kind = SFSAClassifier if classify else SFSARegressor
    model = kind(2, restart=True)
    options = {"classes": [False, True]} if classify else {}
    model.partial_fit(X[:6000], y[:6000], **options)
    assert model.n_restarts_ == 0
    assert_array_equal(model.get_support(indices=True), [3, 7])
    old = model.answer_
    model.partial_fit(X[6000:6150], y[6000:6150])
    assert model.n_restarts_ == 1
    assert model.answer_ is old  # serves until the new one has matured
    assert model.growing_.T == 4
    model.partial_fit(X[6150:8000], y[6150:8000])
    assert_array_equal(model.get_support(indices=True), [50, 120])
    model.partial_fit(X[8000:], y[8000:])
    assert model.n_restarts_ == 1
    without = kind(2).fit(X[:8000], y[:8000])
    assert set(without.get_support(indices=True)) != {50, 120}


def test_no_restart_without_a_change():
    for seed in range(3):
        stream = simulate.correlated(20_000, p=50, k=3, random_state=seed)
        model = SFSARegressor(3, restart=True)
        for X, y in stream:
            model.partial_fit(X, y)
        assert model.n_restarts_ == 0


# ---------------------------------------------------------------- refit


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_the_refit_is_least_squares_on_the_rows_since_maturity(layout):
    X, y = rows(900)
    r = np.random.default_rng(1).choice([0.5, 1.0, 2.0], 900)
    for fit_intercept in (True, False):
        model = SFSARegressor(5, T=16, ladder=False, refit=True, fit_intercept=fit_intercept)
        model.fit(layout(X), y, sample_weight=r)
        plain = SFSARegressor(5, T=16, ladder=False, fit_intercept=fit_intercept).fit(
            layout(X), y, sample_weight=r
        )
        support = model.get_support(indices=True)
        assert_array_equal(support, plain.get_support(indices=True))
        A = np.column_stack([X[400:, support], np.full(500, float(fit_intercept))])
        root = np.sqrt(r[400:])
        beta = np.linalg.lstsq(A * root[:, None], y[400:] * root, rcond=None)[0]
        assert_allclose(model.coef_[support], beta[:-1], rtol=1e-8)
        assert_allclose(model.intercept_, beta[-1], atol=1e-10)


def test_the_refit_waits_for_rows_and_stands_duplicates():
    X, y = rows(900)
    X[:, 8] = X[:, 7]
    early = SFSARegressor(5, T=16, ladder=False, refit=True).fit(X[:405], y[:405])
    assert_array_equal(early.coef_, SFSARegressor(5, T=16, ladder=False).fit(X[:405], y[:405]).coef_)
    late = SFSARegressor(60, T=16, ladder=False, refit=True).fit(X, y)
    assert np.abs(late.coef_).max() < 10
    assert not hasattr(SFSAClassifier(), "refit")


# ---------------------------------------------------------------- work and memory


def test_work_and_memory_do_not_follow_the_width():
    """Counted, not timed: entries of rows and slots looked at, p = 10^6."""
    p, nnz, n = 1_000_000, 50, 5000
    stream = simulate.sparse(n, p, 20, nnz, random_state=0)
    model = SFSAClassifier(20, T=200, ladder=False)
    for X, y in stream:
        model.partial_fit(X, y, classes=[-1, 1])
    rung = model.answer_
    assert rung["work"] / n < 8 * nnz
    assert sum(a.nbytes for a in (rung.slots, rung.id, rung.touched, rung.seen)) < 200_000
    assert rung.slot.nbytes == 4 * p
    single = copy.deepcopy(model)
    for i in range(50):  # a call is a row
        single.partial_fit(X[[i]], y[[i]])
    assert single.answer_["work"] - rung["work"] <= 50 * nnz + 2 * 20


def test_the_clock_has_the_names_of_the_kernel():
    text = (pathlib.Path(__file__).parents[1] / "cpp" / "learners" / "sfsa.hpp").read_text()
    body = text.split("struct RungClock {")[1].split("};")[0]
    names = [n.strip() for line in re.findall(r"double ([^;]*);", body) for n in line.split(",")]
    assert tuple(names) == CLOCK


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"T": 0}, "T=0"),
        ({"ladder": False}, "needs its maturity"),
        ({"mu": -1.0}, "mu="),
        ({"delay": 1.0}, "delay="),
        ({"batch_size": 2.5}, "batch_size="),
        ({"variant": "adagrad"}, "variant="),
    ],
)
def test_parameters_outside_their_domain_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SFSARegressor(2, **options).fit(np.eye(3), np.ones(3))
