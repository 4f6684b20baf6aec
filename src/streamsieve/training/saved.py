"""`save` and `load`: models, averages and linear models in files, which continue bit for bit.

A model file has the name of the method, its parameters and state, p, the task, the names of the features and,
if extracting the model is expensive, the extracted model. On loading, the state is compared with a new state
of the method, because the kernels do not check types and lengths; then the method checks the indices.
"""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.state import State
from ..core.tasks import Classification, Regression, Task
from ..methods import METHODS, method_class
from ..persist.encode import Decoder, Encoder
from ..persist.files import STATE, CheckpointError, read_tensors, write_tensors
from .model import Model
from .prepare import Prepare
from .refit import Refitted
from .slim import Slim

#: Besides models: states with a `check`, or classes with `to_plain` and `from_plain`.
OTHERS = ("RunningAverages", "FoldAverages", "AveragesBank", "FourthMoments", "LinearModel")


@dataclass(frozen=True)
class Checkpoint:
    """Content of a file: the object, and notes about it (for instance the position in its stream)."""

    object: Any
    about: dict[str, Any]


def save(obj: Any, file: str | os.PathLike[str], *, about: dict[str, Any] | None = None) -> None:
    """Write an estimator, `RunningAverages`, `FoldAverages`, `FourthMoments` or a `LinearModel` to a file.

    The file is complete or absent: it is written under another name in the same folder, synced to disk, and
    renamed. If this fails, an existing file is unchanged.

    Parameters
    ----------
    obj : object
        It may be in the middle of a stream. Forgetting by a function (a callable `decay`) cannot be saved.
    file : path
    about : dict or None
        Plain data (numbers, strings, lists, dicts) to store with it.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from streamsieve import TSGDRegressor, load, save
    >>> X = np.random.default_rng(0).normal(size=(2000, 6))
    >>> model = TSGDRegressor(k=2).partial_fit(X, X[:, 2] - 2 * X[:, 5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "model.sieve")
    ...     save(model, file)
    ...     load(file).partial_fit(X, X[:, 2] - 2 * X[:, 5]).get_support(indices=True)
    array([2, 5])
    """
    with _lock_of(obj):  # until all is written: arrays are not copied, and their checksum comes before them
        _save(obj, file, about)


def _lock_of(obj: Any) -> Any:
    """The lock under which the object learns, if it has one."""
    model = obj if isinstance(obj, Model) else getattr(obj, "_model", None)
    return getattr(obj, "_lock", nullcontext()) if model is None else model.lock


def _save(obj: Any, file: str | os.PathLike[str], about: dict[str, Any] | None) -> None:
    from .. import __version__

    model = obj if isinstance(obj, Model) else obj._to_model() if hasattr(obj, "_to_model") else None
    encoder = Encoder()
    tree: dict[str, Any]
    if model is not None:
        kind = model.name
        tree = {"model": _encode_model(model, encoder)}
        about = {**model.about, **(about or {})}
    elif type(obj).__name__ in OTHERS and type(obj) is _other(type(obj).__name__):
        kind = type(obj).__name__
        tree = {"object": kind, "plain": encoder(obj if isinstance(obj, State) else obj.to_plain(), kind)}
    else:
        raise TypeError(f"Cannot save {type(obj).__name__}; pass an estimator, averages or a LinearModel.")
    tree["about"] = encoder(about or {}, "about")
    text = np.frombuffer(json.dumps(tree, allow_nan=False).encode(), dtype=np.uint8)
    # the widest first: then each begins at a multiple of its width
    tensors = sorted(((str(i), a) for i, a in enumerate(encoder.tensors)), key=lambda item: -item[1].itemsize)
    write_tensors(file, [*tensors, (STATE, text)], kind, __version__)


