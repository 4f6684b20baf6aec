"""Slow twin of SFSA ([Sun] Algorithm 1, Remark 1): full-size arrays, every feature every batch."""

import numpy as np

from reference.sgd import LOSSES, fade

BEND = {  # second derivatives, by the slope
    "squared": lambda d: np.ones_like(d),
    "logistic": lambda d: abs(d) * (1 - abs(d)),
    "hinge": lambda d: 1.0 * (d != 0),
    "squared_hinge": lambda d: 2.0 * (d != 0),
}


def coarse(score):
    """To 25 bits, so that what ties but for rounding ties."""
    bits = np.ascontiguousarray(score).view(np.int64)
    return ((bits + 2**27) & ~(2**28 - 1)).view(np.float64)


def budget(t, p, k, T, mu, delay):
    """M_t, begun after the delay."""
    t, T = max(0.0, t - delay * T), T * (1 - delay)
    return k + int(max(0, p - k) * max(0.0, (T - t) / (t * mu + T)))


def step_of(variant, g, m, s, t, eta, length):
    """What is added to a weight, and the new moments, for the gradient g."""
    if variant == "plain":
        return -eta * g, m, s
    m = 0.9 * m + 0.1 * g
    if variant == "momentum":
        return -eta * m, m, s
    if variant == "nesterov":
        return -eta * (0.9 * m + 0.1 * g), m, s
    s = 0.999 * s + 0.001 * g * g
    size = np.sqrt(s / (1 - 0.999**t)) + 1e-8 * length
    return -eta * length * np.divide(m / (1 - 0.9**t), size, out=np.zeros_like(m), where=size > 0), m, s


def sfsa(X, Y, r, *, k, T, mu, delay, batch, loss, variant, eta, schedule, lam, standardize, intercept=True):
    """Weights (p, q), intercepts, and who is alive, after the whole batches of the rows."""
    slope, bound = LOSSES[loss]
    (n, p), q = X.shape, Y.shape[1]
    w, m, s = (np.zeros((p, q)) for _ in range(3))
    bias, bias_m, bias_s = (np.zeros(q) for _ in range(3))
    alive, inverse = np.ones(p, bool), np.full(p, np.inf)
    norm = cross = curve = square_slope = norms = entries = 0.0
    pairs = 0
    for t, faded in enumerate(fade(schedule, n // batch), 1):
        start, stop = (t - 1) * batch, t * batch
        B = np.where(alive, X[start:stop], 0.0)
        weight = r[start:stop]
        count = np.cumsum(r[:, None] * (X != 0), axis=0)
        squares = np.cumsum(r[:, None] * X**2, axis=0)

        def renew(which, row, w=w, inverse=inverse, count=count, squares=squares):
            """Units as of the row; weights belong to them."""
            now = count[row, which] / squares[row, which]
            w[which] *= np.sqrt(now / inverse[which])[:, None]
            inverse[which] = now

        trace, pair, D = 0.0, None, np.zeros((batch, q))
        for i, x in enumerate(B):
            if standardize:
                renew((x != 0) & (x**2 * np.where(x != 0, inverse, 0.0) > 16), start + i)
            trace += weight[i] * (x**2 * np.where(x != 0, inverse if standardize else 1.0, 0.0)).sum() / batch
            D[i] = [weight[i] * slope(m_o, y_o) for m_o, y_o in zip(x @ w + bias, Y[start + i])]
        o = np.argmax(abs(D[0]))
        if batch > 1 and D[0, o] != 0:
            both = (B[0] != 0) & (B[1] != 0)
            unit = count[start + 1, both] / squares[start + 1, both] if standardize else 1.0
            pair = abs((B[0, both] * B[1, both] * unit).sum())
        # the step
        norms, entries = norms + trace * batch, entries + (B != 0).sum()
        unit = 0.0 if not intercept else 1.0 if standardize or not entries else norms / entries
        mass, rate = weight.mean(), max(1 / t, 0.01)
        trace += mass * unit
        bends = BEND[loss](D / weight[:, None]).mean()
        norm += (trace - norm) * rate
        curve += (bends - curve) * rate
        square_slope += ((D**2).mean() - square_slope) * rate
        if pairs == 0:
            cross = norm**2
        if pair is not None:
            pair = mass * (pair + unit)
            pairs += 1
            cross += (pair**2 - cross) * max(1 / (pairs + 1), 0.01)
        long = max(norm, trace)
        if batch > 1:
            long = max(cross**0.5, pair or 0.0) + norm / batch + max(0.0, trace - 2 * norm)
        if t < T:
            long = max(long, 0.5 * t * norm / alive.sum())
        curvature = bound if variant == "adam" else max(curve, bends, bound / 64)
        step = faded * (eta if eta else 1 / (curvature * long + lam) if long else 0.0)
        length = 1.0 if eta else square_slope**0.5
        # Algorithm 1: a gradient step
        seen, total = X[:stop], r[:stop]
        spread = np.ones(p)
        root = np.ones(p)
        if standardize:
            touched = (B != 0).any(axis=0)
            with np.errstate(invalid="ignore"):  # the first unit is infinite
                near = abs(count[stop - 1] - inverse * squares[stop - 1]) <= count[stop - 1] / 16
            renew(touched & ~near, stop - 1)
            spread = total @ (seen - np.average(seen, axis=0, weights=total)) ** 2
            spread[spread < 1e-12 * squares[stop - 1]] = 0.0
            root = np.where((spread > 0) & np.isfinite(inverse), np.sqrt(np.minimum(inverse, 1e300)), 0.0)
        change, m, s = step_of(variant, root[:, None] * (B.T @ D) / batch, m, s, t, step, length)
        w = w * (1 - step * lam) + root[:, None] * change
        if intercept:
            root_b = 1.0 if eta else unit**0.5
            change, bias_m, bias_s = step_of(
                variant, root_b * D.mean(axis=0), bias_m, bias_s, t, step, length
            )
            bias = bias + root_b * change
        # and the M_t largest: never seen features go first, by index, then the lowest scores; where the rows
        # have few values, not before a quarter of those seen is due
        M, unseen = budget(t, p, k, T, mu, delay), alive & ~(X[:stop] != 0).any(axis=0)
        score = coarse((w**2).sum(axis=1) * spread)
        surplus = max(0, alive.sum() - M)
        gone = np.flatnonzero(unseen)[::-1][:surplus]
        surplus -= len(gone)
        size = alive.sum() - unseen.sum()
        alive[gone] = False
        if variant != "plain" or 2 * size <= (B != 0).sum() or 4 * surplus >= size or t >= T:
            seen_ones = np.flatnonzero(alive & ~unseen)
            alive[seen_ones[np.lexsort((-seen_ones, score[seen_ones]))][:surplus]] = False
        for a in (w, m, s):
            a[~alive] = 0.0
    kept = np.lexsort((np.arange(p), -coarse((w**2).sum(axis=1) * spread)))[:k]
    w[~np.isin(np.arange(p), kept)] = 0.0
    return w, bias, alive
