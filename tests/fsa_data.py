"""Standardised averages straight from data, for tests of the extractors."""

import numpy as np

from streamsieve.statistics.standardize import Standardized


def standardized(X, y, *, scale=True):
    y = y.reshape(len(X), -1)
    x_mean, y_mean = X.mean(0), y.mean(0)
    x_std, y_std = X.std(0), y.std(0)
    usable = x_std > 1e-12
    x_scale = np.where(usable, x_std if scale else 1.0, 0.0)
    Z = np.divide(X - x_mean, x_scale, out=np.zeros_like(X), where=usable)
    t = np.divide(y - y_mean, y_std, out=np.zeros_like(y), where=y_std > 0)
    R = Z.T @ Z / len(X)
    R[~usable, ~usable] = 1.0
    return Standardized(
        np.ascontiguousarray((R + R.T) / 2),
        Z.T @ t / len(X),
        usable,
        x_mean,
        x_scale,
        y_mean,
        y_std,
        float(len(X)),
    )


def correlated(n, p, k, *, signal=1.0, q=1, seed=0, positive=False):
    """x = z 1 + u, every (p/k)-th feature true, unit noise: [Sun] 4.1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    true = np.arange(k) * (p // max(k, 1))
    B = np.zeros((p, q))
    B[true] = signal * (1 if positive else rng.choice([-1, 1], (k, q)))
    y = X @ B + rng.normal(size=(n, q))
    return X, (y[:, 0] if q == 1 else y), true
