"""Types of the compiled kernels. Arrays that are written must have the exact dtype; nothing is converted."""

from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .core.losses import Loss

_F = TypeVar("_F", np.float32, np.float64)
_G = TypeVar("_G", np.float32, np.float64)
_I = TypeVar("_I", np.int32, np.int64)
_Doubles: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int64]
# (n, p) in C order, or (indptr, indices, data) of a CSR matrix; float32 or float64, int32 or int64.
# Rows with a map are a pair of these and (center, inverse, centred); see `ColumnMap`.
_Rows: TypeAlias = NDArray[Any] | tuple[Any, ...]

# ---- running averages

def first_bad(X: NDArray[_F], nan_ok: bool, limit: float = ...) -> tuple[int, float]: ...
def check_csr(
    indptr: NDArray[_I],
    indices: NDArray[_I],
    data: NDArray[_F],
    p: int,
    nan_ok: bool,
    limit: float = ...,
    threads: int = ...,
) -> tuple[int, int, float]: ...
def impute_dense(
    X: NDArray[_F], r: _Doubles, sum: _Doubles, weight: float, count: NDArray[np.int64]
) -> float: ...
def impute_csr(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    data: NDArray[_F],
    r: _Doubles,
    sum: _Doubles,
    weight: float,
    count: NDArray[np.int64],
) -> float: ...
def pack(
    X: NDArray[_F], y: _Doubles, root: _Doubles, center: _Doubles, block: NDArray[_G], at: int
) -> None: ...
def gram_csr(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    data: NDArray[_F],
    r: _Doubles,
    sparse: NDArray[np.uint8],
    extra: _Doubles,
    where: NDArray[np.int64],
    moments: NDArray[_G],
    threads: int,
) -> None: ...
def standardize(
    moments: NDArray[_G],
    weight: float,
    d: _Doubles,
    scale: _Doubles,
    limit: float,
    out: _Doubles,
    copy: NDArray[np.uint8],
) -> None: ...

# ---- extractors

def largest_eigenvalue(R: _Doubles, active: _Ints, rounds: int) -> float: ...
def ofsa(
    R: _Doubles,
    r: _Doubles,
    keep: _Ints,
    eta: float,
    relaxation: float,
    factor: _Doubles,
    lower: _Doubles,
    upper: _Doubles,
    group: _Ints,
    active: _Ints,
    beta: _Doubles,
    used: _Doubles,
) -> int: ...
def descend_l1l2(
    R: _Doubles,
    at: _Ints,
    l1: _Doubles,
    l2: _Doubles,
    lower: _Doubles,
    upper: _Doubles,
    max_sweeps: int,
    tol: float,
    g: _Doubles,
    b: _Doubles,
) -> tuple[int, float]: ...
def descend_mcp(
    R: _Doubles,
    at: _Ints,
    lam: _Doubles,
    gamma: float,
    lower: _Doubles,
    upper: _Doubles,
    max_sweeps: int,
    tol: float,
    g: _Doubles,
    b: _Doubles,
) -> tuple[int, float]: ...

descend_scad = descend_mcp

def descend_groups_l1l2(
    R: _Doubles,
    first: _Ints,
    member: _Ints,
    l1: _Doubles,
    l2: _Doubles,
    max_sweeps: int,
    tol: float,
    g: _Doubles,
    b: _Doubles,
) -> tuple[int, float]: ...
def descend_groups_mcp(
    R: _Doubles,
    first: _Ints,
    member: _Ints,
    lam: _Doubles,
    gamma: float,
    max_sweeps: int,
    tol: float,
    g: _Doubles,
    b: _Doubles,
) -> tuple[int, float]: ...

descend_groups_scad = descend_groups_mcp

def residual(R: _Doubles, r: _Doubles, at: _Ints, w: _Doubles, g: _Doubles) -> None: ...
def chol_append(R: _Doubles, at: _Ints, m: int, c: _Doubles, tol: float, U: _Doubles) -> int: ...
def chol_remove(at: _Ints, m: int, k: int, U: _Doubles) -> None: ...
def chol_solve(U: _Doubles, x: _Doubles) -> None: ...

# ---- what the learners share

