"""A slim model predicts what the full one does, in few bytes, and cannot learn."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from streamsieve import OLSthRegressor, SieveClassifier, SieveRegressor, TSGDClassifier, TSGDRegressor, save

rng = np.random.default_rng(0)
X = rng.normal(5, 1, (2000, 60))
y = X[:, 3] - X[:, 7] + 0.1 * rng.normal(size=2000)


@pytest.mark.filterwarnings("ignore:.*outside the range")
@pytest.mark.parametrize("estimator", [OLSthRegressor(3), SieveRegressor(8), TSGDRegressor(3)])
def test_it_predicts_what_the_full_model_does(estimator):
    full = estimator.fit(X, y)
    slim = pickle.loads(pickle.dumps(full.slim()))
    for rows in (X, csr_array(X), X * 3):
        assert_allclose(slim.predict(rows), full.predict(rows), rtol=1e-9)
    assert_array_equal(slim.coef_, full.coef_)
    assert_array_equal(slim.get_support(), full.get_support())
    assert_array_equal(slim.transform(X), full.transform(X))
    assert len(pickle.dumps(slim)) < 20_000


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("cls", [SieveClassifier, TSGDClassifier])
def test_labels_and_probabilities(cls, classes):
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    full = cls(4, loss="logistic").fit(X, labels) if cls is TSGDClassifier else cls(4).fit(X, labels)
    slim = full.slim()
    assert_array_equal(slim.predict(X), full.predict(X))
    assert_allclose(slim.predict_proba(X), full.predict_proba(X), atol=1e-9)


def test_missing_values_are_filled():
    Z = X.copy()
    Z[::7, 3] = np.nan
    full = SieveRegressor(3, missing="mean").fit(Z, y)
    assert_allclose(full.slim().predict(Z), full.predict(Z))


def test_it_cannot_learn_or_be_saved(tmp_path):
    slim = OLSthRegressor(2).fit(X, y).slim()
    with pytest.raises(ValueError, match="cannot learn"):
        slim.partial_fit(X, y)
    with pytest.raises(TypeError, match="slim"):
        save(slim, tmp_path / "model.sieve")
    with pytest.raises(ValueError, match="interactions"):
        OLSthRegressor(2, interactions=True).fit(X[:, :5], y).slim()
