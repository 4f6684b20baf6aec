"""Stabilized truncated SGD: its slow twin, threads, bursts and stages as state, the budget, sources."""

import copy
import pathlib
import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import check_estimator

from papers import data
from papers.experiments import ma
from reference import sgd
from reference.stabilized import Twin, annealed, bursts, shuffled
from streamsieve import (
    SGDClassifier,
    SieveClassifier,
    StabilizedSGDClassifier,
    StabilizedSGDRegressor,
    TruncatedGradientClassifier,
)
from streamsieve.core.rows import Rows
from streamsieve.core.state import RowBuffer
from streamsieve.estimators.make import expected_failed_checks
from streamsieve.methods.learners.paths import Paths
from streamsieve.metrics import selection_stability
from test_laws import assert_same_state

pytestmark = pytest.mark.usefixtures("without_centering")

#: The twin has the symbols of the paper.
SYMBOLS = {"burst_size": "K", "burst_growth": "K_rate", "rejection": "beta", "rejection_decay": "gamma"}
SYMBOLS |= {"threshold": "pi", "min_bursts": "delta", "gravity": "g0", "rejection_spared": "spared"}

LOSSES = ("hinge", "logistic", "squared_hinge", "squared")


def rows(n=260, p=40, classes=2, density=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < density) * np.exp(rng.normal(size=p))
    X[:, 5] += 3.0  # far from zero: the intercept and the deviation are at work
    X[:, 6] = 2.0  # does not vary
    target = X[:, 7] / X[:, 7].std() - 2 * X[:, 21] / X[:, 21].std() + 0.3 * rng.normal(size=n)
    if classes:
        return X, np.digitize(target, np.quantile(target, np.arange(1, classes) / classes))
    return X, target


SMALL = dict(n_paths=3, burst_size=3, burst_growth=1.0, n_bursts=2, rejection=0.5, rejection_decay=-3.0)
SMALL |= dict(threshold=0.6, min_bursts=4.0, k=None)
SMALL |= dict(eta="auto", schedule="constant", standardize=True, block_size=50)


def assert_equals_twin(X, y, classes=2, layout=np.asarray, r=None, loss="logistic", **options):
    o = SMALL | {"fit_intercept": True} | options
    kind = StabilizedSGDClassifier if classes else StabilizedSGDRegressor
    model = kind(**o, **({"loss": loss} if classes else {}))
    named = {"classes": np.arange(classes)} if classes else {}
    model.partial_fit(layout(X), y, sample_weight=r, **named)
    Y = y[:, None]
    if classes:
        Y = np.where(y[:, None] == np.arange(classes), 1.0, -1.0)[:, -(1 if classes == 2 else classes) :]
    size, intercept = o.pop("block_size"), o.pop("fit_intercept")
    o = {SYMBOLS.get(name, name): value for name, value in o.items()}
    twin = Twin(
        X, Y, np.ones(len(X)) if r is None else r, loss if classes else "squared", intercept=intercept, **o
    )
    for block, a in enumerate(range(0, len(X), size)):
        held = np.arange(a, min(len(X), a + size))
        twin.block(held, [shuffled(model.random_state, block, m, len(held)) for m in range(o["n_paths"])])
    assert twin.stages > 3
    assert_allclose(np.atleast_2d(model.coef_), twin.coef(), rtol=1e-8, atol=1e-11)
    assert_allclose(np.atleast_1d(model.intercept_), twin.b.mean(axis=0), rtol=1e-8, atol=1e-11)
    assert model.n_stable_ == (twin.stable & twin.seen).sum()
    assert_allclose(
        [model.current_gravity_, model.current_rejection_], [twin.gravity, twin.rejection], rtol=1e-8
    )
    assert model.history_["burst_size"][-1] == twin.length
    assert_allclose(model.selection_probabilities_, np.where(twin.stable, twin.probability, 0))
    return model, twin


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("gamma", [-3.0, 0.0, 2.0])
def test_equals_the_slow_twin(loss, gamma):
    model, twin = assert_equals_twin(*rows(), loss=loss, rejection_decay=gamma)
    assert not twin.stable.all()  # features were purged on the way
    assert model.coef_.any()


