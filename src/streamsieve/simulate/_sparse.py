"""Large sparse design, [Sun] 4.1.3."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from ._check import choice, integer, real
from ._correlated import sign
from .stream import TRUTH, Array, Stream


class Sparse(Stream):
    """Rows with a few Gaussian values at random places, in CSR blocks; [Sun] 4.1.3.

    O(nnz log nnz) per row, for any p.

    Parameters
    ----------
    n : int >= 1 or None
        Number of rows; None: endless.
    p : int in [1, 2^31 - 1], default=10_000
        Number of features.
    k : int in [0, p], default=100
        Number of true features.
    nnz : int in [1, p], default=200
        Non-zeros in every row. With `always`, non-zeros in addition to the true features, at most p - k.
    noise : float >= 0, default=0.0
        Standard deviation of the noise added to x' beta*; the paper adds none.
    task : {"classification", "regression"}, default="classification"
        y is -1 / +1, or x' beta* itself.
    always : bool, default=False
        If True, all k true features are in every row, and only the others are at random places. Methods that
        prefer frequent features can then find them. [Sun] Table 4.4 may use this design, see Notes.
    block_size : int >= 1, default=1000
        Rows per block; it does not change the rows.
    random_state : int >= 0 or None, default=0
        Seed of the rows and of the true coefficients. None draws a seed.
    dtype : {float64, float32}, default=float64
        Type of X and y.

    Attributes
    ----------
    coef : ndarray of shape (p,)
        beta*: k values from U(0, 1) at random places.
    support : ndarray of int of shape (k,)
        The true features, ascending.

    Notes
    -----
    ``y = sign(X beta*)``. A row without true features has x' beta* = 0; with the defaults these are ``(1 - k
    / p)^nnz = 13%`` of the rows. The paper does not define sign(0); here it is +1, so that the labels are a
    function of X without noise.

    In the text of the paper all non-zeros are at random places. Its Table 4.4 calls the 200, 400 and 500
    non-zeros "noise", and SOFS, which uses only the frequency and size of a feature, finds 97% of the true
    features. This is possible with `always` and impossible without.

    Another seed gives other true coefficients: for a test set, take later rows of the same stream, as below.

    X is a `scipy.sparse.csr_array` with int32 indices, sorted and without duplicates.

    The three data sets of Table 4.4 are ``(p, k, nnz)`` = (10_000, 100, 200), (20_000, 200, 400) and
    (100_000, 500, 500).

    Examples
    --------
    >>> from streamsieve import simulate
    >>> train = simulate.sparse(5000, p=1000, k=10, nnz=20)
    >>> X, y = next(iter(train))
    >>> X.shape, X.nnz
    ((1000, 1000), 20000)
    >>> X_test, y_test = train.take(500, start=train.n)
    """

    def __init__(
        self,
        n: int | None,
        p: int = 10_000,
        k: int = 100,
        nnz: int = 200,
        *,
        noise: float = 0.0,
        task: str = "classification",
        always: bool = False,
        block_size: int = 1000,
        random_state: int | None = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        p = integer("p", p, 1, 2**31 - 1, hint="int32 indices")
        k = integer("k", k, 0, p, hint=f"p={p} features")
        self.always = bool(always)
        room = p - k if self.always else p
        whose = f"p - k={room} other features" if self.always else f"p={p} features"
        self.nnz = integer("nnz", nnz, 1, room, hint=whose)
        width = self.nnz + k if self.always else self.nnz
        super().__init__(n, p, k, width=width, block_size=block_size, random_state=random_state, dtype=dtype)
        self.noise = real("noise", noise, 0)
        self.task = choice("task", task, ("classification", "regression"))
        rng = self._generator(TRUTH)
        support = np.sort(rng.choice(self.p, self.k, replace=False, shuffle=False).astype(np.int64))
        self._set_truth(support, 1 - rng.random(self.k))  # (0, 1]: a true coefficient is never 0

    def _draw(self, rng: np.random.Generator, rows: NDArray[np.int64]) -> tuple[Array, ...]:
        if self.always:
            others = np.setdiff1d(np.arange(self.p, dtype=np.int32), self.support)
            places = others[distinct(rng, len(rows), self.nnz, len(others))]
            true = np.broadcast_to(self.support.astype(np.int32), (len(rows), self.k))
            places = np.sort(np.concatenate([true, places], axis=1), axis=1)
        else:
            places = distinct(rng, len(rows), self.nnz, self.p)
        values = rng.standard_normal(places.shape)
        y = (values * self.coef[places]).sum(axis=1) + self.noise * rng.standard_normal(len(rows))
        if self.task == "classification":
            y = sign(y)
        return values, places, y

    def _pack(self, *arrays: Array) -> tuple[Any, Array]:
        values, places, y = arrays
        starts = np.arange(0, values.size + 1, values.shape[1])
        if values.size < 2**31:  # scipy would convert the indices to the type of the starts
            starts = starts.astype(np.int32)
        X = csr_array((values.ravel(), places.ravel(), starts), shape=(len(y), self.p))
        X.has_canonical_format = True  # known; scipy would otherwise read every index to check
        return X, y


def distinct(rng: np.random.Generator, rows: int, count: int, p: int) -> NDArray[np.int32]:
    """For each row a uniformly random subset of range(p) of the given size, ascending.

    Duplicates are drawn again until all are distinct. All places are treated alike, so every subset is
    equally likely.
    """
    if 2 * count > p:  # mostly full: draw the places left out, because most draws would be duplicates
        kept = np.ones((rows, p), dtype=bool)
        np.put_along_axis(kept, distinct(rng, rows, p - count, p), False, axis=1)
        return np.nonzero(kept)[1].astype(np.int32).reshape(rows, count)
    places = rng.integers(p, size=(rows, count), dtype=np.int32)
    todo = np.arange(rows)
    while len(todo):
        some = np.sort(places[todo], axis=1)
        again = np.zeros(some.shape, dtype=bool)
        again[:, 1:] = some[:, 1:] == some[:, :-1]
        some[again] = rng.integers(p, size=np.count_nonzero(again), dtype=np.int32)
        places[todo] = some
        todo = todo[again.any(axis=1)]
    return places
