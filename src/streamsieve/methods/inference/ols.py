"""Least squares with standard errors from averages alone: classical, robust, by folds and by clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...core.rows import Array
from ...statistics.fold_averages import FoldAverages
from ...statistics.fourth import FourthMoments
from ...statistics.linear_model import LinearModel, finish
from ...statistics.moments import symmetric
from ...statistics.running import RunningAverages
from ...statistics.standardize import Standardized, standardize
from .sums import Sums, independent, sums_of

Errors = Literal["classical", "folds", "cluster", "hc1"]
Averages = RunningAverages | FoldAverages | FourthMoments


def ols(
    averages: Averages,
    support: Any = None,
    *,
    se: Errors = "classical",
    fit_intercept: bool = True,
) -> LinearModel:
    """Least squares on given features, with standard errors, p-values and intervals.

    O(k^3) for k features, times K with folds.

    Parameters
    ----------
    averages : RunningAverages, FoldAverages or FourthMoments
        "folds" and "cluster" need `FoldAverages`, "hc1" needs `FourthMoments`.
    support : array of int or None, default=None
        Features of the model. None: all features that vary and are not linear combinations of earlier
        features.
    se : {"classical", "folds", "cluster", "hc1"}, default="classical"
        Kind of standard errors. "classical": constant noise variance and independent rows. "folds": the
        jackknife over folds, valid if the noise variance differs between rows and, if the rows of a cluster
        share a fold (`FoldAverages.fold_of`), for dependent rows. "cluster": the sandwich over folds, for
        many folds with a cluster each. "hc1": the sandwich over rows, for noise variance that differs between
        rows.
    fit_intercept : bool, default=True

    Returns
    -------
    LinearModel
        Its errors are conditional on the support: they are valid if the support was not chosen with these
        rows.

    Raises
    ------
    ValueError
        If the rows do not determine the weights: n - 1 <= k.

    Notes
    -----
    With b the weights and b_f those without fold f of K: ::

        folds     V = (K - 1) / K sum_f (b_f - b)^2                                       t(K - 1)
        cluster   V = A^-1 (sum_f s_f s_f') A^-1 (K / (K - 1)) (n - 1) / (n - df)         t(K - 1)
        hc1       V = A^-1 (sum_i e_i^2 x_i x_i') A^-1 n / (n - df)                       t(n - df)

    with A = X'X and s_f = X_f'e_f, which the averages contain. The meat of "hc1" is a quadratic form in the
    fourth moments of (1, x, y). Folds without rows are ignored. A feature that varies in only one fold has no
    error by folds (nan). A row of weight w counts as w rows.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import FoldAverages, inference
    >>> rng = np.random.default_rng(0)
    >>> cluster = np.repeat(np.arange(200), 5)
    >>> X = rng.normal(size=(200, 2))[cluster]
    >>> y = X[:, 0] + rng.normal(size=200)[cluster] + rng.normal(size=1000)
    >>> folds = FoldAverages(20)
    >>> folds.update(X, y, fold=folds.fold_of(cluster)).n_samples_
    1000
    >>> inference.ols(folds).stderr.round(2), inference.ols(folds, se="folds").stderr.round(2)
    (array([0.05, 0.04]), array([0.07, 0.09]))
    """
    check_errors(averages, se)
    s = standardized_of(averages, fit_intercept)
    asked = check_support(s, support)
    chosen = independent(s, asked[s.usable[asked]])
    if s.rank - fit_intercept <= len(chosen):
        raise ValueError(
            f"{s.rank:.6g} rows do not determine the weights of {len(chosen)} features; pass a smaller "
            "support, or select on some rows and test on others: inference.split, or inference.fdr with "
            'method="screen".'
        )
    model = finish(s, np.zeros((s.p, s.q)), "ols", refit="ols", support=chosen)
    model = replace(model, dropped=np.union1d(model.dropped, np.setdiff1d(asked, chosen)))
    if se == "classical":
        return model
    return with_errors(model, averages, se, fit_intercept)


def with_errors(model: LinearModel, averages: Any, se: Errors, fit_intercept: bool = True) -> LinearModel:
    """A least squares model on its support, with errors of this kind."""
    check_errors(averages, se)
    if se == "classical":
        return model
    if se == "hc1":
        variance, nu = _hc1(averages, model.support, fit_intercept)
    else:
        variance, nu = _over_folds(averages, model.support, fit_intercept, se)
    coef = np.atleast_2d(model.coef)
    stderr = np.zeros_like(coef)
    stderr[:, model.support] = np.sqrt(variance).T
    with np.errstate(divide="ignore"):
        tvalue = np.divide(coef, stderr, out=np.zeros_like(coef), where=coef != 0)
    dropped = np.setdiff1d(model.dropped, model.support)
    stderr[:, dropped] = tvalue[:, dropped] = np.nan
    if model.coef.ndim == 1:
        stderr, tvalue = stderr[0], tvalue[0]
    return replace(model, stderr=stderr, tvalue=tvalue, se=se, nu=float(nu))


# ---------------------------------------------------------------- checks


def check_errors(averages: Any, se: str) -> None:
    """Raise for errors that cannot be computed from these averages."""
    if se not in get_args(Errors):
        raise ValueError(f"se={se!r} is not one of {', '.join(map(repr, get_args(Errors)))}.")
    kinds: dict[str, tuple[type, ...]] = {"classical": get_args(Averages), "hc1": (FourthMoments,)}
    needed = kinds.get(se, (FoldAverages,))
    if not isinstance(averages, needed):
        wanted = " or ".join(kind.__name__ for kind in needed)
        raise TypeError(f"se={se!r} needs {wanted}, got {type(averages).__name__}.")


def standardized_of(averages: Averages, fit_intercept: bool) -> Standardized:
    """All rows of any averages, as extractors read them."""
    if isinstance(averages, FourthMoments):
        whole = sums_of(averages, np.arange(averages.n_features_in_ or 0))
        return whole.standardized(averages.names, fit_intercept)
    total = averages.total() if isinstance(averages, FoldAverages) else averages
    return standardize(total, fit_intercept=fit_intercept)


def check_support(s: Standardized, support: Any) -> NDArray[np.int64]:
    """The requested features, ascending; None: all."""
    if support is None:
        return np.arange(s.p)
    at = np.asarray(support)
    if at.dtype == bool and at.shape == (s.p,):
        at = np.flatnonzero(at)
    if at.size == 0:
        return np.empty(0, dtype=np.int64)
    if at.ndim != 1 or at.dtype.kind not in "iu":
        raise ValueError(f"support={support!r} is not a list of features; pass their indices.")
    if at.min() < 0 or at.max() >= s.p:
        raise ValueError(f"support has features {at.min()} to {at.max()}; there are {s.p}, from 0.")
    return np.unique(at).astype(np.int64)


# ---------------------------------------------------------------- errors


def _over_folds(
    folds: FoldAverages, support: NDArray[np.int64], fit_intercept: bool, se: str
) -> tuple[Array, float]:
    """Variances (k, q) of the weights by the folds, and degrees of freedom."""
    filled = [fold for fold in folds.folds_ if fold.n_samples_]
    K = len(filled)
    if K < 2:
        raise ValueError(
            f"Errors over folds need rows in at least 2 folds, but only {K} of {len(folds.folds_)} has rows."
        )
    total = sums_of(filled[0], support)
    for fold in filled[1:]:
        total = total.plus(sums_of(fold, support))
    if se == "cluster":
        return _sandwich(total, filled, fit_intercept), K - 1
    b = total.weights(fit_intercept)
    square = np.zeros_like(b)
    for fold in filled:  # computed again: storing K matrices would double the memory of the folds
        square += (total.plus(sums_of(fold, support), -1.0).weights(fit_intercept) - b) ** 2
    return (K - 1) / K * square, K - 1


def _sandwich(total: Sums, filled: list[RunningAverages], fit_intercept: bool) -> Array:
    K, k = len(filled), len(total.x)
    b = total.weights(fit_intercept)
    meat = np.zeros((total.q, k, k))
    for fold in filled:
        part = sums_of(fold, total.x)
        # s_f = sum over the fold of (x - mean) e, with e = y - mean - b'(x - mean), means of all rows
        about = symmetric(part.about(total.mean if fit_intercept else np.zeros_like(total.mean)))
        score = about[:k, k:] - about[:k, :k] @ b
        meat += score.T[:, :, None] * score.T[:, None, :]
    df = k + fit_intercept
    return total.bread(meat, fit_intercept) * (K / (K - 1) * (total.n - 1) / (total.n - df))


def _hc1(moments: FourthMoments, support: NDArray[np.int64], fit_intercept: bool) -> tuple[Array, float]:
    """Variances (k, q) of the weights with noise of any variance, and degrees of freedom."""
    total = sums_of(moments, support)
    b = total.weights(fit_intercept)
    k, q, p = len(support), total.q, int(moments.n_features_in_ or 0)
    averages, pairs = moments.averages, moments.averages.pairs
    assert pairs is not None
    inner, _ = averages.current()
    # with u = (x, y) - center, the columns are v = u + shift: about the mean, or about zero
    shift = moments.center - total.whole_mean if fit_intercept else moments.center
    place = np.zeros((p + q, p + q), dtype=np.int64)  # of a product among the features
    place[pairs.left, pairs.right] = place[pairs.right, pairs.left] = p + q + np.arange(len(pairs.left))
    meat = np.zeros((q, k, k))
    for t in range(q):
        columns = np.append(support, p + t)
        a = np.append(-b[:, t], 1.0)  # e = a'v
        # row i of T: e v_i as a linear form in (1, u, products of u), v_i v_j = (u_i + s_i) (u_j + s_j)
        s = shift[columns]
        single = np.zeros((k, k + 1))
        single[:, :] = a * s[:k, None]  # u_j s_i
        single[np.arange(k), np.arange(k)] += a @ s  # u_i s_j
        constant = s[:k] * (a @ s)
        where = np.concatenate([columns, np.unique(place[np.ix_(columns, columns)])])
        at = np.zeros(inner.p, dtype=np.int64)
        at[where] = np.arange(len(where))
        T = np.zeros((k, len(where) + 1))
        T[:, : k + 1] = single
        for i in range(k):
            np.add.at(T[i], at[place[columns[i], columns]], a)
        T[:, -1] = constant + T[:, :-1] @ inner.center[where]
        both = np.append(where, len(inner.sums) - 1)
        M = inner.sums[np.minimum.outer(both, both), np.maximum.outer(both, both)].astype(np.float64)
        meat[t] = T @ M @ T.T
    left = total.n - k - fit_intercept
    factor = total.n / left if left > 0 else np.nan  # as many weights as rows: errors cannot be estimated
    return total.bread(meat, fit_intercept) * factor, left
