"""Plain data, arrays, records, `Rows` and `State` as JSON and tensors, and back.

None, bool, int, finite float, str and list are stored directly; everything else is a JSON object with its
kind under "~". Decoding executes no code: a state is an instance of a subclass of `State` that the method has
imported, and its fields are plain data.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.rows import FLOATS, INDICES, Rows
from ..core.state import State
from .files import CODES, DTYPES, CheckpointError, Tensor

Json = dict[str, Any]

_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


class Encoder:
    """Converts values to JSON; arrays are collected in `tensors` and referenced by their position."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []

    def __call__(self, value: Any, where: str) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"~": "float", "value": repr(value)}
        if type(value) is list:
            return self._all(value, where)
        if type(value) is tuple:
            return {"~": "tuple", "values": self._all(value, where)}
        if type(value) is dict:
            keys = [self(key, f"{where}.key") for key in value]
            return {"~": "dict", "keys": keys, "values": self._all(value.values(), where)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return {"~": "scalar", "value": self._array(np.asarray(value)[None], where)}
        if isinstance(value, np.dtype):
            return {"~": "dtype", "value": value.name}
        if isinstance(value, State):
            fields = {name: self(field, f"{where}.{name}") for name, field in value.fields().items()}
            axes = {name: list(value.axes(name)) for name in fields if value.axes(name)}
            return {"~": "state", "class": type(value).__name__, "axes": axes, "fields": fields}
        if isinstance(value, Rows):
            return self._rows(value, where)
        if "numpy.random" in sys.modules and isinstance(value, np.random.Generator):
            return {"~": "generator", "state": self(value.bit_generator.state, f"{where}.state")}
        what = "a function" if callable(value) else f"a {type(value).__name__}"
        raise TypeError(f"{where} is {what}, which cannot be saved: a checkpoint has only plain data.")

    def _all(self, values: Any, where: str) -> list[Any]:
        return [self(value, f"{where}[{i}]") for i, value in enumerate(values)]

    def _array(self, a: Tensor, where: str) -> Json:
        if a.dtype.kind in "UO":
            dtype = a.dtype.str if a.dtype.kind == "U" else "O"
            values = self._all(a.ravel().tolist(), where)
            if a.dtype.kind == "U" and _words_bytes(values) > _most_bytes(values):
                raise TypeError(
                    f"{where} has {a.size:,} words, the longest of {max(map(len, values)):,} characters: an "
                    "array gives each word the room of the longest. Shorten the longest."
                )
            return {"~": "words", "dtype": dtype, "shape": list(a.shape), "values": values}
        if a.dtype.names:
            return self._records(a, where)
        if a.dtype.newbyteorder("<") not in CODES:
            raise TypeError(f"{where} is an array of {a.dtype}, which cannot be saved.")
        column_order = a.flags.f_contiguous and not a.flags.c_contiguous  # BLAS updates some in place
        return {"~": "array", "tensor": self._tensor(a.T if column_order else a), "order": "CF"[column_order]}

    def _records(self, a: Tensor, where: str) -> Json:
        columns = []
        for name in a.dtype.names or ():
            if a.dtype[name] not in CODES:
                raise TypeError(f"{where}.{name} is of {a.dtype[name]}, which cannot be saved.")
            columns.append([name, CODES[a.dtype[name]]])
        values = [self._tensor(a[name]) for name, _ in columns]
        return {"~": "records", "shape": list(a.shape), "columns": columns, "tensors": values}

    def _tensor(self, a: Tensor) -> str:
        shape = a.shape  # ascontiguousarray makes a number an array
        self.tensors.append(np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("<")).reshape(shape))
        return str(len(self.tensors) - 1)

    def _rows(self, rows: Rows, where: str) -> Json:
        if rows.values is not None:
            return {"~": "rows", "values": self._array(np.ascontiguousarray(rows.values), where)}
        parts = rows.tight()
        names = ("indptr", "indices", "data")
        return {
            "~": "rows",
            "p": rows.p,
            **{name: self._array(getattr(parts, name), where) for name in names},
        }


