"""From estimators to what a file holds, and back."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..fitted import FittedModel
from .base import Estimator
from .classifier import Classifier


def to_fitted(estimator: Estimator) -> FittedModel:
    """The estimator as a model without scikit-learn; the two share the method."""
    task_name = "classification" if isinstance(estimator, Classifier) else "regression"
    if not hasattr(estimator, "method_"):
        return FittedModel(estimator._new_method(), task_name)
    estimator._check_unchanged()
    columns = getattr(estimator, "feature_names_in_", None)
    names = getattr(estimator, "names_", columns)
    return FittedModel(
        estimator.method_,
        task_name,
        estimator._task,
        None if names is None else list(names),
        0 if columns is None else len(columns),
    )


def from_fitted(model: FittedModel) -> Any:
    """The estimator that learns the same; the two share the method."""
    cls = getattr(import_module(".", __package__), model.name)
    values = {name: value for name, value in model.method.values.items() if name in cls._params}
    estimator = cls(**values)
    if model.started:
        adopt(estimator, model)
    return estimator


def adopt(estimator: Any, model: FittedModel) -> None:
    """Make the estimator fitted as the model is; the two share the method."""
    estimator.method_, estimator._task, estimator.n_features_in_ = model.method, model.task, model.p
    names = model.feature_names
    if names is not None and model.n_columns:
        estimator.feature_names_in_ = np.array(names[: model.n_columns], dtype=object)
    if names is not None and len(names) > model.n_columns:
        estimator.names_ = {name: j for j, name in enumerate(names)}
