"""The command line: `streamsieve VERB`. Verbs are loaded when called, so that --help is instant."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from .. import _light

VERBS = {
    "select": "The features that matter in a stream of rows.",
    "fit": "Learn a model from a stream of rows and write it to a file.",
    "path": "Models of every size, with AIC, BIC and EBIC, from one pass.",
    "predict": "Predict the rows of a stream.",
    "evaluate": "Test, then train: how well a stream is predicted as it goes by.",
    "merge": "Add up the running averages of models fitted on different machines.",
    "inspect": "Show what a model or checkpoint holds.",
    "report": "A page about a model, to read in a browser.",
    "demo": "Simulate a stream with a known truth, select features on it, show what was found.",
}

#: Exit codes of exceptions, by the name of their class: to look at a name nothing need be imported.
CODES = {"BadData": 3, "CheckpointError": 4}
FAILURES = (ValueError, OSError, MemoryError, ImportError)


#: What the library's messages call its parameters, and what they are here.
_SAID = {
    "missing='keep' or 'zero'": "--missing mean or --missing zero",
    "categories='onehot' to encode or 'drop'": "--categories onehot to encode or --categories drop",
    "a larger max_categories": "a larger --max-categories",
    "on_bad_row='skip'": "--on-bad-row skip",
    "(drop)": "(--drop)",
    "zero_based=True": "--zero-based",
    "pass format=": "pass --format",
    "categorical=": "--categorical",
    "passes=": "--passes ",
    "target=": "--target ",
}


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
        except BrokenPipeError:  # whoever read our output has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python complains when it flushes at the end
            ctx.exit(0)
        except KeyboardInterrupt:
            from ._output import leave

            click.echo("Stopped.", err=True)
            leave(130)
        except FAILURES as error:
            names = [kind.__name__ for kind in type(error).__mro__]
            code = next((CODES[name] for name in names if name in CODES), 1)
            click.echo(f"Error: {_words(error)}", err=True)
            ctx.exit(code)


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    text = str(error) or type(error).__name__
    for python, option in _SAID.items():
        text = text.replace(python, option)
    return text


@click.command(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='Completion in your shell: eval "$(_STREAMSIEVE_COMPLETE=bash_source streamsieve)", or '
    "zsh_source, fish_source. Exit codes: 0 well, 1 failure, 2 usage, 3 bad data, 4 damaged or "
    "incompatible checkpoint, 130 and 143 interrupted.",
)
@click.version_option(package_name="streamsieve")
def main() -> None:
    """Pick the k features that matter out of a stream too large to hold."""


def program() -> None:
    """The command `streamsieve`: a process of its own, which need not load scikit-learn."""
    _light.wanted = True
    main()
