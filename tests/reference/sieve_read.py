"""Slow twin of how a sieve reads a model of squared loss, from the pseudocode of docs/how-it-works.md."""

import numpy as np

RIDGES = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-6)
FACTORS = (None, 1.0, 10.0, 0.1)  # None: the model of the elimination


def ladder(most):
    sizes = {*range(1, 12), *(round(12 * 2 ** (j / 2)) for j in range(30)), most}
    return sorted((size for size in sizes if size <= most), reverse=True)


def keys(X):
    """A number for the content of each row."""
    bits = np.where(X == 0, 0, X.astype(np.float32)).astype(np.float32).view(np.uint32).astype(np.uint64)
    r = np.arange(1, X.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    total = (bits * (r ^ (r >> np.uint64(32)))).sum(axis=1, dtype=np.uint64)
    return ((total ^ (total >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32)


def folds(X, label=None, partition=0):
    """The fold of each row, of which there are no copies."""
    if label is None:
        number = (keys(X) % 25).astype(int)
    else:
        number = np.empty(len(X), dtype=int)
        number[np.lexsort((keys(X), label))] = np.arange(len(X)) % 25
    return (number + partition * (number // 5)) % 5


def originals(Z):
    """Columns that vary, without linear functions of one before them."""
    kept = []
    for j in np.flatnonzero(Z.std(axis=0) > 0):
        if all(abs(np.corrcoef(Z[:, i], Z[:, j])[0, 1]) <= 1 - 1e-9 for i in kept):
            kept.append(j)
    return np.array(kept)


def ridge_fit(Z, t, columns, ridge):
    """Weights, intercept, and the inverse; `ridge` is a number, or one for each column."""
    A, mean = Z[:, columns] - Z[:, columns].mean(axis=0), t.mean()
    M = np.linalg.inv(A.T @ A / len(t) + ridge * np.eye(len(columns)))
    B = M @ A.T @ (t - mean) / len(t)
    return B, mean - B @ Z[:, columns].mean(axis=0), M


def model(Z, t, columns, ridge, factor):
    """Weights and intercept: of the elimination, or refitted with the weak columns shrunk more."""
    B, b, _ = ridge_fit(Z, t, columns, ridge)
    if factor is None:
        return B, b
    square = B**2
    typical = (square**2).sum() / square.sum()
    return ridge_fit(Z, t, columns, factor * ridge * typical / np.maximum(square, 1e-6 * typical))[:2]


def eliminate(Z, t, columns, ridge, sizes):
    """Columns at each size: the one by which the objective loses least leaves."""
    found = {}
    while True:
        if len(columns) in sizes:
            found[len(columns)] = columns
        if len(columns) == min(sizes):
            return found
        B, _, M = ridge_fit(Z, t, columns, ridge)
        columns = np.delete(columns, np.argmin(B**2 / np.diag(M)))


def read(X, y, k="auto", criterion="cv"):
    """Columns, weights and intercept."""
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    t = (y - y.mean()) / y.std()
    columns = originals(Z)
    sizes = [min(k, len(columns))] if k != "auto" else ladder(min(len(columns), 2 * len(y)))

    partitions = [folds(X, partition=t) for t in range(3 if k == "auto" and len(y) <= 400 else 1)]

    def measure(ridge, j, f):
        """Adds the losses of a fold of partition j, left out of an elimination, at each size and refit."""
        rest, held = partitions[j] != f, partitions[j] == f
        for size, S in eliminate(Z[rest], t[rest], columns, ridge, sizes).items():
            for factor in FACTORS:
                B, b = model(Z[rest], t[rest], S, ridge, factor)
                error = t[held] - Z[held][:, S] @ B - b
                losses.setdefault((ridge, size, factor), np.zeros((len(partitions), 5)))[j, f] = (
                    0.5 * (error**2).sum()
                )

    losses, first, worse = {}, {}, 0
    for ridge in RIDGES:
        measure(ridge, 0, 0)
        loss = min(loss[0, 0] for (r, _, _), loss in losses.items() if r == ridge)
        worse = 0 if loss < min(first.values(), default=np.inf) else worse + 1
        first[ridge] = loss
        if worse == 2:
            break
    place = {ridge: i for i, ridge in enumerate(first)}
    finalists = sorted(first, key=lambda r: first[r] * (1 + 1e-5 * place[r]))[:3]
    finalists.sort(reverse=True)
    losses = {at: loss for at, loss in losses.items() if at[0] in finalists}
    for ridge in finalists:
        for j, f in [(j, f) for j in range(len(partitions)) for f in range(5)][1:]:
            measure(ridge, j, f)

    def better_than_constant(j, fold):
        constant = np.array([0.5 * ((t[fold == f] - t[fold != f].mean()) ** 2).sum() for f in range(5)])
        all_losses = np.array([loss[j] for loss in losses.values()])
        others = all_losses.sum(axis=1)[:, None] - all_losses
        gain = constant - all_losses[others.argmin(axis=0), np.arange(5)]
        clearly = gain.sum() > 1.53 * gain.std(ddof=1) * 5**0.5
        return gain.sum() > 3 and (clearly or (gain > 0).sum() >= 4)

    votes = [better_than_constant(j, fold) for j, fold in enumerate(partitions)]
    if k == "auto" and sum(votes) <= len(votes) / 2:
        return np.empty(0, dtype=int), np.empty(0), y.mean()

    def tied(at):
        return losses[at].sum() * (1 + 1e-5 * finalists.index(at[0]))

    curve = {s: min((at for at in losses if at[1] == s), key=tied) for s in sizes}
    size = min(sizes, key=lambda s: losses[curve[s]].sum())
    if criterion == "1se":
        for s in sorted(sizes):
            d = losses[curve[s]] - losses[curve[size]]
            if d.sum(axis=1).mean() <= (5 * d.var(axis=1, ddof=1).mean()) ** 0.5:
                size = s
                break
    ridge, _, factor = curve[size]
    S = eliminate(Z, t, columns, ridge, [size])[size]
    B, b = model(Z, t, S, ridge, factor)
    coef = B / X.std(axis=0)[S] * y.std()
    return S, coef, b * y.std() + y.mean() - coef @ X.mean(axis=0)[S]
