"""Laws of the streams: a row is a function of parameters, seed and row number, and obeys the papers."""

import inspect
import re
import tracemalloc
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse, vstack

from streamsieve import RunningAverages, extract, simulate
from streamsieve.simulate.stream import CHUNK_ROWS

ROWS = 2 * CHUNK_ROWS + 300  # three chunks, the last one cut
SMALL = {
    "correlated": {"p": 12, "k": 3, "spacing": 4},
    "sparse": {"p": 30, "k": 6, "nnz": 4},
    "dependent": {"p": 12, "k": 3, "spacing": 4},
    "drifting": {"p": 12, "k": 3, "spacing": 4, "rows_per_step": 7},
    "pricing": {"p": 12, "k": 3, "spacing": 4, "rows_per_step": 7},
}
streams = pytest.mark.parametrize("name", SMALL)


def make(name, n=ROWS, **options):
    return getattr(simulate, name)(n, **(SMALL[name] | options))


def dense(X):
    return X.toarray() if issparse(X) else X


def join(blocks):
    X, y = zip(*blocks)
    return dense(vstack(X)) if issparse(X[0]) else np.vstack(X), np.concatenate(y)


@pytest.fixture(scope="module")
def whole():
    """The first rows of each stream, read in one block."""
    taken = {name: make(name).take(ROWS) for name in SMALL}
    return {name: (dense(X), y) for name, (X, y) in taken.items()}


@streams
@settings(max_examples=15, deadline=None)
@given(n=st.integers(1, ROWS), block_size=st.integers(1, ROWS + 100))
def test_neither_block_size_nor_n_matters(whole, name, n, block_size):
    blocks = list(make(name, n, block_size=block_size))
    assert [len(y) for _, y in blocks[:-1]] == [block_size] * (len(blocks) - 1)
    X, y = join(blocks)
    assert_array_equal(X, whole[name][0][:n])
    assert_array_equal(y, whole[name][1][:n])


@streams
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_take_is_a_slice_of_the_stream_and_goes_on_after_its_end(whole, name, data):
    start = data.draw(st.integers(0, ROWS - 1))
    n = data.draw(st.integers(1, ROWS - start))
    X, y = make(name, 10).take(n, start)
    assert_array_equal(dense(X), whole[name][0][start : start + n])
    assert_array_equal(y, whole[name][1][start : start + n])


@streams
def test_stream_can_be_read_again_even_without_a_seed(name):
    stream = make(name, 50, random_state=None)
    (X, y), (again, y_again) = join(stream), join(stream)
    assert_array_equal(again, X)
    assert_array_equal(y_again, y)
    assert make(name, 50, random_state=None).random_state != stream.random_state


@streams
@given(seeds=st.sets(st.integers(0, 2**70), min_size=2, max_size=2))
def test_seed_matters(name, seeds):
    (X, _), (other, _) = (make(name, random_state=seed).take(1) for seed in sorted(seeds))
    assert not np.array_equal(dense(X), dense(other))


@streams
def test_no_row_comes_twice(whole, name):
    assert len(np.unique(whole[name][0], axis=0)) == ROWS


@streams
def test_endless_stream_goes_on(whole, name):
    X, _ = join(islice(make(name, None, block_size=100), 15))
    assert_array_equal(X, whole[name][0][:1500])
    far, _ = make(name, None).take(2, start=10**12)  # reached without drawing the rows before
    assert far.shape[0] == 2


@streams
def test_repr_is_the_call_that_makes_the_stream(whole, name):
    stream = make(name, noise=0.5, dtype=np.float32, random_state=3)
    twin = eval(f"simulate.{stream!r}")
    assert repr(twin) == repr(stream)
    assert_array_equal(twin.take(5)[1], stream.take(5)[1])
    assert not np.array_equal(twin.take(5)[1], whole[name][1][:5])
    assert "alpha" not in repr(stream)  # at its default


@streams
def test_float32_rows_are_the_float64_rows_rounded(whole, name):
    X, y = make(name, dtype=np.float32).take(ROWS)
    assert X.dtype == y.dtype == np.float32
    assert_array_equal(dense(X), whole[name][0].astype(np.float32))
    assert_array_equal(y, whole[name][1].astype(np.float32))


