"""The quantile loss, in every family: as low as linear programming gets it, within its smoothing."""

import numpy as np
import pytest
from sklearn.linear_model import QuantileRegressor

import streamsieve
from streamsieve.core.losses import LOSSES
from streamsieve.core.params import ParamError


def rows(noise=1.0, n=1000, p=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) + 5 * (np.arange(p) == 3)
    return X, X[:, 0] - X[:, 1] + noise * (1 + 0.5 * np.abs(X[:, 2])) * rng.standard_t(3, size=n) + 100


def pinball(model, X, y, quantile):
    left = y - model.predict(X)
    return np.mean(np.maximum(quantile * left, (quantile - 1) * left))


@pytest.mark.parametrize("noise", [1.0, 0.1])
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", ["OLS", "Sieve", "RDA", "SIHT"])
def test_the_fit_is_that_of_linear_programming_within_its_smoothing(name, quantile, noise):
    X, y = rows(noise)
    k = {} if name == "OLS" else {"k": X.shape[1]}
    ours = getattr(streamsieve, f"{name}Regressor")(loss="quantile", quantile=quantile, **k).fit(X, y)
    theirs = QuantileRegressor(quantile=quantile, alpha=0, solver="highs").fit(X, y)
    smoothing = LOSSES["quantile"].width / 4 * LOSSES["quantile"].units(y[:, None])[1][0]
    assert pinball(ours, X, y, quantile) < pinball(theirs, X, y, quantile) + smoothing
    assert abs(np.mean(y < ours.predict(X)) - quantile) < 0.03


@pytest.mark.parametrize("name", ["SGD", "TSGD", "SFSA"])
def test_a_stream_comes_close_row_by_row(name):
    X, y = rows(n=20_000)
    model = getattr(streamsieve, f"{name}Regressor")(loss="quantile", quantile=0.8)
    for at in range(0, len(y), 500):
        model.partial_fit(X[at : at + 500], y[at : at + 500])
    assert abs(np.mean(y < model.predict(X)) - 0.8) < 0.05


def test_a_level_without_its_loss_is_refused():
    X, y = rows(n=50)
    with pytest.raises(ParamError, match=r"quantile=0\.9; expected 0\.5 with loss='squared'"):
        streamsieve.SieveRegressor(quantile=0.9).fit(X, y)
    with pytest.raises(ParamError, match="quantile=1"):
        streamsieve.SieveRegressor(loss="quantile", quantile=1).fit(X, y)
    with pytest.raises(TypeError, match="quantile"):
        streamsieve.SieveClassifier(quantile=0.9)


def test_files_and_copies_keep_the_level(tmp_path):
    X, y = rows(n=200)
    model = streamsieve.SieveRegressor(2, loss="quantile", quantile=0.9).fit(X, y)
    streamsieve.save(model, tmp_path / "m")
    again = streamsieve.load(tmp_path / "m")
    assert again.quantile == 0.9
    assert np.array_equal(again.coef_, model.coef_)