def take_rows(
    indptr: NDArray[_I],
    indices: NDArray[_I],
    data: NDArray[_F],
    at: _Ints,
    out_indptr: NDArray[_I],
    out_indices: NDArray[_I],
    out_data: NDArray[_F],
) -> None: ...
def read_dense(rows: _Rows, out: _Doubles) -> None: ...
def read_csr(rows: _Rows, indptr: NDArray[np.int32], indices: NDArray[np.int32], data: _Doubles) -> None: ...
def column_sums(rows: _Rows, weight: _Doubles | None, y: _Doubles, out: _Doubles) -> None: ...
def count_far(rows: _Rows, center: _Doubles, reach: _Doubles) -> int: ...
def far_runs(
    rows: _Rows,
    center: _Doubles,
    reach: _Doubles,
    row: float,
    few: float,
    runs: _Doubles,
    state: _Doubles,
    wait: NDArray[np.bool_],
) -> tuple[int, bool]: ...
def largest_squares(rows: _Rows, k: int) -> float: ...
def top_k(score: _Doubles, out: NDArray[np.int64]) -> int: ...
def margins(rows: _Rows, w: _Doubles, scale: float, bias: _Doubles, out: _Doubles) -> None: ...
def index_features(
    x: dict[Any, float],
    names: dict[Any, int],
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    values: _Doubles,
    limit: float,
    grow: bool,
) -> float: ...
def loss_points(loss: Loss, margin: _Doubles, y: _Doubles, out: _Doubles) -> None: ...

# ---- learners: rows learned before a step would have overflowed; rule and state are read by name

class _Learner(Protocol):
    def __call__(
        self,
        rows: _Rows,
        loss: Loss,
        y: _Doubles,
        weight: _Doubles | None,
        rule: dict[str, Any],
        state: Any,
    ) -> int: ...

# every name that is not in this file is the kernel of a learner
def __getattr__(name: str) -> _Learner: ...
def sadmm_settle(rule: dict[str, Any], state: Any) -> None: ...
def measure(rows: _Rows, weight: _Doubles | None, rule: dict[str, Any], state: Any, k: int) -> None: ...
def sfsa_scores(slots: _Doubles, q: int, total: float, deviations: bool, out: _Doubles) -> None: ...
def pick(rows: _Rows, features: NDArray[np.int64], out: _Doubles) -> None: ...
def index_kept(entry: NDArray[np.int64], table: NDArray[np.int32]) -> None: ...
def finds_kept(entry: NDArray[np.int64], table: NDArray[np.int32]) -> bool: ...

# ---- OLST: rows about the running mean; rows that are only measured

def innovations(
    rows: _Rows,
    y: _Doubles,
    weight: _Doubles | None,
    intercept: bool,
    total: _Doubles,
    mean: _Doubles,
    square: _Doubles,
    first: _Doubles,
    mean_y: _Doubles,
    square_y: _Doubles,
    xy: _Doubles,
    out: _Doubles,
    out_y: _Doubles,
    at: int,
) -> int: ...

# ---- streams: the first n bytes are whole lines, and 16 more can be read

def lines(text: NDArray[np.uint8], n: int) -> int: ...
def entries(text: NDArray[np.uint8], n: int) -> int: ...
def svmlight(
    text: NDArray[np.uint8],
    n: int,
    base: int,
    width: int,
    missing: int,
    skip: bool,
    y: _Doubles,
    ends: NDArray[np.int32],
    indices: NDArray[np.int32],
    data: _Doubles,
) -> tuple[int, int, int, int, int]: ...
def csv(
    text: NDArray[np.uint8],
    n: int,
    separator: int,
    roles: NDArray[np.int32],
    gaps: NDArray[np.uint8],
    styles: NDArray[np.uint8],
    fills: _Doubles,
    weight: int,
    skip: bool,
    X: _Doubles,
    others: _Doubles,
    codes: NDArray[np.int32],
    odd: NDArray[np.int64],
) -> tuple[int, int, int, int, int, int, list[list[tuple[int, int]]]]: ...
def numbers(values: list[str], style: int, x: _Doubles, fault: NDArray[np.uint8]) -> None: ...
def csv_texts(
    text: NDArray[np.uint8], n: int, separator: int, rows: int, counts: NDArray[np.int64]
) -> None: ...
def csv_whole_rows(text: NDArray[np.uint8], n: int, separator: int, first: bool = ...) -> int: ...

# ---- stabilized truncated SGD: all paths over blocks of rows

def stabilized(
    rows: _Rows,
    loss: Loss,
    y: _Doubles,
    weight: _Doubles | None,
    rule: dict[str, Any],
    state: Any,
) -> tuple[int, int, int, int]: ...

