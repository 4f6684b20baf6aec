"""Messages of `fit`: to the logger "streamsieve", or to stderr with verbose=True."""

import logging

import numpy as np
import pytest

from streamsieve import OLSthRegressor, SFSARegressor, SieveClassifier

X = np.random.default_rng(0).normal(size=(5000, 4))
y = X[:, 0] - X[:, 2]


def test_fit_is_silent_unless_asked(capfd, caplog):
    SFSARegressor(2).fit(X, y)
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_verbose_prints_passes_to_stderr(capfd):
    model = SFSARegressor(2, verbose=True).fit(X, y)
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert not out
    assert lines[1].startswith("SFSARegressor.fit: 5,000 rows, pass 2, loss ")
    assert lines[-1] == f"SFSARegressor.fit: {model.n_iter_} passes over 5,000 rows"


@pytest.mark.parametrize("estimator", [SieveClassifier(2, verbose=True), OLSthRegressor(2, verbose=True)])
def test_verbose_prints_the_rows_of_one_pass(estimator, capfd):
    estimator.fit(X, y > 0)
    assert capfd.readouterr().err == f"{type(estimator).__name__}.fit: 4,096 rows\n"


def test_the_logger_has_the_messages_once(capfd, caplog):
    with caplog.at_level(logging.INFO, logger="streamsieve"):
        SFSARegressor("auto", verbose=True).fit(X, y)
    assert caplog.messages[-1] == "SFSARegressor.fit: k='auto' chose 2 features"
    assert capfd.readouterr().err == ""


def test_a_source_of_blocks_is_logged_as_its_rows_are(caplog):
    class Blocks:
        def __iter__(self):
            yield X[:2000], y[:2000]
            yield X[2000:], y[2000:]

    with caplog.at_level(logging.INFO, logger="streamsieve"):
        SFSARegressor(2).fit(Blocks())
    from_blocks = caplog.messages.copy()
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="streamsieve"):
        SFSARegressor(2).fit(X, y)
    assert from_blocks == caplog.messages
