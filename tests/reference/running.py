"""Running averages row by row, straight from [Sun] eqs. (3.1) and (3.11), in longdouble."""

import numpy as np


def running_averages(X, y, w=None, alpha=None, schedule=None):
    """Means and centred second moments of z = (x, y), one row at a time."""
    Z = np.column_stack([X, y]).astype(np.longdouble)
    w = np.ones(len(Z)) if w is None else w
    total, mean, S = np.longdouble(0), np.zeros(Z.shape[1], np.longdouble), 0
    for n, (z, weight) in enumerate(zip(Z, w)):
        # eq. (3.11) for rows of weight 1: what was there fades by 1 - alpha_n, the new row has alpha_n
        fade, new = (1 - (alpha or 0), 1) if schedule is None else (1 - schedule(n), schedule(n))
        if n == 0:
            fade, new = 0, 1
        total = total * fade + weight * new
        a = weight * new / total
        delta = z - mean
        mean = mean + a * delta
        S = (1 - a) * (S + a * np.outer(delta, delta))
    return mean, S
