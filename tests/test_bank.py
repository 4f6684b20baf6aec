"""`AveragesBank`: averages of blocks, weighted by how well each pace of forgetting predicts."""

import copy
import json
import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import streamsieve
from streamsieve import AveragesBank, RunningAverages, extract, load, save
from streamsieve.cli import main
from streamsieve.core.params import ParamError
from streamsieve.statistics.bank import PER_SIZE


def stream(kind="abrupt", n=3000, p=6, seed=0, q=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 5
    before, after = rng.normal(size=(2, p, q))
    change = (np.arange(n) >= n // 2)[:, None]
    Y = X @ before if kind == "none" else np.where(change, X @ after, X @ before)
    Y = Y + rng.normal(size=(n, q))
    return X, Y[:, 0] if q == 1 else Y


def assert_same_averages(a, b, rtol=1e-9, effective=True):
    for name in ("mean_x_", "mean_y_", "S_xx_", "S_xy_", "S_yy_"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-9)
    if effective:  # a sample weight counts as so many rows, forgetting does not
        assert_allclose(a.effective_n_, b.effective_n_, rtol=rtol)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_chunks_do_not_matter(layout):
    X, y = stream(n=900)
    X = layout(X * (np.random.default_rng(1).random(X.shape) < 0.5))
    weight = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], 900)
    whole = AveragesBank().update(X, y, weight)

    @settings(deadline=None, max_examples=8)
    @given(st.sets(st.integers(1, 899), max_size=12))
    def law(cuts):
        parts = AveragesBank()
        for a, b in pairwise([0, *sorted(cuts), 900]):
            parts.update(X[a:b], y[a:b], weight[a:b])
        assert [b.n_samples_ for b in parts.blocks] == [b.n_samples_ for b in whole.blocks]
        assert parts.drift_ == whole.drift_
        assert_allclose(parts.shares_, whole.shares_, rtol=1e-6, atol=1e-12)
        assert_same_averages(parts.total(), whole.total(), 1e-7)

    law()


def test_pickled_copied_or_saved_mid_stream_is_uninterrupted(tmp_path):
    X, y = stream(n=1000)
    half = AveragesBank().update(X[:333], y[:333])
    save(half, tmp_path / "bank")
    whole = AveragesBank().update(X[:333], y[:333]).update(X[333:], y[333:])
    for resumed in (
        pickle.loads(pickle.dumps(half)),
        copy.deepcopy(half),
        half.copy(),
        load(tmp_path / "bank"),
    ):
        assert not list(resumed.update(X[333:], y[333:]).differences(whole))


def test_members_forget_at_their_pace():
    X, y = stream("none", n=640)
    bank = AveragesBank(reset=False).update(X, y)
    age = np.repeat([sum(b.n_samples_ for b in bank.blocks[i + 1 :]) for i in range(len(bank.blocks))],
                    [b.n_samples_ for b in bank.blocks])  # fmt: skip
    length = np.repeat([b.n_samples_ for b in bank.blocks], [b.n_samples_ for b in bank.blocks])
    for h in (100.0, 1600.0):
        rate = np.log(2) / h
        weight = np.exp(-age * rate) * -np.expm1(-length * rate) / (length * rate)
        assert_same_averages(
            bank.member(h), RunningAverages().update(X, y, weight / weight.max()), effective=False
        )
    assert_same_averages(bank.member(np.inf), RunningAverages().update(X, y))
    with pytest.raises(ValueError, match="is not one of"):
        bank.member(17.0)


def test_there_are_few_blocks_and_no_row_is_lost():
    X, y = stream("none", n=20_000, p=3)
    bank = AveragesBank().update(X, y)
    assert sum(b.n_samples_ for b in bank.blocks) == 20_000
    assert len(bank.blocks) <= (PER_SIZE + 1) * np.log2(20_000 / 64)
    sizes = [b.n_samples_ for b in bank.blocks[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert bank.drift_ == []
    assert bank.half_life_ > 2000


@pytest.mark.parametrize("q", [1, 2])
def test_an_abrupt_change_is_dated_and_what_was_before_is_dropped(q):
    X, y = stream(q=q)
    bank = AveragesBank().update(X, y)
    assert len(bank.drift_) == 1
    assert abs(bank.drift_[0] - 1500) <= 128
    after = RunningAverages().update(X[1500:], y[1500:])
    assert_allclose(extract.ols(bank.total()).coef, extract.ols(after).coef, atol=0.1)
    kept = AveragesBank(reset=False).update(X, y)
    assert kept.drift_ == []
    assert kept.half_life_ < 1000


def test_many_features_are_compared_by_a_few():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2400, 80))
    y = np.where(np.arange(2400) < 1200, X[:, 70], -X[:, 70]) + 0.5 * rng.normal(size=2400)
    bank = AveragesBank().update(X, y)
    assert bank.block_rows == 256
    assert len(bank.drift_) == 1
    assert abs(bank.drift_[0] - 1200) <= 256
    assert_array_equal(extract.olsth(bank.total(), 1).support, [70])
    assert extract.olsth(bank.total(), 1).coef[70] < -0.9


