"""Rows that carry a centre and a unit for each column: what kernels read is the transformed copy."""

import copy
import inspect
import time
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import streamsieve
from streamsieve.core.rows import ColumnMap, Rows, from_scipy
from streamsieve.methods import ESTIMATORS

#: Learners whose rows are centred or scaled.
LEARNERS = {
    estimator.name: estimator.load()
    for estimator, _ in ESTIMATORS.values()
    if getattr(estimator.load(), "prepare", None)
}


def wide_csr(X):
    """CSR with indices of 64 bits, which do not begin with the first entry."""
    X = sp.csr_array(np.vstack([X[:1], X]))
    rows = Rows(p=X.shape[1], csr=(X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data))
    return rows[1:]


LAYOUTS = {
    "dense": lambda X: Rows(np.ascontiguousarray(X)),
    "column order": lambda X: Rows(np.asfortranarray(X)),
    "strided": lambda X: Rows(np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]),
    "csr": lambda X: from_scipy(sp.csr_array(X)),
    "csr, 64 bits": wide_csr,
}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def draw(seed, dtype=np.float64, n=60, p=23, seldom_zero=0.9):
    """Values, the parts of a map, and the values that it makes of them."""
    rng = np.random.default_rng(seed)
    far = rng.random(p) < 0.4
    far[2] = True
    X = rng.normal(size=(n, p)) + 5 * far
    X *= rng.random((n, p)) < np.where(far, seldom_zero, 0.3)
    X = X.astype(dtype)
    center = np.where(far, rng.normal(5, 1, p), 0.0)
    inverse = rng.uniform(0.5, 2, p)
    return X, ColumnMap(center, inverse), (X - center) * inverse


@layouts
@dtypes
@given(seed=st.integers(0, 2**32 - 1), part=st.sampled_from(["both", "center", "inverse"]))
@settings(max_examples=20)
def test_a_map_is_applied_to_every_value(layout, dtype, seed, part):
    X, both, expected = draw(seed, dtype)
    if part == "center":
        both, expected = ColumnMap(both.center), X - both.center
    elif part == "inverse":
        both, expected = ColumnMap(None, both.inverse), X * both.inverse
    rows = layout(X).mapped(both)
    assert_array_equal(rows.to_array(), expected)
    assert_array_equal(rows.to_scipy().toarray(), expected)
    assert_array_equal(rows.copy().to_array(), expected)
    assert rows.copy().map is None
    assert_array_equal(rows[7:20].to_array(), expected[7:20])
    at, columns = np.array([3, 3, 50, 0]), np.array([20, 4, 5])
    assert_array_equal(rows.take(at).to_array(), expected[at])
    assert_array_equal(rows.take(expected[:, 0] > 0).to_array(), expected[expected[:, 0] > 0])
    assert_array_equal(rows.columns(columns).to_array(), expected[:, columns])
    assert_array_equal(rows.tight().to_array(), expected)
    assert_array_equal(Rows.concat([rows[:9], layout(X)[9:]]).to_array()[:9], expected[:9])
    assert_array_equal(np.vstack([part.to_array() for _, part in rows.parts(at)]), expected[at])
    if rows.sparse:
        assert_array_equal(rows.with_width(30).to_array()[:, :23], expected)
        assert_array_equal(rows.with_width(10).to_array(), expected[:, :10])


@layouts
@dtypes
def test_columns_that_a_batch_lacks_are_left_out(layout, dtype):
    X, map_, expected = draw(0, dtype)
    assert_array_equal(layout(X[:, :10]).mapped(map_).to_array(), expected[:, :10])


