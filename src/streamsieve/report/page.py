"""The page: what was selected, how sizes compare, how well the stream was predicted, how it was made."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

import numpy as np

from .. import __version__
from ..fitted import FittedModel
from ..words import printable
from . import _figures

_MOST = 500  # features in the table


def page(
    model: Any,
    *,
    about: dict[str, Any] | None = None,
    curve: list[dict[str, Any]] | None = None,
    title: str | None = None,
) -> str:
    """The HTML of a report.

    Parameters
    ----------
    model : fitted estimator or FittedModel
    about : dict or None
        More to say about it, shown as it is: names and values.
    curve : list of dict or None
        The points of `Prequential.as_dicts`.
    title : str or None
    """
    from jinja2 import Environment

    fitted: FittedModel = model if isinstance(model, FittedModel) else model._to_fitted()
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    features = fitted.features()
    largest = max((abs(w) for feature in features for w in feature.weights), default=0.0) or 1.0
    rows = [
        {
            "name": printable(feature.name),
            "weights": feature.weights,
            "bars": [round(50 * w / largest, 2) for w in feature.weights],
            "error": feature.stderr,
            "t": feature.tvalue,
        }
        for feature in features
    ]
    several = fitted.method.q > 1 and fitted.classes is not None
    return environment.from_string(template).render(
        title=title or f"{fitted.name}: {len(features)} of {fitted.p:,} features",
        version=__version__,
        kind=fitted.name,
        facts=_facts(fitted, len(features), about or {}),
        features=rows[:_MOST],
        hidden=max(0, len(features) - _MOST),
        errors=bool(features) and features[0].tvalue is not None,
        classes=[str(c) for c in fitted.classes] if several and fitted.classes is not None else None,
        path=_path(fitted, len(features)),
        curve=_figures.curve(curve) if curve else None,
        last=curve[-1] if curve else None,
        parameters=fitted.method.values,
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
    return ", ".join(map(number, value)) if isinstance(value, list | tuple) else printable(str(value))


def _facts(model: FittedModel, selected: int, about: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"features selected": f"{selected:,} of {model.p:,}", **about}
    linear = model.method.linear_model()
    if linear is not None:
        facts["R²"] = float(np.mean(linear.r2))
        facts["residual deviation"] = float(np.mean(np.sqrt(linear.sigma2)))
        if linear.ridge:
            facts["ridge"] = float(linear.ridge)
    intercept = model.method.coefficients()[1]
    if len(intercept) == 1:
        facts["intercept"] = float(intercept[0])
    return facts


def _path(model: FittedModel, selected: int) -> dict[str, Any] | None:
    """The OLSth path of a model's averages, if it has them."""
    method: Any = model.method
    if not hasattr(method, "averages") or method.interactions:
        return None
    from ..averages.path import path

    averages = method.averages.total() if hasattr(method.averages, "total") else method.averages
    walk = path(averages, "olsth", fit_intercept=method.fit_intercept, standardize=method.standardize)
    if len(walk.k) < 3:
        return None
    best = {name: walk.best_k(name) for name in ("aic", "bic", "ebic")}
    return {"figure": _figures.criteria(walk, best, selected), "best": best, "selected": selected}
