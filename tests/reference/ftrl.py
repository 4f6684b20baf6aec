"""Slow twin of FTRL-Proximal: McMahan et al. (2013), Algorithm 1. Dense, all weights every row."""

import numpy as np

from .sgd import LOSSES


def ftrl(X, y, loss, r, eta, beta, l1, l2, standardize, intercept=True):
    """Weights and intercept after the rows, and the weights after each row.

    `eta` and `beta` are alpha and beta of the paper; eta = None derives both. The intercept is one more
    coordinate, always 1 and without penalty. With `standardize` a value is divided by the root mean square of
    the values of its feature that are not zero, up to and including this row.
    """
    slope, _ = LOSSES[loss]
    n_rows, p = X.shape
    z, n, x = np.zeros(p + 1), np.zeros(p + 1), np.zeros(p + 1)
    x[p] = intercept
    l1, l2 = np.r_[np.full(p, l1), 0.0], np.r_[np.full(p, l2), 0.0]
    norms, counts, path = [], [], []
    for t in range(n_rows):
        unit = np.ones(p)
        if standardize:
            seen, weight = X[: t + 1], r[: t + 1, None] * (X[: t + 1] != 0)
            total = weight.sum(axis=0)
            unit = np.sqrt(np.divide((weight * seen**2).sum(axis=0), total, out=np.ones(p), where=total > 0))
        x[:p] = X[t] / unit
        norms.append(np.sum(x[:p] ** 2))
        counts.append(np.count_nonzero(x[:p]))
        if eta is None:  # eta in units of the weights, and beta in those of the gradients
            target, square, count = np.sqrt(np.mean(y[: t + 1] ** 2)), np.mean(norms), np.mean(counts)
            rate, gradient = np.ones(p + 1) * target, np.ones(p + 1) * target
            rate[p] /= np.sqrt(1 + count)
            if square > 0:
                rate[:p] /= 4 * np.sqrt(square)
                gradient[:p] *= np.sqrt(square / count)
            least = np.divide(beta * gradient, rate, out=np.zeros(p + 1), where=rate > 0)
        else:
            rate, least = np.full(p + 1, eta), np.full(p + 1, beta / eta)
        # n is divided by the square of the rate, which is the paper's where the rate is constant
        w = weights(z, n, l1, l2, least)
        g = r[t] * slope(x @ w, y[t]) * x
        step = np.divide(g, rate, out=np.zeros(p + 1), where=rate > 0)
        sigma = np.sqrt(n + step**2) - np.sqrt(n)
        z += g - sigma * w
        n += step**2
        after = weights(z, n, l1, l2, least)
        path.append(after[:p] / unit)
    return path[-1], after[p], np.array(path)


def weights(z, n, l1, l2, least):
    w = np.zeros(len(z))
    for j in np.flatnonzero(np.abs(z) > l1):
        w[j] = -(z[j] - np.sign(z[j]) * l1[j]) / (least[j] + np.sqrt(n[j]) + l2[j])
    return w
