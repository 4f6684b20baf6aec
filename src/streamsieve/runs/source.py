"""A run on files: look at the first rows, make the model, learn, write checkpoints, resume, test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import Method
from ..fitted import FittedModel, TooManyFeatures
from ..params import ParamError
from ..persist import CheckpointError
from ..streams import BadData, read
from ..streams.examples import Examples
from ..streams.files import find
from ..tasks import Classification
from ..words import counted
from .checkpoint import CheckpointPolicy
from .evaluate import measure
from .history import History
from .memory import most_features
from .run import Block, Progress, Run, Signals
from .trace import Trace

_FIRST_ROWS, _FIRST_BYTES = 10_000, 64 << 20  # looked at to tell the task, the labels and the width
_REREAD = 1 << 30  # bytes that are read again to name the line of a feature that is too far


@dataclass(frozen=True)
class Source:
    """Files, and how to read them: the options of `read`."""

    files: tuple[str, ...]
    options: dict[str, Any]

    def open(self, **more: Any) -> Any:
        return read(self.files[0] if len(self.files) == 1 else list(self.files), **(self.options | more))

    def describe(self) -> dict[str, Any]:
        return {"files": list(self.files), "read": self.options}


class UnknownLabel(ValueError):
    """A label that the first rows did not show."""

    def __init__(self, rows: int, label: Any, classes: NDArray[Any]) -> None:
        super().__init__(
            f"After {counted(rows, 'row')} comes the label {label!s}, which the first rows did not show; "
            "name all labels."
        )
        self.rows, self.label, self.classes = rows, label, classes


class SourceRun:
    """A model learned from a `Source`.

    Parameters
    ----------
    source : Source
    choose : callable
        Makes the model, from the targets of the first rows and their number of features.
    checkpoint : CheckpointPolicy or None
    history : History or None
    trace : bool
        Whether a few points of the run are recorded.
    memory : int or None
        Bytes that the model may take.
    second_pass : bool
        Read the source again where it can be, and where the method wants it.
    """

    def __init__(
        self,
        source: Source,
        choose: Callable[[NDArray[Any], int], FittedModel],
        *,
        checkpoint: CheckpointPolicy | None = None,
        history: History | None = None,
        trace: bool = False,
        memory: int | None = None,
        second_pass: bool = False,
    ) -> None:
        self.source, self.choose, self.second_pass = source, choose, second_pass
        self.checkpoint, self.history, self.memory = checkpoint or CheckpointPolicy(), history, memory
        self.checkpoint.trace = Trace() if trace else None
        self.first: list[Block] = []  # blocks that were read to make the model
        self.done = self.was_done = False  # all rows are learned; in an earlier run
        self.resumed = False

    # ---------------------------------------------------------------- beginning

    def begin(self) -> None:
        """Read the first rows and make the model, or resume a checkpoint."""
        self.stream = self.source.open()
        self.format = self.stream.position()["mark"]["format"]
        self.checkpoint.describe = self._describe
        resumed = self.checkpoint.read()
        if resumed is not None:
            self._resume(*resumed)
            return
        self._read_first()
        if not self.first:
            raise BadData("no rows", ", ".join(self.source.files))
        y = np.concatenate([block.y for block in self.first])
        self.model = self.choose(y, self.first[-1].rows.p)
        self._name_features(self.model)
        if self.model.method.needs_passes and not (self.second_pass and self.stream.bytes_total is not None):
            raise ParamError(
                "loss",
                self.model.method.loss,
                "expected 'squared': this one reads rows several times, from files and with passes=auto.",
            )
        if self.second_pass:
            self._plan_second_pass()
        self.run = self._new_run(self.model)

    def _read_first(self) -> None:
        rows = size = 0
        self.blocks = self.stream.blocks()
        for examples in self.blocks:
            if examples.y is None:
                raise ParamError("target", None, self._missing_target(examples.rows.p))
            self.first.append(_block(examples, self.stream.position()))
            rows += len(examples.y)
            size += 8 * examples.rows.n_values
            if rows >= _FIRST_ROWS or size >= _FIRST_BYTES:
                return

    def _missing_target(self, p: int) -> str:
        names = self.stream.feature_names
        if names:
            some = ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")
            return f"expected the column to predict, out of {some}."
        if self.format == "npz":
            return "expected the name of the array to predict, saved beside the rows."
        return f"expected the column to predict, a number from 0 to {p - 1}."

    def _resume(self, model: FittedModel, position: Any, done: bool) -> None:
        file = self.checkpoint.file
        self.model, self.done, self.was_done, self.resumed = model, done, done, True
        if not done:
            self._name_features(model)
            try:
                self.stream.seek(position)
            except ValueError as error:
                raise CheckpointError(f"{file} cannot be resumed: {error}") from None
            self.blocks = self.stream.blocks()
        rows = int(model.about["rows"])
        self.run = self._new_run(model, rows)
        self.run.position = position

    def _new_run(self, model: FittedModel, rows: int = 0) -> Run:
        policy = self.checkpoint
        return Run(
            model, rows=rows, history=self.history, trace=policy.trace, checkpoint=policy, memory=self.memory
        )

    # ---------------------------------------------------------------- learning

    def learn(self, progress: Progress | None = None, signals: Signals | None = None) -> None:
        """Learn all rows of this pass that are left; `done` unless a second one follows. Interrupted if a
        signal comes."""
        if self.done:
            return
        self.checkpoint.begin(self.run.rows)
        self.run.progress, self.run.signals = progress, signals
        try:
            self.run.learn(self._blocks())
        except TooManyFeatures as error:
            self._name_line(error)
            raise
        if not self.run.any_weight:
            raise BadData("all rows have weight 0; at least one must weigh something", self.source.files[0])
        if self.second_pass and (again := self.model.method.next_pass()) is not None:
            self._read_again(again)
            return
        self.done = True
        self._describe(self.model)
        if self.checkpoint.file is not None:
            self.checkpoint.write(self.model, self.run.rows, self.run.position, done=True)

    def _plan_second_pass(self) -> None:
        """Tell the method what the whole source holds, by its first rows, so that it plans a second pass."""
        total, read = self.stream.bytes_total, self.stream.bytes_read
        if total is None or not read:
            return
        rows = sum(len(block.rows) for block in self.first) * total / read
        values = sum(block.rows.n_values for block in self.first) * total / read
        last = self.first[-1].rows
        self.model.method.expect(rows, values, last.p, last.sparse)

    def _read_again(self, method: Method) -> None:
        """Begin the second pass: the same source, another method; `done` stays False."""
        self.model.method = method
        self.stream = self.source.open()
        self.blocks, self.first = self.stream.blocks(), []
        before = self.run
        if self.checkpoint.trace is not None:
            self.checkpoint.trace = Trace()  # of this pass: rows count from 0 again
        self.run = self._new_run(self.model)
        self.run.progress, self.run.signals = before.progress, before.signals

    def interrupt(self) -> bool:
        """Write a checkpoint of an interrupted run; whether there was something to write."""
        if self.checkpoint.file is None or not self.run.rows:
            return False
        self.checkpoint.write(self.model, self.run.rows, self.run.position)
        return True

    def _blocks(self) -> Iterator[Block]:
        while self.first:
            yield self._checked(self.first.pop(0))
        for examples in self.blocks:
            yield self._checked(_block(examples, self.stream.position()))

    def _checked(self, block: Block) -> Block:
        return checked_block(self.model, block, self.run.rows)

    def _name_line(self, error: TooManyFeatures) -> None:
        """Name file and line of the feature that is too far, where the source can be read again for it."""
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

    def _describe(self, model: FittedModel) -> None:
        """Bring names and notes of the model up to date."""
        if self.was_done:
            return
        self._name_features(model)
        model.about.update(
            source=self.source.describe(), rows=self.run.rows, rows_bad=int(self.stream.rows_bad)
        )

    def _name_features(self, model: FittedModel) -> None:
        model.feature_names = self.stream.feature_names  # which grows as the stream meets new ones
        model.first_index = int(
            self.format == "svmlight" and not self.source.options.get("zero_based", False)
        )

    def test(self) -> dict[str, float] | None:
        """Measures on the rows held out, if any were."""
        if not self.source.options.get("hold_out"):
            return None
        names = self.model.feature_names
        more = {} if names is None else {"feature_names": names, "columns": None}
        stream = self.source.open(held=True, passes=1, shuffle_buffer=0, **more)
        return measure(self.model, (self._checked(Block(*examples)) for examples in stream.blocks()))


def checked_block(model: FittedModel, block: Block, rows_before: int) -> Block:
    """The block with rows checked and labels as the model knows them; UnknownLabel for another one."""
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
    """Labels as they are written: whole numbers as integers, words as words."""
    y = np.asarray(y)
    return y.astype(np.int64) if y.dtype.kind == "f" and np.array_equal(y, np.round(y)) else y


def input_files(files: tuple[str, ...]) -> list[str]:
    """The paths that a source reads, those beside PLINK's .bed too; standard input is "-"."""
    paths = [file.path or "-" for file in find(list(files))]
    beside = [path[:-4] + end for path in paths if path.endswith(".bed") for end in (".bim", ".fam")]
    return paths + beside
