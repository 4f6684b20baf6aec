"""Uniformly correlated design, [Sun] 4.1 and [Susan] 5.2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._check import choice, integer, interval, real
from .stream import Array, Floats, Stream, documented


@documented
class Correlated(Stream):
    """Equally correlated Gaussian features, k of which determine the response; [Sun] 4.1, [Susan] 5.2.

    Any two features have correlation alpha^2 / (1 + alpha^2), so that useless features are almost as
    correlated with the response as true ones. O(p) per row.

    Parameters
    ----------
    n : int >= 1 or None
        Number of rows; None: endless.
    p : int >= 1, default=1000
        Number of features.
    k : int in [0, p / spacing], default=100
        Number of true features, k* in [Sun].
    alpha : float, default=1.0
        Weight of the common factor of all features; 1 gives a correlation of 0.5, 0 gives independence.
    signal : float or (low, high), default=1.0
        The true coefficients: all equal, or increasing linearly from low to high. [Sun] uses 1 (strong), 0.01
        and (0.05, 1) (weak); the varied signal of [Susan] is (1 / k, 1).
    spacing : int >= 1, default=10
        True features are spacing - 1, 2 spacing - 1, ..., counted from 0: 10, 20, ... in [Sun], which counts
        from 1. With 1 they are the first k features, as in [Susan].
    noise : float >= 0, default=1.0
        Standard deviation of eta.
    task : {"regression", "classification"}, default="regression"
        y is real, or -1 / +1.
    unit_variance : bool, default=False
        Divide the features by sqrt(1 + alpha^2), so that each has variance 1 as in [Susan]. The signal
        applies to the features as they are yielded.
    {blocks}

    Attributes
    ----------
    coef : ndarray of shape (p,)
        beta*.
    support : ndarray of int of shape (k,)
        The true features, ascending.

    Notes
    -----
    With z_i ~ N(0, 1), u_i ~ N(0, I_p) and eta_i ~ N(0, noise^2)::

        x_i = alpha z_i 1 + u_i
        y_i = x_i' beta* + eta_i              (4.1)
        y_i = sign(x_i' beta* + eta_i)        (4.2)

    The true coefficients do not depend on the seed: for a test set, use a stream with another seed. Streams
    that differ only in `signal`, `spacing`, `k`, `noise` or `task` have the same X.

    Examples
    --------
    >>> from streamsieve import simulate
    >>> train = simulate.correlated(5000, p=100, k=3, signal=(1, 2))
    >>> train
    correlated(n=5000, p=100, k=3, signal=(1.0, 2.0), random_state=0)
    >>> train.support, train.coef[train.support]
    (array([ 9, 19, 29]), array([1. , 1.5, 2. ]))
    >>> X, y = simulate.correlated(None, p=100, k=3, signal=(1, 2), random_state=1).take(500)
    >>> X.shape, y.shape
    ((500, 100), (500,))
    """

    def __init__(
        self,
        n: int | None,
        p: int = 1000,
        k: int = 100,
        *,
        alpha: float = 1.0,
        signal: float | tuple[float, float] = 1.0,
        spacing: int = 10,
        noise: float = 1.0,
        task: str = "regression",
        unit_variance: bool = False,
        block_size: int = 1000,
        random_state: int | None = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        super().__init__(n, p, k, block_size=block_size, random_state=random_state, dtype=dtype)
        self.alpha, self.spacing, self.noise = design_parameters(alpha, spacing, noise)
        self.signal = real("signal", signal) if np.ndim(signal) == 0 else interval("signal", signal)
        self.task = choice("task", task, ("regression", "classification"))
        self.unit_variance = bool(unit_variance)
        low, high = self.signal if isinstance(self.signal, tuple) else (self.signal, self.signal)
        self._set_truth(spaced(self.k, self.spacing, self.p), np.linspace(low, high, self.k))

    def _draw(self, rng: np.random.Generator, rows: NDArray[np.int64]) -> tuple[Array, ...]:
        X = design(rng, len(rows), self.p, self.alpha)
        if self.unit_variance:
            X /= np.sqrt(1 + self.alpha**2)
        y = response(rng, X, self.support, self.coef[self.support], self.noise)
        if self.task == "classification":
            y = sign(y)
        return X, y


def design_parameters(alpha: Any, spacing: Any, noise: Any) -> tuple[float, int, float]:
    """Validated parameters of all generators on this design."""
    return real("alpha", alpha), integer("spacing", spacing, 1), real("noise", noise, 0)


def spaced(k: int, spacing: int, p: int) -> NDArray[np.int64]:
    """The features j spacing - 1 for j = 1, ..., k."""
    if k * spacing > p:
        raise ValueError(
            f"k={k} true features with spacing={spacing} need p >= {k * spacing}, got p={p}; "
            f"lower k to {p // spacing} or spacing to {max(p // k, 1)}."
        )
    return np.arange(1, k + 1, dtype=np.int64) * spacing - 1


def design(rng: np.random.Generator, rows: int, p: int, alpha: float) -> Floats:
    """Rows x = alpha z 1 + u, [Sun] 4.1."""
    z = rng.standard_normal((rows, 1))
    X = rng.standard_normal((rows, p))
    X += alpha * z
    return X


def response(
    rng: np.random.Generator, X: Floats, support: NDArray[np.int64], weights: Any, noise: float
) -> Floats:
    """x' beta + eta of each row; `weights` are those of the support, (k,) for all rows or (rows, k)."""
    # not BLAS: its rounding depends on the number of threads, and a stream must depend only on its seed
    y: Floats = np.einsum("...j,...j->...", X[:, support], weights)
    return y + noise * rng.standard_normal(len(X))


def sign(score: Floats) -> Floats:
    """Labels -1 / +1; a score of exactly 0 counts as +1."""
    return np.where(score >= 0, 1.0, -1.0)
