"""The library's own methods, found by their public names, by default and over a grid of step and penalty."""

import hashlib
import inspect
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import streamsieve

from .methods import Fitted, Method, Problem

BLOCK = 100  # rows of one partial_fit
KINDS = {"targets": "Regressor", "labels": "Classifier"}
STEPS = (0.001, 0.01, 0.1, 1.0)
PENALTIES = (0.0, 1e-4, 1e-2)
STEP_NAMES = {"SOFS": "gamma"}  # of every other method: eta
PENALTY_NAMES = ("alpha", "lam")
IRRELEVANT = {"cli", "report", "experiments", "persist", "streams", "distributed", "runs"}


@cache
def source_digest() -> str:
    """Of the Python and C++ files that a result depends on."""
    package = Path(streamsieve.__file__).parent
    files = [f for f in package.rglob("*.py") if f.relative_to(package).parts[0] not in IRRELEVANT]
    kernels = Path(__file__).resolve().parents[2] / "cpp"
    files += [f for f in kernels.rglob("*") if f.suffix in (".cpp", ".hpp") and f.parent.name != "text"]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def estimator(name: str, task: str) -> Any:
    """The class, or None where there is none for this task."""
    return getattr(streamsieve, name + KINDS[task], None)


def parameters(name: str) -> dict[str, Any]:
    """Names and defaults."""
    for task in KINDS:
        if cls := estimator(name, task):
            return {p.name: p.default for p in inspect.signature(cls).parameters.values()}
    raise ValueError(f"no method {name!r} in streamsieve; see streamsieve.__all__.")


def names() -> list[str]:
    public = [
        n.removesuffix(kind) for n in streamsieve.__all__ for kind in KINDS.values() if n.endswith(kind)
    ]
    return list(dict.fromkeys(public))


def fit(problem: Problem, name: str, one_pass: bool, **settings: Any) -> Fitted:
    if "k" in parameters(name):
        settings = {"k": problem.k, **settings}
    model = estimator(name, problem.task)(**settings)
    X, y = problem.X, problem.y
    if one_pass:
        classes = {} if problem.task == "targets" else {"classes": np.unique(y)}
        for start in range(0, len(y), BLOCK):
            model.partial_fit(X[start : start + BLOCK], y[start : start + BLOCK], **classes)
    else:
        model.fit(X, y)
    return Fitted(np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0)), model.predict)


def refuses(problem: Problem, name: str) -> str | None:
    return None if estimator(name, problem.task) else f"there is no {name}{KINDS[problem.task]}"


def ours() -> list[Method]:
    """Every method twice: one pass, and `fit`."""
    return [
        Method(
            name if one_pass else f"{name}, fit",
            partial(fit, name=name, one_pass=one_pass),
            source_digest(),
            ours=True,
            takes_k="k" in parameters(name),
            refuses=partial(refuses, name=name),
        )
        for name in names()
        for one_pass in (True, False)
    ]


def grid(method: Method) -> list[Method]:
    """The method over steps and penalties, its defaults among them; only the default where it has neither."""
    name = method.name.removesuffix(", fit")
    defaults = parameters(name)
    step = STEP_NAMES.get(name, "eta")
    penalty = next((p for p in PENALTY_NAMES if isinstance(defaults.get(p), float)), None)
    axes = {}
    if step in defaults:
        axes[step] = STEPS
    if penalty:
        axes[penalty] = PENALTIES
    choices = [[None, *(v for v in values if v != defaults[p])] for p, values in axes.items()]
    return [
        replace(method, settings={p: v for p, v in zip(axes, point) if v is not None})
        for point in product(*choices)
    ]