@pytest.mark.parametrize(
    "options",
    [
        {"standardize": False},
        {"standardize": False, "eta": 0.02, "schedule": "sqrt"},
        {"schedule": "doubling"},
        {"k": 4},
        {"k": 30},
        {"min_bursts": 0.0, "threshold": 0.9},
        {"n_paths": 1, "burst_size": 7, "n_bursts": 3},
        {"burst_growth": 0.1},
        {"block_size": 7},
        {"gravity": 0.02},
        {"gravity": 0.01, "truncation": "universal"},
        {"truncation": "universal", "standardize": False, "threshold": 0.0},
        {"rejection_spared": 0},
    ],
    ids=str,
)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_equals_the_slow_twin_with(options, layout):
    assert_equals_twin(*rows(), layout=layout, **options)


@pytest.mark.parametrize("algorithm", [1, 2])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_bursts_are_as_printed(algorithm, loss):
    X, y = rows()
    model = StabilizedSGDClassifier.as_printed(
        algorithm, gravity=0.01, eta=0.1, burst_size=5, block_size=260, loss=loss
    ).partial_fit(X, y, classes=[0, 1])
    slope, _ = sgd.LOSSES[loss]
    order = shuffled(0, 0, 0, 260)
    w = bursts(X, np.where(y, 1.0, -1.0), order, slope, 5, 0.01, 0.1, universal=algorithm == 1)
    assert 0 < np.count_nonzero(w) < 40
    assert_allclose(model.coef_[0], w, atol=1e-12)
    assert model.intercept_ == 0


@pytest.mark.parametrize("algorithm", [3, 4])
def test_stages_are_as_printed(algorithm):
    X, y = rows()
    options = {"eta": 0.1, "burst_size": 5, "n_bursts": 2, "n_paths": 3, "block_size": 50}
    if algorithm == 3:
        options["gravity"] = 0.01
    model = StabilizedSGDClassifier.as_printed(algorithm, **options)
    printed = {name: getattr(model, name) for name in SMALL | {"gravity": 0, "rejection_spared": 0}}
    _, twin = assert_equals_twin(X, y, loss="hinge", fit_intercept=False, **printed)
    assert not twin.stable.all()
    assert twin.length == 5  # bursts do not grow


def test_an_algorithm_that_is_not_printed_is_refused():
    with pytest.raises(ValueError, match="algorithm=5"):
        StabilizedSGDClassifier.as_printed(5)
    with pytest.raises(ValueError, match="gravity=None"):
        StabilizedSGDClassifier.as_printed(2)
    with pytest.raises(ValueError, match=r"gravity=0\.1"):
        StabilizedSGDClassifier.as_printed(4, gravity=0.1)


@pytest.mark.parametrize("k", [None, 5])
def test_several_outputs_equal_the_slow_twin(k):
    X, y = rows(classes=3)
    assert_equals_twin(X, y, classes=3, k=k)
    X, y = rows(classes=0)
    assert_equals_twin(X, y, classes=0, k=k)


def test_weighted_rows_equal_the_slow_twin():
    r = np.random.default_rng(3).choice([0.5, 1.0, 3.0], 260)
    assert_equals_twin(*rows(), r=r)


@pytest.mark.parametrize("classes", [2, 3])
def test_threads_do_not_change_a_bit(classes):
    X, y = rows(n=600, classes=classes)
    one = StabilizedSGDClassifier(n_paths=5, n_jobs=1, max_iter=3, min_bursts=4).fit(X, y)
    assert one.n_stable_ < 38
    for n_jobs in (2, 3, 8, -1):
        other = StabilizedSGDClassifier(n_paths=5, n_jobs=n_jobs, max_iter=3, min_bursts=4).fit(X, y)
        assert_same_state(one, other)


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csr_array.toarray], ids=["csr", "dense"])
@pytest.mark.parametrize("standardize", [True, False])
def test_threads_that_translate_rows_do_not_change_a_bit(layout, standardize):
    rng = np.random.default_rng(0)
    X = sp.random_array((1500, 3000), density=0.05, format="csr", rng=rng, data_sampler=rng.normal)
    X, y = layout(sp.csr_array(X)), rng.random(1500) < 0.5
    options = {"n_paths": 2, "max_iter": 2, "burst_size": 10, "standardize": standardize}
    one = StabilizedSGDClassifier(**options, n_jobs=1).fit(X, y)
    assert 0 < one.n_stable_ < 3000
    for n_jobs in (2, 3):
        assert_same_state(one, StabilizedSGDClassifier(**options, n_jobs=n_jobs).fit(X, y))