@streams
def test_blocks_belong_to_the_reader(name):
    stream = make(name, 300, block_size=100)
    expected = join(stream)[0]
    for X, y in stream:
        assert y.flags.owndata
        assert_array_equal(dense(X), expected[:100])
        expected = expected[100:]
        (X.data if issparse(X) else X)[:] = np.nan
        y[:] = np.nan
    with pytest.raises(ValueError, match="read-only"):
        stream.coef[0] = 1


@pytest.mark.parametrize("name", ["correlated", "drifting", "pricing"])
def test_dense_blocks_are_in_c_order(name):
    for X, _ in make(name, block_size=700):
        assert X.flags.c_contiguous
        assert X.dtype == np.float64


@streams
def test_memory_does_not_grow_with_n(name):
    def peak(n):
        tracemalloc.start()
        for _ in make(name, n):
            pass
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(1000)  # what is allocated once
    assert peak(30_000) < 1.2 * peak(3000)


def test_wide_rows_come_in_smaller_chunks():
    stream = simulate.correlated(9, p=2**18, k=1, dtype=np.float32, block_size=2)
    assert stream._chunk_rows == 4
    assert_array_equal(join(stream)[0], stream.take(9)[0])
    assert simulate.correlated(1, p=2**21, k=1)._chunk_rows == 1


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, -2.0])
def test_any_two_features_have_the_paper_s_correlation(alpha, unit):
    X, _ = simulate.correlated(20_000, p=12, k=1, alpha=alpha, unit_variance=unit).take(20_000)
    C = np.corrcoef(X.T)[np.triu_indices(12, 1)]
    assert_allclose(C, alpha**2 / (1 + alpha**2), atol=0.035)  # 5 standard errors of 1 / sqrt(n)
    assert_allclose(X.mean(0), 0, atol=0.08)
    assert_allclose(X.var(0), 1 if unit else 1 + alpha**2, rtol=0.05)


@given(st.integers(0, 6), st.integers(1, 5))
def test_true_features_are_spaced(k, spacing):
    stream = simulate.correlated(1, p=30, k=k, spacing=spacing, signal=(0.05, 1))
    assert stream.support.tolist() == [spacing * j - 1 for j in range(1, k + 1)]
    assert_array_equal(np.flatnonzero(stream.coef), stream.support)
    if k > 1:
        assert_allclose(stream.coef[stream.support], [0.05 + 0.95 * j / (k - 1) for j in range(k)])


def regression(name):
    return {} if name in ("dependent", "drifting", "pricing") else {"task": "regression"}


@streams
def test_without_noise_the_response_is_linear_in_the_truth(name):
    stream = make(name, noise=0, **regression(name))
    X, y = stream.take(ROWS)
    if hasattr(stream, "coef_at"):
        fit = [x @ stream.coef_at(stream.step_of(i)) + stream.intercept for i, x in enumerate(X)]
    else:
        fit = X @ stream.coef
    assert_allclose(y, fit, atol=1e-12)


@streams
def test_noise_has_its_deviation_and_nothing_to_do_with_x(name):
    options = {"feedback": 0.0} if name == "dependent" else regression(name)  # or the noise is in later rows
    X, clean = make(name, noise=0, **options).take(20_000)
    same, noisy = make(name, noise=3, **options).take(20_000)
    assert_array_equal(dense(same), dense(X))
    e = noisy - clean
    assert_allclose(e.std(), 3, rtol=0.03)
    assert_allclose(e.mean(), 0, atol=0.11)
    assert_allclose(np.corrcoef(dense(X).T, e)[-1, :-1], 0, atol=0.035)


@pytest.mark.parametrize("name", ["correlated", "sparse"])
def test_labels_are_the_signs_of_the_regression(name):
    X, y = make(name, task="regression", noise=0.7).take(1000)
    same, labels = make(name, task="classification", noise=0.7).take(1000)
    assert_array_equal(dense(same), dense(X))
    assert_array_equal(labels, np.where(y >= 0, 1, -1))


@given(st.integers(1, 40), st.data())
def test_sparse_rows_have_distinct_sorted_places(p, data):
    nnz = data.draw(st.integers(1, p))
    X, y = simulate.sparse(None, p=p, k=min(p, 5), nnz=nnz).take(20)
    assert isinstance(X, csr_array)
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert_array_equal(np.diff(X.indptr), nnz)
    places = X.indices.reshape(20, nnz)
    assert (np.diff(places, axis=1) > 0).all()
    assert 0 <= places.min() <= places.max() < p
    assert set(y) <= {-1.0, 1.0}


