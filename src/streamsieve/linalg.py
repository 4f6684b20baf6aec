"""BLAS and LAPACK routines by name, from SciPy, which is loaded when the first one is called.

A command that reads a model without solving for it starts in half the time.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    from scipy.linalg import blas, lapack

    globals()[name] = routine = getattr(blas if hasattr(blas, name) else lapack, name)
    return routine
