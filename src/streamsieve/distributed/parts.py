"""What a unit gives, a `Part`: made by `accumulate`, merged by `merge` in the order of the units."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core import linalg
from ..core.params import ParamError
from ..core.rows import Rows
from ..persist import CheckpointError
from ..sources import BadData
from ..training.model import Model
from ..training.saved import read_plain, save
from ..training.source import checked_block
from ..training.trainer import Block, Trainer
from .plan import Plan, Unit


class UnitError(ValueError):
    """A unit that could not be read, learned or merged: which one, and why."""


class PartError(ValueError):
    """Parts that do not make up one plan: which one is missing, double or foreign."""


@dataclass(frozen=True)
class Columns:
    """Some features of a source: their numbers, increasing, and their names where they have some."""

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
    """What consecutive units have given.

    Attributes
    ----------
    model : Model
        A method with its state, packed: the upper triangles of symmetric matrices.
    first, last : int
        Units `first` to `last` - 1.
    rows, rows_bad : int
        Rows read, and bad ones that were skipped.
    """

    model: Model
    first: int
    last: int
    rows: int
    rows_bad: int

    def __reduce__(self) -> Any:
        """Sent as it is, since nobody changes it: a method's own pickle copies its state first."""
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


def accumulate(unit: Unit, like: Model, columns: Columns | None = None) -> Part:
    """Learn the rows of a unit: a pure function of its arguments, whichever worker calls it.

    Parameters
    ----------
    unit : Unit
        Of a `plan`.
    like : Model
        What is to be learned, as `prepare` makes it of an estimator: a method that has learned no rows, and
        its task. It is not changed.
    columns : Columns or None
        The features to learn, of those that the source has; None for all.

    Returns
    -------
    Part
        Averages, fold averages, or marginal statistics and votes, of the rows of the unit.
    """
    with named(unit), one_blas_thread():
        named_columns = columns is not None and columns.names is not None and unit.layout.table
        options = {"feature_names": columns.names} if columns is not None and named_columns else {}
        stream = unit.open(n_jobs=1, **options)
        model = fresh(like)
        blocks = (Block(*examples) for examples in stream.blocks())
        if columns is not None and not named_columns:
            blocks = (block._replace(rows=columns.select(block.rows)) for block in blocks)
        rows = learn_blocks(model, blocks)
        names = stream.feature_names if columns is None else columns.names
        return finish(model, unit.number, rows, stream.rows_bad, None if names is None else list(names))


def fresh(like: Model) -> Model:
    """A copy to learn with."""
    if like.method.needs_passes:
        raise ParamError("loss", like.method.loss, "expected 'squared': units are learned in one pass.")
    return replace(like, method=copy.copy(like.method), about=dict(like.about))


def learn_blocks(model: Model, blocks: Iterable[Block]) -> int:
    """Learn blocks by the loop of all runs; how many rows."""
    trainer = Trainer(model)
    trainer.learn(checked_block(model, block, trainer.rows) for block in blocks)
    return trainer.rows


def finish(model: Model, number: int, rows: int, rows_bad: int, names: list[str] | None) -> Part:
    """The part of one unit."""
    if not model.started:
        assert model.task is not None
        model.begin(0 if names is None else len(names), model.task.q)
    if names is not None:
        model.feature_names = names
        if model.p < len(names):
            model.resize(len(names))
    if hasattr(model.method, "end_unit"):
        model.method.end_unit()
    if model.method.merges:
        model.method.averages.pack()  # type: ignore[attr-defined]
    return Part(model, number, number + 1, rows, int(rows_bad))


