"""Fixed-X knockoffs from averages alone: Barber and Candes (2015), in Gram form."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core import linalg
from ...core.rows import Array
from ...statistics.annealing import RELAXATION, schedule
from ...statistics.linear_model import LinearModel, finish
from ...statistics.ridge import block
from ...statistics.standardize import Standardized
from ..averages.path import as_method
from .choice import check_count, check_share, refuse_forgetting
from .ols import standardized_of
from .sums import independent

STEPS = 500  # of the annealed run
SWEEPS, CLOSE = 100, 1e-5  # maximum number of sweeps for s, and the relative change below which they end
AGAIN = 0.75  # the step is estimated again when this share of the features is left


def knockoffs(
    averages: Any,
    q: float = 0.1,
    *,
    statistic: Literal["ofsa", "lasso"] = "ofsa",
    draws: int = 1,
    fit_intercept: bool = True,
    random_state: Any = None,
) -> LinearModel:
    """Select the features that are stronger than their knockoffs, at a false discovery rate of q.

    A knockoff has the same correlations with the other features as its original, and no weight. No rows and
    no knockoffs of rows are needed: the averages of the knockoffs are drawn from their distribution given the
    averages of the rows. The cost is O(p^3) for each sweep of s, and two or three runs of OFSA on 2 p
    features for each draw. `fdr` with method="bh" is rarely worse. It is not random, and can also find fewer
    than 1 / q features.

    Parameters
    ----------
    averages : RunningAverages or FoldAverages
        Averages of one target, with n - 1 > p and without forgetting. For n - 1 between p and 2 p, rows with
        x = 0 and noise as targets are added.
    q : float in (0, 1), default=0.1
    statistic : {"ofsa", "lasso"}, default="ofsa"
        How an original is compared with its knockoff: by the time at which the first of the two is removed in
        one annealed run, or by the difference of their absolute lasso weights at the penalty of lowest AIC.
    draws : int >= 1, default=1
        Number of draws of the knockoffs. Several draws are combined by their e-values, each at q / 2 (Ren and
        Barber, 2024). The selection then depends less on chance, but it is empty if fewer than about 2 / q
        features would be selected.
    fit_intercept : bool, default=True
    random_state : int, Generator or None, default=None

    Returns
    -------
    LinearModel
        Least squares on the selection, with errors conditional on it. `info` has `W`, the statistics (of the
        last draw), `threshold`, and with several draws `evalue`.

    Notes
    -----
    With standardised R, r, b = R^-1 r, e^2 = 1 - r'b and m = n - 1 - p:

    1. s minimises sum 1 / s + tr (2 R - S)^-1 (Spector and Janson, 2022), by coordinate.
    2. C'C = 2 S - S R^-1 S, w = g / sqrt(g'g + chi^2_{m - p}) for g ~ N(0, I); the knockoffs' correlations
       with the target are r - s b + e C'w.
    3. On [[R, R - S], [R - S, R]] each pair is swapped with probability 1/2, so that ties favour neither.
    4. Those with W_j >= min {t : (1 + #{W <= -t}) / #{W >= t} <= q} are selected.
    """
    q, draws = check_share("q", q), check_count("draws", draws)
    if statistic not in ("ofsa", "lasso"):
        raise ValueError(f'statistic={statistic!r} is not one of "ofsa", "lasso".')
    refuse_forgetting(averages, "knockoffs")
    whole = standardized_of(averages, fit_intercept)
    if whole.q != 1:
        raise ValueError(f"knockoffs need one target, but there are {whole.q}; use one at a time.")
    at = independent(whole, np.flatnonzero(whole.usable))
    p = len(at)
    if whole.n - fit_intercept - p < 1:
        raise ValueError(
            f"knockoffs need more rows than features, but there are {whole.n:.6g} rows and {p} features; for "
            'fewer rows, use fdr(folds, method="screen").'
        )
    rng = np.random.default_rng(random_state)
    W, evalue, threshold = np.zeros(whole.p), np.zeros(whole.p), np.inf
    if p and whole.y_scale[0] > 0:
        R, r = np.ascontiguousarray(block(whole.R, at)), whole.r[at, 0]
        s = mvr(R)
        for _ in range(draws):
            both = with_knockoffs(R, r, s, whole.n - fit_intercept, rng)
            W[at] = statistics(*both, whole.n, statistic, rng)
            threshold = cut(W[at], q if draws == 1 else q / 2)
            drawn = W[at]
            evalue[at] += p * (drawn >= threshold) / (1 + (drawn <= -threshold).sum())
    if draws == 1:
        support = np.flatnonzero(threshold <= W)
    else:
        evalue /= draws
        support = at[reject_evalues(evalue[at], q)]
    more: dict[str, Any] = {} if draws == 1 else {"evalue": evalue}
    zero = np.zeros((whole.p, 1))
    return finish(
        whole, zero, "knockoff", refit=True, support=support, W=W, threshold=float(threshold), q=q, **more
    )


def mvr(R: Array) -> Array:
    """s > 0 with 2 R - S > 0 that minimises sum 1 / s + tr (2 R - S)^-1; O(p^3) a sweep."""
    p = len(R)
    lowest = float(np.linalg.eigvalsh(R)[0])
    s = np.full(p, 0.9 * min(max(lowest, 1e-10), 1.0))
    for _ in range(SWEEPS):
        A = _inverse(2 * R - np.diag(s))
        moved = 0.0
        for j in range(p):
            a = A[:, j].copy()
            c, h = a[j], np.sqrt(a @ a)
            d = (1 - h * s[j]) / (c + h)
            # (M - d e e')^-1 = A + a a' d / (1 - d c)
            A = linalg.dger(d / (1 - d * c), a, a, a=A, overwrite_a=1)
            s[j] += d
            moved = max(moved, abs(d) / s[j])
        if moved < CLOSE:
            break
    return s


def _inverse(M: Array) -> Array:
    L, failed = linalg.dpotrf(M.T, lower=1, clean=1)
    if failed:
        raise ValueError("The features are too close to linearly dependent for knockoffs.")
    half, _ = linalg.dtrtri(L, lower=1)
    return np.asfortranarray(half.T @ half)


def with_knockoffs(
    R: Array, r: Array, s: Array, rows: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Averages (2 p, 2 p) and (2 p,) of features and knockoffs, for this number of residual dimensions."""
    p = len(R)
    inverse = _inverse(R)
    b = inverse @ r
    e2, scale, m = max(1.0 - float(r @ b), 0.0), 1.0, rows - p
    if m < p:
        more = e2 / m * rng.chisquare(p - m)
        e2, scale, m = e2 + more, 1.0 + more, float(p)
    lam, Q = np.linalg.eigh(np.diag(2 * s) - s[:, None] * inverse * s)
    g = rng.standard_normal(p)
    w = g / np.sqrt(g @ g + (rng.chisquare(m - p) if m > p else 0.0))
    drawn = r - s * b + np.sqrt(e2) * (Q @ (np.sqrt(np.maximum(lam, 0.0)) * w))
    off = R - np.diag(s)
    return np.block([[R, off], [off, R]]), np.concatenate([r, drawn]) / np.sqrt(scale)


def statistics(G: Array, r: Array, n: float, statistic: str, rng: np.random.Generator) -> Array:
    """W of each pair: large and positive if the original is stronger; random sign if both are equal."""
    p = len(r) // 2
    swap = rng.random(p) < 0.5
    order = np.concatenate([np.where(swap, np.arange(p, 2 * p), np.arange(p))] * 2)
    order[p:] = np.where(swap, np.arange(p), np.arange(p, 2 * p))
    G, r = np.ascontiguousarray(G[np.ix_(order, order)]), r[order]
    Z = survival(G, r) if statistic == "ofsa" else lasso_sizes(G, r, n)
    sign = np.where(swap, -1.0, 1.0)
    if statistic == "ofsa":
        return sign * np.maximum(Z[:p], Z[p:]) * np.sign(Z[:p] - Z[p:])
    return sign * (Z[:p] - Z[p:])


def survival(G: Array, r: Array) -> Array:
    """The time at which each feature is removed in one annealed run; in ties, the smaller weight goes
    first."""
    m = len(r)
    left = schedule(m, 1, STEPS, 1.0, 0.1)
    at, b, Z = np.arange(m), np.zeros(m), np.zeros(m)
    A, target, estimated, eta = G, r, 0, 0.0
    for t, k in enumerate(left):
        if estimated == 0 or len(at) < AGAIN * estimated:
            eta = RELAXATION / _core.largest_eigenvalue(A, np.arange(len(at), dtype=np.int64), 40)
            estimated = len(at)
        b = b - eta * (A @ b - target)
        if k < len(at):
            order = np.argsort(-np.abs(b), kind="stable")
            gone = at[order[k:]]
            Z[gone] = t + 1 - np.arange(len(gone)) / (len(gone) + 1)
            stay = np.sort(order[:k])
            at, b, target = at[stay], b[stay], target[stay]
            A = np.ascontiguousarray(A.take(stay, axis=0).take(stay, axis=1))
    Z[at] = STEPS + 1
    return Z


def lasso_sizes(G: Array, r: Array, n: float) -> Array:
    """Sizes of the lasso's weights, at the penalty of lowest AIC along the path."""
    m, one = len(r), np.ones(1)
    on = np.ones(m)
    s = Standardized(G, r[:, None], on > 0, 0 * on, on, 0 * one, one, n, True, None, n)
    best, chosen = np.inf, np.zeros(m)
    for beta in as_method("olasso", {}).solutions(s, n_alphas=80, eps=0.02)[1]:
        b = beta.toarray()[:, 0]
        on_ = np.flatnonzero(b)
        left = 1 - 2 * b[on_] @ r[on_] + b[on_] @ G[np.ix_(on_, on_)] @ b[on_]
        value = n * np.log(max(left, 1e-12)) + 2 * len(on_)
        if value < best:
            best, chosen = value, np.abs(b)
    return chosen


def cut(W: Array, q: float) -> float:
    """The smallest threshold at which the estimated share of false discoveries is at most q."""
    for t in np.sort(np.unique(np.abs(W[W != 0]))):
        if (1 + (-t >= W).sum()) / max((t <= W).sum(), 1) <= q:
            return float(t)
    return float("inf")


def reject_evalues(e: Array, q: float) -> NDArray[np.int64]:
    """The hypotheses that e-BH rejects (Wang and Ramdas, 2022), ascending."""
    order = np.argsort(-e, kind="stable")
    enough = np.flatnonzero(e[order] * np.arange(1, len(e) + 1) >= len(e) / q)
    return np.sort(order[: enough[-1] + 1]) if len(enough) else np.empty(0, dtype=np.int64)