def read_plain(file: str | os.PathLike[str]) -> Checkpoint:
    """Read a file written by `save`, with its notes; models are `Model`, without scikit-learn."""
    try:
        with open(file, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            tensors = read_tensors(stream, size)
        tree = json.loads(bytes(tensors.pop(STATE)))
        decoder = Decoder(tensors)
        about = decoder(tree["about"])
        if not isinstance(about, dict):
            raise CheckpointError("its notes are not a dictionary")
        if "model" in tree:
            found = _decode_model(tree["model"], decoder, about, size)
        else:
            found = _decode_other(tree["object"], tree["plain"], decoder)
        if decoder.tensors:
            raise CheckpointError(f"nothing uses its tensors {', '.join(sorted(decoder.tensors)[:3])}")
        return Checkpoint(found, about)
    except OSError:
        raise
    except CheckpointError as error:
        raise CheckpointError(f"{os.fspath(file)} cannot be loaded: {error}.") from None
    except Exception as error:  # whatever a forged file makes plain code raise
        reason = f"{type(error).__name__}: {error}"
        raise CheckpointError(
            f"{os.fspath(file)} cannot be loaded: its content is inconsistent ({reason})."
        ) from error


def _decode_other(name: str, node: Any, decoder: Decoder) -> Any:
    if name not in OTHERS:
        raise CheckpointError(f"it holds a {name!r}, which is unknown")
    cls = _other(name)  # imports the states that its file may hold
    plain = decoder(node)
    if not issubclass(cls, State):
        return cls.from_plain(plain)
    if type(plain) is not cls:
        raise CheckpointError(f"it holds {type(plain).__name__}, not {cls.__name__}")
    plain.check()
    return plain


def _other(name: str) -> Any:
    import streamsieve

    return getattr(streamsieve, name)


# ---------------------------------------------------------------- models


def _encode_model(model: Model, encoder: Encoder) -> dict[str, Any]:
    method = model.method
    return {
        "method": model.method_name,
        "parameters": encoder(method.values, model.name),
        "task": model.task_name,
        "target": None if model.task is None else encoder(_plain_task(model.task), "target"),
        "p": method.p,
        "feature_names": encoder(model.feature_names, "feature_names"),
        "n_columns": model.n_columns,
        "first_index": model.first_index,
        "state": encoder(method.state, model.method_name),
        "prepare": encoder(model.prepare, "prepare"),
        "refitted": encoder(model.refitted, "refitted"),
        "extracted": encoder(method.extracted(), "extracted"),
        **({"slim": {"joint": bool(method.joint)}} if isinstance(method, Slim) else {}),
    }


def _decode_model(node: dict[str, Any], decoder: Decoder, about: dict[str, Any], size: int) -> Model:
    name, task_name, p = node["method"], node["task"], node["p"]
    if name not in METHODS or task_name not in METHODS[name].tasks:
        raise CheckpointError(f"it holds a {name!r} for {task_name!r}, which is not a method of this library")
    cls = method_class(name)  # imports the states that its file may hold
    parameters = decoder(node["parameters"])
    if parameters.get("loss") not in cls.losses[task_name]:
        raise CheckpointError(f"its loss is {parameters.get('loss')!r}")
    method = cls(**parameters)
    names, n_columns, first = decoder(node["feature_names"]), node["n_columns"], node["first_index"]
    if not all(type(n) is int and n >= 0 for n in (p, n_columns, first)):
        raise CheckpointError(f"it has {p!r} features, {n_columns!r} of them columns of a frame")
    if names is not None and not isinstance(names, list):
        raise CheckpointError(f"the names of its features are {type(names).__name__}, not a list")
    if n_columns > len(names or ()):
        raise CheckpointError("the names of its features are missing")
    set(names or ())  # raises TypeError for names that cannot be looked up
    task = None if node["target"] is None else _task(decoder(node["target"]), task_name)
    model = Model(method, task_name, task, names, n_columns, first, about)
    state, extracted = decoder(node["state"]), decoder(node["extracted"])
    if state is not None:
        if task is None or not isinstance(state, State):
            raise CheckpointError("the state has no task")
        if "slim" in node:
            model.method = Slim(method, p, task.q, node["slim"]["joint"] is True)
            _verified(state, model.method.state)
            model.method.state = state
            model.verify_state()
            return model
        _check_size(method, p, task.q, size)
        method.p, method.q, method.state = p, task.q, _verified(state, method.start(p, task.q))
        stage, refitted = decoder(node["prepare"]), decoder(node["refitted"])
        fresh = Prepare.of(method, p)
        if (stage is None) != (fresh is None):
            raise CheckpointError("centre and unit of its columns are missing, or not expected")
        model.prepare = None if fresh is None else _verified(stage, fresh)
        if refitted is not None and not (isinstance(refitted, Refitted) and "refit" in method.params):
            raise CheckpointError(f"its refit is a {type(refitted).__name__}")
        model.refitted = refitted
        model.verify_state()
        if extracted is not None:
            if not method.extracts:
                raise CheckpointError(f"{name} extracts no model, but the file has one")
            method.set_extracted(extracted)
    return model


def _verified(found: Any, fresh: Any) -> Any:
    """A state from a file, checked to have the layout of a new state."""
    if type(found) is not type(fresh):
        raise CheckpointError(f"its state is a {type(found).__name__}, not a {type(fresh).__name__}")
    found.verify(fresh)
    return found


def _check_size(method: Any, p: int, q: int, size: int) -> None:
    """Raise CheckpointError for more features than the file can hold, before memory is allocated."""
    few, most = min(p, 64), 16 * size + (1 << 20)
    # with q outputs a state grows by q or q^2 numbers: three small ones show how fast
    a, b, c = (method.start(few, n).bytes_at(p, few) for n in ((1, 2, 3) if q > 3 else (q, q, q)))
    if q > size or a + (q - 1) * (b - a) + (q - 1) * (q - 2) / 2 * (c - 2 * b + a) > most:
        raise CheckpointError(f"it claims {p:,} features and {q:,} outputs, more than it has room for")


def _plain_task(task: Task) -> dict[str, Any]:
    if isinstance(task, Classification):
        return {"classes": task.classes}
    return {"n_targets": task.n_targets, "one_column": task.one_column}


def _task(plain: dict[str, Any], name: str) -> Task:
    if name == "classification":
        classes = plain["classes"]
        if not (isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1):
            raise CheckpointError("its classes are not a list of labels")
        if not np.array_equal(np.unique(classes), classes):
            raise CheckpointError("its classes are not sorted")
        return Classification(classes)
    n, one = plain["n_targets"], plain["one_column"]
    if type(n) is not int or n < 1 or type(one) is not bool or (one and n > 1):
        raise CheckpointError(f"it has {n!r} targets")
    return Regression(n, one)
