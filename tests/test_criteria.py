"""Criteria, folds and the search for a ridge, which all families of methods share."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamsieve.statistics import criteria
from streamsieve.statistics.ridge import TOLERANCE, likeliest_ridge, minimum


@given(st.integers(0, 300), st.integers(0, 300))
def test_sets_are_counted(a, b):
    k, p = sorted((a, b))
    assert_allclose(criteria.log_choose(p, k), np.log(float(comb(p, k))), atol=1e-10)
    assert_allclose(criteria.log_choose(p, np.array([k, p])), [criteria.log_choose(p, k), 0], atol=1e-10)


def test_ebic_is_bic_and_the_models_of_a_size():
    deviance = criteria.gaussian_deviance(np.array([[0.5, 0.25], [0.0, 1.0]]), 10.0)
    assert_allclose(deviance, 10 * np.log([0.125, criteria.ROUNDING]))
    assert_allclose(criteria.aic(deviance, 4), deviance + 8)
    assert_allclose(criteria.bic(deviance, 4, 10.0), deviance + 4 * np.log(10))
    assert_allclose(criteria.ebic(deviance, 4, 10.0, 2, 5), deviance + 4 * np.log(10) + 2 * np.log(10))
    assert_allclose(criteria.ebic(deviance, 4, 10.0, 2, 5, gamma=0), criteria.bic(deviance, 4, 10.0))


@given(st.floats(-3, 3))
def test_golden_sections_find_a_minimum(at):
    assert abs(minimum(lambda x: abs(x - at), -3.0, 3.0) - at) <= TOLERANCE


@pytest.mark.parametrize("signal", [0.0, 0.05, 1.0])
def test_the_likeliest_ridge_is_that_of_the_eigenvalues(signal):
    rng = np.random.default_rng(int(100 * signal))
    X = rng.normal(size=(60, 30)) @ (np.eye(30) + 0.2)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = signal * X[:, :3].sum(axis=1) + rng.normal(size=60)
    y = (y - y.mean()) / y.std()
    R, r = X.T @ X / 60, (X.T @ y / 60)[:, None]
    weights, found = likeliest_ridge(R.copy(order="F"), r, 59.0)
    values, vectors = np.linalg.eigh(R)
    z = (vectors.T @ r)[:, 0] ** 2
    grid = np.exp(np.linspace(np.log(1e-6), np.log(1e4), 100_001))[:, None]
    deviance = 59 * np.log(1 - (z / (values + grid)).sum(axis=1)) + np.log(1 + values / grid).sum(axis=1)
    assert_allclose(found, grid[np.argmin(deviance), 0], rtol=2 * TOLERANCE)
    assert_allclose(weights, np.linalg.solve(R + found * np.eye(30), r), rtol=1e-7, atol=1e-12)
