"""An estimator whose data, and whose predictions, are lazy."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.params import ParamError
from .blocks import kind_of
from .fit import fit


class DaskSelector:
    """An estimator of this library, fitted on a Dask cluster; predictions and selections stay lazy.

    Parameters
    ----------
    estimator : estimator
        An estimator of any method; see `streamsieve.dask.fit`.
    client : distributed.Client or None, default=None
        None: the client that was created last.
    unit, folder, timeout, worker_timeout
        As in `streamsieve.dask.fit`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator; its other attributes (`coef_`, `classes_`, ...) are also available here.

    Examples
    --------
    >>> import dask.array as da                                              # doctest: +SKIP
    >>> from streamsieve import OLSthRegressor
    >>> from streamsieve.dask import DaskSelector                            # doctest: +SKIP
    >>> selector = DaskSelector(OLSthRegressor(10)).fit(X, y)                # doctest: +SKIP
    >>> selector.transform(X).compute()                                      # doctest: +SKIP
    """

    def __init__(
        self,
        estimator: Any,
        client: Any = None,
        *,
        unit: int | str = "256MB",
        folder: str | os.PathLike[str] | None = None,
        timeout: float = 3600.0,
        worker_timeout: float = 120.0,
    ) -> None:
        self.estimator, self.client, self.unit, self.folder = estimator, client, unit, folder
        self.timeout, self.worker_timeout = timeout, worker_timeout

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of the estimator, as ``estimator__k``."""
        names = ("estimator", "client", "unit", "folder", "timeout", "worker_timeout")
        own = {name: getattr(self, name) for name in names}
        nested = self.estimator.get_params(deep=True) if deep else {}
        return own | {f"estimator__{name}": value for name, value in nested.items()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the estimator (``estimator__k``)."""
        for name, value in params.items():
            if name.startswith("estimator__"):
                self.estimator.set_params(**{name.removeprefix("estimator__"): value})
            elif name in self.get_params(deep=False):
                setattr(self, name, value)
            else:
                raise ParamError(name, value, f"expected one of {', '.join(self.get_params(deep=False))}.")
        return self

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Self:
        """Fit on a Dask collection, or on files; `options` are those of `streamsieve.dask.fit`."""
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "estimator"}
        self.estimator_ = fit(self.estimator, X, y, sample_weight=sample_weight, **settings, **options)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; has it been fitted?")
        return getattr(self.estimator_, name)

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    def predict(self, X: Any) -> Any:
        """Predicted targets or labels: lazy for a Dask array (an array) or data frame (a series)."""
        return self._lazy(X, "predict")

    def decision_function(self, X: Any) -> Any:
        """Scores of a classifier, lazy as those of `predict`."""
        return self._lazy(X, "decision_function")

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, lazy as those of `predict`."""
        return self._lazy(X, "predict_proba")

    def transform(self, X: Any) -> Any:
        """The selected columns: lazy for a Dask array or data frame."""
        if not hasattr(X, "dask"):
            return self.estimator_.transform(X)
        if getattr(self.estimator_, "interactions", False):
            raise ValueError("transform of a Dask collection selects columns; it makes no interactions.")
        support = self.estimator_.get_support(indices=True)
        if kind_of(X) == "frame":
            return X[[X.columns[j] for j in support]]
        return X[:, support]

    def _lazy(self, X: Any, name: str) -> Any:
        if not hasattr(X, "dask"):
            return getattr(self.estimator_, name)(X)
        predict = Predictor.of(self.estimator_, name)
        if kind_of(X) == "frame":
            names = getattr(self.estimator_, "feature_names_in_", None)
            frame = X if names is None else X[list(names)]
            return frame.map_partitions(predict.frame, meta=predict.frame(frame._meta))
        sample = predict(np.zeros((1, self.estimator_.n_features_in_)))
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        if sample.ndim == 1:
            return X.map_blocks(predict, drop_axis=1, dtype=sample.dtype, meta=sample[:0])
        return X.map_blocks(
            predict, chunks=(X.chunks[0], (sample.shape[1],)), dtype=sample.dtype, meta=sample[:0]
        )


@dataclass(frozen=True)
class Predictor:
    """Calls a method of a fitted estimator, which is slim where it can be: then little is sent."""

    estimator: Any
    name: str

    @classmethod
    def of(cls, estimator: Any, name: str) -> Predictor:
        return cls(estimator if estimator.method_.interactions else estimator.slim(), name)

    def __dask_tokenize__(self) -> Any:
        """What Dask tells predictors apart by: a model has a lock, which has no name."""
        return pickle.dumps(self.estimator), self.name

    def __call__(self, X: Any) -> Any:
        return getattr(self.estimator, self.name)(X)

    def frame(self, frame: Any) -> Any:
        """A series, or a frame with a column for each class."""
        import pandas as pd

        named = hasattr(self.estimator, "feature_names_in_")
        values = self(frame if named else frame.to_numpy(dtype=np.float64))
        return (pd.Series if values.ndim == 1 else pd.DataFrame)(values, index=frame.index)
