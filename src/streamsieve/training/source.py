"""A run on files: inspect the first rows, create the model, learn, write checkpoints, resume, test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.method import Extent
from ..core.params import Advice, ParamError
from ..core.tasks import Classification
from ..core.words import counted
from ..persist.files import CheckpointError
from ..sources import BadData, read
from ..sources.examples import Examples
from ..sources.files import find
from ..sources.schema import Schema
from .checkpoint import CheckpointPolicy
from .history import History
from .model import Model, TooManyFeatures
from .progress import Progress
from .quality import Quality, histograms, of_first_rows, quality_of, supports_of_folds
from .trace import Trace
from .trainer import Block, Trainer, bytes_joined, machine_memory, most_features, wants_all_rows

_FIRST_ROWS, _FIRST_BYTES = 10_000, 64 << 20  # inspected to determine the task, the labels and the width
_REREAD = 1 << 30  # bytes that are read again to name the line of a feature that is too far


@dataclass(frozen=True)
class Source:
    """Files, and how to read them: the options of `read`."""

    files: tuple[str, ...]
    options: dict[str, Any]
    schema: Schema | None = None  # schema of tables; None: inferred

    def open(self, **more: Any) -> Any:
        options = self.options | {"schema": self.schema} | more
        return read(self.files[0] if len(self.files) == 1 else list(self.files), **options)

    def describe(self) -> dict[str, Any]:
        return {"files": list(self.files), "read": self.options}


class UnknownLabel(ValueError):
    """A label that does not occur in the first rows."""

    def __init__(self, rows: int, label: Any, classes: NDArray[Any]) -> None:
        self.reason = (
            f"After {counted(rows, 'row')} comes the label {label!s}, which the first rows did not show"
        )
        labels = ",".join(map(str, [*classes, label]))
        self.advice = Advice("name all labels in {}, or pass {}", ("classes", labels), ("task", "regression"))
        super().__init__(self.message(str(self.advice)))

    def message(self, advice: str) -> str:
        """The problem, with advice in terms of the caller's options."""
        return "; ".join(filter(None, [self.reason, advice])) + "."


