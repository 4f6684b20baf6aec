"""Rows that are odd in one respect: the model must still be one that a user would call sensible."""

import warnings

import numpy as np

import streamsieve

from .rules import Failure

COPIES = ("SieveRegressor", "OLSTRegressor", "OLSthRegressor", "OFSARegressor", "OLassoRegressor")
COUNTS = ("SieveRegressor", "OLSRegressor", "OLassoRegressor", "OFSARegressor", "OMCPRegressor")


def run(number, seed, folder):  # noqa: ARG001
    rng = np.random.default_rng([seed, number])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # one count that decides the model is said
        (near_copies if number % 2 else one_count)(rng)


def near_copies(rng):
    """Columns twice, up to rounding and a unit: a representative of each that matters is selected."""
    name, p, m = str(rng.choice(COPIES)), int(rng.integers(8, 20)), int(rng.integers(2, 6))
    X = rng.normal(size=(600, p))
    y = X[:, :m] @ rng.choice([-2.0, -1.0, 1.0, 2.0], m) + 0.3 * rng.normal(size=600)
    copied = X[:, : int(rng.integers(1, p + 1))]
    Z = np.hstack([X, rng.choice([-1.0, 1.0, 1e3]) * (copied + 1e-10 * rng.normal(size=copied.shape))])
    found = set(getattr(streamsieve, name)(k=m).fit(Z, y).get_support(indices=True))
    found = {int(j) if j < p else int(j) - p for j in found}
    if found != set(range(m)):
        raise Failure(f"{name}: {m} of {p} columns matter, {copied.shape[1]} have copies: found {found}")


def one_count(rng):
    """One count far above the others: predictions stay within what the counts can explain."""
    name, count = str(rng.choice(COUNTS)), float(np.floor(10 ** rng.uniform(2, 12)))
    X = rng.normal(size=(400, 5))
    y = rng.poisson(np.exp(1 + 0.5 * X[:, 0])).astype(float)
    y[rng.integers(400)] = count
    options = {} if name == "OLSRegressor" else {"k": 5}
    found = getattr(streamsieve, name)(loss="poisson", **options).fit(X, y).predict(X)
    if not found.max() <= 10 * y.max():
        raise Failure(f"{name}: a prediction is {found.max():g} where the largest count is {count:g}")
    if not 0.01 * y.mean() <= found.mean() <= 100 * y.mean():
        raise Failure(f"{name}: predictions are {found.mean():g} in the mean, counts {y.mean():g}")