class Decoder:
    """Converts JSON and tensors back. Each tensor is used once, so that two fields never share memory."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.tensors = tensors

    def __call__(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self(v) for v in value]
        if not isinstance(value, dict):
            return value
        if value["~"] not in _DECODERS:
            raise CheckpointError(f"it holds {value['~']!r}, which is unknown")
        return _DECODERS[value["~"]](self, value)

    def as_float(self, node: Json) -> float:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[node["value"]]

    def as_tuple(self, node: Json) -> tuple[Any, ...]:
        return tuple(self(node["values"]))

    def as_dict(self, node: Json) -> dict[Any, Any]:
        keys, values = self(node["keys"]), self(node["values"])
        if len(keys) != len(values):
            raise CheckpointError(f"a dictionary has {len(keys)} keys and {len(values)} values")
        if any(type(key) is int and not -(2**63) <= key < 2**63 for key in keys):
            raise CheckpointError("a dictionary has keys of more than 64 bits")  # all with the same hash, say
        return dict(zip(keys, values))

    def as_array(self, node: Json) -> Tensor:
        a = self.tensors.pop(node["tensor"])
        return a.T if node["order"] == "F" else a

    def as_words(self, node: Json) -> Tensor:
        dtype, values = np.dtype(node["dtype"]), self(node["values"])
        plain = all(v is None or isinstance(v, str | bool | int | float) for v in values)
        words = all(type(v) is str for v in values)
        if dtype.kind not in "UO" or not plain or (dtype.kind == "U" and not words):
            raise CheckpointError("an array of words holds something else")
        if dtype.kind == "U":
            if _words_bytes(values) > _most_bytes(values):
                raise CheckpointError(f"{len(values):,} words would take {_words_bytes(values):,} bytes")
            if len(values) * dtype.itemsize > _most_bytes(values):
                dtype = np.dtype(f"<U{max(map(len, values), default=1)}")  # the words' own width
        a = np.empty(len(values), dtype=dtype)
        a[:] = values
        return a.reshape(node["shape"])

    def as_records(self, node: Json) -> Tensor:
        shape, dtype = tuple(node["shape"]), np.dtype([(n, DTYPES[code]) for n, code in node["columns"]])
        columns = {}
        for (name, _), tensor in zip(node["columns"], node["tensors"], strict=True):
            values = columns[name] = self.tensors.pop(tensor)
            if values.shape != shape or values.dtype != dtype[name]:
                raise CheckpointError(f"a record has {name} of type {values.dtype} and shape {values.shape}")
        if not columns:
            raise CheckpointError("a record has no columns")
        a = np.empty(shape, dtype=dtype)  # its columns are there: no more memory than they take
        for name, values in columns.items():
            a[name] = values
        return a

    def as_scalar(self, node: Json) -> Any:
        return self(node["value"])[0]

    def as_dtype(self, node: Json) -> Any:
        return {"float64": np.dtype(np.float64), "float32": np.dtype(np.float32)}[node["value"]]

    def as_rows(self, node: Json) -> Rows:
        if "values" in node:
            values = self(node["values"])
            if values.ndim != 2 or values.dtype not in FLOATS:
                raise CheckpointError(f"rows have {values.ndim} dimensions and type {values.dtype}")
            return Rows(values)
        p = node["p"]
        indptr, indices, data = (self(node[name]) for name in ("indptr", "indices", "data"))
        flat = indptr.ndim == indices.ndim == data.ndim == 1 and len(indptr) > 0 and len(indices) == len(data)
        types = indptr.dtype == indices.dtype and indices.dtype in INDICES and data.dtype in FLOATS
        if not (flat and types and type(p) is int and p >= 0):
            raise CheckpointError("sparse rows are inconsistent")
        ends = indptr[0] == 0 and indptr[-1] == len(indices) and (np.diff(indptr) >= 0).all()
        if not ends or (len(indices) and not (indices.min() >= 0 and indices.max() < p)):
            raise CheckpointError(f"sparse rows have entries outside of {p} columns")
        return Rows(p=p, csr=(indptr, indices, data))  # in the order that they had, sorted or not

    def as_generator(self, node: Json) -> Any:
        state = self(node["state"])
        if state["bit_generator"] not in _GENERATORS:
            raise CheckpointError(f"it holds an unknown generator, {state['bit_generator']!r}")
        bits = getattr(np.random, state["bit_generator"])()
        bits.state = state
        return np.random.Generator(bits)

    def as_state(self, node: Json) -> State:
        name = node["class"]
        cls = State if name == "State" else State.kinds.get(name)
        if cls is None:
            raise CheckpointError(f"it holds a state {name!r}, which is unknown")
        state = cls.__new__(cls)
        state._axes = {field: tuple(map(str, axes)) for field, axes in node["axes"].items()}
        for field, value in node["fields"].items():
            if not field.isidentifier() or field.startswith("_") or hasattr(cls, field):
                raise CheckpointError(f"its {name} has a field {field!r} that is not state")
            setattr(state, field, self(value))
        return state


def _words_bytes(words: list[str]) -> int:
    """Bytes of an array of these words: each takes the room of the longest."""
    return 4 * len(words) * max(map(len, words), default=0)


def _most_bytes(words: list[str]) -> int:
    """Bytes that an array of these words may take: 16 MB, or more where the text is long itself."""
    return (16 << 20) + 64 * sum(map(len, words))


_DECODERS: dict[str, Callable[[Decoder, Json], Any]] = {
    name: getattr(Decoder, f"as_{name}")
    for name in (
        "float", "tuple", "dict", "array", "words", "records", "scalar", "dtype", "rows", "generator",
        "state",
    )
}  # fmt: skip
