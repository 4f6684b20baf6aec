"""Rows, targets and weights as nobody should pass them, and some that are only unusual."""

# ruff: noqa: ARG005
import numpy as np
import scipy.sparse as sp

try:
    import pandas as pd
except ImportError:  # cases with frames are then cases with arrays
    pd = None
try:
    import polars as pl
except ImportError:
    pl = None

EXTREMES = [np.nan, np.inf, -np.inf, 1e308, 1e200, 1e101, 1e99, 1e76, 9e74, -1e75, 1e38, 1e10, 1e-40, 1e-76]
EXTREMES += [1e-150, 1e-200, 5e-324, -0.0]


def good(rng, p, task, n=None, classes=2):
    """Rows (n, p) and targets that two of the features explain."""
    n = int(rng.choice([1, 2, 7, 30, 60, 130])) if n is None else n
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < rng.choice([0.3, 1.0]))
    target = X[:, 0] - 2 * X[:, p // 2] + 0.1 * rng.normal(size=n)
    if task == "regression":
        return X, target
    y = np.digitize(target, np.linspace(-1, 1, classes - 1) if classes > 2 else [0.0])
    y[: min(n, classes)] = np.arange(classes)[: min(n, classes)]
    return X, y


# ---------------------------------------------------------------- rows


def _one(value):
    def change(rng, X):
        X = X.copy()
        if X.size:
            X.flat[rng.integers(X.size)] = value
        return X

    return change


def _column(rng, X):
    X = X.copy()
    X[:, rng.integers(X.shape[1])] = rng.choice([0.0, 1.0, 1e6, -1e70])
    return X


def _unaligned(rng, X):  # noqa: ARG001
    raw = np.empty(X.nbytes + 1, dtype=np.uint8)
    out = raw[1:].view(X.dtype).reshape(X.shape)
    out[...] = X
    return out


def _read_only(rng, X):  # noqa: ARG001
    X = X.copy()
    X.flags.writeable = False
    return X


def _frame(kind):
    def change(rng, X):
        names = [f"x{j}" for j in range(X.shape[1])]
        columns = {name: X[:, j] for j, name in enumerate(names)}
        if kind == "pandas" and pd is not None:
            return pd.DataFrame(columns)
        if kind == "numbered" and pd is not None:
            return pd.DataFrame(X)
        if kind == "both" and pd is not None and X.shape[1] > 1:
            return pd.DataFrame(X, columns=[1, "1", *range(2, X.shape[1])])
        if kind == "dates" and pd is not None:
            return pd.DataFrame(columns | {"x0": pd.date_range("2020-01-01", periods=len(X))})
        if kind == "words" and pd is not None:
            return pd.DataFrame(columns | {"x0": ["a"] * len(X)})
        if kind == "nullable" and pd is not None:
            return pd.DataFrame(columns).convert_dtypes()
        if kind == "polars" and pl is not None:
            return pl.DataFrame(columns)
        if kind == "lazy" and pl is not None:
            return pl.DataFrame(columns).lazy()
        if kind == "shuffled" and pd is not None:
            return pd.DataFrame(columns)[list(rng.permutation(names))]
        return X

    return change


def _csr(**changes):
    """CSR arrays with some of them replaced, past SciPy's own checks."""

    def change(rng, X):
        S = sp.csr_array(X)
        for name, f in changes.items():
            setattr(S, name, f(rng, getattr(S, name), S))
        return S

    return change


def _other(make, name, value):
    """Another sparse format with a wrong index."""

    def change(rng, X):
        S = make(X)
        a = getattr(S, name)
        if len(a):
            a[rng.integers(len(a))] = value
        return S

    return change


def _unsorted_and_damaged(rng, X):
    S = _unsorted(rng, X)
    if len(S.indptr) > 2:
        S.indptr[-2] = 2**30
    return S


def _put(value):
    def change(rng, a, S):  # noqa: ARG001
        a = a.copy()
        if len(a):
            a[rng.integers(len(a))] = value
        return a

    return change


def _unsorted(rng, X):  # noqa: ARG001
    S = sp.csr_array(X)
    for a, b in zip(S.indptr[:-1], S.indptr[1:]):
        S.indices[a:b] = S.indices[a:b][::-1].copy()
        S.data[a:b] = S.data[a:b][::-1].copy()
    S.has_sorted_indices = True  # a lie
    return S


def _twice(rng, X):  # noqa: ARG001
    S = sp.csr_array(X)
    return sp.csr_array((np.repeat(S.data, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)


def _wide_indices(rng, X):  # noqa: ARG001
    S = sp.csr_array(X)
    return sp.csr_array((S.data, S.indices.astype(np.int64), S.indptr.astype(np.int64)), shape=S.shape)


def _objects(value):
    def change(rng, X):
        X = X.astype(object)
        if X.size:
            X.flat[rng.integers(X.size)] = value
        return X

    return change


def _late(rng, X):
    """A column that is 0 at first and far from it later."""
    X = X.copy()
    j = rng.integers(X.shape[1])
    X[: len(X) // 2, j], X[len(X) // 2 :, j] = 0.0, 1e9
    return X


def _drift(rng, X):
    """A column that drifts away by 300 deviations."""
    X = X.copy()
    X[:, rng.integers(X.shape[1])] += np.linspace(0, 300, len(X))
    return X


def _other_unit(rng, X):
    """A column in another unit from the middle on."""
    X = X.copy()
    X[len(X) // 2 :, rng.integers(X.shape[1])] *= rng.choice([1e-6, 1e6])
    return X


def _near_copies(rng, X):
    return np.repeat(X[:, :1], X.shape[1], axis=1) + 1e-10 * rng.normal(size=X.shape)


def _same(rng, X):  # noqa: ARG001
    return X


ROWS = {f"value {value}": _one(value) for value in EXTREMES}
ROWS |= {
    "good": _same,
    "one cell of 1e12": _one(1e12),
    "late column": _late,
    "drift": _drift,
    "another unit": _other_unit,
    "near copies": _near_copies,
    "first row again": lambda rng, X: np.repeat(X[:1], len(X), axis=0),
    "wide range of columns": lambda rng, X: X * 10.0 ** np.linspace(-30, 30, X.shape[1]),
    "scaled 1e74": lambda rng, X: X * 1e74,
    "scaled 1e-155": lambda rng, X: X * 1e-155,
    "scaled 1e9 off": lambda rng, X: X + 1e9,
    "no rows": lambda rng, X: X[:0],
    "no columns": lambda rng, X: X[:, :0],
    "constant column": _column,
    "all zero": lambda rng, X: X * 0,
    "all one": lambda rng, X: X * 0 + 1,
    "copies": lambda rng, X: np.repeat(X[:, :1], X.shape[1], axis=1),
    "wider": lambda rng, X: np.hstack([X, X]),
    "narrower": lambda rng, X: X[:, : max(X.shape[1] - 1, 1)],
    "1-D": lambda rng, X: X.ravel(),
    "3-D": lambda rng, X: X[None],
    "scalar": lambda rng, X: 3.0,
    "None": lambda rng, X: None,
    "string": lambda rng, X: "rows",
    "dict": lambda rng, X: {"x": 1.0},
    "set": lambda rng, X: {1.0},
    "generator": lambda rng, X: (row for row in X),
    "list": lambda rng, X: X.tolist(),
    "tuple": lambda rng, X: tuple(map(tuple, X)),
    "ragged": lambda rng, X: [*X.tolist(), [1.0]],
    "empty list": lambda rng, X: [],
    "float32": lambda rng, X: X.astype(np.float32),
    "float16": lambda rng, X: X.astype(np.float16),
    "longdouble": lambda rng, X: X.astype(np.longdouble),
    "int8": lambda rng, X: X.astype(np.int8),
    "uint64": lambda rng, X: np.abs(X).astype(np.uint64),
    "bool": lambda rng, X: X > 0,
    "complex": lambda rng, X: X + 0j,
    "text": lambda rng, X: X.astype(str),
    "bytes": lambda rng, X: X.astype("S8"),
    "dates": lambda rng, X: np.zeros(X.shape, "M8[s]"),
    "records": lambda rng, X: np.zeros(X.shape, [("a", float)]),
    "objects": lambda rng, X: X.astype(object),
    "objects with None": _objects(None),
    "objects with a word": _objects("word"),
    "objects with a list": _objects([1]),
    "objects with a huge int": _objects(10**400),
    "swapped bytes": lambda rng, X: X.astype(">f8"),
    "Fortran": lambda rng, X: np.asfortranarray(X),
    "strided": lambda rng, X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda rng, X: X[::-1, ::-1],
    "broadcast": lambda rng, X: np.broadcast_to(X[:1], X.shape) if len(X) else X,
    "read-only": _read_only,
    "unaligned": _unaligned,
    "unaligned float32": lambda rng, X: _unaligned(rng, X.astype(np.float32)),
    "matrix": lambda rng, X: np.asmatrix(X),
    "masked": lambda rng, X: np.ma.masked_array(X, X > 1.5),
    "csr": lambda rng, X: sp.csr_array(X),
    "csr matrix": lambda rng, X: sp.csr_matrix(X),
    "csr float32": lambda rng, X: sp.csr_array(X.astype(np.float32)),
    "csr int": lambda rng, X: sp.csr_array(X.astype(int)),
    "csr bool": lambda rng, X: sp.csr_array(X > 0),
    "csr complex": lambda rng, X: sp.csr_array(X + 1j),
    "csr int64": _wide_indices,
    "csr unsorted": _unsorted,
    "csr repeated": _twice,
    "csr no rows": lambda rng, X: sp.csr_array(X[:0]),
    "csr empty rows": lambda rng, X: sp.csr_array(X.shape),
    "csr wider": lambda rng, X: sp.csr_array(np.hstack([X, X])),
    "csr narrower": lambda rng, X: sp.csr_array(X[:, : max(X.shape[1] - 1, 1)]),
    "csr index too large": _csr(indices=_put(2**31 - 1)),
    "csr index negative": _csr(indices=_put(-1)),
    "csr indptr too large": _csr(indptr=_put(2**31 - 1)),
    "csr indptr negative": _csr(indptr=_put(-5)),
    "csr short data": _csr(data=lambda rng, a, S: a[:-1]),
    "csr short indices": _csr(indices=lambda rng, a, S: a[:-1]),
    "csr short indptr": _csr(indptr=lambda rng, a, S: a[:-1]),
    "csr no indptr": _csr(indptr=lambda rng, a, S: a[:0]),
    "csr mixed indices": _csr(indices=lambda rng, a, S: a.astype(np.int64)),
    "csr float indices": _csr(indices=lambda rng, a, S: a.astype(float)),
    "csr objects": _csr(data=lambda rng, a, S: a.astype(object)),
    "csr NaN": _csr(data=_put(np.nan)),
    "csr huge": _csr(data=_put(1e300)),
    "csr strided": _csr(data=lambda rng, a, S: np.repeat(a, 2)[::2]),
    "csr unsorted and damaged": _unsorted_and_damaged,
    "csc index too large": _other(sp.csc_array, "indices", 2**31 - 1),
    "csc index negative": _other(sp.csc_array, "indices", -7),
    "csc indptr too large": _other(sp.csc_array, "indptr", 2**31 - 1),
    "coo row too large": _other(sp.coo_array, "row", 2**31 - 1),
    "coo column negative": _other(sp.coo_array, "col", -7),
    "bsr index too large": _other(sp.bsr_array, "indices", 2**31 - 1),
    "csc": lambda rng, X: sp.csc_array(X),
    "bsr": lambda rng, X: sp.bsr_array(X),
    "coo": lambda rng, X: sp.coo_array(X),
    "lil": lambda rng, X: sp.lil_array(X),
    "dok": lambda rng, X: sp.dok_array(X),
    "dia": lambda rng, X: sp.dia_array(X) if min(X.shape) else sp.csr_array(X),
    "coo 1-D": lambda rng, X: sp.coo_array(X.ravel()),
}
ROWS |= {
    f"frame {kind}": _frame(kind)
    for kind in (
        "pandas",
        "numbered",
        "both",
        "dates",
        "words",
        "nullable",
        "polars",
        "lazy",
        "shuffled",
    )
}

# ---------------------------------------------------------------- targets


def _target(value):
    def change(rng, y):
        y = y.astype(float)
        if len(y):
            y[rng.integers(len(y))] = value
        return y

    return change


TARGETS = {f"value {value}": _target(value) for value in EXTREMES}
TARGETS |= {
    "good": _same,
    "one class": lambda rng, y: y * 0,
    "far from zero": lambda rng, y: y + 1e12,
    "one of 1e12": _target(1e12),
    "jump": lambda rng, y: y + 1e6 * (np.arange(len(y)) > len(y) // 2),
    "negative": lambda rng, y: -np.abs(y) - 1,
    "counts of 1e9": lambda rng, y: np.floor(np.abs(y)) * 1e9,
    "one positive": lambda rng, y: (np.arange(len(y)) == 0).astype(int),
    "a class a row": lambda rng, y: np.arange(len(y)),
    "masked": lambda rng, y: np.ma.masked_array(y, np.arange(len(y)) == 1),
    "scaled 1e74": lambda rng, y: y * 1e74,
    "unseen label": _target(7),
    "None": lambda rng, y: None,
    "scalar": lambda rng, y: 1.0,
    "string": lambda rng, y: "y",
    "longer": lambda rng, y: np.append(y, y[:1]),
    "shorter": lambda rng, y: y[:-1],
    "empty": lambda rng, y: y[:0],
    "column": lambda rng, y: y[:, None],
    "two columns": lambda rng, y: np.column_stack([y, y]),
    "3-D": lambda rng, y: y[:, None, None],
    "no columns": lambda rng, y: np.empty((len(y), 0)),
    "text": lambda rng, y: y.astype(str),
    "bytes": lambda rng, y: y.astype("S4"),
    "objects": lambda rng, y: y.astype(object),
    "mixed": lambda rng, y: np.array([*y[:-1], "word"], dtype=object),
    "None inside": lambda rng, y: np.array([*y[:-1], None], dtype=object),
    "huge int": lambda rng, y: np.array([*y[:-1], 10**400], dtype=object),
    "complex": lambda rng, y: y + 0j,
    "dates": lambda rng, y: np.zeros(len(y), "M8[s]"),
    "bool": lambda rng, y: y > 0,
    "int8": lambda rng, y: np.clip(y, -9, 9).astype(np.int8),
    "float32": lambda rng, y: y.astype(np.float32),
    "swapped bytes": lambda rng, y: y.astype(">f8"),
    "strided": lambda rng, y: np.repeat(y, 2)[::2],
    "read-only": _read_only,
    "unaligned": lambda rng, y: _unaligned(rng, y.astype(float)),
    "list": lambda rng, y: y.tolist(),
    "series": lambda rng, y: y if pd is None else pd.Series(y),
    "sparse": lambda rng, y: sp.csr_array(y[:, None].astype(float)),
    "fractions": lambda rng, y: y + 0.25,
}

# ---------------------------------------------------------------- weights

WEIGHTS = {f"value {value}": _target(value) for value in [*EXTREMES, -1.0, 1e155, 1e70, 1e30, 1e-30, 1e-300]}
WEIGHTS |= {
    "none": lambda rng, w: None,
    "good": _same,
    "zeros": lambda rng, w: w * 0,
    "some zeros": lambda rng, w: w * (rng.random(len(w)) < 0.5),
    "all negative": lambda rng, w: -w,
    "all 1e29": lambda rng, w: w * 0 + 1e29,
    "all 1e-29": lambda rng, w: w * 0 + 1e-29,
    "far apart": lambda rng, w: 10.0 ** rng.uniform(-30, 30, len(w)),
    "scalar": lambda rng, w: 2.0,
    "scalar zero": lambda rng, w: 0,
    "longer": lambda rng, w: np.append(w, 1.0),
    "shorter": lambda rng, w: w[:-1],
    "column": lambda rng, w: w[:, None],
    "text": lambda rng, w: w.astype(str),
    "words": lambda rng, w: np.full(len(w), "heavy"),
    "complex": lambda rng, w: w + 1j,
    "int": lambda rng, w: np.ones(len(w), int),
    "bool": lambda rng, w: np.arange(len(w)) % 2 == 0,
    "objects": lambda rng, w: w.astype(object),
    "None inside": lambda rng, w: np.array([*w[:-1], None], dtype=object),
    "float32": lambda rng, w: w.astype(np.float32),
    "swapped bytes": lambda rng, w: w.astype(">f8"),
    "strided": lambda rng, w: np.repeat(w, 2)[::2],
    "read-only": _read_only,
    "unaligned": _unaligned,
    "dates": lambda rng, w: np.zeros(len(w), "M8[s]"),
    "list": lambda rng, w: w.tolist(),
    "sparse": lambda rng, w: sp.csr_array(w[None]),
}


def draw(rng, table, plain=("good",), share=0.5):
    """A name of the table: with the given share one of the plain ones."""
    return str(rng.choice(plain)) if rng.random() < share else str(rng.choice(list(table)))
