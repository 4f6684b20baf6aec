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
        return FittedModel(estimator._new_method(), task_name, about=_about(estimator))
    estimator._check_unchanged()
    columns = getattr(estimator, "feature_names_in_", None)
    names = getattr(estimator, "names_", columns)
    return FittedModel(
        estimator.method_,
        task_name,
        estimator._task,
        None if names is None else list(names),
        0 if columns is None else len(columns),
        about=_about(estimator),
    )


def _about(estimator: Estimator) -> dict[str, Any]:
    """What the method does not hold: the weights of the classes, as pairs, or 'balanced'."""
    given = getattr(estimator, "class_weight", None)
    if given is None or isinstance(given, str):
        return {} if given is None else {"class_weight": given}
    pairs = [
        [label.item() if isinstance(label, np.generic) else label, float(weight)]
        for label, weight in given.items()
    ]
    return {"class_weight": pairs}


def from_fitted(model: FittedModel) -> Any:
    """The estimator that learns the same; the two share the method."""
    cls = getattr(import_module(".", __package__), model.name)
    values = {name: value for name, value in model.method.values.items() if name in cls._params}
    weights = model.about.get("class_weight")
    if weights is not None and model.task_name == "classification":
        values["class_weight"] = weights if isinstance(weights, str) else {label: w for label, w in weights}
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
        model.method.feature_names = estimator.names_  # which `learn_one` adds to
