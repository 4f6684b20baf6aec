"""Sparse rows whose indices are wider than what the kernels read."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from streamsieve.core import rows as module
from streamsieve.core.rows import Rows, as_rows


def wide(n=20, p=7):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.6))
    return Rows(p=p, csr=(X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data))


def test_checked_rows_have_narrow_indices():
    rows = wide()
    checked, _ = as_rows(rows)
    assert checked.indices.dtype == checked.indptr.dtype == np.int32
    assert_array_equal(checked.to_array(), rows.to_array())
    assert rows.indices.dtype == np.int64


def test_a_part_is_narrowed_alone():
    indptr, indices, data = wide()[5:9].kernel
    assert indptr.dtype == indices.dtype == np.int32
    assert indptr[0] == 0
    assert indptr[-1] == len(indices) == len(data)
    assert_array_equal(Rows(p=7, csr=(indptr, indices, data)).to_array(), wide()[5:9].to_array())


def test_rows_with_too_many_entries_come_in_parts(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 15)
    rows = wide()
    parts = list(rows.in_row_order())
    assert len(parts) > 1
    assert all(part.n_values <= 15 for _, part in parts)
    assert_array_equal(np.concatenate([part.to_array() for _, part in parts]), rows.to_array())
    assert_array_equal(np.concatenate([np.arange(len(rows))[at] for at, _ in parts]), np.arange(len(rows)))


def test_more_columns_than_kernels_can_count_are_refused():
    indptr, indices = np.array([0, 1]), np.array([2**31])
    with pytest.raises(ValueError, match=f"with {2**31 + 1} columns and 1 entries; at most {2**31 - 1} of"):
        _ = Rows(p=2**31 + 1, csr=(indptr, indices, np.ones(1))).kernel


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, sp.csr_array])
def test_the_check_of_rows_bounds_their_magnitudes(make, dtype):
    X = np.array([[1.0, -3.5, 0.0], [0.5, 2.0, -0.25]], dtype)
    rows = as_rows(make(X))[0]
    assert rows.bound == rows[1:].bound == 3.5 == rows.largest()
    assert rows.within(3.5)
    assert not rows.within(3.4)
    X[1, 0] = np.nan  # the others are then looked at when somebody asks
    rows = as_rows(make(X), nan_ok=True)[0]
    assert rows.bound == np.inf
    assert rows.within(3.5)
    assert not rows.within(3.4)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_some_columns(make):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(9, 6)) * (rng.random((9, 6)) < 0.5)).astype(np.float32)
    rows = as_rows(make(X))[0]
    for part, expected in ((rows, X), (rows[3:7], X[3:7])):
        for at in ([1, 4, 5], [4, 0], []):
            some = part.columns(np.array(at, dtype=np.int64))
            assert some.dtype == X.dtype
            assert_array_equal(some.to_array(), expected[:, at])


def test_some_of_two_billion_columns_take_no_table_of_all():
    indices = np.array([4, 2**31 - 2, 7], dtype=np.int32)
    rows = Rows(p=2**31 - 1, csr=(np.array([0, 2, 3], dtype=np.int32), indices, np.array([1.0, 2.0, 3.0])))
    tracemalloc.start()
    some = [rows.columns(np.array(at, dtype=np.int64)).to_array() for at in ([4, 7, 9], [])]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_array_equal(some[0], [[1, 0, 0], [0, 3, 0]])
    assert some[1].shape == (2, 0)
    assert peak < 1 << 20


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_rows_become_sparse_as_scipy_makes_them(dtype, order):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.4)
    X[2], X[0, 1], X[3, 4] = 0, -0.0, np.nan
    X = np.asarray(X, dtype=dtype, order=order)
    ours, theirs = Rows(X).to_sparse(), sp.csr_array(X)
    assert ours.shape == X.shape
    for name in ("indptr", "indices", "data"):
        assert_array_equal(getattr(ours, name), getattr(theirs, name))
        assert getattr(ours, name).dtype == getattr(theirs, name).dtype
    assert ours.to_sparse() is ours
    assert Rows(X[:0]).to_sparse().shape == (0, 5)
