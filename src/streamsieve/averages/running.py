"""Running averages: everything a linear model needs to know of a stream, in O(p^2) memory ([Sun] 3.1)."""

from __future__ import annotations

from threading import RLock
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import blas

from .. import _core
from .._input import Rows, as_rows, as_targets, as_weights, check_rows, is_frame, threads
from .forgetting import Alpha, Forgetting
from .interactions import Pairs
from .standardize import Array

BLOCK = 1024  # rows a symmetric product takes at once: past this BLAS runs no faster
DENSIFY = 30  # BLAS multiplies about that many times faster than entries are scattered one by one
# Largest values taken. A moment is two of them and a weight, which forgetting lets grow to 1e60 (1e12).
LIMIT = {"float64": 1e100, "float32": 1e10}
STRAY = 4.0  # deviations the mean may stray from the centre: it costs log2(1 + 16) = 4 bits


class RunningAverages:
    """Means and co-moments of a stream of rows (x, y): updated, merged, subtracted, forgotten.

    Models of any sparsity are extracted from them later, by `extract.olsth`, `extract.ofsa` and the others,
    without seeing a row again. Memory is 8 (p + q + 1)^2 bytes for p features and q targets (half of it with
    float32) and one block of 1,024 rows; a row costs one symmetric rank-one update, done a block at a time by
    BLAS whatever the size of the calls, or O(nnz^2) if it is sparse.

    Parameters
    ----------
    alpha : float in [0, 1), callable or None, default=None
        Forgetting, per row: a row of age a has weight (1 - alpha)^a. A callable gives alpha_n of [Sun]
        eq. (3.11) for the row that comes after n others. None keeps everything (alpha_n = 1 / (n + 1)).
    half_life : float > 0 or None, default=None
        Rows after which a row's weight has halved; another way to say alpha.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the sums. float32 halves memory and time and keeps about 6 digits.
    missing : {"error", "mean"}, default="error"
        What to do with NaN in X: refuse it, or put the column's mean over the rows before it (0 where there
        is none) in its place and count it in `n_imputed_`.
    interactions : bool, default=False
        Keep the averages of all products x_i x_j as well, p (p + 3) / 2 features in all. Products are made
        block by block.

    Attributes
    ----------
    n_samples_ : int
        Rows taken; rows of weight 0 are not.
    effective_n_ : float
        Rows that count in model choice and standard errors: a sample weight counts as so many rows, and
        forgetting with factors d leaves (sum w d)^2 / (sum w d^2) of them. `n_samples_` without either.
    n_features_in_, n_features_, n_targets_ : int
        Columns of X, features kept (more with `interactions`), columns of y.
    feature_names_ : ndarray of str or None
        Names of the features kept, if rows came in data frames (or with `interactions`).
    n_imputed_ : ndarray of int of shape (n_features_in_,)
        Missing values replaced, by column.

    Notes
    -----
    The raw second moments of [Sun] lose all digits when a mean is large against its deviation. Kept here is
    the sum over rows of r z z' with z = (x - c, y - c_y, 1): all sums of weights, values and products in one
    symmetric matrix that simply adds up. The centre c is chosen from the first rows and moved (a rank-two
    update) when the mean strays from it by more than 4 deviations, so that the co-moments are exact to
    rounding however far from zero the data lie. A feature that is zero in half of the rows or more has a mean
    within one deviation of zero; its centre stays 0, and sparse rows stay sparse.

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

    def __init__(
        self,
        *,
        alpha: Alpha = None,
        half_life: float | None = None,
        dtype: DTypeLike = np.float64,
        missing: Literal["error", "mean"] = "error",
        interactions: bool = False,
    ) -> None:
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f"dtype={dtype}; sums are kept in float64 or float32.")
        if missing not in ("error", "mean"):
            raise ValueError(f"missing={missing!r}; pass 'error' or 'mean'.")
        self.missing = missing
        self.interactions = interactions
        # float32 ends at 1e38, and a moment is a weight times two values
        self._clock = Forgetting(alpha, half_life, largest=1e60 if self.dtype == np.float64 else 1e12)
        self.forgets = self._clock.alpha is not None  # whether old rows lose weight
        self._lock = RLock()
        self.n_samples_ = 0
        self.n_features_in_: int | None = None
        self._changes = 0  # how often rows came or went: whoever keeps a model asks whether it is still right

    # ---------------------------------------------------------------- taking rows

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p)
            Frames (pandas, polars, Arrow) are read by column name: later ones may come in another order.
        y : array of shape (n,) or (n, q), or str or list of str
            Targets; names are columns of the frame X.
        sample_weight : array of shape (n,), float or None
            Weights; a row of weight 0 is not taken at all.
        """
        X, y, w, names = self._check(X, y, sample_weight)
        growth = self._clock.plan(len(y), self.n_samples_)
        self._begin(X, y, names)
        self._take(X, y, w, growth, w)
        return self

    def _check(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Array, Array | None, Any]:
        """Validated rows, targets and weights, rows of weight 0 left out. Changes nothing."""
        started = self.n_features_in_ is not None
        if isinstance(y, str) or (isinstance(y, list) and y and all(isinstance(name, str) for name in y)):
            X, y = _split_frame(X, y)
        X, names = as_rows(X, self._names if started else None)
        p = self.n_features_in_ if self.n_features_in_ is not None else X.shape[1]
        if p == 0:
            raise ValueError("X has 0 columns; at least one feature is needed.")
        limit = LIMIT[self.dtype.name]
        of_x = limit**0.5 if self.interactions else limit
        X = check_rows(
            X, p, nan_ok=self.missing == "mean", names=self._names if started else names, limit=of_x
        )
        y = as_targets(y, X.shape[0], limit)
        if started and y.shape[1] != self.n_targets_:
            raise ValueError(f"y has {y.shape[1]} targets, but {self.n_targets_} were seen before.")
        w = as_weights(sample_weight, X.shape[0])
        if w is not None and not w.all():
            X, y, w = X[w > 0], y[w > 0], w[w > 0]
        return X, y, w, names

    def _begin(self, X: Rows, y: Array, names: list[str] | None, center: Array | None = None) -> None:
        """Lay out the state at the first rows."""
        if self.n_features_in_ is not None:
            return
        p, q = X.shape[1], y.shape[1]
        self._names = names
        self._pairs = Pairs(p) if self.interactions else None
        self.n_features_ = p if self._pairs is None else self._pairs.n_features
        self.n_targets_ = q
        m = self.n_features_ + q + 1
        try:
            self.moments_ = np.zeros((m, m), dtype=self.dtype)  # the upper triangle counts
        except MemoryError:
            raise MemoryError(
                f"The averages of {m - 1} columns take {m * m * self.dtype.itemsize / 2**30:,.0f} GiB, more "
                "than there is. The stochastic learners (SFSA, TSGD, ...) need memory for the columns only."
            ) from None
        # Too few rows to tell a dense column from a sparse one, or where they lie: then decided later.
        few = (self._pairs is not None or len(y) < 8) if sp.issparse(X) else len(y) == 0
        self._placed = center is not None or not few
        if center is None:
            center = self._first_center(X, y) if self._placed else np.zeros(m - 1)
        self.center_ = center.copy()
        self.n_imputed_ = np.zeros(p, dtype=np.int64)
        self._sums = np.zeros(p)  # of r x, kept only where missing values need the mean before a row
        self._squares = 0.0  # sum of w d^2 = r^2 / w, for r = w d
        self._block = np.empty((BLOCK, m), dtype=self.dtype)
        self._filled = self._flushes = 0
        self._sparse: list[tuple[Any, Array, Array]] = []
        self._sparse_nnz = 0
        self.n_features_in_ = p  # last: it says that the state is there

    def _first_center(self, X: Rows, y: Array) -> Array:
        """Means of the first rows where they exceed the deviations, else 0."""
        center = np.zeros(self.n_features_ + y.shape[1])
        if sp.issparse(X):
            X = X[: 16 * BLOCK].copy()
            X.data = np.nan_to_num(X.data)
            mean = X.sum(axis=0) / X.shape[0]
            var = X.power(2).sum(axis=0) / X.shape[0] - mean**2
        else:
            X = np.nan_to_num(np.asarray(X[:BLOCK], dtype=np.float64))
            if self._pairs is not None:
                X = self._pairs.expand(X)
            mean, var = X.mean(axis=0), X.var(axis=0)
        center[: self.n_features_] = np.where(mean**2 > var, mean, 0.0)
        center[self.n_features_ :] = y[:BLOCK].mean(axis=0)
        return center

    def _place(self, X: Rows, y: Array) -> None:
        """Choose the centre, if that was put off, by the first rows to enter the sums."""
        if not self._placed and self._filled == 0 and self.moments_[-1, -1] == 0:
            self.center_ = self._first_center(X, y)
        self._placed = True

    def _take(self, X: Rows, y: Array, w: Array | None, growth: Array | None, counts: Array | None) -> None:
        """Add checked rows of weights w, each of which counts as so many, a block at a time."""
        n = len(y)
        self._changes += 1
        sparse = sp.issparse(X) and self._pairs is None
        if sparse and X.nnz and (X.nnz / n) ** 2 * DENSIFY > X.shape[1] ** 2:
            sparse = False
        start = 0
        while start < n:
            rest = None if growth is None else growth[start:]
            room = self._clock.room(rest)
            if room == 0:
                self._scale(1.0 / self._clock.level)
                continue
            stop = min(n, start + room)
            if sparse:
                stop = min(stop, self._sparse_stop(X, start))
            else:
                stop = min(stop, start + BLOCK - self._filled)
            rows = slice(start, stop)
            r = self._clock.weights(
                stop - start, None if growth is None else growth[rows], None if w is None else w[rows]
            )
            self._squares += float(r @ (r if counts is None else r / counts[rows]))
            if sparse:
                self._take_sparse(X[rows] if stop - start < n else X, y[rows], r, whole=stop - start == n)
            else:
                self._take_dense(X[rows], y[rows], r)
            self.n_samples_ += stop - start
            start = stop

    def _take_dense(self, X: Rows, y: Array, r: Array) -> None:
        if sp.issparse(X):
            X = X.toarray()
        if self.missing == "mean":
            X = np.array(X, order="C")
            _core.impute_dense(X, r, self._sums, self._clock.total - float(r.sum()), self.n_imputed_)
        self._place(X, y)
        if self._pairs is not None:
            X = self._pairs.expand(X)
        _core.pack(X, y, np.sqrt(r), self.center_, self._block, self._filled)
        self._filled += len(y)
        if self._filled == BLOCK:
            self._flush_dense()

    def _flush_dense(self) -> None:
        if self._filled:
            # beta = 1 on a Fortran-ordered view adds in place: there is never a second m x m matrix
            syrk = blas.dsyrk if self.dtype == np.float64 else blas.ssyrk
            rows = self._block[: self._filled]
            syrk(1.0, rows.T, beta=1.0, c=self.moments_.T, lower=1, overwrite_c=1)
            self._filled = 0
            self._flushes += 1
            if self._flushes < 8 or self._flushes % 8 == 0:  # O(m) over scattered memory: not every time
                self._recenter()

    def _sparse_stop(self, X: Any, start: int) -> int:
        """The row up to which sparse rows make one block: several entries for every feature."""
        entries = min(max(64 * X.shape[1], 1 << 16), 1 << 21)
        return min(
            max(start + 1, int(np.searchsorted(X.indptr, X.indptr[start] + entries))), start + (1 << 16)
        )

    def _take_sparse(self, X: Any, y: Array, r: Array, whole: bool) -> None:
        if self.missing == "mean":
            X = X.copy()
            _core.impute_csr(
                X.indptr,
                X.indices,
                X.data,
                r,
                self._sums,
                self._clock.total - float(r.sum()),
                self.n_imputed_,
            )
        elif whole:  # may be the caller's own arrays, who may change them before the block is full
            X, y, r = X.copy(), y.copy(), r.copy()
        self._sparse.append((X, y, r))
        self._sparse_nnz += X.nnz
        if self._sparse_nnz >= min(max(32 * X.shape[1], 1 << 15), 1 << 20) or len(self._sparse) >= 1 << 13:
            self._flush_sparse()

    def _flush_sparse(self) -> None:
        if not self._sparse:
            return
        blocks, self._sparse, self._sparse_nnz = self._sparse, [], 0
        if len(blocks) == 1:
            X, y, r = blocks[0]
        else:
            X = sp.vstack([block[0] for block in blocks], format="csr")
            y = np.concatenate([block[1] for block in blocks])
            r = np.concatenate([block[2] for block in blocks])
        self._place(X, y)
        p, m = self.n_features_, len(self.moments_)
        centred = np.flatnonzero(self.center_[:p])
        where = np.concatenate([centred, np.arange(p, m)])
        extra = np.empty((len(y), len(where)))
        extra[:, : len(centred)] = X[:, centred].toarray() if len(centred) else 0.0
        extra[:, len(centred) : -1] = y
        extra[:, :-1] -= self.center_[where[:-1]]
        extra[:, -1] = 1.0
        self.moments_[np.ix_(where, where)] += np.triu((extra * r[:, None]).T @ extra)
        sparse = np.ones(p, dtype=np.uint8)
        sparse[centred] = 0
        _core.gram_csr(X.indptr, X.indices, X.data, r, sparse, extra, where, self.moments_, threads())
        self._recenter()

    def _flush(self) -> None:
        if self.n_features_in_ is not None:
            with self._lock:  # reading flushes, and several threads may read
                self._flush_dense()
                self._flush_sparse()

    # ---------------------------------------------------------------- centre and scale

    def _recenter(self) -> None:
        """Move the centre where the mean has strayed from it."""
        if self.n_samples_ < 64 and self.n_samples_ > 0:  # the first few rows say little
            return
        weight = self._clock.total
        if weight <= 0:
            return
        offset = self.moments_[:-1, -1] / weight
        var = self.moments_.diagonal()[:-1] / weight - offset**2
        stray = offset**2 > STRAY**2 * np.maximum(var, 0)
        if stray.any():
            self._shift(np.where(stray, offset, 0.0).astype(np.float64))

    def _shift(self, delta: Array) -> None:
        """c += delta: M - s delta' - delta s' + W delta delta', in place."""
        d = np.append(delta, 0.0)
        s = self.moments_[:, -1].astype(np.float64)
        self._rank_two(-1.0, d, s - 0.5 * self._clock.total * d)
        self.center_ += delta

    def _rank_two(self, alpha: float, x: Array, y: Array) -> None:
        syr2 = blas.dsyr2 if self.dtype == np.float64 else blas.ssyr2
        syr2(alpha, x, y, a=self.moments_.T, lower=1, overwrite_a=1)

    def _scale(self, factor: float) -> None:
        """Multiply the weights of all rows taken; what is averaged stays the same."""
        self._flush()
        self.moments_ *= factor
        self._sums *= factor
        self._squares *= factor**2
        self._clock.scale(factor)

    def widen(self, p: int, where: NDArray[np.int64] | None = None) -> Self:
        """Let features join, as if they had been 0 in all rows so far; p in all.

        They come behind those there are, which keep their places unless `where` says to which they go.
        """
        if self.n_features_in_ is None or (p == self.n_features_in_ and where is None):
            return self
        if self.interactions or self._names is not None:
            raise ValueError("Averages of products, or of named columns, cannot be widened.")
        if p < self.n_features_in_:
            raise ValueError(
                f"These averages are of {self.n_features_in_} features; they do not shrink to {p}."
            )
        self._flush()
        m = p + self.n_targets_ + 1
        to = np.arange(self.n_features_in_) if where is None else where
        kept = np.concatenate([to, np.arange(p, m)])
        moments = np.zeros((m, m), dtype=self.dtype)
        for i, at in enumerate(kept):  # row by row: no m x m temporary
            beyond = kept[i:]
            moments[np.minimum(at, beyond), np.maximum(at, beyond)] = self.moments_[i, i:]
        center, imputed, sums = np.zeros(m - 1), np.zeros(p, dtype=np.int64), np.zeros(p)
        center[kept[:-1]], imputed[to], sums[to] = self.center_, self.n_imputed_, self._sums
        self.moments_, self.center_ = moments, center  # 0 is where features lie that were never seen
        self.n_imputed_, self._sums = imputed, sums
        self._block = np.empty((BLOCK, m), dtype=self.dtype)
        self.n_features_in_ = self.n_features_ = p
        self._changes += 1
        return self

    # ---------------------------------------------------------------- algebra

    def merge(self, other: RunningAverages) -> Self:
        """Add the rows of other averages; as if all had been seen here, to rounding.

        With forgetting, both count as ending now: the latest row of each has weight 1.
        """
        return self._add(other, 1)

    def subtract(self, other: RunningAverages) -> Self:
        """Take out rows that had been merged, or seen, before.

        With forgetting, `other` must have aged as much as its rows have here: the latest row of each counts
        as having come now.
        """
        return self._add(other, -1)

    def __add__(self, other: RunningAverages) -> RunningAverages:
        return self.copy().merge(other)

    def __sub__(self, other: RunningAverages) -> RunningAverages:
        return self.copy().subtract(other)

    def _add(self, other: RunningAverages, sign: int) -> Self:
        if not isinstance(other, RunningAverages):
            raise TypeError(f"Expected RunningAverages, got {type(other).__name__}.")
        if other.n_features_in_ is None:
            return self
        if self.n_features_in_ is None:
            if sign < 0:
                raise ValueError("Nothing to subtract from: these averages hold no rows.")
            if self.interactions != other.interactions:
                raise ValueError("One of the averages has interactions, the other has not.")
            self._begin(
                np.empty((0, other.n_features_in_)),
                np.empty((0, other.n_targets_)),
                other._names,
                other.center_,
            )
        self._compatible(other)
        self._changes += 1
        if sign < 0 and other.n_samples_ > self.n_samples_:
            raise ValueError(f"Cannot subtract {other.n_samples_} rows from {self.n_samples_}.")
        self._flush()
        other._flush()
        if self._clock.unit != 1.0:
            self._scale(1.0 / self._clock.unit)
        scale = sign / other._clock.unit
        for mine, theirs in zip(self.moments_, other.moments_):  # row by row: no m x m temporary
            mine += (scale * theirs).astype(self.dtype, copy=False)
        # z - c = (z - c') + e with e = c' - c: the other's sums move to this centre by a rank-two update
        e = np.append(other.center_ - self.center_, 0.0)
        if e.any():
            weight = other._clock.total
            self._rank_two(scale, e, other.moments_[:, -1].astype(np.float64) + 0.5 * weight * e)
        # from the moments: the other's own are kept only where it imputes
        p, total = self.n_features_in_, other._clock.total
        self._sums += scale * (other.moments_[:p, -1] + total * other.center_[:p])
        self._squares += sign * other._squares / other._clock.unit**2
        self._clock.total += scale * other._clock.total
        self.n_samples_ += sign * other.n_samples_
        self.n_imputed_ += sign * other.n_imputed_
        if self.n_samples_ == 0:  # exactly nothing, not its rounding
            self.moments_[:] = 0
            self._sums[:] = 0
            self._squares = self._clock.total = 0.0
        self._recenter()
        return self

    def _compatible(self, other: RunningAverages) -> None:
        mine = (self.n_features_in_, self.n_features_, self.n_targets_)
        theirs = (other.n_features_in_, other.n_features_, other.n_targets_)
        if mine != theirs:
            raise ValueError(
                f"These averages are of {mine[1]} features and {mine[2]} targets, the others of {theirs[1]} "
                f"and {theirs[2]}; only averages of the same columns add up."
            )
        if self._names is not None and other._names is not None and self._names != other._names:
            raise ValueError(
                "The averages have the same number of features, but other names or another order."
            )

    def __copy__(self) -> RunningAverages:
        return self.copy()

    def copy(self) -> RunningAverages:
        """An independent copy."""
        new = object.__new__(type(self))
        new.__setstate__({key: _copied(value) for key, value in self.__getstate__().items()})
        return new

    # ---------------------------------------------------------------- reading

    def _moments(self) -> tuple[NDArray[Any], Array, float]:
        """The matrix of sums, its centre, and the sum of weights."""
        self._flush()
        return self.moments_, self.center_, self._clock.total

    @property
    def sum_weights_(self) -> float:
        """Sum of the rows' weights; with forgetting, in units of the latest row's."""
        return self._clock.total / self._clock.unit

    @property
    def effective_n_(self) -> float:
        return 0.0 if self._squares <= 0 else self._clock.total**2 / self._squares

    @property
    def feature_names_(self) -> NDArray[np.object_] | None:
        if self.n_features_in_ is None:
            return None
        names = self._pairs.names(self._names) if self._pairs is not None else self._names
        return None if names is None else np.array(names, dtype=object)

    def _mean(self) -> Array:
        if self.n_samples_ == 0:
            raise ValueError("These running averages hold no rows; call update first.")
        moments, center, weight = self._moments()
        return center + moments[:-1, -1] / weight

    @property
    def mean_x_(self) -> Array:
        """mu_x, shape (n_features_,)."""
        return self._mean()[: self.n_features_]

    @property
    def mean_y_(self) -> Array:
        """mu_y, shape (n_targets_,)."""
        return self._mean()[self.n_features_ :]

    def _comoments(self, rows: slice, columns: slice) -> Array:
        self._mean()
        offset = self.moments_[:-1, -1].astype(np.float64) / self._clock.total
        block = self.moments_[rows, columns].astype(np.float64)
        if rows == columns:
            block = np.triu(block) + np.triu(block, 1).T
        return block / self._clock.total - np.outer(offset[rows], offset[columns])

    @property
    def S_xx_(self) -> Array:
        """Centred second moments of the features (their covariance, divided by n), shape (p, p)."""
        x = slice(0, self.n_features_)
        return self._comoments(x, x)

    @property
    def S_xy_(self) -> Array:
        """Centred moments of features with targets, shape (p, q)."""
        return self._comoments(
            slice(0, self.n_features_), slice(self.n_features_, self.n_features_ + self.n_targets_)
        )

    @property
    def S_yy_(self) -> Array:
        """Centred second moments of the targets, shape (q, q)."""
        y = slice(self.n_features_, self.n_features_ + self.n_targets_)
        return self._comoments(y, y)

    def __repr__(self) -> str:
        if self.n_features_in_ is None:
            return "RunningAverages(no rows yet)"
        return (
            f"RunningAverages({self.n_samples_} rows, {self.n_features_} features, {self.n_targets_} targets)"
        )

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_lock"]
        if self.n_features_in_ is not None:
            state["_block"] = self._block[: self._filled]  # the rest of it is empty room
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()
        if self.n_features_in_ is not None:
            for name in ("moments_", "center_", "n_imputed_", "_sums"):
                if not self.__dict__[name].flags.writeable:  # mapped from a file
                    self.__dict__[name] = self.__dict__[name].copy()
            filled, self._block = self._block, np.empty((BLOCK, len(self.moments_)), dtype=self.dtype)
            self._block[: self._filled] = filled

    def _check_state(self) -> None:
        """Refuse state that came from a file and does not fit together; `persist` calls it."""
        if self.n_features_in_ is None:
            return
        p, q, m = self.n_features_in_, self.n_targets_, self.n_features_ + self.n_targets_ + 1
        wide = p if not self.interactions else Pairs(p).n_features
        for name, shape, dtype in (
            ("moments_", (m, m), self.dtype),
            ("center_", (m - 1,), np.float64),
            ("n_imputed_", (p,), np.int64),
            ("_sums", (p,), np.float64),
            ("_block", (BLOCK, m), self.dtype),
        ):
            a = getattr(self, name)
            if a.shape != shape or a.dtype != dtype or not a.flags.c_contiguous:
                raise ValueError(f"{name} is {a.shape} of {a.dtype}, not {shape} of {np.dtype(dtype)}.")
        if wide != self.n_features_ or (self._pairs is not None) != self.interactions or self.n_samples_ < 0:
            raise ValueError(f"{self.n_features_} features do not come of {p} columns.")
        if self._names is not None and len(self._names) != p:
            raise ValueError(f"{len(self._names)} names are given to {p} columns.")
        nnz = 0
        for X, y, r in self._sparse:
            check_rows(X, p)
            if (
                y.shape != (X.shape[0], q)
                or r.shape != (X.shape[0],)
                or y.dtype.str + r.dtype.str != "<f8<f8"
            ):
                raise ValueError("rows that wait to be added have targets or weights of other rows.")
            nnz += X.nnz
        if nnz != self._sparse_nnz:
            raise ValueError(f"{nnz} values wait to be added, not {self._sparse_nnz}.")


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return list(value)
    if isinstance(value, Forgetting):
        clock = object.__new__(Forgetting)
        clock.__dict__.update(value.__dict__)
        return clock
    return value


def _split_frame(X: Any, y: str | list[str]) -> tuple[Any, Any]:
    """The features and the named targets of a frame."""
    if isinstance(X, np.ndarray | list) or sp.issparse(X) or not is_frame(X):
        raise ValueError(f"y={y!r} names columns, but X is no data frame; pass y as an array.")
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    names = [y] if isinstance(y, str) else y
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(f"The frame has no column {absent[0]!r} to serve as target.")
    return frame.drop(names).to_native(), frame.select(names).to_numpy()
