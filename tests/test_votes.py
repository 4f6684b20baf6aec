"""Two passes over units: marginal statistics and votes of all features, then averages of the candidates."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamsieve import (
    OLSthRegressor,
    SieveClassifier,
    SieveRegressor,
    TSGDRegressor,
    cross_validate,
    distributed,
    read,
)
from streamsieve.core.rows import Rows, from_scipy
from streamsieve.distributed.votes import Votes, folded_averages, sieve_of_averages
from streamsieve.methods.sieve.screen import marginal, measure, new_marginals
from streamsieve.methods.sieve.sieve import Sieve


def write_wide(file, n=1500, p=600, labels=False, seed=0):
    """Sparse rows of p features, of which ten matter."""
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.choice(p, 10, replace=False))
    with open(file, "w") as f:
        for _ in range(n):
            j = np.union1d(rng.choice(p, 20, replace=False), rng.choice(truth, 5, replace=False))
            x = rng.normal(size=len(j))
            y = x[np.isin(j, truth)].sum() + 0.5 * rng.normal()
            row = " ".join(f"{a + 1}:{v!r}" for a, v in zip(j.tolist(), x.tolist()))
            f.write(f"{int(y > 0) if labels else float(y)!r} {row}\n")
    return str(file), truth


@pytest.mark.parametrize("sparse", [False, True])
def test_merged_votes_are_those_of_all_rows(sparse):
    rng = np.random.default_rng(0)
    X = (
        rng.normal(1000, 1, (300, 30))
        if not sparse
        else rng.normal(size=(300, 30)) * (rng.random((300, 30)) < 0.2)
    )
    y = X[:, [3]] - X[:, [7]] + rng.normal(size=(300, 1))
    w = rng.uniform(0.5, 2, 300)

    def rows(at):
        from scipy.sparse import csr_array

        return from_scipy(csr_array(X[at])) if sparse else Rows(X[at])

    def voted(at):
        votes = Votes(Sieve(k=2), 5).begin(30, 1)
        votes.update(rows(at), y[at], w[at])
        votes.end_unit()
        return votes

    whole = new_marginals(30, 1)
    measure(whole, rows(slice(None)), y, w)
    first = voted(slice(0, 80))
    expected = first.state.votes + voted(slice(80, 200)).state.votes + voted(slice(200, 300)).state.votes
    for at in (slice(80, 200), slice(200, 300)):
        first.merge(copy.copy(voted(at)), None, 30)
    assert_allclose(first.marginal(), marginal(whole), rtol=1e-6, atol=1e-9)
    assert_allclose(first.state.votes, expected)
    assert {3, 7} <= set(first.elected(5))
    assert_array_equal(first.elected(5), np.unique(first.elected(5)))


def test_votes_match_features_by_place():
    rng = np.random.default_rng(0)
    X = rng.normal(5, 1, (200, 3))
    y = X[:, [0]]
    left, right = (Votes(Sieve(k=1), 9).begin(2, 1) for _ in range(2))
    left.update(Rows(X[:100, :2]), y[:100])
    right.update(Rows(X[100:, 1:]), y[100:])  # columns 1 and 2 of both
    for votes in (left, right):
        votes.end_unit()
    left.merge(right, np.array([1, 2]), 3)
    whole = new_marginals(3, 1)
    Z = X.copy()
    Z[:100, 2] = Z[100:, 0] = 0
    measure(whole, Rows(Z), y, None)
    assert_allclose(left.marginal(), marginal(whole), rtol=1e-9)


def folded(X, y):
    method = folded_averages().begin(X.shape[1], 1)
    for at in range(0, len(y), 700):
        method.update(Rows(X[at : at + 700]), y[at : at + 700, None])
    return method.state.folds


def test_a_sieve_of_averages_is_the_sieve_of_the_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(50, 1, (3000, 20))
    y = X[:, 3] - 2 * X[:, 11] + rng.normal(size=3000)
    plain = SieveRegressor(3).partial_fit(X, y)
    columns = np.array([1, 3, 4, 11, 19], dtype=np.int32)
    sieve = sieve_of_averages(Sieve(k=2), folded(X[:, columns], y), columns, 20)
    some = SieveRegressor(2).partial_fit(X[:, columns], y)
    coef, intercept = sieve.weights()
    assert_allclose(coef[0, columns], some.coef_, rtol=1e-6)
    assert_allclose(intercept, some.intercept_, rtol=1e-6)
    assert_array_equal(np.flatnonzero(coef), [3, 11])
    whole = sieve_of_averages(Sieve(k=3), folded(X, y), np.arange(20, dtype=np.int32), 20)
    assert_allclose(whole.weights()[0][0], plain.coef_, rtol=1e-6, atol=1e-9)


def test_the_distributed_sieve_is_exact_where_all_features_are_candidates(tmp_path):
    file, truth = write_wide(tmp_path / "rows.svm", p=100)
    model = distributed.fit(SieveRegressor(10), file, unit="100KB")
    plain = SieveRegressor(10)
    for X, y, _ in read(file, n_features=100):
        plain.partial_fit(X, y)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-6, atol=1e-9)
    assert_array_equal(model.get_support(indices=True), truth)


def test_models_are_exact_given_the_candidates(tmp_path):
    file, truth = write_wide(tmp_path / "rows.svm")
    units = distributed.plan(file, "100KB")
    assert len(units) > 4
    model = distributed.fit(OLSthRegressor(criterion="cv"), units, candidates=40)
    assert len(model.candidates_) == model.n_features_in_ == 40
    assert set(truth) <= set(model.candidates_)
    plain = OLSthRegressor(criterion="cv")
    for X, y, _ in read(file, n_features=600):
        plain.partial_fit(X[:, model.candidates_], y)
    assert_allclose(cross_validate(model.averages_).mse, cross_validate(plain.averages_).mse, rtol=1e-7)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    again = distributed.fit(OLSthRegressor(criterion="cv"), units, candidates=40)
    assert not list(model.method_.state.differences(again.method_.state))


def test_named_columns_are_read_by_name(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 30))
    y = X[:, 4] - X[:, 20]
    words = rng.choice(["a", "b"], 1200)
    with open(tmp_path / "rows.csv", "w") as f:
        f.write(",".join([*(f"x{j}" for j in range(30)), "word", "y"]) + "\n")
        for i in range(1200):
            target = float(y[i] + (words[i] == "a"))
            f.write(",".join([*map(repr, X[i].tolist()), words[i], repr(target)]) + "\n")
    model = distributed.fit(OLSthRegressor(), tmp_path / "rows.csv", unit="100KB", target="y", candidates=8)
    assert {"x4", "x20"} <= set(model.get_feature_names_out())
    assert set(model.get_feature_names_out()) <= {"x4", "x20", "word=a", "word=b"}
    sieve = distributed.fit(SieveRegressor(3), tmp_path / "rows.csv", unit="100KB", target="y")
    assert sieve.n_features_in_ == 31  # one of the two words is what the other is compared with
    assert {"x4", "x20"} <= set(sieve.get_feature_names_out())


def test_a_small_memory_makes_two_passes(tmp_path):
    file, truth = write_wide(tmp_path / "rows.svm", n=4000, p=3000)
    model = distributed.fit(SieveRegressor(10, memory="1MB"), file, unit="500KB")
    assert 0 < model.method_.n_candidates < 3000
    assert_array_equal(model.get_support(indices=True), truth)
    assert model.n_features_in_ == 3000


def test_the_second_pass_of_another_loss_goes_through_the_units_in_turn(tmp_path):
    file, truth = write_wide(tmp_path / "rows.svm", n=3000, p=3000, labels=True)
    model = distributed.fit(SieveClassifier(10, memory="1MB"), file, unit="500KB")
    assert len(set(model.get_support(indices=True)) & set(truth)) >= 9
    second = Sieve(**model.method_.values).begin(3000, 1)
    second.state.chosen = model.method_.state.chosen
    for X, y, _ in read(file, n_features=3000):
        second.update(from_scipy(X), np.where(y > 0, 1.0, -1.0)[:, None])
    assert not list(second.state.differences(model.method_.state))


def test_candidates_are_for_averages(tmp_path):
    file, _ = write_wide(tmp_path / "rows.svm", n=50)
    with pytest.raises(ValueError, match="TSGDRegressor needs no"):
        distributed.fit(TSGDRegressor(2), file, candidates=10)
    with pytest.raises(ValueError, match="missing='mean'"):
        distributed.fit(SieveRegressor(2, missing="mean"), file)
    with pytest.raises(ValueError, match="age of its rows"):
        distributed.fit(SieveRegressor(2, half_life=100), file)
