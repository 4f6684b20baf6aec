"""Estimator classes from methods: signature, docstring and properties come from what the method declares."""

from __future__ import annotations

import inspect
import operator
import textwrap
from typing import Any

from ..core.params import Parameter
from ..methods import ESTIMATORS, SUFFIX
from ..training.model import has_passes
from .base import VERBOSE, Estimator, constructor
from .classifier import CLASS_WEIGHT, Classifier
from .regressor import Regressor

#: Checks of scikit-learn that compare a row of weight 2 with that row twice.
_WEIGHT_CHECKS = tuple(f"check_sample_weight_equivalence_on_{layout}_data" for layout in ("dense", "sparse"))
_CHECKS = (
    "Therefore the checks `check_sample_weight_equivalence...` of scikit-learn's `check_estimator` fail; all "
    "others pass."
)


def expected_failed_checks(estimator: Estimator) -> dict[str, str]:
    """The checks of `check_estimator` that an estimator fails, with reasons, as scikit-learn takes them."""
    reason = estimator._method_class.weight_notes.get(estimator._task_name)
    return {} if reason is None else dict.fromkeys(_WEIGHT_CHECKS, reason)


def make_estimator(name: str) -> type[Estimator]:
    """The estimator class called `name`."""
    entry, task = ESTIMATORS[name]
    method = entry.load()
    losses = method.losses[task]
    params = method.parameters(task)
    parent = Regressor if task == "regression" else Classifier
    weights = {} if task == "regression" else {"class_weight": CLASS_WEIGHT}
    shown = {**params, **weights, "verbose": VERBOSE}
    members = {
        "__init__": constructor(shown),
        "__doc__": _document(method, task, shown),
        "__module__": __package__,
        "_method_class": method,
        "_params": params,
        "_values": operator.itemgetter(*params),
        "_fixed_loss": losses[0] if len(losses) == 1 else None,
        **{  # what was chosen for a parameter is `name_` of the method too
            f"{name}_": _delegate(f"{name}_" if name in params else name, text)
            for name, text in method.attributes.items()
        },
        **({} if method.prepare is None else {"n_far_": property(_n_far, doc=N_FAR)}),
        **{extra.__name__: extra for extra in method.estimator_methods},
    }
    return type(name, (parent,), members)


N_FAR = "Number of values that were not learned, because they are far from the others of their column."


def _n_far(self: Estimator) -> int:
    self._check_fitted()
    return self._model.n_far


def _delegate(attribute: str, text: str) -> property:
    def read(self: Estimator) -> Any:
        self._check_fitted()
        return self._model.attribute(attribute)

    return property(read, doc=text)


_COEF = {
    "regression": (
        "coef_ : array of shape (p,) or (q, p)",
        "    Weights; columns that are not zero are the selection.",
        "intercept_ : float or array of shape (q,)",
    ),
    "classification": (
        "classes_ : array of labels",
        "coef_ : array of shape (1, p), or (q, p) for q > 2 classes",
        "    Weights; columns that are not zero are the selection.",
        "intercept_ : array of shape (1,) or (q,)",
    ),
}


#: The example of a method that has none of its own.
_EXAMPLE = {
    "regression": """
    >>> import numpy as np
    >>> from streamsieve import {name}
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> {name}(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """,
    "classification": """
    >>> import numpy as np
    >>> from streamsieve import {name}
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> {name}(2).fit(X, X[:, 7] > X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """,
}


#: Additions to the papers by default, and the parameters that turn them off.
_HELP = {
    "standardize": "columns far from zero are centred, columns are scaled, and the intercept starts from the "
    "targets (`standardize=False`)",
    "fit_intercept": "there is an intercept (`fit_intercept=False`)",
    "eta": "the step is derived from the rows (pass `eta`)",
    "init": "`fit` starts from the gradient of all rows (`init='zero'`)",
    "max_iter": "`fit` makes several passes in new orders (`max_iter=1, shuffle=False`, or `partial_fit`)",
    "refit": "the selected features are refitted (`refit=False`)",
}


def _beyond_the_paper(params: dict[str, Parameter]) -> str:
    """The paragraph on additions of a learner to its paper; without them it is the algorithm of the paper."""
    on = [name for name in _HELP if name in params and params[name].default is not False]
    used = [_HELP[name] for name in on if name != "eta" or params[name].default == "auto"]
    named = "; ".join(used)
    return f"**Beyond the paper** (in brackets: how to turn it off): {named}. See *As printed* in the docs."


def _document(method: Any, task: str, params: dict[str, Parameter]) -> str | None:
    """The method's docstring with parameters, attributes and example put in numpydoc's order."""
    if method.__doc__ is None:  # under -OO
        return None
    about, *notes = inspect.cleandoc(method.__doc__).split("\nNotes\n-----\n")
    first, _, rest = about.strip().partition("\n")
    lines = [
        f"{SUFFIX[task]}: {first[0].lower()}{first[1:]}",
        *rest.splitlines(),
        "",
        "Parameters",
        "----------",
    ]
    for name in sorted(params, key=lambda name: name != "k"):
        param = params[name]
        lines.append(f"{name} : {param.domain}, default={param.default!r}")
        lines += textwrap.wrap(param.text, 100, initial_indent="    ", subsequent_indent="    ")
    lines += ["", "Attributes", "----------", *_COEF[task]]
    for attribute, text in method.attributes.items():
        kind, _, meaning = text.partition(": ")
        lines.append(f"{attribute}_ : {kind}")
        lines += textwrap.wrap(meaning, 100, initial_indent="    ", subsequent_indent="    ")
    if method.prepare is not None:
        lines += ["n_far_ : int", f"    {N_FAR}"]
    if has_passes(method):
        lines += ["n_iter_ : int", "    Number of passes that `fit` made."]
    if "k" in params and has_passes(method) and "auto" in str(params["k"].domain):
        lines += ["k_ : int", "    With k='auto', the number of features that `fit` chose."]
    lines += [
        "method_ : streamsieve.core.method.Method",
        "    The underlying method, with its state.",
    ]
    notes = [note.strip() for note in notes]
    if method.prepare is not None:
        notes.append("\n".join(textwrap.wrap(_beyond_the_paper(params), 110)))
    if task in method.weight_notes:
        about_weights = f"**Sample weights.** {method.weight_notes[task]} {_CHECKS}"
        notes.append("\n".join(textwrap.wrap(about_weights, 110)))
    if notes:
        lines += ["", "Notes", "-----", *"\n\n".join(notes).splitlines()]
    example = method.examples.get(task, _EXAMPLE[task]).replace("{name}", method.__name__ + SUFFIX[task])
    lines += ["", "Examples", "--------", *inspect.cleandoc(example).splitlines()]
    return "\n".join(lines) + "\n"
