"""Forgetting: which weight each row of a stream has, [Sun] 3.2.8."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .standardize import Array

Alpha = float | Callable[[int], float] | None


class Forgetting:
    """Weights that grow with the stream, so that what is old fades without being touched.

    A constant alpha means weight (1 - alpha)^age. Instead of shrinking all that is kept at every row, row t
    is given the weight (1 - alpha)^-t; averages do not see the common factor, and the sums need touching
    only when it grows too large for floating point. A block of rows is therefore the row-by-row recursion,
    exactly.

    Parameters
    ----------
    alpha : float in [0, 1), callable or None
        None keeps everything. A callable gives alpha_n of eq. (3.11) for the row that comes after n others:
        ``lambda n: 1 / (n + 1)`` keeps everything, too.
    half_life : float > 0 or None
        Rows after which a row's weight has halved; another way to say alpha.
    largest : float
        Growth allowed before the sums must be scaled back.
    """

    def __init__(self, alpha: Alpha = None, half_life: float | None = None, largest: float = 1e60) -> None:
        if alpha is not None and half_life is not None:
            raise ValueError("alpha and half_life both say how fast to forget; pass one of them.")
        if half_life is not None:
            if not half_life > 0:
                raise ValueError(f"half_life={half_life}; pass a positive number of rows.")
            alpha = -math.expm1(-math.log(2) / half_life)
        if alpha is not None and not callable(alpha) and not 0 <= alpha < 1:
            raise ValueError(f"alpha={alpha}; pass a number in [0, 1), a function of n, or None.")
        self.alpha = alpha or None
        self.largest = largest
        self.unit = 1.0  # weight of the latest row
        self.total = 0.0  # sum of the weights
        self.pace = 0.0  # what that sum would be if all sample weights were 1; only a schedule asks

    def plan(self, n: int, seen: int) -> Array | None:
        """Logarithms of the growth that each of the next n rows brings; None without forgetting.

        With a constant alpha it is how much a row outweighs the one before it, with a schedule how much the
        row makes the total grow. Nothing is changed, so that a schedule that misbehaves is found out before
        any row is taken.
        """
        if self.alpha is None:
            return None
        if not callable(self.alpha):
            return np.full(n, -math.log1p(-self.alpha))
        alphas = np.array([self.alpha(seen + i) for i in range(n)], dtype=np.float64)
        if seen == 0 and n:
            alphas[0] = 0.0  # the first row is the average, whatever alpha_0
        bad = np.flatnonzero(~((alphas >= 0) & (alphas < 1)))
        if len(bad):
            raise ValueError(f"alpha({seen + bad[0]}) = {alphas[bad[0]]}; a schedule must stay in [0, 1).")
        return -np.log1p(-alphas)

    def room(self, growth: Array | None) -> int:
        """How many of the planned rows fit before the sums must be scaled back."""
        if growth is None:
            return 1 << 62
        room = int(np.searchsorted(np.cumsum(growth), math.log(self.largest / self.level), side="right"))
        return max(room, int(self.level <= 1))  # scaling back has nothing more to give

    def weights(self, n: int, growth: Array | None, w: Array | None) -> Array:
        """Weights of the next n rows, with sample weights w; moves on past them."""
        if growth is None:
            r = np.ones(n) if w is None else w
        elif callable(self.alpha):
            # alpha_n = d / (pace + d), so that the pace grows by the factor 1 / (1 - alpha_n)
            grown = (self.pace or 1.0) * np.exp(np.cumsum(growth))
            r = -grown * np.expm1(-growth)
            if self.pace == 0:
                r[0] = 1.0
            self.pace, self.unit = float(grown[-1]), float(r[-1]) or self.unit
            if w is not None:
                r = r * w
        else:
            r = self.unit * np.exp(np.cumsum(growth))
            self.unit = float(r[-1])
            if w is not None:
                r *= w
        self.total += float(r.sum())
        return r

    @property
    def level(self) -> float:
        """How large the weights have grown."""
        return max(self.unit, self.total, self.pace)

    def scale(self, factor: float) -> None:
        if self.alpha is not None:
            self.unit *= factor
        self.total *= factor
        self.pace *= factor
