"""Seconds of the processor by name: they do not depend on what else the machine does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any


@contextmanager
def timed(seconds: dict[Any, float], name: Any, reset: bool = False) -> Iterator[None]:
    """Add the seconds spent in the block, on all threads, to ``seconds[name]``; `reset` starts from 0."""
    start = process_time()
    yield
    elapsed = process_time() - start
    seconds[name] = elapsed if reset else seconds[name] + elapsed
