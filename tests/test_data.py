"""The readers of the papers' data, on small files of the form in which their owners distribute them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from streamsieve.experiments import data, real
from streamsieve.experiments._report import Outcomes

rng = np.random.default_rng(0)
X = np.where(rng.random((40, 6)) < 0.5, rng.integers(1, 9, (40, 6)), 0).astype(float)
y = np.where(X[:, 0] > X[:, 1], 1.0, -1.0)


@pytest.fixture
def place(monkeypatch, tmp_path):
    """An empty folder for the data, which are all six features wide."""
    monkeypatch.setenv("STREAMSIEVE_DATA", str(tmp_path))
    sets = {name: data.Data(6, held.source, held.parts) for name, held in data.SETS.items()}
    monkeypatch.setattr(data, "SETS", sets)
    return tmp_path


def svmlight(rows, labels, file):
    file.parent.mkdir(exist_ok=True)
    dump_svmlight_file(rows, labels, str(file), zero_based=False)


def check(name, part, rows, labels):
    found, told = data.load(name, part)
    assert_array_equal(found.toarray() if sp.issparse(found) else found, rows)
    assert_array_equal(told, labels)


def test_days_of_urls_are_learned_in_order(place):
    for day in range(101):
        svmlight(
            X[day % 40 : day % 40 + 1], y[day % 40 : day % 40 + 1], place / "url_svmlight" / f"Day{day}.svm"
        )
    days = np.arange(100) % 40
    check("url", "train", X[days], y[days])
    check("url", "test", X[[20]], y[[20]])


@pytest.mark.parametrize(
    ("name", "file"),
    [("news20", "news20.binary"), ("farm_ads", "farm-ads-vect")],
)
def test_svmlight_by_its_owners_name(place, name, file):
    svmlight(X, y, place / file)
    check(name, "all", X, y)


def test_rcv1_has_two_files(place):
    svmlight(X, y, place / "rcv1_train.binary")
    svmlight(X[:5], y[:5], place / "rcv1_test.binary")
    check("rcv1", "test", X[:5], y[:5])


def test_the_challenge_has_labels_in_a_file_of_their_own(place):
    for part in ("train", "valid"):
        np.savetxt(place / f"gisette_{part}.data", X, fmt="%d")
        lines = [" ".join(str(j + 1) for j in np.flatnonzero(row)) + " " for row in X]
        (place / f"dorothea_{part}.data").write_text("\n".join(lines) + "\n")
        for name in ("gisette", "dorothea"):
            np.savetxt(place / f"{name}_{part}.labels", y, fmt="%d")
    check("gisette", "test", X, y)
    check("dorothea", "train", X != 0, y)
    assert data.load("gisette", "all")[0].shape == (80, 6)


def test_years_come_first(place):
    np.savetxt(place / "YearPredictionMSD.txt", np.column_stack([y + 2000, X]), delimiter=",", fmt="%g")
    check("msd", "all", X, y + 2000)


def test_matlab_and_numpy_files(place):
    savemat(place / "PCMAC.mat", {"X": X, "Y": (y[:, None] + 3) / 2})
    np.savez(place / "wikiface.npz", X=X, y=y)
    check("pcmac", "all", X, y)
    check("wikiface", "all", X, y)


def test_a_file_of_another_width_is_refused(place):
    np.savez(place / "wikiface.npz", X=X[:, :5], y=y)
    with pytest.raises(ValueError, match=r"wikiface.npz has 5 features where 6 are expected"):
        data.load("wikiface", "all")


def test_what_is_missing_is_said_and_where_it_is_to_be_had(place):
    for name in data.SETS:
        assert "is not at hand" in data.missing(name)
    assert "UCI" in data.missing("gisette")
    svmlight(X, y, place / "news20.binary")
    assert data.missing("news20") is None


def test_without_any_data_the_report_says_what_is_missing(place):  # noqa: ARG001
    assert real.jobs(1, False) == []
    (table,) = real.report(Outcomes([]))
    assert not table.rows
    assert "url is not at hand" in table.note


def test_every_table_of_real_data_is_made_where_the_data_are(place, monkeypatch):
    monkeypatch.setattr(
        real, "SPLIT", {name: (0.75, (2, 3), told) for name, (_, _, told) in real.SPLIT.items()}
    )
    monkeypatch.setattr(
        real, "STREAMED", {name: (0.5, 30, told) for name, (_, _, told) in real.STREAMED.items()}
    )
    for day in range(101):
        svmlight(X, y, place / "url_svmlight" / f"Day{day}.svm")
    svmlight(X, y, place / "news20.binary")
    svmlight(X, y, place / "webspam_wc_normalized_trigram.svm")
    whole = [(data.svmlight, ["webspam_wc_normalized_trigram.svm"])]
    monkeypatch.setitem(data.SETS, "webspam", data.Data(6, "", {"train": whole, "test": whole}))
    for part in ("train", "test", "valid"):
        svmlight(X, y, place / f"dexter.{part}.svm")
        np.savetxt(place / f"gisette_{part}.data", X, fmt="%d")
        np.savetxt(place / f"gisette_{part}.labels", y, fmt="%d")
    for part in ("train", "test"):
        monkeypatch.setitem(data.SETS["dexter"].parts, part, [(data.svmlight, [f"dexter.{part}.svm"])])
    songs = np.column_stack([1960 + X @ np.arange(6.0), X])
    np.savetxt(place / "YearPredictionMSD.txt", np.tile(songs, (5, 1)), delimiter=",", fmt="%g")
    np.savez(place / "wikiface.npz", X=X + 0.1 * rng.normal(size=X.shape), y=X @ np.arange(6.0))
    monkeypatch.setitem(data.SETS["msd"].parts, "train", [(data.year, ["YearPredictionMSD.txt"])])
    jobs = real.jobs(1, False)
    assert {job.get("name") for job in jobs} == {None, *real.SPLIT, *real.STREAMED}
    table, figure = real.report(Outcomes([(job, real.measure(**job)) for job in jobs]))
    assert {row[0] for row in table.rows} == {*real.SPLIT, *real.STREAMED}
    linear = next(row[-1].mean for row in table.rows if row[:2] == ["msd", "OLSth"])
    assert 0.7 < linear < 1  # three of five weights
    assert [panel.title.split(",")[0] for panel in figure.panels] == ["olsth", "olasso"]
