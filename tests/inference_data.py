"""Rows for the tests of inference."""

import numpy as np


def data(n=300, p=5, seed=0, far=0.0):
    """Rows whose noise varies with the first feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.arange(1, p + 1) + far * np.arange(p)
    y = X[:, 0] - 0.5 * X[:, 1] + (0.5 + np.abs(X[:, 0])) * rng.normal(size=n) + far
    return X, y


def clustered(n_clusters=60, size=5, p=3, seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_clusters), size)
    X = rng.normal(size=(n_clusters, p))[group] + 0.1 * rng.normal(size=(len(group), p))
    return X, X[:, 0] + rng.normal(size=n_clusters)[group] + rng.normal(size=len(group)), group


def sparse_truth(n, p, k, seed=0, signal=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    b = np.zeros(p)
    b[:k] = signal * rng.choice([-1, 1], k)
    return X, X @ b + rng.normal(size=n)
