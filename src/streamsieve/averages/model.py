"""The fitted linear model that every extractor returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from .standardize import Array, Standardized


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A sparse linear model in the original units of the data.

    Attributes
    ----------
    coef : ndarray of shape (p,) or (q, p)
        Weights; one row per target where there is more than one.
    intercept : float or ndarray of shape (q,)
    support : ndarray of int
        The features with a weight in any target, ascending.
    n : float
        Effective number of rows behind the fit.
    r2 : float or ndarray of shape (q,)
        Share of the targets' variance explained on the rows seen.
    sigma2 : float or ndarray of shape (q,)
        Residual variance, rss / (n - df); nan where n <= df.
    df : int
        Degrees of freedom: features in the support, and the intercept.
    stderr, tvalue : ndarray of the shape of `coef`, or None
        Of a model refitted by least squares: standard errors and t values, **conditional on the selection**:
        they treat the support as if it had been known beforehand. None without a refit.
    ridge : float
        Ridge that was added to the standardised S_xx because it was singular; 0 where none was needed.
    lam : float or ndarray of shape (q,) or None
        Penalty, in the units of [Sun] eq. (3.9); None for unpenalised methods.
    method : str
    feature_names : ndarray of str or None
    info : dict
        What else the method has to say (steps, iterations, ...).
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
    lam: Any = None
    feature_names: NDArray[np.object_] | None = None
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """Number of features in the model."""
        return len(self.support)

    def predict(self, X: Any) -> Array:
        """Predictions for the rows of an array or sparse matrix."""
        return np.asarray(X @ self.coef.T) + self.intercept

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
        return "\n".join(lines)


def finish(
    s: Standardized,
    beta: Array,
    method: str,
    *,
    refit: bool = False,
    support: NDArray[Any] | None = None,
    ridge: float = 0.0,
    lam: Any = None,
    **info: Any,
) -> LinearModel:
    """Turn standardised weights (p, q) into a model in original units.

    With `refit` the weights on the support are replaced by least squares, and get standard errors. The
    support is that of `beta` unless it is given.
    """
    if support is None:
        support = np.flatnonzero(beta.any(axis=1))
    support = np.sort(np.asarray(support, dtype=np.int64))
    error = None
    if refit:
        weights, inverse_diagonal, added = least_squares(s, support)
        ridge = max(ridge, added)
        beta = np.zeros((s.p, s.q))
        beta[support] = weights
        error = np.zeros((s.p, s.q))
        error[support] = np.sqrt(inverse_diagonal)[:, None]
    # 1 - R^2 from the standardised averages: yy - 2 b'r + b'Rb with yy = 1
    b = beta[support]
    explained = 2 * (b * s.r[support]).sum(0) - (b * (s.R[np.ix_(support, support)] @ b)).sum(0)
    rss = np.where(s.y_scale > 0, np.maximum(1.0 - explained, 0.0), 0.0)
    df = len(support) + int(s.fit_intercept)
    left = s.n - df
    noise = rss * s.n / left if left > 0 else np.full(s.q, np.nan)

    inverse = np.divide(1.0, s.x_scale, out=np.zeros(s.p), where=s.x_scale > 0)
    coef = (beta * inverse[:, None] * s.y_scale).T
    intercept = s.y_mean - coef @ s.x_mean if s.fit_intercept else np.zeros(s.q)
    stderr = tvalue = None
    if error is not None:
        stderr = (error * np.sqrt(noise / s.n) * inverse[:, None] * s.y_scale).T
        tvalue = np.divide(coef, stderr, out=np.zeros_like(coef), where=stderr > 0)
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
        lam=lam,
        feature_names=s.feature_names,
        info=info,
    )


# A pivot of a correlation matrix is 1 - R^2 of a feature on those before it; below this, rounding has eaten it.
SINGULAR = 1e-10
JITTER = 1e-8


def least_squares(s: Standardized, support: NDArray[np.int64]) -> tuple[Array, Array, float]:
    """Least squares on some features: weights (k, q), the diagonal of the inverse, and the ridge it took."""
    if len(support) == 0:
        return np.zeros((0, s.q)), np.zeros(0), 0.0
    A = s.R[np.ix_(support, support)]
    L, ridge = cholesky(A)
    weights, _ = dpotrs(L, s.r[support], lower=1)
    inverse, _ = dpotri(L, lower=1)
    return weights, inverse.diagonal().copy(), ridge


def cholesky(A: Array, ridge: float = 0.0) -> tuple[Array, float]:
    """Lower Cholesky factor of A + ridge I (upper triangle undefined), and the ridge.

    A itself is left alone. Where it turns out singular a ridge of `JITTER` times its largest diagonal is
    added, and reported.
    """
    largest = float(A.diagonal().max())
    L = np.array(A, order="F")
    if ridge:
        L[np.diag_indices_from(L)] += ridge
    L, failed = dpotrf(L, lower=1, clean=0, overwrite_a=1)
    if not failed and (L.diagonal() ** 2).min() > SINGULAR * largest:
        return L, ridge
    return cholesky(A, max(10 * ridge, JITTER * largest))
