"""The run that fit, select and path share: read, learn, show how far it is, keep checkpoints, resume."""

from __future__ import annotations

import copy
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Self

import click
import numpy as np
from threadpoolctl import ThreadpoolController

from .. import evaluate
from ..persist import CheckpointError, is_checkpoint, read_checkpoint, save
from ..streams import read
from ._methods import Ask, as_labels
from ._output import Say, leave
from ._progress import Meter

_FIRST_ROWS, _FIRST_BYTES = 10_000, 64 << 20  # what is looked at to tell the task, the labels and the width
_NARROW = 512  # features whose products one thread of BLAS has done before two have met
_SHOW = 2_000  # features up to which averages are read for the progress shown: reading costs p^3


class Stopped(Exception):
    def __init__(self, number: int) -> None:
        self.number = number


class TooWide(ValueError):
    """More features than the averages may have."""

    def __init__(self, rows: int, wide: int, limit: int) -> None:
        super().__init__(
            f"After {rows:,} rows there are {wide:,} features, and --memory is enough for the averages of "
            f"{limit:,}. Pass -k K --method sfsa, which needs memory for the features only, or more --memory."
        )


class Signals:
    """Ctrl-C and SIGTERM end a run between two blocks; while it only waits for rows, at once."""

    def __init__(self) -> None:
        self.came, self.busy = 0, False

    def __enter__(self) -> Self:
        self.before = {n: signal.signal(n, self._note) for n in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: Any) -> None:
        if self.came or not self.busy:  # a second one does not wait either
            raise Stopped(number)
        self.came = number

    def check(self) -> None:
        if self.came:
            raise Stopped(self.came)


@dataclass(frozen=True)
class Source:
    """What is read, and how: the arguments of `read`."""

    files: tuple[str, ...]
    options: dict[str, Any]

    def open(self, **more: Any) -> Any:
        return read(self.files[0] if len(self.files) == 1 else list(self.files), **(self.options | more))

    def told(self) -> dict[str, Any]:
        return {"files": list(self.files), "read": self.options}


def source_of(files: tuple[str, ...], told: dict[str, Any]) -> Source:
    """The source that the options of `_options.stream` and `_options.passing` describe."""
    missing = {"error": "error", "zero": "zero", "mean": "keep"}[told.pop("missing")]
    return Source(
        files, {**{name: value for name, value in told.items() if value is not None}, "missing": missing}
    )


@dataclass
class Keep:
    """Where and how often a checkpoint is written."""

    file: str | None
    every: tuple[float | None, int | None]
    resume: bool
    last: float = field(default_factory=monotonic)
    rows: int = 0

    def check(self) -> None:
        """Refuse to write over days of work because --resume was forgotten."""
        if self.resume and self.file is None:
            raise click.UsageError("--resume needs --checkpoint, the file to go on from.")
        if self.file is None or self.resume or not is_checkpoint(self.file):
            return
        if not read_checkpoint(self.file).about.get("done", True):
            raise click.UsageError(
                f"--checkpoint {self.file} is of a run that was not finished; pass --resume to go on from "
                "there, or delete it."
            )

    def due(self, rows: int) -> bool:
        if self.file is None:
            return False
        seconds, count = self.every
        return rows - self.rows >= count if count is not None else monotonic() - self.last >= (seconds or 0)

    def write(self, model: Any, about: dict[str, Any], rows: int) -> None:
        assert self.file is not None
        save(model, self.file, about=about)
        self.last, self.rows = monotonic(), rows


@dataclass
class Learned:
    model: Any
    about: dict[str, Any]  # what a model file says about itself

    @property
    def names(self) -> list[str] | None:
        names: list[str] | None = self.about["feature_names"]
        return names


