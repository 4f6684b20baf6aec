"""Rows that depend on the previous row and its response, [Sun] Appendix B."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._check import real
from ._correlated import design, design_parameters, spaced
from .stream import Array, Stream, documented


@documented
class Dependent(Stream):
    """Correlated features that depend on the previous row and on its response; [Sun] Appendix B.

    The rows are not independent. The noise of a row is independent of this row and of all previous rows, as
    Propositions 6 and 7 of the appendix assume. O(p) per row.

    Parameters
    ----------
    n : int >= 1 or None
        Number of rows; None: endless.
    p : int >= 1, default=1000
        Number of features.
    k : int in [0, p / spacing], default=100
        Number of true features.
    memory : float in [0, 1), default=0.9
        Autocorrelation of a feature at lag 1.
    feedback : float, default=0.1
        Shift of all features in the direction of the sign of the previous response: recommendations depend on
        previous purchases.
    signal : float, default=1.0
        The true coefficients.
    {design}
    {blocks}

    Attributes
    ----------
    coef : ndarray of shape (p,)
        True coefficients, read-only.
    support : ndarray of int of shape (k,)
        The true features, ascending.

    Notes
    -----
    With rows u_t of `correlated`, and y_0 = 0,

        x_t = memory x_(t-1) + sqrt(1 - memory^2) u_t + feedback sign(y_(t-1)),    y_t = x_t' beta + eps_t

    where sqrt(1 - memory^2) keeps the variance of the features without memory. The recursion starts again
    with x = u every 1,024 rows (fewer if p exceeds 1,024), so that any row can be computed without drawing
    all previous rows.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import simulate
    >>> X, y = simulate.dependent(None, p=20, k=2).take(1000)
    >>> bool(np.corrcoef(X[:-1, 0], X[1:, 0])[0, 1] > 0.8)
    True
    """

    def __init__(
        self,
        n: int | None,
        p: int = 1000,
        k: int = 100,
        *,
        memory: float = 0.9,
        feedback: float = 0.1,
        signal: float = 1.0,
        alpha: float = 1.0,
        spacing: int = 10,
        noise: float = 1.0,
        block_size: int = 1000,
        random_state: int | None = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        super().__init__(n, p, k, block_size=block_size, random_state=random_state, dtype=dtype)
        self.memory = real("memory", memory, 0)
        if self.memory >= 1:
            raise ValueError(f"memory={memory!r} is outside of [0, 1); pass a number in this interval.")
        self.feedback = real("feedback", feedback)
        self.signal = real("signal", signal)
        self.alpha, self.spacing, self.noise = design_parameters(alpha, spacing, noise)
        self._set_truth(spaced(self.k, self.spacing, self.p), self.signal)

    def _draw(self, rng: np.random.Generator, rows: NDArray[np.int64]) -> tuple[Array, ...]:
        X = design(rng, len(rows), self.p, self.alpha)
        noise = self.noise * rng.standard_normal(len(rows))
        y = np.empty(len(rows))
        fresh = math.sqrt(1 - self.memory**2)
        for t in range(len(rows)):
            if t:
                X[t] = self.memory * X[t - 1] + fresh * X[t] + self.feedback * np.sign(y[t - 1])
            y[t] = np.sum(X[t, self.support] * self.signal) + noise[t]
        return X, y
