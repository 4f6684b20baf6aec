"""`State`: named arrays whose axes have roles, so that growing, copying, comparing and checking are generic.

    State(
        weight=zeros(feature=p, output=q),       # grows with the features
        kept=zeros(slot=room, dtype=np.int64),   # of a length that the method manages
        clock=record(rows=0.0, weight=0.0),      # a struct with named fields
    )

Fields are attributes. A field is an array, another `State`, `Rows`, a plain number, string or None, or a list
or dict of these. The compiled kernels read arrays and records by name, in place.

A call learns all rows or none: inside `with undo:`, the changes of a failed call are undone.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` makes enums, at ten times the cost
import threading
from collections.abc import Callable, Iterator
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .rows import FLOATS, Array, Rows, check_rows


class Field(NamedTuple):
    """An array and the role of each axis: 'feature' axes grow, 'slot' axes are of any length."""

    array: Any
    axes: tuple[str, ...]


def zeros(*, dtype: Any = np.float64, order: Any = "C", **axes: int) -> Field:
    """An array of zeros; the names of the keywords are the roles: `zeros(feature=p, output=q)`."""
    return Field(np.zeros(tuple(axes.values()), dtype=dtype, order=order), tuple(axes))


def array(values: Any, *axes: str) -> Field:
    """An array of these values, with the roles of its axes."""
    return Field(np.asarray(values), axes)


def square(p: int, dtype: Any = np.float64) -> Field:
    """Zeros (p, p) in column order, as BLAS updates them in place."""
    return Field(np.zeros((p, p), dtype=dtype, order="F"), ("feature", "feature"))


def optional(value: Any = None) -> Field:
    """A value that may be None, an array, a state or other: the method checks it."""
    return Field(value, ("optional",))


def record(**fields: float) -> Field:
    """Named numbers: a NumPy record, `state.clock["rows"]`, and a struct of doubles to the kernels."""
    return Field(np.array(tuple(fields.values()), dtype=[(name, np.float64) for name in fields]), ())


def records(axis: str, n: int, **fields: float) -> Field:
    """n such records along an axis of that role: `state.paths["rows"]` has n numbers."""
    return Field(np.full(n, record(**fields).array), (axis,))


class State:
    """Named fields; see the module's docstring."""

    #: Subclasses by name: a file names the class of a nested state, whose module the method has imported.
    kinds: ClassVar[dict[str, type[State]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        State.kinds[cls.__name__] = cls

    def __init__(self, **fields: Any) -> None:
        self._axes: dict[str, tuple[str, ...]] = {}
        self.add_fields(**fields)

    def add_fields(self, **fields: Any) -> None:
        """Add fields, or replace them with other roles."""
        for name, field in fields.items():
            if isinstance(field, Field):
                self._axes[name] = field.axes
                field = field.array
            setattr(self, name, field)

    if TYPE_CHECKING:  # fields are attributes of any type

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def fields(self) -> dict[str, Any]:
        """The fields by name; attributes with a leading underscore are caches, not state."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def axes(self, name: str) -> tuple[str, ...]:
        return self._axes.get(name, ())

    # ---------------------------------------------------------------- growing

    def resize(self, p: int) -> None:
        """Set the length of every 'feature' axis to p, with zeros for new features; also in nested states."""
        new = {}  # set once there is memory for all of them
        for name, value in self.fields().items():
            if isinstance(value, State):
                value.resize(p)
            elif isinstance(value, np.ndarray) and "feature" in self.axes(name):
                new[name] = resized(value, self.axes(name), p)
        for name, value in new.items():
            setattr(self, name, value)

    def bytes_at(self, p: int, now: int) -> float:
        """Size in bytes of the arrays with p features; they currently have `now` features."""
        total = 0.0
        for name, value in self.fields().items():
            if isinstance(value, State):
                total += value.bytes_at(p, now)
            elif isinstance(value, np.ndarray):
                total += value.nbytes * (p / max(now, 1)) ** self.axes(name).count("feature")
        return total

    # ---------------------------------------------------------------- snapshots

    def snapshot(self, features: NDArray[np.integer[Any]] | None = None) -> dict[str, Any]:
        """A copy for `restore`; for arrays by feature, only the rows of `features`."""
        held: dict[str, Any] = {}
        for name, value in self.fields().items():
            by_feature = self.axes(name)[:1] == ("feature",)
            if features is not None and by_feature and isinstance(value, np.ndarray):
                held[name] = (features, value[features])
            elif isinstance(value, State):
                held[name] = (value, value.snapshot(features))
            else:
                held[name] = copied(value)
        return held

    def restore(self, held: dict[str, Any]) -> None:
        """Undo all changes since the snapshot; the width must be the same."""
        for name in set(self.fields()) - set(held):
            delattr(self, name)
        for name, value in held.items():
            if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], State):
                value[0].restore(value[1])
                setattr(self, name, value[0])
            elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], np.ndarray):
                getattr(self, name)[value[0]] = value[1]
            else:
                setattr(self, name, value)

    def copy(self) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__.update({name: copied(value) for name, value in self.fields().items()})
        other._axes = dict(self._axes)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """The fields without the caches."""
        return {**self.fields(), "_axes": self._axes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray) and not value.flags.writeable:  # Dask maps what it sends
                value = value.copy(order="K")
            self.__dict__[name] = value

    # ---------------------------------------------------------------- comparing

    def differences(self, other: State, path: str = "") -> Iterator[str]:
        """The names of fields that differ, bit for bit."""
        mine, theirs = self.fields(), other.fields()
        if mine.keys() != theirs.keys():
            yield path + "fields"
            return
        for name, value in mine.items():
            yield from differences(value, theirs[name], path + name)

    def verify(self, fresh: State, path: str = "") -> None:
        """Raise ValueError unless fields, types and shapes are those of a new state.

        For states from files, because kernels do not check names, types and lengths. Axes with the role
        'slot' may have any length. A state may be None, and an `optional` field may have any value: the
        method checks these.
        """
        if self.fields().keys() != fresh.fields().keys():
            odd = sorted(self.fields().keys() ^ fresh.fields().keys())
            raise ValueError(f"{path}{odd[0]} is missing or unexpected.")
        for name, expected in fresh.fields().items():
            found, where = getattr(self, name), path + name
            if fresh.axes(name) == ("optional",):
                continue
            if found is None and isinstance(expected, State):
                continue
            if isinstance(expected, State):
                if type(found) is not type(expected):
                    raise ValueError(f"{where} is {type(found).__name__}, not {type(expected).__name__}.")
                found.verify(expected, where + ".")
            elif isinstance(expected, np.ndarray):
                _verify_array(where, found, expected, fresh.axes(name))
                self._axes[name] = fresh.axes(name)
            elif type(found) is not type(expected):
                raise ValueError(f"{where} is {type(found).__name__}, not {type(expected).__name__}.")
            elif type(found) is int and not -(2**63) <= found < 2**63:
                raise ValueError(f"{where} is not of 64 bits.")


class LockedState(State):
    """A state that several threads may use: changes and reads hold its lock."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:  # noqa: ARG004
        self = super().__new__(cls)
        self._lock = RLock()  # here, as copies and files do not call __init__
        return self


def _verify_array(where: str, found: Any, expected: NDArray[Any], axes: tuple[str, ...]) -> None:
    if not isinstance(found, np.ndarray) or found.dtype != expected.dtype:
        raise ValueError(f"{where} has type {getattr(found, 'dtype', type(found))}, not {expected.dtype}.")
    fixed = [axis for axis, role in enumerate(axes) if role != "slot"]
    if found.ndim != expected.ndim or any(found.shape[axis] != expected.shape[axis] for axis in fixed):
        raise ValueError(f"{where} has shape {found.shape}, not {expected.shape}.")
    order = "f_contiguous" if axes.count("feature") > 1 else "c_contiguous"
    if not found.flags.writeable or not getattr(found.flags, order):
        raise ValueError(f"{where} cannot be written to in place.")


def check_finite(state: State, path: str = "") -> None:
    """Raise ValueError unless all numbers of a state from a file are finite."""
    for name, value in state.fields().items():
        if isinstance(value, State):
            check_finite(value, f"{path}{name}.")
        elif isinstance(value, np.ndarray):
            parts = [value] if value.dtype.names is None else [value[field] for field in value.dtype.names]
            if not all(np.isfinite(part).all() for part in parts if part.dtype.kind == "f"):
                raise ValueError(f"{path}{name} holds numbers that are not finite.")


def check_array(name: str, a: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless a value from a file is an array of a type and shape, all finite."""
    if not isinstance(a, np.ndarray) or a.dtype != dtype or a.shape != shape:
        raise ValueError(f"{name} has shape {np.shape(a)}, not {shape} of {np.dtype(dtype)}.")
    if not (a.flags.c_contiguous and a.flags.writeable and np.isfinite(a).all()):
        raise ValueError(f"{name} is not finite, or not in row order.")


def check_counts(numbers: NDArray[Any], counts: tuple[str, ...]) -> None:
    """Raise ValueError for records from a file that are not finite, or whose counts are not whole numbers."""
    for name in numbers.dtype.names or ():
        values = numbers[name]
        if not np.isfinite(values).all():
            raise ValueError(f"{name} is not finite.")
        if name in counts and not ((values >= 0) & (values <= 2.0**53) & (values == np.floor(values))).all():
            raise ValueError(f"{name} is not a count.")


def resized(a: NDArray[Any], axes: tuple[str, ...], p: int) -> NDArray[Any]:
    """The array with length p along its 'feature' axes, with zeros for new features.

    Along the first axis it is a view of a larger array, which is doubled if it is full, so that adding a
    feature costs O(1).
    """
    if axes[0] == "feature" and "feature" not in axes[1:]:
        if p <= len(a):
            return a[:p]
        owner = a.base if isinstance(a.base, np.ndarray) else a
        same = owner.dtype == a.dtype and owner.shape[1:] == a.shape[1:]
        same = same and owner.ctypes.data == a.ctypes.data
        if not (same and owner.flags.owndata and len(owner) >= p):
            owner = np.zeros((max(p, 2 * len(a)), *a.shape[1:]), dtype=a.dtype)
            owner[: len(a)] = a
        return owner[:p]
    shape = tuple(p if role == "feature" else n for role, n in zip(axes, a.shape))
    out = np.zeros(shape, dtype=a.dtype, order="F" if axes.count("feature") > 1 else "C")  # as `square`
    common = tuple(slice(0, min(m, n)) for m, n in zip(shape, a.shape))
    out[common] = a[common]
    return out


def copied(value: Any) -> Any:
    """A copy of the value of a field that shares no memory with it."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, State | Rows):
        return value.copy()
    if isinstance(value, list | tuple):
        return type(value)(copied(v) for v in value)
    if isinstance(value, dict):
        return {key: copied(v) for key, v in value.items()}
    return value


def differences(a: Any, b: Any, path: str) -> Iterator[str]:
    """Where two values of a field differ, bit for bit."""
    if type(a) is not type(b):
        yield path
    elif isinstance(a, State):
        yield from a.differences(b, path + ".")
    elif isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
            yield path
    elif isinstance(a, Rows):
        a, b = a.tight(), b.tight()
        pairs = zip(a.kernel, b.kernel) if a.sparse and b.sparse else [(a.to_array(), b.to_array())]
        if a.shape != b.shape or not all(np.array_equal(x, y) for x, y in pairs):
            yield path
    elif isinstance(a, list | tuple):
        if len(a) != len(b):
            yield path
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{path}[{i}]")
    elif isinstance(a, dict):
        if list(a) != list(b):
            yield path
        for key in a.keys() & b.keys():
            yield from differences(a[key], b[key], f"{path}[{key!r}]")
    elif a != b and not (a != a and b != b):
        yield path


class RowBuffer(State):
    """A buffer of copies of rows, targets and weights, until there are enough to learn a block.

    Rows are stored by call and joined when they are read: O(1) per row, and independent of how they were cut.
    """

    rows: Rows | None
    targets: Array | None
    weights: Array | None
    # of each call since the last time that all were joined; no part of the state once they are
    _parts: tuple[tuple[Rows, Array, Array | None], ...] | list[tuple[Rows, Array, Array | None]] = ()
    _n = 0  # rows of these

    def __init__(self) -> None:
        super().__init__(rows=optional(), targets=optional(), weights=optional())

    def __len__(self) -> int:
        return self._n + (0 if self.targets is None else len(self.targets))

    def append(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Add copies of these rows."""
        if not isinstance(self._parts, list):
            self._parts = []
        part = rows.copy(), y.copy(), None if w is None else w.copy()
        n = self._n + len(y)
        self._parts.append(part)
        self._n = n

    def clear(self) -> None:
        self.rows = self.targets = self.weights = None
        self._parts, self._n = (), 0

    def joined(self) -> tuple[Rows, Array, Array | None]:
        """All rows, targets and weights; there is at least one row."""
        held = list(self._parts)
        if self.rows is not None and self.targets is not None:
            held.insert(0, (self.rows, self.targets, self.weights))
        if len(held) > 1:
            rows, targets, weights = zip(*held)
            self.rows, self.targets, self.weights = Rows.concat(rows), np.concatenate(targets), None
            if any(w is not None for w in weights):
                parts = [np.ones(len(y)) if w is None else w for y, w in zip(targets, weights)]
                self.weights = np.concatenate(parts)
        else:
            self.rows, self.targets, self.weights = held[0]
        self._parts, self._n = (), 0
        return self.rows, self.targets, self.weights

    def fields(self) -> dict[str, Any]:
        if self._parts:
            self.joined()
        return super().fields()

    def resize(self, p: int) -> None:
        """Nothing: narrower rows are read as if the missing columns were zero."""

    def check(self, p: int, q: int, most: int, limit: float, *, nan_ok: bool = False) -> None:
        """Raise ValueError for rows from a file that kernels could not read, or too many of them."""
        rows, targets, weights = self.rows, self.targets, self.weights
        if rows is None or targets is None:
            if rows is not None or targets is not None or weights is not None:
                raise ValueError("rows are held without targets, or the other way round.")
            return
        if not isinstance(rows, Rows) or rows.dtype not in FLOATS or rows.p > p:
            raise ValueError(f"rows that are held are not rows of {p} features.")
        arrays = (targets,) if weights is None else (targets, weights)
        if not all(isinstance(a, np.ndarray) for a in arrays):
            raise ValueError("the targets or weights of buffered rows are not arrays.")
        n = len(rows)
        if n >= most:
            raise ValueError(f"{n} rows are held, but {most} make a block.")
        if targets.dtype != np.float64 or targets.shape != (n, q) or not targets.flags.c_contiguous:
            raise ValueError(f"the targets of {n} rows that are held have shape {targets.shape}.")
        if weights is not None and (weights.dtype != np.float64 or weights.shape != (n,)):
            raise ValueError(f"the weights of {n} rows that are held have shape {weights.shape}.")
        check_rows(rows, nan_ok=nan_ok, limit=limit)


# ---------------------------------------------------------------- all rows of a call, or none


class Deferred:
    """Between `begin` and `end`, or in a `with` block, SIGINT waits and is handled at the end.

    Only the main thread receives signals; in other threads this does nothing.
    """

    _handler: Any = None
    _came: tuple[int, Any] | None = None

    def begin(self) -> None:
        if threading.get_ident() == threading.main_thread().ident:
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._note)

    def end(self) -> None:
        if self._handler is not None:
            handler, self._handler = self._handler, None
            signal.signal(signal.SIGINT, handler)
            if self._came is not None:
                handler(*self._came)

    def _note(self, number: int, frame: Any) -> None:
        self._came = number, frame

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, *_: object) -> None:
        self.end()


class Undo:
    """How to undo a call: if the block of `with undo:` raises, everything that it changed is restored.

    Small parts are copied before the call, and `restore` puts them back. Before a large part changes, `keep`
    copies it too, unless it takes more than `most` bytes. Then the call cannot be undone: Ctrl-C waits for
    its end, and only a lack of memory can leave a part of its rows learned. The error says how many; `count`
    returns the number of rows so far.
    """

    def __init__(
        self,
        restore: Callable[[], None] | None = None,
        most: int = 0,
        count: Callable[[], int] | None = None,
    ) -> None:
        self._restore = [] if restore is None else [restore]
        self.most, self._count = most, count
        self._before = 0 if count is None else count()
        self.kept = self.lost = False
        self.interrupts = Deferred()

    def keep(self, n_bytes: int, copy: Callable[[], Callable[[], None]]) -> None:
        """Call `copy` before a part of this size changes, unless it was called before.

        It copies the part and returns a function that puts the copy back.
        """
        if self.kept or self.lost:
            return
        if n_bytes > self.most:
            self.cannot()
        else:
            self._restore.append(copy())
            self.kept = True

    def cannot(self) -> None:
        """From here on the call cannot be undone: signals wait for its end."""
        self.lost = True
        self.interrupts.begin()

    def restore(self, error: BaseException) -> None:
        """Put everything back; if a part was too large to copy, note in the error how many rows stay."""
        if not self.lost:
            for put_back in self._restore:
                put_back()
        elif self._count is not None:
            error.add_note(f"The first {self._count() - self._before} rows of this call have been learned.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        try:
            if error is not None:
                self.restore(error)
        finally:
            self.interrupts.end()
