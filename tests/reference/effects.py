"""Shapes and pairs by plain NumPy: levels, functions, the scan of all pairs, elimination. Slow and short."""

import numpy as np


def levels(X, edges):
    """The number of edges that each value has reached; 63 for NaN."""
    columns = [np.searchsorted(e, x, side="right") for e, x in zip(edges, X.T)]
    return np.where(np.isnan(X), 63, np.array(columns).reshape(X.shape[::-1]).T).astype(np.uint8)


def functions(x, order, line):
    """Functions of a column, orthonormal over its rows: QR of 1, of x and x^2 for a line, of cosines."""
    values, at, counts = np.unique(x, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - counts / 2) / len(x)
    V = np.cos(np.pi * np.outer(rank, np.arange(1, order + 1 - 2 * line)))
    first = [np.ones(len(values)), *([values, (values - x.mean()) ** 2] if line else [])]
    V = np.column_stack([*first, V])[at]
    Q, R = np.linalg.qr(V)
    return (Q * np.sign(np.diag(R)))[:, 1:] * len(x) ** 0.5


def scan(F, R):
    """T (p, p) from functions (n, p, order) and residuals (n, outputs)."""
    p = F.shape[1]
    T = np.zeros((p, p))
    for i in range(p):
        for j in range(i + 1, p):
            for r in R.T:
                T[i, j] += np.square((F[:, i] * r[:, None]).T @ F[:, j]).sum()
    return T


def eliminate(Z, Y, owner, k, ridge):
    """The columns that k features leave: the weakest tenth goes, with its pairs, until there are k."""
    keep = list(range(Z.shape[1]))
    Z, Y = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
    while len(alive := sorted({f for c in keep for f in owner[c]})) > k:
        A = Z[:, keep]
        B = np.linalg.solve(A.T @ A + len(A) * ridge * np.eye(len(keep)), A.T @ Y)
        weight = dict(zip(keep, (B**2).sum(axis=1)))
        worth = {f: sum(weight[c] for c in keep if f in owner[c]) for f in alive}
        rate = 0.6 if len(alive) > 40 * k else 0.75 if len(alive) > 10 * k else 0.9
        size = min(max(k, int(len(alive) * rate)), len(alive) - 1)
        stay = set(sorted(alive, key=lambda f: -worth[f])[:size])
        pairs = sorted({tuple(owner[c]) for c in keep if owner[c][0] != owner[c][1]})
        strong = sorted(pairs, key=lambda o: -sum(weight[c] for c in keep if tuple(owner[c]) == o))
        left = set(strong[: max(2 * k, int(len(pairs) * rate))])
        keep = [
            c
            for c in keep
            if set(owner[c]) <= stay and (owner[c][0] == owner[c][1] or tuple(owner[c]) in left)
        ]
    return keep
