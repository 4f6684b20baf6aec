"""Docstrings are written to be read in Python; what reStructuredText would misread is escaped here."""

import re
from typing import Any

LITERAL = re.compile(r"(``.*?``|`[^`]*`(?:__?)?|\*\*.*?\*\*|:\w+:`[^`]*`)")


def escape(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Escape bars, |x|, and names that end in an underscore, outside of code."""
    block: int | None = None  # indentation of the line that a literal block follows
    for i, line in enumerate(lines):
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if block is not None and text and indent <= block:
            block = None
        if block is not None or text.startswith((">>>", "...", "..", ":")):
            continue
        lines[i] = "".join(part if i % 2 else _plain(part) for i, part in enumerate(LITERAL.split(line)))
        if text.endswith("::"):
            block = indent


def _plain(text: str) -> str:
    return re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", text.replace("|", "\\|"))
