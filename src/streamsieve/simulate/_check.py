"""Checks of the generators' parameters: what came, what was expected, what to do."""

from __future__ import annotations

import math
import operator
from typing import Any


def integer(name: str, value: Any, low: int, high: int | None = None, hint: str = "") -> int:
    """`value` as an int in [low, high]; `hint` says where a high comes from."""
    expected = f"an integer >= {low}" if high is None else f"an integer in [{low}, {high}]"
    expected += f" ({hint})" if hint else ""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is a {type(value).__name__}; pass {expected}.") from None
    if isinstance(value, bool):
        raise TypeError(f"{name}={value!r} is a bool; pass {expected}.")
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name}={number} is out of range; pass {expected}.")
    return number


def real(name: str, value: Any, low: float = -math.inf) -> float:
    """`value` as a finite float >= low."""
    expected = "a finite number" if low == -math.inf else f"a finite number >= {low:g}"
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}={value!r} is not a number; pass {expected}.") from None
    if not math.isfinite(number) or number < low:
        raise ValueError(f"{name}={number} is out of range; pass {expected}.")
    return number


def interval(name: str, value: Any) -> tuple[float, float]:
    """`value` as two finite floats, the lower one first."""
    try:
        low, high = value
    except (TypeError, ValueError):
        raise TypeError(f"{name}={value!r} is not an interval; pass (low, high).") from None
    low, high = real(f"{name}[0]", low), real(f"{name}[1]", high)
    if low > high:
        raise ValueError(f"{name}=({low:g}, {high:g}) decreases; pass (low, high) with low <= high.")
    return low, high


def choice(name: str, value: Any, among: tuple[str, ...]) -> str:
    """`value`, if it is one of the names."""
    if not isinstance(value, str) or value not in among:
        raise ValueError(f"{name}={value!r} is unknown; pass one of {', '.join(map(repr, among))}.")
    return value
