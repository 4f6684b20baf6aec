"""Which estimator a command asks for, and, where it leaves that open, which one it gets and why."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import click
import numpy as np

import streamsieve

from .._input import different
from ._output import Say, size

_KINDS = {"regression": "Regressor", "classification": "Classifier"}
_MOST_CLASSES = 20
_COPIES = 4  # of the p^2 averages, while a model is extracted from them


def methods() -> dict[str, list[str]]:
    """Stems of the estimators, in lower case, and the tasks they have."""
    table: dict[str, list[str]] = {}
    for task, kind in _KINDS.items():
        for name in streamsieve.__all__:
            if name.endswith(kind):
                table.setdefault(name.removesuffix(kind).lower(), []).append(task)
    return table


def estimator_class(method: str, task: str) -> Any:
    known = methods()
    if method not in known:
        raise click.UsageError(
            f"--method {method}: there is none of that name; pass auto or one of {', '.join(known)}."
        )
    if task not in known[method]:
        raise click.UsageError(f"--method {method} is for {known[method][0]} only, and this is {task}.")
    names = [name for name in streamsieve.__all__ if name.lower() == method + _KINDS[task].lower()]
    return getattr(streamsieve, names[0])


#: The options of `_options.model`: fields of `Ask`.
ASKED = ("k", "method", "task", "classes", "settings", "memory")


@dataclass(frozen=True)
class Ask:
    """What the command line says about the model."""

    k: int | str | None = None
    method: str = "auto"
    task: str = "auto"
    classes: list[str] | None = None
    settings: tuple[str, ...] = ()
    memory: int | None = None
    missing: str = "error"
    instead: str | None = None  # of auto, once its first choice has failed

    def told(self) -> dict[str, Any]:
        """What a checkpoint keeps of it: a run that is resumed must ask for the same."""
        return {
            "k": self.k,
            "method": self.method,
            "task": self.task,
            "classes": self.classes,
            "settings": list(self.settings),
            "missing": self.missing,
        }

    def check(self) -> None:
        """Refuse what can be refused before a row is read."""
        if self.method == "auto":
            if self.settings:
                raise click.UsageError("--set needs a --method whose parameters they are.")
            return
        tasks = methods().get(self.method, ["regression"]) if self.task == "auto" else [self.task]
        kind = estimator_class(self.method, tasks[0])
        names = {f.name for f in fields(kind)}
        _made(self.method, kind, self._parameters(kind))
        if self.k is not None and "k" not in names:
            raise click.UsageError(f"--method {self.method} keeps all features; leave -k out.")
        if self.missing == "mean" and "missing" not in names:
            raise click.UsageError(
                f"--missing mean: {self.method} has no means to impute; pass zero, or another method."
            )

    # ---------------------------------------------------------------- what to learn

    def see_task(self, y: np.ndarray[Any, Any], say: Say) -> str:
        """Regression or classification, from the targets of the first rows."""
        if self.task != "auto":
            return self.task
        if self.classes:
            return "classification"
        if y.dtype.kind in "USO":
            found = np.unique(y)
            say(f"Classification: the target holds words ({_some(found)}).")
            return "classification"
        found = different(y)
        if len(found) <= _MOST_CLASSES and np.array_equal(found, np.round(found)) and len(found) > 1:
            say(
                f"Classification: the first {len(y):,} targets are {len(found)} whole numbers "
                f"({_some(found)}), and up to {_MOST_CLASSES} are taken for labels. --task regression says "
                "otherwise."
            )
            return "classification"
        say(f"Regression: the target holds numbers ({_some(found)}).")
        return "regression"

    def see_classes(self, y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if self.classes:
            return different(as_labels(np.array(self.classes), like=y))
        return different(as_labels(y))

    # ---------------------------------------------------------------- by what

    def limit(self) -> int:
        """The most features whose averages fit the memory."""
        memory = self.memory or _machine() // 4
        return int((memory / (8 * _COPIES)) ** 0.5) - 2

    def choose(self, p: int, say: Say) -> str:
        """The method: as asked, or, for auto, by what fits the memory."""
        if self.instead is not None or self.method != "auto":
            return self.instead or self.method
        need, memory = 8 * _COPIES * (p + 2) ** 2, self.memory or _machine() // 4
        if p <= self.limit():
            method = "olsth" if self.k in (None, "auto") else "ofsa"
            by = ", k by BIC" if method == "olsth" else ""
            say(
                f"Method: {method}, on running averages{by}: of {p:,} features they take {size(need)}, and "
                f"--memory allows {size(memory)}."
            )
            return method
        if self.k in (None, "auto"):
            raise click.UsageError(
                f"-k is needed: the averages of {p:,} features, from which to choose it, would take "
                f"{size(need)}, more than the {size(memory)} of --memory."
            )
        say(
            f"Method: sfsa, row by row: running averages of {p:,} features would take {size(need)}, and "
            f"--memory allows {size(memory)}."
        )
        return "sfsa"

    def build(self, method: str, task: str) -> Any:
        kind = estimator_class(method, task)
        names = {f.name: f for f in fields(kind)}
        options = self._parameters(kind)
        if "k" in names:
            if self.k is not None:
                options["k"] = self.k
            elif type(names["k"].default) is int:
                raise click.UsageError(f"--method {method} needs -k, the number of features to keep.")
        if self.k is not None and "k" not in names:
            raise click.UsageError(f"--method {method} keeps all features; leave -k out.")
        if self.missing == "mean":
            options["missing"] = "mean"
        if "grow" in names:
            options.setdefault("grow", True)
        return _made(method, kind, options)

    def _parameters(self, kind: Any) -> dict[str, Any]:
        names = [f.name for f in fields(kind) if f.name != "k"]
        options = {}
        for setting in self.settings:
            name, _, value = setting.partition("=")
            if name not in names or not value:
                raise click.UsageError(
                    f"--set {setting}: pass NAME=VALUE, NAME one of {', '.join(names)} for this method."
                )
            try:
                options[name] = ast.literal_eval(value)
            except (ValueError, SyntaxError):
                options[name] = {"true": True, "false": False, "none": None}.get(value.lower(), value)
        return options


def _made(method: str, kind: Any, options: dict[str, Any]) -> Any:
    """The estimator, or a usage error about its parameters."""
    try:
        model = kind(**options)
        model._check_params()
    except (ValueError, TypeError) as error:
        raise click.UsageError(f"--method {method}: {error}") from None
    return model


def as_labels(y: np.ndarray[Any, Any], like: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
    """Labels as they are written: whole numbers as integers, words as words."""
    if like is not None and like.dtype.kind == "f":
        y = y.astype(np.float64)
    if y.dtype.kind == "f" and np.array_equal(y, np.round(y)):
        return y.astype(np.int64)
    return y


def _machine() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _some(found: Sequence[Any] | np.ndarray[Any, Any]) -> str:
    shown = [f"{v:g}" if isinstance(v, float) else str(v) for v in list(found[:3])]
    return ", ".join(shown) + (", ..." if len(found) > 3 else "")
