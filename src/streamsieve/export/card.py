"""A model card in Markdown: what the model is, what it has learned from, how good it is, what it selects."""

from __future__ import annotations

from typing import Any

from ..training.features import selected_features
from ..training.model import Model

_SHOWN = 50  # features


def to_card(model: Any) -> str:
    """A fitted estimator or model as a model card, in Markdown."""
    held = model if isinstance(model, Model) else model._to_model()
    if not held.started:
        raise ValueError(f"{held.name} has not learned any rows; fit it before it is described.")
    about, features = held.about, selected_features(held)
    facts = {
        "method": held.name, "task": held.task_name, "loss": held.method.loss,
        "rows learned": held.n_rows, "features": held.p, "selected": len(features),
        "classes": None if held.classes is None else ", ".join(map(str, held.classes)),
        "source": ", ".join(map(str, about["source"]["files"])) if "source" in about else None,
    }  # fmt: skip
    parts = [f"# {held.name}", _table(["", ""], [[k, v] for k, v in facts.items() if v is not None])]
    figures = (about.get("quality") or {}).get("figures")
    if figures:
        rows = [[name, f"{value:.4g}"] for name, value in figures.items()]
        parts += ["## Quality on rows held out", _table(["measure", "value"], rows)]
    errors = any(feature.stderr is not None for feature in features)
    head = ["feature", "weight", *(["std. error", "p"] if errors else [])]
    lines = []
    for feature in features[:_SHOWN]:
        weights = ", ".join(f"{w:.4g}" for w in feature.weights)
        more = [_number(feature.stderr), _number(feature.pvalue)] if errors else []
        lines.append([feature.name, weights, *more])
    parts += ["## Selected features", _table(head, lines) if lines else "None."]
    if len(features) > _SHOWN:
        parts.append(f"{len(features) - _SHOWN} more, with smaller weights.")
    given = [[name, repr(value)] for name, value in held.method.values.items()]
    limits = [
        "It is linear in its features, and describes associations in the rows learned, not causes.",
        "Standard errors and p values are conditional on the selection unless the method is honest.",
    ]
    parts += [
        "## Limits",
        "\n".join(f"- {line}" for line in limits),
        "## Parameters",
        _table(["name", "value"], given),
    ]
    return "\n\n".join(parts) + "\n"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _table(head: list[str], rows: list[list[Any]]) -> str:
    def line(cells: list[Any]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(head), line(["---"] * len(head)), *map(line, rows)])
