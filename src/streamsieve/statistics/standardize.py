"""Running averages of the standardised data, [Sun] eqs. (3.2) and (3.3)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Array

if TYPE_CHECKING:
    from .running import RunningAverages

# What a copy may leave unexplained of a column's variance, being rounding.
COPY = {"float64": 1e-10, "float32": 1e-5}


class Profile(NamedTuple):
    """Features that are in every model and have been projected out, and what gives their weights."""

    kept: NDArray[np.int64]
    L: Array  # R_KK = L L'
    rows: Array  # R_K., before
    targets: Array  # r_K
    explained: float  # share of the targets' variance, added over the targets


@dataclass(frozen=True, eq=False)
class Standardized:
    """What an extractor sees: the averages of centred, scaled features and targets.

    The targets are scaled too, so that a fit's quality is a number between 0 and 1 (``1 - R^2``) and several
    targets weigh alike; `alpha` in a target's own units is the internal one times `y_scale`.

    Attributes
    ----------
    R : ndarray of shape (p, p)
        S_xx, a correlation matrix (with ``standardize=False``, a covariance matrix). A column that is not
        usable has zeros and a one on the diagonal, so that every factorisation goes through and its weight
        is zero.
    r : ndarray of shape (p, q)
        S_xy.
    usable : ndarray of shape (p,)
        False for columns that are never selected: constant ones, and copies of an earlier one (perhaps in
        other units), which would only share its weight.
    x_mean, x_scale : ndarray of shape (p,)
    y_mean, y_scale : ndarray of shape (q,)
        A constant column or target has scale 0.
    n : float
        Effective number of rows.
    feature_names : ndarray of str of shape (p,) or None
    rows : float or None
        Rows taken, where no forgetting makes them fewer.
    bounds : pair of ndarrays of shape (p,) or None
        Of the weights, in original units.
    box : pair of ndarrays of shape (p, q) or None
        The same in standardised units.
    group : ndarray of int of shape (p,) or None
        Number of the group of each feature, -1 for columns that are not usable.
    factor : ndarray of shape (p,) or None
        Penalty factors, for a group times the root of its rank; None for ones.
    origin : Standardized or None
        The averages before constraints were built in, see `reduce.py`: `profile` has what is known of
        features projected out, `turns` the matrices that whiten groups.
    """

    R: Array
    r: Array
    usable: NDArray[np.bool_]
    x_mean: Array
    x_scale: Array
    y_mean: Array
    y_scale: Array
    n: float
    fit_intercept: bool = True
    feature_names: NDArray[np.object_] | None = None
    rows: float | None = None
    bounds: tuple[Array, Array] | None = None
    box: tuple[Array, Array] | None = None
    group: NDArray[np.int64] | None = None
    factor: Array | None = None
    origin: Standardized | None = None
    profile: Profile | None = None
    turns: tuple[tuple[NDArray[np.int64], Array], ...] = ()

    @property
    def rank(self) -> float:
        """How many rows there are to determine weights, whatever the scale of their sample weights."""
        return self.n if self.rows is None else self.rows

    @property
    def p(self) -> int:
        return len(self.x_mean)

    @property
    def q(self) -> int:
        return len(self.y_mean)


def standardize(
    averages: RunningAverages,
    *,
    fit_intercept: bool = True,
    scale: bool = True,
    keep: NDArray[np.int64] | None = None,
) -> Standardized:
    """Standardise running averages; O(p^2), one pass.

    Parameters
    ----------
    averages : RunningAverages
        With at least one row.
    fit_intercept : bool, default=True
        Centre features and targets. Without it, moments about zero are used.
    scale : bool, default=True
        Divide every feature by its deviation. Without it the features keep their units, and selection
        compares raw weights.
    keep : ndarray of int or None, default=None
        Of columns that are copies of each other, the one to use, instead of the first.
    """
    with averages._lock:
        return _standardize(averages, fit_intercept, scale, keep)


def _standardize(
    averages: RunningAverages, fit_intercept: bool, scale: bool, keep: NDArray[np.int64] | None
) -> Standardized:
    moments, weight = averages.current()
    p = moments.p
    if averages.effective_n_ < 0.1 * averages.n_samples_ and not averages.forgets:
        warnings.warn(
            f"The sample weights of {averages.n_samples_} rows sum to {weight:.3g}. A weight counts as so "
            "many rows in standard errors and in the choice of k; scale the weights to an average of 1.",
            stacklevel=2,
        )
    vanished = moments.underflows()
    if len(vanished):
        warnings.warn(
            f"{len(vanished)} columns, {vanished[0]} among them, have values so small that their squares "
            "vanish; they count as constant. Rescale them.",
            stacklevel=2,
        )
    mean, var = moments.mean(weight), moments.variance(weight)
    if not fit_intercept:
        var = var + mean**2
    deviation = np.sqrt(var)
    x_scale, y_scale = deviation[:p], deviation[p:]
    usable = x_scale > 0
    if not scale:
        x_scale = np.where(usable, 1.0, 0.0)
    inverse = np.divide(1.0, x_scale, out=np.zeros(p), where=usable)
    y_inverse = np.divide(1.0, y_scale, out=np.zeros(len(y_scale)), where=y_scale > 0)
    # Without an intercept a column and its shifted copy are two directions: the correlation says nothing.
    limit = 1 - COPY[moments.sums.dtype.name] if fit_intercept else np.inf
    R, r, copies = moments.standardise(weight, inverse, y_inverse, limit)
    if not fit_intercept:
        R += np.outer(mean[:p] * inverse, mean[:p] * inverse)
        r += np.outer(mean[:p] * inverse, mean[p:] * y_inverse)
    if len(copies):
        copies = _exchanged(copies, keep, R, limit)
        R[copies] = 0.0
        R[:, copies] = 0.0
        r[copies] = 0.0
        usable[copies] = False
    R[np.diag_indices(p)] = np.where(usable, var[:p] * inverse**2, 1.0)
    return Standardized(
        R,
        r,
        usable,
        mean[:p],
        x_scale,
        mean[p:],
        y_scale,
        averages.effective_n_,
        fit_intercept,
        averages.feature_names_,
        averages.effective_n_ if averages.forgets else float(averages.n_samples_),
    )


def _exchanged(
    copies: NDArray[np.int64], keep: NDArray[np.int64] | None, R: Array, limit: float
) -> NDArray[np.int64]:
    """The copies, with the first of equal columns in the place of one to keep."""
    out, wanted = set(copies.tolist()), [] if keep is None else keep.tolist()
    for j in wanted:
        same = np.flatnonzero(R[j] ** 2 > limit * R.diagonal() * R[j, j])
        first = [int(i) for i in same if int(i) not in out]
        if j in out and first and first[0] not in wanted:
            out = (out - {j}) | {first[0]}
    return np.array(sorted(out), dtype=np.int64)
