"""Checkpoints: `save` any estimator or running averages, `load` them, and go on bit for bit.

A file is in the safetensors format: arrays as tensors, all else as JSON. Nothing in it is executed: objects
are of the classes of this library, looked up by name in a table, and their attributes are plain data. A
SHA-256 over every byte tells a damaged file; what an undamaged one holds is measured against the state that
the class itself would lay out, since the kernels trust its lengths.

The file is written here, not by the safetensors package: so that there is never a second copy of a p^2
state, that what is on the disk is known to be there (fsync) before it takes the old file's place, and that
the sum covers the header too. The package reads it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from . import _PUBLIC, __version__
from ._base import Classifier, OnlineModel
from ._input import is_sparse

Told = dict[str, Any]  # a JSON object

FORMAT, VERSION = "streamsieve", 1
_STATE = (
    "state.json"  # the tensor that holds the JSON: a header is limited to 100 MB, names of features are not
)
_LONGEST_HEADER = 100 << 20
_NO_SUM = "0" * 64

#: Where each class that a file may name is defined.
CLASSES = {
    name: module
    for module, names in _PUBLIC.items()
    for name in names
    if name.endswith(("Regressor", "Classifier", "Averages", "LinearModel"))
} | {
    "Forgetting": "averages.forgetting",
    "Pairs": "averages.interactions",
    "InverseMoments": "learners._moments",
}

_DTYPES = {
    **{f"F{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
    **{f"I{8 * size}": np.dtype(f"<i{size}") for size in (1, 2, 4, 8)},
    **{f"U{8 * size}": np.dtype(f"<u{size}") for size in (1, 2, 4, 8)},
    "BOOL": np.dtype(bool),
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


class CheckpointError(ValueError):
    """A file that is damaged, foreign, of a newer version, or holds what does not fit together."""


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds: the object, and what was noted about it (for instance where its stream stood)."""

    object: Any
    about: dict[str, Any]


def save(obj: Any, file: str | os.PathLike[str], *, about: dict[str, Any] | None = None) -> None:
    """Write an estimator, `RunningAverages`, `FoldAverages` or a `LinearModel` to a file.

    The file is there as a whole or not at all: it is written under another name in the same folder, forced
    to the disk, and renamed. Where that fails, what was there before is left alone.

    Parameters
    ----------
    obj : object
        Mid-stream or not. Forgetting by a function (a callable `alpha`) cannot be saved.
    file : path
    about : dict or None
        Plain data (numbers, strings, lists, dicts) to keep beside it.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from streamsieve import OFSARegressor, load, save
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> model = OFSARegressor(k=2).partial_fit(X, X[:, 2] - 2 * X[:, 5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "model.sieve")
    ...     save(model, file)
    ...     load(file).partial_fit(X, X[:, 2] - 2 * X[:, 5]).get_support(indices=True)
    array([2, 5])
    """
    if type(obj).__name__ not in CLASSES or type(obj) is not _class(type(obj).__name__):
        raise TypeError(f"Cannot save {type(obj).__name__}; pass an estimator, averages or a LinearModel.")
    tensors: list[np.ndarray[Any, Any]] = []
    tree = {
        "object": _encode(obj, tensors, type(obj).__name__),
        "about": _encode(about or {}, tensors, "about"),
    }
    text = np.frombuffer(json.dumps(tree, allow_nan=False).encode(), dtype=np.uint8)
    # the widest first: then each begins at a multiple of its width
    table = sorted([(str(i), a) for i, a in enumerate(tensors)], key=lambda item: -item[1].itemsize)
    table.append((_STATE, text))
    _write(Path(os.path.realpath(file)), table, type(obj).__name__)


def load(file: str | os.PathLike[str]) -> Any:
    """Read what `save` wrote; it goes on exactly where it stood. A `CheckpointError` says what is wrong."""
    return read_checkpoint(file).object


def read_checkpoint(file: str | os.PathLike[str]) -> Checkpoint:
    """Read what `save` wrote, with what was noted about it."""
    try:
        with open(file, "rb") as stream:
            tensors = _read(stream, os.fstat(stream.fileno()).st_size)
        tree = json.loads(bytes(tensors.pop(_STATE)))
        decoder = _Decoder(tensors)
        held, about = decoder(tree["object"]), decoder(tree["about"])
        if not isinstance(about, dict):
            raise CheckpointError("its notes are no dictionary")
        return Checkpoint(held, about)
    except OSError:
        raise
    except CheckpointError as error:
        raise CheckpointError(f"{os.fspath(file)} cannot be loaded: {error}.") from None
    except Exception as error:  # whatever a forged file makes plain code stumble over
        reason = f"{type(error).__name__}: {error}"
        raise CheckpointError(
            f"{os.fspath(file)} cannot be loaded: it does not fit together ({reason})."
        ) from error


