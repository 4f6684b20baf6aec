"""How much memory a method takes, before it is taken."""

from __future__ import annotations

import os

from ..core.method import Method
from ..methods.learners.steps import MOST_CHOSEN
from .model import chooses_size

_EXTRACTING = 4  # copies of the state, while a model is extracted from it
_GROWING = 2  # arrays that grow are copied


def machine_memory() -> int:
    """Bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def bytes_needed(method: Method, p: int, q: int = 1) -> float:
    """Bytes that a method takes with p features and q outputs, about."""
    if chooses_size(method):
        method = method.with_values(k=MOST_CHOSEN)
    return (_EXTRACTING if method.extracts else _GROWING) * method.bytes_at(p, q)


def bytes_allowed(method: Method, memory: int) -> int:
    """Bytes that `bytes_needed` may be; where `memory` is for rows, a quarter of the machine for features."""
    return max(memory, machine_memory() // 4) if "memory" in method.params else memory


def most_features(method: Method, memory: int, q: int = 1) -> int:
    """The largest number of features with which the method takes no more than it may."""
    low, high, memory = 0, 1, bytes_allowed(method, memory)
    while high < 2**53 and bytes_needed(method, high, q) <= memory:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bytes_needed(method, middle, q) <= memory else (low, middle)
    return low
