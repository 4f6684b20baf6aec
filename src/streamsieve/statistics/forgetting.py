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
    "Share of its weight that a row loses with each new row: a row of age a has weight (1 - decay)^a. A "
    "callable returns alpha_n of [Sun] (3.11) for the row after n others. With a constant, `lambda n: "
    "alpha`, the weight of the first row is 1 / alpha times as large as with `decay=alpha`. None: no "
    "forgetting.",
)
HALF_LIFE = Param(
    None, Or(Real(above=0), None), "Rows after which the weight of a row has halved; determines the decay."
)


def decay_per_row(decay: Decay, half_life: float | None) -> Decay:
    """The decay from two parameters, of which at most one is given; None without forgetting."""
    decay, half_life = DECAY.check("decay", decay), HALF_LIFE.check("half_life", half_life)
    if decay is not None and half_life is not None:
        raise ParamError("half_life", half_life, f"expected None with decay={decay}: pass one of them.")
    if half_life is not None:
        return -math.expm1(-math.log(2) / half_life)
    return decay or None


class Forgetting(State):
    """Weights that grow along the stream, so that the relative weight of old rows decreases without an
    update.

    With a constant decay a row has the weight (1 - decay)^age. Instead of shrinking all sums at every row,
    row t gets the weight (1 - decay)^-t. Averages do not depend on the common factor, and the sums are scaled
    only when it becomes too large for floating point. The result of a block therefore equals that of the
    recursion over single rows.

    The first row is treated like all others: after n rows its weight is (1 - decay)^(n - 1). In [Sun] eq.
    (3.11) with a constant alpha the averages start at the first row, and its weight is 1 / alpha times as
    large.

    Parameters
    ----------
    decay : float in (0, 1), callable or None
        Result of `decay_per_row`.
    largest : float
        Largest growth before the sums must be scaled.
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
            pace=0.0,  # the same sum if all sample weights were 1; for a schedule
        )

    def plan(self, n: int, seen: int) -> Array | None:
        """Logarithms of the growth of the weights at each of the next n rows; None without forgetting.

        With a constant decay it is the ratio of the weight of a row to that of the previous row; with a
        schedule, the growth of the total weight. The state does not change, so that a bad schedule raises
        before any row is learned.
        """
        if self.decay is None:
            return None
        if not callable(self.decay):
            return np.full(n, -math.log1p(-self.decay))
        rates = np.array([self.decay(seen + i) for i in range(n)], dtype=np.float64)
        if seen == 0 and n:
            rates[0] = 0.0  # the first row is the average, for any alpha_0
        bad = np.flatnonzero(~((rates >= 0) & (rates < 1)))
        if len(bad):
            raise ValueError(f"decay({seen + bad[0]}) = {rates[bad[0]]}; a schedule must stay in [0, 1).")
        return -np.log1p(-rates)

    def room(self, growth: Array | None) -> int:
        """Number of planned rows that can be added before the sums must be scaled."""
        if growth is None:
            return 1 << 62
        room = int(np.searchsorted(np.cumsum(growth), math.log(self.largest / self.level), side="right"))
        return max(room, int(self.level <= 1))  # scaling would not help further

    def weights(self, n: int, growth: Array | None, w: Array | None) -> Array:
        """Weights of the next n rows, with sample weights w; advances the state."""
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
        """Current growth of the weights."""
        return max(self.unit, self.total, self.pace)

    def scale(self, factor: float) -> None:
        """Multiply the weights of all rows so far; the averages do not change."""
        if self.decay is not None:
            self.unit *= factor
        self.total *= factor
        self.pace *= factor

    def check_same_decay(self, other: Forgetting) -> None:
        """Raise ValueError for averages with another decay; two schedules are assumed to be equal."""
        if self.decay != other.decay and not (callable(self.decay) and callable(other.decay)):
            raise ValueError(
                f"These averages forget with decay={self.decay}, the others with decay={other.decay}; only "
                "averages with the same decay can be merged."
            )

    def check(self, largest: float) -> None:
        """Raise ValueError for an invalid state from a file."""
        numbers = (self.unit, self.total, self.pace)
        if not all(type(x) is float and 0 <= x < math.inf for x in numbers) or self.unit == 0:
            raise ValueError(f"the weights of rows are {numbers}.")
        if self.largest != largest:
            raise ValueError(f"the limit of the weights is {self.largest}, not {largest}.")
        DECAY.check("decay", self.decay)
