"""Several passes of `fit` over its data, for methods with `max_iter`, `tol`, `shuffle` and `random_state`.

`partial_fit` learns every row once; `fit` has all rows and may learn them again and again, each time in
another order, until the weights settle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .params import Bool, Int, Param, Real
from .rows import Array, Rows

if TYPE_CHECKING:
    from .base import Method

TOL = Param(
    1e-3,
    Real(0),
    "`fit` stops when a pass moves the weights by less than this share of their norm.",
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


def has_passes(method: Any) -> bool:
    """Whether `fit` of this method, or class of methods, makes several passes."""
    return "max_iter" in method.params


def fit_rows(method: Method, rows: Rows, y: Array, w: Array | None) -> int:
    """Learn rows in memory in passes; how many there were."""
    n = len(rows)
    method.check_magnitude(rows)
    rows = rows if rows.sparse else Rows(np.ascontiguousarray(rows.values))
    centering = getattr(method.state, "centering", None)
    if centering is not None:
        centering.place(rows)
        rows = centering.subtract(rows)
    method.plan(n)

    def one_pass(at: int) -> None:
        order = shuffled(n, method.random_state, at) if method.shuffle else np.arange(n)  # type: ignore[attr-defined]
        learned = method.learn_order(rows, order, y, w)
        if learned < n:
            raise method.overflow_error(f" in pass {at + 1}, at row {order[learned]}")

    return repeat(method, one_pass)


def repeat(method: Method, one_pass: Callable[[int], None]) -> int:
    """Call `one_pass(0)`, `one_pass(1)`, ... until the weights settle; how often."""
    most, tol = method.max_iter, method.tol  # type: ignore[attr-defined]
    before = None
    for at in range(most):
        one_pass(at)
        method.end_pass()
        if at + 1 == most:
            break
        now = method.iterate()
        if before is not None and settled(before, now, tol):
            return at + 1
        before = now
    return int(most)


def settled(before: Array, now: Array, tol: float) -> bool:
    """Whether the weights moved by at most `tol` of their norm; not while all are zero."""
    norm = np.square(before).sum()
    return bool(norm > 0 and np.square(now - before).sum() <= tol**2 * norm)


def shuffled(n: int, seed: int, at: int) -> NDArray[np.int64]:
    """The order of n rows in pass `at`."""
    key = np.array([seed, at], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key)).permutation(n)


def is_source(X: Any) -> bool:
    """Whether X is something to read blocks (X, y) from, again and again, and no rows itself."""
    from .rows import is_frame, is_sparse

    if isinstance(X, np.ndarray | list | tuple | str | bytes | dict | Rows) or is_sparse(X):
        return False
    return hasattr(X, "__iter__") and not hasattr(X, "__array__") and not is_frame(X)
