"""Slow twin of passive-aggressive learning with truncation: Crammer et al. (2006), Figure 1."""

import numpy as np

from .budgeted import keep, margins, size


def passive_aggressive(X, Y, r, B, C, second=False, epsilon=None, intercept=False):
    """Y is (n, q): labels -1 and +1, or targets if there is an epsilon; weights (p, q) and intercepts."""
    w, b = np.zeros((X.shape[1], Y.shape[1])), np.zeros(Y.shape[1])
    for x, y, weight in zip(X, Y, r):
        m = margins(x, w) + b
        loss = 1 - y * m if epsilon is None else abs(y - m) - epsilon
        sign = y if epsilon is None else np.where(y < m, -1.0, 1.0)
        square = x @ x + intercept
        if square == 0:
            continue
        tau = loss / (square + 1 / (2 * weight * C)) if second else np.minimum(weight * C, loss / square)
        step = sign * np.where(loss > 0, tau, 0.0)
        w = keep(w + np.outer(x, step), size(w + np.outer(x, step)), B)
        b = b + step * intercept
    return w, b
