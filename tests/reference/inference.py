"""Slow twins of `streamsieve.inference`, from the rows and the textbooks alone."""

import numpy as np


def with_one(X):
    return np.column_stack([np.ones(len(X)), X])


def fit(X, y):
    return np.linalg.lstsq(with_one(X), y)[0]


def jackknife(X, y, fold):
    """Standard errors of the slopes by leaving out a fold at a time."""
    K, b = len(np.unique(fold)), fit(X, y)
    left = np.array([fit(X[fold != f], y[fold != f]) for f in np.unique(fold)])
    return np.sqrt((K - 1) / K * ((left - b) ** 2).sum(axis=0))[1:]


def hc1(X, y):
    """White's errors, by their sum over rows."""
    Z, e = with_one(X), y - with_one(X) @ fit(X, y)
    n, k = Z.shape
    bread = np.linalg.inv(Z.T @ Z)
    meat = sum(e[i] ** 2 * np.outer(Z[i], Z[i]) for i in range(n))
    return np.sqrt(np.diag(bread @ meat @ bread) * n / (n - k))[1:]


def cluster(X, y, group):
    """Errors of the sandwich over clusters."""
    Z, e = with_one(X), y - with_one(X) @ fit(X, y)
    n, k = Z.shape
    groups = np.unique(group)
    bread = np.linalg.inv(Z.T @ Z)
    scores = [Z[group == g].T @ e[group == g] for g in groups]
    meat = sum(np.outer(s, s) for s in scores)
    G = len(groups)
    return np.sqrt(np.diag(bread @ meat @ bread) * G / (G - 1) * (n - 1) / (n - k))[1:]


def step_up(p, q):
    """Benjamini and Hochberg, by trying every number of rejections."""
    m = len(p)
    most = max((i for i in range(m + 1) if sum(x <= q * i / m for x in p) >= i), default=0)
    return [j for j in range(m) if most and p[j] <= q * most / m]


def log_bayes_factor(x, y, g):
    """log of p(y | b ~ N(0, sigma^2 / g)) / p(y | b = 0) for one feature, sigma under 1 / sigma.

    Marginally y ~ N(0, sigma^2 (I + x x' / g)) in the m = n - 1 dimensions beside the intercept.
    """
    n = len(y)
    H = np.eye(n) - 1 / n
    Q = np.linalg.svd(H)[0][:, : n - 1]  # an orthonormal basis of what is left beside the intercept
    x, y, m = Q.T @ x, Q.T @ y, n - 1
    V = np.eye(m) + np.outer(x, x) / g
    _, logdet = np.linalg.slogdet(V)
    return -0.5 * logdet - m / 2 * np.log(y @ np.linalg.solve(V, y)) + m / 2 * np.log(y @ y)
