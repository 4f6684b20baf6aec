"""Rare features are found as frequent ones are, in one pass over a stream."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve


def rows(task, seed, n=3000, p=200):
    """0/1 columns, every second one in 30 % of the rows, the others in 1 %; ten of each kind matter."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < np.where(np.arange(p) % 2, 0.01, 0.3)).astype(float)
    beta = rng.choice([-1.0, 1.0], 20) * np.where(np.arange(20) % 2, 2.0, 1.0)
    target = X[:, :20] @ beta + 0.5 * rng.normal(size=n)
    return X, target if task == "Regressor" else target > np.median(target)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("task", ["Regressor", "Classifier"])
@pytest.mark.parametrize("name", ["SFSA", "TSGD", "SIHT", "FTRLProximal", "AdaFOBOS"])
def test_rare_features_are_found_in_one_pass(name, task, layout):
    found = []
    for seed in range(3):
        X, y = rows(task, seed)
        classes = {"classes": [False, True]} if task == "Classifier" else {}
        model = getattr(streamsieve, name + task)(20).partial_fit(layout(X), y, **classes)
        support = model.get_support(indices=True)
        support = support[support < 20]
        found.append([np.sum(support % 2 == 0), np.sum(support % 2 == 1)])
    frequent, rare = np.mean(found, axis=0)
    assert frequent == 10
    assert rare >= 6.5  # of SFSA and labels 7; all were 0 in units of the non-zero values


@pytest.mark.parametrize("name", ["FOBOS", "RDA", "L1ARDA"])
def test_penalties_on_sums_of_gradients_miss_rare_features_of_labels(name):
    """As the docstrings say."""
    for seed in range(2):
        X, y = rows("Classifier", seed)
        model = getattr(streamsieve, name + "Classifier")(20).partial_fit(X, y, classes=[False, True])
        assert model.get_support()[1:20:2].sum() <= 2


def test_fit_of_fobos_finds_rare_features_where_a_stream_does_not():
    """As its docstring says."""
    for seed in range(2):
        X, y = rows("Regressor", seed)
        stream = streamsieve.FOBOSRegressor(20).partial_fit(X, y)
        assert stream.get_support()[1:20:2].sum() <= 2
        assert streamsieve.FOBOSRegressor(20).fit(X, y).get_support()[1:20:2].sum() >= 7


@pytest.mark.parametrize(
    ("name", "frequent", "rare", "by_fit"),
    [("BAMD", 6, 0, 9), ("OFS", 7, 0, 2), ("SOFS", 4, 0, 0), ("PassiveAggressive", 8, 2, 9)],
)
def test_truncation_after_every_row_misses_rare_features_of_a_stream(name, frequent, rare, by_fit):
    """As the docstrings say."""
    for seed in range(2):
        X, y = rows("Classifier", seed)
        make = getattr(streamsieve, name + "Classifier")
        found = make(20).partial_fit(X, y, classes=[False, True]).get_support()[:20]
        assert found[::2].sum() <= frequent
        assert found[1::2].sum() <= rare
        assert make(20).fit(X, y).get_support()[1:20:2].sum() >= by_fit