class SourceRun:
    """A model learned from a `Source`.

    Parameters
    ----------
    source : Source
    choose : callable
        Creates the model from the targets of the first rows and their number of features.
    checkpoint : CheckpointPolicy or None
    history : History or None
    trace : bool
        Whether a few points of the run are recorded.
    memory : int or None
        Memory limit in bytes of the model, and of rows read into memory; None: a quarter of the machine.
    as_fit : bool
        If True and the source can be read again, learn as `fit` does, with as many passes as the method
        needs. Otherwise it is a stream, learned once.
    """

    def __init__(
        self,
        source: Source,
        choose: Callable[[NDArray[Any], int], Model],
        *,
        checkpoint: CheckpointPolicy | None = None,
        history: History | None = None,
        trace: bool = False,
        memory: int | None = None,
        as_fit: bool = False,
    ) -> None:
        self.source, self.choose, self.as_fit = source, choose, as_fit
        self.checkpoint, self.history, self.memory = checkpoint or CheckpointPolicy(), history, memory
        self.checkpoint.trace = Trace() if trace else None
        self.first: list[Block] = []  # blocks that were read to make the model, and are to be learned
        self.looked_at: list[Block] = []  # the same blocks, or a sample of a table, for measuring the model
        self.sampled = False  # whether they are of all parts of the table
        self.done = self.was_done = False  # all rows are learned; in an earlier run
        self.resumed = self.grown = False  # the source of a finished run has more rows
        self.mode = "stream"
        self.passes: dict[str, Any] | None = None  # that a checkpoint counts, over the same rows

    # ---------------------------------------------------------------- beginning

    @property
    def schema(self) -> Schema | None:
        """Encoding of each column of a table, after rows were read."""
        return getattr(self, "stream", None) and self.stream.schema

    def open(self, **more: Any) -> Any:
        """The source, read by the schema of its first rows."""
        return self.source.open(**({} if self.schema is None else {"schema": self.schema}), **more)

    def begin(self) -> None:
        """Read the first rows and create the model, or resume a checkpoint."""
        self.stream = self.open()
        self.format = self.stream.position()["mark"]["format"]
        self.checkpoint.describe = self._describe
        resumed = self.checkpoint.read()
        if resumed is not None:
            self._resume(*resumed)
            return
        self.blocks = self.stream.blocks()
        self.first = self._first_of(self.stream, self.blocks)
        if not self.first:
            raise BadData("no rows", ", ".join(self.source.files))
        self.looked_at = list(self.first)
        y = np.concatenate([block.y for block in self.first])
        self.model = self.choose(y, self.first[-1].rows.p)
        self._name_features()
        again = self.as_fit and self.stream.bytes_total is not None
        if self.model.method.needs_passes and not again:
            raise ParamError(
                "loss",
                self.model.method.loss,
                "expected 'squared': this one reads rows several times, from files and with passes=auto.",
            )
        if again:
            self._choose_mode()
        self.trainer = self._new_trainer()

    def _choose_mode(self) -> None:
        """Choose between rows in memory, passes over blocks, and a stream, by method and source."""
        total, read = self.stream.bytes_total, max(self.stream.bytes_read, 1)
        share = max(1.0, total / read) if self.stream.bytes_read else 1.0
        rows = sum(len(block.rows) for block in self.first) * share
        values = sum(block.rows.n_values for block in self.first) * share
        last = self.first[-1].rows
        if wants_all_rows(self.model):
            fits = bytes_joined(values, last.sparse) <= self.row_memory
            self.mode = "memory" if fits else "passes"
        else:
            self.model.method.extent = Extent(rows, values, last.p, last.sparse)

    @property
    def row_memory(self) -> float:
        """Bytes that rows may take."""
        return machine_memory() // 4 if self.memory is None else self.memory

    @property
    def note(self) -> str:
        """Description of how the source is learned; empty for a stream."""
        if self.mode == "memory":
            return "The rows fit into memory: learned as `fit` does, in passes (--passes 1 reads them once)."
        if self.mode == "passes":
            return "The rows do not fit into memory: learned in passes over the file (--passes 1: once)."
        return ""

    def _first_of(self, stream: Any, blocks: Iterator[Examples]) -> list[Block]:
        """The first blocks of a stream: some thousand rows."""
        first: list[Block] = []
        rows = size = 0
        for examples in blocks:
            if examples.y is None:
                raise ParamError("target", None, self._missing_target(examples.rows.p))
            first.append(_block(examples, stream.position()))
            rows += len(examples.y)
            size += 8 * examples.rows.n_values
            if rows >= _FIRST_ROWS or size >= _FIRST_BYTES:
                break
        return first

    def _missing_target(self, p: int) -> str:
        schema = self.stream.schema
        names = [column.name for column in schema.columns] if schema else self.stream.feature_names
        if names:
            some = ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")
            return f"expected the column to predict, out of {some}."
        if self.format == "npz":
            return "expected the name of the array to predict, saved with the rows."
        return f"expected the column to predict, a number from 0 to {p - 1}."

    def _resume(self, model: Model, position: Any, done: bool) -> None:
        file = self.checkpoint.file
        self.model, self.resumed = model, True
        passed = isinstance(position, dict) and "passes" in position
        end = position["end"] if passed else position
        self.grown = done and self.stream.has_grown(end)
        try:
            if self.grown:
                self._check_can_continue(position["mode"] if passed else "stream")
            self.stream.seek(end, grown=self.grown, finished=done)
            begun = not self.stream.comparable and self._read_on(end, done)
        except BadData:
            raise
        except ValueError as error:
            raise CheckpointError(f"{file} cannot be resumed: {error}") from None
        self.done = self.was_done = done and not self.grown
        if not self.done:
            self._name_features()
            if passed:  # the source is the same; it is read again from the first row
                self.mode, self.passes = position["mode"], position["passes"]
                self.stream = self.open()
            if not begun:
                self.blocks = self.stream.blocks()
        self.trainer = self._new_trainer(int(model.about["rows"]))
        self.trainer.position = position

    def _read_on(self, position: dict[str, Any], done: bool) -> bool:
        """Read the first rows after a position in a source whose content is known only once it is read.

        ValueError if the rows before them are not those that were learned. A finished run has grown if there
        are new rows. False for a source whose rows cannot be compared; it is not read.
        """
        if "digest" in position.get("at", {}):
            self.blocks = self.stream.blocks()
            self.first = [_block(rows, self.stream.position()) for rows in islice(self.blocks, 1)]
            self.grown = done and bool(self.first)
            if self.grown:
                self._check_can_continue("stream")
            return True
        if done:
            raise ValueError(
                f"The rows of {self.stream.title} cannot be compared with those that were learned, to know "
                "which are new. Delete the checkpoint to start again."
            )
        return False

    def _check_can_continue(self, mode: str) -> None:
        """Raise ValueError unless a finished run can learn rows that were added to its source."""
        options = self.source.options
        windows = options.get("shuffle_buffer") or options.get("passes", 1) != 1
        if mode == "stream" and not windows:
            return
        why = "in an order of its own" if windows else "in several passes"
        raise ValueError(
            f"Rows were added to {self.stream.title}, which {self.model.method_name} had learned {why}: they "
            "cannot be appended. Delete the checkpoint to start again; a run with --passes 1 and no "
            "--shuffle-buffer can continue."
        )

    def _new_trainer(self, rows: int = 0) -> Trainer:
        return Trainer(
            self.model,
            rows=rows,
            history=self.history,
            trace=self.checkpoint.trace,
            checkpoint=self.checkpoint,
            memory=self.memory,
        )

    # ---------------------------------------------------------------- learning

    def learn(
        self,
        progress: Progress | None = None,
        deferred: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Learn the remaining rows of this pass; `done` unless another pass follows.

        Signals inside `deferred` contexts end the run between two blocks.
        """
        if self.done:
            return
        trainer = self.trainer
        self.checkpoint.begin(trainer.rows)
        trainer.progress, trainer.deferred = progress, deferred
        try:
            if self.mode == "stream":
                trainer.learn(self.blocks_to_read())
            else:
                memory = float("inf") if self.mode == "memory" else 0.0
                trainer.fit_source(_Reopened(self), memory, self.passes)
        except TooManyFeatures as error:
            self._name_line(error)
            raise
        if not trainer.any_weight:
            raise BadData("all rows have weight 0; at least one must be positive", self.source.files[0])
        if self.as_fit and self.mode == "stream" and self.model.begin_next_pass():
            self._read_again()
            return
        self.done = True
        self._describe()
        if self.mode != "stream" and trainer.passes is None:
            trainer.passes = {}
        if self.checkpoint.file is not None:
            self.checkpoint.write(self.model, trainer.rows, trainer.resume_from, done=True)

    def _read_again(self) -> None:
        """Begin the second pass over the same source; `done` stays False."""
        self.reopen()
        if self.checkpoint.trace is not None:
            self.checkpoint.trace = Trace()  # of this pass: rows count from 0 again
        self.trainer = self._new_trainer()

    def reopen(self) -> None:
        """Start again at the first block."""
        self.stream = self.open()
        self.blocks, self.first = self.stream.blocks(), []

    def interrupt(self) -> bool:
        """Write a checkpoint of an interrupted run; returns whether there was something to write."""
        trainer = self.trainer
        if self.checkpoint.file is None or not trainer.rows or (self.mode != "stream" and not trainer.passes):
            return False
        self.checkpoint.write(self.model, trainer.rows, trainer.resume_from)
        return True

    def blocks_to_read(self) -> Iterator[Block]:
        """The validated blocks that have not been read yet."""
        rows = self.trainer.rows if self.mode == "stream" else 0
        while self.first:
            block = checked_block(self.model, self.first.pop(0), rows)
            rows += len(block.rows)
            yield block
        for examples in self.blocks:
            block = checked_block(self.model, _block(examples, self.stream.position()), rows)
            rows += len(block.rows)
            yield block

    def _name_line(self, error: TooManyFeatures) -> None:
        """Add file and line to the error of a feature that is out of range, if the source can be read
        again."""
        if (
            self.memory is None
            or self.format != "svmlight"
            or (self.stream.bytes_total or _REREAD) >= _REREAD
        ):
            return
        q = 1 if self.model.task is None else self.model.task.q
        try:
            for _ in self.source.open(n_features=most_features(self.model.method, self.memory, q)).blocks():
                pass
        except BadData as found:
            raise TooManyFeatures(f"{found} {error}") from None

    # ---------------------------------------------------------------- afterwards

    def bytes_read(self) -> int | None:
        """Bytes read so far, over all passes."""
        total = self.stream.bytes_total
        if total is None:
            return None
        at = self.stream.position()
        return int(at.get("pass", 0) * total + (self.stream.bytes_read if "taken" in at else 0))

    def bytes_total(self) -> int | None:
        """Bytes of the source, over all passes."""
        total: int | None = self.stream.bytes_total
        return None if total is None else total * int(self.source.options.get("passes", 1))

    def _describe(self) -> None:
        """Update names and notes of the model."""
        if self.was_done:
            return
        self._name_features()
        self.model.about.update(
            source=self.source.describe(), rows=self.trainer.rows, rows_bad=int(self.stream.rows_bad)
        )
        if self.schema is not None:
            self.model.about["schema"] = self.schema.plain()

    def _name_features(self) -> None:
        self.model.feature_names = self.stream.feature_names  # which grows as the stream meets new ones
        self.model.first_index = int(
            self.format == "svmlight" and not self.source.options.get("zero_based", False)
        )

    def quality(self) -> Quality | None:
        """Quality of the model on held-out rows; if there are none, on every fifth of the first rows.

        None if the user turns it off (hold_out=0) or there are too few rows.
        """
        hold_out = self.source.options.get("hold_out")
        if hold_out:
            stream = self.open(held=True, passes=1, shuffle_buffer=0)
            return quality_of(
                self.model, (checked_block(self.model, Block(*each), 0) for each in stream.blocks())
            )
        if self.resumed and not self.looked_at and self.stream.bytes_total is not None:
            stream = self.open()
            self.looked_at = self._first_of(stream, stream.blocks())
        if hold_out == 0 or not self.looked_at:
            return None
        of_first = not self._sample()
        model = self.model.with_values()
        blocks = [checked_block(model, block, 0) for block in self.looked_at]
        try:
            quality = of_first_rows(model, blocks, passes=self._passes)
        except ValueError:  # too few rows for the method
            return None
        return quality and replace(quality, of_first=of_first)

    @property
    def _passes(self) -> int | None:
        """How often the source is read as a stream; None: as often as `fit` reads an array."""
        return None if self.as_fit else int(self.source.options.get("passes", 1))

    def _sample(self) -> bool:
        """Replace the first rows of a table by as many of all its parts, because files are often sorted.

        Returns whether the rows are of all parts: a source that takes long to read again is not sampled.
        """
        rows = self.trainer.rows // (self._passes or 1)
        seen, size = sum(len(block.rows) for block in self.looked_at), self.stream.bytes_total
        if seen > rows:  # in several passes the first rows were read again: they are learned, not held out
            stream = self.open(passes=1, shuffle_buffer=0)
            self.looked_at = self._first_of(stream, stream.blocks())
        if self.sampled or seen >= rows:
            return True
        if self.schema is None or size is None or size > _FIRST_BYTES or self.source.options.get("limit"):
            return False
        stream = self.open(held=True, hold_out=-(-rows // seen), passes=1, shuffle_buffer=0)
        self.looked_at, self.sampled = [_block(examples, None) for examples in stream.blocks()], True
        return True

    def selection_notes(self) -> dict[str, Any]:
        """For a report: histograms of features, and the selections without each fifth of the first rows."""
        if not self.looked_at:
            return {}
        self._sample()
        model = self.model.with_values()
        blocks = [checked_block(model, block, 0) for block in self.looked_at]
        notes: dict[str, Any] = {"histograms": histograms(blocks, self.model.support)}
        if self.source.options.get("hold_out") == 0:
            return notes
        with suppress(ValueError):  # too few rows for the method
            notes["folds"] = supports_of_folds(model, blocks, passes=self._passes)
        return notes


class _Reopened:
    """The validated blocks of the source of a run, from the first on each time."""

    def __init__(self, run: SourceRun) -> None:
        self.run, self.fresh = run, True

    def __iter__(self) -> Iterator[Block]:
        if not self.fresh:
            self.run.reopen()
        self.fresh = False
        yield from self.run.blocks_to_read()


def checked_block(model: Model, block: Block, rows_before: int) -> Block:
    """The block with validated rows and labels of the model; UnknownLabel for other labels."""
    block = block._replace(rows=model.check(block.rows))
    if not isinstance(model.task, Classification):
        return block
    y = as_labels(block.y)
    unknown = y[~np.isin(y, model.task.classes)]
    if len(unknown):
        raise UnknownLabel(rows_before, unknown[0], model.task.classes)
    return block._replace(y=y)


def _block(examples: Examples, position: Any) -> Block:
    return Block(examples.rows, examples.y, examples.weight, examples.cluster, position)


def as_labels(y: Any) -> NDArray[Any]:
    """Labels as in the source: whole numbers as integers, words as words."""
    y = np.asarray(y)
    return y.astype(np.int64) if y.dtype.kind == "f" and np.array_equal(y, np.round(y)) else y


def input_files(files: tuple[str, ...]) -> list[str]:
    """The paths that a source reads, including the files of PLINK's .bed; standard input is "-"."""
    paths = [file.path or "-" for file in find(list(files))]
    beside = [path[:-4] + end for path in paths if path.endswith(".bed") for end in (".bim", ".fam")]
    return paths + beside
