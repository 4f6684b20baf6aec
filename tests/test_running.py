"""Laws of the running averages."""

import pickle
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference.running import running_averages
from streamsieve import OFSARegressor
from streamsieve.statistics import running
from streamsieve.statistics.fold_averages import FoldAverages
from streamsieve.statistics.interactions import Pairs
from streamsieve.statistics.running import RunningAverages
from streamsieve.statistics.standardize import standardize

P = 7


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """So that a few hundred rows fill several blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "BLOCK", 64)
        yield


def data(n=700, p=P, q=1, seed=0, mean=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(mean, 1, (n, p)) + rng.normal(0, 0.5, (n, 1))
    return X, X[:, :q] - X[:, -1:] + rng.normal(size=(n, q))


def sparse_data(n=2000, p=60, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array(
        (n, p), density=0.05, format="csr", rng=rng, data_sampler=lambda size: rng.normal(1, 1, size)
    )
    return X, rng.normal(size=n)


def joint(a):
    """Mean and centred second moments of (x, y)."""
    S = np.block([[a.S_xx_, a.S_xy_], [a.S_xy_.T, a.S_yy_]])
    return np.concatenate([a.mean_x_, a.mean_y_]), S


def assert_same(a, b, rtol=1e-12, atol=0.0):
    for x, y in zip(joint(a), joint(b)):
        assert_allclose(x, y, rtol=rtol, atol=rtol * abs(y).max() + atol)
    assert a.n_samples_ == b.n_samples_
    assert_allclose(a.effective_n_, b.effective_n_, rtol=1e-9)


@pytest.mark.parametrize("mean", [0.0, 1e6, -1e9])
@pytest.mark.parametrize("q", [1, 3])
def test_equal_to_the_row_recursion(mean, q):
    X, y = data(600, q=q, mean=mean)
    m, S = running_averages(X, y)
    got_m, got_S = joint(RunningAverages().update(X, y))
    assert_allclose(got_m, m.astype(float), rtol=1e-15, atol=1e-13)
    assert_allclose(got_S, S.astype(float), rtol=1e-9, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.sets(st.integers(1, 699)), st.booleans())
def test_chunks_do_not_matter(cuts, weighted):
    X, y = data()
    w = np.random.default_rng(1).uniform(0.1, 3, len(X)) if weighted else None
    whole = RunningAverages(decay=0.003).update(X, y, w)
    parts = RunningAverages(decay=0.003)
    for rows in np.split(np.arange(len(X)), sorted(cuts)):
        parts.update(X[rows], y[rows], None if w is None else w[rows])
    assert_same(parts, whole)


def test_one_row_calls_equal_one_call():
    X, y = data(running.BLOCK * 2 + 3)
    parts = RunningAverages()
    for i in range(len(X)):
        parts.update(X[i : i + 1], y[i])
    assert_same(parts, RunningAverages().update(X, y))


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
@pytest.mark.parametrize("calls", [1, 7, 2000])
def test_sparse_equals_dense(make, calls):
    X, y = sparse_data()
    dense = RunningAverages().update(X.toarray(), y)
    averages = RunningAverages()
    for rows in np.array_split(np.arange(len(y)), calls):
        averages.update(make(X[rows]), y[rows])
    assert_same(averages, dense)


@pytest.mark.parametrize("calls", [1, 40])
def test_a_dense_column_far_from_zero_keeps_its_digits_in_sparse_rows(calls):
    X, y = sparse_data()
    column = np.random.default_rng(2).normal(1e6, 1, (len(y), 1))
    wide = sp.hstack([X[:, :30], sp.csr_array(column), X[:, 30:]], format="csr")
    m, S = running_averages(wide.toarray(), y)
    averages = RunningAverages()
    for rows in np.array_split(np.arange(len(y)), calls):
        averages.update(wide[rows], y[rows])
    assert_allclose(joint(averages)[1], S.astype(float), rtol=1e-9, atol=1e-10)
    assert_allclose(joint(averages)[0], m.astype(float), rtol=1e-14, atol=1e-14)


def test_the_mean_may_wander():
    # each block lies elsewhere: the centre has to follow
    X, y = data(4000)
    X = X + np.repeat(np.arange(8) ** 3, 500)[:, None] * 1e4
    averages = RunningAverages(half_life=100)
    m, S = running_averages(X, y, alpha=1 - 0.5 ** (1 / 100))
    averages.update(X, y)
    assert_allclose(joint(averages)[1], S.astype(float), rtol=1e-9)
    assert_allclose(joint(averages)[0], m.astype(float), rtol=1e-13)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layouts_agree(index, dtype):
    X, y = sparse_data()
    X = X.astype(dtype)
    wide = sp.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)
    expected = RunningAverages().update(X.toarray().astype(np.float64), y)
    for rows in (wide, X.toarray(), np.asfortranarray(X.toarray()), X.toarray()[:, ::-1][:, ::-1]):
        assert_same(RunningAverages().update(rows, y), expected)


def test_unsorted_and_duplicate_indices_are_summed_and_left_alone():
    X = sp.csr_array(
        (np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3)
    )
    before = X.indices.copy()
    averages = RunningAverages().update(X, [1.0, 2.0])
    assert_allclose(averages.mean_x_, [1.0, 2.0, 2.0])
    assert_array_equal(X.indices, before)


def test_float32_sums_keep_six_digits():
    X, y = data(5000, mean=100.0)
    narrow = RunningAverages(dtype="float32").update(X, y)
    assert narrow.moments.sums.dtype == np.float32
    assert_allclose(narrow.S_xx_, RunningAverages().update(X, y).S_xx_, rtol=1e-4, atol=1e-5)
    sparse, t = sparse_data()
    narrow = RunningAverages(dtype="float32").update(sparse, t)
    assert_allclose(narrow.S_xx_, RunningAverages().update(sparse, t).S_xx_, rtol=1e-4, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 699), st.sampled_from([0.0, 1e6]))
def test_merged_is_whole_and_subtract_undoes_merge(cut, mean):
    X, y = data(mean=mean)
    A, B = RunningAverages().update(X[:cut], y[:cut]), RunningAverages().update(X[cut:], y[cut:])
    whole = RunningAverages().update(X, y)
    assert_same(A + B, whole, rtol=1e-10)
    assert_same(B + A, whole, rtol=1e-10)
    assert_same((A + B) - B, A, rtol=1e-8, atol=1e-10)
    assert_same(RunningAverages() + A, A)
    assert ((A + B) - B - A).n_samples_ == 0


def test_merging_far_apart_parts_keeps_digits():
    A, y = data(500, mean=-1e6)
    B, t = data(700, mean=1e6, seed=1)
    m, S = running_averages(np.vstack([A, B]), np.vstack([y, t]))
    merged = RunningAverages().update(A, y).merge(RunningAverages().update(B, t))
    assert_allclose(joint(merged)[1], S.astype(float), rtol=1e-13, atol=1e-3)
    assert_allclose(joint(merged)[0], m.astype(float), rtol=1e-12)


@pytest.mark.parametrize("decay", [0.0, 1e-4, 0.01, 0.3, 0.95])
def test_forgetting_equals_the_row_recursion(decay):
    X, y = data(mean=5.0)
    w = np.random.default_rng(3).uniform(0.5, 2, len(X))
    m, S = running_averages(X, y, w, alpha=decay)
    averages = RunningAverages(decay=decay).update(X, y, w)
    assert_allclose(joint(averages)[0], m.astype(float), rtol=1e-12)
    assert_allclose(joint(averages)[1], S.astype(float), rtol=1e-9, atol=1e-12)
    ages = w * (1 - decay) ** np.arange(len(X))[::-1]
    assert_allclose(averages.effective_n_, ages.sum() ** 2 / (ages**2 / w).sum(), rtol=1e-9)
    assert_allclose(averages.sum_weights_, ages.sum(), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_long_stream_forgets_without_overflow(dtype):
    X, y = data(30_000, p=3)
    averages = RunningAverages(decay=0.05, dtype=dtype).update(X, y)
    m, _ = running_averages(X[-2000:], y[-2000:], alpha=0.05)
    assert_allclose(joint(averages)[0], m.astype(float), rtol=1e-9 if dtype == "float64" else 1e-4)


@pytest.mark.parametrize(
    "schedule", [lambda n: 1 / (n + 1), lambda n: max(1 / (n + 1), 0.02), lambda _: 0.02]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_schedule_is_equation_3_11(schedule, weighted):
    X, y = data(400)
    w = np.random.default_rng(3).uniform(0.5, 2, len(X)) if weighted else None
    m, S = running_averages(X, y, w, schedule=schedule)
    averages = RunningAverages(decay=schedule)
    for rows in np.array_split(np.arange(len(X)), 9):
        averages.update(X[rows], y[rows], None if w is None else w[rows])
    assert_allclose(joint(averages)[0], m.astype(float), rtol=1e-10, atol=1e-12)
    assert_allclose(joint(averages)[1], S.astype(float), rtol=1e-9, atol=1e-12)


def test_schedule_one_over_n_keeps_everything():
    X, y = data(400)
    assert_same(
        RunningAverages(decay=lambda n: 1 / (n + 1)).update(X, y), RunningAverages().update(X, y), 1e-10
    )


def test_weights_are_repetitions_and_zero_is_a_no_op():
    X, y = data(300)
    w = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = RunningAverages().update(X, y, w)
    repeated = RunningAverages().update(np.repeat(X, w, axis=0), np.repeat(y, w, axis=0))
    for a, b in zip(joint(weighted), joint(repeated)):
        assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    assert weighted.n_samples_ == (w > 0).sum()
    assert_allclose(weighted.effective_n_, repeated.effective_n_)
    kept = RunningAverages(decay=0.1).update(X[w > 0], y[w > 0])
    assert_same(RunningAverages(decay=0.1).update(X, y, (w > 0).astype(float)), kept)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_are_read_by_name(frame):
    X, y = data(300)
    names = list("abcdefg")
    averages = RunningAverages().update(frame({c: X[:, j] for j, c in enumerate(names)}), y)
    order = names[::-1]
    averages.update(frame({c: X[:, names.index(c)] for c in order}), y)
    averages.update(frame({**{c: X[:, names.index(c)] for c in order}, "target": y[:, 0]}), "target")
    assert_same(averages, RunningAverages().update(np.vstack([X] * 3), np.vstack([y] * 3)))
    assert list(averages.feature_names_) == names
    with pytest.raises(ValueError, match="lacks 1 of the 7 columns seen before: 'g'"):
        averages.update(frame({c: X[:, 0] for c in "abcdef"}), y)
    with pytest.raises(ValueError, match="Column 'a' has type String"):
        RunningAverages().update(frame({"a": ["x", "y"]}), [1.0, 2.0])


def test_missing_values_are_refused_by_name_or_imputed_by_the_mean_before_them():
    X, y = data(300)
    X[17, 3] = X[200, 3] = X[250, 0] = np.nan
    with pytest.raises(ValueError, match="NaN at row 17, column 3"):
        RunningAverages().update(X, y)
    with pytest.raises(ValueError, match="NaN at row 17, column 'd'"):
        RunningAverages().update(pd.DataFrame(X, columns=list("abcdefg")), y)
    filled = X.copy()
    for i, j in ((17, 3), (200, 3), (250, 0)):
        filled[i, j] = filled[:i, j].mean()
    averages = RunningAverages(missing="mean")
    for rows in np.array_split(np.arange(len(X)), 11):
        averages.update(X[rows], y[rows])
    assert_same(averages, RunningAverages().update(filled, y), rtol=1e-10)
    assert_array_equal(averages.n_imputed_, [1, 0, 0, 2, 0, 0, 0])


def test_missing_values_in_sparse_rows():
    X, y = sparse_data()
    X.data[[10, 999]] = np.nan
    filled = X.toarray()
    for i, j in zip(*np.nonzero(np.isnan(filled))):
        filled[i, j] = filled[:i, j].mean() if i else 0.0
    averages = RunningAverages(missing="mean")
    for rows in np.array_split(np.arange(len(y)), 13):
        averages.update(X[rows], y[rows])
    assert_same(averages, RunningAverages().update(filled, y), rtol=1e-10)
    assert averages.n_imputed_.sum() == 2


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_interactions_equal_the_expanded_data(make):
    X, y = data(600)
    averages = RunningAverages(interactions=True)
    for rows in np.array_split(np.arange(len(X)), 5):
        averages.update(make(X[rows]), y[rows])
    assert averages.n_features_ == 7 + 28
    assert_same(averages, RunningAverages().update(Pairs(P).expand(X), y), rtol=1e-10)
    assert list(averages.feature_names_[:9]) == [*(f"x{j}" for j in range(7)), "x0^2", "x0 x1"]


def test_ninety_features_become_4185():
    assert Pairs(90).n_features == 4185


def test_pickled_mid_stream_equals_uninterrupted():
    X, y = data()
    for make in (np.asarray, sp.csr_array):
        a, b = RunningAverages(half_life=50).update(make(X[:301]), y[:301]), RunningAverages(half_life=50)
        b.update(make(X[:301]), y[:301])
        a = pickle.loads(pickle.dumps(a))
        for part in (a, b):
            part.update(make(X[301:]), y[301:]).flush()
        assert_array_equal(a.moments.sums, b.moments.sums)


def test_inputs_are_untouched_and_read_only_arrays_serve():
    X, y = data()
    X[3, 3] = np.nan
    sparse = sp.csr_array(X)
    for rows in (X, sparse):
        kept = (rows.copy(), y.copy())
        for array in (X, y, sparse.data, sparse.indices, sparse.indptr):
            array.flags.writeable = False
        RunningAverages(missing="mean").update(rows, y, np.ones(len(y)))
        for array in (X, y, sparse.data, sparse.indices, sparse.indptr):
            array.flags.writeable = True
        assert_array_equal(y, kept[1])
        assert_array_equal(
            np.asarray(rows.todense() if sp.issparse(rows) else rows),
            np.asarray(kept[0].todense() if sp.issparse(rows) else kept[0]),
        )


def test_sparse_rows_may_change_after_the_call():
    X, y = sparse_data(50)
    averages = RunningAverages().update(X, y)
    expected = RunningAverages().update(X.copy(), y.copy())
    X.data[:] = 99.0
    y[:] = -99.0
    assert_same(averages, expected)


BAD = {
    "nan": lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 5, np.nan, X), y),
    "inf": lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 5, np.inf, X), y),
    "nan in y": lambda X, y: (X, np.where(np.arange(len(y))[:, None] == 3, np.nan, y)),
    "width": lambda X, y: (X[:, :-1], y),
    "length": lambda X, y: (X, y[:-1]),
    "targets": lambda X, y: (X, np.hstack([y, y])),
    "text": lambda X, y: (X.astype(str), y),
    "one dimension": lambda X, y: (X[:, 0], y),
    "complex": lambda X, y: (X + 1j, y),
    "index beyond p": lambda X, y: (
        _damaged(sp.csr_array(X)),
        y,
    ),
}


def _damaged(X):
    X.indices[-1] = 10_000
    return X


@pytest.mark.parametrize("fault", BAD)
@pytest.mark.parametrize("first", [True, False])
def test_a_bad_batch_leaves_the_state_untouched(fault, first):
    if first and fault in ("width", "targets"):
        return  # the first batch decides what is right
    X, y = data(100)
    averages = RunningAverages(decay=0.01)
    if not first:
        averages.update(X, y)
    before = pickle.dumps(averages)
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        averages.update(*BAD[fault](X, y))
    assert pickle.dumps(averages) == before


@pytest.mark.parametrize("weights", [np.full(100, -1.0), np.full(100, np.nan), np.ones(3)])
def test_bad_weights_are_refused(weights):
    X, y = data(100)
    with pytest.raises(ValueError, match="sample_weight"):
        RunningAverages().update(X, y, weights)


@pytest.mark.parametrize(("dtype", "limit"), [("float64", 1e30), ("float32", 1e5)])
def test_weights_beyond_all_bounds_are_refused(dtype, limit):
    X, y = data(100)
    averages = RunningAverages(dtype=dtype).update(X, y)
    for weight in (10 * limit, 0.1 / limit, 1e155, 1e-300):
        with pytest.raises(ValueError, match=r"sample_weight\[0\] = .* rescale them"):
            averages.update(X, y, np.full(100, weight))
        if dtype == "float64":
            with pytest.raises(ValueError, match=r"sample_weight\[0\] = .* rescale them"):
                OFSARegressor(2).fit(X, y[:, 0], np.full(100, weight))
    for weight in (limit, 1 / limit):
        heavy = RunningAverages(dtype=dtype).update(X, y, np.full(100, weight))
        assert_allclose(heavy.S_xx_, averages.S_xx_, rtol=1e-5, atol=1e-6)


def test_averages_merged_with_themselves_are_twice_the_rows():
    X, y = data(300, mean=5.0)
    for options in ({}, {"half_life": 50.0}, {"missing": "mean"}):
        twice = RunningAverages(**options).update(X, y)
        expected = twice.copy().merge(twice.copy())
        twice.merge(twice)
        assert_same(twice, expected)
        if "missing" in options:  # what is imputed next is the mean
            twice.update(np.full((1, P), np.nan), [0.0])
            assert_allclose(twice.mean_x_, X.mean(axis=0), rtol=1e-12)
    folds = FoldAverages(3, half_life=50.0).update(X, y)
    expected = folds.copy().merge(folds.copy()).total()
    assert_same(folds.merge(folds).total(), expected)


@pytest.mark.parametrize("decay", [None, 0.01])
def test_folds_merge(decay):
    X, y = data(603)
    folds = FoldAverages(3, decay=decay).update(X[:300], y[:300])
    other = FoldAverages(3, decay=decay).update(X[300:], y[300:])
    whole = RunningAverages(decay=decay).update(X[:300], y[:300])
    whole.merge(RunningAverages(decay=decay).update(X[300:], y[300:]))
    assert_same(folds.merge(other).total(), whole, rtol=1e-9)
    assert_same(
        folds.update(X, y).total(),
        whole.update(X, y),
        rtol=1e-9,
    )
    with pytest.raises(ValueError, match="3 folds with 5"):
        FoldAverages(5).merge(FoldAverages(3).update(X, y))


def test_rows_that_were_never_there_cannot_be_subtracted():
    X, y = data(300)
    averages = RunningAverages().update(X, y)
    before = averages.copy()
    for other in (
        RunningAverages().update(10 * X[:200], y[:200]),
        RunningAverages().update(X + 1, y),
        RunningAverages().update(X[:200], y[:200], np.full(200, 2.0)),
        RunningAverages().update(X[1:], y[1:], np.full(299, 1.01)),
    ):
        with pytest.raises(ValueError, match="never added or merged here"):
            averages.subtract(other)
        assert_same(averages, before)


def test_digits_that_subtracting_leaves_are_told():
    X, y = data(300)
    large = X.copy()
    large[:, 2] *= 1e7
    averages = RunningAverages().update(X, y).merge(RunningAverages().update(large, y))
    with pytest.warns(UserWarning, match=r"1 columns: column 2 has about [12] digits left"):
        averages.subtract(RunningAverages().update(large, y))
    rest = np.delete(np.arange(P), 2)
    expected = RunningAverages().update(X, y)
    assert_allclose(
        averages.S_xx_[np.ix_(rest, rest)], expected.S_xx_[np.ix_(rest, rest)], rtol=1e-9, atol=1e-9
    )
    huge = X.copy()
    huge[:, 2] *= 1e9
    averages = expected.copy().merge(RunningAverages().update(huge, y))
    with pytest.warns(UserWarning, match="about 0 digits left"):
        averages.subtract(RunningAverages().update(huge, y))
    assert standardize(averages).x_scale[2] == 0  # constant, rather than rounding


@pytest.mark.parametrize(
    ("mine", "theirs", "match"),
    [
        ({"half_life": 10}, {"half_life": 20}, "with the same decay"),
        ({"decay": 0.1}, {}, "with the same decay"),
        ({"interactions": True}, {}, "interactions"),
    ],
)
def test_averages_of_another_kind_are_not_merged(mine, theirs, match):
    X, y = data(100)
    for averages in (RunningAverages(**mine), RunningAverages(**mine).update(X, y)):
        with pytest.raises(ValueError, match=match):
            averages.merge(RunningAverages(**theirs).update(X, y))
    with pytest.raises(ValueError, match="with the same decay"):
        FoldAverages(2, half_life=10).merge(FoldAverages(2, half_life=20).update(X, y))


def test_named_columns_are_not_merged_with_unnamed_ones():
    X, y = data(100)
    named = RunningAverages().update(pd.DataFrame(X, columns=list("abcdefg")), y)
    unnamed = RunningAverages().update(X, y)
    for a, b in ((named, unnamed), (unnamed, named)):
        with pytest.raises(ValueError, match="has column names"):
            a.merge(b)
    assert list(RunningAverages().merge(named).feature_names_) == list("abcdefg")


def test_values_whose_squares_vanish_are_told():
    X, y = data(100)
    averages = RunningAverages().update(X * 1e-170, y)
    with pytest.warns(UserWarning, match="7 columns, 0 among them, have values so small"):
        standardize(averages)


def test_two_threads_that_learn_lose_no_rows():
    X, y = data(4000)
    parts = np.array_split(np.arange(len(X)), 200)
    for averages in (RunningAverages(), FoldAverages(3)):
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda rows, a=averages: a.update(X[rows], y[rows]), parts))
        total = averages.total() if isinstance(averages, FoldAverages) else averages
        assert_same(total, RunningAverages().update(X, y), rtol=1e-9)


def test_a_bad_schedule_is_found_before_any_row_is_taken():
    X, y = data(600)
    averages = RunningAverages(decay=lambda n: 2.0 if n == 500 else 0.1)
    with pytest.raises(ValueError, match=r"decay\(500\) = 2.0"):
        averages.update(X, y)
    assert averages.n_samples_ == 0


def test_an_empty_batch_changes_nothing():
    X, y = data(100)
    averages = RunningAverages().update(X[:0], y[:0]).update(X, y).update(X[:0], y[:0])
    assert_same(averages, RunningAverages().update(X, y))
    with pytest.raises(ValueError, match="hold no rows"):
        _ = RunningAverages().update(X[:0], y[:0]).mean_x_


@pytest.mark.parametrize(
    ("other", "match"),
    [
        (lambda: RunningAverages().update(np.ones((2, 3)), [1.0, 2.0]), "7 features"),
        (lambda: RunningAverages().update(*data(800)), "Cannot subtract 800 rows from 100"),
    ],
)
def test_averages_that_do_not_fit_are_refused(other, match):
    with pytest.raises(ValueError, match=match):
        RunningAverages().update(*data(100)).subtract(other())


@pytest.mark.parametrize(
    "options",
    [
        {"decay": 1.0},
        {"decay": 0.1, "half_life": 3},
        {"half_life": 0},
        {"dtype": "int32"},
        {"missing": "zero"},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match=r"expected"):
        RunningAverages(**options)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_an_update_makes_no_second_matrix(make):
    p = 1500
    X, y = data(3000, p=p)
    X[:, 1:] *= np.random.default_rng(0).random((3000, p - 1)) < (1.0 if make is np.asarray else 0.05)
    X = make(X)
    averages = RunningAverages(half_life=100).update(X[:300], y[:300])
    tracemalloc.start()
    averages.update(X[300:], y[300:])
    averages.flush()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.8 * averages.moments.sums.nbytes


@pytest.mark.parametrize("decay", [None, 0.02, 0.9])
@pytest.mark.parametrize("calls", [1, 23])
def test_folds_add_up_to_the_whole(decay, calls):
    X, y = data(703)
    folds = FoldAverages(5, decay=decay)
    for rows in np.array_split(np.arange(len(X)), calls):
        folds.update(X[rows], y[rows])
    whole = RunningAverages(decay=decay).update(X, y)
    assert_same(folds.total(), whole, rtol=1e-9)
    third = X[2::5], y[2::5]
    if decay is None:
        assert_same(folds.folds_[2], RunningAverages().update(*third), rtol=1e-10)


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("folds", [False, True])
def test_sparse_rows_far_from_zero_may_come_a_few_at_a_time(size, folds):
    X, y = sparse_data(1000)
    X = X.toarray()
    X[:, 3] = np.random.default_rng(1).normal(1e9, 1, len(X))
    rows = sp.csr_array(X)
    averages = FoldAverages(2) if folds else RunningAverages()
    for start in range(0, len(y), size):
        averages.update(rows[start : start + size], y[start : start + size])
    got = averages.total() if folds else averages
    X[:, 3] -= 1e9
    assert_allclose(got.S_xx_, np.cov(X.T, bias=True), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("nothing", [np.empty((0, P)), sp.csr_array((0, P))])
def test_an_empty_first_call_does_not_place_the_centre(nothing):
    X, y = data(1000, mean=1e9)
    averages = RunningAverages().update(nothing, []).update(X, y)
    assert_allclose(averages.S_xx_, np.cov((X - 1e9).T, bias=True), rtol=1e-9)


@pytest.mark.parametrize("size", [10, 50, 300])
def test_sparse_and_dense_calls_may_take_turns_while_the_mean_wanders(size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20)) * (rng.random((3000, 20)) < 0.1)
    X[500:, 3] = rng.normal(1e6, 1, len(X) - 500)  # so that the centre moves while rows wait
    y = rng.normal(size=len(X))
    averages = RunningAverages(half_life=200)
    for i, start in enumerate(range(0, len(y), size)):
        rows = X[start : start + size]
        averages.update(sp.csr_array(rows) if i % 2 else rows, y[start : start + size])
    _, S = running_averages(X, y, alpha=1 - 0.5 ** (1 / 200))
    assert_allclose(averages.S_xx_, S[:20, :20].astype(float), rtol=1e-9, atol=1e-9)


def test_products_of_sparse_rows_far_from_zero_are_exact():
    X, y = data(500, p=3, mean=1e6)
    dense = RunningAverages(interactions=True).update(X, y)
    assert_same(RunningAverages(interactions=True).update(sp.csr_array(X), y), dense)


def test_frames_whose_columns_are_numbers_are_read_by_name():
    X, y = data()
    frame = pd.DataFrame(X)
    averages = RunningAverages().update(frame[:300], y[:300]).update(frame.loc[300:, ::-1], y[300:])
    assert_same(averages, RunningAverages().update(X, y))


def test_a_row_may_outweigh_all_before_it_by_more_than_the_sums_hold():
    X, y = data(20)
    averages = RunningAverages(dtype="float32", half_life=0.02).update(X, y)
    assert_allclose(averages.mean_x_, X[-1], rtol=1e-6)


def test_rows_merged_from_averages_that_do_not_impute_count_in_the_mean():
    X, y = data(mean=100.0)
    averages = RunningAverages(missing="mean").merge(RunningAverages().update(X, y))
    averages.update(np.full((1, P), np.nan), [0.0])
    assert_allclose(averages.mean_x_, X.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize(("dtype", "size"), [("float64", 1e160), ("float32", 1e20)])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_values_whose_products_overflow_are_refused(dtype, size, make):
    X, y = data()
    averages = RunningAverages(dtype=dtype).update(X, y)
    before = averages.S_xx_
    X[5, 2] = size
    with pytest.raises(ValueError, match=r"too large.*row 5, column 2"):
        averages.update(make(X), y)
    with pytest.raises(ValueError, match=r"too large.*row 5"):
        averages.update(np.zeros((6, P)), [0, 0, 0, 0, 0, size])
    assert_array_equal(averages.S_xx_, before)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_several_threads_may_read(make):
    X = np.random.default_rng(0).normal(size=(running.BLOCK - 1, 200)) * (np.arange(200) % 50 == 0)
    expected = np.cov(X.T, bias=True)
    together, interval = Barrier(3), sys.getswitchinterval()

    def read(averages):
        together.wait()
        return averages.S_xx_

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as threads:
            for _ in range(10):
                averages = RunningAverages().update(make(X), X[:, 0])
                for S in threads.map(read, [averages] * 3):
                    assert_allclose(S, expected, atol=1e-12)
                assert_allclose(averages.S_xx_, expected, atol=1e-12)
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("options", [{}, {"half_life": 100.0}, {"missing": "mean"}])
def test_features_that_join_were_zero_before(options):
    rng = np.random.default_rng(0)
    X = rng.normal(3, 1, size=(500, 7)) * (rng.random((500, 7)) < 0.3)
    X[:200, 4:] = 0
    Y = rng.normal(size=(500, 2))
    whole = RunningAverages(**options).update(sp.csr_array(X), Y)
    grown = RunningAverages(**options).update(sp.csr_array(X[:100, :4]), Y[:100])
    grown.update(X[100:200, :4], Y[100:200]).widen(7).update(sp.csr_array(X[200:]), Y[200:])
    for name in ("mean_x_", "mean_y_", "S_xx_", "S_xy_", "S_yy_", "n_imputed_"):
        assert_allclose(getattr(grown, name), getattr(whole, name), rtol=1e-10, atol=1e-12, err_msg=name)
    with pytest.raises(ValueError, match="cannot shrink"):
        grown.widen(3)


def test_an_estimator_on_averages_takes_wider_rows_where_features_grow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 9))
    X[:100, 5:] = 0
    y = X[:, 2] - 2 * X[:, 8]
    grown = OFSARegressor(2, grow=True)
    for part, wide in ((slice(0, 100), 5), (slice(100, 250), 9), (slice(250, 300), 9)):
        grown.partial_fit(sp.csr_array(X[part, :wide]), y[part])
    assert_allclose(grown.coef_, OFSARegressor(2).fit(X, y).coef_, rtol=1e-9, atol=1e-12)
    wider = sp.csr_array(np.hstack([X, np.ones((300, 2))]))
    assert_allclose(grown.predict(wider), grown.predict(X))
    assert len(grown.predict(sp.csr_array(X[:, :3]))) == 300
    with pytest.raises(ValueError, match="features"):
        OFSARegressor(2).fit(X, y).partial_fit(wider, y)
