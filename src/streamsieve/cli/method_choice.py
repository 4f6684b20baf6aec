"""The method that a command runs, with its parameters: from the options, or the default."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import click
import numpy as np

from ..core.method import Method
from ..core.params import ParamError, Parameter
from ..core.rows import unique_labels
from ..core.tasks import Classification, Regression, Task
from ..core.words import counted
from ..methods import METHODS, method_class
from ..statistics.folds import FOLDS
from ..training.model import Model
from ..training.source import as_labels
from ..training.trainer import machine_memory
from .messages import SHORTHANDS, option_name, setting_text
from .output import Console

_MOST_CLASSES = 20
_SORTED_ROWS = 100  # minimum number of labels to notice rows sorted by label

#: Methods by their name on the command line.
BY_NAME = {name.lower(): entry for name, entry in METHODS.items()}

#: Parameters that running averages depend on; a model extracted from them keeps these.
AVERAGED = ("decay", "half_life", "missing", "interactions", "dtype", "grow")

#: The options of `options.model`, which are fields of `MethodChoice`.
FIELDS = ("k", "method", "task", "classes", "settings", "memory")

#: The options of `options.errors` that are parameters of methods; also fields.
ERRORS = ("fdr", "se", "honest", "stability")


DEFAULT = "sieve"  # the method of --method auto


@dataclass(frozen=True)
class MethodChoice:
    """The options of the command line about the model."""

    k: int | str | None = None
    method: str = "auto"
    task: str = "auto"
    classes: list[str] | None = None
    settings: tuple[str, ...] = ()
    memory: int | None = None
    missing: str = "mean"
    fdr: float | None = None
    se: str | None = None
    honest: float | None = None
    stability: float | None = None
    cluster: str | None = None
    in_order: bool = False  # whether rows are predicted in order, so that the order matters for every method
    console: Console = field(default_factory=lambda: Console(True))

    def describe(self) -> dict[str, Any]:
        """Plain data for comparison: a resumed run must have the same."""
        return {
            "k": self.k,
            "method": self.method,
            "task": self.task,
            "classes": self.classes,
            "settings": list(self.settings),
            "missing": self.missing,
            **{name: value for name in ERRORS if (value := getattr(self, name)) is not None},
        }

    def check(self) -> None:
        """Raise UsageError for invalid options before a row is read."""
        self.check_errors()
        if self.method == "auto" and not self.settings:
            return
        name = DEFAULT if self.method == "auto" else self.method
        errors = []
        for task in method_entry(name).tasks if self.task == "auto" else [self.task]:
            try:
                self.make(name, task)
                return
            except click.UsageError as error:
                errors.append(error)
        raise errors[0]

    def check_errors(self) -> None:
        """Raise UsageError for options about errors that exclude each other."""
        if self.fdr is not None:
            if self.k is not None:
                raise click.UsageError("--fdr decides how many features are selected; leave -k out.")
            if self.method not in ("auto", "ols"):
                raise click.UsageError(
                    f"--fdr tests the weights of ols; leave --method {self.method} out, or pass --honest."
                )
        given = [f"--{name}" for name in ("fdr", "honest", "stability") if getattr(self, name) is not None]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} are ways to select; pass one of them.")
        if self.cluster is not None and self.se in ("classical", "hc1"):
            raise click.UsageError(f"--cluster needs --se folds or cluster; --se {self.se} has no folds.")

    def error_values(self) -> dict[str, Any]:
        """The parameters that the options about errors set."""
        values = {name: getattr(self, name) for name in ERRORS if getattr(self, name) is not None}
        if self.cluster is not None:
            values.setdefault("se", "folds")
        return values

    @property
    def bytes_allowed(self) -> int:
        return self.memory or machine_memory() // 4

    # ---------------------------------------------------------------- from the first rows

    def __call__(self, y: np.ndarray[Any, Any], p: int) -> Model:  # noqa: ARG002
        """The model for rows with these targets and p features."""
        task_name = self._task_name(y)
        task: Task = Regression()
        if task_name == "classification":
            task = self._classification(y)
        name = self._method_name(task_name)
        method = self.make(name, task_name)
        if isinstance(task, Classification):
            if self.in_order or not method.extracts:
                self._note_order(y)
        else:
            self._note_targets(y)
        return Model(method, task_name, task)

    def _task_name(self, y: np.ndarray[Any, Any]) -> str:
        if self.task != "auto":
            return self.task
        if self.classes:
            return "classification"
        if y.dtype.kind in "USO":
            self.console.note(f"Classification: the target holds words ({_some(np.unique(y))}).")
            return "classification"
        found = unique_labels(y)
        whole = np.array_equal(found, np.round(found))
        numbered = whole and _are_numbered(y, found)
        # labels with three or more values start at 0 or 1, as scores and counts often do not, and every fold
        # has some of each
        frequent = whole and len(y) >= FOLDS * len(found)
        labels = len(found) == 2 or (frequent and found[0] in (-1, 0, 1))
        few = whole and 1 < len(found) <= _MOST_CLASSES and labels
        if numbered or few:
            why = "numbered and about equally frequent" if numbered else f"up to {_MOST_CLASSES}"
            self.console.note(
                f"Classification: the first {len(y):,} targets are {len(found)} whole numbers "
                f"({_some(found)}); {why} are read as labels. Pass --task regression to read them as numbers."
            )
            return "classification"
        other = " Pass --task classification to read them as labels." if frequent else ""
        self.console.note(f"Regression: the target holds numbers ({_some(found)}).{other}")
        return "regression"

    def _classification(self, y: np.ndarray[Any, Any]) -> Classification:
        labels = as_labels(y)
        if self.classes:
            try:
                labels = (
                    np.array(self.classes).astype(np.float64)
                    if y.dtype.kind == "f"
                    else np.array(self.classes)
                )
            except ValueError:
                raise click.UsageError(
                    f"--classes {','.join(self.classes)}: the target holds {_some(unique_labels(y))}."
                ) from None
            labels = as_labels(labels)
        found = unique_labels(labels)
        if len(found) < 2:
            named = (
                "--classes has" if self.classes else f"In the first {counted(len(y), 'row')} the target has"
            )
            raise click.UsageError(f"{named} one label only ({found[0]}); name all labels in --classes.")
        return Classification(found)

    def _method_name(self, task_name: str) -> str:
        """The method as asked for, or the default."""
        if self.method != "auto":
            return self.method
        values = self.error_values()
        if self.fdr is not None:
            self.console.note("Method: ols, whose p-values --fdr uses.")
            return "ols"
        on_averages: list[str] = [name for name in ("honest", "stability") if name in values]
        if values.get("se") not in (None, "classical", *(["folds"] if task_name == "classification" else [])):
            on_averages.append("se")
        if self.cluster is not None or on_averages:
            name = self.averages_method()
            option = "--cluster" if not on_averages else f"--{on_averages[0]}"
            self.console.note(f"Method: {name}, on averages, which {option} needs.")
            return name
        by = "" if self.k not in (None, "auto") else ", which chooses k"
        self.console.note(f"Method: {DEFAULT}{by}. --help lists others.")
        return DEFAULT

    def averages_method(self) -> str:
        """The default among the methods on averages."""
        return "olsth" if self.k in (None, "auto") else "ofsa"

    def _note_targets(self, y: np.ndarray[Any, Any]) -> None:
        """Print a note if the target is constant."""
        y = np.asarray(y, dtype=np.float64)
        if len(y) > 1 and (y == y[0]).all():
            self.console.note(f"The first {len(y):,} targets are all {y[0]:,g}: there is nothing to predict.")

    def _note_order(self, y: np.ndarray[Any, Any]) -> None:
        changes = int(np.count_nonzero(y[1:] != y[:-1]))
        if len(y) >= _SORTED_ROWS and changes < 2 * len(np.unique(y)):
            self.console.note(
                f"The first {len(y):,} rows are sorted by label. Learning or testing row by row then just "
                "repeats the label of the row before; pass --shuffle-buffer to shuffle them."
            )

    # ---------------------------------------------------------------- the method

    def make(self, name: str, task_name: str, like: Method | None = None) -> Method:
        """The method with the parameters that the options set; UsageError for wrong ones.

        If `like` is given, parameters that its averages depend on are taken from it.
        """
        entry = method_entry(name)
        if task_name not in entry.tasks:
            raise click.UsageError(f"--method {name} is for {entry.tasks[0]} only, and this is {task_name}.")
        cls = method_class(name)
        params = cls.parameters(task_name)
        values = self._settings(name, params)
        values.setdefault("loss", cls.losses[task_name][0])
        if like is not None:
            values |= {name: getattr(like, name) for name in AVERAGED}
            if "se" in params and hasattr(like, "se"):
                values.setdefault("se", like.se)
        values |= self._error_values(name, params)
        if "k" in params:
            if self.k is not None:
                values["k"] = self.k
            elif self.method == "auto" and type(like) is cls:
                values["k"] = getattr(like, "k")  # noqa: B009 - methods that select have it
            elif type(params["k"].default) is int:
                raise click.UsageError(f"--method {name} needs -k, the number of features to keep.")
        elif self.k is not None:
            raise click.UsageError(f"--method {name} keeps all features; leave -k out.")
        if self.missing == "keep" and like is None:
            if "missing" not in params:
                raise click.UsageError(
                    f"--missing keep: {name} does not take missing values; pass mean, or another method."
                )
            values.setdefault("missing", "mean" if values.get("effects", "linear") == "linear" else "auto")
        if "grow" in params:
            values.setdefault("grow", values.get("se") != "hc1")  # fourth moments do not grow
        if "memory" in params and self.memory is not None:
            values.setdefault("memory", self.memory)
        try:
            made: Method = cls(**values)
        except ParamError as error:
            raise click.UsageError(setting_text(name, error)) from None
        return made

    def _error_values(self, method: str, params: dict[str, Parameter]) -> dict[str, Any]:
        values = self.error_values()
        for name, value in values.items():
            if name not in params:
                able = ", ".join(known for known, entry in BY_NAME.items() if name in entry.load().params)
                raise click.UsageError(f"--{name} is not for --method {method}; it is for {able}.")
            try:
                params[name].check(name, value)
            except ParamError as error:
                raise click.UsageError(f"--{name} {value}: {method} {error.expected}") from None
        return values

    def _settings(self, method: str, params: dict[str, Parameter]) -> dict[str, Any]:
        names = [name for name in params if name not in ("k", "missing")]
        values = {}
        for setting in self.settings:
            name, _, text = setting.partition("=")
            if name in SHORTHANDS and name not in names:
                raise click.UsageError(
                    f"{option_name(name)}: {method} does not take it; pass --method with one of {able(name)}."
                )
            if name not in names or not text:
                raise click.UsageError(
                    f"--set {setting}: expected NAME=VALUE, with NAME one of {', '.join(names)} for {method}."
                )
            try:
                values[name] = params[name].check(name, parse_value(text))
            except ParamError as error:
                raise click.UsageError(setting_text(method, error)) from None
        return values


def method_entry(name: str) -> Any:
    if name not in BY_NAME:
        raise click.UsageError(
            f"--method {name}: there is no such method; pass auto or one of {', '.join(BY_NAME)}."
        )
    return BY_NAME[name]


def parse_value(text: str) -> Any:
    """A number, true, false, none or a word."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _some(found: Sequence[Any] | np.ndarray[Any, Any]) -> str:
    shown = [f"{v:g}" if isinstance(v, float) else str(v) for v in list(found[:3])]
    return ", ".join(shown) + (", ..." if len(found) > 3 else "")


