"""The penalties of the regularised learners: one, or a ladder of several that run together to find k.

Arrays with an axis 'column' have one number for each penalty and output, (p, penalties x outputs); the
kernels (``cpp/learners/ladder.hpp``) update all of them in one pass over the rows. `Regularised` declares
what the learners have in common; each learner's file has its update, its state and how to read its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.method import Method
from ...core.params import Int, OneOf, Or, Param, ParamError, Real
from ...core.rows import Array, Rows, threads
from ...core.state import State, array, check_finite, zeros
from . import steps
from .steps import AUTO, check_clock, largest, selected_with

K = Param(
    None,
    Or(Int(1), None, "auto"),
    "Maximum number of features. With k, several penalties are learned at the same time, and the model is "
    f"the k largest weights at the one that fits best. None: one penalty, alpha. {AUTO}",
)
ALPHA = Param(
    1e-3,
    Real(0),
    "Strength of the penalty. With k, it is the middle of the first penalties, and must be above 0. With "
    "standardize=False, the same penalty acts more strongly on features of small scale.",
    symbol="lambda",
)
N_PENALTIES = Param(
    20,
    Int(2, 1000),  # neighbours closer than CLOSE gain nothing: 1,000 such span a factor of 20,000
    "Number of penalties that are learned at the same time if k is given. They start as powers of two times "
    "alpha (closer to each other if there are more than 60). They are adapted after 16, 24, 36, ... rows, "
    "each number 1.5 times the previous one.",
)
N_JOBS = Param(
    1,
    Or(Int(1), Int(-1, -1)),
    "Number of threads, -1 for all processors. Each thread learns a share of the penalties, on a copy of "
    "their state. The result does not depend on this number.",
    live=True,
)
SQRT_SCHEDULE = Param(
    "sqrt",
    OneOf("constant", "sqrt", "doubling"),
    "How the step decreases with the row number t. 'sqrt': as 1 / sqrt(t), as in the paper. 'constant': not "
    "at all. 'doubling': as log(a) / a, where a is doubled whenever t exceeds it.",
)
L1_RATIO = Param(
    1.0,
    Real(above=0, most=1),
    "Share of the l1 norm in the penalty alpha (l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2).",
)

STRIDE = 2.0  # between neighbours at first: 20 penalties then span a factor of half a million
CLOSE = 1.01  # closer neighbours need no penalty in between
RANGE = 1e9  # how far from alpha a penalty may go


class Regularised(Method):
    """Base of the learners with a penalty: the parameters that all have, and one penalty or a ladder."""

    k, criterion, alpha, eta = K, steps.CRITERION, ALPHA, steps.ETA
    n_penalties, n_jobs = N_PENALTIES, N_JOBS
    standardize, fit_intercept, grow, refit = steps.UNITS, steps.FIT_INTERCEPT, steps.GROW, steps.REFIT
    max_iter, tol, shuffle, random_state = steps.MAX_ITER, steps.TOL, steps.SHUFFLE, steps.RANDOM_STATE

    prepare = "units"
    poor_score = True  # penalties shrink the weights, most of all if few features are kept
    attributes = {"penalty": "array of shape (n_penalties,) or (1,): Current penalties, or only alpha."}

    @property
    def penalty(self) -> Array:
        """The penalties now."""
        penalty: Array = self.state.ladder.penalty.copy()
        return penalty

    def candidates(self, n: int) -> NDArray[np.intp]:
        return selected_with(self, n)

    def check(self) -> None:
        if self.k is not None and not self.alpha > 0:
            raise ParamError(
                "alpha", self.alpha, "with k it is the middle of the first penalties: pass a number above 0."
            )

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        return None if moves_within(self.state, len(rows)) else rows.features

    def in_one_step(self, rows: Rows) -> bool:
        return not moves_within(self.state, len(rows))


def examples(options: str) -> dict[str, str]:
    """Examples of a learner without k, which finds both features with these options."""
    return {
        "regression": f"""
        >>> import numpy as np
        >>> from streamsieve import {{name}}
        >>> X = np.random.default_rng(0).normal(size=(2000, 50))
        >>> model = {{name}}({options}).fit(X, X[:, 7] - 2 * X[:, 31])
        >>> model.coef_[[7, 31]].round(1)
        array([ 1., -2.])
        """,
        "classification": f"""
        >>> import numpy as np
        >>> from streamsieve import {{name}}
        >>> X = np.random.default_rng(0).normal(size=(2000, 50))
        >>> y = X[:, 7] > X[:, 31]
        >>> {{name}}({options}).fit(X, y).score(X, y) > 0.9
        True
        """,
    }


class Ladder(State):
    """The current penalties, and the row after which they move next, 0 for never."""

    def __init__(self, method: Any, period: int = 1) -> None:
        n = 1 if method.k is None else method.n_penalties
        exponents = (n - 1) / 2 - np.arange(n, dtype=np.float64)
        stride = min(STRIDE, RANGE ** (2 / max(n - 1, 1)))  # the outermost are RANGE from alpha at most
        super().__init__(
            penalty=array(method.alpha * stride**exponents, "fixed"),
            next_move=0 if method.k is None else _round_up(16, period),
        )


def _round_up(n: int, period: int) -> int:
    return -(-n // period) * period


def n_columns(method: Any, q: int) -> int:
    """Penalties times outputs."""
    return q * (1 if method.k is None else int(method.n_penalties))


def start(method: Any, q: int, period: int = 1, **own: Any) -> State:
    """The state of a learner: clock, penalties, intercepts, errors, and the learner's own arrays."""
    columns = n_columns(method, q)
    return State(
        clock=steps.clock(),
        ladder=Ladder(method, period),
        **own,
        bias=zeros(column=columns),
        error=zeros(column=columns),  # slopes so far, those before the last move by half
    )


