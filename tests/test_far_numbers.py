"""Numbers far from zero: learned as well as those near it, or said."""

import numpy as np
import pytest
import scipy.sparse as sp
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


def damaged_cell(X, at):
    X = X.copy()
    X[at, 10] = 1e12
    return X


def late_column(X, at):
    """A sensor that is switched on late."""
    X = X.copy()
    X[:at, 10], X[at:, 10] = 0.0, 1e9
    return X


@pytest.mark.filterwarnings("ignore:.* will not be learned .columns .10.:UserWarning")
@pytest.mark.parametrize("how", ["fit", "stream"])
@pytest.mark.parametrize("change", [damaged_cell, late_column])
@pytest.mark.parametrize("name", [*NAMES, "SieveRegressor"])
def test_a_value_far_outside_of_a_column_that_does_not_matter_changes_little(name, change, how):
    """TSGD had R^2 -1e4 and FOBOS -2e4 after one damaged cell, BARDA 0 after a late column."""
    (X, y), (Xt, yt) = rows(0), rows(1)
    score = r2_score(yt, learned(name, how, X, y).predict(Xt))
    model = learned(name, how, change(X, 150), y)
    now = Xt if change is damaged_cell else late_column(Xt, 0)
    assert r2_score(yt, model.predict(now)) > score - 0.03
    assert set(range(K)) <= set(model.get_support(indices=True)) or score < 0.8


@pytest.mark.parametrize("sparse", [False, True])
def test_values_too_far_out_are_counted_and_said_once(sparse):
    X, y = rows(0)
    X = damaged_cell(damaged_cell(X, 300), 700)
    model = streamsieve.FOBOSRegressor(k=K)
    X = sp.csr_array(X) if sparse else X
    model.partial_fit(X[:300], y[:300])
    with pytest.warns(UserWarning, match="1 value of X will not be learned .columns .10.*standardize=False"):
        model.partial_fit(X[300:400], y[300:400])
    model.partial_fit(X[400:], y[400:])
    assert model._model.prepare.n_far == 2


def test_a_call_that_fails_counts_no_values():
    X, y = rows(0)
    model = streamsieve.SGDRegressor(eta=10.0).partial_fit(X[:120], y[:120])
    with pytest.warns(UserWarning, match="not be learned"), pytest.raises(ValueError, match="eta"):
        model.partial_fit(damaged_cell(X, 3), y)
    assert model._model.prepare.n_far == 0


@pytest.mark.parametrize("name", ["SGDRegressor", "TSGDRegressor"])
def test_flags_and_rare_columns_stay_in_use(name):
    """A flag that the first rows all have, and a column that they lack, are not too far out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    X[:, 2] = X[:, 3] = 1.0
    X[200:, 2] = rng.random(2800) < 0.9
    X[:200, 3] = 0.0
    X[200:, 3] = 20 * (rng.random(2800) < 0.05)
    y = X[:, 0] + 2 * X[:, 2] + X[:, 3] / 10
    model = learned(name, "stream", X, y)
    assert model._model.prepare.n_far == 0
    assert r2_score(y[200:], model.predict(X[200:])) > 0.9
