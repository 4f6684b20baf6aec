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

import streamsieve
from reference import sfsa as twin
from reference.sgd import fade
from streamsieve import SFSAClassifier, SFSARegressor, metrics, simulate
from streamsieve.methods.learners.annealed import AnnealedModel

pytestmark = pytest.mark.usefixtures("without_centering", "one_pass")

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


def outputs(y, classes):
    if not classes:
        return y[:, None]
    return (
        np.where(y[:, None] == np.arange(classes), 1.0, -1.0)
        if classes > 2
        else np.where(y == 1, 1.0, -1.0)[:, None]
    )


def signs(n=400, p=60, classes=2, density=0.3, seed=0):
    """Values -1, 0 and 1: the root mean square of a feature's values is 1, and so is its unit."""
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 1.0], size=(n, p)) * (rng.random((n, p)) < density * np.linspace(0.3, 1.7, p))
    target = X[:, 7] - 2 * X[:, 21] + 0.3 * rng.normal(size=n)
    if classes:
        return X, np.digitize(target, np.quantile(target, np.arange(1, classes) / classes))
    return X, target


def single(classes, **options):
    """One model without warmup: the schedule of the paper."""
    kind = SFSAClassifier if classes else SFSARegressor
    return kind(**dict(k=4, maturity=12, ladder=False, annealing=1.0, warmup=0.0, refit=False) | options)


def alive(model):
    """Features that are left in the model that answers."""
    m = model.method_.state.answer or model.method_.state.growing
    return (m.slot > 0) | ((m.slot == 0) & (np.arange(len(m.slot)) < m.clock["limit"]))


def assert_equals_twin(X, y, classes=0, layout=np.asarray, r=None, steps=None, **options):
    """Steps are those of the schedule times eta, unless they are given."""
    options = {"standardize": False} | options
    model = single(classes, **options).fit(layout(X), y, sample_weight=r)
    batches = len(y) // model.batch_size
    if steps is None:
        steps = model.eta * np.fromiter(fade(model.schedule, batches), float)
    w, bias, left = twin.sfsa(
        X,
        outputs(y, classes),
        np.ones(len(y)) if r is None else r,
        k=model.k,
        sizes=twin.schedule(
            X.shape[1], model.k, model.maturity, model.annealing, batches, model.warmup * model.maturity
        ),
        steps=steps,
        batch=model.batch_size,
        loss=model.loss if classes else "squared",
        variant=model.variant,
        alpha=model.alpha,
        sigma=bool(model.standardize),
        units=model.standardize is True,
        intercept=model.fit_intercept,
        begin=model.warmup * model.maturity,
        rare=model.standardize is True and model.eta == "auto",
    )
    assert np.count_nonzero(w.any(axis=1)) > 0
    assert_allclose(np.atleast_2d(model.coef_), w.T, rtol=1e-8, atol=1e-12)
    assert_allclose(np.atleast_1d(model.intercept_), bias, rtol=1e-8, atol=1e-12)
    assert_array_equal(alive(model), left)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_equals_the_slow_twin(layout, variant, loss):
    X, y = rows(classes=2)
    assert_equals_twin(X, y, 2, layout, variant=variant, loss=loss, eta=0.05)
    assert_equals_twin(X, y, 2, layout, variant=variant, loss=loss, eta=0.05, maturity=30, annealing=10.0)
    assert_equals_twin(X, y, 2, layout, variant=variant, loss=loss, eta=0.1, alpha=0.3, warmup=0.25)


@pytest.mark.parametrize("variant", VARIANTS)
def test_by_default_it_equals_the_slow_twin(variant):
    """With the default warmup, annealing and batches, steps and ranks in units of the features."""
    for task in (0, 2):
        X, y = signs(1600, classes=task)
        defaults = {"warmup": 0.5, "annealing": 10.0, "standardize": True, "maturity": 60}
        assert_equals_twin(
            X, y, task, variant=variant, eta=0.05, loss=["squared", "logistic"][task > 0], **defaults
        )


