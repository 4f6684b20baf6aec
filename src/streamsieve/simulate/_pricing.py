"""Dynamic pricing, [Sun] 5.4, eq. (5.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._check import interval, real
from ._correlated import design, response, spaced
from ._drifting import Drifting, swing
from .stream import Array, Floats, documented


@documented
class Pricing(Drifting):
    """Demand as a linear function of a price and of covariates whose effects drift; [Sun] 5.4, eq. (5.2).

    The price is feature 0, and its effect is constant. O(p) per row.

    Parameters
    ----------
    n : int >= 1 or None, default=400_000
        Number of rows; None: endless. The default is one period of 2000 steps.
    p : int >= 1, default=100
        Number of features, including the price.
    k : int in [1, p / spacing], default=10
        Number of true features, including the price.
    gamma : float, default=-0.5
        Coefficient of the price.
    beta_0 : float, default=20.0
        Intercept.
    price : (low, high), default=(10, 20)
        The price is uniform on this interval.
    a : float, default=0.2
        Amplitude of the oscillation of a coefficient.
    b : float, default=0.4
        Mean of a coefficient.
    T : float > 0, default=2000
        Period, in time steps.
    lag : float, default=100
        Phase difference between consecutive true covariates, in time steps: the 100 in (5.1).
    rows_per_step : int >= 1, default=200
        Rows per time step, all with the same coefficients.
    alpha : float, default=1.0
        Weight of the common factor of all covariates, as in `correlated`.
    spacing : int >= 1, default=10
        The true covariates are j spacing - 1 for j = 2, ..., k, counted from 0.
    noise : float >= 0, default=1.0
        Standard deviation of epsilon, which is the smallest possible RMSE.
    {blocks}

    Attributes
    ----------
    coef : ndarray of shape (p,)
        Mean of the true coefficients over a period; `coef_at` returns those of a time step.
    intercept : float
        beta_0.
    support : ndarray of int of shape (k,)
        The true features, ascending; 0 is the price.

    Notes
    -----
    At time step t, with beta_tj as in (5.1) for j = 2, ..., k::

        D_t = beta_0 + gamma p_t + x_t beta_t + epsilon_t            (5.2)

    The paper gives gamma, the distribution of the price, a, b, T and the rows per step, but no other values.
    Here p, k, the design of the covariates and the noise are those of its first drift experiment. The price
    is independent of the covariates, and the intercept makes demand positive in 99.6% of the rows.

    Examples
    --------
    >>> from streamsieve import simulate
    >>> stream = simulate.pricing()
    >>> stream.support
    array([ 0, 19, 29, 39, 49, 59, 69, 79, 89, 99])
    >>> X, demand = stream.take(1000)
    >>> bool(10 <= X[:, 0].min() and X[:, 0].max() <= 20)
    True
    """

    def __init__(
        self,
        n: int | None = 400_000,
        p: int = 100,
        k: int = 10,
        *,
        gamma: float = -0.5,
        beta_0: float = 20.0,
        price: tuple[float, float] = (10, 20),
        a: float = 0.2,
        b: float = 0.4,
        T: float = 2000,
        lag: float = 100,
        rows_per_step: int = 200,
        alpha: float = 1.0,
        spacing: int = 10,
        noise: float = 1.0,
        block_size: int = 1000,
        random_state: int | None = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        super().__init__(
            n, p, k, a=a, b=b, T=T, lag=lag, rows_per_step=rows_per_step, alpha=alpha, spacing=spacing,
            noise=noise, block_size=block_size, random_state=random_state, dtype=dtype,
        )  # fmt: skip
        if self.k == 0:
            raise ValueError("k=0 excludes the price; pass k >= 1.")
        self.gamma = real("gamma", gamma)
        self.beta_0 = self.intercept = real("beta_0", beta_0)
        self.price = interval("price", price)
        support = spaced(self.k, self.spacing, self.p)
        support[0] = 0  # j = 1 is the price
        self._set_truth(support, np.r_[self.gamma, np.full(self.k - 1, self.b)])

    def _weights(self, t: Any) -> Floats:
        weights = swing(t, np.arange(1, self.k + 1), self.a, self.b, self.T, self.lag)
        weights[..., 0] = self.gamma
        return weights

    def _draw(self, rng: np.random.Generator, rows: NDArray[np.int64]) -> tuple[Array, ...]:
        X = design(rng, len(rows), self.p, self.alpha)
        X[:, 0] = rng.uniform(*self.price, len(rows))
        weights = self._weights(rows[:, None] // self.rows_per_step + 1)
        y = self.intercept + response(rng, X, self.support, weights, self.noise)
        return X, y
