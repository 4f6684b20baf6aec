"""Options that are short for `--set`: constraints on the weights, forgetting, shapes and pairs."""

from __future__ import annotations

from typing import Any

from ..methods import METHODS, method_class
from .messages import SHORTHANDS
from .output import Console


def expand(options: dict[str, Any], console: Console, *, choose: bool = True) -> None:
    """Put the shorthands among options into `settings`.

    Where `choose` is true and no method is named, the default among those on averages is chosen: the default
    of all methods has not these parameters.
    """
    given = {name: value for name in SHORTHANDS if (value := options.pop(name, None)) not in (None, False)}
    if not given:
        return
    options["settings"] = (*options["settings"], *(f"{name}={value!r}" for name, value in given.items()))
    if choose and options["method"] == "auto":
        on_averages = "olsth" if options["k"] in (None, "auto") else "ofsa"
        options["method"] = "sieve" if "effects" in given else on_averages
        option = "--" + next(iter(given)).replace("_", "-")
        console.note(f"Method: {options['method']}, which takes {option}. --help lists others.")


def able(name: str) -> str:
    """The methods that have a parameter."""
    return ", ".join(known.lower() for known in METHODS if name in method_class(known).params)
