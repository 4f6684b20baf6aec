"""The page: quality, selected features and how sure they are, what was left out, how to repeat it."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

import numpy as np

from .. import __version__
from ..core.words import printable
from ..displays.path import path_of
from ..training.features import Feature, feature_namer, selected_features
from ..training.model import Model
from . import _figures

_CELLS = 40_000  # weights in the table, of several classes; beyond that the largest of each feature is shown
OTHERS = 12  # features named that only the folds select: two lines
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
    model : fitted estimator or Model
    about : dict or None
        Additional names and values to show.
    curve : list of dict or None
        The points of `Prequential.as_dicts`.
    trace : dict or None
        Records of a run: `Trace.to_plain`.
    command : str or None
        The command that fits the model again.
    title : str or None
    refresh : int or None
        Seconds after which a browser loads the page again, for a model that is still learning.
    """
    from jinja2 import Environment
    from markupsafe import Markup

    fitted: Model = model if isinstance(model, Model) else model._to_model()
    source = files(__package__)
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    features = selected_features(fitted)
    head, rows = table(fitted, features)
    points = (trace or {}).get("points") or []
    subject = (about or {}).get("target")
    quality, intercept = _quality(fitted), fitted.coefficients()[1]
    return environment.from_string(source.joinpath("page.html").read_text(encoding="utf-8")).render(
        title=title or f"{subject or fitted.name}: {len(features):,} of {fitted.p:,} features",
        version=__version__,
        kind=fitted.name,
        style=Markup(source.joinpath("page.css").read_text(encoding="utf-8")),
        script=Markup(source.joinpath("page.js").read_text(encoding="utf-8")),
        refresh=refresh,
        facts=_facts(fitted, len(features), about or {}, quality) | _data(fitted, trace),
        intercept=float(intercept[0]) if len(intercept) == 1 else None,
        head=head,
        rows=Markup(rows),
        errors=bool(features) and features[0].tvalue is not None,
        honest=bool(features) and features[0].honest,
        on_averages=fitted.method.merges,
        selects="k" in fitted.method.params,
        stable=_stability(fitted),
        positive=None
        if fitted.classes is None or fitted.method.q > 1
        else printable(str(fitted.classes[-1])),
        histograms=any(kind == ("values", "text") for kind in head),
        effects=any(kind == ("effect", "number") for kind in head),
        quality=quality,
        schema=_schema(fitted),
        path=_path(fitted, len(features)),
        adapted=_drift(fitted),
        components=_effects(fitted),
        run=_curve(points, "Loss, selection and drift along the run"),
        points=points,
        curve=_curve(curve, "The stream predicted before it was learned"),
        last=curve[-1] if curve else None,
        command=command,
        parameters=fitted.method.values,
    )


def table(fitted: Model, features: list[Feature]) -> tuple[list[tuple[str, str]], str]:
    """Heads, with "text" or "number", and the rows as HTML without the tags that may be left out.

    Ten thousand features have to stay well below two megabytes.
    """
    from markupsafe import Markup, escape

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
    grouped = any(feature.group_effect is not None for feature in features) and not several
    head += [("column effect", "number")] if grouped else []
    folds, bars = _folds(fitted), _selection_notes(fitted).get("histograms") or {}
    head += [("folds", "number")] if folds else []
    head += [("values", "text")] if bars else []
    effects = not several and bool(features) and features[0].effects is not None
    if effects:
        head[2:2] = [("effect", "number")]
    sizes = [feature.effects if effects and feature.effects else feature.weights for feature in features]
    ends = [_interval(feature, size[0]) for feature, size in zip(features, sizes)] if not several else []
    reach = [abs(x) for pair in ends if pair for x in pair if math.isfinite(x)]
    largest = max([abs(w) for each in sizes for w in each] + reach, default=0.0) or 1.0
    lines = []
    for rank, feature in enumerate(features, 1):
        name = escape(printable(feature.name)).replace("=", Markup("=<wbr>"))  # Contract=, Two year
        cells = [f"<td>{rank}", f"<td>{name}"]
        if every:
            cells += [f"<td>{number(w)}" for w in feature.weights]
        elif several:
            at = int(np.argmax(np.abs(feature.weights)))
            label = at if classes is None else printable(str(classes[at]))
            cells += [f"<td>{number(feature.weights[at])}", f"<td>{escape(label)}"]
        else:
            w, size = feature.weights[0], sizes[rank - 1][0]
            side = "up" if w > 0 else "down"
            cells += [f"<td>{number(size)}"] if effects else []
            cells += [f"<td>{number(w)}", _bar(side, size, ends[rank - 1], largest)]
        if errors:
            cells += [f"<td>{number(feature.stderr)}", f"<td>{number(feature.tvalue)}"]
        if grouped:
            cells += [f"<td>{number(feature.group_effect)}"]
        if folds:
            cells += [f"<td>{sum(feature.index in fold for fold in folds)} of {len(folds)}"]
        if bars:
            cells += [f"<td class=values>{_histogram(bars.get(str(feature.index)) or [])}"]
        lines.append("<tr>" + "".join(cells))
    return head, "\n".join(lines)


