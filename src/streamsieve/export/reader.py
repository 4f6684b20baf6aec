"""Predict with a model written by `to_json`: copy this file, it needs only the standard library."""

from datetime import datetime, timedelta
from math import exp, inf
from typing import Any

PARTS: dict[str, Any] = {  # of a date; ctime is in English whatever the locale
    "month": lambda t: t.ctime()[4:7], "weekday": lambda t: t.ctime()[:3], "hour": lambda t: str(t.hour),
    "days": lambda t: (t.replace(tzinfo=None) - datetime(1970, 1, 1)) / timedelta(days=1),
}  # fmt: skip


def value(term: Any, row: Any) -> Any:
    """The value that is multiplied by the weight of a term; None for a missing number that is not filled."""
    kind, x = term["kind"], row.get(term["column"])
    missing = x is None or x != x
    if kind == "missing":
        return float(missing)
    if kind in PARTS and not missing:
        x = PARTS[kind](datetime.fromisoformat(str(x)))
    if kind in ("number", "days"):
        x = term.get("fill") if missing else float(x)
        return None if x is None else min(max(x, term.get("low", -inf)), term.get("high", inf))
    if missing:
        return float(term.get("missing", False))
    levels = term.get("levels", [])
    hit = float(x) in map(float, levels) if term.get("numeric") else str(x) in levels
    return float(hit != term.get("others", False))


def predict(model: Any, row: Any) -> Any:
    """The predicted target or label; `model` comes from `json.load`, `row` maps columns to values."""
    terms = [(term["weight"], value(term, row)) for term in model["terms"]]
    if any(x is None for _, x in terms):
        return None
    scores = [b + sum(w[i] * x for w, x in terms) for i, b in enumerate(model["intercept"])]
    if model["classes"]:
        return model["classes"][int(scores[0] > 0) if len(scores) == 1 else scores.index(max(scores))]
    scores = [exp(x) for x in scores] if model["link"] == "exp" else scores
    return scores[0] if len(scores) == 1 else scores