def learn(source: Source, ask: Ask, keep: Keep, say: Say) -> Learned:
    """Learn the whole source, from its beginning or from a checkpoint."""
    ask.check()
    keep.check()
    run = Run(source, ask, keep, say)
    with Signals() as signals:
        try:
            run.begin()
            try:
                run.go(signals)
            except TooWide as error:
                if ask.method != "auto" or ask.k in (None, "auto") or "-" in source.files:
                    raise
                say(f"{error} Beginning again with sfsa.")
                signals.busy = False
                run = Run(source, replace(ask, instead="sfsa"), replace(keep, resume=False), say)
                run.begin()
                run.go(signals)
        except Stopped as stop:
            run.stop()
            leave(128 + stop.number)
    return run.end()


def prepared(source: Source, ask: Ask, keep: Keep, say: Say) -> Run:
    """A run that has looked at its first rows and made its model, and learned nothing yet."""
    ask.check()
    run = Run(source, ask, keep, say)
    run.begin()
    return run


class Run:
    def __init__(self, source: Source, ask: Ask, keep: Keep, say: Say) -> None:
        self.source, self.ask, self.keep, self.say = source, ask, keep, say
        self.model: Any = None
        self.rows, self.bad = 0, 0
        self.position: dict[str, Any] | None = None
        self.names: list[str] | None = None
        self.task = self.method = ""
        self.first: list[tuple[Any, Any]] = []  # blocks looked at beforehand, with the positions after them
        self.blas = ThreadpoolController()
        self.done = self.finished = False  # all rows learned; already in an earlier run

    # ---------------------------------------------------------------- beginning

    def begin(self) -> None:
        self.stream = self.source.open()
        self.format = self.stream.position()["mark"]["format"]
        if self.keep.resume and os.path.exists(str(self.keep.file)):
            self._resume(str(self.keep.file))
            return
        if self.keep.resume:
            self.say(f"No checkpoint {self.keep.file} yet: beginning at the first row.")
        self._look()
        if not self.first:
            raise ValueError(f"{', '.join(self.source.files)}: no rows.")
        y = np.concatenate([block.y for block, _ in self.first])
        self.task = self.ask.see_task(y, self.say)
        self.classes = self.ask.see_classes(y) if self.task == "classification" else None
        if self.classes is not None and len(self.classes) < 2:
            raise click.UsageError(
                f"The first {len(y):,} rows hold one label only ({self.classes[0]}); name all in --classes."
            )
        self.method = self.ask.choose(self.first[-1][0].X.shape[1], self.say)
        self.model = self.ask.build(self.method, self.task)

    def _look(self) -> None:
        rows = held = 0
        self.blocks = iter(self.stream)
        for block in self.blocks:
            if block.y is None:
                few = _few(self.stream)
                raise click.UsageError(
                    f"--target is needed: which of the columns is to be predicted ({few})?"
                )
            self.first.append((block, self.stream.position()))
            rows += len(block.y)
            X = block.X
            held += X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
            if rows >= _FIRST_ROWS or held >= _FIRST_BYTES:
                return

    def _resume(self, file: str) -> None:
        held = read_checkpoint(file)
        about = held.about
        if "position" not in about:
            raise CheckpointError(
                f"{file} is a model, not a checkpoint: it does not say where its stream stood."
            )
        old, new = about["source"], self.source.told()
        for then, now in (
            ({"files": old["files"]}, {"files": new["files"]}), (old["read"], new["read"]),
            (about["asked"], self.ask.told()),
        ):  # fmt: skip
            changed = [name for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
            if changed:
                told = ", ".join(f"{name} {then.get(name)!r}, not {now.get(name)!r}" for name in changed)
                raise CheckpointError(
                    f"{file} is of another run, with {told}; give the same options, or leave --resume out."
                )
        self.model, self.task, self.method = held.object, about["task"], about["method"]
        self.classes = getattr(self.model, "classes_", None)
        self.rows, self.bad, self.names = about["rows"], about["rows_bad"], about["feature_names"]
        self.done = self.finished = about["done"]
        self.position = about["position"]
        if not self.done:
            try:
                self.stream.seek(self.position)
            except ValueError as error:
                raise CheckpointError(f"{file} cannot be resumed: {error}") from None
            self.blocks = iter(self.stream)
        self.say(f"Resumed {file} after {self.rows:,} rows.")

    # ---------------------------------------------------------------- learning

    def go(self, signals: Signals) -> None:
        if self.done:
            return
        self.keep.rows = self.rows
        passes = self.source.options.get("passes", 1)
        total = self.stream.bytes_total
        with Meter(self.method, total * passes if total else None, self.say.quiet, self.rows) as meter:
            for block, position in self._blocks():
                signals.busy = True
                look = self._see(block, meter)
                self._take(block)
                self.position = position
                self.rows += len(block.y)
                if self.keep.due(self.rows):
                    self.keep.write(self.model, self.about(), self.rows)
                if meter.due(self.rows):
                    meter.update(self.rows, self.bytes(), look)
                signals.check()
                signals.busy = False
            meter.update(self.rows, self.bytes(), None, last=True)
        self.done = True

    def _blocks(self) -> Iterator[tuple[Any, Any]]:
        limit = self.ask.limit() if self.model._averaged else None
        while self.first:
            yield self.first.pop(0)
        for block in self.blocks:
            if limit is not None and block.X.shape[1] > limit:
                raise TooWide(self.rows, block.X.shape[1], limit)
            yield block, self.stream.position()  # a signal from here on finds the place before

    def bytes(self) -> int | None:
        """Read so far, over all passes."""
        total = self.stream.bytes_total
        if total is None:
            return None
        at = self.stream.position()
        return int(at.get("pass", 0) * total + (self.stream.bytes_read if "taken" in at else 0))

    def labelled(self) -> Iterator[tuple[Any, Any, Any]]:
        """The blocks with labels as the model knows them."""
        for block, _ in self._blocks():
            yield block.X, self._labels(block.y), block.weight

    def _labels(self, y: Any) -> Any:
        return y if self.classes is None else as_labels(np.asarray(y), like=np.asarray(y))

    def _take(self, block: Any) -> None:
        started = self.model.__sklearn_is_fitted__()
        X = evaluate.fitting(block.X, self.model)
        if started and X.shape[1] != self.model.n_features_in_ and not getattr(self.model, "grow", False):
            raise ValueError(
                f"After {self.rows:,} rows there are {X.shape[1]:,} features, not "
                f"{self.model.n_features_in_:,}; {self.method} cannot take in more. Pass --features, or "
                "another --method."
            )
        y, options = self._labels(block.y), {}
        if self.classes is not None:
            if not started:
                options = {"classes": self.classes}
            unknown = y[~np.isin(y, self.classes)]
            if len(unknown):
                raise ValueError(
                    f"After row {self.rows:,} comes the label {unknown[0]!s}, which the first rows did not "
                    f"show; name all in --classes {','.join(map(str, [*self.classes, unknown[0]]))}, or pass "
                    "--task regression."
                )
        with self._calm(X.shape[1]):
            self.model.partial_fit(X, y, sample_weight=block.weight, **options)

    def _calm(self, wide: int) -> Any:
        """One thread for narrow products: the others parse, and those of BLAS would spin waiting for them.

        It is the width of the block that decides, so that a run that was resumed adds up as the first did.
        """
        return self.blas.limit(limits=1, user_api="blas") if wide <= _NARROW else nullcontext()

    def _see(self, block: Any, meter: Meter) -> tuple[float, int] | None:
        """Loss of the model on some of the rows to come, and its features; only where it is cheap."""
        if not self.model.__sklearn_is_fitted__() or not meter.due(self.rows + len(block.y)):
            return None
        model, y = self.model, self._labels(block.y[:256])
        if model._averaged:
            if model.n_features_in_ > _SHOW or not meter.doubled(self.rows + len(block.y)):
                return None
            # a copy: to be read it adds up the rows that wait, in another order than they would be later
            model = copy.deepcopy(model)
        if self.classes is not None and not np.isin(y, self.classes).all():
            return None
        w = None if block.weight is None else block.weight[:256]
        told = evaluate.measure(model, [(evaluate.fitting(block.X[:256], model), y, w)])
        return told["loss"], int(np.count_nonzero(model.get_support()))

    # ---------------------------------------------------------------- ending

    def about(self) -> dict[str, Any]:
        return {**self.describe(), "asked": self.ask.told(), "position": self.position, "done": self.done}

    def describe(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "method": self.method,
            "source": self.source.told(),
            "first_index": int(
                self.format == "svmlight" and not self.source.options.get("zero_based", False)
            ),
            "rows": self.rows,
            "rows_bad": self.bad if self.finished else int(self.stream.rows_bad),
            "feature_names": self.names if self.finished else self.stream.feature_names,
        }

    def stop(self) -> None:
        if self.keep.file is None:
            self.say("Stopped; without --checkpoint nothing is kept.")
        elif not self.rows:
            self.say("Stopped before a row was learned.")
        else:
            self.keep.write(self.model, self.about(), self.rows)
            self.say(f"Stopped after {self.rows:,} rows; --resume goes on from {self.keep.file}.")

    def end(self) -> Learned:
        if self.keep.file is not None and not self.finished:
            self.keep.write(self.model, self.about(), self.rows)
        if self.stream.rows_bad:
            self.say(f"Skipped {self.stream.rows_bad:,} bad rows.")
        return Learned(self.model, self.describe())


def test_rows(source: Source, learned: Learned) -> dict[str, float] | None:
    """Measures on the rows held out, if any were."""
    if not source.options.get("hold_out"):
        return None
    names = {} if learned.names is None else {"feature_names": learned.names, "columns": None}
    stream = source.open(held=True, passes=1, shuffle_buffer=0, **names)
    classes = getattr(learned.model, "classes_", None)

    def blocks() -> Iterator[tuple[Any, Any, Any]]:
        for block in stream:
            y = block.y if classes is None else as_labels(np.asarray(block.y), like=np.asarray(block.y))
            yield evaluate.fitting(block.X, learned.model), y, block.weight

    return evaluate.measure(learned.model, blocks())


def _few(stream: Any) -> str:
    names = stream.feature_names or []
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def feature_names(model: Any, about: dict[str, Any]) -> Callable[[int], str]:
    """How a user calls feature j: its column, or its number as the file counts; products by both."""
    names, first = about.get("feature_names"), about.get("first_index", 0)
    pairs = model._pairs() if getattr(model, "interactions", False) else None
    if pairs is not None:
        names = pairs.names(names or [str(j + first) for j in range(model.n_features_in_)])
    return lambda j: str(j + first) if names is None else str(names[j])


def feature_table(model: Any, about: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """The features selected and their weights, the largest (in units of their deviation, if known) first."""
    coef = np.atleast_2d(model.coef_)
    support = np.flatnonzero(coef.any(axis=0))
    classes = getattr(model, "classes_", None)
    linear = getattr(model, "model_", None)
    t = None if linear is None or linear.tvalue is None else np.atleast_2d(linear.tvalue)
    error = None if linear is None or linear.stderr is None else np.atleast_2d(linear.stderr)
    size = np.abs(coef if t is None else t)[:, support].max(axis=0, initial=0.0)
    order = support[np.argsort(-np.nan_to_num(size, posinf=np.inf), kind="stable")]
    several = len(coef) > 1
    columns = [
        "feature",
        *([f"weight {c}" for c in classes] if several and classes is not None else ["weight"]),
    ]
    if not several and error is not None and t is not None:
        columns += ["stderr", "t"]
    rows = []
    name = feature_names(model, about)
    for j in order:
        row: list[Any] = [name(int(j)), *(float(v) for v in coef[:, j])]
        if not several and error is not None and t is not None:
            row += [float(error[0, j]), float(t[0, j])]
        rows.append(row)
    return columns, rows
