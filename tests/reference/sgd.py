"""Slow twins of SGD, TSGD ([Sun] Algorithm 2) and SIHT ([Susan] section 3): dense, every weight every row.

One output. `loss` is the derivative with respect to the margin and its curvature bound.
"""

import math

import numpy as np

LOSSES = {
    "squared": (lambda m, y: m - y, 1.0),
    "logistic": (lambda m, y: -y / (1 + math.exp(y * m)), 0.25),
    "hinge": (lambda m, y: -y if y * m < 1 else 0.0, 1.0),
    "squared_hinge": (lambda m, y: -2 * y * max(0.0, 1 - y * m), 2.0),
}


def fade(schedule, rows):
    """s(t) for t = 1, ..., rows; the doubling trick starts at a = 3."""
    a = 3
    for t in range(1, rows + 1):
        if t > a:
            a = 2 * t
        yield {"constant": 1.0, "sqrt": t**-0.5, "doubling": math.log(a) / a}[schedule]


def descend(X, y, loss, eta, schedule, alpha, r, standardize, intercept=True, truncate=None, start=None):
    """Weights, intercept and variances after the rows; `truncate(w, square)` after every step, if given.

    Where `truncate` keeps k features, a derived step (eta = None) has squared norms of 3 k values, by their
    share of the row, or of the features kept if these are larger. With `start`, a tuple (C, w, b), the first
    C rows are seen but not learned, and w, b are the weights after them. Without
    `truncate` weights follow their units, while these are of less than 64 values, or where a value outweighs
    all before it.
    """
    slope, curvature = LOSSES[loss]
    n, p = X.shape
    begin, w, b = start or (0, np.zeros(p), 0.0)
    norms, counts, before = [], [], np.zeros(p)
    for t, s in enumerate(fade(schedule, n)):
        x, seen = X[t], X[: t + 1]
        present = seen != 0
        u = x.copy()
        if standardize:  # in units of the root mean square of the values that are there
            total = (r[: t + 1, None] * present).sum(axis=0)
            square = (r[: t + 1, None] * seen**2).sum(axis=0)
            # the mean square over all rows, unless the step is given or truncated
            weight = r[: t + 1].sum() if eta is None and not truncate else total
            u = np.divide(x * weight, square, out=np.zeros(p), where=x != 0)
            early = ((total - r[t] * (x != 0) < 64) | (2 * r[t] * x**2 > square)) & (x != 0)
            if not truncate and t >= begin:
                unit = np.sqrt(np.divide(square, total, out=np.ones(p), where=square > 0))
                w = w * np.where(early, np.divide(before, unit, out=np.ones(p), where=before > 0), 1)
            before = np.sqrt(np.divide(square, total, out=np.zeros(p), where=total > 0))
        mean = np.average(seen, axis=0, weights=r[: t + 1])
        variance = np.average((seen - mean) ** 2, axis=0, weights=r[: t + 1]) if standardize else np.ones(p)
        size, count = (x * u).sum(), (x != 0).sum()
        if truncate and size > 0:
            kept = (x * u)[w != 0].sum() if t >= begin else 0.0
            part = max(min(1.0, 3 * truncate.k / count), kept / size)
            size, count = part * size, part * count
        norms.append(size)
        counts.append(count)
        if eta is None:
            unit = sum(norms) / sum(counts) if intercept and sum(counts) else float(intercept)
            if standardize and not truncate:
                unit = float(intercept)
            mean_weight, largest = r[: t + 1].mean(), r[: t + 1].max()
            most = max(mean_weight * (np.mean(norms) + unit), max(mean_weight, largest / 4) * (size + unit))
            step = s / (4 * curvature * most + alpha) if most else 0.0
            step_b = step * unit
        else:
            step, step_b = eta * s, eta * s * intercept
        if t < begin:
            continue
        d = r[t] * slope(x @ w + b, y[t])
        w = w - step * (d * u + alpha * w)
        b = b - step_b * d
        if truncate:  # in the units of the step; a constant feature never
            square = before**2 if standardize else variance
            w = truncate(w, np.where(variance > 1e-12 * square, square, 0.0))
    return w, b, variance


class Truncate:
    """All but the k largest by |w_j|^2 times a square are zero; ties to the lower index, 0 never."""

    def __init__(self, k):
        self.k = k

    def __call__(self, w, square):
        score = np.array([float(f"{s:.10e}") for s in square * w**2])  # what rounding tells apart is a tie
        best = [j for j in np.lexsort([np.arange(len(w)), -score]) if score[j] > 0][: self.k]
        out = np.zeros(len(w))
        out[best] = w[best]
        return out


def stream_refit(X, y, r, k, w, variance, choices, intercept=True):
    """Least squares of the k best features after the rows, where these are candidates (refit of TSGD).

    `choices[n]` are (weights, variances) after n rows, for n = 100, 200, 400, ...: the 2 k best of them are
    the candidates of the rows from n on. Those with fewer than 4 k + 2 rows do not count. Returns
    weights and intercept, or None without candidates that count.
    """
    n = len(X)
    chosen = [np.flatnonzero(Truncate(k)(w, variance))]
    for at in sorted(choices, reverse=True):
        candidates = np.flatnonzero(Truncate(2 * k)(*choices[at]))
        if n - at < 2 * len(candidates) + 2:
            continue
        use = np.intersect1d(chosen[0], candidates)
        A = np.column_stack([X[at:, use], np.full(n - at, float(intercept))]) * np.sqrt(r[at:, None])
        beta = np.linalg.lstsq(A, y[at:] * np.sqrt(r[at:]), rcond=None)[0]
        out = np.where(np.isin(np.arange(len(w)), chosen[0]), w, 0.0)
        out[use] = beta[:-1]
        return out, beta[-1]
    return None
