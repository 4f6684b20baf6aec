"""The page: what was selected, how sizes compare, how well the stream was predicted, how it was made."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

import numpy as np

from .. import __version__
from ..averages.folds import FoldAverages
from ..averages.path import path
from . import _figures

_MOST = 500  # features in the table


def page(
    model: Any,
    *,
    names: Any = None,
    about: dict[str, Any] | None = None,
    curve: list[dict[str, Any]] | None = None,
    title: str | None = None,
) -> str:
    """The HTML of a report.

    Parameters
    ----------
    model : fitted estimator
    names : callable, sequence of str or None
        Names of the features by index; None counts.
    about : dict or None
        What else there is to say, shown as it is: names and values.
    curve : list of dict or None
        The points of `Prequential.as_dicts`.
    title : str or None
    """
    from jinja2 import Environment

    called = names if callable(names) else (lambda j: str(j if names is None else names[j]))
    coef = np.atleast_2d(model.coef_)
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    features = _features(model, coef, called)
    return environment.from_string(template).render(
        title=title or f"{type(model).__name__}: {len(features)} of {coef.shape[1]:,} features",
        version=__version__,
        kind=type(model).__name__,
        facts=_facts(model, len(features), coef.shape[1], about or {}),
        features=features[:_MOST],
        hidden=max(0, len(features) - _MOST),
        errors=bool(features) and features[0]["t"] is not None,
        classes=[str(c) for c in model.classes_] if len(coef) > 1 and hasattr(model, "classes_") else None,
        path=_path(model, len(features)),
        curve=_figures.curve(curve) if curve else None,
        last=curve[-1] if curve else None,
        parameters=model.get_params(deep=False),
    )


def number(value: Any) -> str:
    """A value for a reader."""
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        return "∞" if math.isinf(value) else f"{value:.4g}".replace("-", "−")
    return ", ".join(map(number, value)) if isinstance(value, list | tuple) else str(value)


def _features(model: Any, coef: Any, called: Any) -> list[dict[str, Any]]:
    linear = getattr(model, "model_", None) if model._averaged else None
    one = len(coef) == 1
    t = np.atleast_2d(linear.tvalue)[0] if one and linear is not None and linear.tvalue is not None else None
    error = np.atleast_2d(linear.stderr)[0] if t is not None and linear is not None else None
    support = np.flatnonzero(coef.any(axis=0))
    rank = np.abs(coef[:, support]).max(axis=0) if t is None else np.nan_to_num(np.abs(t[support]))
    largest = np.abs(coef[:, support]).max(initial=0.0) or 1.0
    return [
        {
            "name": called(int(j)),
            "weights": [float(v) for v in coef[:, j]],
            "bars": [round(50 * float(v) / largest, 2) for v in coef[:, j]],
            "error": None if error is None else float(error[j]),
            "t": None if t is None else float(t[j]),
        }
        for j in support[np.argsort(-rank, kind="stable")]
    ]


def _facts(model: Any, selected: int, p: int, about: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"features selected": f"{selected:,} of {p:,}", **about}
    if model._averaged:
        linear = model.model_
        facts["R²"] = float(np.mean(linear.r2))
        facts["residual deviation"] = float(np.mean(np.sqrt(linear.sigma2)))
        if linear.ridge:
            facts["ridge"] = float(linear.ridge)
    if np.ndim(model.intercept_) == 0 or len(np.atleast_1d(model.intercept_)) == 1:
        facts["intercept"] = float(np.atleast_1d(model.intercept_)[0])
    return facts


def _path(model: Any, selected: int) -> dict[str, Any] | None:
    """The OLSth path of a model's averages, if it has them."""
    if not model._averaged or model.interactions:
        return None
    averages = model.averages_.total() if isinstance(model.averages_, FoldAverages) else model.averages_
    walk = path(averages, "olsth", fit_intercept=model.fit_intercept, standardize=model.standardize)
    if len(walk.k) < 3:
        return None
    best = {name: walk.best_k(name) for name in ("aic", "bic", "ebic")}
    return {"figure": _figures.criteria(walk, best, selected), "best": best, "selected": selected}
