"""Errors of the library, with the names of options in place of parameters."""

from __future__ import annotations

from typing import Any

import click

from ..core.words import printable

#: Options that are short for --set.
SHORTHANDS = ("keep", "positive", "group_categories", "half_life", "effects", "criterion")
#: Options whose name differs from that of the parameter.
_OPTIONS = {"k": "-k", "n_features": "--features", "random_state": "--seed", "settings": "--set"}


def option_name(name: str) -> str:
    """The option of a parameter of streams and runs."""
    return _OPTIONS.get(name, "--" + name.replace("_", "-"))


def assignment(name: str, value: Any) -> str:
    """A parameter and its value as they are written on the command line; None for no value."""
    if value is None or value is True:
        return option_name(name)
    if value is False:
        return "--no-" + option_name(name).removeprefix("--")
    return f"{option_name(name)} {value}"


def usage_text(error: Any) -> str:
    """A `ParamError` of an option."""
    if error.value is None:
        return printable(f"{option_name(error.name)}: {error.expected}")
    value = ",".join(map(str, error.value)) if isinstance(error.value, list | tuple) else error.value
    return printable(f"{assignment(error.name, value)}: {error.expected}")


def setting_text(method: str, error: Any) -> str:
    """A `ParamError` of a parameter of a method."""
    option = f"-k {error.value}" if error.name == "k" else f"--set {error.name}={error.value}"
    if error.name in ("missing", "memory", "fdr", "se", "honest", "stability"):
        option = f"--{error.name} {error.value}"
    if error.name in SHORTHANDS:
        value = error.value
        option = assignment(error.name, ",".join(map(str, value)) if isinstance(value, list) else value)
    return printable(f"--method {method} {option}: {error.expected}")


def error_text(error: BaseException, command: click.Command) -> str:
    """What went wrong and, if an option of the command helps, what to do."""
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    elif getattr(error, "advice", None) is not None:
        advice: Any = error.advice  # type: ignore[attr-defined]
        known = {parameter.name for parameter in command.params}
        helps = all(name in known for name, _ in advice.params)
        text = error.message(advice.render(assignment) if helps else "")  # type: ignore[attr-defined]
    else:
        text = str(error) or type(error).__name__
    return printable(text, newlines=True)
