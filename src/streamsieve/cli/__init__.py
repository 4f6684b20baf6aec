"""The command line: `streamsieve VERB`. Verbs are loaded when called, so that --help is instant."""

from __future__ import annotations

import os
import re
import sys
import warnings
from importlib import import_module
from typing import Any

import click

VERBS = {
    "select": "Select the features that matter in a stream of rows.",
    "fit": "Learn a model from a stream of rows and write it to a file.",
    "path": "Compare models of every size, by AIC, BIC and EBIC, from one pass.",
    "predict": "Predict the rows of a stream.",
    "evaluate": "Test, then train: measure how well each row is predicted before it is learned.",
    "compare": "Compare several methods on held-out rows.",
    "export": "Write a model as SQL, C, JSON or ONNX, for use without Python.",
    "merge": "Merge the running averages of models fitted on different machines.",
    "inspect": "Show what a model or checkpoint holds.",
    "report": "Write a page about a model, to read in a browser.",
    "watch": "Show a running fit in the browser, on this machine only.",
    "demo": "Simulate a stream, select features, compare them with the truth.",
}

#: Exit codes of exceptions, by the name of their class, so that nothing is imported to look them up.
CODES = {"BadData": 3, "UnitError": 3, "CheckpointError": 4, "PartError": 4}
FAILURES = (ValueError, OSError, MemoryError, ImportError)


class Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in VERBS:
            return None
        command: click.Command = import_module(f".{name}", __name__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:  # the reader of our output has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python raises when it flushes at the end
            ctx.exit(0)
        except KeyboardInterrupt as signal:
            from .output import leave

            click.echo("Interrupted.", err=True)
            leave(128 + getattr(signal, "number", 2))
        except FAILURES as error:
            from .messages import error_text, usage_text

            name = ctx.invoked_subcommand or ""
            names = [kind.__name__ for kind in type(error).__mro__]
            if "ParamError" in names:
                raise click.UsageError(usage_text(error)) from None
            code = next((CODES[name] for name in names if name in CODES), 1)
            click.echo(f"Error: {error_text(error, import_module(f'.{name}', __name__).command)}", err=True)
            ctx.exit(code)


@click.command(
    cls=Verbs,
    help="Select the k features that matter in data too large for memory.",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='Shell completion: eval "$(_STREAMSIEVE_COMPLETE=bash_source streamsieve)", or zsh_source, '
    "fish_source. Exit codes: 0 success, 1 failure, 2 usage, 3 bad data, 4 damaged or incompatible "
    "checkpoint, 130 and 143 interrupted.",
)
@click.version_option(package_name="streamsieve")
def main() -> None:
    """Run a verb. Help texts are arguments, not docstrings: `python -OO` drops these."""


def program() -> None:
    """The command `streamsieve`: a process of its own."""
    open_standard_streams()
    warnings.showwarning = show_warning
    main()


#: Warnings that were shown, without their numbers.
_SHOWN: set[str] = set()


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning of the library as a sentence, once, without the line of code that raised it."""
    from ..core.words import printable

    text = printable(str(message))
    # a stream with many far values would print as many warnings; numbers within names stay
    what = re.sub(r"(?<![\w'])[-\d.,]+", "", text)
    if what not in _SHOWN:
        _SHOWN.add(what)
        click.echo(f"Warning: {text}", err=True)


def open_standard_streams() -> None:
    """Replace closed standard streams by empty ones, and escape characters that their encoding lacks."""
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:  # else the next opened file would get its descriptor
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
