"""A page for every public name, and an index of them."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import streamsieve
from streamsieve.methods import ESTIMATORS, METHODS

from .files import write_pages

MODULES = tuple(streamsieve._MODULES)
#: Modules that need packages which the site is built without: they are read, not imported.
ENGINES = ("spark", "ray", "mlflow")
#: Sections of the index for names that are not estimators.
GROUPS = {
    "Streams": ("read", "simulate"),
    "Running averages": ("RunningAverages", "FoldAverages", "AveragesBank", "LinearModel", "extract"),
    "Paths and cross-validation": ("Path", "path", "CrossValidation", "cross_validate"),
    "Inference": ("inference", "FourthMoments"),
    "Clusters": ("distributed", "dask", "spark", "ray"),
    "Evaluation": ("prequential", "Prequential", "metrics"),
    "Files": ("save", "load", "read_checkpoint", "Checkpoint", "CheckpointError", "export", "mlflow"),
    "Displays": (
        "PathDisplay",
        "SelectionDisplay",
        "PrequentialDisplay",
        "StabilityDisplay",
        "EffectDisplay",
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
    for module in ENGINES:
        yield from (f"{module}.{member}" for member in definitions(module))


@cache
def definitions(module: str) -> dict[str, ast.ClassDef | ast.FunctionDef]:
    """What a module or package of ENGINES lists in `__all__`, as its files define it."""
    place = Path(streamsieve.__file__).parent / module
    files = sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    bodies = [node for file in files for node in ast.parse(file.read_text(encoding="utf-8")).body]
    found = {node.name: node for node in bodies if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    listed = next(
        ast.literal_eval(node.value)
        for node in bodies
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return {name: found[name] for name in listed}


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
    title = f"{name}\n{'=' * len(name)}\n\n"
    if name.split(".")[0] in ENGINES:
        return title + engine_page(name)
    value = resolve(name)
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


def engine_page(name: str) -> str:
    module, _, member = name.partition(".")
    node = definitions(module)[member]
    if isinstance(node, ast.FunctionDef):
        return f".. autofunction:: streamsieve.{name}\n"
    methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    members = [m for m, part in methods.items() if not m.startswith("_") and ast.get_docstring(part)]
    listed = f"   :members: {', '.join(members)}\n" if members else ""
    return f".. autoclass:: streamsieve.{name}{signature(methods.get('__init__'))}\n{listed}"


def signature(function: ast.FunctionDef | None) -> str:
    """Without types: bases that are not imported hide it from Sphinx."""
    if function is None:
        return ""
    given = ast.parse(ast.unparse(function.args).join(("def f(", "): pass"))).body[0]
    for argument in ast.walk(given):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return f"({ast.unparse(given.args).removeprefix('self').removeprefix(', ')})"


def docstring(name: str) -> str:
    module, _, member = name.partition(".")
    if module in ENGINES:
        return ast.get_docstring(definitions(module)[member]) or ""
    return inspect.getdoc(resolve(name)) or ""


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
            lines += [f"| [`{name}`]({name}.rst) | {first_line(name)} |" for name in chosen]
            toc += chosen
    heads = {head for group in GROUPS.values() for head in group}
    others = [name for name in names if name not in ESTIMATORS and name.split(".")[0] not in heads]
    if others:
        lines += ["", "## Others", "", "| | |", "|---|---|"]
        lines += [f"| [`{name}`]({name}.rst) | {first_line(name)} |" for name in others]
        toc += others
    return "\n".join([*lines, "", *toc, "```", ""])


def first_line(name: str) -> str:
    from .methods import markdown

    text = docstring(name).split("\n\n")[0].replace("\n", " ")
    return markdown(text).replace("|", "\\|")