def test_features_may_join():
    X, y = stream("none", n=700)
    grown = AveragesBank()
    grown.update(sp.csr_array(X[:300, :4]), y[:300])
    rows = sp.csr_array(X[300:])
    from streamsieve.core.rows import from_scipy

    grown.add(from_scipy(rows), y[300:, None])
    wide = X.copy()
    wide[:300, 4:] = 0
    assert_same_averages(grown.total(), AveragesBank().update(sp.csr_array(wide), y).total(), 1e-7)


def test_merging_is_refused():
    bank = AveragesBank().update(*stream(n=200))
    for call in (bank.merge, bank.subtract):
        with pytest.raises(ValueError, match="no common order"):
            call(bank)
    with pytest.raises(ValueError, match="half_lives"):
        AveragesBank(())
    with pytest.raises(ValueError, match="no rows"):
        AveragesBank().total()


@pytest.mark.parametrize("name", ["OLSth", "OFSA", "OLasso", "OBestSubset", "OLS"])
def test_estimators_adapt(name, tmp_path):
    X, y = stream(p=10)
    options = {} if name == "OLS" else {"k": 5}
    model = getattr(streamsieve, name + "Regressor")(half_life="auto", **options).fit(X, y)
    assert len(model.drift_) == 1
    assert model.current_half_life_ > 0
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert_array_equal(again.coef_, model.coef_)
    for one in (model, again):
        one.partial_fit(X[1500:], y[1500:])
    assert_array_equal(again.coef_, model.coef_)
    labels = getattr(streamsieve, name + "Classifier")(half_life="auto", **options)
    labels.fit(X, np.digitize(y, np.quantile(y, [0.3, 0.7])))
    assert labels.coef_.shape == (3, 10)


def test_what_does_not_go_with_it_is_refused():
    X, y = stream(n=200)
    for wrong in ({"missing": "mean"}, {"decay": 0.1}, {"criterion": "cv"}, {"se": "folds"}, {"honest": 0.5}):
        with pytest.raises(ParamError, match="half_life='auto'; expected a number or None with"):
            streamsieve.OLSthRegressor(half_life="auto", **wrong).fit(X, y)
    model = streamsieve.OLSthRegressor(2).fit(X, y)
    assert model.drift_ is None
    assert model.current_half_life_ is None


def test_the_command_line_dates_drift(tmp_path):
    X, y = stream()
    rows = np.c_[X, y].round(4)
    file, model = tmp_path / "rows.csv", tmp_path / "m.sieve"
    head = ",".join([*(f"x{j}" for j in range(6)), "y"])
    file.write_text("\n".join([head, *(",".join(map(str, r)) for r in rows.tolist())]) + "\n")

    def run(*words):
        done = CliRunner().invoke(main, [str(word) for word in words])
        assert done.exit_code == 0, done.output
        return done.stdout

    run("fit", file, "--target", "y", "-k", 3, "--half-life", "auto", "-o", model, "-q")
    facts = json.loads(run("inspect", model, "--json"))
    assert abs(facts["drift_at_rows"][0] - 1500) <= 128
    assert facts["half_life_now"] > 0
    page = tmp_path / "page.html"
    run("report", model, "-o", page, "-q")
    assert "drift at rows" in page.read_text()
    assert "where it changed" in page.read_text()
    wrong = CliRunner().invoke(
        main, ["fit", str(file), "--target", "y", "-o", str(model), "--half-life", "x"]
    )
    assert wrong.exit_code == 2
    assert "neither a number of rows nor 'auto'" in wrong.stderr


def test_the_bank_is_drawn():
    pytest.importorskip("matplotlib")
    import matplotlib as mpl

    mpl.use("Agg")
    ax = AveragesBank().update(*stream()).plot()
    assert ax.get_legend() is not None
    assert len(ax.lines) >= 2
