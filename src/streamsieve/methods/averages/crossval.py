"""K-fold cross-validation from the averages of folds: no row is seen twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core.rows import Array
from ...statistics.fold_averages import FoldAverages
from ...statistics.linear_model import LinearModel, finish, least_squares, original_units
from ...statistics.running import RunningAverages
from ...statistics.standardize import Standardized, n_kept, n_units, restore, whole_support
from .path import as_method, largest_size, path, some_sizes

if TYPE_CHECKING:
    from .method import AveragesMethod


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Errors of each fold along a path; the models of all rows are those of `path`.

    Attributes
    ----------
    method : str
    k : ndarray of int of shape (L,)
        Number of features of each model on all rows.
    alpha : ndarray of shape (L,) or (L, q), or None
        Penalty of each model, None for unpenalised methods.
    mse : ndarray of shape (K, L)
        Mean squared error on each fold of the models fitted on the other folds, in units of the target's
        variance, averaged over targets.
    mean, stderr : ndarray of shape (L,)
        Over the folds, weighted by their rows.
    """

    method: str
    k: NDArray[np.int64]
    alpha: Array | None
    mse: Array
    mean: Array
    stderr: Array
    _model: Callable[[int], LinearModel]

    def best(self, *, one_stderr: bool = False) -> LinearModel:
        """The model on all rows with the smallest error, or the sparsest within one standard error of it.

        The standard error is that of the difference of both errors over the folds.
        """
        return self._model(self.best_index(one_stderr=one_stderr))

    def best_index(self, *, one_stderr: bool = False) -> int:
        """Its place in `k`."""
        at = int(np.argmin(self.mean))
        if one_stderr:
            worse = self.mse - self.mse[:, [at]]  # of the same rows, so that what is hard for all cancels
            error = worse.std(axis=0, ddof=1) / len(worse) ** 0.5
            close = np.flatnonzero(self.mean - self.mean[at] <= error)
            at = int(close[np.argmin(self.k[close])])
        return at

    def __str__(self) -> str:
        best = self.best_index()
        lines = [f"{self.method}, {len(self.mse)} folds", f"{'k':>6} {'error':>10} {'stderr':>10}"]
        shown = np.unique(np.r_[np.linspace(0, len(self.k) - 1, 20).round().astype(int), best])
        lines += [
            f"{self.k[i]:6d} {self.mean[i]:10.5f} {self.stderr[i]:10.5f}{'  <- best' if i == best else ''}"
            for i in shown
        ]
        return "\n".join(lines)


def cross_validate(
    folds: FoldAverages,
    method: str | AveragesMethod = "olsth",
    *,
    ks: Iterable[int] | None = None,
    refit: bool = True,
    fit_intercept: bool = True,
    standardize: bool = True,
    **options: Any,
) -> CrossValidation:
    """Exact K-fold cross-validation along a path, from the folds' averages alone.

    Parameters
    ----------
    folds : FoldAverages
    method : str, default="olsth"
        The extractor that chooses the features, as in `path`.
    ks : iterable of int or None, default=None
        Sizes that "olsth" and "ofsa" try; None: 0 and up to 50 sizes in geometric progression.
    refit : bool, default=True
        Whether penalised models are refitted by least squares.
    fit_intercept, standardize : bool, default=True
    **options
        As in `path`. Penalised methods use one grid of penalties, that of all rows, in every fold.
    """
    if any(fold.n_samples_ == 0 for fold in folds.folds_):
        raise ValueError(
            f"{folds.n_samples_} rows do not fill {len(folds.folds_)} folds; add more rows first."
        )
    chosen = as_method(method, options)
    name = type(chosen).__name__.lower()
    total = folds.total()

    def as_seen(averages: RunningAverages) -> Standardized:
        return chosen.standardized(averages, fit_intercept, standardize)

    s = as_seen(total)
    model: Callable[[int], LinearModel]
    alpha = None
    if chosen.penalized:
        if ks is not None:
            raise ValueError(f"method={name!r} passes through sizes of its own; leave ks out.")
        grid, betas = chosen.solutions(s)

        def fitted(x: Standardized) -> list[Array]:
            walk = chosen.solutions(x, alphas=grid)[1]
            return [refitted(x, b.toarray()) if refit else restore(x, b.toarray()) for b in walk]

        def model(i: int) -> LinearModel:
            shown = float(grid[i] * s.y_scale[0]) if s.q == 1 else grid[i] * s.y_scale
            return finish(s, betas[i].toarray(), name, refit=refit, alpha=shown)

        sizes = np.array([n_units(s, np.unique(b.indices)) for b in betas], dtype=np.int64) + n_kept(s)
        alpha = grid * s.y_scale[0] if s.q == 1 else np.outer(grid, s.y_scale)
    else:
        most = min(largest_size(as_seen(folds.without(f, total))) for f in range(len(folds.folds_)))
        sizes = (
            some_sizes(s, most, 50) + n_kept(s) if ks is None else np.unique(np.fromiter(ks, dtype=np.int64))
        )
        whole = path(s, chosen, ks=sizes)
        sizes = whole.k  # within bounds there may be fewer

        def fitted(x: Standardized) -> list[Array]:
            steps = path(x, chosen, ks=sizes)
            return [steps.beta(int(steps.k[max(np.searchsorted(steps.k, k, "right") - 1, 0)])) for k in sizes]

        def model(i: int) -> LinearModel:
            return whole.model(int(sizes[i]))

    mse = np.array(
        [
            errors(fold, as_seen(folds.without(f, total)), fitted, s.y_scale)
            for f, fold in enumerate(folds.folds_)
        ]
    )
    share = np.array([fold.sum_weights_ for fold in folds.folds_])
    share /= share.sum()
    mean = share @ mse
    stderr = np.sqrt(share @ (mse - mean) ** 2 / max(len(mse) - 1, 1))
    return CrossValidation(name, sizes, alpha, mse, mean, stderr, model)


def refitted(s: Standardized, beta: Array) -> Array:
    """Least squares on the support of beta."""
    support = whole_support(s, np.flatnonzero(beta.any(axis=1)))
    out = np.zeros_like(beta)
    out[support] = least_squares(s if s.origin is None else s.origin, support)[0]
    return out


def errors(
    fold: RunningAverages, train: Standardized, fitted: Callable[[Standardized], list[Array]], y_scale: Array
) -> Array:
    """Mean squared errors on a fold, from its averages, of models fitted on the others; one per model.

    E (y - a - b'x)^2 = S_yy - 2 b'S_xy + b'S_xx b + (mean(y) - a - b'mean(x))^2, all moments of the fold.
    """
    S_xx, S_xy, S_yy = fold.S_xx_, fold.S_xy_, fold.S_yy_.diagonal()
    mean_x, mean_y = fold.mean_x_, fold.mean_y_
    varying = y_scale > 0
    out = []
    for beta in fitted(train):
        coef = original_units(train, beta)
        intercept = train.y_mean - coef @ train.x_mean if train.fit_intercept else 0.0
        on = np.flatnonzero(coef.any(axis=0))
        b = coef[:, on].T
        quadratic = (b * (S_xx[np.ix_(on, on)] @ b)).sum(axis=0)
        bias = mean_y - intercept - mean_x[on] @ b
        error = S_yy - 2 * (b * S_xy[on]).sum(axis=0) + quadratic + bias**2
        out.append(float((error[varying] / y_scale[varying] ** 2).mean()) if varying.any() else 0.0)
    return np.array(out)
