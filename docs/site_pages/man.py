"""The manual page, from the click commands themselves: `python -m docs.site_pages.man streamsieve.1`."""

import sys
from pathlib import Path

import click

import streamsieve
from streamsieve.cli import VERBS, main

from .commands import paragraphs


def page() -> str:
    context = click.Context(main, info_name="streamsieve")
    lines = [f'.TH STREAMSIEVE 1 "" "streamsieve {streamsieve.__version__}"', ".SH NAME"]
    lines += ["streamsieve \\- " + escape((main.help or "").strip()), ".SH SYNOPSIS"]
    lines += ["\\fBstreamsieve\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]", ".SH VERBS"]
    for verb, text in VERBS.items():
        lines += [".TP", f"\\fB{verb}\\fR", escape(text)]
    for verb in VERBS:
        command = main.get_command(context, verb)
        assert command is not None
        lines += section(verb, command)
    return "\n".join([*lines, ".SH NOTES", escape(" ".join((main.epilog or "").split())), ""])


def section(verb: str, command: click.Command) -> list[str]:
    context = click.Context(command, info_name=f"streamsieve {verb}")
    lines = [f".SH {verb.upper()}", escape(command.get_usage(context).removeprefix("Usage: "))]
    for text, verbatim in paragraphs(command):
        lines += [".PP", *([".nf", escape(text), ".fi"] if verbatim else [escape(text)])]
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None:
            lines += [".TP", f"\\fB{escape(record[0])}\\fR", escape(" ".join(record[1].split()))]
    return lines


def escape(text: str) -> str:
    """Text as roff reads it: no line may begin with a dot or quote, and a minus is not a hyphen."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