@pytest.mark.parametrize("cut", [50, 101, 103, 104, 131])
def test_pickled_mid_burst_mid_stage_mid_block(cut):
    X, y = rows()
    whole = StabilizedSGDClassifier(**SMALL).partial_fit(X, y, classes=[0, 1])
    half = StabilizedSGDClassifier(**SMALL).partial_fit(X[:cut], y[:cut], classes=[0, 1])
    read = half.coef_  # reading is not learning, and leaves nothing behind
    assert read.any()
    for resumed in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half), half):
        resumed.partial_fit(X[cut:], y[cut:])
        assert_same_state(resumed, whole)
        assert_array_equal(resumed.coef_, whole.coef_)


def test_rows_that_wait_are_in_the_answer():
    X, y = rows()
    model = StabilizedSGDClassifier(**SMALL | {"block_size": 1000})
    model.partial_fit(X[:200], y[:200], classes=[0, 1])
    assert model.score(X, y) > 0.7
    early = model.coef_
    model.partial_fit(X[200:], y[200:])
    assert (model.coef_ != early).any()


def test_a_wide_stream_costs_what_it_holds():
    rng = np.random.default_rng(0)
    p = 1_000_000
    model = StabilizedSGDClassifier(n_paths=4, block_size=100)
    signal = rng.integers(0, p, 20)
    for _ in range(20):
        noise = sp.random(100, p, density=20 / p, format="csr", random_state=rng)
        marks = rng.normal(size=(100, 20)) * (rng.random((100, 20)) < 0.5)
        X = sp.csr_array(noise) + sp.csr_array((marks.ravel(), np.tile(signal, 100), np.arange(0, 2001, 20)),
                                               shape=(100, p))  # fmt: skip
        model.partial_fit(X, marks.sum(axis=1) > 0, classes=[False, True])
    paths = model.method_.state.paths
    held = sum(v.nbytes for v in vars(paths).values() if isinstance(v, np.ndarray)) - paths.slot.nbytes
    assert held < 4 * 40_000 * 4 * 32  # slots of the features seen, at most doubled twice, in four paths
    assert set(signal) <= set(model.get_support(indices=True))


def test_slots_of_purged_features_are_used_again():
    X, y = rows(n=4000, p=300, density=1.0)
    model = StabilizedSGDClassifier(max_iter=3).fit(X, y)
    assert model.n_stable_ < 150
    assert model.method_.state.paths.size <= model.n_stable_ * 8 / 7 + 1
    assert (model.method_.state.paths.slot == -1).sum() == 300 - model.n_stable_


def test_purged_is_purged_for_good():
    X, y = rows(n=2000, p=60)
    model = StabilizedSGDClassifier(**SMALL)
    gone = np.zeros(60, dtype=bool)
    for a in range(0, 2000, 100):
        model.partial_fit(X[a : a + 100], y[a : a + 100], classes=[0, 1])
        now = model.selection_probabilities_ == 0
        assert not (gone & ~now).any()
        assert not model.coef_[0, now].any()
        gone = now
    assert gone.any()


@pytest.mark.parametrize("k", [1, 3, 10])
def test_purging_stops_at_the_budget(k):
    X, y = rows(n=3000, p=60)
    model = StabilizedSGDClassifier(k, rejection=0.9, rejection_decay=-50.0, threshold=0.95).fit(X, y)
    assert k <= model.n_stable_ <= max(k, 10)
    support = model.get_support(indices=True)
    assert len(support) <= k
    if k >= 3:
        assert {7, 21} <= set(support)


def test_fit_eliminates_stable_features_down_to_k():
    X = np.random.default_rng(3).normal(size=(80, 400))
    y = X[:, :3].sum(axis=1) + np.random.default_rng(4).normal(size=80) > 0
    cut, fitted = (StabilizedSGDClassifier(4, refit=refit, n_paths=4).fit(X, y) for refit in (False, True))
    stable = np.flatnonzero(fitted.method_.unselected().any(axis=0))
    assert 4 < len(stable) <= fitted.n_stable_
    assert np.isin(cut.get_support(indices=True), stable).all()
    sieve = SieveClassifier(4).fit(X[:, stable], y)
    assert_array_equal(fitted.get_support(indices=True), stable[sieve.get_support()])
    assert_array_equal(fitted.coef_[0, stable], sieve.coef_[0])


