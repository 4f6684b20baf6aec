"""Running averages of the standardised data, [Sun] eqs. (3.2) and (3.3), with constraints applied.

Kept features are projected out, and groups are whitened. The result are again averages, with bounds, penalty
factors and groups. `restore` converts the weights of an extractor to those of all features.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import linalg
from ..core.params import ParamError
from ..core.rows import Array
from .constraints import Ints, Resolved
from .ridge import SINGULAR, block, cholesky

if TYPE_CHECKING:
    from .running import RunningAverages

# Largest unexplained share of the variance of a column that counts as a copy: rounding error.
COPY = {"float64": 1e-10, "float32": 1e-5}


class Profile(NamedTuple):
    """Kept features that have been projected out, and the matrices to compute their weights."""

    kept: NDArray[np.int64]
    L: Array  # R_KK = L L'
    rows: Array  # R_K., before
    targets: Array  # r_K
    explained: float  # share of the variance of the targets, summed over targets


@dataclass(frozen=True, eq=False)
class Standardized:
    """The averages of centred, scaled features and targets, which extractors use.

    The targets are also scaled, so that the quality of a fit is a number between 0 and 1 (``1 - R^2``) and
    several targets have the same weight. `alpha` in units of a target is the internal value times `y_scale`.

    Attributes
    ----------
    R : ndarray of shape (p, p)
        S_xx, a correlation matrix (with ``standardize=False``, a covariance matrix). An unusable column has
        zeros and a one on the diagonal, so that every factorisation succeeds and its weight is zero.
    r : ndarray of shape (p, q)
        S_xy.
    usable : ndarray of shape (p,)
        False for columns that are never selected: constant columns and copies of an earlier column (perhaps
        in other units), which would only share its weight.
    x_mean, x_scale : ndarray of shape (p,)
    y_mean, y_scale : ndarray of shape (q,)
        A constant column or target has scale 0.
    n : float
        Effective number of rows.
    feature_names : ndarray of str of shape (p,) or None
    rows : float or None
        Number of rows learned; None with forgetting.
    bounds : pair of ndarrays of shape (p,) or None
        Bounds of the weights, in original units.
    box : pair of ndarrays of shape (p, q) or None
        The same in standardised units.
    group : ndarray of int of shape (p,) or None
        Number of the group of each feature, -1 for columns that are not usable.
    factor : ndarray of shape (p,) or None
        Penalty factors, for a group times the square root of its rank; None: all 1.
    origin : Standardized or None
        The averages before constraints were applied, see `reduced`. `profile` describes features that were
        projected out, `turns` are the matrices that whiten groups.
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
        """Number of rows that determine the weights, for any scale of the sample weights."""
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
        If True, centre features and targets; if False, use moments about zero.
    scale : bool, default=True
        If True, divide every feature by its standard deviation; if False, features keep their units, and
        selection compares raw weights.
    keep : ndarray of int or None, default=None
        Columns to use among copies of each other, instead of the first.
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
    tiny = inverse > 1e150  # whose square overflows
    diagonal = var[:p] * np.where(tiny, 1.0, inverse) ** 2
    diagonal[tiny] = (np.sqrt(var[:p][tiny]) * inverse[tiny]) ** 2
    R[np.diag_indices(p)] = np.where(usable, diagonal, 1.0)
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
    """The copies; if a copy is to be kept, the first of the equal columns counts as the copy."""
    out, wanted = set(copies.tolist()), [] if keep is None else keep.tolist()
    for j in wanted:
        same = np.flatnonzero(R[j] ** 2 > limit * R.diagonal() * R[j, j])
        first = [int(i) for i in same if int(i) not in out]
        if j in out and first and first[0] not in wanted:
            out = (out - {j}) | {first[0]}
    return np.array(sorted(out), dtype=np.int64)


def reduced(s: Standardized, c: Resolved) -> Standardized:
    """The averages that an extractor selects from, under constraints by feature."""
    s = without(s, np.flatnonzero(s.usable & (np.isinf(c.factor) | ((c.lower == 0) & (c.upper == 0)))))
    box = bounds = None
    if c.bounded.any():
        bounds = (c.lower, c.upper)
        unit = s.x_scale[:, None] / np.where(s.y_scale > 0, s.y_scale, 1.0)
        box = tuple(_times(end[:, None], unit) for end in (c.lower, c.upper))
    group = None
    if c.group is not None:
        group = np.where(s.usable, c.group, -1)
    whole = replace(s, bounds=bounds, box=box, group=group)  # type: ignore[arg-type]
    small, factor = whole, c.factor.copy()
    if group is not None:
        small = whitened(whole)
        factor *= np.sqrt(np.maximum(np.bincount(group[small.usable], minlength=len(factor)), 1))[group]
    kept = np.flatnonzero(small.usable & (factor == 0) & ~c.bounded)
    if len(kept):
        small = profiled(small, kept)
    plain = (factor[small.usable] == 1).all()
    return replace(small, origin=whole, factor=None if plain else factor)


def _times(end: Array, unit: Array) -> Array:
    """Bounds in standardised units; infinite bounds stay infinite."""
    finite = np.isfinite(end)
    return np.ascontiguousarray(np.where(finite, np.where(finite, end, 0.0) * unit, end))


