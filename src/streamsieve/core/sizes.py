"""Sizes of memory as a user writes them, and what is used beside."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
EXTRA = 32 << 20  # beside the memory of a sieve, for work


class Bytes:
    """A number of bytes, at least `least`, or a text such as '256MB'; powers of 1024."""

    def __init__(self, least: int) -> None:
        self.least = least

    def __str__(self) -> str:
        return f"int >= {self.least} or str such as '256MB'"

    def accept(self, value: Any) -> int | str:
        if size_of(value) < self.least:
            raise ValueError
        return value if isinstance(value, str) else int(value)


def size_of(value: Any) -> int:
    """Bytes; ValueError for what is none."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B?)\s*", value.upper())
        if match is None:
            raise ValueError
        unit = match[2] if match[2].endswith("B") or not match[2] else match[2] + "B"
        return int(float(match[1]) * UNITS[unit])
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ValueError
    return int(value)