def test_rejection_anneals_from_beta_to_nothing():
    for gamma in (-5.0, -1e-3, 0.0, 1e-3, 5.0):
        assert annealed(0, 0.7, gamma) == pytest.approx(0.7)
        assert annealed(1, 0.7, gamma) == pytest.approx(0.0, abs=1e-12)
    halves = [annealed(0.5, 0.7, gamma) for gamma in (5.0, 0.0, -5.0)]
    assert halves == sorted(halves)
    X, y = rows(n=1000)
    model = StabilizedSGDClassifier(**SMALL).partial_fit(X, y, classes=[0, 1])
    h = model.history_
    d = 1 - (h["stable"] - 1) / 39
    rates = [min(annealed(v, 0.5, -3.0), max(0, 1 - 5 / n)) for v, n in zip(d, h["stable"])]
    assert_allclose(h["rejection"][-20:], rates[-20:])  # all have been seen
    assert (np.diff(h["burst_size"][-20:]) >= 0).all()
    assert h["burst_size"][-1] > 3


def test_few_features_that_all_matter_stay():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = X @ [1.0, -1.0, 0.8] > 0
    model = StabilizedSGDClassifier().fit(X, y)
    assert model.n_stable_ == 3
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("kind", [StabilizedSGDClassifier, StabilizedSGDRegressor])
def test_check_estimator_without_a_budget(kind):
    model = kind(n_jobs=1)
    check_estimator(
        model, expected_failed_checks=expected_failed_checks(model), on_skip=None, on_fail="raise"
    )


def test_history_stays_short():
    X, y = rows(n=400)
    options = {"n_paths": 2, "burst_size": 1, "n_bursts": 1, "max_iter": 20, "tol": 0.0}
    model = StabilizedSGDClassifier(**options, threshold=0.0, burst_growth=1e9).fit(X, y)  # nothing goes
    h = model.history_
    assert model.method_.state.paths.clock["stage"] == 8000
    assert len(h["stage"]) <= 512
    assert set(np.diff(h["stage"])) == {16.0}
    assert h["stage"][-1] > 8000 - 16


class Source:
    def __init__(self, X, y, w=None, size=70):
        self.X, self.y, self.w, self.size, self.read = X, y, w, size, 0

    def __iter__(self):
        self.read += 1
        for a in range(0, len(self.y), self.size):
            part = slice(a, a + self.size)
            yield (self.X[part], self.y[part]) + (() if self.w is None else (self.w[part],))


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_source_is_read_as_the_rows_it_holds(classes):
    X, y = rows(classes=classes)
    w = np.random.default_rng(0).choice([0.0, 1.0, 2.0], len(y))
    kind = StabilizedSGDClassifier if classes else StabilizedSGDRegressor
    options = SMALL | {"shuffle": False, "max_iter": 4, "tol": 0.0}
    source = Source(X, y, w)
    read = kind(**options).fit(source)
    assert source.read == 1  # it fits into memory
    assert read.n_iter_ == 4
    assert_same_state(read, kind(**options).fit(X, y, w))
    before = copy.deepcopy(read)
    with pytest.raises(ValueError, match="once only"):
        read.fit(block for block in source)
    with pytest.raises(ValueError, match="no rows"):
        read.fit(Source(X[:0], y[:0]))
    bad = X.copy()
    bad[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        read.fit(Source(bad, y))
    assert_same_state(read, before)


def test_fit_stops_when_the_weights_do():
    X, y = rows(n=500)
    loose = StabilizedSGDClassifier(tol=0.1, max_iter=50, schedule="sqrt").fit(X, y)
    assert 2 <= loose.n_iter_ < 50
    assert StabilizedSGDClassifier(tol=0.0, max_iter=5).fit(X, y).n_iter_ == 5


def test_a_burst_sees_the_feature_of_a_typical_value_twenty_times():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 200)) * (rng.random((4000, 200)) < 0.05)
    y = X[:, 3] > X[:, 9]
    for layout in (np.asarray, sp.csr_array):
        stream = StabilizedSGDClassifier(n_paths=2).partial_fit(layout(X), y, classes=[False, True])
        assert pytest.approx(20 / 0.05, rel=0.1) == stream.first_burst_
        few = StabilizedSGDClassifier(n_paths=2, max_iter=2).fit(layout(X[:600]), y[:600])
        assert few.first_burst_ == 99  # the second stage, of 5 bursts of 99 log(1 / 0.3), is a pass
    assert StabilizedSGDClassifier(n_paths=2, max_iter=2).fit(Source(X[:600], y[:600])).first_burst_ == 99
    short = StabilizedSGDClassifier(n_paths=2, max_iter=1).fit(X[:100], y[:100])
    assert short.first_burst_ == 50  # or noise is learned
    assert StabilizedSGDClassifier(n_paths=2, max_iter=1, burst_size=7).fit(X, y).first_burst_ == 7


