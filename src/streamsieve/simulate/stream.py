"""Base class of all generators: fixed chunks of rows, each with its own random generator, cut into blocks."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._check import integer

Array = NDArray[Any]  # of the stream's dtype
Floats = NDArray[np.float64]

# Rows are drawn in chunks of at most CHUNK_ROWS rows and about CHUNK_VALUES values: large enough that seeding
# costs nothing, small enough (8 MB) that memory is constant for any width. Another value is another stream.
CHUNK_ROWS = 1024
CHUNK_VALUES = 2**20

# Purposes of a seed: the true coefficients, or the rows of one chunk.
TRUTH, ROWS = 0, 1

#: Parameters of several generators, by their mark in the docstrings.
SHARED = {
    "{design}": """
alpha : float, default=1.0
    Weight of the common factor of all features, as in `correlated`.
spacing : int >= 1, default=10
    True features are spacing - 1, 2 spacing - 1, ..., counted from 0.
noise : float >= 0, default=1.0
    Standard deviation of the noise, which is the smallest possible RMSE.
""",
    "{blocks}": """
block_size : int >= 1, default=1000
    Rows per block; it does not change the rows.
random_state : int >= 0 or None, default=0
    Seed. None draws a seed.
dtype : {float64, float32}, default=float64
    Type of X and y.
""",
}
Generator = TypeVar("Generator", bound=type)


def documented(generator: Generator) -> Generator:
    """Insert the parameters that generators share into the docstring, at their marks."""
    if generator.__doc__:  # not under -OO
        text = inspect.cleandoc(generator.__doc__)
        for mark, parameters in SHARED.items():
            text = text.replace(mark, parameters.strip())
        generator.__doc__ = text + "\n"
    return generator


class Stream:
    """A stream of simulated rows that can be read repeatedly.

    Row i depends only on the parameters, the seed and i. It does not depend on the block size, on n or on the
    rows read before. Rows are drawn in chunks of a fixed size, and the random generator of a chunk depends on
    its number and the seed. A chunk in the middle can therefore be drawn without the previous chunks.

    A subclass draws a chunk in `_draw`, as arrays with one entry per row, and turns such arrays into
    ``(X, y)`` in `_pack`. It stores its parameters under their own names, for ``repr``.

    Attributes
    ----------
    n : int or None
        Number of rows; None: endless.
    p : int
        Number of features.
    k : int
        Number of true features.
    block_size : int
        Rows per block; the last block may have fewer.
    coef : ndarray of shape (p,)
        True coefficients, read-only.
    intercept : float
        True intercept.
    support : ndarray of int of shape (k,)
        The true features, ascending.
    random_state : int
        The seed; drawn once if None was passed, so that the stream can be read again.
    dtype : dtype
        float32 or float64, of X and y. float32 rows are the float64 rows, rounded.
    """

    coef: Floats
    support: NDArray[np.int64]
    intercept: float = 0.0

    def __init__(
        self,
        n: int | None,
        p: int,
        k: int,
        *,
        width: int | None = None,
        block_size: int,
        random_state: int | None,
        dtype: DTypeLike,
    ) -> None:
        self.n = None if n is None else integer("n", n, 1, hint="or None, for an endless stream")
        self.p = integer("p", p, 1)
        self.k = integer("k", k, 0, self.p, hint=f"p={self.p} features")
        self.block_size = integer("block_size", block_size, 1)
        if random_state is None:
            random_state = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self.random_state = integer("random_state", random_state, 0)
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f"dtype={self.dtype} is not supported; pass float32 or float64.")
        self._chunk_rows = max(1, min(CHUNK_ROWS, CHUNK_VALUES // (width or self.p)))

    def __iter__(self) -> Iterator[tuple[Any, Array]]:
        """Blocks ``(X, y)`` of `block_size` rows, from the first row on."""
        return self._blocks(0, self.n, self.block_size)

    def take(self, n: int, start: int = 0) -> tuple[Any, Array]:
        """The rows start, ..., start + n - 1 as one block.

        The cost does not depend on `start`. Rows beyond n are those of a longer stream and can be used as a
        test set: ``stream.take(1000, start=stream.n)``.

        Parameters
        ----------
        n : int >= 1
            Number of rows.
        start : int >= 0, default=0
            The first row.

        Returns
        -------
        X : ndarray or csr_array of shape (n, p)
        y : ndarray of shape (n,)
        """
        n, start = integer("n", n, 1), integer("start", start, 0)
        return next(self._blocks(start, start + n, n))

    def _blocks(self, start: int, stop: int | None, size: int) -> Iterator[tuple[Any, Array]]:
        rows = self._chunk_rows
        index = -1
        chunk: tuple[Array, ...] = ()  # the last chunk drawn: it may overlap with the next block
        while stop is None or start < stop:
            end = start + size if stop is None else min(start + size, stop)
            block: tuple[Array, ...] = ()
            row = start
            while row < end:
                if row // rows != index:
                    index = row // rows
                    chunk = self._draw(self._generator(ROWS, index), index * rows + np.arange(rows))
                first, last = row - index * rows, min(end - index * rows, rows)
                block = block or tuple(
                    np.empty((end - start, *a.shape[1:]), self.dtype if a.dtype.kind == "f" else a.dtype)
                    for a in chunk
                )
                for whole, part in zip(block, chunk):
                    whole[row - start : row - start + last - first] = part[first:last]
                row += last - first
            yield self._pack(*block)
            start = end

    def _generator(self, *key: int) -> np.random.Generator:
        """The random generator for one purpose; the same seed and key give the same numbers."""
        return np.random.default_rng(np.random.SeedSequence(self.random_state, spawn_key=key))

    def _draw(self, rng: np.random.Generator, rows: NDArray[np.int64]) -> tuple[Array, ...]:
        """Draw the chunk of the given row numbers, as arrays whose first axis is the row."""
        raise NotImplementedError

    def _pack(self, *arrays: Array) -> tuple[Any, Array]:
        """Convert the arrays of a chunk, cut to the rows of a block, to ``(X, y)``."""
        X, y = arrays
        return X, y

    def _set_truth(self, support: NDArray[np.int64], values: Any) -> None:
        """Store the true features and their coefficients."""
        self.support = support
        self.coef = np.zeros(self.p)
        self.coef[support] = values
        for truth in (self.support, self.coef):  # scaling them in place would change the rows
            truth.setflags(write=False)

    def __repr__(self) -> str:
        """The call that creates this stream: n, p, k, and parameters that differ from their defaults."""
        shown = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            value = getattr(self, name)
            if name in ("n", "p", "k", "random_state") or value != parameter.default:
                value = value.name if isinstance(value, np.dtype) else value
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__.lower()}({', '.join(shown)})"
