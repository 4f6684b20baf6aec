"""The papers' real data, as gzipped svmlight files outside the repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEATURES = {"dexter": 19_999, "basehock": 26_214, "arcene": 10_000}


def folder() -> Path:
    """Where the files are: the folder that STREAMSIEVE_DATA names, or ../shared/data beside the repository.

    Raises FileNotFoundError, with what to do, where there is none.
    """
    named = os.environ.get("STREAMSIEVE_DATA")
    place = Path(named) if named else Path(__file__).resolve().parents[4] / "shared" / "data"
    if place.is_dir():
        return place
    where = named or "../shared/data beside the repository"
    raise FileNotFoundError(
        f"no data in {where}; name its folder in the environment variable STREAMSIEVE_DATA."
    )


def load(name: str, part: str) -> tuple[Any, NDArray[np.float64]]:
    """Rows (CSR) and labels (-1, +1) of a set ("dexter", ...) and a part of it ("train" or "test")."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(
        str(folder() / f"{name}.{part}.svm.gz"), n_features=FEATURES[name], zero_based=False
    )
    return X, y
