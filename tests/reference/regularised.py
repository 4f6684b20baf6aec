"""Slow twins of the regularised learners, each from its paper: dense, every weight every row, one output.

`steps` yields for each row the step of the weights and that of the intercept, with `sgd.fade` and the rule
of the derived step (eta = None).
"""

import math

import numpy as np

from reference.sgd import LOSSES, fade


def soft(v, by):
    return np.sign(v) * np.maximum(np.abs(v) - by, 0)


def steps(X, r, eta, schedule, curvature):
    for t, s in enumerate(fade(schedule, len(X))):
        if eta is not None:
            yield eta * s, eta * s
            continue
        norms, count = (X[: t + 1] ** 2).sum(), np.count_nonzero(X[: t + 1])
        unit = norms / count if count else 1.0
        mean_weight, largest = r[: t + 1].mean(), r[: t + 1].max()
        heavy = max(mean_weight, largest / 4)
        most = max(mean_weight * (norms / (t + 1) + unit), heavy * ((X[t] ** 2).sum() + unit))
        yield s / (4 * curvature * most), s / (4 * curvature * most) * unit


def falling(pairs):
    """beta_t = 1 / eta_t must not fall."""
    least = math.inf
    for step, step_b in pairs:
        least = min(least, step)
        yield least, step_b


def adaptive_steps(X, y, eta, schedule):
    for t, s in enumerate(fade(schedule, len(X))):
        if eta is not None:
            yield eta * s, eta * s
            continue
        seen = X[: t + 1]
        size, count = (seen**2).sum() / (t + 1), np.count_nonzero(seen) / (t + 1)
        scale = math.sqrt(np.mean(y[: t + 1] ** 2.0))
        yield (s * scale / math.sqrt(size * count) if size else 0.0), s * scale / math.sqrt(count + 1)


def truncated_gradient(X, y, loss, r, eta, schedule, lam, K=10, theta=math.inf, intercept=True):
    """Langford et al. (2009), section 3: T_1 after every K-th row; m rows later read as if after m more."""
    slope, curvature = LOSSES[loss]
    w, b = np.zeros(X.shape[1]), 0.0

    def T(v, alpha):
        return np.where(np.abs(v) <= theta, soft(v, alpha), v)

    for t, (step, step_b) in enumerate(steps(X, r, eta, schedule, curvature), 1):
        d = r[t - 1] * slope(X[t - 1] @ w + b, y[t - 1])
        w, b = w - step * d * X[t - 1], b - intercept * step_b * d
        if t % K == 0:
            w = T(w, K * step * lam)
    return T(w, t % K * step * lam), b


def fobos(X, y, loss, r, eta, schedule, lam, l1_ratio=1.0, intercept=True):
    """Duchi and Singer (2009), eqs. (2), (3) with the prox of the elastic net."""
    slope, curvature = LOSSES[loss]
    w, b = np.zeros(X.shape[1]), 0.0
    for x, t, s, (step, step_b) in zip(X, y, r, steps(X, r, eta, schedule, curvature)):
        d = s * slope(x @ w + b, t)
        w = soft(w - step * d * x, step * lam * l1_ratio) / (1 + step * lam * (1 - l1_ratio))
        b -= intercept * step_b * d
    return w, b


def rda(X, y, loss, r, eta, schedule, lam, rho=0.0, l1_ratio=1.0, intercept=True):
    """[Ma] eq. (18), the long form, with gamma sqrt(t) = 1 / eta_t and the elastic net."""
    slope, curvature = LOSSES[loss]
    w, b, g = np.zeros(X.shape[1]), 0.0, np.zeros(X.shape[1])
    for t, (step, step_b) in enumerate(falling(steps(X, r, eta, schedule, curvature)), 1):
        d = r[t - 1] * slope(X[t - 1] @ w + b, y[t - 1])
        g = (t - 1) / t * g + d * X[t - 1] / t
        beta = 1 / step  # h's factor is beta / t
        w = -soft(g, lam * l1_ratio + beta / t * rho) / (beta / t + lam * (1 - l1_ratio))
        b -= intercept * step_b * d
    return w, b


def adaptive(X, y, loss, r, eta, schedule, lam, dual, delta=0.01, intercept=True):
    """Duchi, Hazan and Singer (2011): eq. (24) for dual averaging, eq. (25) for the composite step."""
    slope, _ = LOSSES[loss]
    p = X.shape[1]
    w, b, G, squares, squares_b = np.zeros(p), 0.0, np.zeros(p), np.zeros(p), 0.0
    for t, (step, step_b) in enumerate(adaptive_steps(X, y, eta, schedule), 1):
        d = r[t - 1] * slope(X[t - 1] @ w + b, y[t - 1])
        g = d * X[t - 1]
        G, squares, squares_b = G + g, squares + g**2, squares_b + d**2
        H = delta + np.sqrt(squares)
        if dual:
            w = -np.sign(G) * step * t / H * np.maximum(np.abs(G) / t - lam, 0)
        else:
            w = soft(w - step * g / H, step * lam / H)
        b -= intercept * step_b * d / (delta + math.sqrt(squares_b))
    return w, b


def sadmm(X, y, loss, r, eta, schedule, lam, form="opg", rho=1.0, intercept=True):
    """Ouyang et al. (2013) and Suzuki (2013) with A = 1, B = -1; "rda" with its averages spelt out."""
    slope, curvature = LOSSES[loss]
    p = X.shape[1]
    w, z, u, b = np.zeros(p), np.zeros(p), np.zeros(p), 0.0
    gs, us, gaps = [], [], []
    pairs = steps(X, r, eta, schedule, curvature)
    for t, (step, step_b) in enumerate(falling(pairs) if form == "rda" else pairs, 1):
        d = r[t - 1] * slope(X[t - 1] @ w + b, y[t - 1])
        g = d * X[t - 1]
        gs.append(g), us.append(u), gaps.append(w - z)
        if form == "opg":
            w = (w / step + rho * z + u - g) / (1 / step + rho)
        else:  # argmin <g-, w> - <u-, w> + rho <(w - z)-, w> + (rho + 1 / eta) / 2t |w|^2
            w = (
                -(np.mean(gs, axis=0) - np.mean(us, axis=0) + rho * np.mean(gaps, axis=0))
                * t
                / (1 / step + rho)
            )
        z = soft(w - u / rho, lam / rho)
        u = u - rho * (w - z)
        b -= intercept * step_b * d
    return z, b
