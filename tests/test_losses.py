"""Every loss of the list: values, slopes and bends, in NumPy and in the kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import streamsieve
from streamsieve import _core
from streamsieve.core.losses import LOSSES, loss_names
from streamsieve.core.params import ParamError
from streamsieve.methods import METHODS
from streamsieve.methods.learners.sgd import SGD

MARGINS = np.linspace(-4, 4, 81) + 0.013  # off the kinks
RULE = {"eta": 1.0, "schedule": "constant", "alpha": 0.0, "fit_intercept": True}
each = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def targets(loss):
    """Some of those that the loss is for."""
    if loss.name == "poisson":
        return np.array([0.0, 1.0, 5.0])
    return np.array([-1.0, 1.0] if "classification" in loss.tasks else [-2.0, 0.1, 1.0])


@each
def test_derivative_is_that_of_the_value(loss):
    h = 1e-6
    for y in targets(loss):
        slope = (loss.value(MARGINS + h, y) - loss.value(MARGINS - h, y)) / (2 * h)
        assert_allclose(loss.derivative(MARGINS, y), slope, atol=1e-7)


@each
def test_bend_is_the_second_derivative_or_that_of_a_parabola_above(loss):
    h = 1e-5
    for y in targets(loss):
        bend, slope = loss.bend(MARGINS, y), loss.derivative(MARGINS, y)
        if loss.has_units:
            to = np.linspace(-9, 9, 361)[:, None]
            above = loss.value(MARGINS, y) + slope * (to - MARGINS) + bend * (to - MARGINS) ** 2 / 2
            assert (above >= loss.value(to, y) - 1e-9).all()
        elif loss.newton:
            both = loss.derivative(MARGINS + h, y) - loss.derivative(MARGINS - h, y)
            assert_allclose(bend, both / (2 * h), atol=1e-5, rtol=1e-5)
        if loss.newton and not loss.needs_units and np.isfinite(loss.curvature):
            assert 0.99 * loss.curvature <= bend.max() <= loss.curvature


@each
def test_the_kernels_have_the_same_numbers(loss):
    for y in targets(loss):
        margins = np.append(MARGINS, [800.0, -800.0])
        out = np.empty((len(margins), 3))
        _core.loss_points(loss, margins, np.full(len(margins), y), out)
        ours = [part(margins, y) for part in (loss.value, loss.derivative, loss.bend)]
        assert_allclose(out, np.column_stack(ours), rtol=1e-12, atol=1e-14)


@each
def test_learners_step_along_the_derivative(loss):
    """One row with x = 0 and step 1 moves the intercept by minus the derivative."""
    for margin in MARGINS:
        for y in targets(loss):
            state = SGD().start(1, 1)
            state.bias[0] = margin
            assert _core.sgd(np.zeros((1, 1)), loss, np.array([[y]]), None, RULE, state) == 1
            assert_allclose(margin - state.bias[0], loss.derivative(margin, y), rtol=1e-12, atol=1e-12)


@each
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_constant_is_best(loss, weighted):
    rng = np.random.default_rng(3)
    n = 4001
    y = rng.choice(targets(loss), size=(n, 2), p=None if len(targets(loss)) == 2 else [0.5, 0.2, 0.3])
    if loss.has_units and "classification" not in loss.tasks:
        y = rng.normal(size=(n, 2)) ** 3
    w = rng.uniform(0.1, 3, n) if weighted else None
    found = loss.constant(y, w)
    margins = found + np.linspace(-1, 1, 201)[:, None]
    total = np.array([np.average(loss.value(m, y), axis=0, weights=w) for m in margins])
    assert (total[100] <= total.min(axis=0) + 1e-3 * np.ptp(total, axis=0)).all()


@each
def test_extreme_margins_do_not_overflow(loss):
    y = targets(loss).max()
    for part in (loss.value, loss.derivative, loss.bend):
        assert np.isfinite(part(np.array([1e4, -1e4]), y)).all()


@each
def test_units_are_those_of_the_targets(loss):
    y = np.random.default_rng(0).normal(size=(999, 2)) * [1, 10] + [5, -5]
    center, unit = loss.units(y)
    again = loss.units((y - center) / unit)
    assert_allclose(again, [[0, 0], [1, 1]], atol=1e-12)
    assert_allclose(loss.units(np.zeros((9, 2)))[1], 1)
    if loss.has_units:
        assert_allclose(unit, [1, 10], rtol=0.1)


def test_an_unknown_loss_is_refused():
    X, y, state = np.zeros((1, 1)), np.zeros((1, 1)), SGD().start(1, 1)
    for unknown in ("squared", type("Absolute", (), {"name": "absolute"})(), None):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            _core.sgd(X, unknown, y, None, RULE, state)
    with pytest.raises(ValueError, match="unknown schedule"):
        _core.sgd(X, LOSSES["squared"], y, None, RULE | {"schedule": "inverse"}, state)


def test_every_family_offers_the_list():
    for entry in METHODS.values():
        cls = entry.load()
        for task, offered in cls.losses.items():
            assert all(task in LOSSES[name].tasks for name in offered)
    assert set(METHODS["Sieve"].load().losses["regression"]) == set(loss_names("regression", newton=True))
    assert set(METHODS["OFSA"].load().losses["regression"]) == set(loss_names("regression", newton=True))
    assert set(METHODS["RDA"].load().losses["classification"]) == set(loss_names("classification"))


SELECTING = ["RDA", "FOBOS", "SADMM", "TSGD", "SIHT", "SFSA", "FTRLProximal", "BARDA", "OFSA", "Sieve"]


@pytest.mark.parametrize("loss", [name for name, loss in LOSSES.items() if loss.needs_units])
@pytest.mark.parametrize("name", SELECTING)
def test_losses_in_units_of_the_targets_do_not_see_their_units(name, loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = X[:, 3] - X[:, 7] + 0.3 * rng.standard_t(2, size=600)
    kind = getattr(streamsieve, f"{name}Regressor")
    one, other = kind(2, loss=loss).fit(X, y), kind(2, loss=loss).fit(X, 1000 * y + 1e5)
    assert one.get_support(indices=True).tolist() == other.get_support(indices=True).tolist() == [3, 7]
    assert_allclose(other.coef_ / 1000, one.coef_, atol=1e-3)
    assert_allclose(one.coef_[[3, 7]], [1, -1], atol=0.1)


def test_parameters_of_a_loss_are_those_of_estimators_that_offer_it():
    for name, loss in LOSSES.items():
        for param in loss.params:
            for task in loss.tasks:
                suffix = {"regression": "Regressor", "classification": "Classifier"}[task]
                assert param in getattr(streamsieve, f"Sieve{suffix}")(loss=name).get_params()
    with pytest.raises(ParamError, match="threshold=1; expected one of"):
        SGD(threshold=1)
