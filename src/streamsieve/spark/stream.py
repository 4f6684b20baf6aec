"""Micro-batches of structured streaming."""

from __future__ import annotations

from typing import Any

from ..distributed.partial import Partial, Task
from ..distributed.sieves import stream_model, stream_task
from .run import frame_task, needed_columns, run_frame, run_in_turn


class MicroBatches:
    """Learns the micro-batches of a stream: `stream.writeStream.foreachBatch(MicroBatches(...)).start()`.

    Executors learn the rows of a batch in parallel if the model can be computed from averages: for estimators
    on averages, and for `Sieve` with the squared loss if averages of all features fit into its memory.
    Otherwise one task learns the rows of each batch in order, as `partial_fit` does. A batch that Spark
    repeats after a failure is learned once. `model` is the estimator of the rows so far.

    Parameters
    ----------
    estimator, target, weight, features, classes, options
        As in `fit`.
    """

    def __init__(self, estimator: Any, target: str, *, weight: str | None = None, features: str | None = None,
                 classes: Any = None, **options: Any) -> None:  # fmt: skip
        self.estimator, self.classes, self.options = estimator, classes, options
        self.columns = target, weight, features
        self.last = -1
        self.task: Task | None = None
        self.part: Partial | None = None

    def __call__(self, frame: Any, number: int) -> None:
        if number <= self.last or frame.isEmpty():
            return
        features, frame = self.columns[2], needed_columns(frame, *self.columns)
        if self.task is None:
            self.task = frame_task(self.estimator, frame, *self.columns, self.classes, **self.options)
        merged = stream_task(self.task)
        if merged is None:
            self.part = run_in_turn(self.part or self.task.zero(), frame, features)
        else:
            frame = frame.persist()  # counted, then learned
            part = run_frame(merged, frame, features, first=0 if self.part is None else self.part.last)
            frame.unpersist()
            self.part = part if self.part is None else self.part.merge(part)
        self.last = number

    @property
    def model(self) -> Any:
        """The estimator, fitted to all rows so far."""
        if self.task is None or self.part is None:
            raise ValueError("No rows have been learned yet.")
        return stream_model(self.task, self.part)
