"""`Part`: the result of consecutive leaves, and how two parts merge."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core import linalg
from ..core.params import ParamError
from ..core.rows import Rows
from ..sources import BadData
from ..training.model import Model
from .plan import Unit


class UnitError(ValueError):
    """A unit that could not be read, learned or merged: which one, and why."""


class PartError(ValueError):
    """Parts that do not form one plan: one is missing, repeated or from another plan."""


@dataclass(frozen=True)
class Columns:
    """Some features of a source: their increasing numbers, and their names, if any."""

    numbers: Any
    names: list[str] | None = None

    def select(self, rows: Rows) -> Rows:
        """The columns of rows, in O(values)."""
        if not rows.sparse:
            return Rows(np.ascontiguousarray(rows.values[:, self.numbers]))  # type: ignore[index]
        part = rows.tight()
        place = np.full(int(self.numbers.max(initial=0)) + 1, -1, dtype=part.indices.dtype)
        place[self.numbers] = np.arange(len(self.numbers))
        to = np.where(part.indices < len(place), place[np.minimum(part.indices, len(place) - 1)], -1)
        chosen = to >= 0
        indptr = np.concatenate([[0], np.cumsum(chosen)])[part.indptr].astype(part.indptr.dtype)
        return Rows(p=len(self.numbers), csr=(indptr, to[chosen], part.data[chosen]))


@dataclass(frozen=True)
class Part:
    """The result of consecutive leaves (units, or fixed numbers of rows).

    Attributes
    ----------
    model : Model
        A method with its state, packed: the upper triangles of symmetric matrices.
    first, last : int
        Leaves `first` to `last` - 1.
    rows, rows_bad : int
        Rows read, and bad rows that were skipped.
    """

    model: Model
    first: int
    last: int
    rows: int
    rows_bad: int

    def __reduce__(self) -> Any:
        """Pickled without a copy, because it is never changed; pickling a method would copy its state."""
        model, method = dict(vars(self.model)), self.model.method
        for name in ("method", "lock", "_flushed"):
            model.pop(name, None)
        kept = {name: value for name, value in vars(method).items() if name not in _NOT_SENT}
        numbers = (self.first, self.last, self.rows, self.rows_bad)
        return _received, (type(method), kept, model, numbers)

    def __str__(self) -> str:
        return (
            f"unit {self.first}" if self.last == self.first + 1 else f"units {self.first} to {self.last - 1}"
        )


_NOT_SENT = ("learner", "progress", "_cache")


def _received(cls: Any, values: dict[str, Any], fields: dict[str, Any], numbers: Any) -> Part:
    method = object.__new__(cls)
    method.__dict__.update(values)
    model = object.__new__(Model)
    model.__setstate__({**fields, "method": method})
    first, last, rows, rows_bad = numbers
    return Part(model, first, last, rows, rows_bad)


def check_mergeable(model: Model) -> None:
    """Raise ValueError for a method whose parts cannot be merged exactly."""
    method: Any = model.method
    if not model.method.merges:
        raise ValueError(
            f"{model.name} learns row by row, and its parts cannot be merged; pass an estimator on running "
            "averages (OLSth, OFSA, OLasso, ...), or fit it serially."
        )
    if getattr(method, "decay", None) is not None or getattr(method, "half_life", None) is not None:
        raise ValueError(
            f"{model.name} forgets rows by their age, which a unit does not know; pass half_life=None."
        )


def fresh(like: Model) -> Model:
    """A copy to learn with."""
    if like.method.needs_passes:
        raise ParamError("loss", like.method.loss, "expected 'squared': units are learned in one pass.")
    return replace(like, method=copy.copy(like.method), about=dict(like.about))


def finish(model: Model, number: int, rows: int, rows_bad: int, names: list[str] | None) -> Part:
    """The part of one leaf."""
    if not model.started:
        assert model.task is not None
        model.begin(0 if names is None else len(names), model.task.q)
    if names is not None:
        model.feature_names = names
        if model.p < len(names):
            model.resize(len(names))
    method: Any = model.method
    if hasattr(method, "end_unit"):
        method.end_unit()
    if method.on_averages:
        method.averages.pack()
    return Part(model, number, number + 1, rows, int(rows_bad))


def merge_parts(left: Part, right: Part) -> Part:
    """The merged part, where the leaves of `right` follow those of `left`; neither is changed.

    Features are matched by name if they have names; features of only the right part come last, as on one
    machine.
    """
    if left.last != right.first:
        raise PartError(f"{right} cannot follow {left}: expected unit {left.last} next.")
    with named(right), one_blas_thread():
        where, width, names = match_features(left.model, right.model)
        method, other = copy.copy(left.model.method), right.model.method
        if where is not None or other.p != width:
            other = copy.copy(other)  # widened below
        method.merge(other, where, width, follows=True)  # type: ignore[attr-defined]
    model = replace(left.model, method=method, feature_names=names)
    return Part(model, left.first, right.last, left.rows + right.rows, left.rows_bad + right.rows_bad)


def match_features(mine: Model, theirs: Model) -> tuple[Any, int, list[Any] | None]:
    """The new index of each of their features (None: unchanged), the number of features of both, and the
    names."""
    if (mine.feature_names is None) != (theirs.feature_names is None):
        raise ValueError("only one of it and the units before it has feature names.")
    if mine.feature_names is None or theirs.feature_names is None:
        if mine.p and theirs.p and mine.p != theirs.p and not mine.method.grow:
            raise ValueError(f"it has {theirs.p} features, the units before it {mine.p}.")
        return None, max(mine.p, theirs.p), None
    if mine.feature_names == theirs.feature_names:
        return None, mine.p, mine.feature_names
    at = {name: j for j, name in enumerate(mine.feature_names)}
    where = np.array([at.setdefault(name, len(at)) for name in theirs.feature_names], dtype=np.int64)
    return where, len(at), list(at)


def finished_model(part: Part, like: Model | None = None) -> Model:
    """The readable model of a part, with the parameters of the user."""
    method: Any = copy.copy(part.model.method)
    if method.on_averages:
        method.averages.unpack()
    if like is not None and "grow" in method.params:
        method.grow = like.method.grow
    if part.rows == 0:
        raise ValueError("There is not a single row in all units.")
    about = {**part.model.about, "rows": part.rows, "rows_bad": part.rows_bad}
    return replace(part.model, method=method, about=about)


def fitted(estimator: Any, part: Part, columns: Columns | None = None, schema: Any = None) -> Any:
    """A fitted estimator with the same parameters; if only some columns are used, `candidates_` has their
    numbers."""
    out = type(estimator)(**estimator.get_params(deep=False))
    model = finished_model(part, out._to_model())
    names = model.feature_names
    model.method.feature_names = names
    if schema is not None and columns is None:
        model.about["schema"] = schema
    out._adopt(replace(model, n_columns=len(names or [])))
    if columns is not None:
        out.candidates_ = columns.numbers
    return out


@contextmanager
def named(unit: Any) -> Iterator[None]:
    """Errors inside name the unit."""
    try:
        yield
    except (UnitError, PartError):
        raise
    except BadData as error:
        located = unit.locate(error) if isinstance(unit, Unit) else error
        raise UnitError(f"U{str(unit)[1:]}: {located}") from error
    except (ValueError, OSError, MemoryError) as error:
        raise UnitError(f"U{str(unit)[1:]}: {error}") from error


_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS uses one thread: several would sum in another order, and the result would depend on the worker.

    The limit applies to the process; the last of several threads removes it.
    """
    global _blas_users, _blas_limit
    with _blas_lock:
        if not _blas_users:
            _blas_limit = linalg.limit_threads(1)  # which may raise MemoryError
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()
