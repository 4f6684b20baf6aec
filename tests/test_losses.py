import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamsieve import _core
from streamsieve.learners.sgd import SGD
from streamsieve.losses import LOSSES

MARGINS = np.linspace(-4, 4, 81) + 0.013  # off the kinks
RULE = {"eta": 1.0, "schedule": "constant", "alpha": 0.0, "fit_intercept": True}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_derivative_is_that_of_the_value(loss, y):
    h = 1e-6
    slope = (loss.value(MARGINS + h, y) - loss.value(MARGINS - h, y)) / (2 * h)
    assert_allclose(loss.derivative(MARGINS, y), slope, atol=1e-8)


@pytest.mark.parametrize("loss", [x for x in LOSSES.values() if x.name != "hinge"], ids=lambda x: x.name)
def test_curvature_bounds_the_second_derivative(loss):
    h = 1e-4
    bend = (loss.derivative(MARGINS + h, 1.0) - loss.derivative(MARGINS - h, 1.0)) / (2 * h)
    assert bend.max() <= loss.curvature * (1 + 1e-6)
    assert bend.max() >= loss.curvature * 0.99


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_the_kernels_have_the_same_derivative(loss):
    """One row with x = 0 and step 1 moves the intercept by minus the derivative."""
    for margin in [*MARGINS, 800.0, -800.0]:
        for y in (-1.0, 1.0):
            state = SGD().start(1, 1)
            state.bias[0] = margin
            assert _core.sgd(np.zeros((1, 1)), loss.name, np.array([[y]]), None, RULE, state) == 1
            assert_allclose(margin - state.bias[0], loss.derivative(margin, y), rtol=1e-12, atol=1e-12)


def test_extreme_margins_do_not_overflow():
    for loss in LOSSES.values():
        assert np.isfinite(loss.value(np.array([1e4, -1e4]), 1.0)).all()
        assert np.isfinite(loss.derivative(np.array([1e4, -1e4]), 1.0)).all()


def test_an_unknown_name_is_refused():
    X, y, state = np.zeros((1, 1)), np.zeros((1, 1)), SGD().start(1, 1)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.sgd(X, "absolute", y, None, RULE, state)
    with pytest.raises(ValueError, match="unknown schedule"):
        _core.sgd(X, "squared", y, None, RULE | {"schedule": "inverse"}, state)
