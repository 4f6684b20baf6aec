"""A page for every public name, and an index of them."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import streamsieve
from streamsieve.methods import ESTIMATORS, METHODS

from .files import write_pages

MODULES = tuple(streamsieve._MODULES)
#: Sections of the index for names that are not estimators.
GROUPS = {
    "Streams": ("read", "simulate"),
    "Running averages": ("RunningAverages", "FoldAverages", "AveragesBank", "LinearModel", "extract"),
    "Paths and cross-validation": ("Path", "path", "CrossValidation", "cross_validate"),
    "Inference": ("inference", "FourthMoments"),
    "Clusters": ("distributed", "dask"),
    "Evaluation": ("prequential", "Prequential", "metrics"),
    "Files": ("save", "load", "read_checkpoint", "Checkpoint", "CheckpointError", "export"),
    "Displays": (
        "PathDisplay",
        "SelectionDisplay",
        "PrequentialDisplay",
        "StabilityDisplay",
        "CalibrationDisplay",
        "ConfusionDisplay",
    ),
}


def public_names() -> Iterator[str]:
    """Every public name, those of public modules with their module."""
    for name in streamsieve.__all__:
        if name in MODULES:
            module = getattr(streamsieve, name)
            yield from (f"{name}.{member}" for member in module_names(module))
        elif name != "__version__":
            yield name


def module_names(module: Any) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def write(here: Path) -> None:
    names = list(public_names())
    write_pages(here / "api", {f"{name}.rst": page(name) for name in names} | {"index.md": index(names)})


def resolve(name: str) -> Any:
    value: Any = streamsieve
    for part in name.split("."):
        value = getattr(value, part)
    return value


def page(name: str) -> str:
    value = resolve(name)
    title = f"{name}\n{'=' * len(name)}\n\n"
    if inspect.isclass(value):
        body = f".. autoclass:: streamsieve.{name}\n"
        members = own_members(value)
        if members:
            body += f"   :members: {', '.join(members)}\n"
        if name in ESTIMATORS:
            entry = ESTIMATORS[name][0].name
            body += f"\nThe method, when to use it and when not: :doc:`/methods/{entry}`. "
            body += (
                "From scikit-learn: ``score``, ``get_support``, ``inverse_transform``, ``fit_transform``, "
            )
            body += "``set_output``, ``get_params``, ``set_params``.\n"
    elif callable(value):
        body = f".. autofunction:: streamsieve.{name}\n"
    else:
        body = f".. autodata:: streamsieve.{name}\n"
    return title + body


def own_members(cls: Any) -> list[str]:
    """Documented public methods and properties that this library defines, in order."""
    found: dict[str, None] = {}
    for base in cls.__mro__:
        if not base.__module__.startswith("streamsieve"):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name.endswith("_") or not getattr(value, "__doc__", None):
                continue
            if (
                inspect.isfunction(value)
                or isinstance(value, (classmethod, staticmethod, property))
                or (hasattr(value, "fn") and hasattr(cls, name))
            ):
                found[name] = None
    return list(found)


def index(names: list[str]) -> str:
    lines = ["# API", "", "Every public name. Import them from `streamsieve`.", ""]
    toc = ["```{toctree}", ":hidden:", ""]
    lines += ["## Estimators", ""]
    lines += ["| method | regression | classification |", "|---|---|---|"]
    for entry in METHODS.values():
        cells = [entry.estimators.get(task) for task in ("regression", "classification")]
        linked = [f"[`{kind}`]({kind}.rst)" if kind else "" for kind in cells]
        lines.append(f"| [{entry.name}](../methods/{entry.name}.md) | {' | '.join(linked)} |")
    toc += [kind for kind in ESTIMATORS]
    for group, heads in GROUPS.items():
        chosen = [name for name in names if name.split(".")[0] in heads]
        if chosen:
            lines += ["", f"## {group}", "", "| | |", "|---|---|"]
            lines += [f"| [`{name}`]({name}.rst) | {first_line(resolve(name))} |" for name in chosen]
            toc += chosen
    heads = {head for group in GROUPS.values() for head in group}
    others = [name for name in names if name not in ESTIMATORS and name.split(".")[0] not in heads]
    if others:
        lines += ["", "## Others", "", "| | |", "|---|---|"]
        lines += [f"| [`{name}`]({name}.rst) | {first_line(resolve(name))} |" for name in others]
        toc += others
    return "\n".join([*lines, "", *toc, "```", ""])


def first_line(value: Any) -> str:
    from .methods import markdown

    text = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return markdown(text).replace("|", "\\|")
