"""BLAS and LAPACK routines by name. SciPy is loaded when the first one is called.

Commands that only read a model therefore start in half the time.
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import nullcontext
from functools import cache
from typing import Any

from .rows import threads

NARROW = 512  # columns up to which one thread of BLAS is faster than two that wait for each other
#: Bytes that OpenBLAS takes at its first product: 32 MB on x86, and some for the threads.
_BUFFER = 64 << 20


@cache
def _scipy() -> tuple[Any, Any]:
    """SciPy's `blas` and `lapack`.

    SciPy asks NumPy for all its names. Two of them, packages for compilers and tests, take as long to load as
    all others together; they are loaded when they are used.
    """
    import numpy as np

    for name in ("f2py", "testing"):
        spec = importlib.util.find_spec(f"numpy.{name}")
        if spec is None or spec.loader is None or spec.name in sys.modules:
            continue
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        setattr(np, name, module)
    from scipy.linalg import blas, lapack

    return blas, lapack


@cache
def reserve() -> None:
    """Let BLAS allocate its buffers now; MemoryError if there is no room, where BLAS would wait forever.

    NumPy and SciPy each have their own BLAS.
    """
    import numpy as np

    blas, _ = _scipy()
    square = np.eye(200)  # smaller products need no buffer
    for multiply in (square.__matmul__, lambda A: blas.dgemm(1.0, A, A)):
        try:
            np.empty(_BUFFER, dtype=np.uint8)
        except MemoryError:
            raise MemoryError(
                f"BLAS needs buffers of {_BUFFER >> 20} MB, which this process may not take; raise its limit "
                "of memory (ulimit -v)."
            ) from None
        multiply(square)


def limit_threads(n: int) -> Any:
    """Context in which BLAS uses this number of threads; MemoryError if there is no room for its buffers."""
    reserve()  # which also loads the libraries that are limited
    return _libraries().limit(limits=n, user_api="blas")


def one_thread_if_narrow(p: int) -> Any:
    """Context in which products of matrices of p columns use one thread, if these are narrow.

    On a busy machine, two threads that wait for each other took ten times as long for 54 columns as one.
    """
    return nullcontext() if p > NARROW or threads() == 1 else limit_threads(1)


@cache
def _libraries() -> Any:
    """The libraries whose threads are limited; finding them takes some milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    blas, lapack = _scipy()
    reserve()
    globals()[name] = routine = getattr(blas if hasattr(blas, name) else lapack, name)
    return routine
