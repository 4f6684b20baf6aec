"""Slow twins of the extractors, from [Sun] ch. 3 alone: data in, everything full size."""

import numpy as np


def averages(X, y):
    """Correlations of centred, scaled data, eqs. (3.2) and (3.3); constant columns are left at zero."""
    X, y = X - X.mean(0), y - y.mean(0)
    scale = X.std(0)
    X = X / np.where(scale > 1e-12, scale, np.inf)
    return X.T @ X / len(X), X.T @ (y / y.std(0)) / len(X)


def olsth(X, y, k):
    """Alg. 3: least squares, keep the k largest standardised weights, refit on the data."""
    S, s = averages(X, y)
    order = np.argsort(-np.linalg.norm(np.linalg.solve(S, s), axis=1), kind="stable")
    return refit(X, y, np.sort(order[:k]))


def refit(X, y, support):
    """Support, weights in original units, intercept and residual sum of squares of least squares."""
    D = np.column_stack([np.ones(len(X)), X[:, support]])
    w = np.linalg.lstsq(D, y, rcond=None)[0]
    return support, w[1:], w[0], ((y - D @ w) ** 2).sum(0)


def ofsa(S, s, k, etas, mu, wait=0):
    """Alg. 4 with the steps given, its schedule begun after `wait` of them: support and weights."""
    p, T = len(S), len(etas) - wait
    beta, kept = np.zeros_like(s), np.ones(p, bool)
    for t, eta in enumerate(etas, 1 - wait):
        beta = (beta - eta * (S @ beta - s)) * kept[:, None]
        M = int(k + (p - k) * max(0, (T - t) / (t * mu + T))) if t > 0 else p
        size = np.where(kept, np.linalg.norm(beta, axis=1), -1)
        kept[np.argsort(-size, kind="stable")[M:]] = False
        beta[~kept] = 0
    return np.flatnonzero(kept), beta
