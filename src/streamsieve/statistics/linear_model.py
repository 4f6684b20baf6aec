"""The fitted linear model that every extractor returns."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core import linalg
from ..core.rows import Array, as_rows
from .constraints import Constraints
from .intervals import aggregate, check_level, majority, t_interval, two_sided
from .newton import within
from .ridge import block, cholesky, likeliest_ridge
from .standardize import Standardized, group_turn, reduced, restore, selectable, standardize, whole_support

if TYPE_CHECKING:
    from .running import RunningAverages

# Rows per weight below which least squares on the selected features predicts worse than a ridge: its error
# is 1 / (1 - k / n) times the noise.
CROWDED = 2.0
TIE = 1e-9  # relative to the largest weight: closer weights are ties


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A sparse linear model in the original units of the data.

    Attributes
    ----------
    coef : ndarray of shape (p,) or (q, p)
        Weights; one row per target if there are several.
    intercept : float or ndarray of shape (q,)
    support : ndarray of int
        The features with a weight in any target, ascending.
    n : float
        Effective number of rows of the fit.
    r2 : float or ndarray of shape (q,)
        Explained share of the variance of the targets on the training rows (of the mean square, without an
        intercept).
    sigma2 : float or ndarray of shape (q,)
        Residual variance, rss / (n - df); nan if n <= df.
    df : int
        Degrees of freedom: features in the support, and the intercept.
    stderr, tvalue : ndarray of the shape of `coef`, or None
        Standard errors and t values of a model refitted by least squares, **conditional on the selection**:
        they treat the support as if it had been known beforehand, unless the model is `honest`. nan if n <=
        df and for weights at a bound. t is infinite if the residual is zero. None without a refit or if the
        refit used a ridge.
    pvalue : ndarray of the shape of `coef`, or None
        Two-sided p values of the hypothesis that the weight is 0, by the t distribution with `nu` degrees of
        freedom; 1 for features outside the support. None without standard errors. With several splits of the
        rows, aggregated p values, which are valid for all features simultaneously.
    honest : bool
        Whether errors, p values and intervals are valid after selection: they were computed from other rows
        than the selection, or (`inference.fdr`) they account for the selection. Otherwise they are
        conditional on the selection.
    se : str
        Kind of standard errors: "classical", "folds", "cluster" or "hc1", see `inference.ols`.
    nu : float or None
        Degrees of freedom of the t distribution used for p values and intervals.
    fcr : float
        Share of the tests that were rejected. `conf_int` multiplies 1 - level by it, so that on average at
        most a share 1 - level of the intervals shown misses (Benjamini and Yekutieli, 2005).
    splits : tuple of LinearModel
        The models of several splits of the rows; p values and intervals are aggregated from them.
    ridge : float
        Ridge added to the standardised S_xx because it was singular or there were few rows; 0 if none was
        needed. ``info["refit_ridge"]`` is the ridge of the refit on the selected features, if any.
    dropped : ndarray of int
        Columns that cannot be used: constant columns, copies of an earlier column, and columns excluded by
        constraints. They have no standard error (nan).
    alpha : float or ndarray of shape (q,) or None
        Penalty, in the units of [Sun] eq. (3.9); None for unpenalised methods.
    method : str
    feature_names : ndarray of str or None
    info : dict
        Further details: steps, iterations, ...
    """

    coef: Array
    intercept: Any
    support: NDArray[np.int64]
    n: float
    r2: Any
    sigma2: Any
    df: int
    method: str
    stderr: Array | None = None
    tvalue: Array | None = None
    ridge: float = 0.0
    alpha: Any = None
    feature_names: NDArray[np.object_] | None = None
    dropped: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    info: dict[str, Any] = field(default_factory=dict)
    honest: bool = False
    se: str = "classical"
    nu: float | None = None
    fcr: float = 1.0
    splits: tuple[LinearModel, ...] = ()

    @property
    def k(self) -> int:
        """Number of features in the model."""
        return len(self.support)

    @property
    def pvalue(self) -> Array | None:
        if self.splits:
            p = [m.k * np.nan_to_num(np.asarray(m.pvalue), nan=1.0) for m in self.splits]
            return aggregate(np.minimum(1.0, np.array(p)))
        if self.tvalue is None or self.nu is None:
            return None
        return two_sided(self.tvalue, self.nu)

    def conf_int(self, level: float = 0.95) -> Array:
        """Confidence intervals of the weights, shape (p, 2) or (q, p, 2); nan outside the support.

        They are conditional on the selection unless the model is `honest`. With several splits, each split
        has its own submodel and its own interval of level (1 + level) / 2; the result contains the points
        that lie in more than half of these intervals.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        level = check_level(level)
        if self.splits:
            both = np.array([m.conf_int(0.5 + level / 2) for m in self.splits])
            inside = majority(both)
        elif self.stderr is None or self.nu is None:
            raise ValueError(
                f"This model of {self.method!r} has no standard errors, so it has no intervals; refit it by "
                "least squares: inference.ols(averages, support=model.support)."
            )
        else:
            inside = t_interval(self.coef, self.stderr, self.nu, 1 - (1 - level) * self.fcr)
        outside = np.setdiff1d(np.arange(self.coef.shape[-1]), self.support)
        inside[..., outside, :] = np.nan
        return inside

    def predict(self, X: Any) -> Array:
        """Predictions for rows (array, sparse matrix or data frame) with the columns of the averages."""
        rows = as_rows(X)[0]
        coef = np.atleast_2d(self.coef)
        if rows.p != coef.shape[1]:
            raise ValueError(
                f"X has {rows.p} columns, but the model has {coef.shape[1]} weights; if its averages have "
                "interactions, expand X by streamsieve.statistics.interactions.Pairs first."
            )
        scores = rows.scores(
            np.ascontiguousarray(coef.T), np.atleast_1d(np.asarray(self.intercept, np.float64))
        )
        return scores[:, 0] if self.coef.ndim == 1 else scores

    def to_plain(self) -> dict[str, Any]:
        """All fields by name."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return plain | {"splits": [m.to_plain() for m in self.splits]}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> LinearModel:
        """The inverse of `to_plain`; ValueError if the fields are inconsistent."""
        splits = tuple(cls.from_plain(each) for each in plain.get("splits", ()))
        model = cls(**plain | {"splits": splits})
        coef, support = model.coef, model.support
        arrays = isinstance(coef, np.ndarray) and isinstance(support, np.ndarray)
        if not arrays or coef.dtype != np.float64 or coef.ndim not in (1, 2) or support.dtype != np.int64:
            raise ValueError("the model has no weights and support.")
        if support.ndim != 1 or not np.array_equal(support, np.unique(support)):
            raise ValueError("the support is not sorted.")
        if len(support) and not 0 <= support[0] <= support[-1] < coef.shape[-1]:
            raise ValueError(f"the support is outside the {coef.shape[-1]} features.")
        if np.shape(model.intercept) != coef.shape[:-1]:
            raise ValueError(f"the intercepts have shape {np.shape(model.intercept)}.")
        for name in ("stderr", "tvalue"):
            a = getattr(model, name)
            if a is not None and np.shape(a) != coef.shape:
                raise ValueError(f"{name} has shape {np.shape(a)}, not {coef.shape}.")
        if any(m.coef.shape != coef.shape or m.tvalue is None or m.nu is None for m in splits):
            raise ValueError(f"the models of the splits do not have shape {coef.shape} and t values.")
        return model

    def __str__(self) -> str:
        names = self.feature_names
        lines = [f"{self.method}: {self.k} of {self.coef.shape[-1]} features, R2 {np.mean(self.r2):.4f}"]
        if self.coef.ndim == 1:
            lines += [f"{'feature':<20} {'coef':>12} {'stderr':>12} {'t':>8}"]
            for j in self.support[np.argsort(-abs(self.coef[self.support]), kind="stable")]:
                name = str(j) if names is None else str(names[j])
                error = "" if self.stderr is None else f" {self.stderr[j]:12.5g}"
                t = "" if self.tvalue is None else f" {self.tvalue[j]:8.2f}"
                lines.append(f"{name:<20} {self.coef[j]:12.5g}{error}{t}")
        if "refit_ridge" in self.info:
            lines.append(
                f"{self.n:.6g} rows are few for {self.k} features: refitted with a ridge of "
                f"{self.info['refit_ridge']:.4g}, without standard errors"
            )
        if len(self.dropped):
            few = ", ".join(str(j) if names is None else str(names[j]) for j in self.dropped[:5])
            more = ", ..." if len(self.dropped) > 5 else ""
            lines.append(f"{len(self.dropped)} columns are constant or copies of others: {few}{more}")
        return "\n".join(lines)