@pytest.mark.parametrize(("p", "nnz"), [(6, 2), (6, 3), (6, 4), (5, 4)])
def test_every_set_of_places_is_equally_likely(p, nnz):
    n = 20_000
    X, _ = simulate.sparse(None, p=p, k=1, nnz=nnz).take(n)
    _, counts = np.unique(X.indices.reshape(n, nnz), axis=0, return_counts=True)
    expected = n / len(counts)
    assert len(counts) == {(6, 2): 15, (6, 3): 20, (6, 4): 15, (5, 4): 5}[p, nnz]
    # chi-square: mean df, deviation sqrt(2 df)
    df = len(counts) - 1
    assert ((counts - expected) ** 2 / expected).sum() < df + 5 * np.sqrt(2 * df)


def test_sparse_truth_and_values_follow_the_paper():
    stream = simulate.sparse(1000, k=1000)
    values = stream.coef[stream.support]
    assert len(np.unique(stream.support)) == np.count_nonzero(stream.coef) == 1000
    assert 0 < values.min() <= values.max() <= 1
    assert_allclose([values.mean(), values.var()], [1 / 2, 1 / 12], rtol=0.1)
    X, _ = stream.take(1000)
    assert X.nnz == 200_000
    assert_allclose([X.data.mean(), X.data.var()], [0, 1], atol=0.02)
    assert not np.array_equal(simulate.sparse(1, random_state=1).coef, simulate.sparse(1).coef)


def test_true_features_can_be_in_every_row():
    stream = simulate.sparse(None, p=40, k=3, nnz=4, always=True)
    X, y = stream.take(2000)
    assert_array_equal(np.diff(X.indptr), 7)
    assert (np.diff(X.indices.reshape(2000, 7), axis=1) > 0).all()
    counts = np.bincount(X.indices, minlength=40)
    assert_array_equal(np.flatnonzero(counts == 2000), stream.support)
    others = np.delete(counts, stream.support)
    assert_allclose(others, 2000 * 4 / 37, rtol=0.3)
    assert_array_equal(y, np.where(X @ stream.coef >= 0, 1, -1))
    assert_array_equal(stream.take(5, start=10)[0].toarray(), X[10:15].toarray())
    with pytest.raises(ValueError, match=r"nnz=38.*37 other features"):
        simulate.sparse(9, p=40, k=3, nnz=38, always=True)


def test_rows_without_a_true_feature_are_positive():
    stream = simulate.sparse(None, p=30, k=2, nnz=3)
    X, y = stream.take(2000)
    untouched = X @ (stream.coef > 0) == 0
    assert untouched.sum() > 1000
    assert (y[untouched] == 1).all()


@given(st.integers(1, 5000))
def test_coefficients_drift_as_printed(t):
    stream = simulate.drifting()
    for j in range(1, 11):
        expected = 0.4 * np.sin(2 * np.pi * (t - 100 * j) / 1000) + 0.6
        assert_allclose(stream.coef_at(t)[10 * j - 1], expected, atol=1e-12)
    assert np.count_nonzero(stream.coef_at(t)) == 10


@given(st.integers(1, 5000))
def test_price_keeps_its_effect_while_the_others_drift(t):
    stream = simulate.pricing()
    coef = stream.coef_at(t)
    assert coef[0] == -0.5
    for j in range(2, 11):
        expected = 0.2 * np.sin(2 * np.pi * (t - 100 * j) / 2000) + 0.4
        assert_allclose(coef[10 * j - 1], expected, atol=1e-12)
    assert np.count_nonzero(coef) == 10


@pytest.mark.parametrize("name", ["drifting", "pricing"])
def test_coef_is_the_mean_over_a_period(name):
    stream = make(name, T=40)
    assert_allclose(stream.coef, np.mean([stream.coef_at(t) for t in range(1, 41)], axis=0), atol=1e-12)


def test_steps_have_their_rows():
    stream = simulate.drifting(None, rows_per_step=200)
    assert [stream.step_of(i) for i in (0, 199, 200, 399_999)] == [1, 1, 2, 2000]


