"""From the options of a command to a model that has learned its rows."""

from __future__ import annotations

from typing import Any

from ._learn import Keep, Learned, Source, learn, source_of
from ._methods import ASKED, Ask
from ._output import Say

_KEEP = ("checkpoint", "every", "resume")


def learned(files: tuple[str, ...], told: dict[str, Any], quiet: bool) -> tuple[Source, Learned]:
    """Learn `files` as the options say; also where they come from."""
    ask = Ask(**{name: told.pop(name) for name in ASKED}, missing=told["missing"])
    file, every, resume = (told.pop(name) for name in _KEEP)
    source = source_of(files, told)
    return source, learn(source, ask, Keep(file, every, resume), Say(quiet))
