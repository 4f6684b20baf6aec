"""The loop that all runs share: test, learn, count, write checkpoints, report progress, obey signals."""

from __future__ import annotations

import copy
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from .. import linalg
from ..fitted import FittedModel, TooManyFeatures
from ..params import ParamError
from ..rows import Rows
from ..words import counted, format_bytes
from .checkpoint import CheckpointPolicy
from .history import History, Measures, Point
from .memory import bytes_allowed, bytes_needed
from .trace import Trace

_NARROW = 512  # features up to which one thread of BLAS is faster than two that wait for each other
_SAMPLE = 256  # rows to come by which progress shows the loss
_MOST_EXTRACTED = 2_000  # features up to which a model is extracted to show progress: that costs p^3


class Block(NamedTuple):
    """Consecutive rows of a source, and the position after them, from which a run can be resumed."""

    rows: Rows
    y: Any
    weight: Any = None
    cluster: Any = None
    position: Any = None


class Interrupted(KeyboardInterrupt):
    """A signal has ended the run between two blocks.

    No `Exception`: it is raised at any line, and what handles errors there, the start of a thread in the
    standard library too, must not take it for one.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """SIGINT and SIGTERM end a run after the block that is being learned, or at once while it waits."""

    def __init__(self) -> None:
        self.pending, self.learning = 0, False

    def __enter__(self) -> Self:
        self.before = {n: signal.signal(n, self._handle) for n in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: Any) -> None:
        if self.pending or not self.learning:  # a second one does not wait either
            raise Interrupted(number)
        self.pending = number

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Signals that come inside end the run at the end of the block."""
        self.learning = True
        try:
            yield
        finally:
            self.learning = False
        if self.pending:
            raise Interrupted(self.pending)


class Progress(Protocol):
    """What shows how far a run is."""

    def due(self, rows: int) -> bool:
        """Whether something is to be shown after so many rows."""

    def doubled(self, rows: int) -> bool:
        """Whether the rows have doubled since something was shown."""

    def update(self, rows: int, measured: tuple[float, int] | None, point: Point | None = None) -> None:
        """Show rows and, where they were measured, loss and number of features; a point just recorded."""


class Run:
    """A model that learns blocks.

    Parameters
    ----------
    model : FittedModel
    rows : int
        Rows that it has learned before.
    history : History or None
        Where every row is scored before it is learned.
    trace : Trace or None
        Where a few points of the run are recorded.
    checkpoint : CheckpointPolicy or None
    progress : Progress or None
    signals : Signals or None
    memory : int or None
        Bytes that the model may take.

    Attributes
    ----------
    rows : int
        Rows learned.
    position : object
        Position after the last block learned.
    any_weight : bool
        Whether some row weighed something.
    """

    def __init__(
        self,
        model: FittedModel,
        *,
        rows: int = 0,
        history: History | None = None,
        trace: Trace | None = None,
        checkpoint: CheckpointPolicy | None = None,
        progress: Progress | None = None,
        signals: Signals | None = None,
        memory: int | None = None,
    ) -> None:
        self.model, self.rows, self.history, self.trace = model, rows, history, trace
        self.checkpoint, self.progress, self.signals, self.memory = checkpoint, progress, signals, memory
        self.position: Any = None
        self.any_weight = rows > 0  # whether some row weighed something

    def learn(self, blocks: Iterable[Block]) -> None:
        """Learn all blocks; Interrupted if a signal comes."""
        for block in blocks:
            with self.signals.deferred() if self.signals is not None else nullcontext():
                self._learn_block(block)
        if self.history is not None:
            self._show(self.history.record(self.model, self.rows, last=True), None)

    def _learn_block(self, block: Block) -> None:
        n = len(block.rows)
        measured = self._measure_ahead(block)
        self._check_memory(block.rows.p)
        if self.trace is not None:
            self.trace.look(self.model, block, self.rows)
        start = 0
        while start < n:
            stop = n
            if self.history is not None:
                stop = min(n, start + self.history.piece(self.model, self.rows))
            part = slice(start, stop)
            rows, y = block.rows[part], block.y[part]
            w = None if block.weight is None else block.weight[part]
            if self.history is not None and self.model.started:
                self.history.test(self.model, rows, y, w)
            with self._limit_blas_threads(rows.p):
                cluster = None if block.cluster is None else block.cluster[part]
                self.model.learn(rows, y, w, cluster)
            self.rows += stop - start
            start = stop
            if self.history is not None and (point := self.history.record(self.model, self.rows)):
                self._show(point, None)
        self.position = block.position
        self.any_weight = self.any_weight or block.weight is None or bool(np.any(block.weight))
        if self.checkpoint is not None and self.checkpoint.due(self.rows):
            self.checkpoint.write(self.model, self.rows, self.position)
        self._show(None, measured)

    def _show(self, point: Point | None, measured: tuple[float, int] | None) -> None:
        if self.progress is None:
            return
        if point is not None:
            self.progress.update(self.rows, (point.recent_loss, point.support), point)
        elif self.progress.due(self.rows):
            self.progress.update(self.rows, measured)

    def _measure_ahead(self, block: Block) -> tuple[float, int] | None:
        """Loss of the model on some rows to come, and its features, where progress can show them cheaply."""
        model, progress, rows = self.model, self.progress, self.rows + len(block.rows)
        if progress is None or self.history is not None or not self.rows or not progress.due(rows):
            return None
        if model.method.extracts:
            few = hasattr(model.method, "averages") and model.p <= _MOST_EXTRACTED
            if not few or not progress.doubled(rows):
                return None
            # a copy: reading merges rows that wait, in another order than learning would
            model = copy.deepcopy(model)
        y, w = block.y[:_SAMPLE], None if block.weight is None else block.weight[:_SAMPLE]
        if model.classes is not None and not np.isin(y, model.classes).all():
            return None
        measures = Measures()
        try:
            measures.add(model, model.scores(block.rows[:_SAMPLE]), y, w, auc=False)
        except ParamError:  # constraints on features that are still to come
            return None
        return measures.mean("loss"), len(model.support)

    def _check_memory(self, p: int) -> None:
        """Raise TooManyFeatures before memory is taken that the run may not have."""
        if self.memory is None or p <= self.model.p:
            return
        need = bytes_needed(self.model.method, p, self.model.task.q if self.model.task is not None else 1)
        allowed = bytes_allowed(self.model.method, self.memory)
        if need > allowed:
            raise TooManyFeatures(
                f"After {counted(self.rows, 'row')} there are {p:,} features. {self.model.method_name} would "
                f"take {format_bytes(need)} for them, and it may take {format_bytes(allowed)}."
            )

    def _limit_blas_threads(self, p: int) -> Any:
        """One thread for narrow products: the others parse, and those of BLAS would spin waiting for them.

        The width of the block decides, so that a run that was resumed sums as one that was not.
        """
        if p > _NARROW or not self.model.method.uses_blas:
            return nullcontext()
        return linalg.limit_threads(1)
