"""Running averages: the sufficient statistics of linear models, in O(p^2) memory ([Sun] 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from ..core.params import Bool, OneOf, Param
from ..core.rows import Array, Rows
from ..core.state import LockedState, Undo, optional, zeros
from .batch import check_batch
from .combine import combine
from .forgetting import Decay, Forgetting, decay_per_row
from .interactions import Pairs
from .moments import BLOCK, DenseBuffer, Moments, SparseBuffer

DENSIFY = 30  # BLAS multiplies about this many times faster than scattered updates of single entries
# Largest weight that forgetting allows before all weights are scaled down.
GROWTH = {"float64": 1e60, "float32": 1e12}
LARGE = 8 << 20  # bytes of sums (about 1000 features) above which no second copy is made

MISSING = Param(
    "error",
    OneOf("error", "mean"),
    "What to do with NaN in X. 'error': raise an error. 'mean': replace it by the mean of the column over "
    "the previous rows (0 if there are none), and count it in `n_imputed_`. In predictions, it is replaced "
    "by the mean over all learned rows.",
)
INTERACTIONS = Param(False, Bool(), "Also use all products x_i x_j as features, p (p + 3) / 2 in total.")
DTYPE = Param(
    "float64",
    OneOf("float64", "float32"),
    "Precision of the sums. float32 needs half of the memory and time, and has about 6 digits.",
)


class RunningAverages(LockedState):
    """Means and covariances of a stream of rows (x, y), which can be updated, merged, subtracted and decayed.

    Models of any size are extracted from them later, by `extract.olsth`, `extract.ofsa` and others, without
    reading the rows again. Memory is 8 (p + q + 1)^2 bytes for p features and q targets (half of it with
    float32), plus one block of 1,024 rows. A dense row costs one symmetric rank-one update. BLAS computes the
    updates of a block together, for any size of the calls. A sparse row costs O(nnz^2). Calls from several
    threads are executed one after another.

    Parameters
    ----------
    decay : float in [0, 1), callable or None, default=None
        Share of its weight that a row loses with each new row: a row of age a has weight (1 - decay)^a. A
        callable returns alpha_n of [Sun] eq. (3.11) for the row after n others. None: no forgetting (alpha_n
        = 1 / (n + 1)).
    half_life : float > 0 or None, default=None
        Number of rows after which the weight of a row has halved; determines the decay.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the sums. float32 needs half of the memory and time, and has about 6 digits.
    missing : {"error", "mean"}, default="error"
        What to do with NaN in X. "error": raise an error. "mean": replace it by the mean of the column over
        the previous rows (0 if there are none), and count it in `n_imputed_`.
    interactions : bool, default=False
        Also average all products x_i x_j, p (p + 3) / 2 features in total. Products are computed block by
        block.

    Attributes
    ----------
    n_samples_ : int
        Number of rows learned, without rows of weight 0.
    effective_n_ : float
        Effective number of rows, used to choose models and for standard errors. A row of weight w counts as w
        rows. With forgetting factors d, the number is (sum w d)^2 / (sum w d^2). Without weights and
        forgetting, it equals `n_samples_`.
    n_features_in_, n_features_, n_targets_ : int
        Columns of X, features averaged (more with `interactions`), columns of y.
    feature_names_ : ndarray of str or None
        Names of the features, if the rows are data frames (or with `interactions`).
    n_imputed_ : ndarray of int of shape (n_features_in_,)
        Number of replaced missing values of each column.

    Notes
    -----
    The raw second moments of [Sun] lose all digits if the mean of a column is large compared with its
    standard deviation. Here the sums are centred at a value near the mean, which is updated along the stream,
    see `streamsieve.statistics.moments.Moments`.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import RunningAverages, extract
    >>> rng = np.random.default_rng(0)
    >>> averages = RunningAverages()
    >>> for _ in range(10):
    ...     X = rng.normal(size=(100, 8))
    ...     averages.update(X, X[:, 2] - 2 * X[:, 5] + 0.1 * rng.normal(size=100))  # doctest: +ELLIPSIS
    RunningAverages(...)
    ...
    >>> extract.olsth(averages, k=2).support
    array([2, 5])
    """

    n_features_in_: Any
    n_imputed_: Any
    squares: float
    imputer_sums: Any
    _changes = 0  # number of changes of the rows: shows whether an extracted model is still current
    _pairs: Pairs | None = None
    _undo: AveragesUndo | None = None  # of the current call

    def __init__(
        self,
        *,
        decay: Decay = None,
        half_life: float | None = None,
        dtype: DTypeLike = "float64",
        missing: Literal["error", "mean"] = "error",
        interactions: bool = False,
    ) -> None:
        name: str = DTYPE.check("dtype", np.dtype(dtype).name)
        decay = decay_per_row(decay, half_life)
        super().__init__(
            dtype=name,
            missing=MISSING.check("missing", missing),
            interactions=INTERACTIONS.check("interactions", interactions),
            forgets=decay is not None,  # whether old rows lose weight
            block=BLOCK,  # dense rows that are multiplied together
            forgetting=Forgetting(decay, GROWTH[name]),
            names=optional(),
            n_samples_=0,
            squares=0.0,  # sum of w d^2 = r^2 / w, for r = w d
            n_features_in_=None,
            n_targets_=None,
            n_imputed_=None,
            imputer_sums=None,  # of r x, kept only if missing values need the mean of the previous rows
            moments=None,
            dense=None,
            sparse=None,
        )

    def begin(self, p: int, q: int, names: list[str] | None = None) -> Self:
        """Allocate the state for p columns and q targets."""
        wide = Pairs(p).n_features if self.interactions else p
        self.moments = Moments(wide, q, self.dtype)
        self.dense, self.sparse = DenseBuffer(wide + q + 1, self.dtype, self.block), SparseBuffer()
        self.n_imputed_, self._axes["n_imputed_"] = zeros(feature=p, dtype=np.int64)
        self.imputer_sums, self._axes["imputer_sums"] = zeros(feature=p)
        self.names, self.n_features_in_, self.n_targets_ = names, p, q
        return self

    @property
    def pairs(self) -> Pairs | None:
        """The products, with `interactions`."""
        if self.interactions and self._pairs is None and self.n_features_in_ is not None:
            self._pairs = Pairs(self.n_features_in_)
        return self._pairs

    # ---------------------------------------------------------------- adding rows

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p)
            Columns of frames (pandas, polars, Arrow) are matched by name: their order may change between
            calls.
        y : array of shape (n,) or (n, q), or str or list of str
            Targets, or names of columns of the frame X.
        sample_weight : array of shape (n,), float or None
            Weights; rows of weight 0 are ignored.
        """
        with self._lock:
            rows, y, w, names = check_batch(self, X, y, sample_weight)
            return self.add(rows, y, w, names)

    def add(self, rows: Rows, y: Array, w: Array | None = None, names: list[str] | None = None) -> Self:
        """Add validated rows with targets (n, q), without rows of weight 0; additional columns are new
        features.

        If one row fails, no row is added.
        """
        with self._lock, self.all_or_none():
            growth = self.forgetting.plan(len(y), self.n_samples_)
            if self.n_features_in_ is None:
                self.begin(rows.p, y.shape[1], names)
            self.widen(max(rows.p, self.n_features_in_))
            self.place(rows, y)
            self.add_weighted(rows, y, w, growth, w)
        return self

    @contextmanager
    def all_or_none(self) -> Iterator[None]:
        """Undo the additions of the block if it raises."""
        if self._undo is not None:  # within another such block
            yield
            return
        self._undo = AveragesUndo(self)
        try:
            with self._undo:
                yield
        finally:
            self._undo = None

    def _before_sums_change(self) -> None:
        """Keep a copy of the O(p^2) sums, so that the call can be undone, unless they are `LARGE`."""
        undo = self._undo
        if undo is not None and undo.fields["moments"] is not None:
            undo.keep(self.moments.sums.nbytes, undo.copy_sums)

    def place(self, rows: Rows, y: Array) -> None:
        """Choose the centre from the first rows, unless there are too few to distinguish dense from sparse
        columns."""
        if self.moments.placed or len(y) == 0 or (rows.sparse and not self.interactions and len(y) < 8):
            return
        if self.pairs is not None:
            rows = Rows(self.pairs.expand(rows[:BLOCK].to_array()))
        first = rows[: 16 * BLOCK] if rows.sparse else rows[:BLOCK]
        self.moments.place(first, y[:BLOCK])

    def add_weighted(
        self, rows: Rows, y: Array, w: Array | None, growth: Array | None, counts: Array | None
    ) -> None:
        """Add rows of weights w, block by block; a row of weight w counts as w rows."""
        n = len(y)
        self._changes += 1
        self.unpack()
        crowded = n > 0 and (rows.n_values / n) ** 2 * DENSIFY > rows.p**2
        sparse = rows.sparse and not self.interactions and not crowded
        start = 0
        while start < n:
            ahead = None if growth is None else growth[start : start + (1 << 16)]
            room = self.forgetting.room(ahead)
            if room == 0:
                self.scale(1.0 / self.forgetting.level)
                continue
            stop = min(n, start + room, SparseBuffer.stop(rows, start) if sparse else start + self.dense.free)
            part = slice(start, stop)
            r = self.forgetting.weights(
                stop - start, None if growth is None else growth[part], None if w is None else w[part]
            )
            self.squares += float(r @ (r if counts is None else r / counts[part]))
            if sparse:
                self._add_sparse(rows[part], y[part], r)
            else:
                self._add_dense(rows[part].to_array(), y[part], r)
            self.n_samples_ += stop - start
            start = stop

    def _add_dense(self, X: NDArray[Any], y: Array, r: Array) -> None:
        if self.missing == "mean":
            X = np.array(X, order="C")
            before = self.forgetting.total - float(r.sum())
            _core.impute_dense(X, r, self.imputer_sums, before, self.n_imputed_)
        if self.pairs is not None:
            X = self.pairs.expand(X)
        if not self.moments.placed:
            self.moments.place(Rows(X), y)
        self.dense.add(X, y, r, self.moments.center)
        if not self.dense.free:
            self._flush_dense()

    def _add_sparse(self, rows: Rows, y: Array, r: Array) -> None:
        rows = rows.copy()  # the caller may change its arrays before the block is full
        if self.missing == "mean":
            before = self.forgetting.total - float(r.sum())
            indptr, indices, data = rows.kernel
            _core.impute_csr(indptr, indices, data, r, self.imputer_sums, before, self.n_imputed_)
        if self.sparse.add(rows, y.copy(), r.copy()):
            self._flush_sparse()

    def _flush_dense(self) -> None:
        if len(self.dense):
            self._before_sums_change()
            self.moments.add_block(self.dense.rows)
            self.dense.clear()
            if self.moments.blocks < 8 or self.moments.blocks % 8 == 0:  # O(m) over scattered memory
                self.recentre()

    def _flush_sparse(self) -> None:
        if self.sparse.rows:
            self._before_sums_change()
            rows, y, r = self.sparse.take_all()
            if not self.moments.placed:
                self.moments.place(rows, y)
            self.moments.add_sparse(rows, y, r)
            self.recentre()

    def recentre(self) -> None:
        if 0 < self.n_samples_ < 64:  # the first few rows are not informative
            return
        if len(self.dense):  # packed about the current centre
            self.moments.add_block(self.dense.rows)
            self.dense.clear()
        self.moments.recentre()

    def flush(self) -> None:
        """Add all buffered rows to the sums; called before reading."""
        if self.n_features_in_ is not None:
            with self._lock:
                self._flush_dense()
                self._flush_sparse()

    def scale(self, factor: float) -> None:
        """Multiply the weights of all rows so far; the averages do not change."""
        self._before_sums_change()
        self.flush()
        self.moments.scale(factor)
        self.imputer_sums *= factor
        self.squares *= factor**2
        self.forgetting.scale(factor)

    def widen(self, p: int, where: NDArray[np.int64] | None = None) -> Self:
        """Add features, as if they had been 0 in all rows so far; p is the new number of features.

        New features are appended. Existing features keep their positions unless `where` gives new positions.
        """
        if self.n_features_in_ is None or (p == self.n_features_in_ and where is None):
            return self
        if self.interactions or self.names is not None:
            raise ValueError("Averages of products, or of named columns, cannot be widened.")
        if p < self.n_features_in_:
            raise ValueError(f"These averages have {self.n_features_in_} features and cannot shrink to {p}.")
        with self._lock:
            self.flush()
            where = np.arange(self.n_features_in_) if where is None else where
            packed = self.moments.packed
            self.moments.unpack()
            self.moments = self.moments.widen(p, where)
            if packed:
                self.moments.pack()
            imputed, sums = np.zeros(p, dtype=np.int64), np.zeros(p)
            imputed[where], sums[where] = self.n_imputed_, self.imputer_sums
            self.n_imputed_, self.imputer_sums = imputed, sums
            self.dense = DenseBuffer(p + self.n_targets_ + 1, self.dtype, self.block)
            self.n_features_in_ = p
            self._changes += 1
        return self

    def resize(self, p: int) -> None:
        self.widen(p)

    # ---------------------------------------------------------------- packed, to be sent and merged

    def pack(self) -> Self:
        """Keep only the upper triangle of the sums and no row buffer: half the bytes.

        Packed averages can be merged, saved and sent. Reading them or adding rows unpacks them.
        """
        if self.moments is not None:
            with self._lock:
                self.flush()
                self.dense = DenseBuffer(self.moments.p + self.n_targets_ + 1, self.dtype)
                self.moments.pack()
        return self

    def unpack(self) -> Self:
        """Allocate the full matrix again."""
        if self.moments is not None:
            with self._lock:
                self.moments.unpack()
        return self

    # ---------------------------------------------------------------- other averages

    def merge(self, other: RunningAverages) -> Self:
        """Add the rows of other averages; the result equals averages of all rows, up to rounding.

        With forgetting, the latest row of each has weight 1.
        """
        return self.combine(other, 1)

    def subtract(self, other: RunningAverages) -> Self:
        """Remove rows that were added or merged before.

        With forgetting, the rows of `other` must have the same age in both: the latest row of each has weight
        1.
        """
        return self.combine(other, -1)

    def __add__(self, other: RunningAverages) -> RunningAverages:
        return self.copy().merge(other)

    def __sub__(self, other: RunningAverages) -> RunningAverages:
        return self.copy().subtract(other)

    def combine(
        self, other: RunningAverages, sign: int, unit: float | None = None, warn: bool = True
    ) -> Self:
        """Add (1) or remove (-1) rows, whose weights are multiples of `unit`, the weight of their latest
        row."""
        if not isinstance(other, RunningAverages):
            raise TypeError(f"Expected RunningAverages, got {type(other).__name__}.")
        if other.n_features_in_ is not None:
            combine(self, other.copy() if other is self else other, sign, unit, warn)
        return self

    # ---------------------------------------------------------------- reading

    @property
    def n_features_(self) -> int | None:
        return None if self.moments is None else self.moments.p

    @property
    def sum_weights_(self) -> float:
        """Sum of the weights of the rows; with forgetting, the latest row has weight 1."""
        return float(self.forgetting.total / self.forgetting.unit)

    @property
    def effective_n_(self) -> float:
        return 0.0 if self.squares <= 0 else float(self.forgetting.total**2 / self.squares)

    @property
    def feature_names_(self) -> NDArray[np.object_] | None:
        names = self.names if self.pairs is None else self.pairs.names(self.names)
        return None if names is None else np.array(names, dtype=object)

    def current(self) -> tuple[Moments, float]:
        """The moments of all rows, and the sum of their weights."""
        if self.n_features_in_ is None or self.forgetting.total <= 0:
            raise ValueError("These running averages hold no rows of positive weight; call update first.")
        self.flush()
        self.unpack()
        return self.moments, self.forgetting.total

    @property
    def mean_x_(self) -> Array:
        """mu_x, shape (n_features_,)."""
        with self._lock:
            moments, weight = self.current()
            return moments.mean(weight)[: moments.p]

    @property
    def mean_y_(self) -> Array:
        """mu_y, shape (n_targets_,)."""
        with self._lock:
            moments, weight = self.current()
            return moments.mean(weight)[moments.p :]

    @property
    def S_xx_(self) -> Array:
        """Centred second moments of the features (their covariance, divided by n), shape (p, p)."""
        return self._comoments("x", "x")

    @property
    def S_xy_(self) -> Array:
        """Centred moments of features with targets, shape (p, q)."""
        return self._comoments("x", "y")

    @property
    def S_yy_(self) -> Array:
        """Centred second moments of the targets, shape (q, q)."""
        return self._comoments("y", "y")

    def _comoments(self, rows: str, columns: str) -> Array:
        with self._lock:
            moments, weight = self.current()
            part = {"x": slice(0, moments.p), "y": slice(moments.p, moments.p + moments.q)}
            return moments.comoments(weight, part[rows], part[columns])

    def __repr__(self) -> str:
        if self.n_features_in_ is None:
            return "RunningAverages(no rows yet)"
        return (
            f"RunningAverages({self.n_samples_} rows, {self.n_features_} features, {self.n_targets_} targets)"
        )

    # ---------------------------------------------------------------- files

    def bytes_at(self, p: int, now: int) -> float:  # noqa: ARG002
        m = (p * (p + 3) / 2 if self.interactions else p) + (self.n_targets_ or 1) + 1
        return np.dtype(self.dtype).itemsize * (m + self.block) * m

    def check(self) -> None:
        """Raise ValueError for an inconsistent state from a file, because kernels do not check it."""
        p, q = self.n_features_in_, self.n_targets_
        fresh = RunningAverages(dtype=self.dtype, missing=self.missing, interactions=self.interactions)
        self.forgetting.check(GROWTH[self.dtype])
        if p is not None:
            if type(p) is not int or type(q) is not int or p < 0 or q < 1:
                raise ValueError(f"the averages have {p!r} columns and {q!r} targets.")
            parts = (self.moments, self.dense, self.sparse, self.n_imputed_, self.imputer_sums)
            if any(part is None for part in parts) or len(self.n_imputed_) != p:
                raise ValueError(f"the averages do not have {p} columns.")
            side = (p * (p + 3) // 2 if self.interactions else p) + q + 1
            shape = np.shape(getattr(self.moments, "sums", ()))
            if shape not in ((side, side), (side * (side + 1) // 2,)):  # before a fresh one is made
                raise ValueError(f"the moments do not have {p} columns and {q} targets.")
            fresh.begin(p, q)
        self.verify(fresh)
        if p is not None:
            if (self.moments.p, self.moments.q) != (fresh.moments.p, q):
                raise ValueError(f"the moments do not have {p} columns and {q} targets.")
            if not (np.isfinite(self.moments.sums).all() and np.isfinite(self.moments.center).all()):
                raise ValueError("the moments are not finite.")
            self.dense.check()
            self.sparse.check(p, q)
        if self.names is not None and len(self.names) != p:
            raise ValueError(f"there are {len(self.names)} names for {p} columns.")
        if self.n_samples_ < 0:
            raise ValueError(f"{self.n_samples_} rows have been learned.")


class AveragesUndo(Undo):
    """The current averages. Most calls only append to buffers: O(1), or O(p) if values are imputed."""

    def __init__(self, a: RunningAverages) -> None:
        super().__init__(self._put_back, LARGE, lambda: a.n_samples_)
        self.averages, self.fields = a, vars(a).copy()
        self.parts = [(a.forgetting, vars(a.forgetting).copy())]
        if a.moments is None:
            return
        if a.moments.packed:
            a.moments.unpack()
        self.parts += [(part, vars(part).copy()) for part in (a.moments, a.dense, a.sparse)]
        self.packed, self.buffered = a.dense.rows, len(a.sparse.rows)
        if a.missing == "mean":
            for name in ("n_imputed_", "imputer_sums"):  # the only arrays that a row changes in place
                self.fields[name] = self.fields[name].copy()

    def _put_back(self) -> None:
        for part, fields in ((self.averages, self.fields), *self.parts):
            for name, value in fields.items():
                if not name.startswith("_"):  # a cache, not part of the state
                    setattr(part, name, value)
        self.averages._changes += 1
        if self.averages.moments is not None:
            sparse = self.averages.sparse
            for parts in (sparse.rows, sparse.targets, sparse.weights):
                del parts[self.buffered :]

    def copy_sums(self) -> Callable[[], None]:
        """Copy the arrays that a block of rows changes in place."""
        moments, dense = self.fields["moments"], self.fields["dense"]
        sums, rows, imputer_sums = moments.sums.copy(), self.packed.copy(), self.fields["imputer_sums"].copy()

        def put_back() -> None:
            moments.sums, dense.rows, self.averages.imputer_sums = sums, rows, imputer_sums

        return put_back
