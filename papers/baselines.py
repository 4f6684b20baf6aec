"""What the papers compare with: online methods, and scikit-learn's models of all rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from streamsieve import (
    FOBOSClassifier,
    FOBOSRegressor,
    OFSClassifier,
    RDAClassifier,
    RDARegressor,
    SOFSClassifier,
)
from streamsieve.statistics.standardize import Standardized

from .tuning import Params, largest_model

Array = NDArray[np.float64]
Fit = tuple[NDArray[np.int64], Callable[[Array], Array]]  # support, and how to predict


# Of the budgeted learners: features as they come, no intercept.
PLAIN: Params = {"standardize": False, "fit_intercept": False}
# The proportion of l1 in the l1 + l2 of OPG and RDA for classification, which is not published.
L1 = 0.9
# FOFS on sparse rows: the best of a grid, where the defaults, its own paper's, take steps that are too long.
SPARSE_FOFS: Params = {"eta": 0.1, "alpha": 1e-4}
UNIT_STEP = 0.2  # of FOFS's own paper, for rows of norm 1


def fofs_params(X: Any) -> Params:
    """The step of FOFS for rows like these: that of its paper, whose rows have norm 1, over |x|^2.

    A row then moves its own prediction as far as there. On dense rows of 1,000 features it is 1e-4.
    """
    squares = X.multiply(X) if sp.issparse(X) else np.square(X)
    return {"eta": UNIT_STEP / float(np.asarray(squares.sum(axis=1)).mean())}


def online_methods(task: str, k: int, fofs: Params | None = None) -> dict[str, Any]:
    """[Sun]'s competitors by its names; not 200 penalties one by one but a ladder in one pass.

    `fofs` are parameters of FOFS, whose step follows from the rows (`fofs_params`).
    """
    if task == "regression":
        return {
            "OPG": FOBOSRegressor(k, standardize=False),
            "RDA": RDARegressor(k, standardize=False),
        }
    return {
        "FOFS": OFSClassifier(k, **PLAIN, **(fofs or {})),
        "SOFS": SOFSClassifier(k, gamma=1.0, **PLAIN),
        "OPG": FOBOSClassifier(k, l1_ratio=L1, standardize=False),
        "RDA": RDAClassifier(k, l1_ratio=L1, standardize=False),
    }


def lasso(X: Array, y: Array, k: int, penalties: int = 200) -> Fit:
    """The Lasso with the most features up to k, of 200 penalties on an exponential grid; refitted.

    The published errors are those of a refit.
    """
    Z, scale_rows, y_mean = _standardized(X, y)
    return _refit(Z, y - y_mean, y_mean, scale_rows, lasso_support(Z, y - y_mean, k, penalties))


def omp(X: Array, y: Array, k: int) -> Fit:
    """Orthogonal matching pursuit."""
    Z, scale_rows, y_mean = _standardized(X, y)
    return _refit(Z, y - y_mean, y_mean, scale_rows, omp_support(Z, y - y_mean, k))


def fit_averages(method: str, s: Standardized, k: int) -> Fit:
    """`lasso` or `omp` on p rows that have the same averages as all rows, which need not be kept."""
    factor: Array = np.asarray(np.linalg.cholesky(s.R), dtype=np.float64)
    Z, y = factor.T, solve_triangular(factor, s.r[:, 0], lower=True)
    support = (lasso_support if method == "Lasso" else omp_support)(Z, y, k)

    def scale_rows(rows: Array) -> Array:
        return np.asarray((rows - s.x_mean) / s.x_scale)

    return _refit(Z, y, float(s.y_mean[0]), scale_rows, support, float(s.y_scale[0]))


def lasso_support(Z: Array, y: Array, k: int, penalties: int = 200) -> NDArray[np.int64]:
    """The support at the penalty with the most features up to k.

    The path is computed in pieces, from strong to weak penalties, until a model has more than k features.
    """
    from sklearn.linear_model import lasso_path

    top = np.abs(Z.T @ y).max() / len(y)
    gram = Z.T @ Z if len(y) >= Z.shape[1] else False
    supports: dict[float, NDArray[np.int64]] = {}

    def sizes() -> Iterator[tuple[Params, int]]:
        warm_start = None
        for alphas in np.array_split(top * np.logspace(0, -3, penalties), max(penalties // 10, 1)):
            _, coefs, _ = lasso_path(
                Z, y, alphas=alphas, precompute=gram, coef_init=warm_start, max_iter=5000
            )
            for lam, coef in zip(alphas, coefs.T):
                supports[lam] = np.flatnonzero(coef)
                yield {"lam": lam}, len(supports[lam])
            warm_start = coefs[:, -1]
            if len(supports[alphas[-1]]) > k:
                return

    return supports[largest_model(sizes(), k, penalties)["lam"]]


def omp_support(Z: Array, y: Array, k: int) -> NDArray[np.int64]:
    from sklearn.linear_model import orthogonal_mp

    return np.flatnonzero(orthogonal_mp(Z, y, n_nonzero_coefs=k))


class RecursiveElimination:
    """A linear SVM, or logistic regression, refitted after each removal of the weaker half of its features.

    Guyon et al. 2002, in halves, down to `share` of the features.
    """

    def __init__(self, loss: str, share: float, random_state: int) -> None:
        self.loss, self.share, self.random_state = loss, share, random_state

    def fit(self, X: Any, y: Array) -> RecursiveElimination:
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import SVC

        p = X.shape[1]
        self.support, goal = np.arange(p), int(self.share * p)
        while True:
            self.model = LogisticRegression() if self.loss == "logistic" else SVC(kernel="linear")
            coef = np.asarray(sp.csr_array(self.model.fit(X[:, self.support], y).coef_).todense()).ravel()
            if len(self.support) <= goal:
                break
            strongest = np.argsort(-np.abs(coef), kind="stable")[: max(goal, len(self.support) // 2)]
            self.support = np.sort(self.support[strongest])
        self.coef_ = np.zeros((1, p))
        self.coef_[0, self.support] = coef
        return self

    def predict(self, X: Any) -> Array:
        return np.asarray(self.model.predict(X[:, self.support]))

    def score(self, X: Any, y: Array) -> float:
        return float(np.mean(self.predict(X) == y))

    def get_support(self) -> NDArray[np.bool_]:
        return np.asarray(self.coef_[0] != 0)


def _standardized(X: Array, y: Array) -> tuple[Array, Callable[[Array], Array], float]:
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, np.inf)

    def scale_rows(rows: Array) -> Array:
        return np.asarray((rows - mean) / scale)

    return scale_rows(X), scale_rows, float(y.mean())


def _refit(
    Z: Array, y: Array, y_mean: float, scale_rows: Any, support: NDArray[np.int64], y_scale: float = 1.0
) -> Fit:
    coef = y_scale * np.linalg.lstsq(Z[:, support], y)[0]
    return support, lambda rows: y_mean + scale_rows(rows)[:, support] @ coef