def _interval(feature: Feature, size: float) -> tuple[float, float] | None:
    """The 95 % interval of a bar, in the unit of the bar."""
    if feature.interval is None or not feature.weights[0]:
        return None
    by = size / feature.weights[0]
    return feature.interval[0] * by, feature.interval[1] * by


def _bar(side: str, size: float, ends: tuple[float, float] | None, largest: float) -> str:
    """A cell with a bar from the middle and, where it is known, a line for the interval."""
    style = f"--w:{50 * abs(size) / largest:.1f}%"
    if ends is not None and all(map(math.isfinite, ends)):
        low, high = (50 + 50 * x / largest for x in sorted(ends))
        return f'<td class={side} style="{style}"><i style="left:{low:.1f}%;width:{high - low:.1f}%"></i>'
    return f"<td class={side} style={style}>"


def _selection_notes(fitted: Model) -> dict[str, Any]:
    found = fitted.about.get("selection")
    return found if isinstance(found, dict) else {}


def _folds(fitted: Model) -> list[set[int]]:
    """The features that each model without a fifth of the rows selects."""
    return [set(fold) for fold in _selection_notes(fitted).get("folds") or []]


def _histogram(counts: list[float]) -> str:
    """The distribution of a feature: bars, or the share of rows that have a 0/1 feature."""
    if len(counts) < 2:
        return f"{100 * counts[0]:.2g} %" if counts else ""
    most = max(counts) or 1
    bars = "".join(f"M{5 * i + 2} 16v-{max(1.0, 16 * n / most):.0f}" for i, n in enumerate(counts) if n)
    return f'<svg viewBox="0 0 {5 * len(counts)} 16" aria-hidden=true><path d="{bars}"/></svg>'


def _stability(fitted: Model) -> dict[str, Any] | None:
    """How the selection depends on the rows: what all folds select, and what only some of them do."""
    folds = _folds(fitted)
    if not folds:
        return None
    support, name = set(fitted.support.tolist()), feature_namer(fitted)
    count = {j: sum(j in fold for fold in folds) for j in set().union(support, *folds)}
    others = sorted((j for j in count if j not in support), key=lambda j: (-count[j], j))
    return {
        "folds": len(folds),
        "always": sum(count[j] == len(folds) for j in support),
        "never": sum(count[j] == 0 for j in support),
        "selected": len(support),
        "sizes": sorted(len(fold) for fold in folds),
        "others": [(printable(name(j)), count[j]) for j in others[:OTHERS]],
        "more": max(0, len(others) - OTHERS),
    }


_TITLES = {
    "accuracy": "accuracy", "auc": "AUC", "log_loss": "log-loss", "r2": "R²", "rmse": "RMSE",
}  # fmt: skip


def _quality(fitted: Model) -> dict[str, Any] | None:
    """How good the model is on rows held out, as its notes have it: figures, confusions, calibration."""
    from markupsafe import Markup

    found = fitted.about.get("quality")
    if not isinstance(found, dict) or not found.get("figures"):
        return None
    figures = found["figures"]
    rows = [
        (title, figures[name], figures.get(f"baseline_{name}"))
        for name, title in _TITLES.items()
        if name in figures
    ]
    calibration = found.get("calibration") or []
    label = printable(found["labels"][-1]) if found["labels"] else ""
    return {
        "rows": found["rows"],
        "learned": found["learned"],
        "of_first": found.get("of_first"),
        "constant": "mean" if "rmse" in figures else "most frequent class",
        "figures": rows,
        "labels": [printable(label) for label in found["labels"]] if found["confusion"] else [],
        "confusion": found["confusion"],
        "calibration": Markup(_figures.calibration(calibration, label)) if len(calibration) > 1 else None,
        "second": label,
    }


