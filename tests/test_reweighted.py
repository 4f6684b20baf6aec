"""Losses that are not squared, on averages: reweighted passes end where the loss is least."""

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from streamsieve import (
    OBestSubsetClassifier,
    OFSAClassifier,
    OLassoClassifier,
    OLSClassifier,
    OLSRegressor,
    OLSthClassifier,
    load,
    simulate,
)
from streamsieve.cli import main
from streamsieve.core.losses import loss_names


def labelled(n=3000, p=8, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.5 * rng.normal(size=(n, 1)) + np.arange(p)
    B = rng.normal(size=(p, classes))
    return X, (X @ B - (X @ B).mean(axis=0) + rng.gumbel(size=(n, classes))).argmax(axis=1)


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_logistic_regression(weighted):
    X, y = labelled()
    w = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    ours = OLSClassifier(loss="logistic").fit(X, y, sample_weight=w)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y, sample_weight=w)
    assert_allclose(ours.coef_, theirs.coef_, rtol=2e-3)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)


def test_counts_are_poisson_regression():
    X, _ = labelled()
    y = np.random.default_rng(2).poisson(np.exp(0.3 * (X[:, 0] - X[:, 1]) + 1))
    ours = OLSRegressor(loss="poisson").fit(X, y)
    theirs = PoissonRegressor(alpha=0, tol=1e-8, max_iter=1000).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-2)
    with pytest.raises(ValueError, match="needs counts; a target is -1"):
        OLSRegressor(loss="poisson").fit(X, y - 1)


def test_one_huge_count_does_not_end_the_passes_early():
    """It has almost all of the weight, so that in units of the weighted features the model hardly moved."""
    rng = np.random.default_rng([71, 24])
    X = rng.normal(size=(400, 5))
    y = rng.poisson(np.exp(1 + 0.5 * X[:, 0])).astype(float)
    y[[37, 261]] = 4.7e10, 3e3
    with pytest.warns(UserWarning, match=r"4\.7e\+10 is more than 100 times"):
        model = OLSRegressor(loss="poisson").fit(X, y)
    coef, intercept = model.method_.weights()
    assert np.exp(X @ coef[0] + intercept).sum() == pytest.approx(y.sum(), rel=0.01)


def targets(loss, n=3000, p=8, q=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3)
    margins = X @ rng.normal(size=(p, q)) / p
    y = margins + 0.5 + 0.3 * rng.standard_t(2, size=(n, q))
    return X, rng.poisson(np.exp(margins)).astype(float) if loss == "poisson" else y


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("loss", loss_names("regression", newton=True))
def test_the_passes_end_where_the_slope_of_the_loss_vanishes(loss, q):
    X, y = targets(loss, q=q)
    model = OLSRegressor(loss=loss).fit(X, y if q > 1 else y[:, 0]).method_
    unit = model.state.around.spread if loss != "squared" else 1.0
    coef, intercept = model.weights()

    def slope(margins):
        d = model.loss_function.derivative(margins / unit, y / unit)
        return np.abs(np.column_stack([X - X.mean(axis=0), np.ones(len(X))]).T @ d / len(y)).max()

    constant = np.broadcast_to(model.loss_function.constant(y / unit) * unit, y.shape)
    assert slope(X @ coef.T + intercept) < 0.02 * slope(constant)


@pytest.mark.parametrize("loss", loss_names("regression", newton=True))
def test_rows_that_are_far_off_decide_only_by_the_squared_loss(loss):
    if loss == "poisson":
        pytest.skip("counts have no such rows")
    X, y = targets(loss)
    y = X[:, 0] - X[:, 1] + 0.1 * np.random.default_rng(1).normal(size=len(X))
    y[:60] += 1e4
    error = np.abs(OLSRegressor(loss=loss).fit(X, y).coef_ - np.eye(8)[0] + np.eye(8)[1]).max()
    assert (error > 10) == (loss == "squared")
    assert error < 0.1 or loss == "squared"


def test_several_classes_are_softmax_regression():
    X, y = labelled(classes=3)
    ours = OLSClassifier(loss="logistic").fit(X, y)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.02)


@pytest.mark.parametrize("kind", [OFSAClassifier, OLSthClassifier, OBestSubsetClassifier, OLassoClassifier])
def test_the_selected_features_have_their_logistic_fit(kind):
    X, y = labelled(p=30)
    model = kind(5, loss="logistic").fit(X, y)
    support = model.get_support(indices=True)
    assert len(support) == 5
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X[:, support], y)
    assert_allclose(model.coef_[:, support], theirs.coef_, rtol=5e-3)


def test_more_true_features_are_found_than_by_least_squares():
    stream = simulate.correlated(2000, p=300, k=30, task="classification", signal=1.0, random_state=5)
    X, y = stream.take(2000)
    found = {
        loss: np.isin(
            stream.support, OFSAClassifier(30, loss=loss).fit(X, y).get_support(indices=True)
        ).mean()
        for loss in ("squared", "logistic")
    }
    assert found["logistic"] > found["squared"] + 0.2


def test_separable_labels_end_with_finite_weights():
    X, y = labelled(60, 100)
    assert np.isfinite(OFSAClassifier(3, loss="logistic").fit(X, y).coef_).all()


def test_rows_that_come_once_are_refused():
    X, y = labelled()
    with pytest.raises(ValueError, match="loss='logistic' learns its rows several times"):
        OFSAClassifier(3, loss="logistic").partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize(
    ("name", "value"),
    [("half_life", 10.0), ("criterion", "cv"), ("alpha", 0.1), ("se", "folds")],
)
def test_what_reweighting_cannot_do_is_refused_by_name(name, value):
    X, y = labelled()
    with pytest.raises(ValueError, match=f"{name}=.*loss='logistic'"):
        OLassoClassifier(loss="logistic", **{name: value}).fit(X, y)


def test_a_file_is_read_as_often_as_needed(tmp_path):
    X, y = labelled(p=6)
    lines = [",".join(map("{:.6f}".format, x)) + f",{t}" for x, t in zip(X, y)]
    (tmp_path / "rows.csv").write_text("a,b,c,d,e,f,y\n" + "\n".join(lines) + "\n")
    words = [
        "fit",
        "rows.csv",
        "--target",
        "y",
        "--method",
        "ofsa",
        "-k",
        "3",
        "--set",
        "loss=logistic",
        "-o",
        "m",
    ]

    def call(*more):
        return CliRunner().invoke(main, [*words, *more], catch_exceptions=False)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = call("--task", "classification")
        assert done.exit_code == 0, done.output
        assert "learned as `fit` does, in passes" in done.stderr
        model = load("m")
        expected = OFSAClassifier(3, loss="logistic").fit(np.round(X, 6), y)
        assert_array_equal(model.get_support(), expected.get_support())
        assert_array_equal(model.coef_, expected.coef_)
        done = call("--task", "classification", "--passes", "1")
        assert done.exit_code == 2, done.output
        assert "reads rows several times" in done.stderr
