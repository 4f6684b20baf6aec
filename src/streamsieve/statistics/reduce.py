"""Constraints built into the averages: features that are kept are projected out, groups are whitened.

What an extractor then sees are averages again, with bounds, penalty factors and groups beside them; `restore`
leads from its weights back to those of all features.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core import linalg
from ..core.params import ParamError
from ..core.rows import Array
from .cholesky import SINGULAR, block, cholesky
from .constraints import Constraints, Ints, Resolved
from .standardize import Profile, Standardized


def constrain(
    s: Standardized, constraints: Constraints, names: object = None, first_index: int = 0
) -> Standardized:
    """The averages with constraints built in; those that have some already pass through."""
    if s.origin is not None or not constraints.given:
        return s
    known = s.feature_names if names is None else names
    return reduced(s, constraints.resolve(s.p, known, first_index))  # type: ignore[arg-type]


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
    """Bounds in standardised units; infinite ones stay so."""
    finite = np.isfinite(end)
    return np.ascontiguousarray(np.where(finite, np.where(finite, end, 0.0) * unit, end))


def without(s: Standardized, columns: Ints) -> Standardized:
    """The averages with some columns made unusable."""
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
    """The averages of uncorrelated combinations of each group's features, in the places of these."""
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
    """Independent combinations (k, rank) of the features of groups; None where each is a group of one."""
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
    """The averages of what features `kept` leave of the others and of the targets; no scale changes.

    R' = R_UU - R_UK R_KK^-1 R_KU, r' alike. With b_K = R_KK^-1 (r_K - R_KU b_U) a fit of the rest is one of
    all.
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
    """Those that have been projected out."""
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
    """How many features, or groups, some columns are of."""
    return len(columns) if s.group is None else len(np.unique(s.group[columns]))


def n_kept(s: Standardized) -> int:
    """How many features, or groups, have been projected out."""
    return n_units(s, kept_features(s))


def selectable(s: Standardized, k: int) -> int:
    """How many of k features or groups are to be selected beside those kept; ParamError if k is too small."""
    kept = n_kept(s)
    bound = 0 if s.factor is None else int(np.count_nonzero((s.factor == 0) & s.usable))
    if k < kept + bound:
        raise ParamError(
            "k", k, f"expected at least {kept + bound}, the number of features or groups to keep."
        )
    return min(k - kept, n_units(s, np.flatnonzero(s.usable)))
