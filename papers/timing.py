"""Seconds by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any


@contextmanager
def timed(seconds: dict[Any, float], name: Any, reset: bool = False) -> Iterator[None]:
    """Add the seconds spent in the block to ``seconds[name]``, or replace them where `reset`."""
    start = perf_counter()
    yield
    elapsed = perf_counter() - start
    seconds[name] = elapsed if reset else seconds[name] + elapsed
