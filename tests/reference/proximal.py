"""[Sun] Algorithm 5: proximal gradient on the averages, as printed but for the step inside Theta."""

import numpy as np


def soft(t, eta, lam, l1_ratio=1.0, weights=1.0):
    size = np.maximum(np.abs(t) - eta * lam * l1_ratio * weights, 0)
    return np.sign(t) * size / (1 + eta * lam * (1 - l1_ratio))


def mcp(t, eta, lam, b):
    """Eq. (3.10) with the penalty's own constant: Theta at step eta has b / eta in the place of b."""
    size = np.abs(t)
    bent = (t - eta * lam * np.sign(t)) / (1 - eta / b)
    return np.where(size <= eta * lam, 0, np.where(size <= b * lam, bent, t))


def scad(t, eta, lam, a):
    size = np.abs(t)
    near = np.sign(t) * np.maximum(size - eta * lam, 0)
    bent = ((a - 1) * t - np.sign(t) * a * eta * lam) / (a - 1 - eta)
    return np.where(size <= lam * (1 + eta), near, np.where(size <= a * lam, bent, t))


def proximal(S_xx, S_xy, theta, lam, beta=None, n_iter=20_000, **constants):
    eta = 1 / np.linalg.eigvalsh(S_xx)[-1]
    beta = np.zeros(len(S_xy)) if beta is None else beta
    for _ in range(n_iter):
        last = beta
        beta = beta - eta * (S_xx @ beta - S_xy)
        beta = theta(beta, eta, lam, **constants)
        if np.abs(beta - last).max() < 1e-15:
            break
    return beta