def is_checkpoint(file: str | os.PathLike[str]) -> bool:
    """Whether a file says that it is one of ours; it may still be damaged."""
    if not os.path.isfile(file):  # a pipe is of rows, and what is read of it here is gone
        return False
    try:
        with open(file, "rb") as stream:
            return f'"{FORMAT}"'.encode() in stream.read(8 + 256)
    except OSError:
        return False


# ---------------------------------------------------------------- bytes


def _write(file: Path, table: list[tuple[str, np.ndarray[Any, Any]]], kind: str) -> None:
    about = {"format": FORMAT, "version": str(VERSION), "class": kind, "library": __version__}
    header: dict[str, Any] = {"__metadata__": {**about, "sha256": _NO_SUM}}
    at = 0
    for name, a in table:
        header[name] = {"dtype": _CODES[a.dtype], "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    sha = hashlib.sha256(len(head).to_bytes(8, "little") + head)
    for _, a in table:
        sha.update(_bytes(a))
    head = head.replace(_NO_SUM.encode(), sha.hexdigest().encode(), 1)
    _sweep(file)
    part = file.with_name(f".{file.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        # for others to read as any file is, and never one that is there
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as stream:
            stream.write(len(head).to_bytes(8, "little") + head)
            for _, a in table:
                stream.write(_bytes(a))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, file)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        old = "; what was there before is as it was" if file.exists() else ""
        raise OSError(
            error.errno, f"Cannot write the checkpoint ({error.strerror}){old}", str(file)
        ) from error
    if hasattr(os, "O_DIRECTORY"):  # the new name is on the disk once the folder is
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _bytes(a: np.ndarray[Any, Any]) -> memoryview:
    return a.reshape(-1).view(np.uint8).data


def _sweep(file: Path) -> None:
    """Remove what a killed process had begun to write."""
    for part in file.parent.glob(f".{file.name}.*-*.part"):
        try:
            os.kill(int(part.name.removeprefix(f".{file.name}.").split("-")[0]), 0)
        except ProcessLookupError:
            part.unlink(missing_ok=True)
        except (ValueError, OSError):
            continue


def _read(stream: BinaryIO, size: int) -> dict[str, np.ndarray[Any, Any]]:
    """All tensors, each in memory of its own, once every byte is known to be as it was written."""
    first = stream.read(8)
    length = int.from_bytes(first, "little")
    if len(first) < 8 or length > min(size - 8, _LONGEST_HEADER):
        raise CheckpointError("it is no checkpoint, or only the beginning of one")
    head = stream.read(length)
    try:
        header = json.loads(head)
        about = header.pop("__metadata__")
        ours = about["format"] == FORMAT
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CheckpointError("it is no checkpoint, or its header is damaged") from None
    if not ours:
        raise CheckpointError(f"its format is {about['format']!r}, not {FORMAT!r}")
    version, claimed = str(about.get("version")), str(about.get("sha256"))
    if version.isdecimal() and int(version) > VERSION:
        newer = about.get("library")
        raise CheckpointError(
            f"it was written in format {version} by streamsieve {newer}, newer than format {VERSION} of this "
            "one; update streamsieve"
        )
    if version != str(VERSION) or not re.fullmatch(r"[0-9a-f]{64}", claimed):
        raise CheckpointError("its header is damaged")
    sha = hashlib.sha256(first + head.replace(claimed.encode(), _NO_SUM.encode(), 1))
    tensors, at = {}, 0
    for name, told in header.items():
        dtype, shape = _DTYPES.get(told["dtype"]), told["shape"]
        if dtype is None or not all(type(n) is int and n >= 0 for n in shape):
            raise CheckpointError(f"its tensor {name} has type {told['dtype']} and shape {shape}")
        end = at + math.prod(shape) * dtype.itemsize
        if told["data_offsets"] != [at, end]:
            raise CheckpointError(f"its tensor {name} is not where it should be")
        if end > size - 8 - length:
            raise CheckpointError(
                f"it is cut short: {size:,} bytes where at least {8 + length + end:,} are due"
            )
        a = np.empty(shape, dtype=dtype)
        stream.readinto(_bytes(a))  # type: ignore[attr-defined]
        sha.update(_bytes(a))
        tensors[name], at = a, end
    if at != size - 8 - length:
        raise CheckpointError(f"{size - 8 - length - at:,} bytes follow where it should end")
    if sha.hexdigest() != claimed:
        raise CheckpointError("it is damaged: its bytes are not those that were written (SHA-256)")
    return tensors


# ---------------------------------------------------------------- objects as plain data

# Anything but None, bool, int, finite float, str and list is a JSON object with its kind under "~".


def _encode(value: Any, tensors: list[np.ndarray[Any, Any]], where: str) -> Any:
    def inner(v: Any, name: Any) -> Any:
        return _encode(v, tensors, f"{where}.{name}")

    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"~": "float", "value": repr(value)}
    if type(value) is list:
        return [inner(v, i) for i, v in enumerate(value)]
    if type(value) is tuple:
        return {"~": "tuple", "values": [inner(v, i) for i, v in enumerate(value)]}
    if type(value) is dict:
        return {
            "~": "dict",
            "keys": [inner(k, "key") for k in value],
            "values": [inner(v, k) for k, v in value.items()],
        }
    if isinstance(value, np.ndarray):
        return _encode_array(value, tensors, where)
    if isinstance(value, np.generic):
        return {"~": "scalar", "value": _encode_array(np.asarray(value)[None], tensors, where)}
    if isinstance(value, np.dtype):
        return {"~": "dtype", "value": value.name}
    if isinstance(value, type) and issubclass(value, np.number):
        return {"~": "type", "value": np.dtype(value).name}
    if is_sparse(value) and getattr(value, "format", "csr") == "csr":  # the light ones are all CSR
        parts = {name: inner(getattr(value, name), name) for name in ("data", "indices", "indptr")}
        return {"~": "csr", "shape": [int(n) for n in value.shape], **parts}
    if "numpy.random" in sys.modules and isinstance(value, np.random.Generator):
        return {"~": "generator", "state": inner(value.bit_generator.state, "state")}
    kind = type(value).__name__
    if kind == "Pairs":  # follows from p
        return {"~": "pairs", "p": int(value.p)}
    if kind not in CLASSES or type(value) is not _class(kind):
        what = "a function" if callable(value) else f"a {kind}"
        raise TypeError(f"{where} is {what}, which cannot be saved: a checkpoint holds plain data only.")
    return {"~": "object", "class": kind, "state": {n: inner(v, n) for n, v in value.__getstate__().items()}}


