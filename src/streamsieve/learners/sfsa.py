"""Stochastic feature selection with annealing, [Sun] chapter 2."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .._base import param
from ._learner import (
    Array,
    ClassificationLearner,
    Core,
    Listed,
    RegressionLearner,
    Standardizing,
    check_budget,
    is_number,
)
from ._rung import Rule, Rung, part_of

if TYPE_CHECKING:
    from ._refit import Refit

_FIRST = 4  # batches to the first maturity where T is not given
_VARIANTS = ("plain", "momentum", "nesterov", "adam")


class SFSA(Listed, Standardizing):
    k: int = param(10, "int >= 1", "Number of features to keep, at most.", positional=True)
    T: int | Literal["auto"] = param(
        "auto",
        "int >= 1 or 'auto'",
        "Maturity: the number of mini-batches after which k features remain. 'auto' starts the ladder at "
        f"{_FIRST}.",
    )
    ladder: bool = param(
        True,
        "bool",
        "When a model has matured, grow the next one, from nothing, to twice its maturity: T, 2 T, 4 T, ... "
        "The latest that has matured answers. Without it there is one, and T must be given.",
    )
    mu: float = param(3.0, "float >= 0", "Annealing: the larger, the sooner most features go.")
    delay: float = param(
        0.1,
        "float in [0, 1)",
        "Share of T before the first feature goes: early weights are noise, and what goes never returns. "
        "0 is the schedule of the paper.",
    )
    batch_size: int = param(25, "int >= 1", "Rows of a mini-batch.")
    variant: Literal["plain", "momentum", "nesterov", "adam"] = param(
        "plain",
        "{'plain', 'momentum', 'nesterov', 'adam'}",
        "How a gradient becomes a step. All but 'plain' move every weight with every batch, which costs time "
        "on wide sparse rows.",
    )
    restart: bool = param(
        False,
        "bool",
        "Begin a new ladder when the loss of the answering model rises out of its past range (see Notes); "
        "the old answer serves until a new one has matured.",
    )

    _features: ClassVar[tuple[str, ...]] = ()
    _others: ClassVar[tuple[str, ...]] = ()
    _free: ClassVar[dict[str, int]] = dict.fromkeys(("growing_", "answer_", "watch_", "refitted_"), 0)
    _state: ClassVar[tuple[str, ...]] = ("growing_", "answer_", "watch_", "refitted_", "n_restarts_")

    def _check_params(self) -> None:
        super()._check_params()
        check_budget(self.k)
        for name in ("T", "batch_size"):
            value = getattr(self, name)
            if name == "T" and isinstance(value, str) and value == "auto":
                continue
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name}={value!r}; pass an integer of at least 1.")
        if not self.ladder and self.T == "auto":
            raise ValueError(
                "T='auto' with ladder=False: a single model needs its maturity T, in mini-batches."
            )
        if not (is_number(self.mu) and 0 <= self.mu < np.inf):
            raise ValueError(f"mu={self.mu!r}; the annealing parameter is a non-negative number.")
        if not (is_number(self.delay) and 0 <= self.delay < 1):
            raise ValueError(f"delay={self.delay!r}; pass a share of T, at least 0 and below 1.")
        if self.variant not in _VARIANTS:
            raise ValueError(f"variant={self.variant!r}; pass one of {', '.join(map(repr, _VARIANTS))}.")

    # ---------------------------------------------------------------- state

    def _reset(self, p: int, q: int) -> None:
        self.n_outputs_ = q
        self.growing_: Rung | None = self._rung(p, self._first_maturity())
        self.answer_: Rung | None = None
        self.watch_ = Watch() if self.restart else None
        self.refitted_: Refit | None = None
        self.n_restarts_ = 0

    def _check_state(self) -> None:
        if not self._started():
            return
        if self.growing_ is None and self.answer_ is None:
            raise ValueError("there is neither a model that grows nor one that answers.")
        due = self._rung(0, 1)
        for rung in (self.growing_, self.answer_):
            if rung is not None:
                rung.check(self.n_features_in_, self.n_outputs_, due)
        if self.refitted_ is not None:
            if self.answer_ is None or self.refitted_.k != self.answer_.size:
                raise ValueError("the refit is of other features than the model has.")
            self.refitted_.check(self.n_outputs_)

    def _first_maturity(self) -> int:
        return _FIRST if self.T == "auto" else int(self.T)

    def _rung(self, p: int, T: int) -> Rung:
        moments = {"plain": 0, "adam": 2}.get(self.variant, 1)
        return Rung(p, self.n_outputs_, T, units=bool(self.standardize), moments=moments)

    def _resize(self, p: int) -> None:
        for rung in (self.growing_, self.answer_):
            if rung is not None:
                rung.widen(p)
        self.n_features_in_ = p

    def _take(self, blocks: Any, width: int, seen: NDArray[np.integer[Any]] | None) -> None:
        # A derived step does not overflow; one that was given may, and then all is put back: O(p) a call.
        self._before = (
            None if self.eta == "auto" else {name: copy.deepcopy(getattr(self, name)) for name in self._state}
        )
        try:
            super()._take(blocks, width, seen)
        finally:
            del self._before

    def _restored(self) -> None:
        self.__dict__.update(self._before or {})

    # ---------------------------------------------------------------- learning

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        n, at, ahead = len(y), 0, 0  # rows taken by the growing model, and by the answering one
        while at < n:
            stop = n if self.growing_ is None else min(n, at + self.growing_.rows_left(self.batch_size))
            if self.answer_ is not None and ahead < stop:
                begun = ahead
                ahead, drift = self._follow(rows, y, w, ahead, stop)
                if ahead < stop:
                    return ahead
                if drift is not None:
                    self.growing_ = self._rung(self.n_features_in_, self._first_maturity())
                    self.n_restarts_ += 1
                    at = begun + drift
                    continue
            if self.growing_ is not None:
                done = self._learn_part(self.growing_, rows, y, w, at, stop, None)
                if done < stop - at:
                    return at + done
                if self.growing_.mature:
                    self._promote()
                    ahead = stop
            at = stop
        return n

    def _learn_part(
        self, rung: Rung, rows: Core, y: Array, w: Array | None, a: int, b: int, losses: Array | None
    ) -> int:
        part = part_of(rows, a, b)
        return rung.learn(part, y[a:b], None if w is None else w[a:b], losses, self._rule())

    def _rule(self) -> Rule:
        eta = 0.0 if self.eta == "auto" else float(self.eta)
        return Rule(
            loss=self._loss(),
            k=int(self.k),
            mu=float(self.mu),
            delay=float(self.delay),
            batch_size=int(self.batch_size),
            variant=self.variant,
            steps=(eta, self.schedule, float(self.lam), bool(self.fit_intercept)),
        )

    def _follow(self, rows: Core, y: Array, w: Array | None, a: int, b: int) -> tuple[int, int | None]:
        """Let the answering model learn rows a to b. How far it got, and after how many it saw a change."""
        assert self.answer_ is not None
        filled = int(self.answer_["filled"])
        ended = (filled + b - a) // self.batch_size
        watching = self.watch_ is not None and self.watch_.on
        losses = np.empty(ended + 1) if self.watch_ is not None else None
        done = self._learn_part(self.answer_, rows, y, w, a, b, losses)
        if done < b - a:
            return a + done, None
        if self.refitted_ is not None:
            self.refitted_.take(self.answer_, part_of(rows, a, b), y[a:b], None if w is None else w[a:b])
        if watching and losses is not None and self.watch_ is not None:
            batch = self.watch_.find_change(losses[:ended])
            if batch is not None:
                return b, (batch + 1) * self.batch_size - filled
        return b, None

    def _promote(self) -> None:
        """What has grown up answers, and the next rung begins."""
        assert self.growing_ is not None
        self.answer_ = self.growing_
        self.answer_.reserve(0)
        self.growing_ = self._rung(self.n_features_in_, 2 * self.answer_.T) if self.ladder else None
        if self.watch_ is not None:
            self.watch_ = Watch()
        if getattr(self, "refit", False):
            from ._refit import Refit  # SciPy, which it needs, takes its time to load

            self.refitted_ = Refit(self.answer_.size, self.n_outputs_)

    # ---------------------------------------------------------------- reading

    def _model(self) -> tuple[NDArray[np.int64], Array, Array]:
        """The features, their weights (k, q) and the intercepts, as of now."""
        rung = self.growing_ if self.answer_ is None else self.answer_
        assert rung is not None
        if self.refitted_ is not None and self.refitted_.enough:
            return self.refitted_.model(rung, bool(self.fit_intercept))
        if rung["batches"] == 0 and rung["filled"] > 0:
            rung = rung.ended(self._rule())
        return rung.model(self.k)

    @property
    def maturity_(self) -> int:
        """Mini-batches with which the answering model matured, 0 while none has."""
        return 0 if self.answer_ is None else self.answer_.T


class Watch:
    """A one-sided CUSUM test on the mean losses of batches, each taken before the batch is learned.

    A loss is standardised by mean and deviation of those before it; what it exceeds one deviation by is
    summed, and a sum of 12 is a change. One batch counts at most 4 deviations, so that a wild one alone says
    nothing: a large change is found after 4 batches, one of two deviations after 12. On losses that are
    independent and near normal a false alarm comes once in e^24 batches; a model that still improves makes
    them rarer.
    """

    slack, threshold, most, warm_up = 1.0, 12.0, 4.0, 20

    def __init__(self) -> None:
        self.n, self.mean, self.squares, self.sum, self.on = 0, 0.0, 0.0, 0.0, True

    def find_change(self, losses: Array) -> int | None:
        """The first batch at which the sum passes its threshold; the test then rests."""
        for i, loss in enumerate(losses.tolist()):
            if self.n >= self.warm_up:
                # not below a tenth of the mean: where all is explained, any change would be many deviations
                deviation = max(math.sqrt(self.squares / (self.n - 1)), 0.1 * self.mean, 1e-300)
                z = min((loss - self.mean) / deviation, self.most)
                loss = self.mean + z * deviation
                self.sum = max(0.0, self.sum + z - self.slack)
                if self.sum > self.threshold:
                    self.on = False
                    return i
            self.n += 1
            d = loss - self.mean
            self.mean += d / self.n
            self.squares += d * (loss - self.mean)
        return None


class SFSARegressor(RegressionLearner, SFSA):
    """Least squares with k features, by gradient steps while features are removed on a schedule.

    O(nnz) a row and O(p) memory; a feature that is gone costs a look-up, one never seen nothing. The answer
    comes from the latest model that has matured; before the first has, from the k largest weights of the one
    that grows.

    Attributes
    ----------
    coef_ : array of shape (p,) or (q, p)
        At most k non-zero columns.
    intercept_ : float or array of shape (q,)
    maturity_ : int
        Mini-batches with which the answering model matured, 0 while none has.
    n_restarts_ : int
        Changes that `restart` has found.

    Notes
    -----
    For mini-batch t, with the gradient g of the mean loss over its rows (all at the same weights), ::

        beta <- beta - eta g,    then keep the M_t features with the largest sigma_j |beta_j|,
        M_t = k + (p - k) max(0, (T - t) / (t mu + T))

    (t and T less the delay). What goes never returns; ties go to the lower index.

    *The ladder* (Fig. 2.1). When a model has matured, it answers, and goes on learning its k weights, while
    the next one grows from nothing on the rows that follow: T, 2 T, 4 T, ... batches. So one grows at a time,
    and the answer was chosen with at least a quarter of all rows, the most that one growing model allows.

    *Features that join* (`grow`, `learn_one`) are taken in by the model that grows; its schedule counts them
    from then on. One that has matured keeps its k features, so that a newcomer reaches the answer with the
    next rung, after at most twice the rows of the last; without `ladder` there is none.

    *The step.* Unless given, 1 / (L (Lambda + R^2 / b)): R^2 the mean squared norm of the rows over the
    features alive, Lambda a bound of the largest eigenvalue of their second moments from products of two rows
    of each batch, L the mean second derivative of the loss; all of recent batches, and of the current one
    where it is larger. As features go steps grow. While they are chosen, they stay so short that all batches
    so far count. With 'momentum' and 'nesterov' the gradient is an average with weights 0.9^age; 'adam' is
    Adam with (0.9, 0.999), and its derived step has the size of the slopes, so that the units of y cancel.

    *Restarts.* The mean loss of each batch is taken before it is learned, and standardised by those before
    it. A one-sided CUSUM adds up what exceeds one deviation, no batch counting more than four, and takes a
    sum above 12 for a change. A large change is found in 100 rows or so.

    *The refit.* With k features left, their k x k running averages are cheap, and least squares on all rows
    since maturity is exact where gradient steps are not.

    Differences from the paper: the delay, since ranks of the first batches are noise. Rungs start one after
    the other. With `standardize` also the steps are in units of the features (the root mean square of their
    values that are not 0), and Remark 1's sigma has the square root that its print forgets. Features never
    seen go before any that was. On rows with few values features are not removed before a quarter of those
    seen is due, which makes a removal O(1); where rows have more than twice as many values as there are
    features with a weight, and at maturity, M_t is kept exactly. Several targets share the k features, by the
    norm of their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SFSARegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> SFSARegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """

    refit: bool = param(
        False,
        "bool",
        "When k features remain, keep their k x k running averages too, and answer with the least squares on "
        "the rows since (a ridge where they are singular), once these are more than twice as many as "
        "features.",
    )


class SFSAClassifier(ClassificationLearner, SFSA):
    """Linear classifier with k features, by gradient steps while features are removed on a schedule.

    O(nnz) a row and O(p) memory; a feature that is gone costs a look-up, one never seen nothing. More than
    two classes are learned jointly, one against the rest, and share the k features.

    Attributes
    ----------
    classes_ : array of labels
    coef_ : array of shape (1, p) or (q, p)
        At most k non-zero columns.
    intercept_ : array of shape (1,) or (q,)
    maturity_ : int
        Mini-batches with which the answering model matured, 0 while none has.
    n_restarts_ : int
        Changes that `restart` has found.

    Notes
    -----
    As `SFSARegressor`, with the gradient of the loss chosen. There is no `refit`: running averages give least
    squares on the labels, which ranks rows no better than the loss that was asked for, and with 'logistic'
    would take the probabilities away; the matured model goes on learning its k weights instead.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SFSAClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> SFSAClassifier(2).fit(X, X[:, 7] > X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """
