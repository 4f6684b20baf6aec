"""Slow twin of stabilized truncated SGD ([Ma] Algorithms 2, 3 and 4): dense, every feature every burst.

`blocks` are lists of (rows, orders): rows indices into X, orders[m] the order in which path m takes them.
"""

import math

import numpy as np

from .sgd import LOSSES, fade


def units(X, r, rows):
    """Root mean square of the non-zero values, and deviation in that unit, over the rows so far."""
    seen, weight = X[rows], r[rows][:, None]
    total = (weight * (seen != 0)).sum(axis=0)
    square = (weight * seen**2).sum(axis=0)
    rms = np.sqrt(np.divide(square, total, out=np.zeros(X.shape[1]), where=total > 0))
    mean = (weight * seen).sum(axis=0) / weight.sum()
    deviation = np.sqrt((weight * (seen - mean) ** 2).sum(axis=0) / weight.sum())
    deviation[np.ptp(seen, axis=0) == 0] = 0
    return rms, np.divide(deviation, rms, out=np.zeros(X.shape[1]), where=rms > 0)


def annealed(d, beta, gamma):
    """(12), d the share of features purged."""
    if gamma >= 0:
        return beta * (math.exp(-gamma * d) - d * math.exp(-gamma))
    return beta * math.log(1 - gamma * (1 - d)) / math.log(1 - gamma)


def quantile(changes, beta):
    """(11): the largest g such that at most a share beta of the changes is at or below anything smaller."""
    return sorted(changes)[min(len(changes) - 1, int(beta * len(changes)))]


def shuffled(seed, block, path, n):
    """The order of a block's n rows in a path: Fisher and Yates with SplitMix64."""
    full = 2**64 - 1

    def mixed(z):
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & full
        z = (z ^ z >> 27) * 0x94D049BB133111EB & full
        return z ^ z >> 31

    state = mixed(mixed(mixed(seed) + block & full) + path & full)
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        state = state + 0x9E3779B97F4A7C15 & full
        j = (mixed(state) >> 32) * (i + 1) >> 32
        order[i], order[j] = order[j], order[i]
    return order


def bursts(X, y, order, slope, K, g0, eta, universal):
    """[Ma] Algorithms 1 and 2, one burst after the other over the rows in this order."""
    w, seen = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for t, i in enumerate(order, 1):
        w = w - eta * slope(X[i] @ w, y[i]) * X[i]
        seen += X[i] != 0
        if t % K == 0:
            w = np.sign(w) * np.maximum(np.abs(w) - g0 * (K if universal else seen), 0)
            seen[:] = 0
    return w


