"""What a user would have used instead. Selectors are followed by cross-validated (logistic) regression.

Dense columns are standardised first; sparse ones share a unit, which suits text better than one each.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest, chi2, f_classif, f_regression
from sklearn.linear_model import (
    LassoCV,
    LogisticRegression,
    LogisticRegressionCV,
    OrthogonalMatchingPursuit,
    Ridge,
    RidgeCV,
    lasso_path,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC, l1_min_c

from .methods import Fitted, Method, Problem

try:
    import abess
except ImportError:
    abess = None
try:
    import vowpalwabbit
except ImportError:
    vowpalwabbit = None
try:
    import river
    from river import feature_selection, linear_model, preprocessing, stats
except ImportError:
    river = None


def scaler_of(X: Any) -> Any:
    if not sp.issparse(X):
        return StandardScaler()
    unit = np.sqrt(np.mean(X.data**2))
    return FunctionTransformer(lambda rows: rows / unit, accept_sparse=True)


def refit(task: str) -> Any:
    """The model on the selected columns."""
    if task == "targets":
        return RidgeCV(np.logspace(-3, 5, 17))
    return LogisticRegressionCV(
        Cs=10, cv=5, l1_ratios=(0,), scoring="neg_log_loss", use_legacy_attributes=False
    )


def fitted(model: Any, columns: np.ndarray, scaled: Callable[[Any], Any]) -> Fitted:
    """Of a model of scikit-learn on rows that are scaled first."""
    share = getattr(model, "predict_proba", None)
    return Fitted(
        columns,
        lambda rows: model.predict(scaled(rows)),
        share and (lambda rows: share(scaled(rows))),
    )


def selecting(select: Callable[..., np.ndarray]) -> Callable[..., Fitted]:
    """A fit from ``select(problem, **settings)``, which returns columns of the scaled rows."""

    def fit(problem: Problem, **settings: Any) -> Fitted:
        scaler = scaler_of(problem.X).fit(problem.X)
        Z = scaler.transform(problem.X)
        columns = np.sort(select(replace(problem, X=Z), **settings))
        model = refit(problem.task).fit(Z[:, columns], problem.y)
        return fitted(model, columns, lambda rows: scaler.transform(rows)[:, columns])

    return fit


def strongest(coef: np.ndarray, k: int) -> np.ndarray:
    """The at most k columns of the largest norm over the outputs, none of norm 0."""
    norm = np.linalg.norm(np.atleast_2d(coef), axis=0)
    best = np.argsort(-norm, kind="stable")[:k]
    return best[norm[best] > 0]


@selecting
def f_test(problem):
    score = f_regression if problem.task == "targets" else f_classif
    return SelectKBest(score, k=problem.k).fit(problem.X, problem.y).get_support(indices=True)


def chi_square(problem):
    """chi2 of the rows as they are: standardised ones would be negative."""
    columns = SelectKBest(chi2, k=problem.k).fit(problem.X, problem.y).get_support(indices=True)
    return selecting(lambda _: columns)(problem)


def chi_square_refuses(problem):
    if problem.task == "targets":
        return "chi2 needs labels"
    return "chi2 needs X >= 0" if problem.X.min() < 0 else None


@selecting
def l1_path(problem, per_decade, decades):
    """The first point of the path with k features, or its end."""
    X, y, k = problem.X, problem.y, problem.k
    if problem.task == "targets":
        _, path, _ = lasso_path(X, y - y.mean(), eps=10.0**-decades, n_alphas=per_decade * decades)
        enough = np.count_nonzero(path, axis=0) >= k
        return strongest(path[:, np.argmax(enough) if enough.any() else -1], k)
    classes = np.unique(y)
    targets = [y == c for c in classes] if len(classes) > 2 else [y == classes[1]]
    smallest = min(l1_min_c(X, t, loss="log") for t in targets)
    for C in smallest * np.logspace(0.1, decades, per_decade * decades):
        lasso = LogisticRegression(C=C, l1_ratio=1, solver="liblinear", tol=1e-3, random_state=0)
        coef = np.vstack([lasso.fit(X, t).coef_ for t in targets])
        if np.count_nonzero(coef.any(axis=0)) >= k:
            break
    return strongest(coef, k)


@selecting
def elimination(problem, share):
    """Recursive elimination, a share of the remaining features each time."""
    columns = np.arange(problem.X.shape[1])
    while len(columns) > problem.k:
        model = Ridge() if problem.task == "targets" else LinearSVC(dual="auto", random_state=0)
        coef = model.fit(problem.X[:, columns], problem.y).coef_
        n_next = max(problem.k, min(len(columns) - 1, int((1 - share) * len(columns))))
        norm = np.linalg.norm(np.atleast_2d(coef), axis=0)
        columns = columns[np.sort(np.argsort(-norm, kind="stable")[:n_next])]
    return columns


@selecting
def best_subset(problem):
    kind = {0: abess.LinearRegression, 2: abess.LogisticRegression}
    model = kind.get(problem.n_classes(), abess.MultinomialRegression)(support_size=problem.k)
    y = np.unique(problem.y, return_inverse=True)[1] if problem.task == "labels" else problem.y
    # It raises on constant columns of dense rows, not of sparse ones.
    varies = slice(None) if sp.issparse(problem.X) else np.flatnonzero(np.ptp(problem.X, axis=0))
    X = problem.X[:, varies]
    coef = model.fit(X, y).coef_
    best = strongest(coef.T if coef.ndim > 1 and coef.shape[0] == X.shape[1] else coef, problem.k)
    return np.arange(problem.X.shape[1])[varies][best]


@selecting
def vowpal(problem, n_searches):
    """One pass; the weakest l1 that leaves at most k features, by bisection of its logarithm."""
    n_outputs = problem.n_classes() if problem.n_classes() > 2 else 1
    options = "--loss_function " + ("squared" if problem.task == "targets" else "logistic")
    labels = problem.y
    if n_outputs > 1:
        options, labels = f"{options} --oaa {n_outputs}", np.unique(labels, return_inverse=True)[1] + 1
    elif problem.task == "labels":
        labels = np.where(labels == labels.max(), 1, -1)
    low, high, best = -12.0, 2.0, np.arange(1)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/rows", "w") as file:
            for t, row in zip(labels, sp.csr_array(problem.X)):
                file.write(f"{t} | {' '.join(f'{j}:{v:.6g}' for j, v in zip(row.indices, row.data))}\n")
        for _ in range(n_searches):
            middle = (low + high) / 2
            learn = f"{options} -b 18 --l1 {10**middle:g} -d {folder}/rows -f {folder}/model"
            vowpalwabbit.Workspace(f"--quiet {learn}").finish()
            # Read back: the penalty is applied to saved weights, not to those of a live model.
            model = vowpalwabbit.Workspace(f"--quiet -t -i {folder}/model")
            weight = [[model.get_weight(j, o) for j in range(problem.X.shape[1])] for o in range(n_outputs)]
            columns = np.flatnonzero(np.any(weight, axis=0))
            if len(columns) > problem.k:
                low = middle
            else:
                high = middle
                best = columns if len(columns) else best
    return best


def river_steps(problem):
    """One pass: standardise, the k features of the largest correlation so far, (logistic) regression.

    By hand: the same steps in river's Pipeline diverge on targets (0.26.1).
    """
    classes = np.unique(problem.y)
    if problem.task == "targets":
        y, model = problem.y, preprocessing.TargetStandardScaler(linear_model.LinearRegression())
    else:
        y, model = (problem.y == classes[1]).astype(int), linear_model.LogisticRegression()
    scaler = preprocessing.StandardScaler()
    select = feature_selection.SelectKBest(stats.PearsonCorr(), k=problem.k, use_abs=True)
    for row, t in zip(_dicts(problem.X), y.tolist()):
        scaler.learn_one(row)
        scaled = scaler.transform_one(row)
        select.learn_one(scaled, t)
        model.learn_one(select.transform_one(scaled), t)
    columns = np.array([j for j, _ in select.leaderboard.most_common(problem.k)])

    def predict(rows):
        out = [model.predict_one(select.transform_one(scaler.transform_one(row))) for row in _dicts(rows)]
        return np.array(out) if problem.task == "targets" else classes[np.array(out, dtype=int)]

    return Fitted(np.sort(columns), predict)


def river_refuses(problem):
    return "its correlation takes two classes" if problem.n_classes() > 2 else None


def _dicts(X):
    if sp.issparse(X):
        return [dict(zip(row.indices.tolist(), row.data.tolist())) for row in sp.csr_array(X)]
    return [dict(enumerate(row.tolist())) for row in X]


@selecting
def matching_pursuit(problem):
    """Orthogonal matching pursuit: the feature most correlated with the residuals enters; targets only."""
    k = min(problem.k, len(problem.y) - 1)
    return np.flatnonzero(OrthogonalMatchingPursuit(n_nonzero_coefs=k).fit(problem.X, problem.y).coef_)


def pursuit_refuses(problem):
    if problem.task == "labels":
        return "OMP needs targets"
    return "OMP needs dense rows" if sp.issparse(problem.X) else None


def lasso_cv(problem):
    """l1 with its strength by five folds; of more than two classes one against the others."""
    if problem.task == "targets":
        return on_all(LassoCV(cv=5, random_state=0), problem)
    model = LogisticRegressionCV(
        Cs=np.logspace(-3, 2, 10), cv=5, l1_ratios=(1,), solver="liblinear", scoring="neg_log_loss",
        tol=1e-3, random_state=0, use_legacy_attributes=False,
    )  # fmt: skip
    return on_all(model if problem.n_classes() == 2 else OneVsRestClassifier(model), problem)


def ridge(problem):
    """All features, the ridge by cross-validation."""
    return on_all(refit(problem.task), problem)


def on_all(model: Any, problem: Problem) -> Fitted:
    """A model of all scaled columns; those whose weights are zero do not count."""
    scaler = scaler_of(problem.X).fit(problem.X)
    model.fit(scaler.transform(problem.X), problem.y)
    coef = np.vstack([np.atleast_2d(m.coef_) for m in getattr(model, "estimators_", [model])])
    return fitted(model, np.flatnonzero(coef.any(axis=0)), scaler.transform)


def peers() -> tuple[list[Method], list[str]]:
    """Those at hand, and the names of packages that are not installed."""
    found = [
        Method("F + logistic", f_test, "1"),
        Method("chi2 + logistic", chi_square, "1", refuses=chi_square_refuses),
        Method("l1 path + refit", l1_path, "1", {"per_decade": 10, "decades": 4}),
        Method("RFE(LinearSVC)", elimination, "1", {"share": 0.2}),
    ]
    optional = {
        "abess": (abess, Method("abess", best_subset, "1")),
        "vowpalwabbit": (vowpalwabbit, Method("VW --l1", vowpal, "2", {"n_searches": 12})),
        "river": (river, Method("river", river_steps, "2", refuses=river_refuses)),
    }
    found += [method for package, method in optional.values() if package is not None]
    return found, [name for name, (package, _) in optional.items() if package is None]
