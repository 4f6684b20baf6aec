"""From estimators to models, which files hold, and back."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..persist.files import CheckpointError
from ..sources.schema import Schema
from ..training.model import Model
from ..training.saved import Checkpoint, read_plain

if TYPE_CHECKING:
    from .base import Estimator


def load(file: str | os.PathLike[str]) -> Any:
    """Load a file written by `save`: the estimator continues exactly where it stopped.

    Raises `CheckpointError`, with the reason, if the file is damaged or was not written by streamsieve.
    """
    return read_checkpoint(file).object


def read_checkpoint(file: str | os.PathLike[str]) -> Checkpoint:
    """Load a file written by `save`, with its notes; models are returned as scikit-learn estimators."""
    held = read_plain(file)
    return Checkpoint(from_model(held.object), held.about) if isinstance(held.object, Model) else held


def to_model(estimator: Estimator) -> Model:
    """The estimator as a model without scikit-learn; the two share method and stages."""
    if not hasattr(estimator, "_model"):
        return replace(estimator._new_model(), about=_about(estimator))
    estimator._check_unchanged()
    columns = getattr(estimator, "feature_names_in_", None)
    names = getattr(estimator, "names_", columns)
    if hasattr(estimator, "schema_"):
        columns, names = None, estimator.schema_.feature_names
    return replace(
        estimator._model,
        feature_names=None if names is None else list(names),
        n_columns=0 if columns is None else len(columns),
        about=_about(estimator),
    )


def _about(estimator: Estimator) -> dict[str, Any]:
    """What is not part of the method: the schema, whether k was chosen, and the class weights."""
    schema = getattr(estimator, "schema_", None)
    about: dict[str, Any] = {} if schema is None else {"schema": schema.plain()}
    if hasattr(estimator, "k_"):
        about["k"] = "auto"
    given = getattr(estimator, "class_weight", None)
    if given is None or isinstance(given, str):
        return about if given is None else {**about, "class_weight": given}
    pairs = [
        [label.item() if isinstance(label, np.generic) else label, float(weight)]
        for label, weight in given.items()
    ]
    return {**about, "class_weight": pairs}


def from_model(model: Model) -> Any:
    """The estimator that learns the same; the two share method and stages."""
    cls = getattr(import_module(".", __package__), model.name)
    values = {name: value for name, value in model.method.values.items() if name in cls._params}
    weights = model.about.get("class_weight")
    if weights is not None and model.task_name == "classification":
        values["class_weight"] = weights if isinstance(weights, str) else {label: w for label, w in weights}
    if model.about.get("k") == "auto":
        values["k"] = "auto"
    estimator = cls(**values)
    if model.started:
        adopt(estimator, model)
        if values.get("k") == "auto" and type(model.method.values.get("k")) is int:
            estimator.k_ = model.method.values["k"]
    return estimator


def _schema(plain: Any) -> Schema:
    try:
        return Schema.from_plain(plain)
    except ValueError as error:
        raise CheckpointError(f"the file cannot be loaded: {error}") from None


def adopt(estimator: Any, model: Model) -> None:
    """Make the estimator fitted as the model is; the two share method and stages."""
    names = model.feature_names
    estimator._model, estimator.n_features_in_ = replace(model, about={}), model.p
    if "schema" in model.about:
        estimator._set_schema(_schema(model.about["schema"]))
        estimator._model.feature_names = estimator.schema_.feature_names
        return
    if names is not None and model.n_columns:
        estimator.feature_names_in_ = np.array(names[: model.n_columns], dtype=object)
    if names is not None and len(names) > model.n_columns:
        estimator.names_ = {name: j for j, name in enumerate(names)}
        estimator._model.feature_names = estimator.names_  # which `learn_one` adds to
