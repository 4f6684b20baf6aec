"""Slow twins of the budgeted learners: the papers' equations, all p features sorted after every row.

Y is (n, q): one column of -1 / +1 (or real targets), or one for each class; r are the rows' weights. Each
returns weights (p, q) and intercepts. Products are summed in the order of the features, as a row is read.
"""

import numpy as np

SLOPES = {
    "squared": lambda m, y: m - y,
    "logistic": lambda m, y: -y / (1 + np.exp(y * m)),
    "hinge": lambda m, y: np.where(y * m < 1, -y, 0.0),
    "squared_hinge": lambda m, y: np.where(y * m < 1, -2 * y * (1 - y * m), 0.0),
}


def margins(x, w):
    m = np.zeros(w.shape[1])
    for j in np.flatnonzero(x):
        m += x[j] * w[j]
    return m


def size(w):
    """Norms of the rows."""
    return np.abs(w[:, 0]) if w.shape[1] == 1 else np.sqrt((w * w).sum(axis=1))


def best(score, B):
    """The B features of the largest scores, ties to the lower index, zeros never."""
    order = np.lexsort([np.arange(len(score)), -score])[:B]
    return order[score[order] > 0]


def keep(z, score, B, group=None):
    """z of the B best features, or of the B groups whose features have the best mean score."""
    if group is None:
        group = np.arange(len(score))
    kept = np.isin(group, best(np.bincount(group, score) / np.bincount(group), B))
    return np.where(kept[:, None], z, 0.0)


def barda(X, Y, r, B, eta, alpha, delta=0.01, loss="squared_hinge", intercept=False, naive=False, group=None):
    """[Zhai] Algorithm 1."""
    (n, p), q = X.shape, Y.shape[1]
    w, b = np.zeros((p, q)), np.zeros(q)
    G, square = np.zeros((p, q)), np.zeros(p)
    Gb, squareb = np.zeros(q), 0.0
    for t in range(1, n + 1):
        x = X[t - 1]
        d = r[t - 1] * SLOPES[loss](margins(x, w) + b, Y[t - 1])
        g = x[:, None] * d
        G += g
        square += (g * g).sum(axis=1)
        H = delta + np.sqrt(square)
        below = alpha * eta * t + H
        z = -eta * G / below[:, None]
        w = keep(z, (1 if naive else H) * (eta * size(G) / below) ** 2, B, group)
        if intercept:
            Gb += d
            squareb += (d * d).sum()
            b = -eta * Gb / (delta + np.sqrt(squareb))
    return w, b


def bamd(X, Y, r, B, eta, alpha, delta=0.01, loss="squared_hinge", intercept=False, group=None):
    """[Zhai] Algorithm 2."""
    (n, p), q = X.shape, Y.shape[1]
    w, b = np.zeros((p, q)), np.zeros(q)
    square, squareb = np.zeros(p), 0.0
    for t in range(n):
        x = X[t]
        d = r[t] * SLOPES[loss](margins(x, w) + b, Y[t])
        g = x[:, None] * d + alpha * w
        square += (g * g).sum(axis=1)
        H = delta + np.sqrt(square)
        z = w - eta * g / H[:, None]
        w = keep(z, H * size(z), B, group)
        if intercept:
            squareb += (d * d).sum()
            b = b - eta * d / (delta + np.sqrt(squareb))
    return w, b


def ofs(X, Y, r, B, eta, alpha, intercept=False):
    """Wang et al. (2014), Algorithm 2."""
    (n, p), q = X.shape, Y.shape[1]
    w, b = np.zeros((p, q)), np.zeros(q)
    for t in range(n):
        x = X[t]
        wrong = Y[t] * (margins(x, w) + b) <= 1
        w = (1 - alpha * eta) * w
        if not wrong.any():
            continue
        step = np.where(wrong, eta * r[t] * Y[t], 0.0)
        w = w + x[:, None] * step
        if alpha > 0:
            w = w / max(1.0, np.linalg.norm(w) / np.sqrt(q / alpha))
        w = keep(w, size(w), B)
        if intercept:
            b = b + step
    return w, b


def sofs(X, Y, r, B, gamma, intercept=False):
    """Wu et al. (2017): diagonal AROW, the B smallest variances stay."""
    (n, p), q = X.shape, Y.shape[1]
    w, b = np.zeros((p, q)), np.zeros(q)
    S, Sb = np.ones((p, q)), np.ones(q)
    seen = np.zeros(p, dtype=bool)
    for t in range(n):
        x = X[t]
        m = margins(x, w) + b
        wrong = Y[t] * m < 1
        if not wrong.any():
            continue
        a = (1 - Y[t] * m) / (x**2 @ S + intercept * Sb + gamma / r[t]) * wrong * Y[t]
        w = w + a * S * x[:, None]
        S = 1 / (1 / S + np.outer(x**2, wrong) * r[t] / gamma)
        if intercept:
            b = b + a * Sb
            Sb = 1 / (1 / Sb + wrong * r[t] / gamma)
        seen |= x != 0
        w = keep(w, rounded((1 / S).sum(axis=1)) * seen, B)
    return w, b


def rounded(score):
    """What only rounding tells apart is a tie: the kernel adds up 1 / S, here S is inverted twice a row."""
    return np.array([float(f"{s:.10e}") for s in score])