def test_weak_signals_in_a_wide_stream_survive():
    rng = np.random.default_rng(0)
    n, p = 25_000, 2_000
    X = sp.random_array((n, p), density=0.02, format="csr", rng=rng, data_sampler=rng.normal)
    y = X @ (rng.normal(size=p) * (rng.random(p) < 0.1)) > 0
    model = StabilizedSGDClassifier(n_paths=4).partial_fit(X[:20_000], y[:20_000], classes=[False, True])
    plain = SGDClassifier().partial_fit(X[:20_000], y[:20_000], classes=[False, True])
    assert np.count_nonzero(model.coef_) < 400
    assert model.score(X[20_000:], y[20_000:]) > plain.score(X[20_000:], y[20_000:])


def test_scale_does_not_decide():
    X, y = rows(n=800)
    factors = np.exp(np.random.default_rng(0).normal(size=40) * 3)
    plain = StabilizedSGDClassifier(max_iter=5).fit(X, y)
    scaled = StabilizedSGDClassifier(max_iter=5).fit(X * factors, y)
    assert_array_equal(plain.get_support(), scaled.get_support())
    assert_allclose(scaled.coef_ * factors, plain.coef_, rtol=1e-6)


def test_an_overflow_in_rows_that_wait_is_told_when_read():
    X, y = rows(classes=0)
    model = StabilizedSGDRegressor(eta=1e150, block_size=1000).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"eta=1e\+150"):
        _ = model.coef_


@pytest.mark.parametrize(
    "wrong",
    [{"n_paths": 0}, {"burst_size": 2.5}, {"burst_size": "long"}, {"n_bursts": 0}, {"rejection": 1.0},
     {"rejection": -0.1}, {"rejection_decay": np.inf}, {"threshold": 1.5}, {"min_bursts": -1},
     {"burst_growth": 0.0}, {"gravity": -1.0}, {"truncation": "soft"}, {"rejection_spared": -1},
     {"max_iter": 0}, {"tol": -1.0}, {"block_size": 0},
     {"random_state": -1}, {"n_jobs": 0}],
    ids=str,
)  # fmt: skip
def test_parameters_outside_their_domain_are_refused(wrong):
    X, y = rows()
    with pytest.raises(ValueError, match=next(iter(wrong)) + "="):
        StabilizedSGDClassifier(**wrong).fit(X, y)


def forge(name, value):
    """Another value in a field, or in all places of an array."""

    def change(state):
        paths = state.paths
        if name in paths.clock.dtype.names:
            paths.clock[name] = value
        elif name in paths.head.dtype.names:
            paths.head[name] = value
        elif isinstance(getattr(paths, name), np.ndarray):
            getattr(paths, name)[...] = value
        else:
            setattr(paths, name, value)

    return change


