"""Several passes of `fit` over its data, for methods with `max_iter`, `tol`, `shuffle` and `random_state`.

`partial_fit` learns every row once; `fit` has all rows and may learn them again and again, each time in
another order, until the loss falls no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .losses import LOSSES
from .params import Bool, Int, Param, Real
from .rows import Array, Rows

if TYPE_CHECKING:
    from .base import Method

PATIENCE = 5  # passes without progress after which `fit` stops, as in scikit-learn

TOL = Param(
    1e-3,
    Real(0),
    f"`fit` stops after {PATIENCE} passes in a row in which the mean loss has not fallen by more than this "
    "share of what it was at first. The loss of a pass is that of its rows before it learns them.",
    live=True,
)
SHUFFLE = Param(
    True,
    Bool(),
    "Put rows held in memory in a new order before each pass of `fit`.",
    live=True,
)
RANDOM_STATE = Param(0, Int(0, 2**64 - 1), "Seed of the orders.")


def max_iter(default: int) -> Any:
    """The parameter `max_iter`."""
    return Param(default, Int(1), "Passes over the data that `fit` makes, at most.", live=True)


MAX_ITER = max_iter(100)

#: Parameters that a stream, which is learned once, has no use for.
ONLY_FIT = ("max_iter", "tol", "shuffle")


class LossFalls:
    """Whether the mean loss of the passes still falls."""

    uses_loss = True

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.first = self.best = np.inf
        self.idle = 0

    def stalled(self, method: Method, loss: float) -> bool:  # noqa: ARG002
        """Whether to stop, given the loss before the pass that has just ended."""
        if not np.isfinite(self.first):
            self.first = loss
        self.idle = self.idle + 1 if loss > self.best - self.tol * self.first else 0
        self.best = min(self.best, loss)
        return self.idle >= PATIENCE


class WeightsMove:
    """Whether the passes still move the weights."""

    uses_loss = False

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.before: Array | None = None

    def stalled(self, method: Method, loss: float) -> bool:  # noqa: ARG002
        before, self.before = self.before, method.iterate()
        return before is not None and settled(before, self.before, self.tol)


def settled(before: Array, now: Array, tol: float) -> bool:
    """Whether the weights moved by at most `tol` of their norm; not while all are zero."""
    largest = np.abs(before).max(initial=0.0)  # squares of the weights themselves may overflow
    if not largest > 0:
        return False
    moved = np.linalg.norm((now - before) / largest)
    return bool(moved <= tol * np.linalg.norm(before / largest))


def has_passes(method: Any) -> bool:
    """Whether `fit` of this method, or class of methods, makes several passes."""
    return "max_iter" in method.params


def fit_rows(method: Method, rows: Rows, y: Array, w: Array | None) -> int:
    """Learn rows in memory in passes; how many there were."""
    n = len(rows)
    method.check_magnitude(rows)
    centering = getattr(method.state, "centering", None)
    if centering is not None:
        sample = centering.place_by_sample(rows, y)
        method.begin_intercept(rows.take(sample), y[sample], None if w is None else w[sample])
    method.plan(n)
    method.begin_fit(rows, y, w)

    def one_pass(at: int) -> float:
        loss = MeanLoss(method)
        if loss.needed:
            coef, intercept = method.weights()
            if centering is not None:
                coef, intercept = centering.for_raw_rows(coef, intercept)
            loss.add(rows.scores(np.ascontiguousarray(coef.T), intercept), y, w)
        order = shuffled(n, method.random_state, at) if method.shuffle else np.arange(n)  # type: ignore[attr-defined]
        learned = method.learn_order(rows, order, y, w)
        if learned < n:
            raise method.overflow_error(f" in pass {at + 1}, at row {order[learned]}")
        return loss.mean()

    return repeat(method, one_pass)


def repeat(method: Method, one_pass: Callable[[int], float]) -> int:
    """Call `one_pass(0)`, `one_pass(1)`, ..., which return their loss, until none is due; how often."""
    most, rule = int(method.max_iter), method.stop_rule(method.tol)  # type: ignore[attr-defined]
    for at in range(most):
        loss = one_pass(at)
        method.end_pass()
        if at + 1 < most and rule.stalled(method, loss):
            return at + 1
    return most


class MeanLoss:
    """The mean loss of the rows of a pass, each scored before it is learned."""

    def __init__(self, method: Method) -> None:
        self.loss, self.needed = LOSSES[method.loss], method.stop_rule.uses_loss
        self.total = self.weight = 0.0

    def add(self, scores: Array, y: Array, w: Array | None) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            losses = self.loss.value(scores, y).sum(axis=1)
            self.total += float(losses.sum() if w is None else losses @ w)
        self.weight += len(losses) if w is None else float(w.sum())

    def mean(self) -> float:
        return self.total / self.weight if self.weight else 0.0


def shuffled(n: int, seed: int, at: int) -> NDArray[np.int64]:
    """The order of n rows in pass `at`."""
    key = np.array([seed, at], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key)).permutation(n)


def blocks_of(source: Any) -> Iterator[tuple[Any, Any, Any]]:
    """X, y and sample weights (or None) of each block of a source."""
    for block in source:
        if not isinstance(block, list | tuple) or len(block) not in (2, 3):
            raise TypeError(
                f"X is a {type(source).__name__} of {type(block).__name__}; expected rows, or a source of "
                "blocks (X, y) or (X, y, sample_weight)."
            )
        X, y, weight = (*block, None)[:3]
        yield X, y, weight


def is_source(X: Any) -> bool:
    """Whether X is something to read blocks (X, y) from, again and again, and no rows itself."""
    from .rows import is_frame, is_sparse

    if isinstance(X, np.ndarray | list | tuple | str | bytes | dict | Rows) or is_sparse(X):
        return False
    return hasattr(X, "__iter__") and not hasattr(X, "__array__") and not is_frame(X)
