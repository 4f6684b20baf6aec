"""What the budgeted learners share: at most k weights, and a heap that knows the worst of them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._base import param
from ._learner import Array, Rowwise, check_budget, is_number


class Budgeted(Rowwise):
    k: int = param(10, "int >= 1", "Number of features to keep, at most; B in the paper.", positional=True)
    fit_intercept: bool = param(
        False,
        "bool",
        "Fit an intercept; it is never penalised, truncated nor counted. The paper has none.",
    )

    # Within these bounds no step can overflow, so that nothing need be put aside.
    _limit: ClassVar[float] = 1e30
    _features: ClassVar[tuple[str, ...]] = ("place_",)
    _others: ClassVar[tuple[str, ...]] = (*Rowwise._others, "kept_", "book_")
    _free: ClassVar[dict[str, int]] = {"kept_": 0}
    _book: ClassVar[int] = 1  # numbers of state, the first of them how many features are kept

    def _check_params(self) -> None:
        super()._check_params()
        check_budget(self.k)

    def _check_number(self, name: str, *, zero: bool) -> None:
        value = getattr(self, name)
        if not (is_number(value) and (0 if zero else 1e-30) <= value <= 1e30):
            domain = "non-negative" if zero else "positive"
            raise ValueError(f"{name}={value!r}; pass a {domain} number (within 1e-30 and 1e30).")

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.place_ = np.zeros(p, dtype=np.int32)  # 1 + where a kept feature is in the heap, else 0 or less
        self.kept_ = np.zeros((min(self.k, p), 2))  # a heap, worst first: score and feature
        self.book_ = np.zeros(self._book)

    def _resize(self, p: int) -> None:
        super()._resize(p)
        room = max(min(self.k, p), int(self.book_[0]))
        if room != len(self.kept_):
            new = np.zeros((room, 2))
            n = min(room, len(self.kept_))
            new[:n] = self.kept_[:n]
            self.kept_ = new

    def _check_state(self) -> None:
        if self._started():
            check_heap(self.kept_, self.book_[0], self.place_, 1)

    def _chosen(self) -> NDArray[np.int64]:
        """The features kept, in no order."""
        return self.kept_[: int(self.book_[0]), 1].astype(np.int64)

    def _can_overflow(self) -> bool:
        return False


def check_heap(heap: Array, size: float, place: NDArray[np.int32], sign: int) -> None:
    """Refuse a heap whose features are not those that know their places in it: the kernel follows both."""
    if not 0 <= size <= len(heap):
        raise ValueError(f"a heap of {size} features has room for {len(heap)}.")
    known = np.flatnonzero(sign * place > 0)
    at = sign * place[known].astype(np.int64) - 1
    if len(known) != size or not np.array_equal(np.sort(at), np.arange(len(known))):
        raise ValueError("the places of features in a heap are not those of a heap.")
    if not np.array_equal(heap[at, 1], known):
        raise ValueError("the features in a heap are not those that are said to be there.")


class Adaptive(Budgeted):
    """Steps that each feature's own gradients shorten ([Zhai] section 4)."""

    eta: float = param(
        0.1,
        "float > 0",
        "Step, eta: about what a first gradient moves a weight by, whatever its size.",
    )
    lam: float = param(1e-4, "float >= 0", "Strength of the penalty lam / 2 |w|^2, lambda.")
    delta: float = param(0.01, "float > 0", "Added to the norm of a feature's gradients, delta.")

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("eta", zero=False)
        self._check_number("lam", zero=True)
        self._check_number("delta", zero=False)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.bias_sums_ = np.zeros(1 + q)  # the row of the intercept, as if it were a feature

    def _rule(self) -> tuple[float, float, float, bool, Array]:
        """What both kernels take of their steps."""
        return (
            float(self.eta),
            float(self.lam),
            float(self.delta),
            bool(self.fit_intercept),
            self.clock_,
        )