def without(s: Standardized, columns: Ints) -> Standardized:
    """The averages with some columns marked as unusable."""
    if len(columns) == 0:
        return s
    R, r, usable = s.R.copy(), s.r.copy(), s.usable.copy()
    R[columns] = 0.0
    R[:, columns] = 0.0
    R[columns, columns] = 1.0
    r[columns] = 0.0
    usable[columns] = False
    return replace(s, R=R, r=r, usable=usable)


def members(s: Standardized) -> list[Ints]:
    """The usable features of each group."""
    assert s.group is not None
    order = np.argsort(s.group, kind="stable")
    order = order[s.group[order] >= 0]
    return np.split(order, np.flatnonzero(np.diff(s.group[order])) + 1) if len(order) else []


def whitening(A: Array) -> Array:
    """W (d, rank) with W'AW = 1, for the correlations of a group; levels of a category are dependent."""
    values, vectors = np.linalg.eigh(A)
    use = values > SINGULAR * len(A) * values[-1]
    white: Array = vectors[:, use] / np.sqrt(values[use])
    return white


def whitened(s: Standardized) -> Standardized:
    """The averages with the features of each group replaced by uncorrelated combinations."""
    R, r, usable = s.R.copy(), s.r.copy(), s.usable.copy()
    turns = []
    for at in members(s):
        if len(at) == 1:
            continue
        white = whitening(block(s.R, at))
        W = np.zeros((len(at), len(at)))
        W[:, : white.shape[1]] = white
        turns.append((at, W))
        R[:, at] = R[:, at] @ W
        r[at] = W.T @ r[at]
        usable[at[white.shape[1] :]] = False
    for at, W in turns:
        R[at] = W.T @ R[at]
    unused = np.flatnonzero(~usable)
    R[unused, unused] = 1.0
    return replace(s, R=np.ascontiguousarray((R + R.T) / 2), r=r, usable=usable, turns=tuple(turns))


def group_turn(s: Standardized, support: Ints) -> Array | None:
    """Independent combinations (k, rank) of the features of groups; None if each feature is its own group."""
    assert s.group is not None
    group = s.group[support]
    _, place, sizes = np.unique(group, return_inverse=True, return_counts=True)
    if sizes.max(initial=1) == 1:
        return None
    columns = []
    for g in range(len(sizes)):
        at = np.flatnonzero(place == g)
        white = whitening(s.R[np.ix_(support[at], support[at])])
        wide = np.zeros((len(support), white.shape[1]))
        wide[at] = white
        columns.append(wide)
    return np.hstack(columns)


def profiled(s: Standardized, kept: Ints) -> Standardized:
    """The averages of the residuals of other features and targets after regression on `kept`; same scales.

    R' = R_UU - R_UK R_KK^-1 R_KU, r' alike. With b_K = R_KK^-1 (r_K - R_KU b_U), a fit of the others is a fit
    of all features.
    """
    rows, targets = s.R[kept], s.r[kept]
    L, _ = cholesky(block(s.R, kept))
    A, _ = linalg.dtrtrs(L, rows, lower=1)
    u, _ = linalg.dtrtrs(L, targets, lower=1)
    R, r = s.R - A.T @ A, s.r - A.T @ u
    explained = np.flatnonzero(s.usable & (R.diagonal() <= SINGULAR * s.R.diagonal()))
    profile = Profile(kept, L, rows, targets, float((u**2).sum()))
    small = replace(s, R=np.ascontiguousarray((R + R.T) / 2), r=r, profile=profile)
    return without(small, np.union1d(kept, explained))


def kept_features(s: Standardized) -> Ints:
    """The features that have been projected out."""
    return np.empty(0, dtype=np.int64) if s.profile is None else s.profile.kept


def whole_support(s: Standardized, support: Ints) -> Ints:
    """All features of a model: those selected, the rest of their groups, and those kept."""
    if s.origin is None:
        return np.sort(support)
    support = np.union1d(support, kept_features(s))
    if s.group is not None:
        support = np.flatnonzero(np.isin(s.group, s.group[support]) & (s.group >= 0))
    return support.astype(np.int64)


def restore(s: Standardized, beta: Array) -> Array:
    """Weights (p, q) of all features from those of the reduced averages."""
    if s.origin is None:
        return beta
    beta = beta.copy()
    if s.profile is not None:
        kept, L, rows, targets, _ = s.profile
        beta[kept] = 0.0
        beta[kept], _ = linalg.dpotrs(L, targets - rows @ beta, lower=1)
    for at, W in s.turns:
        beta[at] = W @ beta[at]
    return beta


def n_units(s: Standardized, columns: Ints) -> int:
    """Number of features or groups among some columns."""
    return len(columns) if s.group is None else len(np.unique(s.group[columns]))


def n_kept(s: Standardized) -> int:
    """Number of features or groups that have been projected out."""
    return n_units(s, kept_features(s))


def selectable(s: Standardized, k: int) -> int:
    """Number of features or groups to select in addition to kept ones; ParamError if k is too small."""
    kept = n_kept(s)
    bound = 0 if s.factor is None else int(np.count_nonzero((s.factor == 0) & s.usable))
    if k < kept + bound:
        raise ParamError(
            "k", k, f"expected at least {kept + bound}, the number of features or groups to keep."
        )
    return min(k - kept, n_units(s, np.flatnonzero(s.usable)))
