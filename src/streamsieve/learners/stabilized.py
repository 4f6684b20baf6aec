"""Stabilized truncated SGD: Ma and Zheng, Stabilized Sparse Online Learning for Sparse Data."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._base import param
from .._input import Rows, is_frame, is_sparse
from ._ladder import check_number
from ._learner import Array, ClassificationLearner, Core, RegressionLearner, _resized
from ._paths import HISTORY, Paths, check_counts
from ._waiting import Waiting, part_of

_CALL = 64  # blocks of a call of the kernel, at most: in between a signal is heard


class StabilizedSGD(Paths):
    _remark: ClassVar[str] = """
    Paths run on threads; their number does not change the model. The rows that come are put aside until
    there are `block_size` of them; then every path goes over that block in an order of its own, so that it
    does not matter how a stream is cut into calls. A model that is read in between is that of all rows so
    far, as if the block and the burst had ended: this costs the rows put aside once more."""
    _attributes: ClassVar[str] = """
    coef_ : array of shape (p,), (1, p) of a classifier, or (q, p)
        Mean over the paths. With k, at most k non-zero columns.
    intercept_ : float or array
    selection_probabilities_ : array of shape (p,)
        Share of the bursts that left a feature non-zero, of those that saw it, when it was last judged;
        1 while it has not been, 0 once it is purged.
    n_stable_ : int
        Features seen and not purged.
    gravity_, rejection_ : float
        g_0 and beta of the current stage.
    history_ : dict of arrays
        'stage', 'stable', 'gravity', 'rejection' and 'K' after each stage, or, of more than 512, after every
        2nd, 4th, ...
    K_ : int
        Rows of a burst at first, as given or derived; 0 before the first block.
    n_iter_ : int
        Passes that `fit` made."""

    passes: int = param(60, "int >= 1", "Passes over the data that `fit` makes, at most.")
    tol: float = param(
        1e-3,
        "float >= 0",
        "`fit` stops when a pass moves the mean weights by less than this share of their norm.",
    )
    shuffle: bool = param(
        True,
        "bool",
        "Put rows held in memory in a new order before each pass of `fit`, the same for all paths.",
    )

    def _check_params(self) -> None:
        super()._check_params()
        check_counts(self, "passes")
        check_number("tol", self.tol, 0)

    # ---------------------------------------------------------------- state

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.waiting_ = Waiting()
        self._fresh = True

    def _check_state(self) -> None:
        if self._started():
            super()._check_state()
            self.waiting_.check(self.n_features_in_, self.n_outputs_, self._limit)

    def _resize(self, p: int) -> None:
        self.slot_ = _resized(self.slot_, p)
        self.n_features_in_ = p

    # ---------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything and learn in passes over the data.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p), or a source
            A source is an object that can be iterated over again and again, each time over blocks (X, y) or
            (X, y, sample_weight) of the same rows; y is then None. Labels are collected in a first reading.
        y : array of shape (n,) or (n, q)
        sample_weight : array of shape (n,) or None
        """
        if y is None and _is_source(X):
            return self._fit_source(X)
        self._passes = True
        try:
            fitted: Self = super().fit(X, y, sample_weight)
        finally:
            for name in ("_passes", "_held"):
                self.__dict__.pop(name, None)
        return fitted

    def _fit_source(self, source: Any) -> Self:
        if iter(source) is source:
            raise ValueError(
                f"{type(source).__name__} can be read once only, and fit reads its data {self.passes} times; "
                "pass an object whose __iter__ starts again, or use partial_fit."
            )
        before = dict(vars(self))
        try:
            classes = None
            if isinstance(self, ClassificationLearner) or self.K == "auto":
                labels, self._held = [], 0
                for block in source:
                    target = np.asarray(block[1])
                    self._held += len(target)
                    if isinstance(self, ClassificationLearner):
                        labels.append(np.unique(target))
                classes = np.unique(np.concatenate(labels)) if labels else None
            first = True
            last = None
            for at in range(self.passes):
                for block in source:
                    X, y, w = (*block, None)[:3]
                    self._learn(X, y, classes, w, reset=first)
                    first = False
                if first:
                    raise ValueError("The source has no rows; pass one that yields blocks (X, y).")
                self._flush()
                last, still = self._moved(last)
                self.n_iter_ = at + 1
                if still:
                    break
        except Exception:
            self.__dict__ = before
            raise
        self.__dict__.pop("_held", None)
        return self

    def _update(self, X: Rows, y: Array, w: Array | None) -> None:
        if not self.__dict__.pop("_passes", False):
            super()._update(X, y, w)
            return
        self._check_size(y, w)
        n, step, last = len(y), _CALL * int(self.block_size), None
        self._held = n
        if not is_sparse(X):
            X = np.ascontiguousarray(X)
        rows: Core = (X.indptr, X.indices, X.data) if is_sparse(X) else X
        for at in range(self.passes):
            order = self._order(at, n) if self.shuffle else np.arange(n)
            for a in range(0, n, step):  # a call at a time, or nobody could interrupt it
                part = order[a : a + step]
                if self._run(rows, y[part], None if w is None else w[part], part) < len(part):
                    raise self._overflow()
            last, still = self._moved(last)
            self.n_iter_ = at + 1
            if still:
                break

    def _moved(self, last: Any) -> tuple[Any, bool]:
        """The mean weights now, in units of the features, and whether they are where they were, `last`."""
        ids, weights, _ = self._mean()
        if last is None:
            return (ids, weights), False
        old = np.zeros_like(weights)  # purged features had weights that are gone
        _, here, there = np.intersect1d(ids, last[0], assume_unique=True, return_indices=True)
        old[here] = last[1][there]
        gone = np.square(last[1]).sum() - np.square(old).sum()
        moved = np.square(weights - old).sum() + max(0.0, gone)
        norm = np.square(last[1]).sum()  # 0 while all is still rejected
        return (ids, weights), bool(norm > 0 and moved <= self.tol**2 * norm)

    def _order(self, at: int, n: int) -> NDArray[np.int64]:
        """The order of n rows in pass `at`."""
        key = np.array([self.random_state, at], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=key)).permutation(n)

    def _take(self, blocks: Any, width: int, seen: NDArray[np.integer[Any]] | None) -> None:
        blocks = list(blocks)
        self.__dict__.pop("_settled", None)
        full = self.waiting_.n + sum(len(y) for _, y, _ in blocks) >= self.block_size
        # A derived step does not overflow; one that was given may, and then all is put back.
        guarded = full and self._can_overflow() and not self.__dict__.get("_fresh", False)
        self._before = self._copied() if guarded else None
        try:
            super()._take(blocks, width, seen)
        finally:
            del self._before

    def _copied(self) -> dict[str, Any]:
        return {name: copy.copy(value) for name, value in vars(self).items() if name.endswith("_")}

    def _restored(self) -> None:
        self.__dict__.update(self._before or {})

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        n, at, step = len(y), 0, int(self.block_size)
        while at < n:
            whole = self.waiting_.n == 0 and n - at >= step
            stop = at + min(_CALL, (n - at) // step) * step if whole else min(n, at + step - self.waiting_.n)
            part = part_of(rows, at, stop), y[at:stop], None if w is None else w[at:stop]
            if not whole:
                self.waiting_.put(*part)
                if self.waiting_.n < step:
                    return n
                part = self.waiting_.all()
                self.waiting_ = Waiting()
            done = self._run(*part)
            if done < len(part[1]):
                return at + done if whole else at
            at = stop
        return n

    def _flush(self) -> None:
        """Let the rows that wait be a block of their own."""
        if self.waiting_.n:
            part = self.waiting_.all()
            self.waiting_ = Waiting()
            self.__dict__.pop("_settled", None)
            if self._run(*part) < len(part[1]):
                raise self._overflow()

    def _overflow(self) -> ValueError:
        told, instead = self._blame()
        return ValueError(
            f"The weights overflow: {told} for these rows, or their values are too large. Pass {instead}, or "
            "rescale the features and targets."
        )

    # ---------------------------------------------------------------- reading

    def _read_now(self) -> Self:
        """This model after the rows that wait."""
        if not self.waiting_.n:
            return self
        if "_settled" not in self.__dict__:
            other = copy.copy(self)
            other.__dict__.update(self._copied())
            other._flush()
            self._settled = other
        return self._settled

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_settled"}

    def _model(self) -> tuple[NDArray[np.int64], Array, Array]:
        """The features, their weights (k, q) and the intercepts, as of now."""
        now = self._read_now()
        slots, weights, bias = now._mean()
        size = np.abs(weights).max(axis=1, initial=0.0) * now.unit_[slots, 1]
        kept = np.flatnonzero(size > 0)
        if self.k is not None and len(kept) > self.k:
            rank = np.lexsort((now.id_[slots[kept]], -size[kept], -now.tally_[slots[kept], 2]))
            kept = kept[rank[: self.k]]
        return now.id_[slots[kept]], weights[kept] * now.unit_[slots[kept], :1], bias

    @property
    def selection_probabilities_(self) -> Array:
        """Selection probability of each feature: [Ma] (8) and (16)."""
        now = self._read_now()
        out = np.where(now.slot_ < 0, 0.0, 1.0)
        slots = np.flatnonzero(now.alive_[: int(now._now("size"))])
        out[now.id_[slots]] = now.tally_[slots, 2]
        return out

    @property
    def n_stable_(self) -> int:
        """Features seen and not purged."""
        now = self._read_now()
        return int(now._now("size") - now._now("dead"))

    @property
    def gravity_(self) -> float:
        """g_0, what a burst pulls a weight towards zero by for each time it saw the feature."""
        return self._read_now()._now("gravity")

    @property
    def rejection_(self) -> float:
        """beta, the share of changes below the gravity."""
        return self._read_now()._now("rejection")

    @property
    def history_(self) -> dict[str, Array]:
        """Stage, stable features, gravity, rejection rate and burst length, where stages ended."""
        now = self._read_now()
        return {name: now.lines_[: now.n_lines_, i].copy() for i, name in enumerate(HISTORY)}

    def plot(self, ax: Any = None) -> Any:
        """Draw the stable set, gravity and rejection rate against the stages, and selection probabilities.

        Needs matplotlib (``pip install 'streamsieve[plot]'``).

        Parameters
        ----------
        ax : array of four matplotlib axes or None
            None makes a new figure.

        Returns
        -------
        array of the axes
        """
        from ._plot_stages import plot_stages

        return plot_stages(self, ax)


def _is_source(X: Any) -> bool:
    """Whether X is something to read blocks from, and no rows itself."""
    if isinstance(X, np.ndarray | list | tuple | str | bytes | dict) or is_sparse(X):
        return False
    return hasattr(X, "__iter__") and not hasattr(X, "__array__") and not is_frame(X)


class StabilizedSGDRegressor(StabilizedSGD, RegressionLearner):
    """Sparse least squares by truncated gradient steps, stabilized by selection over many short runs.

    O(nnz) a row and path, where purged features cost nothing; memory for each path follows the stable set.

    Notes
    -----
    M paths go over the rows, each in its own order. A burst of K steps ``w <- w - eta g`` ends with the
    informative truncation (Algorithm 2): each feature j that it saw k_j times is brought closer to zero by
    ``g_0 k_j``. After a stage of n_K bursts of all paths (Algorithms 3 and 4):

    - the selection probability of a feature is the share of bursts that left it non-zero, of those that saw
      it (8); what was seen in delta bursts or less is carried over to the next stage (16);
    - features below pi are purged for good (9), (10);
    - the rejection rate beta falls with the share d of features purged, of those that may be, from beta_0
      to 0 (12): as
      ``exp(-gamma d) - d exp(-gamma)``, or for gamma < 0 as ``log(1 - gamma (1 - d)) / log(1 - gamma)``;
    - the gravity g_0 is the beta-quantile of ``|change of w_j| / k_j`` over the bursts of the stage (11);
    - bursts get longer, ``K log(1 / (K_rate (1 - d)))`` rows, never less than K.

    The answer is the mean over the paths. In the first stage g_0 is 0.

    Differences from the paper: (11) and (12) are read as they must be meant, quantile and share purged.
    Shares are of the features seen so far, so that columns that nobody fills do not count, and all but k (or
    one) may be purged: where no more may go nothing is rejected, and what goes on is plain SGD. Of n stable
    features no more than ``1 - 5 / n`` of the changes are rejected, so that few that all matter stay. (16) is
    evaluated above delta and carried over up to it, so that no count is lost. With `standardize` steps are
    taken in units of the root mean square of a feature's non-zero values, and changes are weighed by its
    deviation in that unit: with data scaled to variance 1, and without that, a feature is kept for being
    rare, since its values are large. The first bursts are as long as it takes to see a typical feature 20
    times, where the paper has 5 rows for all data: a change over one or two rows is their noise, the gravity
    its quantile, and weak signals drown. An intercept, never truncated. Steps need not be given: they are
    derived as those of `SGDRegressor` are, from the features that are stable and the last 256 rows or so.
    Several targets share the features: a change is the largest over them.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import StabilizedSGDRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> StabilizedSGDRegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class StabilizedSGDClassifier(StabilizedSGD, ClassificationLearner):
    """Sparse linear classifier by truncated gradient steps, stabilized by selection over many short runs.

    O(nnz) a row and path, where purged features cost nothing; memory for each path follows the stable set.
    More than two classes are learned jointly, one against the rest, and share the features.

    Notes
    -----
    As `StabilizedSGDRegressor`, with the gradient of the loss chosen; the paper's are 'hinge' and 'logistic'.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import StabilizedSGDClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> StabilizedSGDClassifier(2).fit(X, X[:, 7] > X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """
