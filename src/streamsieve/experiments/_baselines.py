"""What the papers compare with: online methods, and from scikit-learn models of rows that are all held."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..learners import (
    FOBOSClassifier,
    FOBOSRegressor,
    OFSClassifier,
    RDAClassifier,
    RDARegressor,
    SOFSClassifier,
)
from ._tune import Params, largest

Array = NDArray[np.float64]
Fit = tuple[NDArray[np.int64], Callable[[Array], Array]]  # support, and how to predict


# The proportion of l1 in the l1 + l2 of OPG and RDA for classification, which is not published.
L1 = 0.9
# FOFS on sparse rows: the best of a grid, where the defaults, its own paper's, take steps that are too long.
SPARSE_FOFS: Params = {"eta": 0.1, "lam": 1e-4}


def online(task: str, k: int, fofs: Params | None = None) -> dict[str, Any]:
    """[Sun]'s competitors by the names it gives them; 200 penalties one by one are a ladder in one pass."""
    if task == "regression":
        return {"OPG": FOBOSRegressor(k), "RDA": RDARegressor(k)}
    return {
        "FOFS": OFSClassifier(k, **(fofs or {})),
        "SOFS": SOFSClassifier(k),
        "OPG": FOBOSClassifier(k, l1_ratio=L1),
        "RDA": RDAClassifier(k, l1_ratio=L1),
    }


def lasso(X: Array, y: Array, k: int, penalties: int = 200) -> Fit:
    """The Lasso with the most features up to k, of 200 penalties on an exponential grid; refitted.

    The path is walked in pieces, from strong to weak penalties, until it holds more than k features. The
    published errors are those of a refit.
    """
    from sklearn.linear_model import lasso_path

    Z, scaled, level = _standardized(X, y)
    top = np.abs(Z.T @ (y - level)).max() / len(y)
    gram = Z.T @ Z if len(y) > X.shape[1] else False
    supports: dict[float, NDArray[np.int64]] = {}

    def walked() -> Iterator[tuple[Params, int]]:
        warm = None
        for piece in np.array_split(top * np.logspace(0, -3, penalties), max(penalties // 10, 1)):
            _, coefs, _ = lasso_path(
                Z, y - level, alphas=piece, precompute=gram, coef_init=warm, max_iter=5000
            )
            for lam, coef in zip(piece, coefs.T):
                supports[lam] = np.flatnonzero(coef)
                yield {"lam": lam}, len(supports[lam])
            warm = coefs[:, -1]
            if len(supports[piece[-1]]) > k:
                return

    best = largest(walked(), k, penalties)
    return _refitted(Z, y, level, scaled, supports[best["lam"]])


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
