"""Forgetting: the weight of each row of a stream, [Sun] 3.2.8."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..core.params import Kind, Or, Param, ParamError, Real
from ..core.rows import Array
from ..core.state import State, optional

Decay = float | Callable[[int], float] | None

DECAY = Param(
    None,
    Or(Real(0, below=1), Kind("callable", callable=True), None),
    "Forgetting per row: a row of age a weighs (1 - decay)^a. A callable gives alpha_n of [Sun] eq. (3.11) "
    "for the row after n others: `lambda n: alpha` is that equation with a constant alpha, where the first "
    "row weighs 1 / alpha times as much. None forgets nothing.",
)
HALF_LIFE = Param(
    None, Or(Real(above=0), None), "Rows after which a row's weight has halved; determines the decay."
)


def decay_per_row(decay: Decay, half_life: float | None) -> Decay:
    """The decay that two parameters, of which one at most is given, stand for; None for none."""
    decay, half_life = DECAY.check("decay", decay), HALF_LIFE.check("half_life", half_life)
    if decay is not None and half_life is not None:
        raise ParamError("half_life", half_life, f"expected None beside decay={decay}: pass one of them.")
    if half_life is not None:
        return -math.expm1(-math.log(2) / half_life)
    return decay or None


class Forgetting(State):
    """Weights that grow with the stream, so that old rows fade without being touched.

    A constant decay means weight (1 - decay)^age. Instead of shrinking all sums at every row, row t gets the
    weight (1 - decay)^-t; averages do not see the common factor, and the sums need scaling only when it grows
    too large for floating point. A block of rows is therefore the row-by-row recursion, exactly.

    The first row is a row like all others: of n rows it weighs (1 - decay)^(n - 1). In [Sun] eq. (3.11) with
    a constant alpha, where the averages start as the first row, that would weigh 1 / alpha times as much.

    Parameters
    ----------
    decay : float in (0, 1), callable or None
        As `decay_per_row` gives it.
    largest : float
        Growth allowed before the sums must be scaled back.
    """

    unit: float
    total: float
    pace: float

    def __init__(self, decay: Decay, largest: float) -> None:
        super().__init__(
            decay=optional(decay),
            largest=largest,
            unit=1.0,  # weight of the latest row
            total=0.0,  # sum of the weights
            pace=0.0,  # what that sum would be if all sample weights were 1; for a schedule
        )

    def plan(self, n: int, seen: int) -> Array | None:
        """Logarithms of the growth that each of the next n rows brings; None without forgetting.

        With a constant decay it is how much a row outweighs the one before it, with a schedule how much the
        row makes the total grow. Nothing changes, so that a bad schedule raises before any row is learned.
        """
        if self.decay is None:
            return None
        if not callable(self.decay):
            return np.full(n, -math.log1p(-self.decay))
        rates = np.array([self.decay(seen + i) for i in range(n)], dtype=np.float64)
        if seen == 0 and n:
            rates[0] = 0.0  # the first row is the average, whatever alpha_0
        bad = np.flatnonzero(~((rates >= 0) & (rates < 1)))
        if len(bad):
            raise ValueError(f"decay({seen + bad[0]}) = {rates[bad[0]]}; a schedule must stay in [0, 1).")
        return -np.log1p(-rates)

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
        elif callable(self.decay):
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
        """Multiply the weights of all rows so far; the averages stay the same."""
        if self.decay is not None:
            self.unit *= factor
        self.total *= factor
        self.pace *= factor

    def check_same_decay(self, other: Forgetting) -> None:
        """Raise ValueError for rows that fade at another pace; two schedules are taken to be the same."""
        if self.decay != other.decay and not (callable(self.decay) and callable(other.decay)):
            raise ValueError(
                f"These averages forget with decay={self.decay}, the others with decay={other.decay}; only "
                "rows that fade alike can be merged."
            )

    def check(self, largest: float) -> None:
        """Raise ValueError for state from a file with which rows would get no weights."""
        numbers = (self.unit, self.total, self.pace)
        if not all(type(x) is float and 0 <= x < math.inf for x in numbers) or self.unit == 0:
            raise ValueError(f"the weights of rows are {numbers}.")
        if self.largest != largest:
            raise ValueError(f"weights may grow to {self.largest}, not {largest}.")
        DECAY.check("decay", self.decay)
