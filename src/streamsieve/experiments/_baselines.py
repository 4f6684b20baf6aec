"""What the papers compare with, from scikit-learn: models of rows that are all held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]
Fit = tuple[NDArray[np.int64], Callable[[Array], Array]]  # support, and how to predict


def lasso(X: Array, y: Array, k: int, penalties: int = 200) -> Fit:
    """The Lasso with the most features up to k, of 200 penalties on an exponential grid; refitted.

    The path is walked in pieces, from strong to weak penalties, until it holds more than k features. The
    published errors are those of a refit.
    """
    from sklearn.linear_model import lasso_path

    Z, scaled, level = _standardized(X, y)
    top = np.abs(Z.T @ (y - level)).max() / len(y)
    best, warm = np.zeros(X.shape[1]), None
    gram = Z.T @ Z if len(y) > X.shape[1] else False
    for piece in np.array_split(top * np.logspace(0, -3, penalties), max(penalties // 10, 1)):
        _, coefs, _ = lasso_path(Z, y - level, alphas=piece, precompute=gram, coef_init=warm, max_iter=5000)
        sizes = np.count_nonzero(coefs, axis=0)
        if (sizes <= k).any():
            best = coefs[:, np.flatnonzero(sizes <= k)[-1]]
        if sizes[-1] > k:
            break
        warm = coefs[:, -1]
    return _refitted(Z, y, level, scaled, np.flatnonzero(best))


def omp(X: Array, y: Array, k: int) -> Fit:
    """Orthogonal matching pursuit."""
    from sklearn.linear_model import orthogonal_mp

    Z, scaled, level = _standardized(X, y)
    return _refitted(Z, y, level, scaled, np.flatnonzero(orthogonal_mp(Z, y - level, n_nonzero_coefs=k)))


class Eliminating:
    """A linear SVM, or logistic regression, refitted while the weaker half of its features goes.

    Guyon et al. 2002, in halves, down to `share` of the features.
    """

    def __init__(self, loss: str, share: float, random_state: int) -> None:
        self.loss, self.share, self.random_state = loss, share, random_state

    def fit(self, X: Any, y: Array) -> Eliminating:
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import SVC

        p = X.shape[1]
        self.kept, goal = np.arange(p), int(self.share * p)
        while True:
            self.model = LogisticRegression() if self.loss == "logistic" else SVC(kernel="linear")
            coef = np.asarray(sp.csr_array(self.model.fit(X[:, self.kept], y).coef_).todense()).ravel()
            if len(self.kept) <= goal:
                break
            strongest = np.argsort(-np.abs(coef), kind="stable")[: max(goal, len(self.kept) // 2)]
            self.kept = np.sort(self.kept[strongest])
        self.coef_ = np.zeros((1, p))
        self.coef_[0, self.kept] = coef
        return self

    def predict(self, X: Any) -> Array:
        return np.asarray(self.model.predict(X[:, self.kept]))

    def score(self, X: Any, y: Array) -> float:
        return float(np.mean(self.predict(X) == y))

    def get_support(self) -> NDArray[np.bool_]:
        return np.asarray(self.coef_[0] != 0)


def _standardized(X: Array, y: Array) -> tuple[Array, Callable[[Array], Array], float]:
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, np.inf)

    def scaled(rows: Array) -> Array:
        return np.asarray((rows - mean) / scale)

    return scaled(X), scaled, float(y.mean())


def _refitted(Z: Array, y: Array, level: float, scaled: Any, support: NDArray[np.int64]) -> Fit:
    coef = np.linalg.lstsq(Z[:, support], y - level)[0]
    return support, lambda rows: level + scaled(rows)[:, support] @ coef