class SieveStore: ...

_Ints32 = NDArray[np.int32]
_Fit = tuple[_Ints32, _Doubles, _Doubles]

def sieve_tiles(tiles: NDArray[np.float32], n: int, width: int, R: int) -> SieveStore: ...
def sieve_codes(
    tiles: NDArray[np.int8],
    n: int,
    width: int,
    R: int,
    start: NDArray[np.int64],
    row: NDArray[np.uint8],
    column: _Ints32,
    value: NDArray[np.float32],
) -> SieveStore: ...
def sieve_csr(
    indptr: NDArray[np.int64], indices: _Ints32, data: NDArray[np.float32], n: int, width: int
) -> SieveStore: ...
def sieve_fit(
    store: SieveStore,
    loss: Loss,
    joint: bool,
    y: _Doubles,
    units: _Doubles,
    H: _Doubles | None,
    h: _Doubles | None,
    intercept: bool,
    tolerance: float,
    share: float,
    unit: _Ints32,
    flags: NDArray[np.uint8],
    starts: list[Any],
    copy_bytes: int,
    cached_bytes: int,
    threads: int,
) -> list[list[_Fit]]: ...
def sieve_predict(
    store: SieveStore,
    loss: Loss,
    joint: bool,
    y: _Doubles,
    units: _Doubles,
    columns: _Ints32,
    B: _Doubles,
    b: _Doubles,
    losses: _Doubles | None,
    margins: _Doubles | None,
    threads: int,
) -> None: ...
def sieve_append(
    X: NDArray[Any],
    source: _Ints32,
    shift: _Doubles,
    sum: _Doubles,
    square: _Doubles,
    low: _Doubles,
    high: _Doubles,
    weight: _Doubles | None,
    tiles: NDArray[np.float32],
    R: int,
    at: int,
    threads: int,
) -> None: ...
def sieve_append_codes(
    X: NDArray[Any],
    source: _Ints32,
    shift: _Doubles,
    sum: _Doubles,
    square: _Doubles,
    low: _Doubles,
    high: _Doubles,
    weight: _Doubles | None,
    tiles: NDArray[np.int8],
    R: int,
    at: int,
    offset: _Doubles,
    unit: _Doubles,
    threads: int,
) -> tuple[NDArray[Any], ...]: ...
def sieve_recode(
    memory: NDArray[np.uint8], n: int, width: int, R: int, offset: _Doubles, unit: _Doubles
) -> tuple[NDArray[Any], ...]: ...
def sieve_narrow(
    memory: NDArray[np.uint8], tiles: int, width: int, R: int, size: int, kept: _Ints32
) -> None: ...
def sieve_append_csr(
    X: Any,
    place: _Ints32,
    sum: _Doubles,
    square: _Doubles,
    low: _Doubles,
    high: _Doubles,
    present: NDArray[np.int64],
    weight: _Doubles | None,
    indptr: NDArray[np.int64],
    at: int,
    indices: _Ints32,
    data: NDArray[np.float32],
    budget: int,
    row_cost: int,
) -> int: ...
def sieve_row_keys(X: Any, key: NDArray[np.uint32]) -> int: ...
def sieve_select_csr(
    store: SieveStore,
    place: _Ints32,
    indptr: NDArray[np.int64],
    indices: _Ints32,
    data: NDArray[np.float32],
) -> int: ...
def sieve_decode(store: SieveStore, first: int, place: _Ints32, out: _Doubles) -> None: ...

# ---- shapes and pairs

def effects_bin(
    rows: _Rows,
    edges: _Doubles,
    origin: _Doubles,
    inverse: _Doubles,
    count: _Ints,
    sum: _Ints,
    codes: NDArray[np.uint8],
    threads: int,
) -> None: ...
def effects_permute(codes: NDArray[np.uint8], order: _Ints) -> None: ...
def effects_level_sums(
    codes: NDArray[np.uint8], rows: NDArray[np.int64], r: _Doubles, sums: _Doubles, threads: int
) -> None: ...
def effects_columns(
    codes: NDArray[np.uint8],
    terms: _Ints,
    table: NDArray[np.float32],
    times: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None: ...
def effects_scan(
    codes: NDArray[np.uint8],
    rows: NDArray[np.int64],
    features: NDArray[np.int32],
    table: NDArray[np.float32],
    r: NDArray[np.float32],
    cut: float,
    most: int,
    threads: int,
) -> list[tuple[int, int, float]]: ...