def rule(method: Any, **own: Any) -> dict[str, Any]:
    """The parameters that the kernels read: shared ones and the learner's own."""
    return {
        "eta": 0.0 if method.eta == "auto" else method.eta,
        "schedule": method.schedule,
        "alpha": 0.0,  # no penalty by plain steps: the kernels read those of the ladder
        "l1_ratio": 1.0,
        "fit_intercept": method.fit_intercept,
        "n_threads": threads(method.n_jobs),
    } | own


def n_outputs(state: State) -> int:
    return len(state.bias) // len(state.ladder.penalty)


def by_column(state: State) -> Array:
    """The penalty of each column."""
    return np.repeat(state.ladder.penalty, n_outputs(state))


def soft(v: Array, by: Any) -> Array:
    """v, closer to zero by `by`."""
    return np.where(np.abs(v) > by, v - np.copysign(by, v), 0.0)


# ---------------------------------------------------------------- learning


def learn(method: Any, kernel: Any, rows: Rows, y: Array, w: Array | None, move: Callable[[], None]) -> int:
    """Learn rows, up to each move of the penalties; return how many, if a step would overflow."""
    s, done = method.state, 0
    for part, y_part, w_part in parts(s, rows, y, w):
        learned = kernel(part.kernel, method.loss_function, y_part, w_part, method.rule(), s)
        done += learned
        if learned < len(part):
            break
        if moves_within(s, 0):
            move()
    return done


def parts(state: State, rows: Rows, y: Array, w: Array | None) -> Iterator[tuple[Rows, Array, Array | None]]:
    """Yield the rows up to each move of the penalties, one part at a time."""
    at, n = 0, len(rows)
    while at < n:
        stop = min(n, at + _rows_left(state)) if state.ladder.next_move else n
        yield rows[at:stop], y[at:stop], None if w is None else w[at:stop]
        at = stop


def _rows_left(state: State) -> int:
    return int(state.ladder.next_move) - int(state.clock["rows"])


