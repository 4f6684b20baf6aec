"""One page a method: its docstring's summary, when to use it, its paper, its cost, its parameters."""

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

from streamsieve.methods import METHODS

from .files import write_pages


def notes(here: Path) -> dict[str, Any]:
    """The hand-written part."""
    return tomllib.loads((here / "methods.toml").read_text(encoding="utf-8"))


def write(here: Path) -> None:
    known = notes(here)
    pages = {f"{name}.md": page(name, known) for name in METHODS}
    write_pages(here / "methods", pages | {"index.md": index(known)})


def paper_text(text: str, papers: dict[str, str]) -> str:
    """A reference with the papers in brackets spelled out, so that the search finds their titles."""
    named = [key for key in papers if f"[{key}]" in text]
    return "\n".join([text.replace("[", "\\[") if named else text, *(f"\n{papers[key]}." for key in named)])


def index(known: dict[str, Any]) -> str:
    lines = ["# Methods", "", "**Start with [Sieve](Sieve.md).** If you need something else,"]
    lines += [
        "[which method?](../choosing.md) asks three questions, and [a table](../support.md) lists what each"
    ]
    lines += ["method supports.", ""]
    for family, about in known["families"].items():
        entries = [entry for entry in METHODS.values() if entry.family == family]
        lines += [f"## {about['title']}", "", about["text"], "", "| method | what it does |", "|---|---|"]
        lines += [f"| [{entry.name}]({entry.name}.md) | {summary(entry.load())} |" for entry in entries]
        lines += ["", "```{toctree}", ":hidden:", f":caption: {about['title']}", ""]
        lines += [sidebar(entry.name, known[entry.name]) for entry in entries]
        lines += ["```", ""]
    return "\n".join(lines)


def sidebar(name: str, note: dict[str, Any]) -> str:
    """An entry of the sidebar: the method and a few words about it."""
    return f"{name} ({note['line']}) <{name}>" if "line" in note else name


def summary(method: Any) -> str:
    """The first line of a method's docstring, for a table."""
    return markdown(inspect.cleandoc(method.__doc__).split("\n\n")[0].replace("\n", " ")).replace("|", "\\|")


def markdown(text: str) -> str:
    """Prose of a docstring as Markdown."""
    text = text.replace("``", "`")
    return re.sub(r"(?<!`)\[(\w+)\](?!\()", r"\\[\1]", text)


def page(name: str, known: dict[str, Any]) -> str:
    entry, note = METHODS[name], known[name]
    method = entry.load()
    about = inspect.cleandoc(method.__doc__).split("\nNotes\n-----\n")[0]
    command = f"streamsieve select rows.svm --method {name.lower()}" + (
        " -k 20" if "k" in method.params else ""
    )
    lines = [f"# {name}", "", markdown(about), "", "## When to use it", ""]
    lines += [f"- {line}" for line in note["use"]]
    lines += ["", "## When not", ""]
    lines += [f"- {line}" for line in note["avoid"]]
    lines += ["", "## Paper", "", paper_text(note["paper"], known["papers"]), "", "## Cost", "", note["cost"]]
    lines += ["", "## Use", "", "In Python:", ""]
    lines += [f"- {task}: [`{kind}`](../api/{kind}.rst)" for task, kind in entry.estimators.items()]
    if entry.family == "averages":
        lines += [f"- from averages: [`extract.{name.lower()}`](../api/extract.{name.lower()}.rst)"]
    lines += ["", "On the command line:", "", "```text", command, "```", ""]
    lines += ["## Parameters", "", "| parameter | meaning |", "|---|---|"]
    for param, declared in sorted(method.params.items(), key=lambda item: item[0] != "k"):
        values = f"{declared.text} *Values: {declared.domain}; default `{declared.default!r}`.*"
        cells = (f"`{param}`", values)
        lines.append("| " + " | ".join(markdown(cell).replace("|", "\\|") for cell in cells) + " |")
    lines += [
        "",
        "Losses: " + "; ".join(f"{task}: {', '.join(kinds)}" for task, kinds in _losses(method)) + ".",
        "",
    ]
    return "\n".join(lines)


def _losses(method: Any) -> list[tuple[str, Any]]:
    return [(task, kinds) for task, kinds in method.losses.items() if kinds]