def merge(left: Part, right: Part) -> Part:
    """The part of the units of both, of which those of `right` follow those of `left`; neither is changed.

    Features are matched by name where they have names; those that only the right part has come last, as if
    one machine had met them.
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
    """To which feature each of theirs goes (None: to its own number), how many both have, and their names."""
    if (mine.feature_names is None) != (theirs.feature_names is None):
        raise ValueError("its features have names, or those before it have, but not both.")
    if mine.feature_names is None or theirs.feature_names is None:
        if mine.p and theirs.p and mine.p != theirs.p and not getattr(mine.method, "grow", False):
            raise ValueError(f"it has {theirs.p} features, the units before it {mine.p}.")
        return None, max(mine.p, theirs.p), None
    if mine.feature_names == theirs.feature_names:
        return None, mine.p, mine.feature_names
    at = {name: j for j, name in enumerate(mine.feature_names)}
    where = np.array([at.setdefault(name, len(at)) for name in theirs.feature_names], dtype=np.int64)
    return where, len(at), list(at)


def merge_in_order(parts: Iterable[Any], join: Callable[[Any, Any], Any] = merge) -> Any:
    """All parts, merged in a tree that depends on the numbers of their units alone.

    Parts come in the order of their units. Of the subtrees that are whole, no two of one height are held: for
    n parts at most log2(n) + 1.
    """
    held: list[tuple[int, Any]] = []  # height and part
    for part in parts:
        height = 0
        while held and held[-1][0] == height:
            part, height = join(held.pop()[1], part), height + 1
        held.append((height, part))
    if not held:
        raise PartError("There are no parts to merge.")
    whole = held.pop()[1]
    while held:
        whole = join(held.pop()[1], whole)
    return whole


def tree(n: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The merges of n units, as `merge_in_order` does them: pairs of ranges (first, last)."""
    merges = []

    def join(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
        merges.append((left, right))
        return left[0], right[1]

    merge_in_order(((i, i + 1) for i in range(n)), join)
    return merges


def settings_digest(plan_digest: str, like: Model, columns: Columns | None = None) -> str:
    """Tells what a part is of: the plan, and all that is learned from it."""
    classes = None if like.classes is None else [str(label) for label in like.classes]
    values = sorted((name, repr(value)) for name, value in like.method.values.items())
    numbers = None if columns is None else columns.numbers.tolist()
    settings = [plan_digest, like.name, values, classes, numbers]
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()


@dataclass(frozen=True)
class Job:
    """What every worker is given: the units, what to learn of them, and where finished ones are kept.

    Attributes
    ----------
    plan : Plan
    like : Model
    folder : str or None
        Finished units are written there, and read instead of computed.
    columns : Columns or None
        The features to learn; None for all.
    """

    plan: Plan
    like: Model
    folder: str | None = None
    columns: Columns | None = None

    @property
    def digest(self) -> str:
        """Tells plan and settings."""
        return settings_digest(self.plan.digest, self.like, self.columns)

    def file(self, number: int) -> str | None:
        return None if self.folder is None else os.path.join(self.folder, f"unit-{number:06d}.sieve")

    def part(self, number: int) -> Part:
        """The part of a unit: from its file, or else accumulated and written to it."""
        file = self.file(number) if self.like.method.merges else None  # votes are not kept
        found = None if file is None else self._kept(number, file)
        if found is not None:
            return found
        part = accumulate(self.plan[number], self.like, self.columns)
        if file is not None:
            with named(self.plan[number]):
                save(part.model, file, about={"part": describe_part(part, self.digest)})
        return part

    def _kept(self, number: int, file: str) -> Part | None:
        """The part in a file; None where there is none, or a damaged one."""
        if not os.path.exists(file):
            return None
        try:
            held = read_plain(file)
        except CheckpointError:
            return None
        part = part_of(held.object, held.about)
        if part is None or held.about["part"]["digest"] != self.digest or part.first != number:
            raise PartError(
                f"{file} is not unit {number} of this plan with these settings; empty the folder, or pass "
                "another."
            )
        return part


def describe_part(part: Part, digest: str, **more: Any) -> dict[str, Any]:
    """What a file says of the part it holds."""
    return {
        "digest": digest, "first": part.first, "last": part.last, "rows": part.rows,
        "rows_bad": part.rows_bad, **more,
    }  # fmt: skip


def part_of(model: Any, about: dict[str, Any]) -> Part | None:
    """The part that a file holds; None where it holds another thing."""
    note = about.get("part")
    if not isinstance(model, Model) or not isinstance(note, dict):
        return None
    model = replace(model, about={name: value for name, value in model.about.items() if name != "part"})
    return Part(model, int(note["first"]), int(note["last"]), int(note["rows"]), int(note["rows_bad"]))


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
    """BLAS uses one thread: several would sum in another order, and the bytes would depend on the worker.

    The limit is of the process: the last of several threads that use it lifts it.
    """
    global _blas_users, _blas_limit
    with _blas_lock:
        _blas_users += 1
        if _blas_users == 1:
            _blas_limit = linalg.limit_threads(1)
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()
