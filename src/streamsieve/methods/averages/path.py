"""Models of every size from one set of running averages, and how to choose among them ([Sun] Fig. 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...core import linalg
from ...core.rows import Array
from ...statistics.constraints import PARAMS as CONSTRAINTS
from ...statistics.criteria import ROUNDING, aic, bic, ebic, gaussian_deviance
from ...statistics.linear_model import (
    LinearModel,
    crowded,
    degrees,
    finish,
    least_squares,
    original_units,
    ridge_refit,
)
from ...statistics.ridge import SINGULAR, block, cholesky
from ...statistics.standardize import Standardized, kept_features, n_kept, n_units, restore, whole_support
from .. import METHODS

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages
    from .method import AveragesMethod

Ints = NDArray[np.int64]
Criterion = Literal["aic", "bic", "ebic"]
MANY = 60  # approximate number of sizes of a path with bounds or groups


def path(
    averages: RunningAverages | Standardized,
    method: str | AveragesMethod = "olsth",
    *,
    ks: Iterable[int] | None = None,
    ebic_gamma: float = 1.0,
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
    n_alphas: int | None = None,
    eps: float | None = None,
    **options: Any,
) -> Path:
    """Models of many sizes, with AIC, BIC and EBIC.

    Parameters
    ----------
    averages : RunningAverages
    method : str, default="olsth"
        The extractor that chooses the features: "olsth", "ofsa", "olasso", ... "olsth" gives every k for
        about twice the cost of one; "ofsa" runs once for each k; penalised methods follow their path of
        penalties.
    ks : iterable of int or None, default=None
        Sizes to compute. None: all sizes for "olsth"; 0 and about twenty sizes in geometric progression for
        "ofsa". Penalised methods accept no sizes: their path determines them.
    ebic_gamma : float in [0, 1], default=1.0
        Weight of the number of models of a size in EBIC; 0 is BIC.
    refit : bool, default=True
        If True, refit every model by least squares (with fewer than two rows per feature with a ridge, see
        `extract.olsth`); if False, penalised methods keep their penalised weights.
    fit_intercept, standardize : bool, default=True
    n_alphas : int >= 1, default=100
    eps : float in (0, 1), default=1e-3
        Number of penalties on the path, and ratio of the last to the first; penalised methods only.
    **options
        Parameters of the extractor, such as `ridge` of "olsth" or `gamma` of "omcp", and constraints: `keep`,
        `penalty_factor`, `positive`, `bounds`, `groups`, `group_categories`, as in the estimators.

    Returns
    -------
    Path

    Notes
    -----
    OLSth for every k at once: order the features by ``|beta|`` and factor the permuted ``S_xx = L L'`` once.
    The leading k x k block of L is the factor of the first k features, so with ``L u = S_xy`` the residual of
    every k is ``1 - u_1^2 - ... - u_k^2`` (in units of the target's variance), and the weights of one k are a
    back-substitution. Sizes end where least squares does: at n - 2 features.
    """
    if not 0 <= ebic_gamma <= 1:
        raise ValueError(f"ebic_gamma={ebic_gamma!r} must be between 0 and 1.")
    chosen = as_method(method, options)
    s = chosen.standardized(averages, fit_intercept, standardize)
    name = type(chosen).__name__.lower()
    sizes = None if ks is None else check_sizes(s, ks)
    if not chosen.penalized:
        if not refit:
            raise ValueError(f"The path of {name!r} is of least squares fits; refit=False has no meaning.")
        if n_alphas is not None or eps is not None:
            raise ValueError(f"The path of {name!r} is over sizes; n_alphas and eps are for penalties.")
        return chosen.path(s, sizes, ebic_gamma)
    if ks is not None:
        raise ValueError(f"method={name!r} passes through sizes of its own; leave ks out.")
    alphas, betas = chosen.solutions(
        s,
        n_alphas=100 if n_alphas is None else n_alphas,
        eps=1e-3 if eps is None else eps,
        max_features=largest_size(s),  # larger models cannot be refitted
    )
    supports = [np.unique(b.indices).astype(np.int64) for b in betas]
    weights = None if refit else [b.toarray() for b in betas]
    alpha = alphas * s.y_scale[0] if s.q == 1 else np.outer(alphas, s.y_scale)
    return path_over_supports(s, name, supports, ebic_gamma, alpha, weights)


def as_method(method: str | AveragesMethod, options: dict[str, Any]) -> AveragesMethod:
    """The method on averages of a name, with options of its extractor; a method itself is returned."""
    if not isinstance(method, str):
        if options:
            raise ValueError(f"{type(method).__name__} has its parameters; leave {', '.join(options)} out.")
        return method
    kinds = {entry.name.lower(): entry.load() for entry in METHODS.values() if entry.family == "averages"}
    selecting = {name: kind for name, kind in kinds.items() if "k" in kind.params}
    if method not in selecting:
        raise ValueError(f"method={method!r} is not one of {', '.join(map(repr, selecting))}.")
    kind = selecting[method]
    constraints = tuple(name for name in CONSTRAINTS if name not in kind.refused)
    unknown = [name for name in options if name not in (*kind.options, *CONSTRAINTS)]
    if unknown:
        known = ", ".join((*kind.options, *constraints))
        raise ValueError(f"method={method!r} has no option {unknown[0]!r}; it has: {known}.")
    chosen: AveragesMethod = kind(**options)
    return chosen


class Path:
    """Models by size, returned by `path`; keeps the standardised averages (p^2) to compute models from.

    Attributes
    ----------
    method : str
    k : ndarray of int of shape (K,)
        Numbers of features, or of groups, ascending.
    rss : ndarray of shape (K,), or (K, q) with several targets
        Residual sum of squares over all (effective) rows, in squared units of the target:
        ``n * var(y) * (1 - R^2)``.
    aic, bic, ebic : ndarray of shape (K,)
        ``n log(rss / n)``, summed over the targets, plus ``2 k q``, ``k q log n`` and, for EBIC (Chen and
        Chen, 2008), ``k q log n + 2 gamma log C(p, k)``. n is the effective number of rows. The intercept
        and the noise, present in every model, are not counted. With groups, the k of the penalty is the
        number of weights that are free, and C(p, k) counts groups.
    alpha : ndarray of shape (K,) or (K, q), or None
        Penalty that led to each model; None for unpenalised methods.
    n : float
    ridge : float
        Of the fit that ranked the features, "olsth" only.
    singular_at : int or None
        First size at which the chosen features are linearly dependent, "olsth" only. From there on 1e-8 is
        added to the diagonal, and the weights are not identified.
    """

    def __init__(
        self,
        s: Standardized,
        method: str,
        k: Ints,
        left: Array,
        supports: Sequence[Ints],
        gamma: float,
        alpha: Array | None = None,
        ridge: float = 0.0,
        singular_at: int | None = None,
        factors: Factors | None = None,
        weights: Sequence[Array] | None = None,
    ) -> None:
        self._s, self._supports, self._factors, self._weights = s, supports, factors, weights
        if s.group is not None:
            size_of = np.array([degrees(s, support) for support in supports], dtype=float)
        else:
            size_of = k.astype(float)
        self.method, self.k, self.alpha, self.n = method, k, alpha, s.n
        self.ridge, self.singular_at, self.gamma = ridge, singular_at, gamma
        rss = s.n * s.y_scale**2 * np.maximum(left, 0.0)
        self.rss: Array = rss[:, 0] if s.q == 1 else rss
        varying = s.y_scale > 0  # any model fits a constant target
        deviance = gaussian_deviance(left[:, varying], s.n) + s.n * np.log(s.y_scale[varying] ** 2).sum()
        weights_of, p = int(varying.sum()) * size_of, n_units(s, np.flatnonzero(s.usable))
        self.aic: Array = aic(deviance, weights_of)
        self.bic: Array = bic(deviance, weights_of, s.n)
        self.ebic: Array = ebic(deviance, weights_of, s.n, k, p, gamma)

    def __len__(self) -> int:
        return len(self.k)

    def support(self, k: int) -> Ints:
        """The features of the model of size k, ascending."""
        return np.sort(self._supports[self._at(k)])

    def beta(self, k: int) -> Array:
        """Weights of size k in standardised units, of shape (p, q), always refitted by least squares."""
        at = self._at(k)
        support = self._supports[at]
        beta = np.zeros((self._s.p, self._s.q))
        if self._weights is not None:
            beta[support] = self._weights[at]
        elif self._factors is not None:
            beta[support] = self._factors.weights(k)
        else:
            beta[support] = least_squares(self._s, support)[0]
        return beta

    def coef(self, k: int) -> Array:
        """Weights of the model of size k in original units, of shape (p,) or (q, p)."""
        support = self._supports[self._at(k)]
        if self._weights is None and crowded(self._s, support):
            beta = np.zeros((self._s.p, self._s.q))
            beta[support] = ridge_refit(self._s, support)[0]
        else:
            beta = self.beta(k)
        coef = original_units(self._s, beta)
        return coef[0] if self._s.q == 1 else coef

    def model(self, k: int) -> LinearModel:
        """The model of size k, with standard errors conditional on the selection if it is refitted."""
        at = self._at(k)
        refit = self._weights is None
        return finish(
            self._s,
            np.zeros((self._s.p, self._s.q)) if refit else self.beta(k),
            self.method,
            refit=refit,
            support=self._supports[at],
            ridge=self.ridge,
            alpha=None if self.alpha is None else self.alpha[at],
        )

    def best_k(self, criterion: Criterion = "bic") -> int:
        """The size with the lowest criterion among those of at most n / 2 features; the smallest of ties.

        Larger sizes are not comparable: as k approaches n the residuals vanish for any features, and ``n
        log(rss / n)`` goes to minus infinity faster than any penalty in k grows.
        """
        value = self._criterion(criterion)
        allowed = self.k <= max(self.n / 2, self.k[0])
        return int(self.k[allowed][np.argmin(value[allowed])])

    def best(self, criterion: Criterion = "bic") -> LinearModel:
        """The model of size `best_k`."""
        return self.model(self.best_k(criterion))

    def __str__(self) -> str:
        return self.table()

    def table(self, criterion: Criterion = "bic", rows: int = 25) -> str:
        """A table of at most about `rows` sizes, closer together near the best."""
        best = self.best_k(criterion)
        share = self.unexplained()
        marks: dict[int, list[str]] = {}
        for name in get_args(Criterion):
            marks.setdefault(self.best_k(name), []).append(name.upper())
        show = _thin(self.k, [best, *marks], rows)
        lines = [
            f"{self.method}: {len(self)} models of {self.k[0]} to {self.k[-1]} of {self._s.p} features, "
            f"n = {self.n:.6g}",
            f"{'k':>6} {'R2':>8} {'rss':>12} {'AIC':>12} {'BIC':>12} {'EBIC':>12}",
        ]
        for i in show:
            k = int(self.k[i])
            rss = float(np.sum(self.rss[i]))
            note = "  <- best " + ", ".join(marks[k]) if k in marks else ""
            lines.append(
                f"{k:6d} {1 - share[i]:8.4f} {rss:12.6g} {self.aic[i]:12.2f} {self.bic[i]:12.2f} "
                f"{self.ebic[i]:12.2f}{note}"
            )
        if len(show) < len(self):
            lines.append(f"({len(self) - len(show)} sizes not shown)")
        if self.ridge:
            lines.append(f"Features ranked by a fit with ridge {self.ridge:.4g}.")
        if self.singular_at is not None:
            lines.append(f"From k = {self.singular_at} the features are linearly dependent (jitter added).")
        return "\n".join(lines)

    def unexplained(self) -> Array:
        """1 - R^2 of every size, averaged over the targets that vary."""
        s = self._s
        total = s.n * s.y_scale**2
        rss = np.reshape(self.rss, (len(self), -1))
        varying = total > 0
        if not varying.any():
            return np.zeros(len(self))
        share: Array = (rss[:, varying] / total[varying]).mean(axis=1)
        return share

    def _criterion(self, name: str) -> Array:
        if name not in get_args(Criterion):
            raise ValueError(f'criterion={name!r} is not one of "aic", "bic", "ebic".')
        value: Array = getattr(self, name)
        return value

    def _at(self, k: int) -> int:
        at = int(np.searchsorted(self.k, k))
        if at == len(self.k) or self.k[at] != k:
            near = sorted({int(j) for j in self.k[max(at - 1, 0) : at + 1]})
            raise ValueError(
                f"k={k} is not on this path; it has {self.k[0]} to {self.k[-1]}, nearest: {near}."
            )
        return at


def path_over_order(s: Standardized, name: str, order: Ints, sizes: Ints, gamma: float, ridge: float) -> Path:
    """Least squares on the first k features of an order, for every size from one factorisation."""
    if s.box is not None or s.group is not None:
        unit = np.arange(len(order)) if s.group is None else rank_of_first(s.group[order])
        sizes = np.unique(np.minimum(sizes, unit.max(initial=-1) + 1))
        some = sizes if len(sizes) <= MANY else np.unique(np.geomspace(1, len(sizes), MANY).astype(int)) - 1
        sizes = sizes if len(sizes) <= MANY else sizes[some]  # each is a fit of its own
        found = path_over_supports(s, name, [order[unit < k] for k in sizes], gamma)
        found.ridge = ridge
        return found
    if s.origin is not None:
        kept = kept_features(s)
        s, order, sizes = s.origin, np.concatenate([kept, order]), sizes + len(kept)
        sizes = sizes[sizes <= len(order)]
    if len(order) == 0:
        return Path(s, name, sizes, np.ones((1, s.q)), [order], gamma, ridge=ridge)
    factors = Factors(s, order)
    left = factors.unexplained(sizes, s.q)
    supports = [order[:k] for k in sizes]
    return Path(s, name, sizes, left, supports, gamma, None, ridge, factors.singular_at, factors)


def rank_of_first(label: Ints) -> Ints:
    """Number the labels in order of appearance: 0 for the first, 1 for the next, ..."""
    _, first, place = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place]


class Factors:
    """Cholesky factors of the ordered features: plain until they are dependent, with jitter beyond."""

    def __init__(self, s: Standardized, order: Ints) -> None:
        A = block(s.R, order)
        r = s.r[order]
        self.singular_at: int | None = None
        L, failed = linalg.dpotrf(A.T, lower=1, clean=0)
        done = failed - 1 if failed else len(A)
        small = np.flatnonzero(L.diagonal()[:done] ** 2 <= SINGULAR * A.diagonal()[:done])
        if failed or len(small):
            stop = int(small[0]) if len(small) else done
            self.singular_at = stop + 1
            self._plain = self._solve(cholesky(A[:stop, :stop])[0], r[:stop]) if stop else None
            self._beyond = self._solve(cholesky(A)[0], r)
        else:
            self._plain = self._beyond = self._solve(L, r)

    @staticmethod
    def _solve(L: Array, r: Array) -> tuple[Array, Array]:
        u, _ = linalg.dtrtrs(L, r, lower=1)
        return L, u

    def _of(self, k: int) -> tuple[Array, Array]:
        if self._plain is not None and (self.singular_at is None or k < self.singular_at):
            return self._plain
        return self._beyond

    def unexplained(self, sizes: Ints, q: int) -> Array:
        """1 - R^2 for every size, (K, q)."""
        left = np.ones((len(sizes), q))
        for factor in {id(f): f for f in map(self._of, (0, int(sizes[-1])))}.values():
            cumulative = np.vstack([np.zeros(q), np.cumsum(factor[1] ** 2, axis=0)])
            mine = np.array([self._of(int(k)) is factor for k in sizes])
            left[mine] = 1.0 - cumulative[sizes[mine]]
        return left

    def weights(self, k: int) -> Array:
        if k == 0:
            return np.zeros((0, self._beyond[1].shape[1]))
        L, u = self._of(k)
        beta, _ = linalg.dtrtrs(L[:k, :k], u[:k], lower=1, trans=1)
        return beta


def path_over_supports(
    s: Standardized,
    method: str,
    supports: Sequence[Ints],
    gamma: float,
    alphas: Array | None = None,
    weights: Sequence[Array] | None = None,
) -> Path:
    """A path over given supports, refitted or with weights (p, q); the best fit if several have one size."""
    best: dict[int, tuple[float, int, Array]] = {}
    seen: set[bytes] = set()
    supports = [whole_support(s, support) for support in supports]
    if weights is not None:
        weights = [restore(s, b)[at] for b, at in zip(weights, supports)]
    s = s if s.origin is None else s.origin
    most = max(int(np.floor(s.n)) - 2, 0)
    for i, support in enumerate(supports):
        if degrees(s, support) > most or (weights is None and support.tobytes() in seen):
            continue
        seen.add(support.tobytes())
        b = least_squares(s, support)[0] if weights is None else weights[i]
        left = 1.0 - 2 * (b * s.r[support]).sum(axis=0) + (b * (block(s.R, support) @ b)).sum(axis=0)
        score = float(np.maximum(left, ROUNDING).sum())  # take the first of several perfect fits
        used = support[b.any(axis=1)] if s.box is not None else support
        size = n_units(s, used)
        if size not in best or score < best[size][0]:
            best[size] = score, i, left
    if not best:
        raise ValueError(f"None of the {len(supports)} models of {method!r} has at most {most} features.")
    sizes = np.array(sorted(best), dtype=np.int64)
    kept = [best[int(k)] for k in sizes]
    alpha = None if alphas is None else np.asarray(alphas)[[i for _, i, _ in kept]]
    left = np.array([left for _, _, left in kept])
    chosen = None if weights is None else [weights[i] for _, i, _ in kept]
    return Path(s, method, sizes, left, [supports[i] for _, i, _ in kept], gamma, alpha, weights=chosen)


def largest_size(s: Standardized) -> int:
    """The largest size, without the features to keep, for which least squares leaves a residual: n - 2."""
    most = int(np.floor(s.n)) - 2 - n_kept(s)
    return max(min(n_units(s, np.flatnonzero(s.usable)), most), 0)


def some_sizes(s: Standardized, most: int | None = None, count: int = 20) -> Ints:
    """0 and about `count` sizes in geometric progression, up to `most` (those that least squares can fit)."""
    most = largest_size(s) if most is None else most
    sizes = np.unique(np.r_[0, np.round(np.geomspace(1, max(most, 1), count)).astype(np.int64)])
    return sizes[sizes <= most]


def check_sizes(s: Standardized, ks: Iterable[int]) -> Ints:
    """Sizes, ascending, without the features to keep."""
    sizes = np.unique(np.asarray(list(ks)))
    if len(sizes) == 0 or sizes.dtype.kind not in "iu":
        raise ValueError(f"ks={ks!r} must hold at least one int.")
    least = n_kept(s)
    most = largest_size(s) + least
    if sizes[0] < least or sizes[-1] > most:
        raise ValueError(
            f"ks from {sizes[0]} to {sizes[-1]} leave the range {least} to {most} "
            f"({n_units(s, np.flatnonzero(s.usable))} features that vary"
            f"{f', {least} to keep' if least else ''}, n = {s.n:.6g} rows)."
        )
    return sizes.astype(np.int64) - least


def _thin(k: Ints, marked: list[int], rows: int) -> list[int]:
    """Indices of about `rows` sizes: all if there are few, otherwise ends, marked ones and a sample."""
    if len(k) <= rows:
        return list(range(len(k)))
    places = {0, len(k) - 1, *(int(np.searchsorted(k, m)) for m in marked)}
    best = int(np.searchsorted(k, marked[0]))
    reach = 1
    while len(places) < rows:  # 1, 2, 4, ... to both sides of the best
        before = len(places)
        places |= {i for i in (best - reach, best + reach) if 0 <= i < len(k)}
        reach = reach * 2 if reach > 2 else reach + 1
        if reach > 2 * len(k) and len(places) == before:
            break
    return sorted(places)
