"""Predict with a model that `to_json` wrote: copy this file, it needs nothing but Python's own library."""

import json
import math
from datetime import datetime
from typing import Any

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
PARTS: dict[str, Any] = {
    "month": lambda t: MONTHS[t.month - 1],
    "weekday": lambda t: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][t.weekday()],
    "hour": lambda t: str(t.hour),
    "days": lambda t: (t.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds() / 86400,
}


def value(term: Any, row: Any) -> float:
    """What the weight of a term multiplies; `row` maps columns to values, None or NaN where missing."""
    x = row.get(term["column"])
    gone = x is None or x != x
    if term["kind"] == "missing":
        return float(gone)
    if term["kind"] in PARTS and not gone:
        x = PARTS[term["kind"]](datetime.fromisoformat(str(x)))
    if term["kind"] in ("number", "days"):
        x = float(term["fill"] if gone else x)
        return min(max(x, term.get("low", -math.inf)), term.get("high", math.inf))
    if gone:
        return float(term.get("missing", False))
    levels = term.get("levels", [])
    hit = any(float(x) == float(v) for v in levels) if term.get("numeric") else str(x) in levels
    return float(hit != term.get("others", False))


def scores(model: Any, row: Any) -> list[float]:
    terms = [(term["weight"], value(term, row)) for term in model["terms"]]
    return [b + sum(w[i] * x for w, x in terms) for i, b in enumerate(model["intercept"])]


def predict(model: Any, row: Any) -> Any:
    """The target or label of a row; `model` is what `json.load` gives."""
    s = scores(model, row)
    if model["classes"]:
        return model["classes"][int(s[0] > 0) if len(s) == 1 else s.index(max(s))]
    s = [math.exp(x) for x in s] if model["link"] == "exp" else s
    return s[0] if len(s) == 1 else s


def load(file: Any) -> Any:
    with open(file, encoding="utf-8") as text:
        return json.load(text)