def _encode_array(a: np.ndarray[Any, Any], tensors: list[np.ndarray[Any, Any]], where: str) -> Any:
    if a.dtype.kind in "UO":
        dtype = a.dtype.str if a.dtype.kind == "U" else "O"
        return {
            "~": "words",
            "dtype": dtype,
            "shape": list(a.shape),
            "values": [_encode(v, tensors, where) for v in a.ravel().tolist()],
        }
    if a.dtype.newbyteorder("<") not in _CODES:
        raise TypeError(f"{where} is an array of {a.dtype}, which cannot be saved.")
    column_order = a.flags.f_contiguous and not a.flags.c_contiguous  # BLAS adds to some in place
    a = np.ascontiguousarray(a.T if column_order else a, dtype=a.dtype.newbyteorder("<"))
    tensors.append(a)
    return {"~": "array", "tensor": str(len(tensors) - 1), "order": "F" if column_order else "C"}


class _Decoder:
    """The way back. Each tensor is given out once: two attributes never share memory."""

    def __init__(self, tensors: dict[str, np.ndarray[Any, Any]]) -> None:
        self.tensors = tensors

    def __call__(self, told: Any) -> Any:
        if isinstance(told, list):
            return [self(v) for v in told]
        if not isinstance(told, dict):
            return told
        kind = told["~"]
        if kind not in _DECODERS:
            raise CheckpointError(f"it holds {kind!r}, which is unknown")
        return _DECODERS[kind](self, told)

    def as_number(self, told: Told) -> float:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[told["value"]]

    def as_dict(self, told: Told) -> dict[Any, Any]:
        keys, values = self(told["keys"]), self(told["values"])
        if len(keys) != len(values):
            raise CheckpointError(f"a dictionary has {len(keys)} keys and {len(values)} values")
        return dict(zip(keys, values))

    def as_array(self, told: Told) -> np.ndarray[Any, Any]:
        a = self.tensors.pop(told["tensor"])
        return a.T if told["order"] == "F" else a

    def as_words(self, told: Told) -> np.ndarray[Any, Any]:
        dtype = np.dtype(told["dtype"])
        values = self(told["values"])
        plain = all(v is None or isinstance(v, str | bool | int | float) for v in values)
        if (
            dtype.kind not in "UO"
            or not plain
            or (dtype.kind == "U" and not all(type(v) is str for v in values))
        ):
            raise CheckpointError("an array of words holds something else")
        a = np.empty(len(values), dtype=dtype)
        a[:] = values
        return a.reshape(told["shape"])

    def as_scalar(self, told: Told) -> Any:
        return self(told["value"])[0]

    def as_dtype(self, told: Told) -> Any:
        return {"float64": np.dtype(np.float64), "float32": np.dtype(np.float32)}[told["value"]]

    def as_type(self, told: Told) -> Any:
        return self.as_dtype(told).type

    def as_csr(self, told: Told) -> Any:
        parts = tuple(self(told[name]) for name in ("data", "indices", "indptr"))
        from scipy.sparse import csr_array

        a = csr_array(parts, shape=tuple(told["shape"]))
        a.check_format(full_check=True)
        return a

    def as_generator(self, told: Told) -> np.random.Generator:
        state = self(told["state"])
        if state["bit_generator"] not in _GENERATORS:
            raise CheckpointError(f"it holds an unknown generator, {state['bit_generator']!r}")
        bits = getattr(np.random, state["bit_generator"])()
        bits.state = state
        return np.random.Generator(bits)

    def as_pairs(self, told: Told) -> Any:
        return _class("Pairs")(told["p"])

    def as_object(self, told: Told) -> Any:
        if told["class"] not in CLASSES:
            raise CheckpointError(f"it holds a {told['class']!r}, which is no class of this library")
        cls = _class(told["class"])
        known = {f.name for f in fields(cls)} if is_dataclass(cls) else set()
        state = {}
        for name, value in told["state"].items():
            if name.startswith("__") or (name not in known and hasattr(cls, name)):
                raise CheckpointError(f"its {cls.__name__} has an attribute {name!r} that is not state")
            state[name] = self(value)
        held = cls.__new__(cls)
        if hasattr(held, "__setstate__"):
            held.__setstate__(state)
        else:
            held.__dict__.update(state)
        _check(held)
        return held


