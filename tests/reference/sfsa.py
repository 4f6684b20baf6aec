"""Slow twin of SFSA, from [Sun] Algorithm 1 and Remark 1: full-size arrays, every feature every batch.

The paper leaves open how the step is chosen; here it is given for each mini-batch, as is the schedule M_t.
"""

import numpy as np

from reference.sgd import LOSSES


def schedule(p, k, T, mu, batches, first=0.0):
    """M_1, M_2, ... of chapter 2; with a warmup of `first` batches, t and T are counted from its end."""
    t, T = np.maximum(0.0, np.arange(1, batches + 1) - first), T - first
    return k + np.floor((p - k) * np.maximum(0.0, (T - t) / (t * mu + T))).astype(int)


class Moments:
    """First and second moments of a gradient, as each variant has them."""

    def __init__(self, variant, shape):
        self.variant, self.t = variant, 0
        self.m, self.v = np.zeros(shape), np.zeros(shape)

    def direction(self, g):
        self.t += 1
        if self.variant == "plain":
            return g
        self.m = 0.9 * self.m + 0.1 * g
        if self.variant == "momentum":
            return self.m
        if self.variant == "nesterov":  # the average one step ahead
            return 0.9 * self.m + 0.1 * g
        self.v = 0.999 * self.v + 0.001 * g**2  # Kingma and Ba (2015), Algorithm 1
        return (self.m / (1 - 0.9**self.t)) / (np.sqrt(self.v / (1 - 0.999**self.t)) + 1e-8)


def sfsa(
    X,
    Y,
    r,
    *,
    k,
    sizes,
    steps,
    batch,
    loss,
    variant="plain",
    alpha=0.0,
    sigma=False,
    units=False,
    intercept=True,
    begin=0,
    rare=False,
):
    """Weights (p, q), intercepts (q,), and who is alive, after as many batches as there are steps.

    X (n, p), Y (n, q), r (n,) sample weights; `sizes` are the M_t, `steps` the eta_t. With `sigma`
    features are ranked by sigma_j |beta_j| (Remark 1), else by |beta_j|; several outputs by the norm.
    Without `begin` that is the paper's. The rows of batches up to `begin`, where no feature is removed, are
    steps of eta_t / batch each; with `units` a feature that has not varied so far stays where it is then.
    With `rare` values are -1, 0 and 1, and steps are in units of the features' mean squares over all rows.
    """
    slope = LOSSES[loss][0]
    p, q = X.shape[1], Y.shape[1]
    beta, bias, alive = np.zeros((p, q)), np.zeros(q), np.ones(p, bool)
    moments, bias_moments = Moments(variant, (p, q)), Moments(variant, q)
    for t, (M, eta) in enumerate(zip(sizes, steps)):
        rows = slice(t * batch, (t + 1) * batch)
        if t + 1 <= begin:
            for i in range(rows.start, rows.stop):
                d = np.array([r[i] * slope(s, y) for s, y in zip(X[i] @ beta + bias, Y[i])])
                x = X[i] * (X[: i + 1] != X[0]).any(axis=0) if units else X[i]
                x = x * rarity(X[: i + 1], r[: i + 1]) if rare else x
                beta = beta - eta / batch * (np.outer(x, d) + alpha * beta)
                bias = bias - eta / batch * d * intercept
            continue
        x, scores = X[rows] * alive, X[rows] @ beta + bias
        D = [[w * slope(s, y) for s, y in zip(*pair)] for w, *pair in zip(r[rows], scores, Y[rows])]
        root = np.sqrt(rarity(X[: rows.stop], r[: rows.stop]))[:, None] if rare else 1.0
        beta = beta - eta * (root * moments.direction(root * (x.T @ np.array(D) / batch)) + alpha * beta)
        bias = bias - eta * bias_moments.direction(np.mean(D, axis=0)) * intercept
        alive = largest(beta, X[: rows.stop], r[: rows.stop], alive, M, sigma)
        for a in (beta, moments.m, moments.v):
            a[~alive] = 0.0
    answer = largest(beta, X[: rows.stop], r[: rows.stop], alive, k, sigma)
    return beta * answer[:, None], bias, alive


def rarity(X, r):
    """Weight of all rows over that of the rows in which a feature is not zero."""
    return r.sum() / np.maximum(r @ (X != 0), 1e-300)


def largest(beta, X, r, alive, M, sigma):
    """The M features that are kept; of equals those that were ever seen, then the lower index."""
    score = np.square(beta).sum(axis=1)
    if sigma:
        score = score * np.average((X - np.average(X, axis=0, weights=r)) ** 2, axis=0, weights=r)
    mantissa, exponent = np.frexp(score)
    score = np.ldexp(np.round(mantissa * 2**25), exponent - 25)  # what ties but for rounding ties
    seen = (X != 0).any(axis=0)
    order = np.lexsort((np.arange(len(score)), ~seen, -score, ~alive))
    return alive & np.isin(np.arange(len(score)), order[:M])
