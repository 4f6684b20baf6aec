"""Coefficients that drift, [Sun] 5.4."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._check import integer, real
from ._correlated import design, design_parameters, response, spaced
from .stream import Array, Floats, Stream, documented


@documented
class Drifting(Stream):
    """Correlated features whose coefficients oscillate over time, each with its own phase; [Sun] 5.4.

    O(p) per row.

    Parameters
    ----------
    n : int >= 1 or None, default=1_000_000
        Number of rows; None: endless. The default is one period of 1000 steps, as in the paper.
    p : int >= 1, default=100
        Number of features.
    k : int in [0, p / spacing], default=10
        Number of true features.
    a : float, default=0.4
        Amplitude of the oscillation.
    b : float, default=0.6
        Mean of a coefficient.
    T : float > 0, default=1000
        Period, in time steps.
    lag : float, default=100
        Phase difference between consecutive true features, in time steps: the 100 in (5.1).
    rows_per_step : int >= 1, default=1000
        Rows per time step, all with the same coefficients.
    {design}
    {blocks}

    Attributes
    ----------
    coef : ndarray of shape (p,)
        Mean of the true coefficients over a period, b on the support; `coef_at` returns those of a time step.
    support : ndarray of int of shape (k,)
        The true features, ascending; the same at all times.

    Notes
    -----
    The j-th true feature, j = 1, ..., k, has at time step t = 1, 2, ... the coefficient

        beta_tj = a sin(2 pi (t - 100 j) / T) + b                    (5.1)

    on the design and with the noise of (4.1). Row i belongs to step ``i // rows_per_step + 1``. After a
    period, the next one follows.

    Examples
    --------
    >>> from streamsieve import simulate
    >>> stream = simulate.drifting(5000, rows_per_step=10)
    >>> stream.step_of(4999)
    500
    >>> stream.coef_at(500)[stream.support].round(2)
    array([0.84, 0.98, 0.98, 0.84, 0.6 , 0.36, 0.22, 0.22, 0.36, 0.6 ])
    """

    def __init__(
        self,
        n: int | None = 1_000_000,
        p: int = 100,
        k: int = 10,
        *,
        a: float = 0.4,
        b: float = 0.6,
        T: float = 1000,
        lag: float = 100,
        rows_per_step: int = 1000,
        alpha: float = 1.0,
        spacing: int = 10,
        noise: float = 1.0,
        block_size: int = 1000,
        random_state: int | None = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        super().__init__(n, p, k, block_size=block_size, random_state=random_state, dtype=dtype)
        self.a, self.b = real("a", a), real("b", b)
        self.T = real("T", T, 0)
        if self.T == 0:
            raise ValueError("T=0 is not a period; pass a number of time steps > 0.")
        self.lag = real("lag", lag)
        self.rows_per_step = integer("rows_per_step", rows_per_step, 1)
        self.alpha, self.spacing, self.noise = design_parameters(alpha, spacing, noise)
        self._set_truth(spaced(self.k, self.spacing, self.p), self.b)

    def step_of(self, row: int) -> int:
        """The time step, from 1, of a row, from 0."""
        return integer("row", row, 0) // self.rows_per_step + 1

    def coef_at(self, t: int) -> Floats:
        """The true coefficients at time step t = 1, 2, ..., of shape (p,)."""
        coef = np.zeros(self.p)
        coef[self.support] = self._weights(integer("t", t, 1))
        return coef

    def _weights(self, t: Any) -> Floats:
        """Coefficients of the support at time step t, or at steps t of shape (rows, 1)."""
        return swing(t, np.arange(1, self.k + 1), self.a, self.b, self.T, self.lag)

    def _draw(self, rng: np.random.Generator, rows: NDArray[np.int64]) -> tuple[Array, ...]:
        X = design(rng, len(rows), self.p, self.alpha)
        y = response(rng, X, self.support, self._weights(rows[:, None] // self.rows_per_step + 1), self.noise)
        return X, y


def swing(t: Any, j: NDArray[np.int64], a: float, b: float, T: float, lag: float) -> Floats:
    """beta_tj of eq. (5.1)."""
    weights: Floats = a * np.sin(2 * np.pi * (t - lag * j) / T) + b
    return weights
