"""Online feature selection with annealing, [Sun] Alg. 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.params import Int, Or, Param, Real
from ...core.rows import Array
from ...statistics.annealing import RELAXATION, schedule
from ...statistics.fold_averages import N_FOLDS
from ...statistics.linear_model import LinearModel, as_standardized, check_k, finish
from ...statistics.standardize import Standardized, n_units
from .method import CRITERION, HONEST, STABILITY, AveragesMethod, K
from .path import Ints, Path, path_over_supports, some_sizes

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages

MATURITY = Param(
    500, Int(1), "Number of gradient steps after which k features are left.", symbol="T", live=True
)
ANNEALING = Param(
    1.0,
    Real(above=-1),
    "Speed of the removal: the larger it is, the earlier features are removed.",
    symbol="mu",
    live=True,
)
WARMUP = Param(0.1, Real(0, below=1), "Share of the steps before the first feature is removed.", live=True)


def ofsa(
    averages: RunningAverages | Standardized,
    k: int,
    *,
    maturity: int = 500,
    annealing: float = 1.0,
    warmup: float = 0.1,
    eta: float | Literal["auto"] = "auto",
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
    **constraints: Any,
) -> LinearModel:
    """Descend the squared loss while removing the features with the smallest weights, until k remain.

    O(sum_t M_t^2): with the defaults and k << p, about 170 products with S_xx. Because it stops far from
    convergence, it needs no ridge if n <= p.

    Parameters
    ----------
    averages : RunningAverages
    k : int in [0, p]
        Features to keep. Constant columns are never kept, so fewer remain if fewer than k columns vary.
    maturity : int >= 1, default=500
        Gradient steps until k features are left, T (n^iter) of Alg. 4.
    annealing : float > -1, default=1.0
        mu of Alg. 4: how early features are removed. 0 removes the same number in every step; a larger value
        removes more in the first steps, which is faster and greedier.
    warmup : float in [0, 1), default=0.1
        Share of the steps before the first removal; 0 is Alg. 4 as printed.
    eta : "auto" or float > 0, default="auto"
        Step. "auto" is 1.9 over the largest eigenvalue of S_xx for the remaining features, estimated again
        whenever a quarter of them has been removed. A number stays constant; it must be below 2 over that
        eigenvalue.
    refit : bool, default=True
        Replace the weights by least squares on the support, with standard errors; with fewer than two rows
        per feature with a ridge and without standard errors, see `olsth`.
    fit_intercept : bool, default=True
    standardize : bool, default=True
        If True, compare weights of features scaled to standard deviation 1; if False, raw weights.
    **constraints
        `keep`, `penalty_factor`, `positive`, `bounds`, `groups`, `group_categories`, as in the estimators.

    Returns
    -------
    LinearModel
        `info` holds `eta`, the step of every t.

    Notes
    -----
    For t = 1, ..., T, from beta = 0: ::

        beta <- beta - eta (S_xx beta - S_xy)                                   (3.8)
        keep the floor(M_t) features with the largest |beta_j|
        M_t = k + (p - k) max(0, (T' - t') / (t' mu + T'))

    with t' and T' counted from the end of the warm-up. A removed feature does not return. p counts the
    columns that vary; several targets share one support, by the norms of the rows; ties go to the lower
    index. Weights are clipped to their bounds after each step, and divided by the penalty factors to be
    compared.

    Differences from the paper: the step follows the largest eigenvalue instead of being tuned, and removal
    starts after a warm-up. After the first step the weights are marginal correlations. If features are
    correlated, a feature whose sign opposes the common part has almost no marginal correlation and would be
    removed first, however strong it is: without warm-up, x = z 1 + u with p = 1000, n = 3000, k = 10 and
    weights of 1 and -1 loses a third of its true features at any number of steps, and with warm-up none. (The
    paper's own weights are all positive, where this does not occur; its numbers are reached with and without
    warm-up.)
    """
    s = as_standardized(averages, fit_intercept, standardize, constraints)
    k = check_k(s, k)
    support, weights, etas = anneal(s, k, maturity, annealing, eta, warmup)
    beta = np.zeros((s.p, s.q))
    beta[support] = weights
    return finish(s, beta, "ofsa", refit=refit, support=support, eta=etas)


def anneal(
    s: Standardized,
    k: int,
    maturity: int = 500,
    annealing: float = 1.0,
    eta: float | Literal["auto"] = "auto",
    warmup: float = 0.1,
) -> tuple[NDArray[np.int64], Array, Array]:
    """The support left by Alg. 4, its weights (k, q), and the step of every t."""
    maturity = MATURITY.check("maturity", maturity)
    annealing, warmup = ANNEALING.check("annealing", annealing), WARMUP.check("warmup", warmup)
    active = np.flatnonzero(s.usable).astype(np.int64)
    m = len(active)
    if k == 0 or m == 0:
        return active[:0], np.zeros((0, s.q)), np.zeros(0)
    if eta != "auto":
        limit = 2 / _core.largest_eigenvalue(s.R, active, 40)
        if not 0 < eta < limit:
            raise ValueError(f'eta={eta!r} must be between 0 and {limit:.6g}, where it diverges, or "auto".')
    beta = np.zeros((s.q, m))
    used = np.zeros(maturity)
    r = np.ascontiguousarray(s.r[active].T)
    step = 0.0 if eta == "auto" else float(eta)
    none = np.empty((0, 0))
    lower, upper = (none, none) if s.box is None else (np.ascontiguousarray(end.T) for end in s.box)
    left = _core.ofsa(
        s.R,
        r,
        schedule(n_units(s, active), k, maturity, annealing, warmup),
        step,
        RELAXATION,
        np.empty(0) if s.factor is None else s.factor,
        lower,
        upper,
        np.empty(0, dtype=np.int64) if s.group is None else s.group,
        active,
        beta,
        used,
    )
    return active[:left], beta[:, :left].T, used


class OFSA(AveragesMethod):
    """Online feature selection with annealing ([Sun] Alg. 4): gradient steps while features are dropped.

    Rows are added to running averages, which need O(p^2) memory. The model is computed from them when it is
    needed, see `extract.ofsa`. Labels are fitted as -1 and +1; more than two classes are learned one against
    the rest and share one support ([Sun] 3.2.6).
    """

    k, criterion, n_folds = K, CRITERION, N_FOLDS
    honest, stability = HONEST, STABILITY
    maturity, annealing, warmup = MATURITY, ANNEALING, WARMUP
    eta = Param(
        "auto",
        Or(Real(above=0), "auto"),
        "Step size. 'auto' computes it from the largest eigenvalue of the correlations of the features.",
        live=True,
    )

    options = ("maturity", "annealing", "warmup", "eta")

    def extract(self, s: Standardized) -> LinearModel:
        return ofsa(s, min(self.k, s.p), **{name: getattr(self, name) for name in self.options})

    def path(self, s: Standardized, sizes: Ints | None, ebic_gamma: float) -> Path:
        sizes = some_sizes(s) if sizes is None else sizes
        options = {name: getattr(self, name) for name in self.options}
        supports = [anneal(s, int(k), **options)[0] for k in sizes]
        return path_over_supports(s, "ofsa", supports, ebic_gamma)
