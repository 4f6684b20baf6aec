"""The command line, from the click commands themselves."""

from pathlib import Path

import click

from streamsieve.cli import VERBS, main


def write(here: Path) -> None:
    file, text = here / "commands.md", page()
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def page() -> str:
    context = click.Context(main, info_name="streamsieve")
    lines = ["# Command line", "", sentence(main.help or ""), "", "| verb | |", "|---|---|"]
    lines += [f"| [`{verb}`](#{verb}) | {text} |" for verb, text in VERBS.items()]
    lines += ["", (main.epilog or ""), ""]
    for verb in VERBS:
        command = main.get_command(context, verb)
        assert command is not None
        lines += section(verb, command, click.Context(command, info_name=f"streamsieve {verb}", parent=None))
    return "\n".join(lines)


def section(verb: str, command: click.Command, context: click.Context) -> list[str]:
    usage = command.get_usage(context).removeprefix("Usage: ")
    lines = [f"## {verb}", "", "```text", usage, "```", ""]
    for text, verbatim in paragraphs(command):
        lines += ["```text", text, "```", ""] if verbatim else [text, ""]
    lines += ["| option | |", "|---|---|"]
    shown = ""
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is None:
            continue
        title = getattr(param, "section", "")
        if title and title != shown:
            lines.append(f"| **{title}** | |")
            shown = title
        option, text = (cell.replace("|", "\\|").replace("\n", " ") for cell in record)
        lines.append(f"| `{option}` | {text.replace('`', '')} |")
    return [*lines, ""]


def paragraphs(command: click.Command) -> list[tuple[str, bool]]:
    """The paragraphs of a help text, and whether their lines are to stay as they are (click's ``\\b``)."""
    found = (command.help or "").strip().split("\n\n")
    return [
        (one.split("\n", 1)[1], True) if one.startswith("\b\n") else (sentence(one), False) for one in found
    ]


def sentence(text: str) -> str:
    """Help text with its line breaks removed."""
    return " ".join(text.split())
