"""`Task` and `Partial`: the protocol for learning with any engine, in a few calls.

    task = distributed.task(estimator, frame, target="y")      what every worker is given
    part = task.zero(row=first)                                nothing, from this row of the source on
    part.update(frame)                                         learn the next rows
    task.from_bytes(part.to_bytes())                           send it
    part.merge(other)                                          what both have learned; `other` follows `part`
    part.finish()                                              the model of all rows

Sums of floats depend on the order of addition. Rows are therefore summed in *leaves*, a fixed number of
consecutive rows of the source, and leaves are merged in a binary tree by their numbers. If a partition begins
in the middle of a leaf, these rows are stored and learned when the rows before them are merged. `merge` is
therefore bit-for-bit associative: the result does not depend on the partitioning.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..core.rows import Rows, as_rows
from ..sources.examples import ExampleQueue, Examples
from ..sources.inputs import frame_reader
from ..sources.readers.frames import PIECE, as_frames
from ..sources.schema import Schema
from ..training.model import Model
from ..training.source import checked_block
from ..training.trainer import BLOCK_ROWS, BLOCK_VALUES, Block, Trainer
from .parts import (
    Columns,
    Part,
    PartError,
    finish,
    fitted,
    fresh,
    merge_parts,
    named,
    one_blas_thread,
)
from .wire import Piece, decode, encode

_LEAF_VALUES, _MOST_PIECES = 1 << 21, 16  # a partition sends the rows of at most one leaf: 16 MB, or 4,096
#   wide rows; to merge leaves of fewer rows took a fifth longer for a sieve (its matrices of five folds)


def leaf_rows(p: int) -> int:
    """Rows of a leaf with p features."""
    return PIECE * max(1, min(_MOST_PIECES, _LEAF_VALUES // (PIECE * max(p, 1))))


@dataclass(frozen=True)
class Task:
    """The task that is sent to every worker; it can be pickled.

    Attributes
    ----------
    like : Model
        The unfitted model: a method, and its task.
    columns : Columns or None
        The features to learn; None for all.
    table : dict or None
        Columns and schema of the frames; None for arrays.
    options : dict
        Options of `read`, for frames.
    leaf : int
        Rows that are summed together; 0 if the row numbers are not known.
    estimator : estimator or None
        The estimator that `finish` fits.
    p : int or None
        Arrays: the number of features, if known.
    """

    like: Model
    columns: Columns | None = None
    table: dict[str, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    leaf: int = 0
    estimator: Any = None
    p: int | None = None

    @cached_property
    def names(self) -> list[str] | None:
        """Names of the features to learn; None if they are only numbered."""
        if self.columns is not None:
            return self.columns.names
        return None if self.table is None else list(Schema.from_plain(self.table["schema"]).feature_names)

    @property
    def width(self) -> int | None:
        """The number of features, if known before the first rows."""
        return len(self.names) if self.names else self.p

    @property
    def merges(self) -> bool:
        """Whether partitions can be learned separately and merged; if not, one worker learns all rows in
        order."""
        return hasattr(self.like.method, "merge")

    @property
    def by_rows(self) -> bool:
        """Whether the result is independent of the partitioning: `zero` then needs a row number."""
        return self.leaf > 0 and self.like.method.merges

    def zero(self, number: int = 0, row: int | None = None) -> Partial:
        """An empty partial result.

        Parameters
        ----------
        number : int, default=0
            Number of the partition, from 0.
        row : int or None
            Number of rows of the source before it. If it is None, the partition is summed separately, and the
            last bits depend on the partitioning.
        """
        by_rows = self.by_rows and row is not None
        at = int(row) if by_rows and row is not None else number
        return Partial(self, at, at, by_rows)

    def from_bytes(self, data: bytes | memoryview) -> Partial:
        """The inverse of `Partial.to_bytes`; no code is executed."""
        about, found = decode(self.like, data)
        pieces = [_piece(self, **piece) for piece in found]
        return Partial(self, about["first"], about["last"], about["by_rows"], pieces, about["note"])

    def read(self, block: Any, row: int | None, reader: list[Any]) -> Iterator[tuple[Examples, int, int]]:
        """The examples of a frame or of arrays, their numbers of rows, and the number of bad rows.

        If `row`, the number of the first row, is given, they are cut at multiples of `PIECE`.
        """
        if isinstance(block, tuple):
            yield from self._read_arrays(block, row)
            return
        for frame in as_frames(block):
            if not reader:
                named = {} if self.columns is None else {"feature_names": self.columns.names}
                reader.append(frame_reader(frame, self.table or {}, {**self.options, **named}))
            for n, found in reader[0].examples_of(frame, row):
                if found.error is not None:
                    raise found.error
                yield found.examples, n, found.bad
                row = None if row is None else row + n

    def _read_arrays(self, block: tuple[Any, ...], row: int | None) -> Iterator[tuple[Examples, int, int]]:
        X, y, weight = (*block, None)[:3]
        rows = (
            X if isinstance(X, Rows) else as_rows(X, nan_ok=self.like.nan_ok, limit=self.like.method.limit)[0]
        )
        if len(rows) != len(y) or (weight is not None and len(weight) != len(y)):
            raise ValueError(f"X has {len(rows)} rows, but y has {len(y)}; cut both into the same chunks.")
        rows = rows if self.columns is None else self.columns.select(rows)
        whole = Examples(rows, np.asarray(y), None if weight is None else np.asarray(weight))
        at = 0
        while at < whole.n:
            stop = whole.n if row is None else min(whole.n, at + PIECE - (row + at) % PIECE)
            yield whole.cut(at, stop), stop - at, 0
            at = stop


@dataclass
class Loose:
    """Rows first to last - 1 of a leaf that another partition has begun: not learned yet."""

    first: int
    last: int
    examples: list[Examples]
    bad: int = 0

    def add(self, examples: Examples, n: int, bad: int) -> None:
        self.examples.append(examples)
        self.last, self.bad = self.last + n, self.bad + bad

    def copy(self) -> Loose:
        return replace(self, examples=list(self.examples))


class Open:
    """The first rows of a leaf, learned block by block; the cuts do not depend on the calls."""

    def __init__(self, task: Task, first: int, number: int) -> None:
        self.task, self.first, self.last, self.number = task, first, first, number
        self.trainer = Trainer(fresh(task.like))
        self.queue = ExampleQueue()
        self.bad = 0

    def add(self, examples: Examples, n: int, bad: int) -> None:
        self.queue.push(examples)
        self.last, self.bad = self.last + n, self.bad + bad
        while self.queue.n >= BLOCK_ROWS or self.queue.n_values > BLOCK_VALUES:
            self._learn()

    def _learn(self) -> None:
        block = Block(*self.queue.pull(BLOCK_ROWS, BLOCK_VALUES))
        self.trainer.learn([checked_block(self.trainer.model, block, self.trainer.rows)])

    def closed(self) -> Part:
        """The result of all its rows; the object must not be used afterwards."""
        while self.queue.n:
            self._learn()
        return finish(self.trainer.model, self.number, self.trainer.rows, self.bad, self.task.names)

    def copy(self) -> Open:
        other = object.__new__(Open)
        other.__setstate__(self.__getstate__())
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {
            **vars(self),
            "trainer": (copy.copy(self.trainer.model), self.trainer.rows),
            "queue": self.queue.peek(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.trainer, self.queue = Trainer(state["trainer"][0], rows=state["trainer"][1]), ExampleQueue()
        for examples in state["queue"]:
            self.queue.push(examples)


@dataclass
class Partial:
    """Partial result of consecutive rows, or partitions, first to last - 1; created by `Task.zero`.

    Attributes
    ----------
    task : Task
    first, last : int
        Rows of the source, or numbers of partitions if `by_rows` is false.
    by_rows : bool
    pieces : list
        Complete subtrees of leaves (`Part`), the first rows of a leaf (`Open`), and later rows of a leaf that
        began in another partition (`Loose`), in order.
    note : str
        The note that was passed to `to_bytes`.
    """

    task: Task
    first: int
    last: int
    by_rows: bool
    pieces: list[Any] = field(default_factory=list)
    note: str = ""
    _reader: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def __str__(self) -> str:
        what, last = "row" if self.by_rows else "unit", self.last - 1
        return f"{what} {self.first}" if last <= self.first else f"{what}s {self.first} to {last}"

    def update(self, block: Any) -> Self:
        """Learn the next rows: a frame of any kind, an Arrow stream, or arrays ``(X, y, weight)``."""
        with named(self._title), one_blas_thread():
            for examples, n, bad in self.task.read(block, self.last if self.by_rows else None, self._reader):
                self.add(examples, n, bad)
        return self

    def add(self, examples: Examples, n: int, bad: int = 0) -> None:
        """Learn examples of the next n rows, which belong to one leaf."""
        leaf = self.task.leaf
        if not self.by_rows:
            if not self.pieces:
                self.pieces, self.last = [Open(self.task, 0, self.first)], self.first + 1
        elif self.last % leaf == 0:
            self.pieces.append(Open(self.task, self.last, self.last // leaf))
        elif not self.pieces:
            self.pieces.append(Loose(self.last, self.last, []))
        self.pieces[-1].add(examples, n, bad)
        if self.by_rows:
            self.last += n
            self._close()

    def _close(self) -> None:
        """Close the last leaf if it is complete, and merge subtrees that form a larger one."""
        top = self.pieces[-1]
        if isinstance(top, Open) and self.by_rows and top.last == top.first + self.task.leaf:
            self.pieces[-1] = top.closed()
        while len(self.pieces) > 1 and _siblings(*self.pieces[-2:]):
            self.pieces[-2:] = [merge_parts(*self.pieces[-2:])]

    @property
    def _title(self) -> str:
        return f"rows from {self.last}" if self.by_rows else f"unit {self.first} (partition {self.first})"

    def merge(self, other: Partial) -> Partial:
        """The merged result, where `other` follows; neither is changed."""
        left, right = self.sealed(), other.sealed()
        if left.last != right.first or left.by_rows != right.by_rows:
            raise PartError(f"{other} cannot follow {self}: expected {'row' if self.by_rows else 'unit'} "
                            f"{left.last} next.")  # fmt: skip
        whole = Partial(self.task, left.first, left.last, left.by_rows, list(left.pieces))
        with named(str(other)), one_blas_thread():
            for piece in right.pieces:
                if isinstance(piece, Loose) and whole.pieces:
                    whole.pieces[-1] = top = whole.pieces[-1].copy()
                    top.add(Examples.concat(piece.examples), piece.last - piece.first, piece.bad)
                else:
                    whole.pieces.append(piece)
                whole._close()
        whole.last = right.last
        return whole

    def copy(self) -> Partial:
        """A copy that can continue to learn."""
        pieces = [piece if isinstance(piece, Part) else piece.copy() for piece in self.pieces]
        return replace(self, pieces=pieces)

    def sealed(self) -> Partial:
        """Itself; a partition without row numbers is closed and accepts no more rows."""
        if self.by_rows or (self.pieces and isinstance(self.pieces[0], Part)):
            return self
        with named(self._title), one_blas_thread():
            opened = self.pieces[0] if self.pieces else Open(self.task, 0, self.first)
            part = opened.closed()
        return Partial(self.task, self.first, self.first + 1, False, [part])

    def to_bytes(self, note: str = "") -> bytes:
        """The partial result as bytes, in the format of model files, with a note."""
        sealed = self.sealed()
        about = {"first": sealed.first, "last": sealed.last, "by_rows": sealed.by_rows, "note": note}
        return encode(about, [_plain(piece) for piece in sealed.pieces])

    def whole(self) -> Part:
        """All pieces merged in the order of the tree of all leaves."""
        if self.by_rows and self.first != 0:
            raise PartError(f"Row 0 is missing: the learned rows begin at row {self.first}.")
        pieces = self.sealed().pieces or [Open(self.task, 0, 0)]
        with one_blas_thread():
            parts = [piece if isinstance(piece, Part) else piece.copy().closed() for piece in pieces]
            found = parts.pop()
            while parts:
                found = merge_parts(parts.pop(), found)
        return found

    @property
    def model(self) -> Model:
        return self.whole().model

    def finish(self) -> Any:
        """The fitted estimator."""
        return fitted(self.task.estimator, self.whole(), schema=(self.task.table or {}).get("schema"))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_reader": []}


def _plain(piece: Any) -> Piece:
    """A piece as plain data, a model and examples."""
    node: Piece = {"kind": type(piece).__name__, "first": piece.first, "last": piece.last}
    if isinstance(piece, Part):
        return node | {"rows": piece.rows, "bad": piece.rows_bad, "model": piece.model}
    if isinstance(piece, Loose):
        return node | {"bad": piece.bad, "examples": piece.examples}
    trainer = piece.trainer
    return node | {
        "rows": trainer.rows,
        "bad": piece.bad,
        "model": trainer.model,
        "examples": piece.queue.peek(),
    }


def _piece(
    task: Task,
    kind: str,
    first: int,
    last: int,
    bad: int,
    rows: int = 0,
    model: Any = None,
    examples: Any = (),
) -> Any:
    """The way back."""
    if kind == "Part":
        return Part(model, first, last, rows, bad)
    if kind == "Loose":
        return Loose(first, last, list(examples), bad)
    opened = Open(task, first, first // max(task.leaf, 1))
    opened.__setstate__(
        {**vars(opened), "last": last, "bad": bad, "trainer": (model, rows), "queue": examples}
    )
    return opened


def _siblings(left: Any, right: Any) -> bool:
    """Whether two pieces are the halves of a subtree."""
    if not (isinstance(left, Part) and isinstance(right, Part)):
        return False
    width = left.last - left.first
    return right.last - right.first == width and left.first % (2 * width) == 0


def merge(left: Partial, right: Partial) -> Partial:
    """The merged result, where `right` follows; neither is changed."""
    return left.merge(right)


def merge_in_order(parts: Iterable[Partial]) -> Partial:
    """All parts, merged in order."""
    whole = None
    for part in parts:
        whole = part if whole is None else whole.merge(part)
    if whole is None:
        raise PartError("There are no parts to merge.")
    return whole.sealed()


class Tree:
    """Merges leaves, or futures of them, in the binary tree of their numbers.

    Two subtrees of the same height are merged as soon as both exist: about log2(n) are stored.

    Parameters
    ----------
    merge : callable
        Merges two neighbours.
    """

    def __init__(self, merge: Callable[[Any, Any], Any]) -> None:
        self.merge = merge
        self.subtrees: list[Any] = []
        self._heights: list[int] = []

    def add(self, leaf: Any) -> None:
        """Add the next leaf."""
        self.subtrees.append(leaf)
        self._heights.append(0)
        while self._heights[-2:-1] == self._heights[-1:]:
            self._join(self._heights[-1] + 1)

    def whole(self) -> Any:
        """All leaves, merged; None if there are none."""
        while len(self.subtrees) > 1:
            self._join(self._heights[0] + 1)
        return self.subtrees[0] if self.subtrees else None

    def _join(self, height: int) -> None:
        self.subtrees[-2:], self._heights[-2:] = [self.merge(*self.subtrees[-2:])], [height]
