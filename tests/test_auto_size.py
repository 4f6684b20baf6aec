"""`k="auto"` of learners: how many features `fit` chooses."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone

import streamsieve
from cli_data import good, table
from streamsieve.cli.select import command as select
from streamsieve.methods import METHODS
from streamsieve.statistics.criteria import CRITERIA
from streamsieve.statistics.folds import sizes_to
from streamsieve.training.model import has_passes
from streamsieve.training.size import fewest

LEARNERS = [
    m.name
    for m in METHODS.values()
    if has_passes(m.load()) and "auto" in str(getattr(m.load().params.get("k"), "domain", ""))
]
TRUE = [3, 7, 11]


def data(n=150, p=25, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, TRUE] @ [1, -2, 1] + 0.3 * rng.normal(size=n)


def estimator(name, k="auto", criterion="ebic"):
    """The regressor, or the classifier of a method that has none."""
    found = getattr(streamsieve, f"{name}Regressor", None)
    return (found or getattr(streamsieve, f"{name}Classifier"))(k, criterion=criterion)


@pytest.mark.parametrize("name", LEARNERS)
def test_fit_chooses_about_as_many_features_as_matter_and_fits_them_as_with_that_number(name):
    X, y = data()
    model = estimator(name)
    y = y if name + "Regressor" in streamsieve.__all__ else y > 0
    model.fit(X, y)
    found = model.get_support(indices=True)
    assert len(found) == model.k_
    assert set(TRUE) <= set(found)
    assert 3 <= model.k_ <= 4
    assert_array_equal(model.coef_, estimator(name, model.k_).fit(X, y).coef_)


def test_criteria_differ_as_their_penalties_do():
    X, y = data()
    k = {c: estimator("TSGD", criterion=c).fit(X, y).k_ for c in CRITERIA}
    assert 3 <= k["1se"] <= k["cv"]
    assert 3 <= k["ebic"] <= k["bic"] <= k["aic"]
    assert k["ebic"] < k["aic"]
    assert streamsieve.TSGDRegressor("auto").fit(X, y).k_ == k["cv"]


def test_classes_of_which_there_are_three_choose_too():
    X, y = data(300)
    model = streamsieve.TSGDClassifier("auto", criterion="bic").fit(X, np.digitize(y, [-1, 1]))
    assert set(TRUE) <= set(model.get_support(indices=True))
    assert model.k_ <= 6


@pytest.mark.parametrize("share", [1e-3, 1.0])
@pytest.mark.parametrize("true", [1, 9, 14, 22])
def test_ebic_finds_sizes_that_are_no_rung_of_the_ladder(true, share):
    rng = np.random.default_rng(true)
    X = rng.normal(size=(600, 80))
    y = X[:, :true].sum(axis=1) + rng.normal(size=600)
    model = streamsieve.TSGDRegressor("auto", criterion="ebic").fit(X, y, np.full(600, share))
    assert_array_equal(model.get_support(indices=True), np.arange(true))


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_judge_have_not_selected(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 500)), np.arange(60) % 2
    # features picked by all rows would predict the labels of all rows
    assert streamsieve.TSGDClassifier("auto").fit(X, y).k_ <= 2


def test_dense_and_sparse_rows_choose_alike():
    X, y = data()
    X = X * (np.random.default_rng(1).random(X.shape) < 0.5)
    dense, sparse = (streamsieve.TSGDRegressor("auto").fit(rows, y) for rows in (X, sp.csr_array(X)))
    assert dense.k_ == sparse.k_


def test_what_goes_on_keeps_the_number():
    X, y = data()
    model = streamsieve.TSGDRegressor("auto").fit(X, y)
    k = model.k_
    model.partial_fit(X, y)
    assert model.k == "auto"
    assert len(model.get_support(indices=True)) == model.k_ == k
    assert_array_equal(pickle.loads(pickle.dumps(model)).coef_, model.coef_)
    assert clone(model).k == "auto"
    model.set_params(k=k + 1)
    with pytest.raises(ValueError, match=f"k was {k} when the first rows came"):
        model.partial_fit(X, y)
    assert not hasattr(model.fit(X, y), "k_")


def test_a_stream_needs_a_number():
    X, y = data()
    for learn in (
        lambda model: model.partial_fit(X, y),
        lambda model: model.learn_one({"a": 1.0}, 2.0),
    ):
        with pytest.raises(ValueError, match="k='auto'; it is chosen by fit, from data in memory"):
            learn(streamsieve.TSGDRegressor("auto"))


def test_features_to_keep_need_a_number():
    with pytest.raises(ValueError, match="k='auto'; with keep or groups pass a number"):
        streamsieve.TSGDRegressor("auto", keep=[0]).fit(*data())


def test_an_array_is_no_number():
    with pytest.raises(ValueError, match="expected int >= 1 or 'auto'"):
        streamsieve.TSGDRegressor(np.array([1.0, 1.0])).fit(*data())


def test_few_rows_choose_no_more_than_there_are_columns():
    X, y = data(2)
    for n in (1, 2):
        assert streamsieve.TSGDRegressor("auto").fit(X[:n, :3], y[:n]).k_ <= 3


def test_a_method_that_does_not_rank_by_weight_needs_a_number():
    X, y = data()
    with pytest.raises(ValueError, match="k='auto'; expected int >= 1"):
        streamsieve.SOFSClassifier("auto").fit(X, y > 0)


def test_fewer_features_must_be_about_as_good_as_the_best():
    noise = np.tile([-1.0, 1.0], 50)
    found = {1: 2 + noise, 2: 1.0005 + 0.01 * noise, 4: np.full(100, 1.0), 8: np.full(100, 1.1)}
    assert fewest(found, errors=1) == 2
    assert fewest(found, errors=0) == 4
    assert fewest(found, errors=10) == 1
    assert sizes_to(8) == [8, 6, 4, 3, 2, 1]
    assert sizes_to(1) == [1]


def test_the_command_line_has_the_same_criteria(tmp_path):
    X, y = data()
    lines = [",".join([f"x{j}" for j in range(25)] + ["y"])]
    lines += [",".join(map(repr, [*row, target])) for row, target in zip(X.tolist(), y.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    option = next(option for option in select.params if option.name == "criterion")
    assert tuple(option.type.choices) == CRITERIA
    for method in ("sieve", "tsgd", "olsth"):
        estimator = getattr(
            streamsieve, {"sieve": "Sieve", "tsgd": "TSGD", "olsth": "OLSth"}[method] + "Regressor"
        )
        for criterion in ("1se", "ebic"):
            words = ("select", tmp_path / "t.csv", "--target", "y", "-k", "auto", "--criterion", criterion)
            found = table(good(*words, "--method", method, "-q"))
            expected = estimator("auto", criterion=criterion).fit(X, y).get_support(indices=True)
            assert sorted(row["feature"] for row in found) == sorted(f"x{j}" for j in expected)
    words = ("select", tmp_path / "t.csv", "--target", "y", "-q")  # --set is of the default method
    assert good(*words, "--criterion", "ebic").stdout == good(*words, "--set", "criterion=ebic").stdout
