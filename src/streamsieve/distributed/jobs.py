"""Learning the units of a plan: independently, from stored results, or one after another."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from ..persist import CheckpointError
from ..persist.files import replacing
from ..training.model import Model
from ..training.source import checked_block
from ..training.trainer import Block, Trainer
from .partial import Partial, Task, leaf_rows
from .parts import Part, PartError, finish, fresh, named, one_blas_thread
from .plan import Plan, Unit


def unit_task(plan: Plan, like: Model, estimator: Any = None) -> Task:
    """The task for the units of a plan."""
    task = Task(like, table=plan.layout.table or None, estimator=estimator)
    known = plan[0].row is not None
    return replace(task, leaf=leaf_rows(len(task.names or ()))) if known else task


def accumulate(unit: Unit, task: Task | Model) -> Partial:
    """Learn the rows of a unit: a pure function of its arguments, the same on every worker.

    Parameters
    ----------
    unit : Unit
        A unit of a `plan`.
    task : Task or Model
        Result of `unit_task` or `prepare`. It is not changed.
    """
    task = task if isinstance(task, Task) else Task(task, table=unit.layout.table or None)
    names = None if task.columns is None or not unit.layout.table else task.columns.names
    with named(unit), one_blas_thread():
        stream = unit.open(n_jobs=1, **({} if names is None else {"feature_names": names}))
        if not task.by_rows or unit.row is None:
            return stream_partial(
                task, unit.number, stream, select=task.columns is not None and names is None
            )
        part = task.zero(row=unit.row)
        with closing(stream.raw_batches(unit.row - unit.rows_before)) as batches:
            for batch in batches:
                if batch.error is not None:
                    raise batch.error
                n = batch.examples.n
                part.add(batch.examples, n + batch.bad + batch.unlabelled, batch.bad)
        return part


def stream_partial(task: Task, number: int, stream: Any, *, select: bool = False) -> Partial:
    """The partial result of a partition that is read as a stream.

    With `select`, the stream has all columns, and those of the task are learned.
    """
    columns = task.columns
    blocks = (Block(*examples) for examples in stream.blocks())
    if select and columns is not None:
        blocks = (block._replace(rows=columns.select(block.rows)) for block in blocks)
    model = fresh(task.like)
    rows = learn_blocks(model, blocks)
    names = stream.feature_names if columns is None else columns.names
    part = finish(model, number, rows, stream.rows_bad, None if names is None else list(names))
    return Partial(task, number, number + 1, False, [part])


def learn_blocks(model: Model, blocks: Iterable[Block]) -> int:
    """Learn blocks with the training loop; returns the number of rows."""
    trainer = Trainer(model)
    trainer.learn(checked_block(model, block, trainer.rows) for block in blocks)
    return trainer.rows


@dataclass(frozen=True)
class Job:
    """Job description sent to every worker that reads files: units, task, folder of finished units.

    Attributes
    ----------
    plan : Plan
    task : Task
    folder : str or None
        Finished units are written there, and read instead of computed.
    """

    plan: Plan
    task: Task
    folder: str | None = None

    @property
    def digest(self) -> str:
        """Identifies the plan and the settings."""
        like, columns = self.task.like, self.task.columns
        classes = None if like.classes is None else [str(label) for label in like.classes]
        values = sorted((name, repr(value)) for name, value in like.method.values.items())
        numbers = None if columns is None else columns.numbers.tolist()
        settings = [self.plan.digest, like.name, values, classes, numbers, self.task.leaf]
        return hashlib.sha256(json.dumps(settings).encode()).hexdigest()

    def part(self, number: int) -> Partial:
        """The partial result of a unit: from its file, or else computed and written to it."""
        keep = self.folder is not None and self.task.like.method.merges  # votes are not stored
        file = os.path.join(self.folder or "", f"unit-{number:06d}.sieve") if keep else None
        found = None if file is None else self._kept(number, file)
        if found is not None:
            return found
        part = accumulate(self.plan[number], self.task)
        if file is not None:
            with named(self.plan[number]), replacing(file, "unit") as stream:
                stream.write(part.to_bytes(f"{self.digest} {number}"))
        return part

    def _kept(self, number: int, file: str) -> Partial | None:
        """The unit in a file; None if the file is missing or damaged."""
        if not os.path.exists(file):
            return None
        try:
            with open(file, "rb") as stream:
                part = self.task.from_bytes(stream.read())
        except CheckpointError:
            return None
        if part.note != f"{self.digest} {number}":
            raise PartError(
                f"{file} is not unit {number} of this plan with these settings; empty the folder, or pass "
                "another."
            )
        return part

    def learn_next(self, before: Partial | None, number: int) -> Partial:
        """Continue with the next unit, bit-for-bit as one machine would."""
        unit = self.plan[number]
        with named(unit), one_blas_thread():
            stream = unit.open(n_jobs=1)
            part = None if before is None else before.whole()
            model = fresh(self.task.like if part is None else part.model)
            rows = learn_blocks(model, (Block(*examples) for examples in stream.blocks()))
            names = stream.feature_names
            last = finish(model, number, rows, stream.rows_bad, None if names is None else list(names))
            if part is not None:
                last = replace(last, first=0, rows=part.rows + rows, rows_bad=part.rows_bad + last.rows_bad)
            return Partial(self.task, 0, number + 1, False, [last])


def describe_part(part: Part, digest: str, **more: Any) -> dict[str, Any]:
    """Notes about a part, for its file."""
    return {
        "digest": digest, "first": part.first, "last": part.last, "rows": part.rows,
        "rows_bad": part.rows_bad, **more,
    }  # fmt: skip


def part_of(model: Model, about: dict[str, Any]) -> Part:
    """The packed part in a file; `describe_part` wrote the notes."""
    note = about["part"]
    method: Any = model.method
    method.averages.pack()
    model = replace(model, about={name: value for name, value in model.about.items() if name != "part"})
    return Part(model, int(note["first"]), int(note["last"]), int(note["rows"]), int(note["rows_bad"]))
