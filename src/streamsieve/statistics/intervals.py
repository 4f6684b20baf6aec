"""p values and intervals: for one fit by the t distribution, for several fits by aggregation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.rows import Array

SHARE = 0.05  # smallest share of the p values that may determine the result


def two_sided(t: Any, nu: Any) -> Array:
    """p values of t values under the t distribution with nu degrees of freedom."""
    from scipy.special import stdtr

    return 2 * stdtr(nu, -np.abs(t))


def check_level(level: float) -> float:
    if not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise ValueError(f"level={level!r} must be between 0 and 1; 0.95 gives 95% intervals.")
    return float(level)


def t_interval(center: Array, error: Array, nu: Any, level: float) -> Array:
    """Intervals (..., 2) about centers, by the t distribution."""
    from scipy.special import stdtrit

    half = stdtrit(nu, 0.5 + level / 2) * error
    return np.stack([center - half, center + half], axis=-1)


def majority(intervals: Array) -> Array:
    """Intervals (..., 2) of the points that lie in more than half of B intervals (B, ..., 2); nan is ignored.

    If each misses its target with probability a, the result misses with probability at most 2 a (Gasparin and
    Ramdas, 2024). If no point lies in more than half, the interval is the gap between them.
    """
    votes = (~np.isnan(intervals[..., 0])).sum(axis=0)
    at = (votes // 2)[None]
    low = np.take_along_axis(np.sort(intervals[..., 0], axis=0), at, axis=0)[0]  # nan comes last
    high = -np.take_along_axis(np.sort(-intervals[..., 1], axis=0), at, axis=0)[0]
    return np.stack([np.minimum(low, high), np.maximum(low, high)], axis=-1)


def aggregate(p: Array) -> Array:
    """Aggregate B p values (B, ...) to one: Meinshausen, Meier and Buehlmann (2009), eq. (2.3).

    (1 - log g) min over j >= g B of p_(j) B / j, with g = `SHARE`.
    """
    B = len(p)
    j = np.arange(1, B + 1)
    often = j >= SHARE * B
    scaled = np.sort(p, axis=0)[often] * (B / j[often]).reshape(-1, *[1] * (p.ndim - 1))
    return np.minimum(1.0, (1 - np.log(SHARE)) * scaled.min(axis=0))
