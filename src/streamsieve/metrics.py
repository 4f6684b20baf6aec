"""Measures of predictions and of selections: [Sun] 4.1, [Ma] 6.1, Nogueira et al. (2018)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Stability",
    "accuracy",
    "auc",
    "detection_rate",
    "nonzero_share",
    "r2",
    "regret",
    "rmse",
    "selection_stability",
    "stability",
]

Indices = NDArray[np.int64]


def detection_rate(selected: ArrayLike, true: ArrayLike) -> float:
    """Share of the true features that are selected, DR in [Sun] 4.1.

    Parameters
    ----------
    selected, true : array-like of int or of bool
        Feature indices, in any order, or boolean masks over all features.

    Returns
    -------
    float in [0, 1]
        |selected & true| / |true|. False selections are not penalised: compare at equal k.

    Examples
    --------
    >>> from streamsieve.metrics import detection_rate
    >>> detection_rate([3, 1, 8], true=[1, 2, 3, 4])
    0.5
    """
    masks = [np.asarray(a) for a in (selected, true) if np.asarray(a).dtype == bool]
    if len(masks) == 2 and masks[0].shape != masks[1].shape:
        raise ValueError(
            f"selected and true are masks of {masks[0].size} and {masks[1].size} features; "
            "pass masks over the same features, or indices."
        )
    found, truth = _indices(selected, "selected"), _indices(true, "true")
    if not len(truth):
        raise ValueError("true has no features; pass at least one.")
    return len(np.intersect1d(found, truth, assume_unique=True)) / len(truth)


def rmse(y: ArrayLike, pred: ArrayLike) -> float:
    """Root mean squared error.

    Parameters
    ----------
    y, pred : array-like of shape (n,), n >= 1
        Targets and predictions.

    Returns
    -------
    float >= 0

    Examples
    --------
    >>> from streamsieve.metrics import rmse
    >>> rmse([0, 0], [3, -3])
    3.0
    """
    y, pred = _numbers(y, pred, "pred")
    return float(np.sqrt(np.mean((y - pred) ** 2)))


def r2(y: ArrayLike, pred: ArrayLike) -> float:
    """Share of the variance of y explained by the predictions, R^2.

    Parameters
    ----------
    y, pred : array-like of shape (n,), n >= 1
        Targets and predictions.

    Returns
    -------
    float <= 1
        1 is perfect, 0 is as good as the mean of y, and less is worse. As in scikit-learn, if y is constant
        it is 1 for perfect predictions and 0 for all others.

    Examples
    --------
    >>> from streamsieve.metrics import r2
    >>> r2([1, 2, 3], [1, 2, 4])
    0.5
    """
    y, pred = _numbers(y, pred, "pred")
    rss = float(np.sum((y - pred) ** 2))
    if y.min() == y.max():  # the sum of squares may be a rounding error instead of 0
        return float(rss == 0)
    return 1 - rss / float(np.sum((y - y.mean()) ** 2))


def auc(y: ArrayLike, score: ArrayLike) -> float:
    """Area under the ROC curve: the probability that a positive row has a higher score than a negative row.

    Exact, with ties counted as one half; O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: two distinct values; the larger is the positive class.
    score : array-like of shape (n,)
        Scores, larger for the positive class. Only their order matters.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> from streamsieve.metrics import auc
    >>> auc([-1, -1, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    labels, scores = _pair(y, score, "score")
    scores = scores.astype(np.float64)
    if np.isnan(scores).any():
        raise ValueError("score has NaN, which cannot be ordered; drop these rows or fix the model.")
    classes = np.unique(labels)
    if len(classes) != 2:
        some = ", ".join(map(str, classes[:5].tolist()))
        raise ValueError(f"y has {len(classes)} classes ({some}); AUC needs rows of exactly two.")
    values, bins = np.unique(scores, return_inverse=True)
    positive = np.bincount(bins[labels == classes[1]], minlength=len(values))
    negative = np.bincount(bins, minlength=len(values)) - positive
    # twice the number of pairs won, in integers: ties count as half
    twice = positive @ (2 * np.cumsum(negative) - negative)
    return float(twice / (2 * positive.sum() * negative.sum()))


def accuracy(y: ArrayLike, pred: ArrayLike) -> float:
    """Share of the rows whose label is predicted correctly.

    Parameters
    ----------
    y, pred : array-like of shape (n,), n >= 1
        Labels and predicted labels.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> from streamsieve.metrics import accuracy
    >>> accuracy(["spam", "ham"], ["spam", "spam"])
    0.5
    """
    labels, predicted = _pair(y, pred, "pred")
    return float(np.mean(labels == predicted))


def regret(losses: ArrayLike, best: ArrayLike) -> float:
    """Average regret R_n, [Sun] eq. (3.16) and [Susan] eq. (1).

    The mean excess loss of learning row by row over the best k-sparse model in hindsight.

    Parameters
    ----------
    losses : array-like of shape (n,), n >= 1
        Loss of the learner on each row, before it has learned the row: f(beta_i; z_i).
    best : array-like of shape (n,)
        Loss on the same rows of the model with at most k features that has the least total loss on all n
        rows. This model changes with n: a curve of R_n needs one call for each n, each with its own `best`.

    Returns
    -------
    float
        mean(losses) - mean(best).

    Examples
    --------
    >>> from streamsieve.metrics import regret
    >>> regret([4.0, 2.0, 1.0, 1.0], best=[1.0, 1.0, 1.0, 1.0])
    1.0
    """
    losses, best = _numbers(losses, best, "best", first="losses")
    return float(np.mean(losses - best))


def nonzero_share(coef: ArrayLike) -> float:
    """Share of the weights that are not zero.

    Parameters
    ----------
    coef : array-like of shape (p,) or (q, p), not empty
        Weights of a model.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> from streamsieve.metrics import nonzero_share
    >>> nonzero_share([0.0, 1.5, 0.0, -2.0])
    0.5
    """
    weights = np.asarray(coef)
    if not weights.size:
        raise ValueError(f"coef of shape {weights.shape} has no weights; pass at least one.")
    return float(np.count_nonzero(weights) / weights.size)


@dataclass(frozen=True)
class Stability:
    """Stability of a selection over several runs; returned by `stability`.

    Attributes
    ----------
    kappa : float in [-1, 1]
        Mean of Cohen's kappa over all pairs of runs, [Ma] eq. (17).
    nogueira : float <= 1
        The estimator of Nogueira et al. (2018), Definition 4: 1 if all runs agree, 0 on average if they
        choose at random.
    variance : float >= 0
        Variance of `nogueira`, asymptotic in the number of runs; Theorem 7 of the paper.
    low, high : float
        Confidence interval of `nogueira` by the normal distribution; `high` may exceed 1.
    level : float in (0, 1)
        Level of the interval.
    share : float in [0, 1]
        Mean share of the features that a run selects.
    """

    kappa: float
    nogueira: float
    variance: float
    low: float
    high: float
    level: float
    share: float


def stability(supports: Iterable[ArrayLike], p: int, *, level: float = 0.95) -> Stability:
    """Stability of a feature selection over M runs on different orders or samples of the data.

    Both measures are corrected for chance agreement, so that selections of different sizes can be compared.
    Nogueira's measure costs O(M k + p); kappa needs in addition one sparse product of the selections.

    Parameters
    ----------
    supports : iterable of M >= 2 array-likes of int or of bool
        The features chosen in each run: indices in any order, or boolean masks of length p. A boolean array
        of shape (M, p) is accepted too.
    p : int >= 1
        Number of features to choose from.
    level : float in (0, 1), default=0.95
        Level of the confidence interval.

    Returns
    -------
    Stability

    Notes
    -----
    For two runs with k_1 and k_2 features, c of them shared, [Ma]'s kappa = (q_o - q_e) / (1 - q_e) is::

        kappa = 2 (p c - k_1 k_2) / (k_1 (p - k_2) + k_2 (p - k_1))

    With z_if = 1 where run i chose feature f, k_i = sum_f z_if, kbar the mean of k_i, q = kbar / p and
    p_f = mean_i z_if::

        Phi   = 1 - M / (M - 1) mean_f p_f (1 - p_f) / (q (1 - q))
        phi_i = [sum_f z_if p_f / p - q k_i / p + Phi / 2 (2 q k_i / p - k_i / p - q + 1)] / (q (1 - q))
        v     = 4 / M^2 sum_i (phi_i - mean phi)^2

    Both measures are 0 / 0 if every run selects nothing, or everything. Such runs agree completely; [Ma]
    defines kappa as 1 for them, and this function returns 1 for both measures.

    References
    ----------
    S. Nogueira, K. Sechidis and G. Brown (2018). On the stability of feature selection algorithms. Journal of
    Machine Learning Research 18(174), 1-54.

    Examples
    --------
    >>> from streamsieve.metrics import stability
    >>> s = stability([[0, 1], [0, 1], [0, 2]], p=10)
    >>> round(s.kappa, 3), round(s.nogueira, 3)
    (0.583, 0.583)
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level} is not a confidence level; pass a number between 0 and 1.")
    if p < 1:
        raise ValueError(f"p={p}; pass the number of features, at least 1.")
    runs = [_indices(s, f"supports[{i}]", p) for i, s in enumerate(supports)]
    M = len(runs)
    if M < 2:
        raise ValueError(f"supports has {M} runs; pass at least 2 to compare.")
    size = np.array([len(run) for run in runs])
    chosen = np.concatenate(runs)
    starts = np.r_[0, np.cumsum(size)]
    from statistics import NormalDist  # it takes 5 ms of the start of a verb

    from scipy.sparse import csr_array

    Z = csr_array((np.ones(len(chosen), dtype=np.int64), chosen, starts), shape=(M, p))

    phi, variance = _nogueira(Z, size, np.bincount(chosen, minlength=p) / M, p)
    half = NormalDist().inv_cdf((1 + level) / 2) * variance**0.5
    share = float(size.mean() / p)
    return Stability(_kappa(Z, size, p), phi, variance, phi - half, phi + half, level, share)


def selection_stability(
    estimator: Any,
    X: Any,
    y: Any,
    n_permutations: int = 50,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: int = 0,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> Stability:
    """Stability of an estimator's selection over random orders of the same rows, [Ma] section 6.1.

    Parameters
    ----------
    estimator : estimator with `fit` and `get_support`
        A clone is fitted on each order; if it has a `random_state`, each clone gets another one.
    X : array, sparse matrix or data frame of shape (n, p)
    y : array of shape (n,) or (n, q)
    n_permutations : int >= 2, default=50
        Number of orders, B in [Ma] (17).
    sample_weight : array of shape (n,) or None
        Weights of the rows, passed to `fit` in the same order.
    random_state : int >= 0, default=0
        Seed of the orders.
    level : float in (0, 1), default=0.95
        Level of the confidence interval.
    progress : function of (done, total), or None
        Called after every fit.

    Returns
    -------
    Stability
        Kappa, Nogueira's measure with its interval, and the share of features selected.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SIHTRegressor
    >>> from streamsieve.metrics import selection_stability
    >>> X = np.random.default_rng(0).normal(size=(500, 20))
    >>> s = selection_stability(SIHTRegressor(2), X, X[:, 3] - X[:, 8], n_permutations=5)
    >>> s.kappa, s.share
    (1.0, 0.1)
    """
    supports = permuted_supports(
        estimator,
        X,
        y,
        n_permutations,
        sample_weight=sample_weight,
        random_state=random_state,
        progress=progress,
    )
    return stability(supports, len(supports[0]), level=level)


def permuted_supports(
    estimator: Any,
    X: Any,
    y: Any,
    n_permutations: int = 50,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[NDArray[np.bool_]]:
    """The selections of an estimator over random orders of the same rows: a mask for each order.

    Parameters
    ----------
    estimator, X, y, n_permutations, sample_weight, random_state, progress
        As in `selection_stability`.

    Returns
    -------
    list of arrays of bool of shape (p,)
    """
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    if n_permutations < 2:
        raise ValueError(f"n_permutations={n_permutations}; stability compares orders: pass at least 2.")
    rng = np.random.default_rng(random_state)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    supports: list[NDArray[np.bool_]] = []
    for done in range(n_permutations):
        order = rng.permutation(n)
        model = clone(estimator)
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=int(rng.integers(2**31)))
        weight = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)[order]}
        model.fit(_safe_indexing(X, order), _safe_indexing(y, order), **weight)
        supports.append(model.get_support())
        if progress is not None:
            progress(done + 1, n_permutations)
    return supports


def _kappa(Z: Any, size: Indices, p: int) -> float:
    """Mean Cohen's kappa over pairs of runs, [Ma] (17)."""
    i, j = np.triu_indices(len(size), k=1)
    shared = (Z @ Z.T).toarray()[i, j]
    above = 2 * (p * shared - size[i] * size[j])
    below = size[i] * (p - size[j]) + size[j] * (p - size[i])
    return float(np.mean(np.divide(above, below, out=np.ones(len(i)), where=below > 0)))


def _nogueira(Z: Any, size: Indices, frequency: NDArray[np.float64], p: int) -> tuple[float, float]:
    """Phi-hat and its variance, Nogueira et al. (2018), Definition 4 and Theorem 7."""
    M = len(size)
    if size.sum() in (0, M * p):
        return 1.0, 0.0
    q = size.mean() / p
    chance = q * (1 - q)
    phi = 1 - M / (M - 1) * np.mean(frequency * (1 - frequency)) / chance
    share = size / p
    each = (Z @ frequency / p - q * share + phi / 2 * (2 * q * share - share - q + 1)) / chance
    return float(phi), float(4 / M**2 * np.sum((each - each.mean()) ** 2))


def _indices(support: ArrayLike, name: str, p: int | None = None) -> Indices:
    """Distinct feature indices in ascending order, from indices or a mask; checked to be below p if given."""
    a = np.asarray(support)
    if a.ndim != 1:
        raise ValueError(f"{name} has shape {a.shape}; pass a 1-D array of indices or a 1-D mask.")
    if a.dtype == bool:
        if p is not None and len(a) != p:
            raise ValueError(
                f"{name} is a mask of {len(a)} features, expected p={p}; pass one entry for each."
            )
        return np.flatnonzero(a)
    if not a.size:  # [] is a float array
        return np.zeros(0, dtype=np.int64)
    if not np.issubdtype(a.dtype, np.integer):
        raise TypeError(
            f"{name} has dtype {a.dtype}, expected integer indices or a boolean mask; "
            "for a coefficient vector pass np.flatnonzero(coef)."
        )
    indices = np.unique(a).astype(np.int64)
    if indices[0] < 0:
        raise ValueError(f"{name} has index {indices[0]}; features are counted from 0.")
    if p is not None and indices[-1] >= p:
        raise ValueError(f"{name} has index {indices[-1]}, but p={p}; pass indices below p.")
    return indices


def _pair(y: ArrayLike, other: ArrayLike, name: str, first: str = "y") -> tuple[NDArray[Any], NDArray[Any]]:
    """Two 1-D arrays of the same length, at least 1."""
    a, b = np.asarray(y), np.asarray(other)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"{first} has shape {a.shape} and {name} {b.shape}; pass two 1-D arrays of the same length."
        )
    if not len(a):
        raise ValueError(f"{first} and {name} are empty; pass at least one row.")
    return a, b


def _numbers(
    y: ArrayLike, other: ArrayLike, name: str, first: str = "y"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = _pair(y, other, name, first)
    return a.astype(np.float64), b.astype(np.float64)  # sums in float32 would be inaccurate
