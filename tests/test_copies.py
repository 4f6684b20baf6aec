"""Columns that are copies of others take no place of the k features from those that are not."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve
from streamsieve import SIHTRegressor, TSGDClassifier, TSGDRegressor
from streamsieve.methods.learners import steps
from streamsieve.methods.learners.averages_refit import AveragesRefit
from streamsieve.training.refit import Refit

K = 5
COPIES = {10: 0, 11: 1}
#: Methods that know the next features when the selected ones are refitted.
FILL = ["TSGD", "SFSA", "FTRLProximal", "FOBOS", "SADMM", "TruncatedGradient", "StabilizedSGD"]


def with_copies(near=0.0, n=3000, p=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    for copy, column in COPIES.items():
        X[:, copy] = X[:, column] + near * rng.normal(size=n)
    return X, X[:, :K] @ [3.0, 2.5, 2.0, 1.5, 1.0] + 0.1 * rng.normal(size=n)


def distinct(model):
    return sorted(COPIES.get(j, j) for j in model.get_support(indices=True).tolist())


@pytest.mark.parametrize("name", FILL)
@pytest.mark.parametrize("near", [0.0, 1e-6])
def test_the_next_features_take_the_places_of_copies(name, near):
    X, y = with_copies(near)
    model = getattr(streamsieve, f"{name}Regressor")(K).fit(X, y)
    assert distinct(model) == list(range(K))
    assert model.score(X, y) > 0.99


def test_many_copies_leave_places_to_others_in_few_readings(monkeypatch):
    X, y = with_copies()
    X[:, 12:] = X[:, :1]
    y += 100 * X[:, 0]  # so that its 30 copies, which share its weight, all rank before the others
    refits = []
    monkeypatch.setattr("streamsieve.training.refit.Refit", lambda *of: refits.append(of) or Refit(*of))
    model = TSGDRegressor(K, loss="huber").fit(X, y)
    assert distinct(model) == list(range(K))
    assert [len(features) for _, features, _ in refits] == [5, 9, 13, 21, 37]


def test_places_are_filled_for_labels_and_sparse_rows():
    X, y = with_copies()
    model = TSGDClassifier(K).fit(sp.csr_array(X * (np.abs(X) > 0.5)), y > 0)
    assert len(set(distinct(model))) == K


@pytest.mark.parametrize("memory", [0, 1 << 30])
def test_places_are_filled_from_a_source(memory, monkeypatch):
    X, y = with_copies()
    monkeypatch.setattr("streamsieve.estimators.base.machine_memory", lambda: memory)

    class Blocks:
        def __iter__(self):
            return ((X[a : a + 500], y[a : a + 500]) for a in range(0, len(y), 500))

    assert distinct(TSGDRegressor(K).fit(Blocks())) == list(range(K))


@pytest.mark.parametrize("name", ["SIHT", "BARDA"])
def test_a_method_that_knows_no_others_says_that_it_selected_copies(name):
    X, y = with_copies()
    with pytest.warns(UserWarning, match=r"copies of these \(columns 10.*larger k"):
        model = getattr(streamsieve, f"{name}Regressor")(K).fit(X, y)
    assert len(set(distinct(model))) == len(distinct(model)) < K


@pytest.mark.parametrize("name", ["TSGD", "SFSA", "SIHT"])
def test_a_table_of_copies_has_one_feature_and_a_warning(name):
    X, y = with_copies()
    with pytest.warns(UserWarning, match=r"has 1 feature, not 3: .*\(columns 1, 2, counted from 0\)"):
        model = getattr(streamsieve, f"{name}Regressor")(3).fit(X[:, [0, 0, 0]], y)
    assert model.get_support(indices=True).tolist() == [0]


def test_a_copy_in_a_stream_has_no_weight_beside_that_of_its_column():
    X, y = with_copies()
    model = TSGDRegressor(K).partial_fit(X, y)
    assert distinct(model) == list(range(K))
    assert model.score(X, y) > 0.99


def test_reading_a_stream_looks_for_copies_once(monkeypatch):
    X, y = with_copies()
    method = TSGDRegressor(K).partial_fit(X[:, :10], y).method_  # no copies, as usual
    calls = []
    for kind, name in ((AveragesRefit, "copies"), (steps.Constraints, "of")):
        before = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *args, b=before, n=name: calls.append(n) or b(*args))
    method.weights()
    assert sorted(calls) == ["copies", "of", "of"]  # features to keep, and those that are selected


def test_a_copy_that_is_to_be_kept_is_kept():
    X, y = with_copies()
    assert 10 in TSGDRegressor(K, keep=[10]).fit(X, y).get_support(indices=True)
    assert 10 in TSGDClassifier(K, keep=[10]).fit(X, y > 0).get_support(indices=True)
    model = TSGDRegressor(K, keep=[10]).partial_fit(X, y)
    assert model.get_support(indices=True).tolist() == [1, 2, 3, 4, 10]
    assert model.score(X, y) > 0.99


def test_a_group_with_a_copy_has_its_effect_once():
    X, y = with_copies()
    X[:, 20] = 1 - X[:, 4]  # as the second column of a category of two levels
    model = TSGDRegressor(K, groups=[[4, 20]]).partial_fit(X, y)
    assert model.score(X, y) > 0.99


def test_without_refit_copies_are_selected():
    X, y = with_copies()
    assert 10 in SIHTRegressor(K, refit=False).fit(X, y).get_support(indices=True)
