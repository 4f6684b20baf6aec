"""Running averages row by row, straight from [Sun] eqs. (3.1) and (3.11), in longdouble."""

import numpy as np


def running_averages(X, y, w=None, alpha=None, schedule=None):
    """Means and centred second moments of z = (x, y), one row at a time."""
    Z = np.column_stack([X, y]).astype(np.longdouble)
    w = np.ones(len(Z)) if w is None else w
    total, mean, S = np.longdouble(0), np.zeros(Z.shape[1], np.longdouble), 0
    for n, (z, weight) in enumerate(zip(Z, w)):
        if schedule is None:
            total = total * (1 - (alpha or 0)) + weight
            a = weight / total
        else:
            # eq. (3.11) for a row of weight 1; a weight multiplies the row's share
            odds = weight * schedule(n) / (1 - schedule(n)) if n else np.inf
            a = 1.0 if n == 0 else odds / (1 + odds)
        delta = z - mean
        mean = mean + a * delta
        S = (1 - a) * (S + a * np.outer(delta, delta))
    return mean, S
