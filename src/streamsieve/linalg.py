"""BLAS and LAPACK routines by name, from SciPy, which is loaded when the first one is called.

A command that reads a model without solving for it starts in half the time.
"""

from __future__ import annotations

from functools import cache
from typing import Any


def limit_threads(n: int) -> Any:
    """Context in which BLAS uses so many threads."""
    return _libraries().limit(limits=n, user_api="blas")


@cache
def _libraries() -> Any:
    """The libraries that are limited; to find them takes some ms."""
    import scipy.linalg  # noqa: F401 - what is to be limited must be loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    from scipy.linalg import blas, lapack

    globals()[name] = routine = getattr(blas if hasattr(blas, name) else lapack, name)
    return routine