@pytest.mark.parametrize("option", ["annealing", "variant"])
def test_the_schedule_and_the_variant_change_the_answer(option):
    """Of features that overlap: the ranks of the model that loses features decide."""
    stream = simulate.correlated(1500, p=1000, k=20, random_state=0)
    X, y = stream.take(1500)
    values = {"annealing": (0.0, 10.0, 1e6), "variant": VARIANTS}[option]
    chosen = {
        tuple(SFSARegressor(20, **{option: value}).partial_fit(X, y).get_support(indices=True))
        for value in values
    }
    assert len(chosen) == len(values)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_batches_of_one_row_equal_the_slow_twin_with_the_exact_schedule(layout, variant):
    X, y = rows()
    options = {"eta": 0.002, "batch_size": 1, "maturity": 300, "exact_schedule": True, "annealing": 3.0}
    assert_equals_twin(X, y, layout=layout, variant=variant, **options)
    X, y = wide(1, 300)
    assert_equals_twin(X, y, 2, layout, variant=variant, loss="logistic", **options)


@pytest.mark.parametrize("variant", VARIANTS)
def test_raw_steps_with_ranks_by_deviations_equal_the_slow_twin(variant):
    """Remark 1: the steps are those of the data as given, only the ranks count the deviations."""
    X, y = rows()
    options = {"standardize": "ranks", "eta": 0.002, "variant": variant, "annealing": 3.0}
    assert_equals_twin(X, y, **options)
    assert_equals_twin(X, y, layout=sp.csr_array, exact_schedule=True, warmup=0.5, **options)
    ranks, raw = (single(0, **options | {"standardize": s}).fit(X, y) for s in ("ranks", False))
    assert (ranks.get_support() != raw.get_support()).any()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_ranks_by_deviations_equal_the_slow_twin(variant, loss):
    X, y = signs()
    assert_equals_twin(X, y, 2, variant=variant, loss=loss, eta=0.05, standardize=True)


@pytest.mark.parametrize("variant", VARIANTS)
def test_weights_and_schedules_equal_the_slow_twin(variant):
    X, y = rows()
    r = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(y))
    for schedule in ("constant", "sqrt", "doubling"):
        assert_equals_twin(X, y, r=r, variant=variant, schedule=schedule, eta=0.002, maturity=20)
        assert_equals_twin(
            *signs(classes=0), r=r, variant=variant, schedule=schedule, eta=0.002, standardize=True
        )
    assert_equals_twin(X, y, variant=variant, eta=0.002, batch_size=64, maturity=3, fit_intercept=False)


def test_several_classes_equal_the_slow_twin():
    X, y = rows(classes=3)
    for variant in VARIANTS:
        assert_equals_twin(X, y, 3, sp.csr_array, variant=variant, eta=0.02)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10_000),
    st.integers(300, 1500),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.sampled_from([0.0, 3.0, 30.0]),
    st.sampled_from(LOSSES),
    st.sampled_from(["momentum", "nesterov", "adam"]),
)
def test_wide_sparse_rows_equal_the_slow_twin(seed, p, warmup, annealing, loss, variant):
    """Most removals are of features never seen; those variants visit all weights, and remove at once."""
    X, y = wide(seed, p)
    options = {"batch_size": 5, "maturity": 50, "warmup": warmup, "annealing": annealing}
    assert_equals_twin(X, y, 2, sp.csr_array, eta=0.05, loss=loss, variant=variant, **options)


def wide(seed, p):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, p)) * (rng.random((300, p)) < 8 / p)
    return X, np.where(X[:, :40].sum(axis=1) + rng.normal(size=300) > 0, 1, 0)


