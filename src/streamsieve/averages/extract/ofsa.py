"""Online feature selection with annealing, [Sun] Alg. 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..model import LinearModel, as_standardized, check_k, finish
from ..standardize import Array, Standardized

if TYPE_CHECKING:
    from ..running import RunningAverages

# A step of 2 / largest eigenvalue is where gradient descent ceases to converge.
RELAXATION = 1.9


def ofsa(
    averages: RunningAverages | Standardized,
    k: int,
    *,
    steps: int = 500,
    mu: float = 1.0,
    warmup: float = 0.1,
    eta: float | Literal["auto"] = "auto",
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
) -> LinearModel:
    """Descend the squared loss while removing the features with the smallest weights, until k remain.

    O(sum_t M_t^2): with the defaults and k << p, some 170 products with S_xx. Stopping far from convergence,
    it needs no ridge where n <= p.

    Parameters
    ----------
    averages : RunningAverages
    k : int in [0, p]
        Features to keep. Constant columns are never kept, so fewer remain where fewer than k columns vary.
    steps : int >= 1, default=500
        T (n^iter) of Alg. 4.
    mu : float > -1, default=1.0
        Annealing: how early the features go. 0 removes as many in every step; a larger mu removes more in the
        first steps, which is faster and greedier.
    warmup : float in [0, 1), default=0.1
        Share of the steps before the first removal; 0 is Alg. 4 as printed.
    eta : "auto" or float > 0, default="auto"
        Step. "auto" is 1.9 over the largest eigenvalue of the S_xx of the features left, estimated anew
        whenever a quarter of them has gone. A number stays constant; it must be below 2 over that eigenvalue.
    refit : bool, default=True
        Replace the weights by least squares on the support, with standard errors.
    fit_intercept : bool, default=True
    standardize : bool, default=True
        Compare weights of features brought to deviation 1; without it, raw weights.

    Returns
    -------
    LinearModel
        `info` holds `steps` and `eta`, the step of every t.

    Notes
    -----
    For t = 1, ..., T, from beta = 0: ::

        beta <- beta - eta (S_xx beta - S_xy)                                   (3.8)
        keep the floor(M_t) features with the largest |beta_j|
        M_t = k + (p - k) max(0, (T' - t') / (t' mu + T'))

    with t' and T' counted from the end of the warm-up. A removed feature does not return. p counts the
    columns that vary; several targets share one support, by the norms of the rows; ties go to the lower
    index.

    Differences from the paper: the step follows the largest eigenvalue instead of being tuned, and removal
    waits. After the first step the weights are marginal correlations. Where features are correlated, one
    whose sign is opposed to the common part has next to none, and is the first to go, however strong:
    without warm-up, x = z 1 + u with p = 1000, n = 3000, k = 10 and weights of 1 and -1 loses a third of
    its true features at any number of steps, and with it none. (The paper's own weights are all positive,
    where this cannot be seen, and its numbers are reached with and without.)
    """
    s = as_standardized(averages, fit_intercept, standardize)
    k = check_k(s, k)
    support, weights, etas = anneal(s, k, steps, mu, eta, warmup)
    beta = np.zeros((s.p, s.q))
    beta[support] = weights
    return finish(s, beta, "ofsa", refit=refit, support=support, steps=steps, eta=etas)


def anneal(
    s: Standardized,
    k: int,
    steps: int = 500,
    mu: float = 1.0,
    eta: float | Literal["auto"] = "auto",
    warmup: float = 0.1,
) -> tuple[NDArray[np.int64], Array, Array]:
    """The support left by Alg. 4, its weights (k, q), and the step of every t."""
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise ValueError(f"steps={steps!r} must be an int of at least 1.")
    if not -1 < mu < np.inf:
        raise ValueError(f"mu={mu!r} must be a finite number above -1.")
    if not 0 <= warmup < 1:
        raise ValueError(f"warmup={warmup!r} must be at least 0 and below 1.")
    active = np.flatnonzero(s.usable).astype(np.int64)
    m = len(active)
    if k == 0 or m == 0:
        return active[:0], np.zeros((0, s.q)), np.zeros(0)
    if eta != "auto":
        limit = 2 / _core.largest_eigenvalue(s.R, active, 40)
        if not 0 < eta < limit:
            raise ValueError(f'eta={eta!r} must be between 0 and {limit:.6g}, where it diverges, or "auto".')
    beta = np.zeros((s.q, m))
    used = np.zeros(steps)
    r = np.ascontiguousarray(s.r[active].T)
    step = 0.0 if eta == "auto" else float(eta)
    _core.ofsa(s.R, r, schedule(m, k, steps, mu, warmup), step, RELAXATION, active, beta, used)
    return active[:k], beta[:, :k].T, used


def schedule(p: int, k: int, steps: int, mu: float, warmup: float = 0.0) -> NDArray[np.int64]:
    """Features left after each step, floor(M_t)."""
    wait = int(warmup * steps)
    t, T = np.maximum(np.arange(1, steps + 1) - wait, 0), steps - wait
    left = np.floor(k + (p - k) * np.maximum(0.0, (T - t) / (t * mu + T)))
    return left.astype(np.int64)