def finish(
    s: Standardized,
    beta: Array,
    method: str,
    *,
    refit: bool | Literal["ols"] = False,
    support: NDArray[Any] | None = None,
    ridge: float = 0.0,
    alpha: Any = None,
    **info: Any,
) -> LinearModel:
    """Convert standardised weights (p, q) to a model in original units.

    With `refit`, the weights on the support are replaced by least squares and get standard errors. If there
    are few rows for the number of features, `ridge_refit` is used instead, unless `refit` is "ols". The
    support is that of `beta` unless it is given. Features to keep and complete groups are added to it.
    """
    if support is None:
        support = np.flatnonzero(beta.any(axis=1))
    support = np.sort(np.asarray(support, dtype=np.int64))
    if s.origin is not None:
        beta, support, s = restore(s, beta), whole_support(s, support), s.origin
    error = None
    if refit and refit != "ols" and crowded(s, support):
        beta = np.zeros((s.p, s.q))
        beta[support], info["refit_ridge"] = ridge_refit(s, support)
        ridge = ridge or info["refit_ridge"]
    elif refit:
        weights, inverse_diagonal, added = least_squares(s, support)
        ridge = max(ridge, added)
        beta = np.zeros((s.p, s.q))
        beta[support] = weights
        error = np.zeros((s.p, s.q))
        root = np.sqrt(inverse_diagonal)
        error[support] = root if root.ndim == 2 else root[:, None]
    if s.box is not None:
        support = support[beta[support].any(axis=1)]  # a weight with a bound of 0 may have reached it
        bound = (beta[support] == s.box[0][support]) | (beta[support] == s.box[1][support])
        info["at_bound"] = support[bound.any(axis=1)]
    # 1 - R^2 from the standardised averages: yy - 2 b'r + b'Rb with yy = 1
    b = beta[support]
    explained = 2 * (b * s.r[support]).sum(0) - (b * (block(s.R, support) @ b)).sum(0)
    rss = np.where(s.y_scale > 0, np.maximum(1.0 - explained, 0.0), 0.0)
    df = degrees(s, support) + int(s.fit_intercept)
    left = s.n - df
    noise = rss * s.n / left if left > 0 else np.full(s.q, np.nan)

    inverse = inverse_scale(s)
    coef = original_units(s, beta)
    intercept = s.y_mean - coef @ s.x_mean if s.fit_intercept else np.zeros(s.q)
    stderr = tvalue = None
    if error is not None:
        stderr = (error * np.sqrt(noise / s.n) * inverse[:, None] * s.y_scale).T
        with np.errstate(divide="ignore"):  # a perfect fit has no error, and infinite t
            tvalue = np.divide(coef, stderr, out=np.zeros_like(coef), where=coef != 0)
        stderr[:, ~s.usable] = tvalue[:, ~s.usable] = np.nan
    one = s.q == 1

    def shape(a: Any) -> Any:
        return a if a is None else (a[0] if one else a)

    return LinearModel(
        coef=shape(coef),
        intercept=float(intercept[0]) if one else intercept,
        support=support,
        n=s.n,
        r2=float(1 - rss[0]) if one else 1 - rss,
        sigma2=float((noise * s.y_scale**2)[0]) if one else noise * s.y_scale**2,
        df=df,
        method=method,
        stderr=shape(stderr),
        tvalue=shape(tvalue),
        ridge=ridge,
        alpha=alpha,
        feature_names=s.feature_names,
        dropped=np.flatnonzero(~s.usable),
        info=info,
        nu=None if error is None else float(left) if left > 0 else float("nan"),
    )


