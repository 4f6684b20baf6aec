"""What the regularised learners share: a penalty on every weight, or a ladder of penalties that finds k.

State has one column for each penalty and output, (p, rungs x outputs); the kernels
(``cpp/learners/ladder.hpp``) walk all of them in one pass over the rows. `penalty_` says what each rung is
at.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from ._learner import Array, Core, RowLearner, check_budget, is_number

#: rows, loss, y, weight, eta, schedule, intercept, clock, threads, bias: what all kernels take first
Call = tuple[Core, str, Array, Array | None, float, str, bool, Array, int, Array]

_STRIDE = 2.0  # between neighbours of the first ladder: 20 rungs then span a factor of half a million
_CLOSE = 1.01  # neighbours that are closer than that need nobody in between


class Regularised(RowLearner):
    _remark: ClassVar[str] = """
    With k the ladder moves after rows 16, 24, 36, ..., each time half as late again: the rungs farthest from
    k start again, from the state of a neighbour, at a penalty between the last support of at most k and the
    first above it, or beyond the end of the ladder. While all supports are larger than k, the answer is the
    k largest weights at the highest penalty.

    Features are taken as they come, as the papers do: where their scales differ, so do their penalties."""
    _attributes: ClassVar[str] = """
    coef_ : array of shape (p,), (1, p) of a classifier, or (q, p)
        With k, at most k non-zero columns.
    intercept_ : float or array
    penalty_ : array of shape (rungs,)
        The penalties of the ladder as of now, or `lam` alone."""

    k: int | None = param(
        None,
        "int >= 1 or None",
        "Number of features to keep, at most: a ladder of penalties runs side by side, and the answer is the "
        "largest support of at most k. None: one penalty, `lam`.",
        positional=True,
    )
    lam: float = param(
        1e-3,
        "float >= 0",
        "Strength of the l1 penalty. With k, where the ladder starts (above 0): its rungs are powers of two "
        "times lam at first, and move.",
    )
    n_penalties: int = param(20, "int >= 2", "Rungs of the ladder; of no consequence without k.")
    n_jobs: int = param(
        1,
        "int >= 1 or -1",
        "Threads that share the rungs, -1 for all processors; the result does not depend on it. During a "
        "call each works on a copy of its share of the state.",
    )

    # state with one number for each column (rung and output), which a rung takes with it when it moves
    _columns: ClassVar[tuple[str, ...]] = ("bias_",)
    _others: ClassVar[tuple[str, ...]] = (*RowLearner._others, "penalty_", "move_")

    def _check_params(self) -> None:
        super()._check_params()
        if self.k is not None:
            check_budget(self.k)
            if not self.lam > 0:
                raise ValueError(
                    f"lam={self.lam!r}; with k it is where the ladder starts, and must be above 0."
                )
        if not isinstance(self.n_penalties, int | np.integer) or self.n_penalties < 2:
            raise ValueError(f"n_penalties={self.n_penalties!r}; a ladder has at least 2 rungs.")
        if not isinstance(self.n_jobs, int | np.integer) or (self.n_jobs < 1 and self.n_jobs != -1):
            raise ValueError(f"n_jobs={self.n_jobs!r}; pass a number of threads, or -1 for all processors.")

    def _check_shrink(self) -> None:
        """Soft thresholds and proximal steps are safe at any length."""

    # ---------------------------------------------------------------- what a learner provides

    def _weights(self) -> Array:
        """Weights (p, columns) as of now."""
        raise NotImplementedError  # pragma: no cover

    def _walk(self, call: Call) -> int:
        """Call the kernel; `call` is what all of them take first."""
        raise NotImplementedError  # pragma: no cover

    def _settle(self) -> None:
        """Called before penalties move: what the old ones still have to do to the weights is done here."""

    def _alive(self) -> NDArray[np.bool_]:
        """Which weights are not zero, (p, columns)."""
        alive: NDArray[np.bool_] = self._weights() != 0
        return alive

    def _due(self, t: float) -> float:
        """The first row from t on after which the ladder may move."""
        return float(np.ceil(t))

    # ---------------------------------------------------------------- learning

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        rungs = 1 if self.k is None else int(self.n_penalties)
        self._outputs_ = q
        self.bias_ = np.zeros(rungs * q)
        exponents = (rungs - 1) / 2 - np.arange(rungs, dtype=np.float64)
        self.penalty_: Array = np.asarray(self.lam * _STRIDE**exponents, dtype=np.float64)
        # The ladder moves after this row, then when there are half as many again, and so on: whatever the
        # calls are.
        self.move_ = np.array([self._due(16.0) if rungs > 1 else np.inf])

    def _by_column(self, penalty: Array) -> Array:
        return np.repeat(penalty, self._outputs_)

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        n, at = len(y), 0
        threads = (os.cpu_count() or 1) if self.n_jobs == -1 else int(self.n_jobs)
        eta, schedule, _, intercept, clock = self._steps()
        while at < n:
            to = int(min(n, at + self.move_[0] - self.clock_[0]))
            some = (rows[0][at : to + 1], *rows[1:]) if isinstance(rows, tuple) else rows[at:to]
            weight = None if w is None else w[at:to]
            call = (
                some,
                self._loss(),
                y[at:to],
                weight,
                eta,
                schedule,
                intercept,
                clock,
                threads,
                self.bias_,
            )
            done = self._walk(call)
            at += done
            if at < to:
                return at
            if self.clock_[0] == self.move_[0]:
                self._move()
                self.move_[0] = self._due(1.5 * self.move_[0])
        return n

    # ---------------------------------------------------------------- the ladder

    def _supports(self) -> NDArray[np.int64]:
        """How many features each rung has."""
        alive, q = self._alive(), self._outputs_
        if q > 1:
            alive = np.logical_or.reduce(alive.reshape(len(alive), -1, q), axis=2, dtype=np.bool_)
        return np.add.reduce(alive, axis=0, dtype=np.int64)

    def _answer(self, sizes: NDArray[np.int64]) -> int | None:
        """The rung with the largest support of at most k, of equals the smallest penalty."""
        fits = np.flatnonzero(sizes <= (self.k or 0))
        return int(fits[np.lexsort([self.penalty_[fits], -sizes[fits]])[0]]) if len(fits) else None

    def _move(self) -> None:
        """Let the rungs that are farthest off start again where they are needed, from a neighbour's state."""
        self._settle()
        sizes = self._supports()
        order = [int(r) for r in np.argsort(-self.penalty_, kind="stable")]
        for _ in range(max(1, len(order) // 5)):
            fits = [bool(sizes[r] <= (self.k or 0)) for r in order]
            pairs = [i for i in range(len(order) - 1) if fits[i] and not fits[i + 1]]
            if pairs:  # the answer is between two rungs: one of the far ones is put there
                above, below = order[pairs[-1]], order[pairs[-1] + 1]
                far = order[0] if 2 * pairs[-1] >= len(order) - 2 else order[-1]
                if self._gap(above, below) < _CLOSE or far in (above, below):
                    return
                src, dst, lam = above, far, float(np.sqrt(self.penalty_[above] * self.penalty_[below]))
                order.remove(dst)
                order.insert(order.index(below), dst)
            elif all(fits):  # below the lowest
                src, lam = order[-1], self.penalty_[order[-1]] / self._gap(order[-2], order[-1])
                dst = order.pop(0)
                if lam < 1e-9 * self.lam:  # there are no more than k features to find
                    return
                order.append(dst)
            else:  # above the highest
                src, lam = order[0], self.penalty_[order[0]] * self._gap(order[0], order[1])
                dst = order.pop()
                if lam > 1e9 * self.lam:
                    return
                order.insert(0, dst)
            self._reseed(dst, src, lam)
            sizes[dst] = sizes[src]

    def _gap(self, above: int, below: int) -> float:
        return float(self.penalty_[above] / self.penalty_[below])

    def _reseed(self, dst: int, src: int, lam: float) -> None:
        q = self._outputs_
        to, of = slice(dst * q, dst * q + q), slice(src * q, src * q + q)
        for name in self._by_feature():
            a = getattr(self, name)
            a[:, to] = a[:, of]
        for name in self._columns:
            a = getattr(self, name)
            a[to] = a[of]
        self.penalty_[dst] = lam

    # ---------------------------------------------------------------- reading

    def _model(self) -> tuple[Array, Array]:
        """Weights (p, q) and intercepts (q,) of the answer."""
        weights, q = self._weights(), self._outputs_
        if self.k is None:
            return weights, self.bias_.copy()
        rung = self._answer(self._supports())
        if rung is not None:
            of = slice(rung * q, rung * q + q)
            return np.ascontiguousarray(weights[:, of]), self.bias_[of].copy()
        # All rungs are still below: the best k weights of the highest.
        rung = int(np.argmax(self.penalty_))
        of = slice(rung * q, rung * q + q)
        out = np.zeros((len(weights), q))
        kept = np.empty(min(self.k, len(weights)), dtype=np.int64)
        kept = kept[: _core.top_k(np.abs(weights[:, of]).max(axis=1, initial=0.0), kept)]
        out[kept] = weights[kept, of]
        return out, self.bias_[of].copy()

    def _linear(self) -> tuple[Array, Array]:
        weights, bias = self._model()
        return weights.T.copy(), bias

    def _scores(self, rows: Core, n: int) -> Array:
        weights, bias = self._model()
        out = np.empty((n, weights.shape[1]))
        _core.margins(rows, weights, 1.0, bias, out)
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = True  # penalties shrink, all the more where few are to be left
        return tags


def soft(v: Array, by: Any) -> Array:
    """v, closer to zero by `by`."""
    return np.where(np.abs(v) > by, v - np.copysign(by, v), 0.0)


def check_number(name: str, value: Any, least: float, most: float = np.inf, *, above: bool = False) -> None:
    """Refuse what is not a number in [least, most], or in (least, most] if `above`."""
    if not is_number(value) or not (least < value if above else least <= value) or not value <= most:
        bound = f"above {least:g}" if above else f"of at least {least:g}"
        raise ValueError(
            f"{name}={value!r}; pass a number {bound}" + ("." if most == np.inf else f", at most {most:g}.")
        )
