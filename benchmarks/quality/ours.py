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
from streamsieve.methods import METHODS

from .methods import Fitted, Method, Problem

BLOCK = 100  # rows of one partial_fit
KINDS = {"targets": "Regressor", "labels": "Classifier"}
STEPS = {"eta": (0.001, 0.01, 0.1, 1.0), "gamma": (0.01, 0.1, 1.0, 10.0, 100.0)}
PENALTIES = {"alpha": (0.0, 1e-4, 1e-2)}
QUADRATIC = ("OLST", "OLSTThenTSGD")  # O(p^2) a row: on wide sets a grid would take hours
#: Files of learners/ that belong to one learner alone, besides those of its name.
BESIDE = {
    "sfsa": {"annealed", "change"},
    "stabilized": {"paths", "slots"},
    "olst_then_tsgd": {"inverse", "olst", "siht"},
    "olst": {"inverse"},
}
IRRELEVANT = {"cli", "report", "experiments", "persist", "streams", "distributed", "runs"}


def learners() -> list[str]:
    """Methods that learn row by row."""
    return [m.name for m in METHODS.values() if m.module.startswith("learners.")]


def stem(name: str) -> str:
    """What the files of a method are called."""
    return METHODS[name].module.split(".")[-1]


@cache
def source_digest(name: str) -> str:
    """Of the Python and C++ files that a method's results may depend on: not those of other learners."""
    package = Path(streamsieve.__file__).parent
    kernels = Path(__file__).resolve().parents[2] / "cpp"
    own = stem(name)
    others = {stem(n) for n in learners()}.union(*BESIDE.values())
    others -= {own, "sgd"} | BESIDE.get(own, set())  # the steps of SGD are those of most learners
    files = [f for f in package.rglob("*.py") if f.relative_to(package).parts[0] not in IRRELEVANT]
    files += [f for f in kernels.rglob("*") if f.suffix in (".cpp", ".hpp") and f.parent.name != "text"]
    digest = hashlib.sha256()
    for file in sorted(files):
        if file.parent.name != "learners" or file.stem not in {*others, "size"}:  # sizes are given
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
            source_digest(name),
            ours=True,
            takes_k="k" in parameters(name),
            refuses=partial(refuses, name=name),
        )
        for name in names()
        for one_pass in (True, False)
    ]


def grid(method: Method) -> list[Method]:
    """The method over steps and penalties, its defaults first; only these where it has neither.

    With k a ladder finds its penalty itself: what `alpha` says is where it starts.
    """
    name = method.name.removesuffix(", fit")
    defaults = parameters(name)
    axes = STEPS if "n_penalties" in defaults else STEPS | PENALTIES
    axes = {p: values for p, values in axes.items() if p in defaults}
    choices = [[None, *(v for v in values if v != defaults[p])] for p, values in axes.items()]
    return [
        replace(method, settings={p: v for p, v in zip(axes, point) if v is not None})
        for point in product(*choices)
    ]
