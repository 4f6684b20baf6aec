"""Splicing as printed: Zhu et al. (2020), Algorithms 1 (BESS.Fix) and 2 (Splicing), on rows."""

import numpy as np


def fit(X, y, A):
    """Least squares on A: the loss |y - X b|^2 / 2n, weights, and the gradient X'(y - X b) / n."""
    b = np.zeros(X.shape[1])
    b[A] = np.linalg.lstsq(X[:, A], y)[0]
    residual = y - X @ b
    return residual @ residual / (2 * len(y)), b, X.T @ residual / len(y)


def splicing(X, y, A, c_max, tau):
    """Exchange the c features of A with the least sacrifice for the c others with the largest."""
    best, b, d = fit(X, y, A)
    others = np.setdiff1d(np.arange(X.shape[1]), A)
    variance = (X**2).mean(axis=0)
    backward = variance[A] / 2 * b[A] ** 2
    forward = variance[others] / 2 * (d[others] / variance[others]) ** 2
    before, chosen = best, A
    for c in range(1, min(c_max, len(A), len(others)) + 1):
        out, into = A[np.argsort(backward)[:c]], others[np.argsort(-forward)[:c]]
        exchanged = np.union1d(np.setdiff1d(A, out), into)
        loss = fit(X, y, exchanged)[0]
        if loss < best:
            best, chosen = loss, exchanged
    return chosen if before - best > tau else A


def best_subset(X, y, k, c_max=5):
    """The features that splicing ends with, from the k largest marginal correlations; centred rows."""
    X, y = X - X.mean(axis=0), y - y.mean()
    n, p = X.shape
    tau = 0.01 * k * np.log(p) * np.log(np.log(n)) / n
    A = np.sort(np.argsort(-np.abs(X.T @ y) / np.sqrt((X**2).sum(axis=0)))[:k])
    while True:
        new = splicing(X, y, A, c_max, tau)
        if np.array_equal(new, A):
            return A
        A = new
