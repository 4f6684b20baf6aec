"""Numbers far from zero: learned as well as those near it, or said."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

import streamsieve
from streamsieve.methods import ESTIMATORS

N, P, K = 1200, 12, 3
NAMES = [name for name, (_, task) in ESTIMATORS.items() if task == "regression" and name != "SieveRegressor"]


def rows(seed, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    return X, X[:, :K] @ np.array([1.0, -1.0, 1.0]) + 0.3 * rng.normal(size=n)


def learned(name, how, X, y):
    kind = getattr(streamsieve, name)
    model = kind(**({"k": K} if "k" in kind._params else {}))
    if how == "fit":
        return model.fit(X, y)
    for at in range(0, len(y), 100):
        model.partial_fit(X[at : at + 100], y[at : at + 100])
    return model


@pytest.mark.parametrize("how", ["fit", "stream"])
@pytest.mark.parametrize("name", NAMES)
def test_targets_far_from_zero_are_learned_as_well_as_those_near_it(name, how):
    """Of 1e12 a double holds four digits after the point."""
    (X, y), (Xt, yt) = rows(0), rows(1)
    near, far = learned(name, how, X, y), learned(name, how, X, y + 1e12)
    score = r2_score(yt, near.predict(Xt))
    assert r2_score(yt, far.predict(Xt) - 1e12) > score - 0.03
    assert np.array_equal(far.get_support(), near.get_support())


def test_targets_of_the_sieve_far_from_zero():
    (X, y), (Xt, yt) = rows(0), rows(1)
    assert r2_score(yt, learned("SieveRegressor", "fit", X, y + 1e12).predict(Xt) - 1e12) > 0.9
