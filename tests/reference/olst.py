"""OLST, [Susan] Algorithm 1 with the ridge of its section 4, from all rows at once: nothing is updated."""

import numpy as np


def moments(X, y, r, intercept=True):
    """S_xx (sums, not means), S_xy and means of weighted rows."""
    mean = np.average(X, axis=0, weights=r) if intercept else np.zeros(X.shape[1])
    mean_y = np.average(y, axis=0, weights=r) if intercept else np.zeros(y.shape[1])
    D = X - mean
    return (D * r[:, None]).T @ D, (D * r[:, None]).T @ (y - mean_y), mean, mean_y


def variances(X, r, intercept=True):
    v = moments(X, np.zeros((len(X), 1)), r, intercept)[0].diagonal() / r.sum()
    return np.where(v > 1e-24 * np.average(X**2, axis=0, weights=r), v, 0.0)


def renewed(n):
    """The last of the rows 64, 128, 256, ...; before them, this one."""
    return n if n < 64 else 64 * 2 ** int(np.log2(n // 64))


def ridge_matrix(X, r, ridge, intercept=True):
    """The variances as of the last renewal, or of the row in which a feature began to vary after it."""
    at = renewed(len(X))
    v = variances(X[:at], r[:at], intercept)
    for i in range(at, len(X)):
        for j in np.flatnonzero(v == 0):
            v[j] = variances(X[: i + 1, [j]], r[: i + 1], intercept)[0]
    return ridge * v


def first_step(X, y, ridge, r, intercept=True):
    """(S_xx + Lambda) beta = S_xy on the features that vary."""
    S, s, _, _ = moments(X, y, r, intercept)
    Lambda = ridge_matrix(X, r, ridge, intercept)
    use = np.flatnonzero(Lambda)
    beta = np.zeros(s.shape)
    beta[use] = np.linalg.solve(S[np.ix_(use, use)] + np.diag(Lambda[use]), s[use])
    return beta


def olst(X, y, k, ridge, r=None, intercept=True, standardize=True):
    """Weights (q, p) and intercepts (q,) after the rows."""
    y = y.reshape(len(X), -1)
    r = np.ones(len(X)) if r is None else r
    S, s, mean, mean_y = moments(X, y, r, intercept)
    sigma = np.sqrt(variances(X, r, intercept))
    beta = first_step(X, y, ridge, r, intercept)
    score = np.linalg.norm(beta, axis=1) * (sigma if standardize else sigma > 0)
    score = np.array([float(f"{x:.7e}") for x in score])  # what rounding tells apart is a tie
    kept = []
    for j in np.lexsort([np.arange(len(score)), -score]):
        copy = any(S[i, j] ** 2 > (1 - 1e-10) * S[i, i] * S[j, j] for i in kept)
        if score[j] > 0 and len(kept) < k and not (len(X) >= 64 and copy):  # fewer may be equal by chance
            kept.append(j)
    kept.sort()
    coef = np.zeros((y.shape[1], X.shape[1]))
    if kept:
        A, b = S[np.ix_(kept, kept)], s[kept]
        if len(X) - intercept <= 4 * len(kept):
            A = A + ridge * np.diag(sigma[kept] ** 2)
        unit = 1 / sigma[kept]
        A, b = A * np.outer(unit, unit), b * unit[:, None]
        coef[:, kept] = (np.linalg.lstsq(A, b, rcond=1e-9)[0] * unit[:, None]).T  # repeated features share
    return coef, mean_y - coef @ mean if intercept else np.zeros(y.shape[1])


def deviance(X, y, ridge):
    """-2 log marginal likelihood of standardised y with beta ~ N(0, sigma^2 / ridge), but for constants."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    t = (y - y.mean()) / y.std()
    A = Z.T @ Z + ridge * np.eye(Z.shape[1])  # V = I + Z Z' / ridge, by Woodbury and Sylvester
    rest = t @ t - (t @ Z) @ np.linalg.solve(A, Z.T @ t)
    return (len(t) - 1) * np.log(rest) + np.linalg.slogdet(A / ridge)[1]
