"""The run behind fit, select, path and evaluate, from the options of a command."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..fitted import FittedModel, TooManyFeatures
from ..runs.checkpoint import CheckpointPolicy
from ..runs.history import History
from ..runs.run import Interrupted, Signals
from ..runs.source import Source, SourceRun, UnknownLabel, input_files
from ..words import counted
from .files import check_outputs
from .method_choice import ERRORS, FIELDS, MethodChoice
from .output import Console, leave
from .progress import ProgressMeter
from .shorthand import expand


class FittedRun(NamedTuple):
    """A model that has learned a source, and the run that it did so in."""

    model: FittedModel
    run: SourceRun

    def test(self) -> dict[str, float]:
        """Measures on the rows held out, called test_...; none if there were none."""
        return {f"test_{name}": value for name, value in (self.run.test() or {}).items()}

    def trace(self) -> dict[str, Any] | None:
        """What was recorded along the run, for a report."""
        trace = self.run.checkpoint.trace
        if trace is None:
            return None
        trace.finish(self.model, self.run.run.rows)
        return trace.to_plain()


def fit_source(files: tuple[str, ...], options: dict[str, Any], output: str | None, quiet: bool) -> FittedRun:
    """Learn files as the options of a command say; leaves the process if a signal ends the run."""
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
            second_pass=passes == "auto",
        )
        try:
            _learn(run, signals, console)
        except TooManyFeatures as error:
            raise TooManyFeatures(f"{error} Pass more --memory, or a --method that takes less.") from None
        except Interrupted as signal:
            _interrupt(run, console)
            leave(128 + signal.number)
        except UnknownLabel as error:
            raise ValueError(label_text(error)) from None
    if run.stream.rows_bad:
        console.note(f"Skipped {counted(run.stream.rows_bad, 'bad row')}.")
    return FittedRun(run.model, run)


def method_choice(options: dict[str, Any], console: Console) -> MethodChoice:
    """What the options of `options.model`, which are removed, say about the model."""
    expand(options, console)
    errors = {name: options.pop(name, None) for name in ERRORS}
    return MethodChoice(
        **{name: options.pop(name) for name in FIELDS},
        **errors,
        missing=options["missing"],
        cluster=options.get("cluster"),
        console=console,
    )


def read_source(files: tuple[str, ...], options: dict[str, Any]) -> Source:
    """The source that the options of `options.stream` and `options.passing` describe."""
    missing = {"error": "error", "zero": "zero", "mean": "keep"}[options["missing"]]
    given = {name: value for name, value in options.items() if value is not None}
    if given.get("passes") == "auto":
        given["passes"] = 1
    return Source(files, {**given, "missing": missing})


def _learn(run: SourceRun, signals: Signals, console: Console) -> None:
    if run.checkpoint.resume and not _exists(run.checkpoint.file):
        console.note(f"There is no checkpoint {run.checkpoint.file} yet: beginning at the first row.")
    run.begin()
    if run.resumed:
        console.note(f"Resumed {run.checkpoint.file} after {counted(run.run.rows, 'row')}.")
    while not run.done:
        with meter_of(run, console.quiet) as meter:
            run.learn(meter, signals)
            if run.done:
                meter.count(run.run.rows)
        if not run.done:
            console.note(run.model.method.pass_note)


def meter_of(run: SourceRun, quiet: bool) -> ProgressMeter:
    """What shows the progress of a run."""
    return ProgressMeter(
        run.model.method_name.lower(), run.bytes_total(), run.bytes_read, quiet, run.run.rows
    )


def _exists(file: str | None) -> bool:
    import os

    return file is not None and os.path.exists(file)


def _interrupt(run: SourceRun, console: Console) -> None:
    file = run.checkpoint.file
    if file is None:
        console.note("Interrupted; without --checkpoint nothing is written.")
    elif not hasattr(run, "run") or not run.interrupt():
        console.note("Interrupted before a row was learned.")
    else:
        console.note(f"Interrupted after {counted(run.run.rows, 'row')}; --resume continues from {file}.")


def label_text(error: UnknownLabel) -> str:
    """What to do about a label that comes late."""
    labels = ",".join(map(str, [*error.classes, error.label]))
    return (
        f"After {counted(error.rows, 'row')} comes the label {error.label!s}, which the first rows did not "
        f"show; name all labels in --classes {labels}, or pass --task regression."
    )


def prepare_evaluation(
    files: tuple[str, ...], options: dict[str, Any], history: History, output: str | None, quiet: bool
) -> SourceRun:
    """A run that has made its model and learned nothing yet."""
    console = Console(quiet)
    choice = method_choice(options, console)
    choice.check()
    source = read_source(files, options)
    check_outputs(input_files(files), texts={"--output": output})
    run = SourceRun(source, choice, history=history, memory=choice.bytes_allowed)
    run.begin()
    return run