@layouts
@dtypes
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_sums_and_scores_are_those_of_the_mapped_values(layout, dtype, seed):
    X, map_, Z = draw(seed, dtype)
    rng = np.random.default_rng(seed)
    rows, w, y = layout(X).mapped(map_), rng.random(len(X)), rng.normal(size=(len(X), 2))
    sums = rows.column_sums(w, y)
    assert_array_equal(sums[:, 0], np.count_nonzero(Z, axis=0))
    expected = np.column_stack([Z.T @ w, (Z * Z).T @ w, Z.T @ (y * w[:, None])])
    assert_allclose(sums[:, 1:], expected, atol=1e-10)
    at = rng.integers(0, len(X), 40)
    assert_allclose(rows.column_sums(w, y, at=at)[:, 3:], Z[at].T @ (y[at] * w[at, None]), atol=1e-10)
    weight, bias = rng.normal(size=(Z.shape[1], 2)), rng.normal(size=2)
    assert_allclose(rows.scores(weight, bias, 0.5), 0.5 * Z @ weight + bias, atol=1e-10)
    used = np.count_nonzero(Z.any(axis=0))
    assert rows.mostly_zero() == (2 * np.count_nonzero(Z) < len(Z) * used)


def learned(name, rows, y, w):
    """The state of a learner after rows of at most 60 columns, without its own centre and unit."""
    options = {"k": 5} if "k" in LEARNERS[name].params else {}
    options |= {"SFSA": {"batch_size": 5, "maturity": 4}, "OLSTThenTSGD": {"C": 20}}.get(name, {})
    if name == "StabilizedSGD":
        options |= {"burst_size": 4, "n_paths": 3, "block_size": 20}
    loss = next(iter(LEARNERS[name].losses.values()))[0]
    method = LEARNERS[name](loss=loss, **options)
    method.begin(rows.p, y.shape[1])
    for part in (slice(0, 35), slice(35, len(y))):
        for at, some in rows[part].in_row_order():
            targets, weights = y[part][at], None if w is None else w[part][at]
            assert method.learn(some, targets, weights) == len(some)
    return method.state


@pytest.mark.parametrize("name", LEARNERS)
@layouts
@dtypes
@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("seldom_zero", [0.9, 1.0], ids=["some centred columns are zero", "none is"])
def test_learners_read_mapped_rows_as_they_read_the_transformed_copy(name, layout, dtype, q, seldom_zero):
    X, map_, Z = draw(1, dtype, seldom_zero=seldom_zero)
    y = np.ascontiguousarray(np.where(Z[:, [3, 7, 11][:q]] > 0, 1.0, -1.0))
    w = np.random.default_rng(2).choice([0.5, 1.0, 3.0], len(X))
    rows = layout(X).mapped(map_)
    copy = rows.materialized()
    assert_array_equal(copy.to_array(), Z)
    assert not list(learned(name, rows, y, w).differences(learned(name, copy, y, w)))


# ---------------------------------------------------------------- of all estimators


def estimator(name, **options):
    """A learner for labels, at work on few rows."""
    kind = getattr(streamsieve, f"{name}Classifier")
    options |= {"StabilizedSGD": {"block_size": 64}, "OLSTThenTSGD": {"C": 100}}.get(name, {})
    return kind(**{key: v for key, v in options.items() if key in inspect.signature(kind).parameters})


@pytest.mark.parametrize("name", LEARNERS)
def test_without_standardize_rows_are_used_as_given(name):
    """A single row is learned at once, about zero and in its own units; the intercept starts at zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)) * np.arange(1, 13) + 40 * (np.arange(12) % 3 == 0)
    y = (X[:, 4] > 0).astype(int)
    model = estimator(name, standardize=False, k=12)
    model.partial_fit(X, y, classes=[0, 1])
    assert model._model.prepare is None
    method = LEARNERS[name](loss=model._model.method.loss, **{
        key: value for key, value in model._model.method.values.items() if key != "loss"
    })  # fmt: skip
    method.begin(12, 1)
    method.update(Rows(X), 2.0 * y[:, None] - 1.0, None)
    assert not list(method.state.differences(model._model.method.state))


def peak(run):
    """Bytes that Python and NumPy hold at most while it runs, beyond what was there."""
    streamsieve.OLSTRegressor(1).partial_fit(np.eye(300)[:, :2], np.arange(300.0))  # loads SciPy
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def large(layout):
    """32 MB of rows, of which every tenth column is far from zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 500)) + 20 * (np.arange(500) % 10 == 0)
    return layout(X), (X[:, 3] > 0).astype(int)


