"""Missing values: an estimator that takes them predicts with what it imputed, whatever column they are in."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import streamsieve
from streamsieve.methods import METHODS, SUFFIX, method_class

TAKE_NAN = [
    (name, task)
    for name, entry in METHODS.items()
    for task in entry.tasks
    if "missing" in method_class(name).params
]


def data(n=600, p=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(3.0, 1.0, size=(n, p))
    margin = 2 * (X[:, 0] - 3) - 1.5 * (X[:, 3] - 3) + 0.5 * rng.normal(size=n)
    holes = rng.random(X.shape) < 0.1
    return X, np.where(holes, np.nan, X), margin


@pytest.mark.parametrize(("name", "task"), TAKE_NAN)
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_predictions_of_rows_with_missing_values_are_finite(name, task, layout):
    _, X, margin = data()
    y = margin if task == "regression" else margin > 0
    X = sp.csr_array(X) if layout == "csr" else X
    estimator = getattr(streamsieve, name + SUFFIX[task])
    options = {"k": 3} if "k" in method_class(name).params else {}
    model = estimator(**options, missing="mean").fit(X, y)
    assert np.isfinite(model.coef_).all()
    predicted = model.predict(X).astype(float)
    assert np.isfinite(predicted).all()
    scores = predicted if task == "regression" else model.decision_function(X)
    assert np.isfinite(scores).all()
    if hasattr(model, "predict_proba"):
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(("name", "task"), TAKE_NAN)
def test_a_missing_value_predicts_as_the_mean_does(name, task):
    _, X, margin = data()
    y = margin if task == "regression" else margin > 0
    options = {"k": 3} if "k" in method_class(name).params else {}
    model = getattr(streamsieve, name + SUFFIX[task])(**options, missing="mean").fit(X, y)
    score = model.predict if task == "regression" else model.decision_function
    mean = score(np.full((1, X.shape[1]), np.nan))
    # the mean so far, not of all rows: close to it after 600 rows
    assert_allclose(mean, score(np.nanmean(X, axis=0)[None]), atol=0.2)


def test_a_sieve_classifies_rows_with_missing_values_as_well_as_imputed_ones():
    from sklearn.impute import SimpleImputer

    _, X, margin = data(1200)
    y = margin > 0
    ours = streamsieve.SieveClassifier(missing="mean").fit(X[:600], y[:600]).score(X[600:], y[600:])
    imputer = SimpleImputer().fit(X[:600])
    filled = [imputer.transform(part) for part in (X[:600], X[600:])]
    theirs = streamsieve.SieveClassifier().fit(filled[0], y[:600]).score(filled[1], y[600:])
    assert ours > theirs - 0.02
