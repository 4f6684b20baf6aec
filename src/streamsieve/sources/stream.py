"""Blocks of rows from any source, with a position to resume from."""

from __future__ import annotations

import warnings
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Rows
from ..core.words import counted
from .bad_data import BadData
from .examples import ExampleQueue, Examples
from .files import has_grown
from .prefetch import prefetch
from .readers.base import Batch, Reader
from .schema import Schema

VALUES = 1 << 20  # of a block: it ends before it would hold more, so that memory does not grow with the width
PREFETCHED = 2  # batches read while a block is learned
VERSION = 1  # of positions


class Block(NamedTuple):
    """Rows (a C-ordered float64 array, or a `csr_array` with sorted indices), targets and weights."""

    X: Any
    y: NDArray[Any] | None
    weight: NDArray[np.float64] | None


class Selection(NamedTuple):
    """Which rows of a pass are delivered, and in which order."""

    skip: int
    limit: int | None
    hold_out: int
    held: bool
    shuffle_buffer: int
    random_state: int

    def pick(self, rows: Examples, first: int) -> Examples:
        """The delivered rows among those that start at row `first` of the pass."""
        start = min(max(self.skip - first, 0), rows.n)
        stop = rows.n if self.limit is None else min(max(self.skip + self.limit - first, start), rows.n)
        rows = rows.cut(start, stop)
        if self.hold_out and rows.n:
            held = (first + start + np.arange(rows.n)) % self.hold_out == self.hold_out - 1
            rows = rows.pick(np.flatnonzero(held == self.held))
        return rows

    def count(self, first: int) -> int:
        """Number of delivered rows before row `first`."""
        stop = first if self.limit is None else min(first, self.skip + self.limit)
        if not self.hold_out:
            return max(0, stop - self.skip)
        held = max(0, stop // self.hold_out - min(self.skip, stop) // self.hold_out)
        return held if self.held else max(0, stop - self.skip) - held

    def over(self, first: int) -> bool:
        return self.limit is not None and first >= self.skip + self.limit


class Stream:
    """Blocks (X, y, weight) of a source, read ahead of the learner; returned by `read`.

    Rows come in the order of the source, or shuffled within consecutive windows of `shuffle_buffer` rows,
    window i of pass j by a permutation seeded with (random_state, j, i). The rows, their order and the blocks
    depend only on the source and the options, never on threads or timing. One iteration runs at a time; a new
    iteration ends the previous one.

    Attributes
    ----------
    feature_names : list of str or None
        Names of the features seen so far; None if the source has no names (svmlight, arrays).
    n_features : int or None
        Width of the last block; it only grows. None before the first.
    bytes_total, bytes_read : int or None, int
        Size of the (compressed) source, and how much of it has been read in this pass.
    rows_read, rows_bad, rows_unlabelled : int
        Rows delivered over all passes, bad rows skipped, and rows left out because they have no target.
    schema : Schema or None
        Encoding of each column of a table.
    """

    def __init__(
        self, reader: Reader, selection: Selection, passes: int, block_size: int, fingerprint: Any
    ) -> None:
        self._reader, self._selection = reader, selection
        self.passes, self.block_size = passes, block_size
        self._fingerprint = fingerprint
        self._used = False
        # weak, so that leaving a loop early ends the reading
        self._running: Callable[[], Generator[Examples] | None] = lambda: None
        self.bytes_total = reader.bytes_total()
        self.bytes_read = 0
        self._begin({})

    def _begin(self, position: dict[str, Any]) -> None:
        self._start = position
        self._here = position
        self._width: int | None = position.get("n_features")
        self.rows_read: int = position.get("rows_read", 0)
        self.rows_bad: int = position.get("rows_bad", 0)
        self.rows_unlabelled: int = position.get("rows_unlabelled", 0)

    @property
    def n_features(self) -> int | None:
        return self._width

    @property
    def feature_names(self) -> list[str] | None:
        names = self._reader.names
        return names if names is None else names[: self._width]

    @property
    def schema(self) -> Schema | None:
        """Encoding of each column of a table; None before the first block and for other sources."""
        return getattr(self._reader, "schema", None)

    @property
    def odd_cells(self) -> dict[str, int]:
        """Words among the numbers of a column of a table, which were read as missing, in this pass."""
        reader: Any = self._reader
        return dict(reader.odd_cells()) if hasattr(reader, "odd_cells") else {}

    @property
    def unknown_values(self) -> dict[str, tuple[int, str]]:
        """Rows with a value that the schema does not know, by column of categories, and one such value.

        These values are read as the most frequent one of the column.
        """
        reader: Any = self._reader
        return dict(reader.unknown_values()) if hasattr(reader, "unknown_values") else {}

    def __repr__(self) -> str:
        width = "" if self._width is None else f", {counted(self._width, 'feature')}"
        read = f", {counted(self.rows_read, 'row')} read" if self.rows_read else ""
        return f"<Stream of {self._reader.title()}{width}{read}>"

    @property
    def title(self) -> str:
        """Name of the source in errors."""
        return self._reader.title()

    # ---------------------------------------------------------------- positions

    def position(self) -> dict[str, Any]:
        """Position of the row after the last block, as JSON, for `seek` of a stream of the same source.

        It has the place in the source at which a batch of rows began, the number of rows since then, and the
        one-hot features seen. Continuing reads at most one batch (and one shuffle window) again.
        """
        return {"version": VERSION, "mark": self._fingerprint, "reader": self._reader.state(), **self._here}

    def has_grown(self, position: dict[str, Any]) -> bool:
        """Whether the source has grown since it was read to its end.

        The last file is text that starts with its earlier content, or there are more files.
        """
        theirs, ours = position.get("mark", {}).get("source"), self._fingerprint["source"]
        return theirs != ours and has_grown(theirs, ours, getattr(self._reader, "files", []))

    @property
    def comparable(self) -> bool:
        """Whether the fingerprint has a digest of the source. Otherwise text is compared when it is read
        again up to the position; frames, queries and dicts are not compared."""
        source = self._fingerprint["source"]
        return isinstance(source, list) and all("digest" in file for file in source)

    def seek(self, position: dict[str, Any], *, grown: bool = False, finished: bool = False) -> None:
        """Let the next iteration continue exactly at a position; ValueError if it is from another source.

        With `grown`, the source may have grown since then: see `has_grown`. With `finished`, it was read
        completely, and files may have been written again with the same content.
        """
        aside = ("record", "modified") if finished else ("record",)
        if position.get("version") != VERSION:
            raise ValueError(f"The position has version {position.get('version')}, expected {VERSION}.")
        for name, ours in self._fingerprint.items():
            theirs, ours = _without(position.get("mark", {}).get(name), aside), _without(ours, aside)
            if theirs != ours and not (grown and name == "source" and self.has_grown(position)):
                raise ValueError(
                    f"The position is from another stream: {_difference(name, theirs, ours)}; read the same "
                    "data with the same options."
                )
        if not grown:
            _warn_of_touched_files(position["mark"]["source"], self._fingerprint["source"])
        self._begin({key: value for key, value in position.items() if key not in ("version", "mark")})

    def restrict(self, at: dict[str, Any], stop: int | None, state: dict[str, Any]) -> None:
        """Read only a part of a file: from a place on, up to a byte or row group (None: to the end).

        `state` is the state of the reader at this place: the columns of a table.
        """
        reader: Any = self._reader
        if stop is not None:
            reader.files = [reader.files[0]._replace(stop=stop)]
        self._begin({"at": at, "reader": state, "part": True})

    @property
    def mark(self) -> dict[str, Any]:
        """JSON of the source and the options it is read with."""
        mark: dict[str, Any] = self._fingerprint
        return mark

    def layout(self) -> dict[str, Any]:
        """JSON of the columns of a table, once a block was read; {} for other sources."""
        state = self._reader.state()
        return state if "columns" in state else {}

    # ---------------------------------------------------------------- blocks

    def __iter__(self) -> Iterator[Block]:
        return (Block(rows.matrix(), y, weight) for rows, y, weight, _ in self.blocks())

    def blocks(self) -> Iterator[Examples]:
        """The blocks as `Examples`, whose rows are `Rows`: what methods learn, without SciPy."""
        if self._used and not self._reader.again:
            raise ValueError(
                "This source can be read only once (standard input, or an iterator); pass a file or a list."
            )
        self._used = True
        if (before := self._running()) is not None:
            before.close()  # a new iteration ends the previous one, because they would share the columns
        start = self._start
        self._begin(start)
        self._start = {}
        self._reader.restore(start.get("reader", {}), start.get("at", {}))
        blocks = self._blocks(start)
        self._running = weakref.ref(blocks)
        return blocks

    def raw_batches(self, offset: int) -> Generator[Batch]:
        """What the reader makes of a part of a table, cut at fixed rows of a source that has `offset` rows
        before this file."""
        start = self._start
        reader: Any = self._reader
        reader.restore(start["reader"], start["at"])
        reader.offset = offset
        return prefetch(reader.batches(start["at"]), PREFETCHED)

    def _blocks(self, start: dict[str, Any]) -> Generator[Examples]:
        for number in range(start.get("pass", 0), self.passes):
            yield from self._pass(number, start)
            if not self._seen and not start and self._selection.limit != 0:
                kinds = ((self.rows_bad, "that cannot be read"), (self.rows_unlabelled, "without a target"))
                left_out = ", ".join(f"{counted(n, 'row')} {what}" for n, what in kinds if n)
                why = f": {left_out} left out" if left_out else ""
                raise BadData(f"there is not a single row to learn{why}", self._reader.title())
            start = {}
            self._here = {"pass": number + 1, **self._counts()}

    def _counts(self) -> dict[str, Any]:
        return {
            "n_features": self._width,
            "rows_read": self.rows_read,
            "rows_bad": self.rows_bad,
            "rows_unlabelled": self.rows_unlabelled,
        }

    def _pass(self, number: int, start: dict[str, Any]) -> Iterator[Examples]:
        """The blocks of a pass, from a place in it.

        Delivered rows are numbered; `taken` of them have been used. A window of the shuffle buffer is read
        from its first row, so a place to resume from is that of the batch which contains it.
        """
        choose = self._selection
        window = choose.shuffle_buffer or 1
        row = start.get("row", 0)  # number of the batch's first row in the pass
        taken = start.get("taken", 0)
        window_queue, out = ExampleQueue(), ExampleQueue()
        drop = taken // window * window - choose.count(row)  # of the first batch, before the first window
        skip = taken % window  # of the first window
        windows = taken // window
        anchors: deque[tuple[int, dict[str, Any]]] = deque()  # (rows delivered before a batch, its place)
        bad, unlabelled = self.rows_bad, self.rows_unlabelled
        source = prefetch(self._reader.batches(start.get("at", {})), PREFETCHED)
        self._seen = 0
        ended = False
        error: BadData | None = None
        try:
            while True:
                while not ended and out.n < self.block_size and out.n_values < VALUES:
                    batch = None if choose.over(row) else next(source, None)
                    if batch is None:
                        ended = True
                    else:
                        place = {"at": batch.at, "row": row, "rows_bad": bad, "rows_unlabelled": unlabelled}
                        anchors.append((choose.count(row), place))
                        rows = choose.pick(batch.examples, row)
                        row += batch.examples.n
                        error = None if choose.over(row) else batch.error  # not requested: not read
                        self._seen += batch.examples.n
                        bad += batch.bad
                        unlabelled += batch.unlabelled
                        self.bytes_read = batch.read
                        if drop:
                            first = min(drop, rows.n)
                            rows, drop = rows.cut(first, rows.n), drop - first
                        window_queue.push(rows)
                        ended = error is not None
                    while window_queue.n >= window or (ended and window_queue.n):
                        if window == 1:
                            rows = window_queue.pull(window_queue.n, window_queue.n_values)
                        else:
                            rows = window_queue.pull(window, window_queue.n_values)
                            seed = (choose.random_state, number, windows)
                            rows = rows.pick(np.random.default_rng(seed).permutation(rows.n))
                            windows += 1
                        out.push(rows.cut(min(skip, rows.n), rows.n))
                        skip = max(0, skip - rows.n)
                self.rows_bad, self.rows_unlabelled = bad, unlabelled
                if error is not None and out.n < self.block_size and out.n_values < VALUES:
                    raise error
                if not out.n:
                    return
                rows = out.pull(self.block_size, VALUES)
                block = self._block(rows)
                taken += rows.n
                self.rows_read += rows.n
                while len(anchors) > 1 and anchors[1][0] <= taken // window * window:
                    anchors.popleft()
                self._here = {"pass": number, "taken": taken, **self._counts(), **anchors[0][1]}
                yield block
        finally:
            source.close()

    def _block(self, examples: Examples) -> Examples:
        """Examples for delivery: sparse rows as wide as all blocks so far."""
        y, rows = examples.y, examples.rows
        if y is not None and y.dtype.kind == "U":  # as wide as its own longest, not as its batches'
            y = y.astype(f"U{max(1, np.strings.str_len(y).max())}")
        if rows.sparse:
            rows = rows.tight()
            last = rows.indices[rows.indptr[1:][np.diff(rows.indptr) > 0] - 1]  # the largest of each row
            width = max(self._width or 0, self._reader.width, int(last.max(initial=-1)) + 1)
            rows = Rows(p=width, csr=rows.kernel)
        self._width = rows.p
        return examples._replace(rows=rows, y=y)


def _without(mark: Any, aside: tuple[str, ...]) -> Any:
    """A part of a fingerprint without the properties that differ for a copy of a file."""
    if not isinstance(mark, list):
        return mark
    return [
        {part: value for part, value in file.items() if part not in aside} if isinstance(file, dict) else file
        for file in mark
    ]


def _warn_of_touched_files(theirs: Any, ours: Any) -> None:
    """Warn of files with another modification time: samples may miss a change of their content."""
    pairs = zip(theirs, ours) if isinstance(ours, list) else ()
    for then, now in pairs:
        *inode, changed = then.get("record", [None]) if isinstance(then, dict) else [None]
        if inode and now["record"][:-1] == inode and now["record"][-1] != changed:
            warnings.warn(
                f"{now['name']} was touched since, although its size and samples of its content are "
                "unchanged. If it was edited in place, start again: the rows learned may differ from those "
                "in it now. A new name, link or permission is harmless.",
                stacklevel=3,
            )


def _difference(name: str, theirs: Any, ours: Any) -> str:
    """How two fingerprints differ, for an error."""
    if name != "source" or not (isinstance(theirs, list) and isinstance(ours, list)):
        return f"its {name} was {theirs!r}, here it is {ours!r}"
    if len(theirs) != len(ours):
        return f"it had {len(theirs)} files, here are {len(ours)}"
    for then, now in zip(theirs, ours):
        if then != now and isinstance(then, dict) and isinstance(now, dict):
            changed = [part for part in now if then.get(part) != now[part]]
            if "size" not in changed and "digest" not in changed and "name" not in changed:
                return f"{now['name']} has been written to since (its time of modification has changed)"
            if "name" in changed:
                return f"it was of {then.get('name')}, here is {now['name']}"
            return f"{now['name']} has changed since"
    return "it was made from other files"
