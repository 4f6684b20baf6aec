"""Rows to predict that lie outside of all rows learned are counted, and said once."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from cli_data import good, run
from streamsieve import (
    FTRLProximalRegressor,
    OLSthClassifier,
    OLSthRegressor,
    OLSTRegressor,
    OLSTThenTSGDRegressor,
    RDARegressor,
    SFSARegressor,
    SieveClassifier,
    SieveRegressor,
    SIHTRegressor,
    StabilizedSGDRegressor,
    TSGDRegressor,
    load,
    save,
)
from streamsieve.core.rows import as_rows
from streamsieve.training.outside import reach_of

N, P = 400, 6
LEARNERS = [RDARegressor, SFSARegressor, TSGDRegressor, SIHTRegressor, OLSTRegressor, OLSTThenTSGDRegressor]
LEARNERS += [FTRLProximalRegressor, StabilizedSGDRegressor]
KNOW = [SieveRegressor, SieveClassifier, OLSthRegressor, OLSthClassifier, *LEARNERS]


def rows(seed=0, heavy=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(1.5, size=(N, P)) if heavy else rng.normal(5.0, 1.0, size=(N, P))
    return X, X[:, 1] - 2 * X[:, 4]


def fitted(kind, X, y):
    return kind(2).fit(X, y > np.median(y) if kind.__name__.endswith("Classifier") else y)


@pytest.mark.parametrize("kind", KNOW)
def test_a_row_far_out_is_said_once(kind, tmp_path):
    X, y = rows()
    model = fitted(kind, X, y)
    far = X[:3].copy()
    far[1, 4] = 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
        near = far.copy()
        near[1, 4], near[1, 0] = 5.0, 1e6  # of a feature that is not selected
        model.predict(near)
    with pytest.warns(UserWarning, match="1 of 3 rows to predict lie outside the range of the training rows"):
        model.predict(far)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(far)
    save(model, tmp_path / "m")
    with pytest.warns(UserWarning, match="lie outside"):
        load(tmp_path / "m").predict(sp.csr_array(far))


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("kind", [SieveRegressor, OLSthRegressor])
def test_no_row_that_was_learned_lies_outside(kind, heavy):
    """Samuelson's inequality, whatever the distribution."""
    X, y = rows(heavy=heavy)
    reach = reach_of(fitted(kind, X, y)._model)
    assert set(reach.features.tolist()) == {1, 4}
    assert not reach.n_outside(as_rows(X)[0]).any()


def test_learners_know_nothing_of_features_that_the_first_rows_did_not_show():
    X, y = rows()
    X[:, 5] = 0.0
    X[350:, 5] = 1.0
    model = TSGDRegressor(6).partial_fit(X, y + X[:, 5])
    assert reach_of(model._model).features.tolist() == [0, 1, 2, 3, 4]


def test_few_rows_know_nothing():
    X, y = rows()
    assert reach_of(OLSthRegressor(2).fit(X[:50], y[:50])._model) is None


def test_the_command_counts_rows_outside(tmp_path):
    X, y = rows()
    lines = ["a,b,c,d,e,f,y", *(",".join(map(str, [*x, t])) for x, t in zip(X, y))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    far = X[:3].copy()
    far[1, 4] = 1e6
    lines = ["a,b,c,d,e,f", *(",".join(map(str, x)) for x in far)]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    words = ["fit", tmp_path / "rows.csv", "--target", "y", "-k", 2, "-q"]
    good(*words, "-o", tmp_path / "m")
    done = good("predict", tmp_path / "m", tmp_path / "new.csv", "--check")
    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == ["outside", "0", "1", "0"]
    assert "1 of 3 rows lie outside the range of the training rows" in " ".join(done.stderr.split())
    assert "outside" not in good("predict", tmp_path / "m", tmp_path / "rows.csv", "--check").stderr
    good(*words, "--method", "siht", "--set", "standardize=False", "-o", tmp_path / "other")
    done = run("predict", tmp_path / "other", tmp_path / "new.csv", "--check")
    assert done.exit_code == 2
    assert "does not store the range of its training rows" in " ".join(done.stderr.split())
