"""What holds for every row-wise learner: a line in `methods.py` is enough to be tested."""

import copy
import gc
import inspect
import pickle
import threading
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_wine

import streamsieve
import streamsieve.training.prepare
from streamsieve.methods import ESTIMATORS

N, P, K = 120, 30, 5

#: Constructor arguments a learner needs to be at work on so few rows.
OPTIONS: dict[str, dict] = {
    "OLSTThenTSGDClassifier": {"C": 40},
    "OLSTThenTSGDRegressor": {"C": 40},
    "SFSAClassifier": {"batch_size": 5, "maturity": 4},
    "SFSARegressor": {"batch_size": 5, "maturity": 4},
}
OPTIONS |= {
    name: {"burst_size": 4, "n_paths": 3, "block_size": 20, "max_iter": 1, "shuffle": False}
    for name in ("StabilizedSGDClassifier", "StabilizedSGDRegressor")
}

#: Where a schedule counts the features, a model that grows is another one, unless it keeps them all; and one
#: that has matured is closed to newcomers. A derived ridge counts them too.
GROWING = {name: {"k": P, "maturity": N} for name in ("SFSARegressor", "SFSAClassifier")}
GROWING |= {name: {"ridge": 2.0} for name in ("OLSTRegressor", "OLSTClassifier")}

#: Families that learn row by row.
ROW_WISE = ("stochastic", "budgeted", "regularised", "stabilized")

LEARNERS = [getattr(streamsieve, name) for name, (e, _) in ESTIMATORS.items() if e.family in ROW_WISE]


def can_overflow(kind):
    """Whether some step is too long for the learner: the weights of others stay bounded whatever it is."""
    return ESTIMATORS[kind.__name__][0].load().can_overflow is not False


def make(kind, **options):
    if "k" in inspect.signature(kind).parameters:
        options = {"k": K, **options}
    return kind(**{**OPTIONS.get(kind.__name__, {}), **options})


def data(kind, seed=0, n=N, p=P, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.4)
    target = X[:, 3] - 2 * X[:, 7] + 0.1 * rng.normal(size=n)
    if not is_classifier(kind()):
        return X, target
    return X, np.digitize(target, np.quantile(target, np.arange(1, classes) / classes))


def feed(model, X, y, sample_weight=None):
    options = {"classes": np.unique(y_all(model, y))} if is_classifier(model) else {}
    return model.partial_fit(X, y, sample_weight=sample_weight, **options)


def y_all(model, y):
    return getattr(model, "_all_classes", y)


def begin(kind, y, **options):
    model = make(kind, **options)
    if is_classifier(model):
        model._all_classes = np.unique(y)
    return model


def state(model):
    """Everything that was learned, array by array."""
    if hasattr(model, "_model"):
        return {"": model._model}
    return {
        name: np.array(value)
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, np.ndarray | int | float | bool)
    }


def assert_same_state(a, b):
    a, b = state(a), state(b)
    assert a.keys() == b.keys()
    if "" in a:
        assert not list(a[""].differences(b[""]))
        return
    for name in a:
        assert_array_equal(a[name], b[name], err_msg=name)


every = pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)
layouts = pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])


@every
@layouts
@pytest.mark.parametrize(
    "options", [{}, {"lam": 0.1, "alpha": 0.1, "schedule": "doubling"}, {"eta": 0.01, "schedule": "sqrt"}]
)
def test_chunks_do_not_matter(kind, layout, options):
    options = {name: v for name, v in options.items() if name in inspect.signature(kind).parameters}
    X, y = data(kind, classes=3)
    X = layout(X)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], N)
    whole = feed(begin(kind, y, **options), X, y, weight)

    @settings(deadline=None, max_examples=15)
    @given(st.sets(st.integers(1, N - 1)))
    def law(cuts):
        parts = begin(kind, y, **options)
        edges = [0, *sorted(cuts), N]
        for a, b in pairwise(edges):
            feed(parts, X[a:b], y[a:b], weight[a:b])
        assert_same_state(parts, whole)
        assert_array_equal(parts.coef_, whole.coef_)

    law()