@pytest.mark.parametrize(
    "change",
    [
        forge("slot", 71),
        forge("id", 1),
        forge("alive", 0),
        forge("size", 10**6),
        forge("dead", 1),
        forge("touched", 10**6),
        forge("records", 10**6),
        forge("which", 10**6),
        forge("bursts", 10**6),
        forge("filled", 10**6),
        forge("first_burst", -1),
        forge("n_history", 10**6),
        lambda state: setattr(state.paths, "weights", np.zeros((2, 9, 4))),
        lambda state: setattr(state.paths, "tally", state.paths.tally[:9]),
        lambda state: setattr(state.buffer, "targets", None),
        lambda state: setattr(state.buffer, "targets", np.zeros((3, 1))),
        lambda state: setattr(state.buffer, "rows", Rows(np.zeros((10, 99)))),
        lambda state: setattr(state.buffer, "rows", Rows(np.full((10, 40), np.nan))),
        lambda state: setattr(state.buffer, "weights", np.ones(3)),
    ],
)
def test_state_that_a_kernel_could_not_follow_is_refused(change):
    X, y = rows(n=58)
    model = StabilizedSGDClassifier(n_paths=2, burst_size=5, block_size=16, n_bursts=2)
    method = model.partial_fit(X, y, classes=[0, 1]).method_
    assert list(method.state.buffer.fields()) == ["rows", "targets", "weights"]
    method.check_state()
    change(method.state)
    with pytest.raises(ValueError, match=r"\w+"):
        method.check_state()


def test_records_have_the_names_of_the_kernel():
    folder = pathlib.Path(__file__).parents[1] / "cpp"
    files = ("learners/slots.hpp", "learners/stabilized.hpp", "core/steps.hpp")
    text = "".join((folder / file).read_text() for file in files)

    def names(struct):
        body = text.split(f"struct {struct} {{")[1].split("};")[0]
        nested = names("Clock") if "Clock clock;" in body else []
        return nested + [n.strip() for line in re.findall(r"double ([^;]*);", body) for n in line.split(",")]

    paths = Paths(1, 1, n_paths=1, burst_size=1, gravity=0.0, rejection=0.5, standardize=True)
    arrays = {"StageClock": "clock", "PathHead": "head", "Tally": "tally", "Unit": "unit", "Stage": "history"}
    for struct, name in arrays.items():
        assert tuple(names(struct)) == getattr(paths, name).dtype.names


def test_the_buffer_holds_the_same_rows_whatever_calls_they_came_in():
    X, y = rows(n=30)
    whole, parts = RowBuffer(), RowBuffer()
    whole.append(Rows(X), y[:, None].astype(float), None)
    for a, b in ((0, 7), (7, 8), (8, 30)):
        parts.append(Rows(X[a:b]), y[a:b, None].astype(float), None)
        assert len(parts) == b
        if a == 7:
            parts = parts.copy()
    assert not list(parts.differences(whole))
    X[:] = 0  # copies
    assert parts.joined()[0].values.any()
    parts.clear()
    assert len(parts) == 0


try:
    data.data_directory()
    reason = ""
except FileNotFoundError as missing:
    reason = str(missing)


class TenPasses(TruncatedGradientClassifier):
    """Truncated gradient as [Ma] 6.2 has it."""

    def fit(self, X, y=None, sample_weight=None):
        for _ in range(10):
            self.partial_fit(X, y, classes=[-1, 1], sample_weight=sample_weight)
        return self


# [Ma] has errors of 17.6 and 13.4% with 3.7 and 5.4% of the features on arcene. This is not reproduced: 20 to
# 23% with 13 to 15% of them is what the defaults give. Cross-validation on the 100 training rows has no use
# for fewer: with 4 to 6% of the features its error goes from 20 to 26% and more, as does that of a linear SVM
# that holds all rows and loses the weaker half of its features again and again (`papers ma` has both).
@pytest.mark.slow
@pytest.mark.skipif(bool(reason), reason=reason)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize(("name", "error", "share"), [("dexter", 0.08, 0.03), ("arcene", 0.23, 0.175)])
def test_few_features_that_are_the_same_in_every_order(name, error, share, loss):
    X, y, X_test, y_test = ma.scaled_rows(name)
    errors = []

    class Scored(StabilizedSGDClassifier):
        def fit(self, X, y=None, sample_weight=None):
            super().fit(X, y, sample_weight)
            errors.append(1 - self.score(X_test, y_test))
            return self

    ours = selection_stability(Scored(loss=loss), X, y, 5)
    theirs = selection_stability(TenPasses(alpha=0.01, eta=0.1, K=5, loss=loss), X, y, 5)
    print(f"{name}, {loss}: error {np.mean(errors):.3f}, {ours}, truncated gradient {theirs}")
    assert np.mean(errors) <= error
    assert ours.share <= share
    assert ours.kappa >= 0.5
    assert ours.kappa > theirs.kappa