_DECODERS: dict[str, Callable[[_Decoder, Told], Any]] = {
    "float": _Decoder.as_number,
    "tuple": lambda decoder, told: tuple(decoder(told["values"])),
    **{
        name: getattr(_Decoder, f"as_{name}")
        for name in (
            "dict",
            "array",
            "words",
            "scalar",
            "dtype",
            "type",
            "csr",
            "generator",
            "pairs",
            "object",
        )
    },
}


def _class(name: str) -> Any:
    return getattr(import_module(f"{__package__}.{CLASSES[name]}"), name)


# ---------------------------------------------------------------- does it fit together


def _check(held: Any) -> None:
    """Refuse state that the kernels, which trust its lengths and indices, could not walk."""
    if isinstance(held, OnlineModel):
        held._check_params()
        if held._started():
            _check_layout(held)
    for name, value in vars(held).items():
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            raise CheckpointError(f"its {name} cannot be written to")
    if hasattr(held, "_check_state"):
        held._check_state()


def _check_layout(model: OnlineModel) -> None:
    """Compare with a model that has just been reset: the same attributes, of the same types and shapes."""
    p = model.n_features_in_
    if type(p) is not int or p < 0:
        raise CheckpointError(f"n_features_in_ is {p!r}")
    twin = type(model)(**model.get_params(deep=False))
    if isinstance(model, Classifier):
        if not (
            isinstance(model.classes_, np.ndarray) and model.classes_.ndim == 1 and len(model.classes_) > 1
        ):
            raise CheckpointError("classes_ is no list of labels")
        q = 1 if len(model.classes_) == 2 else len(model.classes_)
    else:
        q = model.n_targets_
    twin.n_features_in_ = p
    twin._reset(p, q)
    for name, due in vars(twin).items():
        if not name.endswith("_") or name.startswith("__"):
            continue
        if name not in vars(model):
            raise CheckpointError(f"{type(model).__name__}.{name} is missing")
        came = vars(model)[name]
        for what, a, b in _differences(came, due, model._free.get(name)):
            raise CheckpointError(f"{type(model).__name__}.{name} has {what} {a}, not {b}")


def _differences(came: Any, due: Any, free: int | None) -> Iterator[tuple[str, Any, Any]]:
    """Where they are not alike; the axis `free` may be of any length."""
    if free is not None and (came is None or due is None):
        return
    if not isinstance(due, np.ndarray):
        if type(came) is not type(due) and free is None:
            yield "type", type(came).__name__, type(due).__name__
        return
    if not isinstance(came, np.ndarray) or came.dtype != due.dtype:
        yield "type", getattr(came, "dtype", type(came).__name__), due.dtype
        return
    fixed = [axis for axis in range(due.ndim) if axis != free]
    if came.ndim != due.ndim or any(came.shape[axis] != due.shape[axis] for axis in fixed):
        yield "shape", came.shape, due.shape
