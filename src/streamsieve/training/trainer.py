"""The trainer: the loop in which every model learns.

The procedure depends on the data. *Rows in memory* are learned in as many passes as the method needs, in a
new order each time; k is chosen before, and the selected features are refitted afterwards. *A source that can
be read again* is read into memory if it fits; otherwise it is read block by block in each pass, shuffled
within a buffer. *A stream* is learned once. Estimators, command line, prequential evaluation and engines all
call it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from ..core import linalg
from ..core.method import Extent, Method
from ..core.params import ParamError
from ..core.rows import Array, Rows, as_vector, unique_labels
from ..core.tasks import Classification, Regression
from ..core.words import counted, format_bytes
from ..methods.learners.steps import MOST_CHOSEN
from .checkpoint import CheckpointPolicy
from .history import History, Point, measure_next
from .model import Model, TooManyFeatures, check_size, chooses_size, has_passes
from .passes import MeanLoss, Passes, begin_passes, one_pass, shuffled
from .progress import Progress
from .refit import refit_selected
from .size import check_constraints, choose_size
from .trace import Trace

BLOCK_ROWS, BLOCK_VALUES = 4096, 1 << 20  # of a block, as `read` cuts them: sums then round alike
BUFFER_VALUES = 1 << 24  # of a source too large for memory that are shuffled together: 128 megabytes
_EXTRACTING = 4  # copies of the state, while a model is extracted from it
_GROWING = 2  # arrays that grow are copied
_MOST_EXTRACTED = 2_000  # features up to which a model is extracted to show progress: that costs p^3


class Block(NamedTuple):
    """Consecutive rows of a source, and the position after them, at which a run can resume."""

    rows: Rows
    y: Any
    weight: Any = None
    cluster: Any = None
    position: Any = None


def wants_all_rows(model: Model) -> bool:
    """Whether `fit` of this model needs several passes, or all rows before the first pass."""
    method = model.method
    return has_passes(method) or chooses_size(method) or method.needs_passes


class Trainer:
    """Trains a model.

    Parameters
    ----------
    model : Model
    rows : int
        Number of rows learned before.
    history : History or None
        Scores every row before it is learned.
    trace : Trace or None
        Records a few points of the run.
    checkpoint : CheckpointPolicy or None
    progress : Progress or None
    deferred : callable
        Returns a context inside which signals wait, to end the run after it.
    memory : int or None
        Memory limit of the model in bytes.

    Attributes
    ----------
    rows : int
        Rows learned.
    position : object
        Position after the last block learned.
    any_weight : bool
        Whether some row had a positive weight.
    n_iter : int or None
        Number of passes over the same rows, if the method makes several.
    k : int or None
        The number of features, if it was chosen.
    """

    def __init__(
        self,
        model: Model,
        *,
        rows: int = 0,
        history: History | None = None,
        trace: Trace | None = None,
        checkpoint: CheckpointPolicy | None = None,
        progress: Progress | None = None,
        deferred: Callable[[], AbstractContextManager[None]] = nullcontext,
        memory: int | None = None,
    ) -> None:
        self.model, self.rows, self.history, self.trace = model, rows, history, trace
        self.checkpoint, self.progress, self.deferred, self.memory = checkpoint, progress, deferred, memory
        self.position: Any = None
        self.any_weight = rows > 0
        self.passes: dict[str, Any] | None = None  # that have ended, over the same rows
        self.in_memory = False
        self.n_iter: int | None = None
        self.k: int | None = None

    # ---------------------------------------------------------------- rows in memory

    def fit(
        self,
        rows: Rows,
        y: Array,
        w: Array | None = None,
        cluster: Any = None,
        resumed: dict[str, Any] | None = None,
    ) -> None:
        """Learn encoded rows in as many passes as the method needs: choose k, make the passes, refit.

        `resumed` are the passes of a checkpoint of such a run.
        """
        model = self.model
        self.any_weight = len(rows) > 0
        if chooses_size(model.method):
            check_constraints(model.method)
            self.k = choose_size(lambda k: model.with_values(k=k), model.method.criterion, rows, y, w)
            model.method = model.method.with_values(k=self.k)
        if has_passes(model.method):
            self._fit_passes(rows, y, w, resumed)
            return
        if resumed is None:
            model.method.extent = Extent.of(rows)
            model.begin(rows.p, y.shape[1])
            self._learn_rows(rows, y, w, cluster)
        while model.begin_next_pass():
            with self._until_checkpoint():
                self._learn_rows(rows, y, w, cluster)
                self._end_pass(None, {})

    def _fit_passes(self, rows: Rows, y: Array, w: Array | None, resumed: dict[str, Any] | None) -> None:
        model = self.model
        if resumed is None:
            passes, rows, y = begin_passes(model, rows, y, w)
        else:
            passes = Passes(model.method)
            passes.resume(resumed)
            if model.prepare is not None:
                rows, y = model.prepare.copy().near(rows, y)  # they are counted already
        self.rows = len(rows)
        if self.trace is not None:
            assert model.task is not None
            self.trace.look(model, Block(rows, model.task.decode(y), w), 0)
        with self._limit_blas_threads(rows.p):
            while passes.left:
                with self._until_checkpoint():
                    loss = one_pass(model, rows, y, w, passes.made)
                    passes.end(model.method, loss)
                    self._end_pass(loss, passes.to_plain())
            model.refitted = refit_selected(model.method, lambda: [(rows, y, w)])
        self.n_iter = passes.made

    def _until_checkpoint(self) -> Any:
        """Signals wait until the state is one that a checkpoint can hold, if one is written at all."""
        writes = self.checkpoint is not None and self.checkpoint.file is not None
        return self.deferred() if writes else nullcontext()

    def _learn_rows(self, rows: Rows, y: Array, w: Array | None, cluster: Any) -> None:
        """Learn encoded rows once, in the same blocks as from a file."""
        at = 0
        with self._limit_blas_threads(rows.p):
            while at < len(rows):
                rest = rows[at:]
                n = min(BLOCK_ROWS, len(rest))
                if rest.n_values > BLOCK_VALUES:
                    n = max(1, min(n, rest.rows_within(BLOCK_VALUES)))
                part = slice(at, at + n)
                ids = None if cluster is None else cluster[part]
                self.model.update(rows[part], y[part], None if w is None else w[part], ids)
                at += n
                if self.progress is not None and self.progress.due(at):
                    self.progress.update(at, None)
        self.rows = len(rows)

    def _end_pass(self, loss: float | None, passes: dict[str, Any]) -> None:
        """After a pass over the same rows: show progress, and write a checkpoint if one is due."""
        self.passes = passes
        policy = self.checkpoint
        if policy is not None and policy.due_after_pass(self.rows):
            policy.write(self.model, self.rows, self.resume_from)
        if self.progress is not None and self.progress.due(self.rows):
            shown = None if loss is None else (loss, len(self.model.support))
            self.progress.update(self.rows, shown)

    @property
    def resume_from(self) -> Any:
        """Position for a checkpoint: that in a stream, or the passes over a source that was read
        completely."""
        if self.passes is None:
            return self.position
        mode = "memory" if self.in_memory else "passes"
        return {"passes": self.passes, "end": self.position, "mode": mode}

    # ---------------------------------------------------------------- a source that can be read again

    def fit_source(
        self, source: Iterable[Block], memory: float, resumed: dict[str, Any] | None = None
    ) -> None:
        """Learn a source that can be read again as `fit` does: from memory, if it fits into this number of
        bytes.

        Otherwise in passes over its blocks, shuffled within a buffer.
        """
        parts, extent = self._read_all(source, memory)
        self.in_memory = parts is not None
        if parts is not None:
            self.fit(*self.model.encode(*join(parts)), resumed)
        else:
            self._fit_blocks(source, extent, resumed)

    def _read_all(self, source: Iterable[Block], memory: float) -> tuple[list[Block] | None, Extent]:
        """The blocks of a source, or None if they need more memory; its extent, and its task."""
        model = self.model
        parts: list[Block] | None = []
        labels: list[Any] = []
        n = values = p = 0
        sparse = False
        for block in source:
            n, values, p = n + len(block.rows), values + block.rows.n_values, max(p, block.rows.p)
            sparse = sparse or block.rows.sparse
            self.position = block.position
            self._check_memory(p)
            if model.task is None:
                if model.task_name == "regression":
                    model.task = Regression.of(block.y, len(block.rows), model.method.limit)
                else:
                    labels.append(unique_labels(as_vector(block.y)))
            if parts is not None:
                parts.append(block)
                parts = parts if bytes_joined(values, sparse) <= memory else None
        if not n:
            raise ValueError("The source has no rows; pass one that yields blocks (X, y).")
        if model.task is None:
            model.task = Classification.of(None, np.concatenate(labels))
        return parts, Extent(n, values, p, sparse)

    def _fit_blocks(self, source: Iterable[Block], extent: Extent, resumed: dict[str, Any] | None) -> None:
        model = self.model
        assert model.task is not None
        check_size(model.method)
        method: Any = model.method
        if resumed is None:
            method.extent = extent
            model.begin(extent.p, model.task.q)
        if not has_passes(method):
            self._fit_in_turn(source, resumed)
            return
        passes = Passes(method)
        passes.resume(resumed or {})
        self.rows = int(extent.rows)
        while passes.left:
            loss = MeanLoss(method)
            for rows, y, w in self._shuffled_blocks(source, passes.made):
                loss.add(model, rows, y, w)
                with self._until_checkpoint():
                    model.update(rows, y, w)
            passes.end(method, loss.mean())
            self._end_pass(loss.mean(), passes.to_plain())
        self.n_iter = passes.made
        model.refitted = refit_selected(method, lambda: (model.encode(*block[:3])[:3] for block in source))

    def _fit_in_turn(self, source: Iterable[Block], resumed: dict[str, Any] | None) -> None:
        """Learn the blocks of a source, and again while the method needs another pass."""
        if resumed is None:
            self.learn(source)
        while self.model.begin_next_pass():
            self.rows = 0
            self.learn(source)
            self._end_pass(None, {})

    def _shuffled_blocks(
        self, source: Iterable[Block], at: int
    ) -> Iterator[tuple[Rows, Array, Array | None]]:
        """The encoded rows of pass `at`: in order, or collected in buffers that are shuffled."""
        method: Any = self.model.method
        held: list[Block] = []
        number = 0
        for block in source:
            if not method.shuffle:
                yield self.model.encode(*block[:3])[:3]
                continue
            held.append(block)
            if sum(part.rows.n_values for part in held) >= BUFFER_VALUES:
                yield self._shuffled(held, at, number)
                held, number = [], number + 1
        if held:
            yield self._shuffled(held, at, number)

    def _shuffled(self, parts: list[Block], at: int, number: int) -> tuple[Rows, Array, Array | None]:
        rows, y, w, _ = self.model.encode(*join(parts))
        method: Any = self.model.method
        order = shuffled(len(rows), method.random_state, at + (number << 32))  # each buffer its own
        return rows.take(order), y[order], None if w is None else w[order]

    # ---------------------------------------------------------------- a stream, once

    def learn(self, blocks: Iterable[Block]) -> None:
        """Learn all blocks; a signal ends the run between two of them."""
        for block in blocks:
            with self.deferred():
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
        """Loss of the model on some of the next rows, and its features, if they are cheap to compute."""
        model, progress, rows = self.model, self.progress, self.rows + len(block.rows)
        if progress is None or self.history is not None or not self.rows or not progress.due(rows):
            return None
        if model.method.extracts:
            few = model.method.on_averages and model.p <= _MOST_EXTRACTED
            if not few or not progress.doubled(rows):
                return None
        try:
            found = measure_next(model, block)
        except ParamError:  # constraints on features that are still to come
            return None
        return None if found is None else (found[0], len(found[1]))

    def _check_memory(self, p: int) -> None:
        """Raise TooManyFeatures before the memory limit is exceeded."""
        if self.memory is None or p <= self.model.p:
            return
        need = bytes_needed(self.model.method, p, self.model.task.q if self.model.task is not None else 1)
        allowed = bytes_allowed(self.model.method, self.memory)
        if need > allowed:
            raise TooManyFeatures(
                f"After {counted(self.rows, 'row')} there are {p:,} features. {self.model.method_name} would "
                f"need {format_bytes(need)} for them, but its limit is {format_bytes(allowed)}."
            )

    def _limit_blas_threads(self, p: int) -> Any:
        """One thread for narrow products: the others parse, and those of BLAS would spin waiting for them.

        It depends on the width of the block, so that a resumed run sums in the same order.
        """
        return linalg.one_thread_if_narrow(p) if self.model.method.uses_blas else nullcontext()


def join(parts: list[Block]) -> tuple[Rows, Any, Any, Any]:
    """Rows, targets, weights and clusters of all blocks."""
    rows = Rows.concat([part.rows for part in parts])
    y, w, cluster = (
        None if each[0] is None else np.concatenate(each) for each in zip(*(part[1:4] for part in parts))
    )
    return rows, y, w, cluster


# ---------------------------------------------------------------- memory


def bytes_joined(values: float, sparse: bool) -> float:
    """Bytes of blocks with this number of values while they are joined: rows are then stored twice."""
    return 2 * (16 if sparse else 8) * values


def machine_memory() -> int:
    """Bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def bytes_needed(method: Method, p: int, q: int = 1) -> float:
    """Approximate size in bytes of a method with p features and q outputs."""
    if chooses_size(method):
        method = method.with_values(k=MOST_CHOSEN)
    return (_EXTRACTING if method.extracts else _GROWING) * method.bytes_at(p, q)


def bytes_allowed(method: Method, memory: int) -> int:
    """Limit of `bytes_needed`; if `memory` is for rows, a quarter of the machine for features."""
    return max(memory, machine_memory() // 4) if "memory" in method.params else memory


def most_features(method: Method, memory: int, q: int = 1) -> int:
    """The largest number of features within the memory limit."""
    low, high, memory = 0, 1, bytes_allowed(method, memory)
    while high < 2**53 and bytes_needed(method, high, q) <= memory:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bytes_needed(method, middle, q) <= memory else (low, middle)
    return low