def test_price_is_uniform_and_independent_of_the_covariates():
    X, y = simulate.pricing(p=5, k=1, spacing=1).take(20_000)
    price = X[:, 0]
    assert 10 <= price.min() <= price.max() <= 20
    assert_allclose(np.quantile(price, [0.25, 0.5, 0.75]), [12.5, 15, 17.5], atol=0.2)
    assert_allclose(np.corrcoef(X.T)[0, 1:], 0, atol=0.035)
    slope, intercept = np.polyfit(price, y, 1)
    assert_allclose([slope, intercept], [-0.5, 20], atol=0.2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: simulate.correlated(0), ValueError, "n=0.*integer >= 1.*None"),
        (lambda: simulate.correlated(2.5), TypeError, "n=2.5 is a float"),
        (lambda: simulate.correlated(True), TypeError, "n=True is a bool"),
        (lambda: simulate.correlated(9, p=500), ValueError, "need p >= 1000, got p=500; lower k to 50"),
        (lambda: simulate.correlated(9, p=5, k=6), ValueError, r"k=6.*\[0, 5\]"),
        (lambda: simulate.correlated(9, noise=-1), ValueError, "noise=-1.0.*>= 0"),
        (lambda: simulate.correlated(9, alpha=np.nan), ValueError, "alpha=nan"),
        (lambda: simulate.correlated(9, alpha="1,0"), TypeError, "alpha='1,0' is not a number"),
        (lambda: simulate.correlated(9, signal=(2, 1)), ValueError, r"signal=\(2, 1\) decreases"),
        (lambda: simulate.correlated(9, signal=(1, 2, 3)), TypeError, r"pass \(low, high\)"),
        (lambda: simulate.correlated(9, task="ranking"), ValueError, "'regression', 'classification'"),
        (lambda: simulate.correlated(9, block_size=0), ValueError, "block_size=0"),
        (lambda: simulate.correlated(9, random_state=-1), ValueError, "random_state=-1"),
        (lambda: simulate.correlated(9, dtype=int), ValueError, "dtype=int64.*float32 or float64"),
        (lambda: simulate.correlated(9).take(0), ValueError, "n=0"),
        (lambda: simulate.correlated(9).take(1, start=-1), ValueError, "start=-1"),
        (lambda: simulate.sparse(9, p=10, k=1), ValueError, r"nnz=200.*p=10 features"),
        (lambda: simulate.sparse(9, p=2**31), ValueError, "int32"),
        (lambda: simulate.drifting(T=0), ValueError, "T=0"),
        (lambda: simulate.drifting().coef_at(0), ValueError, "t=0"),
        (lambda: simulate.pricing(k=0), ValueError, "excludes the price"),
        (lambda: simulate.pricing(price=10), TypeError, "price=10 is not an interval"),
    ],
)
def test_errors_say_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


@streams
def test_docstring_lists_the_signature(name):
    cls = getattr(simulate, name)
    section = inspect.getdoc(cls).split("Parameters\n")[1].split("Attributes\n")[0]
    documented = dict(re.findall(r"^(\w+) : .*?(?:default=(.*))?$", section, re.M))
    for key, parameter in inspect.signature(cls).parameters.items():
        default = "" if parameter.default is parameter.empty else parameter.default
        assert documented.pop(key).strip('"').replace("_", "") == str(getattr(default, "__name__", default))
    assert not documented


def test_dependent_rows_remember_the_row_before_and_its_response():
    stream = simulate.dependent(None, p=10, k=1, memory=0.8, feedback=0.0)
    X, y = stream.take(CHUNK_ROWS)
    lagged = [np.corrcoef(X[:-lag, 0], X[lag:, 0])[0, 1] for lag in (1, 2, 3)]
    np.testing.assert_allclose(lagged, [0.8, 0.64, 0.512], atol=0.12)
    noise = y - X @ stream.coef
    assert abs(np.corrcoef(noise[1:], X[:-1, 0])[0, 1]) < 0.1  # of the past, nothing is in the noise
    assert abs(np.corrcoef(noise, X[:, 0])[0, 1]) < 0.1
    moved, _ = simulate.dependent(None, p=10, k=1, memory=0.8, feedback=0.5).take(CHUNK_ROWS)
    assert np.abs(np.diff(moved[:, 0])).mean() > np.abs(np.diff(X[:, 0])).mean()
    assert X[:, 0].var() == pytest.approx(2, rel=0.4)


def test_dependent_rows_need_a_memory_that_fades():
    with pytest.raises(ValueError, match=r"memory=1 is outside of"):
        simulate.dependent(5, p=10, k=1, memory=1)


def test_true_features_are_found_in_rows_that_depend_on_the_past():
    stream = simulate.dependent(4000, p=60, k=6, signal=0.5)
    averages = RunningAverages()
    for X, y in stream:
        averages.update(X, y)
    assert_array_equal(extract.olsth(averages, 6).support, stream.support)
