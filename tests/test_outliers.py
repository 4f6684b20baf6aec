"""One damaged value that hides all others of its column is said, once; ordinary columns are not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve
from streamsieve.core.outliers import ENOUGH, OUTWEIGHS, outlier_of, outweighing

N, P = 3000, 8
METHODS = ["SieveRegressor", "SieveClassifier", "OLSTRegressor", "OLSTClassifier"]


def rows(seed=0):
    X = np.random.default_rng(seed).normal(size=(N, P))
    return X, X[:, 1] - 2 * X[:, 4]


def said(name, X, y, step=None, **options):
    """What is said while rows are learned, all at once or some at a time, and the model is read twice."""
    model = getattr(streamsieve, name)(2, **options)
    labels = name.endswith("Classifier")
    y = y > 0 if labels else y
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for at in range(0, len(y), step or len(y)):
            part = slice(at, at + (step or len(y)))
            model.partial_fit(X[part], y[part], **({"classes": [False, True]} if labels else {}))
        model.predict(X[:9])
        assert model.coef_.any()
    return [str(each.message) for each in found if "outweighs" in str(each.message)]


@pytest.mark.parametrize("at", [0, 7, 2900])
@pytest.mark.parametrize("name", METHODS)
def test_a_damaged_value_is_said_once(name, at):
    X, y = rows()
    X[at, 1] = 1e4
    (message,) = said(name, X, y)
    assert "column 1 (counted from 0), 10,000, outweighs all others" in message


@pytest.mark.parametrize("name", METHODS)
def test_a_damaged_value_in_a_stream_of_small_calls_is_said(name):
    X, y = rows()
    X[2500, 4] = -1e12
    X[2700, 6] = 1e12
    (message,) = said(name, X, y, step=100)
    assert "column 4 (counted from 0), -1e+12" in message


@pytest.mark.parametrize("name", ["SieveRegressor", "OLSTRegressor"])
def test_a_damaged_value_of_sparse_rows_is_said(name):
    rng = np.random.default_rng(0)
    S = sp.random_array((N, 50), density=0.1, rng=rng, format="csr")
    y = S[:, [3]].toarray()[:, 0]
    assert not said(name, S, y)
    S.data[2000] = 1e6
    (message,) = said(name, S, y)
    assert f"column {S.indices[2000]} (counted from 0), 1e+06" in message


@pytest.mark.parametrize("name", ["SieveRegressor", "SieveClassifier"])
def test_a_sieve_says_it_when_it_makes_room(name):
    X, y = rows()
    X = np.hstack([X, np.random.default_rng(1).normal(size=(N, 200))])
    X[20, 1] = 1e6
    assert len(said(name, X, y, memory="1MB")) == 1


def test_the_name_of_the_column_is_said():
    pd = pytest.importorskip("pandas", reason="pandas, whose frames have names, is not installed")
    X, y = rows()
    X[5, 1] = 1e4
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    for kind in (streamsieve.SieveRegressor, streamsieve.OLSTRegressor):
        with pytest.warns(UserWarning, match="One value of column 'b', 10,000, outweighs"):
            assert kind(2).fit(frame, y).coef_.any()


@pytest.mark.parametrize("name", ["SieveRegressor", "OLSTRegressor"])
@pytest.mark.parametrize("kind", ["normal", "far", "heavy", "flags", "rare", "jump", "drift"])
def test_columns_without_damage_are_not_said(kind, name):
    rng = np.random.default_rng(0)
    X, y = rows()
    match kind:
        case "far":
            X = X + 1e6
        case "heavy":
            X = rng.standard_t(2.0, size=X.shape)
        case "flags":  # each of some rows
            X[:, 2:] = rng.random((N, P - 2)) < 0.001
        case "rare":  # a single value
            X[:, 2:] = 0.0
            X[rng.integers(N, size=P - 2), np.arange(2, P)] = 1e6
        case "jump":
            X[2000:, 3] += 1e6
        case "drift":
            X[:, 3] += np.exp(np.arange(N) / 100)
    assert not said(name, X, y)


def test_a_target_that_decides_the_model_of_olst_is_said():
    X, y = rows()
    y[700] = 1e12
    with pytest.warns(UserWarning, match="One target, 1,000,000,000,000, alone decides the model"):
        streamsieve.OLSTRegressor(2).fit(X, y)


@pytest.mark.parametrize("effects", ["linear", "auto"])
def test_a_target_that_decides_the_model_of_a_sieve_is_said_once(effects):
    X, y = rows()
    y[700] = 1e12
    with pytest.warns(UserWarning, match="alone decides the model") as found:
        streamsieve.SieveRegressor(2, effects=effects).partial_fit(X, y)
    assert len(found) == 1


def test_how_much_outweighs_the_others():
    x = np.tile([-1.0, 1.0], 50)  # the sum of squares is 100
    for factor, place in ((0.9, None), (1.2, 100)):
        assert outweighing(np.append(x, np.sqrt(factor * OUTWEIGHS * 100))) == place
    few = np.append(np.tile([-1.0, 1.0], ENOUGH // 2 - 1), 1e6)
    assert outweighing(few) is None
    assert outweighing(np.append(few, 1.0)) == len(few) - 1


def test_a_column_that_is_nearly_always_the_same_has_no_damage():
    for n, expected in ((ENOUGH - 1, None), (ENOUGH, (3, 1e6))):
        x = np.zeros(1000)
        x[: n + 1] = [1e6, *np.ones(n)]
        assert outlier_of(3, x, 10) == expected


def test_of_many_columns_it_takes_more_to_be_no_chance():
    x = np.append(np.tile([-1.0, 1.0], 50), np.sqrt(50 * OUTWEIGHS * 100))
    assert outlier_of(0, x, 1) is not None
    assert outlier_of(0, x, 100) is None
    rng, found = np.random.default_rng(0), 0
    for _ in range(20):
        X = rng.standard_t(2, size=(50, 300))
        found += bool(said("SieveRegressor", X, rng.normal(size=50)))
    assert found <= 1
