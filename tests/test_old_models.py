"""Models that earlier versions have written are loaded, predict what they did, and go on."""

import json
from pathlib import Path

import numpy as np
import pytest

import streamsieve
from models.make import rows

FILES = sorted(file for file in Path(__file__).parent.glob("models/[0-9]*/*") if not file.suffix)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_a_model_of_an_earlier_version(file):
    X, y = rows()
    model = streamsieve.load(file)
    expected = json.loads((file.parent / "predictions.json").read_text())[file.name]
    # the sieve reads its model from the state anew, by the rules of now
    rtol = 1e-5 if file.name.startswith("Sieve") else 1e-9
    np.testing.assert_allclose(model.predict(X[:5]).astype(float), expected, rtol=rtol)
    model.partial_fit(X, y > 0 if file.name.endswith("Classifier") else y)


def test_there_are_models_of_this_version():
    assert {file.parent.name for file in FILES} >= {streamsieve.__version__}
