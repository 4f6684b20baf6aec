"""Slow twin of Sieve's read stage: dense, standardised copies, exact Newton steps."""

import numpy as np
from scipy.optimize import minimize_scalar


def softmax(E):
    P = np.exp(E - E.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def ridge_glm(Z, y, w, kind, L, steps=100):
    """Minimise sum w loss + L/2 |B|^2; Z has standardised columns. Returns B (c, columns), b (c,)."""
    n, m = Z.shape
    c = int(y.max()) + 1 if kind == "softmax" else y.shape[1]
    A = np.column_stack([Z, np.ones(n)])
    T = (y[:, :1] == np.arange(c)).astype(float) if kind == "softmax" else y
    V = np.zeros((c, m + 1))
    penalty = np.append(np.full(m, L), 1e-9)
    for _ in range(steps):
        E = A @ V.T
        if kind == "softmax":
            P = softmax(E)
            G = (P - T) * w[:, None]
            H = np.zeros((c, m + 1, c, m + 1))
            for a in range(c):
                for b in range(c):
                    d = w * P[:, a] * ((a == b) - P[:, b])
                    H[a, :, b] = (A * d[:, None]).T @ A
            H = H.reshape(c * (m + 1), -1)
        else:
            if kind == "logistic":
                P = 1 / (1 + np.exp(-E))
                G, D = P - T, P * (1 - P)
            elif kind == "poisson":
                P = np.exp(E)
                G, D = P - T, P
            else:
                G, D = E - T, np.ones_like(E)
            G = G * w[:, None]
            H = np.zeros((c * (m + 1), c * (m + 1)))
            for a in range(c):
                at = slice(a * (m + 1), (a + 1) * (m + 1))
                H[at, at] = (A * (w * D[:, a])[:, None]).T @ A
        g = (G.T @ A + V * penalty).ravel()
        step = np.linalg.solve(H + np.diag(np.tile(penalty, c)) + 1e-10 * np.eye(len(g)), g).reshape(V.shape)
        V = V - step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))
        if np.abs(step).max() < 1e-10:
            break
    return V[:, :-1], V[:, -1]


def next_size(w, k):
    share = 0.9 if w <= 10 * k else 0.75 if w <= 40 * k else 0.6
    return max(k, min(w - 1, int(w * share)))


def eliminate(X, y, w, kind, k, ridge):
    """Columns, weights of the raw columns (c, k) and intercepts, at constant ridge per unit of weight."""
    mean = np.average(X, axis=0, weights=w)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    columns = np.flatnonzero(deviation > 0)
    while True:
        Z = (X[:, columns] - mean[columns]) / deviation[columns]
        B, b = ridge_glm(Z, y, w, kind, ridge * w.sum())
        if len(columns) <= k:
            coef = B / deviation[columns]
            return columns, coef, b - coef @ mean[columns]
        order = np.argsort(-(B**2).sum(axis=0), kind="stable")
        columns = columns[np.sort(order[: next_size(len(columns), k)])]


def likely_ridge(X, y):
    """Ridge of the largest evidence of y ~ N(0, s (X X' / (n l) + I)), X and y standardised."""
    n = len(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    t = (y - y.mean()) / y.std()

    def deviance(log_ridge):
        K = Z @ Z.T / (n * np.exp(log_ridge)) + np.eye(n)
        return n * np.log(t @ np.linalg.solve(K, t)) + np.linalg.slogdet(K)[1]

    return np.exp(minimize_scalar(deviance, bounds=np.log([1e-6, 1e4]), method="bounded").x)