@pytest.mark.parametrize(("warmup", "annealing"), [(0.0, 0.0), (0.0, 30.0), (0.3, 3.0)])
@pytest.mark.parametrize("standardize", [False, True])
def test_lazy_removal_is_never_early_and_late_by_less_than_a_quarter(warmup, annealing, standardize):
    p, k = 800, 20
    X, y = wide(0, p)
    model = single(
        2, k=k, maturity=50, batch_size=5, warmup=warmup, annealing=annealing, standardize=standardize
    )
    sizes = twin.schedule(p, k, 50, annealing, 60, 50 * warmup)
    late, before = 0, np.ones(p, bool)
    for t, M in enumerate(sizes):
        model.partial_fit(sp.csr_array(X[5 * t : 5 * t + 5]), y[5 * t : 5 * t + 5], classes=[0, 1])
        growing = model.method_.state.growing
        if growing is None:
            continue
        slot, limit = growing.slot, growing.clock["limit"]
        now, seen = (slot > 0) | ((slot == 0) & (np.arange(p) < limit)), X[: 5 * t + 5].any(axis=0)
        assert not (now & ~before).any()  # removed for good
        surplus = now.sum() - M
        assert surplus >= 0
        assert 4 * surplus < max(1, (now & seen).sum())
        if (before & ~now & seen).any():
            assert not (now & ~seen).any()  # none that was never seen outlives one that was
        late += surplus > 0
        before = now
    assert alive(model).sum() == k
    assert late > 5


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_derived_steps_lead_where_the_twin_goes_with_them(variant, loss):
    """The derived steps are taken from the model, batch by batch; those of the rows do not matter to it, as
    no feature goes."""
    if variant == "adam":
        pytest.skip("Adam's derived step follows the size of the slopes too")
    X, y = signs()
    model, steps = single(2, variant=variant, loss=loss, k=60), []
    for a in range(0, 400, 25):
        model.partial_fit(X[a : a + 25], y[a : a + 25], classes=[0, 1])
        steps.append(float((model.method_.state.growing or model.method_.state.answer).clock["step"]))
    assert_equals_twin(X, y, 2, variant=variant, loss=loss, steps=steps, standardize=True, k=60)


def test_the_derived_step_is_that_of_the_spectrum():
    """1 / (L (Lambda + R^2 / b)), with the largest eigenvalue and the trace of the second moments."""
    rng = np.random.default_rng(0)
    scales = np.linspace(0.5, 2.0, 10)
    X = rng.normal(size=(10_000, 10)) * scales
    y = X @ rng.normal(size=10) + rng.normal(size=10_000)
    for factor in (1.0, 1e-3, 1e4):
        model = SFSARegressor(10, maturity=1, ladder=False, standardize=False, fit_intercept=False)
        model.fit(X * factor, y)
        exact = 1 / ((scales**2).max() + (scales**2).sum() / 25) / factor**2
        step = model.method_.state.answer.clock["step"]
        assert 0.4 * exact < step < 1.1 * exact


def test_scale_does_not_decide():
    X, y = rows(800)
    factors = np.exp(3 * np.random.default_rng(0).normal(size=60))
    plain, scaled = SFSARegressor(4).fit(X, y), SFSARegressor(4).fit(X * factors, y)
    assert_array_equal(plain.get_support(), scaled.get_support())
    assert_allclose(scaled.coef_ * factors, plain.coef_, rtol=1e-6)


# ---------------------------------------------------------------- the ladder


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("warmup", [0.3, 0.5, 0.8])
def test_every_model_of_a_ladder_is_a_single_one_on_all_rows(layout, warmup):
    """It keeps all features until the one before has matured, or for its own warmup if that is longer."""
    X, y = rows(800)
    X = layout(X)
    b = 5
    for batches, T in ((3, 4), (4, 4), (7, 4), (8, 8), (15, 8), (16, 16), (70, 64)):
        part = slice(batches * b)
        ladder = SFSARegressor(4, batch_size=b, warmup=warmup, refit=False).partial_fit(X[part], y[part])
        share = warmup if T == 4 else max(warmup, 0.5)
        alone = SFSARegressor(4, batch_size=b, maturity=T, ladder=False, warmup=share, refit=False)
        alone.partial_fit(X[part], y[part])
        assert_array_equal(ladder.coef_, alone.coef_)
        assert ladder.intercept_ == alone.intercept_
        assert ladder.current_maturity_ == (T if batches >= 4 else 0)


def test_exactly_k_features_are_alive_at_maturity():
    for layout in (np.asarray, sp.csr_array):
        X, y = rows(600, p=300, density=0.1)
        model = SFSARegressor(7, maturity=20, ladder=False, batch_size=25).fit(layout(X[:500]), y[:500])
        answer = model.method_.state.answer
        assert answer.size + answer.clock["unseen"] == 7
        before = model.get_support()
        assert before.sum() == 7
        assert_array_equal(model.partial_fit(layout(X[500:]), y[500:]).get_support(), before)


def test_there_is_an_answer_before_the_first_batch_has_ended():
    X, y = rows(3, density=1.0)
    model = SFSARegressor(4).fit(X, y)
    assert 0 < model.get_support().sum() <= 4
    assert model.method_.state.growing.clock["batches"] == 0  # reading changes nothing


