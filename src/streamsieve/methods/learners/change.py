"""Detect that a stream has changed, from the losses of a model on its mini-batches."""

from __future__ import annotations

import math

from ...core.rows import Array
from ...core.state import State

_SLACK, _THRESHOLD, _MOST = 1.0, 12.0, 4.0  # in standard deviations
_FIRST = 20  # batches before the first test


class ChangeDetector(State):
    """A one-sided CUSUM test on the mean losses of batches, each measured before the batch is learned.

    Each loss is standardised by the mean and standard deviation of the losses before it. The excess over one
    standard deviation is summed, and a sum above 12 signals a change. One batch adds at most 4, so that a
    single outlier does not signal a change: a large change is detected after 4 batches, a change of two
    standard deviations after 12. For independent, nearly normal losses a false alarm occurs once in e^24
    batches, and more rarely while the model still improves.
    """

    n: int
    mean: float
    squares: float
    excess: float
    active: bool

    def __init__(self) -> None:
        super().__init__(n=0, mean=0.0, squares=0.0, excess=0.0, active=True)

    def update(self, losses: Array) -> int | None:
        """The first batch at which the sum exceeds the threshold; the test then ends."""
        for i, loss in enumerate(losses.tolist()):
            if self.n >= _FIRST:
                # at least a tenth of the mean: with a near-perfect fit any change would be many deviations
                deviation = max(math.sqrt(self.squares / (self.n - 1)), 0.1 * self.mean, 1e-300)
                z = min((loss - self.mean) / deviation, _MOST)
                loss = self.mean + z * deviation
                self.excess = max(0.0, self.excess + z - _SLACK)
                if self.excess > _THRESHOLD:
                    self.active = False
                    return i
            self.n += 1
            d = loss - self.mean
            self.mean += d / self.n
            self.squares += d * (loss - self.mean)
        return None
