"""Several passes over the same rows, for methods with `max_iter`, `tol`, `shuffle` and `random_state`.

`partial_fit` learns every row once. `fit` has all rows and learns them repeatedly, each time in another
order, until the loss no longer falls.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.method import Extent, Method
from ..core.rows import Array, Rows
from ..methods.learners.steps import PATIENCE
from .model import Model
from .prepare import ROWS


class Passes:
    """Counts the passes of a method and decides when to stop. Consists of plain numbers and arrays, so that
    it can be resumed.

    Passes end after `max_iter`, or earlier: after `PATIENCE` consecutive passes in which the mean loss has
    not fallen by more than `tol` of its first value or, if the method `selects_last`, when a pass changes its
    weights by at most `tol` of their norm.
    """

    def __init__(self, method: Any) -> None:
        self.by_loss = not method.selects_last
        self.most, self.tol = int(method.max_iter), float(method.tol)
        self.made = self.idle = 0
        self.first = self.best = np.inf
        self.before: Array | None = None
        self.stalled = False

    @property
    def left(self) -> bool:
        return self.made < self.most and not self.stalled

    def end(self, method: Any, loss: float) -> None:
        """Record the end of a pass; the loss is the mean loss of the rows before they were learned."""
        method.end_pass()
        self.made += 1
        if self.made == self.most:
            return
        if self.by_loss:
            self.stalled = self.loss_stalls(loss)
        else:
            before, self.before = self.before, method.unselected()
            self.stalled = before is not None and settled(before, self.before, self.tol)

    def loss_stalls(self, loss: float) -> bool:
        """Whether the best loss so far has not fallen for `PATIENCE` passes."""
        if not np.isfinite(self.first):
            self.first = loss
        self.idle = self.idle + 1 if loss > self.best - self.tol * self.first else 0
        self.best = min(self.best, loss)
        return self.idle >= PATIENCE

    def to_plain(self) -> dict[str, Any]:
        numbers = {name: getattr(self, name) for name in ("made", "idle", "stalled", "before")}
        finite = {name: float(v) for name in ("first", "best") if np.isfinite(v := getattr(self, name))}
        return numbers | finite

    def resume(self, plain: dict[str, Any]) -> None:
        """Continue after the passes of a checkpoint."""
        for name, value in plain.items():
            setattr(self, name, value)


def settled(before: Array, now: Array, tol: float) -> bool:
    """Whether the weights changed by at most `tol` of their norm; False while all are zero."""
    largest = np.abs(before).max(initial=0.0)  # squares of the weights themselves may overflow
    if not largest > 0:
        return False
    moved = np.linalg.norm((now - before) / largest)
    return bool(moved <= tol * np.linalg.norm(before / largest))


class MeanLoss:
    """The mean loss of the rows of a pass, each scored before it is learned."""

    def __init__(self, method: Method) -> None:
        self.loss, self.needed = method.loss_function, not method.selects_last
        self.total = self.weight = 0.0

    def add(self, model: Model, rows: Rows, y: Array, w: Array | None) -> None:
        if not self.needed:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            scores = model.scores(rows)
            if model.prepare is not None:
                scores, y = model.prepare.targets(scores), model.prepare.targets(y)
            losses = self.loss.value(scores, y).sum(axis=1)
            self.total += float(losses.sum() if w is None else losses @ w)
        self.weight += len(losses) if w is None else float(w.sum())

    def mean(self) -> float:
        return self.total / self.weight if self.weight else 0.0


# ---------------------------------------------------------------- rows in memory


def begin_passes(model: Model, rows: Rows, y: Array, w: Array | None) -> tuple[Passes, Rows, Array]:
    """Initialise the model from all rows, before the first pass over them.

    Returns the rows and targets with far values replaced.
    """
    method: Any = model.method
    method.extent = Extent.of(rows)
    model.begin(rows.p, y.shape[1])
    model.check_magnitude(rows)
    stage = model.prepare
    if stage is not None:
        stage.begin(method, rows, y, w)
        rows, y = stage.near(rows, y)
    if method.init == "gradient":
        start = (rows, y) if stage is None else (stage.apply(rows), stage.targets(y))
        method.begin_fit(*start, w)
    return Passes(method), rows, y


def fit_passes(model: Model, rows: Rows, y: Array, w: Array | None) -> tuple[Passes, Rows, Array]:
    """Initialise, and learn rows in passes; returns the passes, and rows and targets with far values
    replaced."""
    passes, rows, y = begin_passes(model, rows, y, w)
    while passes.left:
        passes.end(model.method, one_pass(model, rows, y, w, passes.made))
    return passes, rows, y


def one_pass(model: Model, rows: Rows, y: Array, w: Array | None, at: int) -> float:
    """Pass `at` over rows in memory, in its own order; returns the mean loss of the rows before they were
    learned."""
    method: Any = model.method
    loss = MeanLoss(method)
    loss.add(model, rows, y, w)
    n = len(rows)
    order = shuffled(n, method.random_state, at) if method.shuffle else np.arange(n)
    learned = learn_order(model, rows, order, y, w)
    if learned < n:
        raise method.overflow_error(f" in pass {at + 1}, at row {order[learned]}")
    return loss.mean()


def learn_order(model: Model, rows: Rows, order: NDArray[np.int64], y: Array, w: Array | None) -> int:
    """Learn the rows in this order; returns how many, smaller if a step would overflow.

    At most one block of them is copied at a time.
    """
    method, stage = model.method, model.prepare
    if stage is not None:
        rows, y = stage.apply(rows), stage.targets(y)
    at = 0
    for part, some in rows.parts(order, multiple=method.block_size):
        learned = method.learn(some, y[part], None if w is None else w[part])
        if learned < len(part):
            return at + learned
        at += len(part)
    return len(order)


def shuffled(n: int, seed: int, at: int) -> NDArray[np.int64]:
    """The order of n rows in pass `at`."""
    key = np.array([seed, at], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key)).permutation(n)


# ---------------------------------------------------------------- from the weights of another model


def continue_from(model: Model, start: Any, rows: Rows, y: Array, w: Array | None) -> None:
    """Measure rows without learning them, and start from the weights of a fitted model ([Susan] 3.2)."""
    method: Any = model.method
    coef, intercept = model_weights(start, model.p, model.q)
    stage = model.prepare
    if stage is not None:
        stage.place(rows[:ROWS])
        if method.loss_function.needs_units:  # else no step here depends on the targets
            stage.place_targets(method, y[:ROWS])
        rows, intercept = stage.apply(stage.near(rows, y)[0]), intercept + coef @ stage.center
        coef, intercept = coef / stage.target_unit[:, None], stage.targets(intercept)
    for at, part in rows.in_row_order():
        method.measure(part, None if w is None else w[at])
    method.set_weights(coef, intercept)


def model_weights(model: Any, p: int, q: int) -> tuple[Array, Array]:
    """Weights (q, p) and intercepts (q,) of a model, or a ValueError."""
    if isinstance(model, tuple) and len(model) == 2:
        coef, intercept = model
    elif hasattr(model, "coef_"):
        coef, intercept = model.coef_, model.intercept_
    elif hasattr(model, "coef") and hasattr(model, "intercept"):
        coef, intercept = model.coef, model.intercept
    else:
        raise ValueError(
            f"Cannot start from {type(model).__name__}; pass a LinearModel, a fitted linear estimator or "
            "(coef, intercept)."
        )
    coef = np.atleast_2d(np.array(coef, dtype=np.float64))
    intercept = np.atleast_1d(np.array(intercept, dtype=np.float64))
    if coef.shape != (q, p) or intercept.shape != (q,):
        raise ValueError(
            f"The model has weights of shape {coef.shape} and intercepts of shape {intercept.shape}; "
            f"these rows need {(q, p)} and {(q,)}."
        )
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError("The model has weights that are not finite; start from another model.")
    return coef, intercept