def test_features_that_come_later_join_the_model_that_grows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8))
    y = X[:, 1] + 3 * X[:, 6] * (np.arange(4000) >= 1500)
    model = SFSARegressor(2, grow=True, batch_size=10)
    model.partial_fit(sp.csr_array(X[:1500, :3]), y[:1500])
    model.partial_fit(sp.csr_array(X[1500:]), y[1500:])
    assert_array_equal(model.get_support(indices=True), [1, 6])


@pytest.mark.parametrize(
    "options", [{"restart": True}, {"variant": "adam"}, {"refit": True}, {"maturity": 3, "ladder": False}]
)
def test_chunks_do_not_matter_to_any_option(options):
    X, y = rows(700)
    y[350:] = X[350:, 11] * 5
    S = sp.csr_array(X)
    whole = SFSARegressor(3, batch_size=5, **options).partial_fit(S, y)

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
        assert not list(parts.method_.state.differences(whole.method_.state))

    law()


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_it_finds_nearly_what_truncating_at_the_end_finds(task):
    """Rows of few batches, correlated features: what is removed early is missed."""
    found = {"SFSA": [], "TSGD": []}
    suffix, labels = ("Classifier", {"classes": [-1, 1]}) if task == "classification" else ("Regressor", {})
    for seed in range(3):
        stream = simulate.correlated(2000, p=1000, k=20, task=task, random_state=seed)
        X, y = stream.take(2000)
        for name, options in (("SFSA", {"maturity": 72, "ladder": False}), ("TSGD", {})):
            model = getattr(streamsieve, name + suffix)(20, **options).partial_fit(X, y, **labels)
            found[name].append(metrics.detection_rate(model.get_support(indices=True), stream.support))
            if task == "regression":  # noise of deviation 1, targets of 13
                assert metrics.rmse(y, model.predict(X)) < 1.5
    assert np.mean(found["TSGD"]) >= np.mean(found["SFSA"]) > 0.85 * np.mean(found["TSGD"]) > 0.5


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
    old = model.method_.state.answer
    model.partial_fit(X[6000:6150], y[6000:6150])
    assert model.n_restarts_ == 1
    assert model.method_.state.answer is old  # serves until the new one has matured
    assert model.method_.state.growing.maturity <= 8
    model.partial_fit(X[6150:8000], y[6150:8000])
    assert_array_equal(model.get_support(indices=True), [50, 120])
    model.partial_fit(X[8000:], y[8000:])
    assert model.n_restarts_ == 1
    without = kind(2).partial_fit(X[:8000], y[:8000], **options)
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
@pytest.mark.parametrize("n", [600, 900])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_refit_is_least_squares_on_the_rows_since_maturity(layout, n, fit_intercept):
    X, y = rows(n)
    r = np.random.default_rng(1).choice([0.5, 1.0, 2.0], n)
    options = {"maturity": 16, "ladder": False, "fit_intercept": fit_intercept}
    model = SFSARegressor(5, refit=True, **options).fit(layout(X), y, sample_weight=r)
    plain = SFSARegressor(5, refit=False, **options).fit(layout(X), y, sample_weight=r)
    support = model.get_support(indices=True)
    assert_array_equal(support, plain.get_support(indices=True))
    A = np.column_stack([X[400:, support], np.full(n - 400, float(fit_intercept))])
    root = np.sqrt(r[400:])
    beta = np.linalg.lstsq(A * root[:, None], y[400:] * root, rcond=None)[0]
    # but for a ridge that is tiny where the features explain nearly all
    assert_allclose(model.coef_[support], beta[:-1], atol=3e-3)
    assert_allclose(model.intercept_, beta[-1], atol=3e-3)
    assert np.abs(plain.coef_[support] - beta[:-1]).max() > 0.01


def test_the_refit_waits_for_rows_and_stands_duplicates():
    X, y = rows(900)
    X[:, 8] = X[:, 7]
    early = SFSARegressor(30, maturity=16, ladder=False, refit=True).fit(X[:405], y[:405])
    plain = SFSARegressor(30, maturity=16, ladder=False, refit=False).fit(X[:405], y[:405])
    assert_array_equal(early.coef_, plain.coef_)
    late = SFSARegressor(60, maturity=16, ladder=False, refit=True).fit(X, y)
    assert np.abs(late.coef_).max() < 10