class Twin:
    def __init__(self, X, Y, r, loss, *, n_paths, K, n_bursts, beta, gamma, pi, delta, K_rate, k, eta,
                 schedule, standardize, intercept, memory=256, g0="auto", truncation="informative",
                 spared=5):  # fmt: skip
        self.__dict__.update(locals())
        p, q = X.shape[1], Y.shape[1]
        self.W, self.b = np.zeros((n_paths, p, q)), np.zeros((n_paths, q))
        self.stable, self.seen = np.ones(p, dtype=bool), np.zeros(p, dtype=bool)
        self.times, self.start = np.zeros((n_paths, p)), self.W.copy()
        self.kappa, self.hits, self.probability = np.zeros(p), np.zeros(p), np.ones(p)
        self.rms, self.spread = np.ones(p), np.ones(p)
        self.gravity, self.rejection, self.length = 0.0 if g0 == "auto" else g0, beta, K
        self.bursts, self.filled, self.stages, self.past = 0, 0, 0, []
        self.notes = []  # of the stage: path, feature, change over times seen, whether it was left non-zero
        self.norms, self.counts, self.weights = ([[] for _ in range(n_paths)] for _ in range(3))
        self.fading = list(fade(schedule, 10_000))

    def block(self, rows, orders):
        self.past = [*self.past, *rows]
        met = (self.X[rows] != 0).any(axis=0)
        self.seen |= met
        if self.standardize:  # of the features that the block has
            rms, spread = units(self.X, self.r, self.past)
            self.rms[met], self.spread[met] = rms[met], spread[met]
        Z = np.divide(self.X, self.rms, out=np.zeros(self.X.shape), where=self.rms > 0)
        for t in range(len(rows)):
            for m in range(self.n_paths):
                self.step(m, Z, rows[orders[m][t]])
            self.filled += 1
            if self.filled == self.length:
                self.filled = 0
                for m in range(self.n_paths):
                    self.truncate(m)
                self.bursts += 1
                if self.bursts == self.n_bursts:
                    self.bursts = 0
                    self.end_stage()

    def step(self, m, Z, i):
        z = Z[i] * self.stable
        slope, curvature = LOSSES[self.loss]
        d = np.array([self.r[i] * slope(z @ self.W[m, :, o] + self.b[m, o], self.Y[i, o])
                      for o in range(self.Y.shape[1])])  # fmt: skip
        self.norms[m].append(z @ z)
        self.counts[m].append((z != 0).sum())
        self.weights[m].append(self.r[i])
        s = self.fading[len(self.norms[m]) - 1]
        eta = eta_b = self.eta
        if eta == "auto":
            age = np.arange(len(self.norms[m]))[::-1]
            # a plain mean of the first rows, then one that forgets
            rest = np.maximum(0, np.minimum(age, len(age) - self.memory))
            weight = (1 - 1 / self.memory) ** rest
            size = (weight * self.norms[m]).sum()
            count = (weight * self.counts[m]).sum()
            unit = (size / count if size > 0 else 1.0) if self.intercept else 0.0
            mean_weight = np.mean(self.weights[m])
            heavy = max(mean_weight, max(self.weights[m]) / 4)
            most = max(mean_weight * (size / min(len(age), self.memory) + unit), heavy * (z @ z + unit))
            eta = 1 / (4 * curvature * most) if most else 0.0
            eta_b = eta * unit
        self.start[m] = np.where(self.times[m][:, None] == 0, self.W[m], self.start[m])
        self.times[m] += z != 0
        self.W[m] -= s * eta * np.outer(z, d)
        self.b[m] -= s * eta_b * d * self.intercept

    def truncate(self, m):
        """Algorithm 2, or 1."""
        if self.truncation == "universal":
            for j in np.flatnonzero(self.times[m] == 0):
                self.W[m, j] = self.pulled(self.W[m, j], 0, self.spread[j], self.length)
        for j in np.flatnonzero(self.times[m]):
            times, spread = self.times[m, j], self.spread[j]
            change = np.abs(self.W[m, j] - self.start[m, j]).max() * spread / times
            self.W[m, j] = self.pulled(self.W[m, j], times, spread, self.length)
            self.notes.append((j, change, self.W[m, j].any()))
        self.times[m] = 0

    def pulled(self, w, times, spread, rows):
        if spread == 0:
            return 0 * w
        if self.truncation == "universal":
            times = rows
        return np.sign(w) * np.maximum(np.abs(w) - self.gravity * times / spread, 0)

    def end_stage(self):
        """The rest of Algorithm 4, with the practical remarks of section 5."""
        for j in {j for j, _, _ in self.notes}:
            if self.kappa[j] > self.delta:
                self.kappa[j] = self.hits[j] = 0
            self.kappa[j] += sum(1 for i, _, _ in self.notes if i == j)
            self.hits[j] += sum(1 for i, _, kept in self.notes if i == j and kept)
        judged = sorted({j for j, _, _ in self.notes if self.kappa[j] > self.delta})
        for j in judged:
            self.probability[j] = self.hits[j] / self.kappa[j]
        gone = [j for j in judged if self.probability[j] < self.pi]
        least = self.k or 1
        size = np.abs(self.W.sum(axis=0)).max(axis=1) * self.spread
        gone = sorted(gone, key=lambda j: (self.probability[j], size[j], -j))
        gone = gone[: max(0, (self.stable & self.seen).sum() - least)]
        self.stable[gone] = False
        self.W[:, gone] = 0
        stable, seen = (self.stable & self.seen).sum(), self.seen.sum()
        kept = stable / seen
        left = (stable - least) / (seen - least) if seen > least else 0.0
        spared = min(self.spared, self.k or self.spared)
        self.rejection = min(annealed(1 - left, self.beta, self.gamma), max(0, 1 - spared / stable))
        if kept > 0:
            self.length = max(self.K, math.ceil(self.K * math.log(1 / (self.K_rate * kept))))
        changes = [change for j, change, _ in self.notes if self.stable[j] and change != 0]
        if changes and self.g0 == "auto":
            self.gravity = quantile(changes, self.rejection)
        self.notes = []
        self.stages += 1

    def coef(self):
        """The mean over the paths, as if the burst had ended; in the units of the data."""
        W = np.array([[self.pulled(*wts, self.filled) for wts in zip(self.W[m], self.times[m], self.spread)]
                      for m in range(self.n_paths)])  # fmt: skip
        mean = W.mean(axis=0) * self.stable[:, None]
        if self.k:
            size = np.abs(mean).max(axis=1) * self.spread
            order = sorted(range(len(mean)), key=lambda j: (size[j] == 0, -self.probability[j], -size[j], j))
            mean[order[self.k :]] = 0
        return np.divide(mean, self.rms[:, None], out=np.zeros_like(mean), where=self.rms[:, None] > 0).T
