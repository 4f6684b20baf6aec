"""K-fold cross-validation from one pass: averages per fold, and never a row seen twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .extract.penalized import penalty_path
from .forgetting import Alpha, Forgetting
from .model import LinearModel, finish, least_squares, original_units
from .path import PENALTIES, largest_size, path
from .running import RunningAverages
from .standardize import Array, Standardized
from .standardize import standardize as standardized


class FoldAverages:
    """Running averages of each of K folds of a stream; row i belongs to fold i mod K.

    The averages of the training rows of a fold are the total minus the fold, and a model's error on the fold
    follows from the fold's own averages, so that cross-validation needs no row again. K times the memory of
    `RunningAverages`.

    Parameters
    ----------
    n_folds : int >= 2, default=5
    alpha, half_life, **options
        As of `RunningAverages`; rows age with the whole stream.
    """

    def __init__(
        self, n_folds: int = 5, *, alpha: Alpha = None, half_life: float | None = None, **options: Any
    ) -> None:
        if not (isinstance(n_folds, int | np.integer) and n_folds >= 2):
            raise ValueError(f"n_folds={n_folds!r}; cross-validation needs an integer of at least 2.")
        self.folds_ = [RunningAverages(**options) for _ in range(n_folds)]
        self._clock = Forgetting(alpha, half_life, largest=self.folds_[0]._clock.largest)
        for fold in self.folds_:  # their rows come with the weights of this clock
            fold.forgets = self._clock.alpha is not None
        self.n_samples_ = 0

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows, as `RunningAverages.update` does, and deal them out to the folds."""
        X, y, w, names = self.folds_[0]._check(X, y, sample_weight)
        growth = self._clock.plan(len(y), self.n_samples_)
        self.folds_[0]._begin(X, y, names)
        center = self.folds_[0].center_ if self.folds_[0]._placed else None
        for fold in self.folds_[1:]:  # one centre for all, so that they add up without moving
            fold._begin(X, y, names, center)
        start, n = 0, len(y)
        while start < n:
            room = self._clock.room(None if growth is None else growth[start:])
            if room == 0:
                factor = 1.0 / self._clock.level
                self._clock.scale(factor)
                for fold in self.folds_:
                    fold._scale(factor)
                continue
            stop = min(n, start + room)
            r = self._clock.weights(
                stop - start,
                None if growth is None else growth[start:stop],
                None if w is None else w[start:stop],
            )
            for f, fold in enumerate(self.folds_):
                mine = slice((f - self.n_samples_) % len(self.folds_), None, len(self.folds_))
                rows = np.arange(start, stop)[mine]
                if len(rows):
                    fold._take(X[rows], y[rows], r[mine], None, None if w is None else w[rows])
            self.n_samples_ += stop - start
            start = stop
        return self

    def widen(self, p: int) -> Self:
        """Let features join, as `RunningAverages.widen` does."""
        for fold in self.folds_:
            fold.widen(p)
        return self

    def _check_state(self) -> None:
        """Refuse state that came from a file and does not fit together; `persist` calls it."""
        rows = sum(fold.n_samples_ for fold in self.folds_)
        same = {(fold.n_features_in_, getattr(fold, "n_targets_", None)) for fold in self.folds_}
        if len(self.folds_) < 2 or rows != self.n_samples_ or len(same) > 1:
            raise ValueError("the folds are not those of one stream.")

    def total(self) -> RunningAverages:
        """The averages of all rows."""
        total = self.folds_[0].copy()
        for fold in self.folds_[1:]:
            total.merge(fold)
        return total


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Errors of each fold along a path; the models of all rows are those of `path`.

    Attributes
    ----------
    method : str
    k : ndarray of int of shape (L,)
        Number of features of each model on all rows.
    lam : ndarray of shape (L,) or (L, q), or None
        Penalty of each model, None for unpenalised methods.
    mse : ndarray of shape (K, L)
        Mean squared error on each fold of the models fitted on the other folds, in units of the target's
        variance, averaged over targets.
    mean, stderr : ndarray of shape (L,)
        Over the folds, which count by their weight.
    """

    method: str
    k: NDArray[np.int64]
    lam: Array | None
    mse: Array
    mean: Array
    stderr: Array
    _model: Callable[[int], LinearModel]

    def best(self, *, one_stderr: bool = False) -> LinearModel:
        """The model, on all rows, of the smallest error, or the sparsest within one standard error of it."""
        return self._model(self.best_index(one_stderr=one_stderr))

    def best_index(self, *, one_stderr: bool = False) -> int:
        """Its place in `k`."""
        at = int(np.argmin(self.mean))
        if one_stderr:
            close = np.flatnonzero(self.mean <= self.mean[at] + self.stderr[at])
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
    method: str = "olsth",
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
    method : {"olsth", "ofsa", "olasso", "oelasticnet", "oadaptivelasso", "omcp", "oscad"}, default="olsth"
    ks : iterable of int or None, default=None
        Sizes that "olsth" and "ofsa" try; None is 0 and up to 50 in geometric progression.
    refit : bool, default=True
        Whether penalised models are refitted by least squares.
    fit_intercept, standardize : bool, default=True
    **options
        As of `path`. Penalised methods use one grid of penalties, that of all rows, in every fold.
    """
    as_seen = partial(standardized, fit_intercept=fit_intercept, scale=standardize)
    if any(fold.n_samples_ == 0 for fold in folds.folds_):
        raise ValueError(
            f"{folds.n_samples_} rows do not fill {len(folds.folds_)} folds; take more rows first."
        )
    total = folds.total()
    s = as_seen(total)
    model: Callable[[int], LinearModel]
    if method in PENALTIES:
        if ks is not None:
            raise ValueError(f"method={method!r} passes through sizes of its own; leave ks out.")
        grid, betas = penalty_path(s, PENALTIES[method], **options)
        options["lambdas"] = grid

        def fitted(x: Standardized) -> list[Array]:
            walk = penalty_path(x, PENALTIES[method], **options)[1]
            return [refitted(x, b.toarray()) if refit else b.toarray() for b in walk]

        def model(i: int) -> LinearModel:
            shown = float(grid[i] * s.y_scale[0]) if s.q == 1 else grid[i] * s.y_scale
            return finish(s, betas[i].toarray(), method, refit=refit, lam=shown)

        sizes = np.array([len(np.unique(b.indices)) for b in betas], dtype=np.int64)
        lam = grid * s.y_scale[0] if s.q == 1 else np.outer(grid, s.y_scale)
    else:
        most = min(largest_size(as_seen(total - fold)) for fold in folds.folds_)
        sizes = np.unique(np.r_[0, np.geomspace(1, max(most, 1), 50).round().astype(np.int64)])
        sizes = sizes[sizes <= most] if ks is None else np.unique(np.fromiter(ks, dtype=np.int64))
        whole = path(s, method, ks=sizes, **options)

        def fitted(x: Standardized) -> list[Array]:
            steps = path(x, method, ks=sizes, **options)
            return [steps.beta(int(k)) for k in sizes]

        def model(i: int) -> LinearModel:
            return whole.model(int(sizes[i]))

        lam = None
    mse = np.array([errors(fold, as_seen(total - fold), fitted, s.y_scale) for fold in folds.folds_])
    share = np.array([fold.sum_weights_ for fold in folds.folds_])
    share /= share.sum()
    mean = share @ mse
    stderr = np.sqrt(share @ (mse - mean) ** 2 / max(len(mse) - 1, 1))
    return CrossValidation(method, sizes, lam, mse, mean, stderr, model)


def refitted(s: Standardized, beta: Array) -> Array:
    """Least squares on the support of beta."""
    support = np.flatnonzero(beta.any(axis=1))
    out = np.zeros_like(beta)
    out[support] = least_squares(s, support)[0]
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