def moves_within(state: State, n: int) -> bool:
    """Whether the penalties move within n rows, which may change the state of all features."""
    return bool(state.ladder.next_move) and _rows_left(state) <= n


def move(state: State, k: int, alpha: float, nonzero: NDArray[np.bool_], period: int = 1) -> None:
    """Move penalties that are far from the solution, and set the row of the next move."""
    for step in planned_moves(state.ladder.penalty, supports(state, nonzero), k, alpha):
        restart(state, step)
    postpone(state, period)


def move_by_error(state: State, k: int, alpha: float, nonzero: NDArray[np.bool_]) -> None:
    """Extend the ladder beyond an end if the best model is there, and set the row of the next move."""
    for step in planned_by_error(state.ladder.penalty, least_off(state, supports(state, nonzero), k), alpha):
        restart(state, step)
    postpone(state)


def least_off(state: State, sizes: NDArray[np.int64], k: int) -> int:
    """The rung of smallest error with at least k features; otherwise that of the smallest penalty."""
    enough = np.flatnonzero(sizes >= k)
    return int(enough[np.argmin(errors(state)[enough])] if len(enough) else np.argmin(state.ladder.penalty))


def errors(state: State) -> Array:
    """Progressive loss of each rung (on rows before it learned them); old rows count less."""
    total: Array = state.error.reshape(-1, n_outputs(state)).sum(axis=1)
    return total


def planned_by_error(penalty: Array, best: int, alpha: float) -> list[Move]:
    """The move of the rung that is farthest from the best one, where that is at an end of the ladder."""
    order = [int(r) for r in np.argsort(-penalty, kind="stable")]
    if best not in (order[0], order[-1]):
        return []
    far, stride = (order[-1], STRIDE) if best == order[0] else (order[0], 1 / STRIDE)
    beyond = float(penalty[best]) * stride
    return [Move(far, best, beyond)] if alpha / RANGE < beyond < alpha * RANGE else []


