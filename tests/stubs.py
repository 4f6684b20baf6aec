"""Type stubs of the estimators and of the public names: `python tests/stubs.py` writes them.

Estimators are made at run time from the list of methods; type checkers and editors read these files instead.
"""

import inspect
from pathlib import Path

import streamsieve
from streamsieve.core.params import Bool, Int, OneOf, Or, Real
from streamsieve.estimators.base import VERBOSE
from streamsieve.estimators.classifier import CLASS_WEIGHT
from streamsieve.methods import ESTIMATORS

FOLDER = Path(streamsieve.__file__).parent
HEAD = '"""Written by `python tests/stubs.py` from the list of methods."""\n'
RESULTS = {"int": "int", "float": "float"}


def stubs():
    """The text of each stub file."""
    return {FOLDER / "__init__.pyi": public(), FOLDER / "estimators" / "__init__.pyi": estimators()}


def public():
    lines = [HEAD]
    for name, module in streamsieve._MODULES.items():
        package, _, last = module.rpartition(".")
        lines.append(f"from .{package} import {last} as {name}")
    lines += [f"from .{module} import {name} as {name}" for name, module in streamsieve._WHERE.items()]
    return "\n".join([*lines, "", "__version__: str", "__all__: list[str]"]) + "\n"


def estimators():
    lines = [
        HEAD,
        "from typing import Any, Literal, Self\n",
        "from numpy.typing import NDArray\n",
        "from .classifier import Classifier",
        "from .regressor import Regressor\n",
        "__all__: list[str]",
    ]
    for name, (entry, task) in ESTIMATORS.items():
        lines += ["", *estimator(name, entry.load(), task)]
    return "\n".join(lines) + "\n"


def estimator(name, method, task):
    params = dict(method.parameters(task))
    if task == "classification":
        params["class_weight"] = CLASS_WEIGHT
    params["verbose"] = VERBOSE
    kinds = {param: annotation(params[param].domain) for param in params}
    arguments = {param: f"{param}: {kinds[param]} = {params[param].default!r}" for param in params}
    first = [arguments.pop("k")] if "k" in arguments else []
    yield f"class {name}({'Regressor' if task == 'regression' else 'Classifier'}):"
    yield from (f"    {param}: {kind}" for param, kind in kinds.items())
    yield "    def __init__("
    yield from (f"        {argument}," for argument in ["self", *first, "*", *arguments.values()])
    yield "    ) -> None: ..."
    for attribute, text in method.attributes.items():
        kind = text.partition(": ")[0]
        found = RESULTS.get(kind, "NDArray[Any]" if kind.startswith("array") else "Any")
        yield "    @property"
        yield f"    def {attribute}_(self) -> {found}: ..."
    if method.prepare is not None:
        yield "    @property"
        yield "    def n_far_(self) -> int: ..."
    for extra in getattr(method, "estimator_methods", ()):
        if isinstance(extra, classmethod):
            yield "    @classmethod"
        signature = inspect.signature(getattr(extra, "__func__", extra))
        arguments = (
            str(signature)
            .partition(" -> ")[0]
            .replace("self: 'Any'", "self")
            .replace("cls: 'Any'", "cls")
            .replace("'", "")
        )
        yield f"    def {extra.__name__}{arguments} -> Self: ..."


def annotation(domain):
    """The type of a domain's values, as a type checker knows them."""
    if isinstance(domain, Or):
        parts = [
            f"Literal[{each!r}]" if isinstance(each, str) else "None" if each is None else annotation(each)
            for each in domain.choices
        ]
        return (
            "Any"
            if "Any" in parts
            else " | ".join(sorted(set(parts), key=lambda part: (part == "None", part)))
        )
    if isinstance(domain, OneOf):
        return f"Literal[{', '.join(map(repr, domain.words))}]"
    for kind, name in ((Bool, "bool"), (Int, "int"), (Real, "float")):
        if isinstance(domain, kind):
            return name
    return "Any"


if __name__ == "__main__":
    for file, text in stubs().items():
        file.write_text(text)
