"""The displays draw what they say, on the axes that they are given."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamsieve import (
    CalibrationDisplay,
    ConfusionDisplay,
    OFSARegressor,
    PathDisplay,
    PrequentialDisplay,
    RunningAverages,
    SelectionDisplay,
    SGDClassifier,
    SieveClassifier,
    SIHTRegressor,
    StabilityDisplay,
    StabilizedSGDClassifier,
    TSGDRegressor,
    displays,
    extract,
    path,
    prequential,
    simulate,
)

plt = pytest.importorskip("matplotlib.pyplot", reason="the extra 'plot' is not installed")
plt.switch_backend("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def rows(n=400, p=12, q=1):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    Y = np.column_stack([X[:, 2] - X[:, 5] + (i + 1) * X[:, 7] + 0.1 * rng.normal(size=n) for i in range(q)])
    return X, Y[:, 0] if q == 1 else Y


@pytest.mark.parametrize(("n", "p", "q"), [(200, 8, 1), (2000, 120, 2), (40, 90, 1)])
def test_a_path_marks_its_best_size_and_names_its_lines(n, p, q):
    models = path(RunningAverages().update(*rows(n, p, q)))
    display = PathDisplay.from_path(models)
    weights, criteria = display.axes_
    best = models.best_k("bic")
    assert f"{best} features by BIC" in weights.get_title(loc="left")
    assert [line.get_label() for line in criteria.lines[:3]] == ["AIC", "BIC", "EBIC"]
    ids = {line.get_gid() for line in weights.lines}
    assert {f"feature-{j}" for j in models.support(best)} <= ids
    assert set(display.features_) >= set(models.support(best))


def test_a_path_on_one_axis_shows_the_criteria_and_lines_can_be_few():
    models = path(RunningAverages().update(*rows(300, 60)))
    _, ax = plt.subplots()
    assert PathDisplay.from_path(models, criterion="ebic", ax=ax).axes_ == [ax]
    few = PathDisplay.from_path(models, max_lines=3)
    assert len(few.features_) == 3 + models.best_k("bic")
    with pytest.raises(ValueError, match="not one of"):
        PathDisplay(models, criterion="cp")


def test_a_path_comes_from_estimators_on_averages_only():
    X, y = rows()
    model = OFSARegressor(3).fit(X, y)
    drawn = PathDisplay.from_estimator(model)
    assert_allclose(drawn.path.bic, path(RunningAverages().update(X, y)).bic)
    with pytest.raises(ValueError, match="has no running averages"):
        PathDisplay.from_estimator(SIHTRegressor(3).fit(X, y))


def test_a_selection_shows_effects_strongest_first_with_intervals():
    X, y = rows()
    model = OFSARegressor(3).fit(X, y)
    display = SelectionDisplay.from_estimator(model)
    bars = [bar.get_width() for bar in display.ax_.patches]
    assert sorted(display.names) == ["2", "5", "7"]
    at = [int(name) for name in display.names]
    assert_allclose(bars, model.coef_[at] * X[:, at].std(axis=0))
    assert np.abs(bars).tolist() == sorted(np.abs(bars), reverse=True)
    assert display.errors is not None
    assert len(SelectionDisplay.from_estimator(model, max_features=2).ax_.patches) == 2


def test_a_selection_of_many_classes_has_a_mark_for_each():
    X, y = rows()
    model = SieveClassifier(3).fit(X, np.digitize(y, [-1, 1]))
    display = SelectionDisplay.from_estimator(model)
    assert len(display.ax_.lines) == 3 + 1  # classes, and the line at 0
    at = display.features
    assert_allclose(display.weights, model.coef_[:, at] * X[:, at].std(axis=0), rtol=1e-5)  # rows in float32


def test_a_selection_of_pixels_is_an_image():
    X, y = rows()
    model = OFSARegressor(3).fit(X, y)
    image = SelectionDisplay.from_estimator(model, image_shape=(3, 4)).ax_.images[0].get_array()
    assert_array_equal(np.flatnonzero(image), [2, 5, 7])
    with pytest.raises(ValueError, match="too small for all features"):
        SelectionDisplay.from_estimator(model, image_shape=(2, 2))


def test_a_selection_comes_from_a_linear_model_too():
    model = extract.ofsa(RunningAverages().update(*rows()), k=3)
    display = SelectionDisplay.from_model(model, names=[f"f{j}" for j in range(12)])
    assert sorted(display.names) == ["f2", "f5", "f7"]


def test_a_prequential_display_draws_the_points_of_the_curve():
    stream = simulate.correlated(2000, p=30, k=3, signal=1.0)
    curve = prequential(TSGDRegressor(3), stream)
    display = PrequentialDisplay.from_curve(curve)
    assert_array_equal(display.axes_[0].lines[0].get_ydata(), curve.column("recent_rmse"))
    assert_array_equal(display.axes_[1].lines[0].get_ydata(), curve.column("support"))
    again = PrequentialDisplay.from_estimator(TSGDRegressor(3), stream)
    assert again.points[-1] == display.points[-1]
    with pytest.raises(ValueError, match="no points yet"):
        PrequentialDisplay([])


def test_rows_of_a_curve_have_few_labels_and_a_point_is_not_drawn_alone():
    points = [{"rows": 12_000 * 2**i, "drift": 0.5, "recent_loss": None} for i in range(6)]
    points[-1]["recent_loss"] = 1.0
    display = PrequentialDisplay(points)
    assert display.panels == ["drift"]
    (ax,) = display.plot().axes_
    display.figure_.canvas.draw()
    low, high = ax.get_xlim()
    labels = [t.get_text() for t in ax.get_xticklabels() if low <= t.get_position()[0] <= high]
    assert labels == ["10k", "30k", "100k", "300k"]
    assert not len(ax.xaxis.get_minorticklocs())


def test_stability_shows_how_often_features_are_selected():
    display = StabilityDisplay.from_supports([[0, 1], [0, 1], [0, 2]], p=10)
    assert_allclose(display.ax_.lines[0].get_ydata(), [1, 2 / 3, 1 / 3])
    assert "3 of 10 features, kappa 0.58" in display.ax_.get_title(loc="left")
    X, y = rows()
    assert StabilityDisplay.from_estimator(OFSARegressor(3), X, y, n_permutations=3).stability.kappa == 1


def test_stability_of_a_stabilized_fit_has_its_stages():
    X, y = rows()
    small = {"n_paths": 2, "burst_size": 5, "n_bursts": 2, "block_size": 50, "max_iter": 3}
    model = StabilizedSGDClassifier(**small).fit(X, y > 0)
    display = StabilityDisplay.from_estimator(model)
    assert display.threshold == model.threshold
    assert display.plot_stages() is display
    axes = display.axes_
    assert_array_equal(axes[0].lines[0].get_ydata(), model.history_["stable"])
    with pytest.raises(ValueError, match="needs 3"):
        display.plot_stages(axes[:2])
    with pytest.raises(ValueError, match="no selection probabilities"):
        StabilityDisplay.from_estimator(SGDClassifier().fit(X, y > 0))


def test_calibration_puts_shares_beside_probabilities():
    display = CalibrationDisplay.from_predictions([0, 0, 1, 1, 1], [0.02, 0.08, 0.55, 0.58, 0.99])
    assert_allclose(display.bins, [[0.05, 0, 2], [0.565, 1, 2], [0.99, 1, 1]])
    assert display.plot(display.ax_) is display
    X, y = rows()
    model = SGDClassifier().fit(X, np.where(y > 0, "up", "down"))
    drawn = CalibrationDisplay.from_estimator(model, X, np.where(y > 0, "up", "down"))
    assert "calibration of up" in drawn.ax_.get_title(loc="left")
    assert drawn.bins[:, 2].sum() == len(y)
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        CalibrationDisplay.from_predictions([0, 1], [0.5, np.nan])
    with pytest.raises(ValueError, match="other than 0 and 1"):
        CalibrationDisplay.from_predictions([0, 2], [0.5, 0.5])
    with pytest.raises(ValueError, match="2 rows and probability 1"):
        CalibrationDisplay.from_predictions([0, 1], [0.5])


def test_confusions_are_counted_by_class():
    display = ConfusionDisplay.from_predictions(["a", "b", "b", "c"], ["a", "b", "a", "b"])
    assert_array_equal(display.counts, [[1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert "50.0% of 4 rows" in display.ax_.get_title(loc="left")
    assert display.plot(display.ax_) is display
    X, y = rows()
    model = SGDClassifier().fit(X, y > 0)
    assert ConfusionDisplay.from_estimator(model, X, y > 0).counts.sum() == len(y)
    with pytest.raises(ValueError, match="'c' is not among the labels"):
        ConfusionDisplay.from_predictions(["a", "c"], ["a", "a"], labels=["a", "b"])
    with pytest.raises(ValueError, match="expected"):
        ConfusionDisplay([[1, 2]], ["a", "b"])


def test_every_display_takes_axes_and_returns_itself():
    for name in displays.__all__:
        kind = getattr(displays, name)
        makers = [getattr(kind, made) for made in dir(kind) if made.startswith(("from_", "plot"))]
        assert len(makers) >= 2
        for maker in makers:
            signature = inspect.signature(maker)
            assert "ax" in signature.parameters, maker
            assert signature.return_annotation == "Self", maker
