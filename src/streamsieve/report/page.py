"""The page: what was selected, how sizes compare, what happened along the run, how to repeat it."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

import numpy as np

from .. import __version__
from ..displays.path import path_of
from ..fitted import Feature, FittedModel
from ..words import printable
from . import _figures

_CELLS = 40_000  # weights in the table, of several classes; beyond that the largest of each feature is shown
_WIDE = 2_500  # features up to which a path is drawn: it costs p^3


def page(
    model: Any,
    *,
    about: dict[str, Any] | None = None,
    curve: list[dict[str, Any]] | None = None,
    trace: dict[str, Any] | None = None,
    command: str | None = None,
    title: str | None = None,
    refresh: int | None = None,
) -> str:
    """The HTML of a report: one file that needs no network, and no JavaScript to be read.

    Parameters
    ----------
    model : fitted estimator or FittedModel
    about : dict or None
        More facts about it, shown as they are: names and values.
    curve : list of dict or None
        The points of `Prequential.as_dicts`.
    trace : dict or None
        What a run has recorded: `Trace.to_plain`.
    command : str or None
        The command that makes the model again.
    title : str or None
    refresh : int or None
        Seconds after which a browser loads the page again, for a model that is still learning.
    """
    from jinja2 import Environment
    from markupsafe import Markup

    fitted: FittedModel = model if isinstance(model, FittedModel) else model._to_fitted()
    source = files(__package__)
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    features = fitted.features()
    head, rows = table(fitted, features)
    points = (trace or {}).get("points") or []
    return environment.from_string(source.joinpath("page.html").read_text(encoding="utf-8")).render(
        title=title or f"{fitted.name}: {len(features):,} of {fitted.p:,} features",
        version=__version__,
        kind=fitted.name,
        style=Markup(source.joinpath("page.css").read_text(encoding="utf-8")),
        script=Markup(source.joinpath("page.js").read_text(encoding="utf-8")),
        refresh=refresh,
        facts=_facts(fitted, len(features), about or {}),
        data=_data(fitted, trace),
        head=head,
        rows=Markup(rows),
        errors=bool(features) and features[0].tvalue is not None,
        path=_path(fitted, len(features)),
        adapted=_drift(fitted),
        run=_curve(points, "Loss, selection and drift along the run"),
        points=points,
        curve=_curve(curve, "The stream predicted before it was learned"),
        last=curve[-1] if curve else None,
        command=command,
        parameters=fitted.method.values,
    )


def table(fitted: FittedModel, features: list[Feature]) -> tuple[list[tuple[str, str]], str]:
    """Heads, with "text" or "number", and the rows as HTML without the tags that may be left out.

    Ten thousand features have to stay well below two megabytes.
    """
    from markupsafe import escape

    classes = fitted.classes if fitted.method.q > 1 else None
    several = fitted.method.q > 1
    every = several and fitted.method.q * len(features) <= _CELLS
    errors = bool(features) and features[0].stderr is not None
    head = [("#", "number"), ("feature", "text")]
    if every:
        names = range(fitted.method.q) if classes is None else classes
        head += [(printable(str(name)), "number") for name in names]
    elif several:
        head += [("largest weight", "number"), ("of", "text")]
    else:
        head += [("weight", "number"), ("", "bar")]
    head += [("std. error", "number"), ("t", "number")] if errors else []
    largest = max((abs(w) for feature in features for w in feature.weights), default=0.0) or 1.0
    lines = []
    for rank, feature in enumerate(features, 1):
        cells = [f"<td>{rank}", f"<td>{escape(printable(feature.name))}"]
        if every:
            cells += [f"<td>{number(w)}" for w in feature.weights]
        elif several:
            at = int(np.argmax(np.abs(feature.weights)))
            label = at if classes is None else printable(str(classes[at]))
            cells += [f"<td>{number(feature.weights[at])}", f"<td>{escape(label)}"]
        else:
            w = feature.weights[0]
            side = "up" if w > 0 else "down"
            cells += [f"<td>{number(w)}", f"<td class={side} style=--w:{50 * abs(w) / largest:.1f}%>"]
        if errors:
            cells += [f"<td>{number(feature.stderr)}", f"<td>{number(feature.tvalue)}"]
        lines.append("<tr>" + "".join(cells))
    return head, "\n".join(lines)


def number(value: Any) -> str:
    """A value for a reader."""
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        real = float(value)
        if 1e4 <= abs(real) < 1e15 and real.is_integer():
            return f"{real:,.0f}".replace("-", "−")
        return "∞" if math.isinf(value) else f"{value:.4g}".replace("-", "−")
    return ", ".join(map(number, value)) if isinstance(value, list | tuple) else printable(str(value))


def _curve(points: list[dict[str, Any]] | None, label: str) -> Any:
    from markupsafe import Markup

    return Markup(_figures.curve(points, label) or "") if points else None


def _facts(model: FittedModel, selected: int, about: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"features selected": f"{selected:,} of {model.p:,}", **about}
    linear = model.method.linear_model()
    if linear is not None:
        facts["R²"] = float(np.mean(linear.r2))
        facts["residual deviation"] = float(np.mean(np.sqrt(linear.sigma2)))
        if linear.ridge:
            facts["ridge"] = float(linear.ridge)
    method: Any = model.method
    if getattr(method, "drift", None) is not None:
        facts["half-life now"] = method.current_half_life
        facts["drift at rows"] = method.drift or "none"
    intercept = model.method.coefficients()[1]
    if len(intercept) == 1:
        facts["intercept"] = float(intercept[0])
    return facts


def _data(model: FittedModel, trace: dict[str, Any] | None) -> dict[str, Any]:
    """What is known about the rows: how many, their weights, what was missing, constant or skipped."""
    about = model.about
    data: dict[str, Any] = {"rows learned": model.n_rows, "features": model.p}
    if trace:
        data["sum of the weights"] = float(trace["weight"])
        if getattr(model.method, "missing", "error") == "mean":
            data["values missing"] = int(trace["missing"])
    read = (about.get("source") or {}).get("read", {})
    if read.get("missing") == "zero":
        data["values missing"] = "read as 0"
    elif read.get("missing") == "error":
        data["values missing"] = 0
    linear = model.method.linear_model()
    if linear is not None:
        data["columns constant or copies"] = len(linear.dropped)
    if "rows_bad" in about:
        data["rows skipped"] = int(about["rows_bad"])
    if model.classes is not None:
        data["classes"] = len(model.classes)
    return data


def _drift(model: FittedModel) -> Any:
    """The half-life along the stream, of a method that adapts it."""
    from markupsafe import Markup

    method: Any = model.method
    if getattr(method, "drift", None) is None or len(method.averages.trace_) < 2:
        return None
    return Markup(_figures.drift(method.averages))


def _path(model: FittedModel, selected: int) -> dict[str, Any] | None:
    """The OLSth path of a model's averages, if it has them."""
    from markupsafe import Markup

    if model.p > _WIDE:
        return None
    walk = path_of(model.method)
    if walk is None or len(walk.k) < 3:
        return None
    name_of = model._names()
    names = [printable(name_of(j)) for j in range(model.p)]
    best = {name: walk.best_k(name) for name in ("aic", "bic", "ebic")}
    return {"figure": Markup(_figures.path(walk, names)), "best": best, "selected": selected}