def _are_numbered(y: np.ndarray[Any, Any], found: np.ndarray[Any, Any]) -> bool:
    """Whether targets look like numbered classes: from 0 or 1 to m, all frequent, none dominant.

    Counts and ages start elsewhere, skip numbers, or get rare towards one end.
    """
    if not (found[0] in (0, 1) and len(found) == found[-1] - found[0] + 1 and len(y) >= 10 * len(found)):
        return False
    counts = np.bincount((y - found[0]).astype(np.int64))
    return bool(len(found) > _MOST_CLASSES and counts.max() <= 4 * counts.min())


# ---------------------------------------------------------------- options that are short for --set


def expand(options: dict[str, Any], console: Console, *, choose: bool = True) -> None:
    """Put the shorthands among options into `settings`.

    If `choose` is true and no method is named, --half-life chooses the default among those on averages, which
    forget rows with any loss and adapt the half-life.
    """
    given = {name: value for name in SHORTHANDS if (value := options.pop(name, None)) not in (None, False)}
    if not given:
        return
    options["settings"] = (*options["settings"], *(f"{name}={value!r}" for name, value in given.items()))
    if choose and options["method"] == "auto" and "half_life" in given:
        options["method"] = "olsth" if options["k"] in (None, "auto") else "ofsa"
        console.note(f"Method: {options['method']}, which forgets. --help lists others.")


def able(name: str) -> str:
    """The methods that have a parameter."""
    return ", ".join(known.lower() for known in METHODS if name in method_class(known).params)