def inverse_scale(s: Standardized) -> Array:
    """1 / x_scale, and 0 for constant columns, which get no weight."""
    return np.divide(1.0, s.x_scale, out=np.zeros(s.p), where=s.x_scale > 0)


def original_units(s: Standardized, beta: Array) -> Array:
    """Standardised weights (p, q) in the units of the data, (q, p)."""
    coef: Array = (beta * inverse_scale(s)[:, None] * s.y_scale).T
    if s.bounds is not None and s.box is not None:  # exactly at a bound or within, in spite of rounding
        for bound, scaled in zip(s.bounds, s.box):
            coef = np.where(beta.T == scaled.T, np.where(np.isfinite(bound), bound, coef), coef)
        coef = np.clip(coef, *s.bounds)
    return coef


def degrees(s: Standardized, support: NDArray[np.int64]) -> int:
    """Number of free weights: features, or independent combinations of the features of a group."""
    turn = None if s.group is None else group_turn(s, support)
    return len(support) if turn is None else turn.shape[1]


def as_standardized(
    averages: RunningAverages | Standardized,
    fit_intercept: bool = True,
    scale: bool = True,
    constraints: dict[str, Any] | Constraints | None = None,
    names: Any = None,
    first_index: int = 0,
) -> Standardized:
    """Standardise running averages and apply constraints.

    Averages that are already standardised or have constraints are returned unchanged.
    """
    given = Constraints(**constraints) if isinstance(constraints, dict) else constraints or Constraints()
    if isinstance(averages, Standardized):
        s = averages
    else:
        given.check("an extractor", {}, standardize=scale)
        names = averages.feature_names_ if names is None else names
        p = averages.n_features_ or 0
        keep = given.resolve(p, names, first_index).kept if given.keep else None
        s = standardize(averages, fit_intercept=fit_intercept, scale=scale, keep=keep)
    if s.origin is not None or not given.given:
        return s
    known: Any = s.feature_names if names is None else names
    return reduced(s, given.resolve(s.p, known, first_index))


