"""Fitted estimators as models of MLflow (`pyfunc`). Needs the extra `mlflow`.

>>> from streamsieve.mlflow import log_model, save_model                 # doctest: +SKIP
>>> save_model(estimator, "folder")                                      # doctest: +SKIP
>>> mlflow.pyfunc.load_model("folder").predict(frame)                    # doctest: +SKIP
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from . import __version__
from .estimators.saved import load
from .training.saved import save

__all__ = ["log_model", "save_model"]


def _pyfunc() -> Any:
    try:
        import mlflow.pyfunc
    except ImportError:
        raise ImportError("streamsieve.mlflow needs mlflow: pip install 'streamsieve[mlflow]'.") from None
    return mlflow.pyfunc


def _written(write: Any, estimator: Any, **options: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.sieve")
        save(estimator, file)
        options.setdefault("pip_requirements", [f"streamsieve=={__version__}"])
        return write(loader_module=__name__, data_path=file, **options)


def save_model(estimator: Any, path: str, **options: Any) -> None:
    """Write a fitted estimator as a folder for `mlflow.pyfunc`; `options` are those of its `save_model`."""
    _written(_pyfunc().save_model, estimator, path=path, **options)


def log_model(estimator: Any, name: str = "model", **options: Any) -> Any:
    """Log a fitted estimator to the active run; `options` are those of `mlflow.pyfunc.log_model`."""
    return _written(_pyfunc().log_model, estimator, name=name, **options)


class _Predictor:
    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def predict(self, data: Any, params: Any = None) -> Any:  # noqa: ARG002
        names = getattr(self.estimator, "feature_names_in_", None)
        known = names is None and hasattr(data, "to_numpy")
        return self.estimator.predict(data.to_numpy() if known else data)


def _load_pyfunc(path: str) -> _Predictor:
    """What MLflow calls to load the model."""
    return _Predictor(load(path))
