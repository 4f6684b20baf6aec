"""`python tests/models/make.py`: a small model of each family as this version writes it, in `VERSION/`.

`tests/test_old_models.py` loads the models of every release. Until a version is released its format may
change: then run this again. Afterwards what it wrote stays.
"""

import json
from pathlib import Path

import numpy as np

import streamsieve

FAMILIES = [
    "SieveRegressor",
    "OLSthRegressor",
    "TSGDClassifier",
    "BARDARegressor",
    "RDAClassifier",
    "StabilizedSGDRegressor",
]


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    return X, X[:, 1] - 2 * X[:, 3]


def main():
    folder = Path(__file__).with_name(streamsieve.__version__)
    folder.mkdir(exist_ok=True)
    X, y = rows()
    predictions = {}
    for name in FAMILIES:
        model = getattr(streamsieve, name)(k=2).fit(X, y > 0 if name.endswith("Classifier") else y)
        streamsieve.save(model, folder / name)
        predictions[name] = model.predict(X[:5]).astype(float).tolist()
    (folder / "predictions.json").write_text(json.dumps(predictions, indent=1) + "\n")


if __name__ == "__main__":
    main()