def check_k(s: Standardized, k: int) -> int:
    """The number of features to select in addition to kept ones: k, or fewer if fewer columns vary."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"k={k!r} is not a number of features; pass an int between 0 and {s.p}.")
    if not 0 <= k <= s.p:
        raise ValueError(f"k={k} is not between 0 and the {s.p} features; pass at most {s.p}.")
    return selectable(s, int(k))


def least_squares(s: Standardized, support: NDArray[np.int64]) -> tuple[Array, Array, float]:
    """Least squares on some features: weights (k, q), the diagonal of the inverse, and the ridge used.

    Respects bounds: the diagonal is then (k, q), with nan for weights at a bound.
    """
    if len(support) == 0:
        return np.zeros((0, s.q)), np.zeros(0), 0.0
    if s.box is not None:
        return bounded_least_squares(s, support)
    A, r, turn = normal_equations(s, support)
    L, ridge = cholesky(A)
    weights, _ = linalg.dpotrs(L, r, lower=1)
    inverse, _ = linalg.dtrtri(L, lower=1, overwrite_c=1)  # A^-1 = L^-T L^-1: only its diagonal is needed
    inverse = np.tril(inverse)
    if turn is not None:
        weights, inverse = turn @ weights, inverse @ turn.T
    return weights, np.einsum("ij,ij->j", inverse, inverse), ridge


def unexplained(s: Standardized, support: NDArray[np.int64]) -> float:
    """Unexplained share of the variance of the targets, by least squares on some features, summed over
    targets."""
    if len(support) == 0:
        return float(s.q)
    A, r = block(s.R, support), s.r[support]
    if s.box is None:
        u, _ = linalg.dtrtrs(cholesky(A)[0], r, lower=1)
        return s.q - float((u**2).sum())
    b, _, _ = least_squares(s, support)
    return s.q - float((b * (2 * r - A @ b)).sum())


def normal_equations(s: Standardized, support: NDArray[np.int64]) -> tuple[Array, Array, Array | None]:
    """S_xx and S_xy of some features, or of independent combinations of groups, and these combinations."""
    A, r = block(s.R, support), s.r[support]
    turn = None if s.group is None else group_turn(s, support)
    if turn is None:
        return A, r, None
    return np.ascontiguousarray(turn.T @ A @ turn), turn.T @ r, turn


def crowded(s: Standardized, support: NDArray[np.int64]) -> bool:
    """Whether there are too few rows for least squares on the selected features to predict."""
    weights = degrees(s, support)  # a row of weight w counts as w rows, as in the errors
    return weights > 0 and s.n - s.fit_intercept < CROWDED * weights


def ridge_refit(s: Standardized, support: NDArray[np.int64]) -> tuple[Array, float]:
    """Weights (k, q) of the selected features with the ridge of largest marginal likelihood, and that ridge.

    If there are bounds, the ridge is that of the problem without bounds.
    """
    A, r, turn = normal_equations(s, support)
    varying = s.y_scale > 0
    weights = np.zeros(r.shape)
    if not (varying.any() and len(support)):
        return np.zeros((len(support), s.q)), 0.0
    weights[:, varying], ridge = likeliest_ridge(A.copy(), r[:, varying], max(s.n - s.fit_intercept, 1.0))
    if s.box is not None:
        A = block(s.R, support) + ridge * np.eye(len(support))
        return within(A, s.r[support], s.box[0][support], s.box[1][support]), ridge
    return weights if turn is None else turn @ weights, ridge


def bounded_least_squares(s: Standardized, support: NDArray[np.int64]) -> tuple[Array, Array, float]:
    """`least_squares` under the bounds of s."""
    assert s.box is not None
    A, lower, upper = block(s.R, support), s.box[0][support], s.box[1][support]
    _, ridge = cholesky(A)
    A = A if ridge == 0 else A + np.diag(ridge * A.diagonal())
    weights = within(A, s.r[support], lower, upper)
    inverse = np.full(weights.shape, np.nan)
    for t in range(s.q):
        free = np.flatnonzero((weights[:, t] > lower[:, t]) & (weights[:, t] < upper[:, t]))
        if len(free):
            L, _ = cholesky(block(A, free))
            below, _ = linalg.dtrtri(L, lower=1, overwrite_c=1)
            inverse[free, t] = (np.tril(below) ** 2).sum(axis=0)
    return weights, inverse, ridge


def largest_rows(beta: Array, usable: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
    """The k usable features with the largest weights, largest first; ties by the lower index.

    With several targets, the norm over the targets counts. Weights that differ by less than `TIE` of the
    largest are ties: the weights of two identical features differ only by rounding, which must not decide.
    """
    size = np.abs(beta[:, 0]) if beta.shape[1] == 1 else np.sqrt((beta * beta).sum(1))
    order = np.argsort(-np.where(usable, size, -1.0), kind="stable")
    order = order[: int(usable.sum())]
    gaps = size[order[:-1]] - size[order[1:]]
    group = np.r_[0, np.cumsum(gaps > TIE * size.max(initial=0.0))][: len(order)]
    return order[np.lexsort((order, group))][:k].astype(np.int64)


def strongest(s: Standardized, beta: Array, k: int) -> NDArray[np.int64]:
    """The k features, or features of the k groups, with the largest weights, largest first.

    Weights are divided by the penalty factors; for a group, the norm of its weights counts.
    """
    size = np.sqrt((beta * beta).sum(axis=1))
    usable = s.usable if s.box is None else s.usable & (size > 0)
    if s.group is None and s.factor is None:
        return largest_rows(beta, usable, k)
    label = np.arange(s.p) if s.group is None else np.where(s.group < 0, s.p, s.group)
    factor = np.ones(s.p) if s.factor is None else s.factor
    strength = np.sqrt(np.bincount(label, size**2 * usable, minlength=s.p + 1)[: s.p])
    has = np.bincount(label, usable | (s.usable & (factor == 0)), minlength=s.p + 1)[: s.p] > 0
    by = np.ones(s.p)
    by[label[s.usable]] = factor[s.usable]
    largest = strength.max(initial=0.0) / by[has & (by > 0)].min(initial=1.0)
    strength = np.where(by > 0, strength / np.where(by > 0, by, 1.0), 2 * largest + 1.0)
    chosen = largest_rows(strength[:, None], has, k)
    rank = np.full(s.p + 1, s.p + 1)
    rank[chosen] = np.arange(len(chosen))
    columns = np.flatnonzero(s.usable & (rank[label] <= s.p))
    return columns[np.argsort(rank[label[columns]], kind="stable")]
