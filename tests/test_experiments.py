"""The papers' own numbers, from the experiments that print them."""

import numpy as np
import pytest

from streamsieve.experiments import detection, drift

# At least so many percent of the true features, on average of 5 runs.
LEAST = {
    (1.0, 1_000): {"OLSth": 99, "OFSA": 99, "OLasso": 31, "OElnet": 31, "OALa": 81, "OMCP": 91},
    (1.0, 3_000): {"OLSth": 100, "OFSA": 100, "OLasso": 45, "OElnet": 45, "OALa": 100, "OMCP": 99},
    (0.1, 3_000): {"OLSth": 95, "OFSA": 98, "OLasso": 43, "OElnet": 43, "OALa": 95, "OMCP": 95},
    (0.01, 100_000): {"OLSth": 79, "OFSA": 85, "OLasso": 80, "OElnet": 80, "OALa": 79, "OMCP": 84},
}


def test_every_published_setting_has_a_bound():
    assert LEAST.keys() == detection.PUBLISHED.keys()
    assert all(bounds.keys() == detection.METHODS.keys() for bounds in LEAST.values())


def test_one_run_reports_every_method():
    rates = detection.one_run(1.0, 1_000, seed=7)
    assert rates["OFSA"][0] >= 97
    assert rates["OFSA"][1] < 1.3
    assert rates.keys() == detection.METHODS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("setting", LEAST)
def test_detection_rates(setting):
    i = list(detection.PUBLISHED).index(setting)
    runs = [detection.one_run(*setting, seed=1000 * i + r) for r in range(5)]
    rates = {m: np.mean([run[m][0] for run in runs]) for m in detection.METHODS}
    short = {m: rates[m] for m, least in LEAST[setting].items() if rates[m] < least}
    assert not short


@pytest.mark.slow
def test_drift_is_followed():
    agree = drift.one_run(1000, 0, lambda *_: None)
    assert agree["0.001 a row"] <= 1.05
    assert agree["none"] > 2
