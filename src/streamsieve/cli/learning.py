"""The run behind fit, select, path and evaluate, from the options of a command."""

from __future__ import annotations

import inspect
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Self

import click

from ..core.words import counted
from ..sources import read
from ..training.checkpoint import CheckpointPolicy
from ..training.history import History
from ..training.model import Model, TooManyFeatures
from ..training.source import Source, SourceRun, input_files
from .method_choice import ERRORS, FIELDS, MethodChoice, expand
from .model_files import schema_of_model
from .output import Console, check_outputs, emit, leave, note_rows
from .progress import ProgressMeter

#: Parameters without meaning for a stream, which is learned once.
ONLY_FIT = ("max_iter", "tol", "shuffle")


class Interrupted(KeyboardInterrupt):
    """A signal ended the run between two blocks.

    It is not an `Exception`, because it can be raised at any line and must not be caught by handlers of
    errors, for example in the standard library when a thread starts.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """SIGINT and SIGTERM end a run after the current block, or immediately while it waits."""

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
        """Signals inside the context end the run at the end of the block."""
        self.learning = True
        try:
            yield
        finally:
            self.learning = False
        if self.pending:
            raise Interrupted(self.pending)


class FittedRun(NamedTuple):
    """A model that has learned a source, and the run in which it did so."""

    model: Model
    run: SourceRun

    def measure(self, console: Console, *, for_report: bool = False) -> dict[str, float]:
        """The quality of the model on held-out rows: print it, store it in the model's notes, return it.

        For a report, also note how the selection depends on the rows.
        """
        quality = self.run.quality()
        if for_report:
            self.model.about["selection"] = self.run.selection_notes()
        if quality is None:
            return {}
        self.model.about["quality"] = quality.plain()
        console.note(quality.line())
        return quality.named()

    def trace(self) -> dict[str, Any] | None:
        """What was recorded along the run, for a report."""
        trace = self.run.checkpoint.trace
        if trace is None:
            return None
        trace.finish(self.model, self.run.trainer.rows)
        return trace.to_plain()


def fit_source(files: tuple[str, ...], options: dict[str, Any], output: str | None, quiet: bool) -> FittedRun:
    """Learn files as the options of a command say; exit if a signal ends the run."""
    console = Console(quiet)
    report, history = options.pop("report", None), options.pop("history", False)
    if report is not None:
        from .pages import check_report_needs

        check_report_needs()
    choice = method_choice(options, console)
    seconds, rows = options.pop("every")
    policy = CheckpointPolicy(options.pop("checkpoint"), seconds or 0.0, rows, options.pop("resume"))
    passes = options["passes"]
    source = read_source(files, options)
    policy.settings = {"files": list(files), **source.options, **choice.describe(), "passes": passes}
    choice.check()
    for setting in choice.settings if passes != "auto" else ():
        if setting.partition("=")[0] in ONLY_FIT:
            raise click.UsageError(
                f"--set {setting} is for --passes auto; with a number of passes the source is a stream."
            )
    inputs = input_files(files)
    check_outputs(
        inputs, models={"--output": output, "--checkpoint": policy.file}, texts={"--report": report}
    )
    policy.check()
    traced = history and (report is not None or policy.file is not None)
    with Signals() as signals:
        run = SourceRun(
            source,
            choice,
            checkpoint=policy,
            trace=traced,
            memory=choice.bytes_allowed,
            as_fit=passes == "auto",
        )
        try:
            _learn(run, signals, console)
        except TooManyFeatures as error:
            raise TooManyFeatures(f"{error} Pass more --memory, or a --method that needs less.") from None
        except Interrupted as signal:
            _interrupt(run, console)
            leave(128 + signal.number)
    known = [] if run.schema is None else run.schema.columns
    note_rows(run.stream, console, {column.name: column.odd for column in known})
    return FittedRun(run.model, run)


def check_names(run: SourceRun) -> None:
    """Raise ParamError for constraints on features that a table does not have, before reading it."""
    from ..statistics.constraints import Constraints

    model = run.model
    if run.schema is not None and "keep" in model.method.params:
        names = run.schema.feature_names
        Constraints.of(model.method).resolve(len(names), names, model.first_index)


def note_schema(run: SourceRun, console: Console) -> None:
    """What each column of a table became, in a few lines."""
    if run.schema is not None and not run.resumed:
        for line in run.schema.lines():
            console.note(line)


def print_schema(files: tuple[str, ...], options: dict[str, Any], as_json: bool, quiet: bool) -> None:
    """Print what each column of a table becomes, without learning a row."""
    options["missing"] = missing_numbers(options)
    names = (*inspect.signature(read).parameters, "like")
    source = read_source(files, {name: options[name] for name in names if name in options})
    stream = source.open(limit=1)
    next(iter(stream.blocks()), None)
    schema = stream.schema
    if schema is None:
        raise click.UsageError(f"--schema: {files[0]} is not a table, so it has no schema.")
    console = Console(quiet or as_json)
    for line in schema.lines():
        console.note(line)
    columns, rows = schema.table()
    about = {"rows_looked_at": schema.rows, "features": len(schema.feature_names), **dict(schema.found)}
    emit(columns, rows, as_json=as_json, title="What each column becomes", about=about)


def method_choice(options: dict[str, Any], console: Console) -> MethodChoice:
    """The method choice from the options of `options.model`, which are removed from `options`."""
    options["missing"] = missing_numbers(options)
    expand(options, console)
    errors = {name: options.pop(name, None) for name in ERRORS}
    return MethodChoice(
        **{name: options.pop(name) for name in FIELDS},
        **errors,
        missing=options["missing"],
        cluster=options.get("cluster"),
        console=console,
    )


def missing_numbers(options: dict[str, Any]) -> str:
    """The option --missing, or its default: curves have a level for missing numbers."""
    effects = options.get("effects") or next(
        (
            text
            for name, _, text in (s.partition("=") for s in options.get("settings", ()))
            if name == "effects"
        ),
        "linear",
    )
    return options["missing"] or ("mean" if effects.strip("'\"") == "linear" else "keep")


def read_source(files: tuple[str, ...], options: dict[str, Any]) -> Source:
    """The source that the options of `options.table`, `files` and `passing` describe."""
    given = {name: value for name, value in options.items() if value is not None}
    if given.get("passes") == "auto":
        del given["passes"]
    like = given.pop("like", None)
    return Source(files, given, None if like is None else schema_of_model(like))


def _learn(run: SourceRun, signals: Signals, console: Console) -> None:
    file = run.checkpoint.file
    if run.checkpoint.resume and not (file is not None and os.path.exists(file)):
        console.note(f"There is no checkpoint {file} yet: starting at the first row.")
    run.begin()
    check_names(run)
    if run.resumed:
        console.note(f"Resumed {file} after {counted(run.trainer.rows, 'row')}.")
    if run.grown:
        console.note("The source has grown since the checkpoint: learning the rows that were added.")
    note_schema(run, console)
    console.note(run.note)
    while not run.done:
        with meter_of(run, console.quiet) as meter:
            run.learn(meter, signals.deferred)
            if run.done:
                meter.count(run.trainer.rows)
        if not run.done:
            console.note(run.model.method.pass_note)  # type: ignore[attr-defined]


def meter_of(run: SourceRun, quiet: bool) -> ProgressMeter:
    """The progress display of a run."""
    return ProgressMeter(
        run.model.method_name.lower(), run.bytes_total(), run.bytes_read, quiet, run.trainer.rows
    )


def _interrupt(run: SourceRun, console: Console) -> None:
    file = run.checkpoint.file
    if file is None:
        console.note("Interrupted; nothing was written, because there is no --checkpoint.")
    elif not hasattr(run, "trainer") or not run.interrupt():
        console.note("Interrupted before a row was learned.")
    else:
        console.note(f"Interrupted after {counted(run.trainer.rows, 'row')}; --resume continues from {file}.")


def prepare_evaluation(
    files: tuple[str, ...], options: dict[str, Any], history: History, output: str | None, quiet: bool
) -> SourceRun:
    """A run that has made its model and learned nothing yet."""
    console = Console(quiet)
    choice = replace(method_choice(options, console), in_order=True)
    choice.check()
    source = read_source(files, options)
    check_outputs(input_files(files), texts={"--output": output})
    run = SourceRun(source, choice, history=history, memory=choice.bytes_allowed)
    run.begin()
    note_schema(run, console)
    return run