def postpone(state: State, period: int = 1) -> None:
    """Set the next move, 1.5 times as late, at a multiple of the period; halve the earlier losses."""
    state.error *= 0.5
    state.ladder.next_move = _round_up(-(-3 * state.ladder.next_move // 2), period)


class Move(NamedTuple):
    """A rung that starts again from the state of another, at a new penalty."""

    rung: int
    source: int
    penalty: float


def supports(state: State, nonzero: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of features of each rung, from the weights (p, columns)."""
    q = n_outputs(state)
    if q > 1:
        nonzero = np.logical_or.reduce(nonzero.reshape(len(nonzero), -1, q), axis=2, dtype=np.bool_)
    return np.add.reduce(nonzero, axis=0, dtype=np.int64)


def planned_moves(penalty: Array, sizes: NDArray[np.int64], k: int, alpha: float) -> list[Move]:
    """Moves of the rungs whose support is farthest from k."""
    penalty, sizes, moves = penalty.copy(), sizes.copy(), []
    order = [int(r) for r in np.argsort(-penalty, kind="stable")]
    for _ in range(max(1, len(order) // 5)):
        fits = [bool(sizes[r] <= k) for r in order]
        pairs = [i for i in range(len(order) - 1) if fits[i] and not fits[i + 1]]
        if pairs:  # the answer is between two rungs: one of the far ones is put there
            above, below = order[pairs[-1]], order[pairs[-1] + 1]
            far = order[0] if 2 * pairs[-1] >= len(order) - 2 else order[-1]
            if penalty[above] / penalty[below] < CLOSE or far in (above, below):
                break
            step = Move(far, above, float(np.sqrt(penalty[above] * penalty[below])))
            order.remove(far)
            order.insert(order.index(below), far)
        elif all(fits):  # below the lowest
            lowest, next_lowest = order[-1], order[-2]
            stride = _wider(penalty[next_lowest] / penalty[lowest])
            step = Move(order.pop(0), lowest, float(penalty[lowest] / stride))
            if step.penalty < alpha / RANGE:  # there are no more than k features to find
                break
            order.append(step.rung)
        else:  # above the highest
            highest, next_highest = order[0], order[1]
            stride = _wider(penalty[highest] / penalty[next_highest])
            step = Move(order.pop(), highest, float(penalty[highest] * stride))
            if step.penalty > alpha * RANGE:
                break
            order.insert(0, step.rung)
        moves.append(step)
        penalty[step.rung], sizes[step.rung] = step.penalty, sizes[step.source]
    return moves


def _wider(stride: float) -> float:
    """The next stride beyond an end: rungs that are close together must be able to spread in few moves."""
    return min(max(stride, CLOSE) ** 2, max(stride, STRIDE))


def restart(state: State, step: Move) -> None:
    """Copy the columns of another rung, and set the penalty."""
    to, source = columns(state, step.rung), columns(state, step.source)
    for name, value in state.fields().items():
        if state.axes(name)[-1:] == ("column",) and value is not None:
            value[..., to] = value[..., source]
    state.ladder.penalty[step.rung] = step.penalty


def columns(state: State, rung: int) -> slice:
    q = n_outputs(state)
    return slice(rung * q, rung * q + q)


# ---------------------------------------------------------------- reading


def answer(state: State, weights: Array, k: int | None, by_error: bool = False) -> tuple[Array, Array]:
    """Weights (q, p) and intercepts (q,) of the model, from the weights (p, columns) at all penalties.

    The k largest weights of the rung with the smallest progressive loss, or of the rung whose support is
    nearest to k.
    """
    if k is None:
        return weights.T.copy(), state.bias.copy()
    sizes = supports(state, weights != 0)
    rung = least_off(state, sizes, k) if by_error else answering(state.ladder.penalty, sizes, k)
    at = columns(state, rung)
    coef = np.zeros((n_outputs(state), len(weights)))
    kept = largest(np.abs(weights[:, at]).max(axis=1, initial=0.0), k)
    coef[:, kept] = weights[kept, at].T
    return coef, state.bias[at].copy()


def answering(penalty: Array, sizes: NDArray[np.int64], k: int) -> int:
    """The rung whose k largest weights are the answer: the largest support of at most k.

    Supports may jump between neighbouring penalties: if that support has fewer than k features, take the next
    rung.
    """
    fits = np.flatnonzero(sizes <= k)
    if not len(fits):
        return int(np.argmax(penalty))
    best = int(fits[np.lexsort([penalty[fits], -sizes[fits]])[0]])  # of equals the smallest penalty
    above = np.flatnonzero(sizes > k)
    if sizes[best] < k and len(above):
        return int(above[np.lexsort([-penalty[above], sizes[above]])[0]])
    return best


# ---------------------------------------------------------------- state from files


def check_state(state: State, k: int | None, period: int = 1) -> None:
    """Raise ValueError for numbers that are not finite, or for inconsistent counters."""
    check_finite(state)
    check_clock(state.clock)
    penalty, due, rows = state.ladder.penalty, state.ladder.next_move, int(state.clock["rows"])
    if (due != 0) if k is None else (due <= rows or due % period != 0):
        raise ValueError(f"the penalties move next after row {due}, and {rows} rows were learned.")
    if penalty.min() < 0 or (k is not None and penalty.min() == 0):
        raise ValueError("penalties must be above 0.")


def check_optional(name: str, found: Any, like: Array, expected: bool) -> None:
    """Raise ValueError unless a table is there if and only if it is expected, and is like another one."""
    if not expected and found is None:
        return
    if not expected or not isinstance(found, np.ndarray):
        raise ValueError(f"{name} is {'missing' if expected else 'unexpected'}.")
    if found.shape != like.shape or found.dtype != like.dtype or not found.flags.c_contiguous:
        raise ValueError(f"{name} is {found.dtype} of shape {found.shape}, not {like.dtype} {like.shape}.")