def test_the_refit_of_a_stream_of_labels_needs_the_squared_loss():
    X, y = rows(900, classes=2)
    for refit in (True, False):
        steps = SFSAClassifier(5, maturity=16, ladder=False, refit=refit).fit(X, y)
        assert steps.method_.state.averages is None
    model = SFSAClassifier(5, loss="squared", maturity=16, ladder=False, refit=True).fit(X, y)
    as_numbers = SFSARegressor(5, maturity=16, ladder=False, refit=True).fit(X, np.where(y == 1, 1.0, -1.0))
    assert_array_equal(model.coef_[0], as_numbers.coef_)


# ---------------------------------------------------------------- work and memory


def test_work_and_memory_do_not_follow_the_width():
    """Counted, not timed: entries of rows and slots looked at, p = 10^6."""
    p, nnz, n = 1_000_000, 50, 5000
    stream = simulate.sparse(n, p, 20, nnz, random_state=0)
    model = SFSAClassifier(20, maturity=200, ladder=False)
    for X, y in stream:
        model.partial_fit(X, y, classes=[-1, 1])
    answer = model.method_.state.answer
    assert answer.clock["work"] / n < 8 * nnz
    assert sum(a.nbytes for a in (answer.slots, answer.id, answer.touched, answer.seen)) < 200_000
    assert answer.slot.nbytes == 4 * p
    single = copy.deepcopy(model)
    for i in range(50):  # a call is a row
        single.partial_fit(X[[i]], y[[i]])
    assert single.method_.state.answer.clock["work"] - answer.clock["work"] <= 50 * nnz + 2 * 20


def test_the_clock_has_the_names_of_the_kernel():
    text = (pathlib.Path(__file__).parents[1] / "cpp" / "learners" / "annealed_slots.hpp").read_text()
    body = text.split("struct AnnealedClock {")[1].split("};")[0]
    names = [n.strip() for line in re.findall(r"double ([^;]*);", body) for n in line.split(",")]
    assert tuple(names) == AnnealedModel(1, 1, 1, 0.0, 0).clock.dtype.names


def forge(name, value):
    """Another value in a field, or in all places of an array."""

    def change(model):
        if isinstance(getattr(model, name, None), np.ndarray):
            getattr(model, name)[...] = value
        elif name in model.clock.dtype.names:
            model.clock[name] = value
        else:
            setattr(model, name, value)

    return change


@pytest.mark.parametrize(
    "change",
    [
        forge("slot", 77),
        forge("id", 10**6),
        forge("touched", 10**6),
        forge("size", 10**6),
        forge("size", -1),
        forge("limit", 10**6),
        forge("maturity", 0),
        lambda model: setattr(model, "slots", np.zeros((1, 8))),
        lambda model: setattr(model, "seen", np.zeros(0, np.int32)),
        lambda model: setattr(model, "clock", np.zeros(5)),
    ],
)
def test_state_that_a_kernel_could_not_follow_is_refused(change):
    X, y = rows(83, density=1.0)
    method = SFSARegressor(2, batch_size=10).fit(X, y).method_
    method.check_state()
    change(method.state.growing)
    with pytest.raises(ValueError, match=r"\w+"):
        method.check_state()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maturity": 0}, "maturity=0"),
        ({"ladder": False}, "needs its maturity"),
        ({"annealing": -1.0}, "annealing="),
        ({"warmup": 1.0}, "warmup="),
        ({"batch_size": 2.5}, "batch_size="),
        ({"variant": "adagrad"}, "variant="),
    ],
)
def test_parameters_outside_their_domain_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SFSARegressor(2, **options).fit(np.eye(3), np.ones(3))


@pytest.mark.parametrize("warmup", [0, 0.0, 0.1])
@pytest.mark.parametrize("n", [30, 150, 600])
def test_a_model_with_any_warmup_can_be_loaded_again(warmup, n, tmp_path):
    """The batch at which a model begins was sometimes a whole number, and the file then refused."""
    X = np.random.default_rng(0).normal(size=(n, 9))
    model = SFSARegressor(k=2, warmup=warmup).partial_fit(X, X[:, 1])
    streamsieve.save(model, tmp_path / "model")
    assert_array_equal(streamsieve.load(tmp_path / "model").coef_, model.coef_)
