"""Test, then train: the curve is what a loop by hand gives."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from streamsieve import OLSthClassifier, SGDClassifier, SGDRegressor, SieveClassifier, metrics, prequential
from streamsieve import TSGDClassifier as SFSAClassifier
from streamsieve import TSGDRegressor as OFSARegressor
from streamsieve.training.history import History


def rows(n=1000, p=12, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, p))
    return X, X[:, 2] - 2 * X[:, 5] + 0.3 * np.random.default_rng(seed + 1).normal(size=n)


def test_a_regressor_is_tested_before_it_learns():
    X, y = rows()
    curve = prequential(SGDRegressor(), [(X[:500], y[:500]), (X[500:], y[500:])], every=20, at=250)
    model, squares = SGDRegressor(), []
    for a in range(0, 1000, 20):
        if a:
            squares.append((model.predict(X[a : a + 20]) - y[a : a + 20]) ** 2)
        if a == 240:  # a point falls within a piece: the rest of it is tested by the model of the point
            squares.pop()
            squares.append((model.predict(X[240:250]) - y[240:250]) ** 2)
            break
        model.partial_fit(X[a : a + 20], y[a : a + 20])
    first = curve.points[0]
    assert [point.rows for point in curve.points] == [250, 500, 750, 1000]
    assert_allclose(first.rmse, np.sqrt(np.concatenate(squares).mean()), rtol=1e-12)
    assert_allclose(first.loss, np.concatenate(squares).mean() / 2, rtol=1e-12)
    assert first.accuracy is None
    assert "accuracy" not in curve.as_dicts()[0]
    assert_allclose(curve.estimator.coef_, SGDRegressor().partial_fit(X, y).coef_, rtol=1e-12)


def test_a_classifier_has_accuracy_auc_and_weights():
    X, y = rows()
    labels = np.where(y > 0, "yes", "no")
    w = np.random.default_rng(5).integers(1, 4, 1000).astype(float)
    curve = prequential(SGDClassifier(), [(sp.csr_array(X), labels, w)], at=1000, every=500)
    model = SGDClassifier().partial_fit(X[:500], labels[:500], classes=["no", "yes"], sample_weight=w[:500])
    right = model.predict(X[500:]) == labels[500:]
    point = curve.points[-1]
    assert_allclose(point.accuracy, np.average(right, weights=w[500:]), rtol=1e-12)
    assert_allclose(
        point.recent_auc, metrics.auc(labels[500:] == "yes", model.decision_function(X[500:])), rtol=1e-12
    )
    assert "recent_accuracy" in str(curve)


def test_points_double_and_the_support_is_followed():
    X, y = rows(1700)
    curve = prequential(OFSARegressor(2), [(X, y)])
    assert curve.column("rows").tolist() == [100, 200, 400, 800, 1600, 1700]
    assert curve.points[0].entered == 2
    supports = curve.column("support")
    assert_allclose(np.cumsum(curve.column("entered") - curve.column("left")), supports)
    assert curve.points[-1].recent_rmse < 0.35


def test_rows_may_grow_wider():
    X, y = rows(300)
    blocks = [(sp.csr_array(X[:100, :8]), y[:100]), (sp.csr_array(X[100:]), y[100:])]
    curve = prequential(SFSAClassifier(2, grow=True), ((X, y > 0) for X, y in blocks), classes=[False, True])
    assert curve.estimator.n_features_in_ == 12


@pytest.mark.parametrize("options", [{"at": 0}, {"every": 0}])
def test_counts_below_one_are_refused(options):
    with pytest.raises(ValueError, match="at least 1"):
        prequential(SGDRegressor(), [], **options)


def test_each_row_is_predicted_by_the_newest_model_that_costs_no_more_than_learning():
    X, y = np.random.default_rng(0).normal(size=(300, 40)), np.arange(300) % 2
    history = History()
    sizes = {}
    for kind in (SGDClassifier, OLSthClassifier, SieveClassifier):
        model = kind().partial_fit(X, y, classes=[0, 1])._to_model()
        history._due = 10**6
        sizes[kind] = [history.piece(model, rows) for rows in (100, 10_000)]
    assert sizes == {SGDClassifier: [1, 1], OLSthClassifier: [40, 40], SieveClassifier: [16, 625]}