@every
@pytest.mark.parametrize("classes", [2, 3])
def test_layout_does_not_matter(kind, classes):
    X, y = data(kind, classes=classes)
    # of the refit, which is solved to a tolerance, the last digits do
    options = {"refit": False} if "refit" in inspect.signature(kind).parameters else {}

    def made():
        return make(kind, **options)

    dense = made().fit(X, y)
    S = sp.csr_array(X)
    wide = sp.csr_array((S.data, S.indices.astype(np.int64), S.indptr.astype(np.int64)), shape=S.shape)
    small = made().fit(S, y)
    for other in (
        made().fit(np.asfortranarray(X), y),
        made().fit(np.repeat(X, 2, axis=1)[:, ::2], y),
    ):
        assert_array_equal(other.coef_, dense.coef_)
    assert_array_equal(made().fit(wide, y).coef_, small.coef_)
    assert_array_equal(made().fit(S.tocsc(), y).coef_, small.coef_)
    assert_allclose(small.coef_, dense.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(small.intercept_, dense.intercept_, rtol=1e-9, atol=1e-12)
    F = X.astype(np.float32)
    exact = made().fit(F.astype(np.float64), y)  # the same numbers: equal but for the order of sums
    assert_allclose(made().fit(F, y).coef_, exact.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(made().fit(sp.csr_array(F), y).coef_, exact.coef_, rtol=1e-9, atol=1e-12)


@every
def test_explicit_zeros_disorder_and_repeats_are_read_as_scipy_reads_them(kind):
    X, y = data(kind)
    S = sp.csr_array(X)
    plain = make(kind).fit(S, y)
    kept = sp.csr_array(X)
    kept.data[::5] = 0
    assert_allclose(  # a sum over more terms may be taken in another order
        make(kind).fit(kept, y).coef_,
        make(kind).fit(sp.csr_array(kept.toarray()), y).coef_,
        rtol=1e-9,
        atol=1e-12,
    )
    mixed = S.copy()
    for a, b in pairwise(mixed.indptr):
        mixed.indices[a:b] = mixed.indices[a:b][::-1].copy()
        mixed.data[a:b] = mixed.data[a:b][::-1].copy()
    assert_array_equal(make(kind).fit(mixed, y).coef_, plain.coef_)
    halves = sp.csr_array(
        (np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape
    )  # every entry twice
    before = halves.data.copy()
    assert_array_equal(make(kind).fit(halves, y).coef_, plain.coef_)
    assert_array_equal(halves.data, before)


@every
@layouts
def test_pickled_mid_stream_is_uninterrupted(kind, layout):
    X, y = data(kind, classes=3)
    X = layout(X)
    whole = feed(begin(kind, y), X, y)
    half = feed(begin(kind, y), X[:50], y[:50])
    for resumed in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        assert_same_state(feed(resumed, X[50:], y[50:]), whole)


@every
def test_inputs_are_not_touched_and_may_be_read_only(kind):
    X, y = data(kind)
    for rows in (X, sp.csr_array(X)):
        weight = np.full(N, 0.7)
        arrays = [y, weight, *((rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows,))]
        copies = [a.copy() for a in arrays]
        for a in arrays:
            a.flags.writeable = False
        model = feed(begin(kind, y), rows, y, weight)
        model.predict(rows)
        model.get_support()
        for a, b in zip(arrays, copies):
            assert_array_equal(a, b)
            a.flags.writeable = True


@every
@pytest.mark.parametrize("classes", [2, 3])
def test_the_budget_holds_at_any_time(kind, classes):
    X, y = data(kind, classes=classes)
    model = begin(kind, y)
    for i in range(0, N, 3):
        feed(model, X[i : i + 3], y[i : i + 3])
        support = model.get_support(indices=True)
        assert len(support) <= (K if hasattr(model, "k") else P)
        assert_array_equal(support, np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0)))
        assert np.isfinite(model.predict(X).astype(float)).all()


def bad_batches(kind):
    X, y = data(kind)
    for value in (np.nan, np.inf, 1e200):
        dense = X.copy()
        dense[-1, 4] = value
        yield dense, y, None
        yield sp.csr_array(dense), y, None
    yield X[:, :-1], y, None
    yield sp.csr_array(X)[:, :-1], y, None
    S = sp.csr_array(X)
    S.indices[-1] = P
    yield S, y, None
    S = sp.csr_array(X)
    S.indices[-1] = -1
    yield S, y, None
    yield X, y[:-1], None
    yield X, y, np.full(N, -1.0)
    yield X, y, np.full(N, np.nan)
    if is_classifier(kind()):
        yield X, np.where(np.arange(N) == N - 1, 7, y), None
    else:
        yield X, np.where(np.arange(N) == N - 1, np.nan, y), None
        yield X, np.where(np.arange(N) == N - 1, 1e200, y), None


@every
def test_a_bad_batch_leaves_the_state_untouched(kind):
    X, y = data(kind)
    model = feed(begin(kind, y), X, y)
    before = copy.deepcopy(model)
    for rows, targets, weight in bad_batches(kind):
        with pytest.raises(ValueError, match=r"\w+"):
            model.partial_fit(rows, targets, sample_weight=weight)
        assert_same_state(model, before)
        if rows.shape[1] < P or (is_classifier(model) and targets.max() > 1):
            continue  # fine, had it come first
        with pytest.raises(ValueError, match=r"\w+"):
            model.fit(rows, targets, sample_weight=weight)
        assert_same_state(model, before)
        fresh = make(kind)
        with pytest.raises(ValueError, match=r"\w+"):
            fresh.fit(rows, targets, sample_weight=weight)
        assert not state(fresh)


@every
@layouts
def test_a_step_that_overflows_is_named_and_undone(kind, layout):
    if "eta" not in inspect.signature(kind).parameters:
        pytest.skip("this learner has no step to choose")
    if not can_overflow(kind):
        pytest.skip("no step of this learner can overflow")
    options = {"eta": 1e150} | ({"loss": "squared"} if is_classifier(kind()) else {})
    X, y = data(kind)
    model = begin(kind, y, **options)
    before = copy.deepcopy(feed(model, layout(X[:1]), y[:1]))
    with pytest.raises(ValueError, match=r"eta=1e\+150"):
        feed(model, layout(X[1:]), y[1:])
    assert_same_state(model, before)
    fresh = begin(kind, y, **options)
    with pytest.raises(ValueError, match=r"eta=1e\+150"):
        feed(fresh, layout(X), y)
    assert not state(fresh)


@every
def test_weightless_rows_are_no_rows(kind):
    X, y = data(kind)
    weight = np.where(np.arange(N) % 3, 1.0, 0.0)
    keep = weight > 0
    assert_same_state(
        feed(begin(kind, y), X, y, weight), feed(begin(kind, y), X[keep], y[keep], weight[keep])
    )


@every
def test_memory_does_not_grow_with_rows(kind):
    X, y = data(kind)
    S = sp.csr_array(X)
    model = begin(kind, y)

    def run(times):
        for _ in range(times):
            feed(model, S, y)
            model.predict(S)

    run(25)  # until all has been needed once, the solver of a refit too
    tracemalloc.start()
    run(5)
    gc.collect()
    first = tracemalloc.get_traced_memory()[0]
    run(40)
    gc.collect()
    later = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert later - first < 80_000  # 40 calls bring 1.2 MB of rows; SFSA may gain a rung with its refit
    size = len(pickle.dumps(model))
    run(5)
    assert len(pickle.dumps(model)) <= size + 64


@every
def test_clone_has_the_parameters_and_nothing_learned(kind):
    X, y = data(kind)
    model = make(kind).fit(X, y)
    bare = clone(model)
    assert bare.get_params() == model.get_params()
    assert not state(bare)
    assert_array_equal(bare.fit(X, y).coef_, model.coef_)


@every
def test_a_second_fit_forgets_the_first(kind):
    X, y = data(kind)
    once, twice = make(kind).fit(X, y), make(kind).fit(X[::-1], y[::-1]).fit(X, y)
    assert_same_state(once, twice)


@every
def test_a_wider_batch_is_welcome_where_features_grow(kind):
    X, y = data(kind)
    S = sp.csr_array(X)
    S = S[:, np.argsort(np.arange(P) % 2, kind="stable")]
    S.sort_indices()
    early = S[:60].copy()
    early = sp.csr_array(early.toarray() * (np.arange(P) < 11))  # later columns are empty at first
    options = GROWING.get(kind.__name__, {})
    grown = begin(kind, y, grow=True, **options)
    feed(grown, early[:30, :11], y[:30])
    feed(grown, early[30:, :11], y[30:60])
    assert grown.n_features_in_ == 11
    grown = pickle.loads(pickle.dumps(grown))
    for i in range(60, N):
        feed(grown, S[[i], : max(11, i * P // N + 1)], y[i : i + 1])
    full = begin(kind, y, **options)
    feed(full, early, y[:60])
    for i in range(60, N):
        row = S[[i]].toarray()
        row[:, max(11, i * P // N + 1) :] = 0
        feed(full, sp.csr_array(row), y[i : i + 1])
    assert grown.n_features_in_ == P
    assert_array_equal(grown.coef_, full.coef_)
    narrow, wide = S[:, :5], sp.csr_array(np.hstack([S.toarray(), np.ones((N, 3))]))
    assert_array_equal(grown.predict(wide), grown.predict(S))
    assert len(grown.predict(narrow)) == N
    with pytest.raises(ValueError, match="features"):
        feed(full, wide, y)


@every
def test_a_batch_that_fails_does_not_widen(kind):
    if "eta" not in inspect.signature(kind).parameters:
        pytest.skip("this learner has no step to choose")
    if not can_overflow(kind):
        pytest.skip("no step of this learner can overflow")
    options = {"eta": 1e150, "grow": True} | ({"loss": "squared"} if is_classifier(kind()) else {})
    X, y = data(kind)
    S = sp.csr_array(X)
    model = feed(begin(kind, y, **options), S[:1, :11], y[:1])
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="eta"):
        feed(model, S, y)
    assert_same_state(model, before)


@every
def test_one_row_at_a_time_is_the_stream(kind):
    X, y = data(kind)
    y = y.astype(bool) if is_classifier(kind()) else y
    names = [f"x{j}" for j in range(P)]
    model = make(kind)
    assert model.predict_one({"x1": 1.0}) in (None, 0.0)
    order: list[str] = []
    for x, t in zip(X, y):
        row = {names[j]: x[j] for j in np.flatnonzero(x)}
        order += [name for name in row if name not in order]
        model.learn_one(row, t)
    at = [names.index(name) for name in order]
    batch = feed(make(kind), sp.csr_array(X[:, at]), y)
    assert model.n_features_in_ == len(order)
    assert_allclose(model.coef_, batch.coef_, rtol=1e-9, atol=1e-12)
    assert set(model.get_feature_names_out()) == {order[j] for j in batch.get_support(indices=True)}
    for x in X[:10]:
        row = {names[j]: x[j] for j in np.flatnonzero(x)} | {"unheard of": 3.0}
        expected = batch.predict(sp.csr_array(x[None, at]))[0]
        assert_allclose(float(model.predict_one(row)), float(expected), rtol=1e-9, atol=1e-12)
    before = copy.deepcopy(model)
    for row, t in (
        ({"x1": np.nan, "new": 1.0}, y[0]),
        ({"x1": "text"}, y[0]),
        ({"x1": 1.0, "n": 2.0}, "what"),
    ):
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(row, t)
        assert_same_state(model, before)
        assert model.names_ == before.names_


@every
def test_parameters_outside_their_domain_are_refused(kind):
    X, y = data(kind)
    wrong = {
        "k": [0, -1, 2.5, "all"],
        "eta": [0, -1.0, "fast", np.inf],
        "schedule": ["linear"],
        "lam": [-1.0, np.nan],
        "alpha": [-1.0, np.nan],
        "loss": ["absolute"],
        "ridge": [-1.0, "some", np.inf],
        "C": [0, -1],
    }
    for name, values in wrong.items():
        if name in inspect.signature(kind).parameters:
            for value in values:
                with pytest.raises(ValueError, match=rf"{name}="):
                    make(kind, **{name: value}).fit(X, y)


@every
def test_docstring_names_every_parameter_and_has_an_example(kind):
    for name in inspect.signature(kind).parameters:
        assert f"\n{name} : " in kind.__doc__
    assert ">>> " in kind.__doc__


@every
def test_fit_is_the_stream_again_and_again(kind):
    if "max_iter" not in inspect.signature(kind).parameters:
        pytest.skip("this learner learns every row once")
    known = inspect.signature(kind).parameters
    options = {name: False for name in ("standardize", "refit") if name in known}  # units are from other rows
    options |= {"init": "zero"} if "init" in known else {}
    X, y = data(kind, n=150)
    fitted = make(kind, max_iter=2, shuffle=False, **options).fit(X, y)
    assert fitted.n_iter_ == 2
    if kind.__name__.startswith("OLSTThen"):
        pytest.skip("the first pass ends with OLST")
    if kind.__name__.startswith("Stabilized"):
        pytest.skip("a pass ends its last block")
    stream = feed(feed(begin(kind, y, **options), X, y), X, y)
    assert_same_state(fitted, stream)


@every
def test_units_do_not_decide(kind):
    known = inspect.signature(kind).parameters
    if "standardize" not in known:
        pytest.skip("this learner takes features as they come")
    X, y = data(kind, n=400)
    unit = 10.0 ** np.random.default_rng(2).uniform(-3, 3, P)
    options = {name: value for name, value in {"alpha": 1e-3, "refit": False}.items() if name in known}
    plain, scaled = make(kind, **options).fit(X, y), make(kind, **options).fit(X * unit, y)
    assert_array_equal(scaled.get_support(), plain.get_support())
    assert_allclose(scaled.coef_ * unit, plain.coef_, rtol=1e-5, atol=1e-7)


@every
def test_the_refit_is_the_model_of_the_selected_columns_alone(kind):
    known = inspect.signature(kind).parameters
    if "refit" not in known:
        pytest.skip("this learner has no refit")
    X, y = data(kind, n=400)
    own = make(kind, refit=False).fit(X, y)
    again = make(kind).fit(X, y)
    assert_array_equal(again.get_support(), own.get_support())
    kept = own.get_support(indices=True)
    alone = getattr(streamsieve, "SieveClassifier" if is_classifier(own) else "SieveRegressor")
    alone = alone(len(kept), fit_intercept=again.fit_intercept).fit(X[:, kept], y)
    assert_allclose(np.atleast_2d(again.coef_)[:, kept], np.atleast_2d(alone.coef_), rtol=1e-9)
    assert_same_state(pickle.loads(pickle.dumps(again)), again)
    if kind.__name__.startswith(("SFSA", "TSGD")):
        return  # whose streams have a refit of their own
    more = feed(copy.deepcopy(again), X[:20], y[:20])
    assert_array_equal(more.coef_, feed(copy.deepcopy(own), X[:20], y[:20]).coef_)  # until it learns again


@every
def test_labels_in_sorted_order_are_learned(kind):
    if not is_classifier(kind()):
        pytest.skip("a regressor has no labels")
    X, y = load_wine(return_X_y=True)
    assert_array_equal(y, np.sort(y))
    assert kind().fit(X, y).score(X, y) > 0.9  # a constant has 0.4, the last label 0.27


@pytest.mark.parametrize("kind", [k for k in LEARNERS if is_classifier(k())], ids=lambda kind: kind.__name__)
def test_weights_of_a_class_decide(kind):
    """A rare class that weighs as much as the other is predicted about as often."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    y = X[:, 0] + 2 * rng.logistic(size=4000) > 5  # 9 %
    model = make(kind).fit(X, y, sample_weight=np.where(y, (~y).sum() / y.sum(), 1.0))
    assert 0.2 < model.predict(X).mean() < 0.8


#: Learners by gradient steps, which centre columns that are far from zero.
CENTERING = [kind for kind in LEARNERS if kind._method_class.prepare]


@pytest.mark.parametrize("kind", CENTERING, ids=lambda kind: kind.__name__)
@layouts
def test_shift_does_not_decide(kind, layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12))
    target = X[:, 3] - 2 * X[:, 7] + 0.1 * rng.normal(size=3000)
    y = target > 0 if is_classifier(kind()) else target
    known = inspect.signature(kind).parameters
    options = {"fit_intercept": True, "alpha": 1e-3} | ({"k": None} if "n_penalties" in known else {})
    options = {name: value for name, value in options.items() if name in known}
    plain, shifted = make(kind, **options), make(kind, **options)
    for a, b in pairwise([0, 30, 130, 3000]):
        feed(plain, X[a:b], y[a:b])
        feed(shifted, layout(X[a:b] + 20), y[a:b])
    scores = [m.score(Z, y) for m, Z in ((plain, X), (shifted, layout(X + 20)))]
    assert scores[1] > scores[0] - 0.05


@pytest.mark.parametrize("kind", CENTERING, ids=lambda kind: kind.__name__)
@layouts
def test_centring_is_learning_rows_about_the_mean_of_the_first(kind, layout, monkeypatch):
    X, y = data(kind, n=260)
    X = np.where(np.arange(P) % 3, X, X + np.random.default_rng(1).normal(9, 1, X.shape))
    if "fit_intercept" not in inspect.signature(kind).parameters:
        pytest.skip("this learner has no intercept")
    centred = feed(begin(kind, y, fit_intercept=True), layout(X), y)
    first = X[:100]
    center = np.where(first.mean(axis=0) ** 2 > first.var(axis=0), first.mean(axis=0), 0.0)
    assert 0 < np.count_nonzero(center) < P
    stage = centred._model.prepare
    assert_allclose(stage.center, center, rtol=1e-12)
    unit, target_unit = 1.0 if stage.inverse is None else stage.inverse, stage.target_unit
    # units from running moments are the kernel's own; others are those of the same first rows
    options = {} if stage.inverse is None else {"standardize": False}
    monkeypatch.setattr(streamsieve.training.prepare, "ROWS", 0)
    plain = feed(
        begin(kind, y, fit_intercept=True, **options),
        layout((X - center) * unit),
        y if is_classifier(kind()) else y / target_unit,
    )
    coef = plain.coef_ * unit * target_unit
    assert_allclose(centred.coef_, coef, rtol=1e-6, atol=1e-9)
    intercept = plain.intercept_ * target_unit - np.squeeze(coef @ center)
    assert_allclose(
        centred.intercept_, np.reshape(intercept, np.shape(centred.intercept_)), rtol=1e-6, atol=1e-9
    )


@every
def test_two_threads_learn_in_some_order(kind):
    X, y = data(kind, n=900)
    start, parts = slice(0, 300), (slice(300, 600), slice(600, 900))
    ends = []
    for order in (parts, parts[::-1]):
        model = feed(begin(kind, y), X[start], y[start])
        for part in order:
            feed(model, X[part], y[part])
        ends.append(model)
    both = feed(begin(kind, y), X[start], y[start])
    threads = [threading.Thread(target=feed, args=(both, X[part], y[part])) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert any(not list(both.method_.state.differences(end.method_.state)) for end in ends)
