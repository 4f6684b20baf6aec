"""The readers of the papers' data, on small files of the form in which their owners distribute them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from papers import data
from papers.experiments import real
from papers.report import Outcomes

rng = np.random.default_rng(0)
X = np.where(rng.random((40, 6)) < 0.5, rng.integers(1, 9, (40, 6)), 0).astype(float)
y = np.where(X[:, 0] > X[:, 1], 1.0, -1.0)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder for the data, which are all six features wide."""
    monkeypatch.setenv("STREAMSIEVE_DATA", str(tmp_path))
    sets = {name: data.Dataset(6, dataset.source, dataset.parts) for name, dataset in data.DATASETS.items()}
    monkeypatch.setattr(data, "DATASETS", sets)
    return tmp_path


def svmlight(rows, labels, file):
    file.parent.mkdir(exist_ok=True)
    dump_svmlight_file(rows, labels, str(file), zero_based=False)


def check(name, part, rows, labels):
    rows_read, labels_read = data.load(name, part)
    assert_array_equal(rows_read.toarray() if sp.issparse(rows_read) else rows_read, rows)
    assert_array_equal(labels_read, labels)


def test_days_of_urls_are_learned_in_order(folder):
    for day in range(101):
        svmlight(
            X[day % 40 : day % 40 + 1], y[day % 40 : day % 40 + 1], folder / "url_svmlight" / f"Day{day}.svm"
        )
    days = np.arange(100) % 40
    check("url", "train", X[days], y[days])
    check("url", "test", X[[20]], y[[20]])


@pytest.mark.parametrize(
    ("name", "file"),
    [("news20", "news20.binary"), ("farm_ads", "farm-ads-vect")],
)
def test_svmlight_by_its_owners_name(folder, name, file):
    svmlight(X, y, folder / file)
    check(name, "all", X, y)


def test_rcv1_has_two_files(folder):
    svmlight(X, y, folder / "rcv1_train.binary")
    svmlight(X[:5], y[:5], folder / "rcv1_test.binary")
    check("rcv1", "test", X[:5], y[:5])


def test_the_challenge_has_labels_in_a_file_of_their_own(folder):
    for part in ("train", "valid"):
        np.savetxt(folder / f"gisette_{part}.data", X, fmt="%d")
        lines = [" ".join(str(j + 1) for j in np.flatnonzero(row)) + " " for row in X]
        (folder / f"dorothea_{part}.data").write_text("\n".join(lines) + "\n")
        for name in ("gisette", "dorothea"):
            np.savetxt(folder / f"{name}_{part}.labels", y, fmt="%d")
    check("gisette", "test", X, y)
    check("dorothea", "train", X != 0, y)
    assert data.load("gisette", "all")[0].shape == (80, 6)


def test_years_come_first(folder):
    np.savetxt(folder / "YearPredictionMSD.txt", np.column_stack([y + 2000, X]), delimiter=",", fmt="%g")
    check("msd", "all", X, y + 2000)


def test_matlab_and_numpy_files(folder):
    savemat(folder / "PCMAC.mat", {"X": X, "Y": (y[:, None] + 3) / 2})
    np.savez(folder / "wikiface.npz", X=X, y=y)
    check("pcmac_asu", "all", X, y)
    check("wikiface", "all", X, y)


def test_a_file_of_another_width_is_refused(folder):
    np.savez(folder / "wikiface.npz", X=X[:, :5], y=y)
    with pytest.raises(ValueError, match=r"wikiface.npz has 5 features where 6 are expected"):
        data.load("wikiface", "all")


def test_missing_files_are_named_with_their_source(folder):
    for name in data.DATASETS:
        assert "is not at hand" in data.missing_files(name)
    assert "UCI" in data.missing_files("gisette")
    svmlight(X, y, folder / "news20.binary")
    assert data.missing_files("news20") is None


def test_without_any_data_the_report_says_what_is_missing(folder):  # noqa: ARG001
    assert real.jobs(1, False) == []
    (table,) = real.report(Outcomes([]))
    assert not table.rows
    assert "url is not at hand" in table.note


def test_every_table_of_real_data_is_made_where_the_data_are(folder, monkeypatch):
    monkeypatch.setattr(
        real, "SPLIT", {name: (0.75, (2, 3), published) for name, (_, _, published) in real.SPLIT.items()}
    )
    monkeypatch.setattr(
        real, "STREAMED", {name: (0.5, 30, published) for name, (_, _, published) in real.STREAMED.items()}
    )
    for day in range(101):
        svmlight(X, y, folder / "url_svmlight" / f"Day{day}.svm")
    svmlight(X, y, folder / "news20.binary")
    svmlight(X, y, folder / "webspam_wc_normalized_trigram.svm")
    whole = [(data.svmlight, ["webspam_wc_normalized_trigram.svm"])]
    monkeypatch.setitem(data.DATASETS, "webspam", data.Dataset(6, "", {"train": whole, "test": whole}))
    for part in ("train", "test", "valid"):
        svmlight(X, y, folder / f"dexter.{part}.svm")
        np.savetxt(folder / f"gisette_{part}.data", X, fmt="%d")
        np.savetxt(folder / f"gisette_{part}.labels", y, fmt="%d")
    for part in ("train", "test"):
        monkeypatch.setitem(data.DATASETS["dexter"].parts, part, [(data.svmlight, [f"dexter.{part}.svm"])])
    songs = np.column_stack([1960 + X @ np.arange(6.0), X])
    np.savetxt(folder / "YearPredictionMSD.txt", np.tile(songs, (5, 1)), delimiter=",", fmt="%g")
    np.savez(folder / "wikiface.npz", X=X + 0.1 * rng.normal(size=X.shape), y=X @ np.arange(6.0))
    monkeypatch.setitem(data.DATASETS["msd"].parts, "train", [(data.songs, ["YearPredictionMSD.txt"])])
    monkeypatch.setattr(real, "SPLITS", 1)
    jobs = real.jobs(1, False)
    assert sum(job.get("name") == "wikiface, [Susan]" for job in jobs) == real.FOLDS
    assert {job.get("name") for job in jobs} == {None, *real.SPLIT, *real.STREAMED}
    table, figure = real.report(Outcomes([(job, real.measure(**job)) for job in jobs]))
    assert {row[0] for row in table.rows} == {*real.SPLIT, *real.STREAMED}
    linear = next(row[-1].mean for row in table.rows if row[:2] == ["msd", "OLSth"])
    assert 0.7 < linear < 1  # three of five weights
    assert [panel.title.split(",")[0] for panel in figure.panels] == ["olsth", "olasso"]


def test_folds_are_stratified_by_the_target():
    targets = np.random.default_rng(0).normal(size=103)
    fold = real.stratified_folds(targets)[np.argsort(targets)]
    assert all(set(fold[at : at + real.FOLDS]) == set(range(real.FOLDS)) for at in range(0, 100, real.FOLDS))
    assert np.bincount(fold).max() - np.bincount(fold).min() <= 1
