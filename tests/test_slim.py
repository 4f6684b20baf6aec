"""A slim model predicts what the full one does, in few bytes, and cannot learn."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from streamsieve import (
    CheckpointError,
    OLSthRegressor,
    SieveClassifier,
    SieveRegressor,
    TSGDClassifier,
    TSGDRegressor,
    load,
    methods,
    save,
)
from streamsieve.export import to_sql

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


@pytest.mark.filterwarnings("ignore:.*outside the range")
@pytest.mark.parametrize("effects", ["shapes", "pairs", "auto"])
def test_shapes_and_pairs_keep_their_tables(effects, tmp_path):
    Z = rng.normal(size=(3000, 12))
    full = SieveRegressor(3, effects=effects).fit(Z, Z[:, 0] ** 2 + Z[:, 3] * Z[:, 4])
    slim = full.slim()
    save(slim, tmp_path / "model.sieve")
    Z[:5] *= 100  # beyond all levels
    for model in (slim, pickle.loads(pickle.dumps(slim)), load(tmp_path / "model.sieve")):
        assert_array_equal(model.predict(Z), full.predict(Z))
        assert_array_equal(model.predict(csr_array(Z)), full.predict(csr_array(Z)))
        assert_array_equal(model.get_support(), full.get_support())
        assert model.terms_ == full.terms_
        assert model.effects_ == full.effects_
        assert to_sql(model) == to_sql(full)
        for mine, theirs in zip(model.effect(0), full.effect(0)):
            assert_array_equal(mine, theirs)
    assert len(pickle.dumps(slim)) < len(pickle.dumps(full)) / 3


@pytest.mark.parametrize("cls", [OLSthRegressor, SieveRegressor, TSGDRegressor])
def test_a_saved_one_is_small_and_predicts_the_same(cls, tmp_path):
    Z = X.copy()
    Z[::7, 3] = np.nan if cls is SieveRegressor else 0.0
    full = cls(3, **({"missing": "mean"} if cls is SieveRegressor else {})).fit(Z, y)
    save(full.slim(), tmp_path / "model.sieve")
    found = load(tmp_path / "model.sieve")
    assert_array_equal(found.predict(Z), full.slim().predict(Z))
    assert found.get_params() == full.get_params()
    assert (tmp_path / "model.sieve").stat().st_size < 20_000
    labels = SieveClassifier(3).fit(X, np.digitize(y, [-0.5, 0.5]))
    save(labels.slim(), tmp_path / "labels.sieve")
    assert_array_equal(load(tmp_path / "labels.sieve").predict_proba(X), labels.slim().predict_proba(X))


@pytest.mark.parametrize(("field", "value"), [
    ("support", np.array([3, 70])), ("support", np.array([7, 3])), ("support", np.array([3.0, 7.0])),
    ("coef", np.ones((1, 1))), ("intercept", np.array([np.nan])), ("low", np.array([np.nan, 0.0])),
    ("fills", np.ones(3)), ("tables", [1]), ("more", 1),
])  # fmt: skip
def test_a_forged_file_is_refused(field, value, tmp_path):
    slim = OLSthRegressor(2).fit(X, y).slim()
    setattr(slim._model.method.state, field, value)
    save(slim, tmp_path / "model.sieve")
    with pytest.raises(CheckpointError):
        load(tmp_path / "model.sieve")


def test_it_cannot_learn_and_names_what_it_lacks():
    slim = OLSthRegressor(2).fit(X, y).slim()
    with pytest.raises(ValueError, match="cannot learn"):
        slim.partial_fit(X, y)
    with pytest.raises(AttributeError, match="slim"):
        _ = slim.averages_
    with pytest.raises(ValueError, match="interactions"):
        OLSthRegressor(2, interactions=True).fit(X[:, :5], y).slim()


@pytest.mark.parametrize(
    "estimator", [SieveRegressor(3), SieveRegressor(3, effects="pairs"), OLSthRegressor(3)]
)
def test_a_pickle_keeps_the_model_that_was_extracted_until_rows_come(estimator, monkeypatch):
    full = estimator.fit(X, y)
    expected = full.predict(X)
    copies = [pickle.loads(pickle.dumps(full)), copy.deepcopy(full)]
    with monkeypatch.context() as patched:
        patched.setattr("streamsieve.methods.sieve.sieve.read", fail)
        patched.setattr("streamsieve.methods.effects.effects.Reader", fail)
        patched.setattr(methods.method_class("OLSth"), "_model", fail)
        for model in copies:
            assert_array_equal(model.predict(X), expected)
    for model in [full, *copies]:
        model.partial_fit(X[:500] + 1, -y[:500])
    for model in copies:
        assert_array_equal(model.predict(X), full.predict(X))
    assert not np.array_equal(full.predict(X), expected)


def fail(*_, **__):
    raise AssertionError("the model is extracted again")
