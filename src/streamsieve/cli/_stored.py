"""Models out of files: those on running averages give any other model, without a row."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from .._input import as_scipy
from .._light import Csr
from ..averages.folds import FoldAverages
from ..averages.running import RunningAverages
from ..persist import CheckpointError, read_checkpoint
from ._learn import Learned
from ._methods import ASKED, Ask
from ._output import Say


def open_model(file: str) -> Learned:
    """An estimator out of a file, with what `fit` noted about it; a file of the library's `save` has less."""
    held = read_checkpoint(file)
    model = held.object
    if not hasattr(model, "predict") or not hasattr(model, "get_support"):
        raise CheckpointError(f"{file} holds {type(model).__name__}, not a model that was fitted.")
    if not model.__sklearn_is_fitted__():
        raise CheckpointError(f"{file} holds a {type(model).__name__} that has not seen any rows.")
    return Learned(model, {**defaults(model), **held.about})


def defaults(model: Any) -> dict[str, Any]:
    """What can be said about a model that was not fitted by the command line."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and hasattr(model, "names_"):
        names = list(model.names_)
    name = type(model).__name__
    return {
        "task": "classification" if name.endswith("Classifier") else "regression",
        "method": name.removesuffix("Classifier").removesuffix("Regressor").lower(),
        "source": None,
        "first_index": 0,
        "rows": rows_of(model),
        "rows_bad": 0,
        "feature_names": None if names is None else [str(name) for name in names],
    }


def rows_of(model: Any) -> int | None:
    """Rows a model has learned, where it keeps count."""
    if getattr(model, "_averaged", False):
        return int(model.averages_.n_samples_)
    clock = getattr(model, "clock_", None)
    return None if clock is None else int(clock[0])


def averages_of(model: Any, file: str) -> RunningAverages:
    if isinstance(model, RunningAverages):
        return model
    if isinstance(model, FoldAverages):
        return model.total()
    if not getattr(model, "_averaged", False):
        raise CheckpointError(
            f"{file} holds a {type(model).__name__}, which keeps no averages; fit with ofsa or olsth."
        )
    return averages_of(model.averages_, file)


def select_stored(file: str, told: dict[str, Any], say: Say) -> Learned:
    """The model of a file, or another one extracted from its averages."""
    done = open_model(file)
    ask = Ask(**{name: told[name] for name in ASKED})
    if ask.k is None and ask.method == "auto" and not ask.settings:
        return done
    averages = averages_of(done.model, file)
    method = done.about["method"] if ask.method == "auto" else ask.method
    if ask.method == "auto" and ask.k == "auto":
        method = "olsth"
    model = ask.build(method, done.about["task"])
    if not model._averaged:
        raise click.UsageError(
            f"--method {method} needs rows; from the averages of {file} come ols, olsth, ofsa, ..."
        )
    model._take_over(done.model, averages)
    say(f"Extracted from the averages of {averages.n_samples_:,} rows; none was read.")
    return Learned(model, {**done.about, "method": method})


def add_up(files: tuple[str, ...]) -> Learned:
    """One model on the averages of all; a CheckpointError where they are not of the same kind."""
    whole = open_model(files[0])
    averages_of(whole.model, files[0])
    about = whole.about
    about.pop("position", None)
    about.pop("asked", None)
    about.pop("done", None)
    sources = list((about["source"] or {}).get("files", []))
    for file in files[1:]:
        part = open_model(file)
        _same_kind(whole.model, part.model, file)
        ours, theirs = about["feature_names"], part.about["feature_names"]
        if (ours is None) != (theirs is None):
            raise CheckpointError(f"{file} names its features, or {files[0]} does, but not both.")
        where = None
        wide = max(whole.model.n_features_in_, part.model.n_features_in_)
        if ours is not None and theirs is not None:
            at = {name: j for j, name in enumerate(ours)}
            where = np.array([at.setdefault(name, len(at)) for name in theirs], dtype=np.int64)
            about["feature_names"], wide = list(at), len(at)
        whole.model._add(part.model, where, wide)
        about["rows"] += part.about["rows"]
        about["rows_bad"] += part.about["rows_bad"]
        sources += (part.about["source"] or {}).get("files", [])
    if about["source"]:
        about["source"] = {**about["source"], "files": sources}
    return whole


def _same_kind(model: Any, other: Any, file: str) -> None:
    averages_of(other, file)
    if type(model) is not type(other):
        raise CheckpointError(
            f"{file} holds a {type(other).__name__}, the first file a {type(model).__name__}."
        )
    if len(model._parts()) != len(other._parts()):
        raise CheckpointError(
            f"{file} has {len(other._parts())} folds, the first file {len(model._parts())}."
        )
    mine, theirs = getattr(model, "classes_", None), getattr(other, "classes_", None)
    if mine is not None and theirs is not None and not np.array_equal(mine, theirs):
        raise CheckpointError(
            f"{file} has the labels {', '.join(map(str, theirs))}, the first file "
            f"{', '.join(map(str, mine))}; fit both with the same --classes."
        )
    for name in ("interactions", "alpha", "half_life", "dtype"):
        if getattr(model, name) != getattr(other, name):
            raise CheckpointError(
                f"{file} has {name}={getattr(other, name)!r}, the first file {getattr(model, name)!r}."
            )


def spread(X: Any, features: np.ndarray[Any, Any] | None, p: int) -> Any:
    """Rows of some features (None: the first ones) in the p columns that a model knows; the rest is 0."""
    if features is None and X.shape[1] == p:
        return X
    X = as_scipy(X)[:, : p if features is None else len(features)]
    indices = X.indices if features is None else features[X.indices].astype(X.indices.dtype)
    return as_scipy(Csr(X.data, indices, X.indptr, (X.shape[0], p)))