def _schema(fitted: Model) -> dict[str, Any] | None:
    """What each column of the table became."""
    from ..sources.schema import Schema

    if not isinstance(fitted.about.get("schema"), dict):
        return None
    columns, rows = Schema.from_plain(fitted.about["schema"]).table()
    table = [[printable(str(cell)) for cell in row] for row in rows]
    left_out = [
        (row[0], row[1], row[-1]) for row in table if row[2] == "0" and row[1] not in ("target", "weight")
    ]
    return {"columns": columns, "rows": table, "left_out": left_out}


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
        if 1e3 <= abs(real) < 1e12:
            return f"{real:,.0f}".replace("-", "−")
        return "∞" if math.isinf(value) else f"{value:.4g}".replace("-", "−")
    return ", ".join(map(number, value)) if isinstance(value, list | tuple) else printable(str(value))


def _curve(points: list[dict[str, Any]] | None, label: str) -> Any:
    from markupsafe import Markup

    return Markup(_figures.curve(points, label) or "") if points else None


def _facts(
    model: Model, selected: int, about: dict[str, Any], quality: dict[str, Any] | None
) -> dict[str, Any]:
    facts: dict[str, Any] = {"features selected": f"{selected:,} of {model.p:,}"}
    if quality:
        name, value, baseline = quality["figures"][0]
        facts[f"{name} on new rows"], facts[f"{name} of a constant"] = value, baseline
        about = {name: value for name, value in about.items() if not name.startswith("test ")}
    facts |= {name: value for name, value in about.items() if name != "target"}  # in the title
    linear = model.method.linear_model()
    if linear is not None:
        facts["R²"] = float(np.mean(linear.r2))
        facts["residual deviation"] = float(np.mean(np.sqrt(linear.sigma2)))
        if linear.ridge:
            facts["ridge"] = float(linear.ridge)
    method: Any = model.method
    if method.drift is not None:
        facts["half-life now"] = method.current_half_life
        facts["drift at rows"] = method.drift or "none"
    return facts


def _data(model: Model, trace: dict[str, Any] | None) -> dict[str, Any]:
    """What is known about the rows: how many, their weights, what was missing, constant or skipped."""
    about = model.about
    data: dict[str, Any] = {"rows learned": model.n_rows}
    if trace:
        if trace["weight"] != model.n_rows:
            data["sum of the weights"] = float(trace["weight"])
        if model.nan_ok:
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


def _effects(model: Model) -> Any:
    """Shapes and pairs, where the model has some."""
    from markupsafe import Markup

    from ..methods.effects.effect import curve_of

    if model.method.linear:
        return None
    terms, name = model.attribute("terms"), feature_namer(model)
    names = [printable(" × ".join(map(name, term.features))) for term in terms]
    strongest = [term.features[0] for term in terms if len(term.features) == 1][:2]
    tables = model.attribute("tables")
    curves = [(curve_of(tables, j), printable(name(j))) for j in strongest]
    return Markup(_figures.effects(terms, names, curves))


def _drift(model: Model) -> Any:
    """The half-life along the stream, of a method that adapts it."""
    from markupsafe import Markup

    method: Any = model.method
    if method.drift is None or len(method.averages.trace_) < 2:
        return None
    return Markup(_figures.drift(method.averages))


def _path(model: Model, selected: int) -> dict[str, Any] | None:
    """The OLSth path of a model's averages, if it has them."""
    from markupsafe import Markup

    if model.p > _WIDE:
        return None
    walk = path_of(model.method)
    if walk is None or len(walk.k) < 3:
        return None
    name_of = feature_namer(model)
    names = [printable(name_of(j)) for j in range(model.p)]
    best = {name: walk.best_k(name) for name in ("aic", "bic", "ebic")}
    return {"figure": Markup(_figures.path(walk, names)), "best": best, "selected": selected}