def own_memory(name, X):
    """OLST has three matrices of the size p^2."""
    return 3 * 8 * X.shape[1] ** 2 if name == "OLSTThenTSGD" else 0


LARGE = {"dense": np.ascontiguousarray, "column order": np.asfortranarray, "csr": sp.csr_array}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("layout", LARGE.values(), ids=LARGE)
def test_a_large_batch_is_learned_without_a_copy_of_it(name, layout):
    X, y = large(layout)
    model = estimator(name, k=20, maturity=50, ladder=False, n_penalties=2)
    model.partial_fit(X[:10], y[:10], classes=[0, 1])  # in the buffer when the others come
    assert peak(lambda: model.partial_fit(X, y)) < 6e6 + own_memory(name, X)
    assert np.count_nonzero(model._model.prepare.center) == 50


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("layout", LARGE.values(), ids=LARGE)
def test_passes_over_rows_in_memory_copy_a_block_at_a_time(name, layout):
    X, y = large(layout)
    model = estimator(name, k=20, max_iter=2, maturity=50, ladder=False, n_penalties=2, refit=False)
    assert peak(lambda: model.fit(X, y)) < 8e6 + own_memory(name, X)


@pytest.mark.parametrize("name", sorted(LEARNERS.keys() - {"OLSTThenTSGD"}))
def test_one_row_costs_the_same_whatever_the_number_of_columns(name):
    rng = np.random.default_rng(0)

    def seconds(p):
        at = np.arange(0, p, p // 50)[:50]
        X = sp.csr_array(
            (rng.normal(size=(150, 50)).ravel(), np.tile(at, 150), np.arange(0, 7501, 50)), (150, p)
        )
        y = (X[:, [at[3]]].toarray().ravel() > 0).astype(int)
        model = estimator(name, k=20)
        model.partial_fit(X[:140], y[:140], classes=[0, 1])
        rows = [(X[[i]], y[i : i + 1]) for i in range(140, 150)]
        model.partial_fit(*rows[0])
        assert peak(lambda: model.partial_fit(*rows[1])) < 3e5
        times = []
        for row in rows[2:]:
            start = time.process_time()
            model.partial_fit(*row)
            times.append(time.process_time() - start)
        return min(times)

    # a look at a million numbers takes half a millisecond, the row a tenth of that
    assert seconds(1_000_000) < 3 * seconds(1_000) + 2e-4


def test_a_call_that_places_the_centre_and_then_fails_changes_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(20 * (np.arange(5) == 0), 1, (300, 5))
    y = X[:, 1]
    model = streamsieve.SGDRegressor(eta=1e3).partial_fit(X[:10], y[:10])  # too long a step: it diverges
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(X, y)
    assert not list(model._model.differences(before._model))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["SGD", "TSGD", "SIHT", "FTRLProximal", "OFS"])
def test_one_call_of_many_rows_is_many_calls_of_one(name, dtype):
    """Kernels that lay out or batch what they read for large calls give the bits of the plain ones."""
    rng = np.random.default_rng(4)
    X = sp.csr_array((rng.normal(size=(400, 23)) * (rng.random((400, 23)) < 0.4)).astype(dtype))
    X.data[::17] = 0.0  # stored zeros do not count
    y = np.sign(X @ rng.normal(size=23) + 0.1)
    whole, parts = (
        getattr(streamsieve, f"{name}Classifier")().partial_fit(X[:150], y[:150], classes=[-1, 1])
        for _ in range(2)
    )
    whole.partial_fit(X[150:], y[150:])
    for i in range(150, 400):
        parts.partial_fit(X[[i]], y[[i]])
    assert_array_equal(whole.coef_, parts.coef_)
    assert_array_equal(whole.intercept_, parts.intercept_)
