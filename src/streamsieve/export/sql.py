"""Models as one SQL expression over the columns of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .formula import Formula, Lookup, Term, formula_of

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MOST_TERMS = 100  # of a sum without parentheses
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class Dialect:
    """Functions that differ between databases; dates are columns of type date or timestamp."""

    greatest: str = "GREATEST"
    number: str = "NULLIF(CAST({} AS DOUBLE PRECISION), CAST('NaN' AS DOUBLE PRECISION))"
    days: str = "(EXTRACT(EPOCH FROM CAST({} AS TIMESTAMP)) / 86400e0)"
    month: str = "EXTRACT(MONTH FROM CAST({} AS TIMESTAMP))"
    weekday: str = "(EXTRACT(ISODOW FROM CAST({} AS TIMESTAMP)) - 1)"
    hour: str = "EXTRACT(HOUR FROM CAST({} AS TIMESTAMP))"


DIALECTS = {
    "duckdb": Dialect(),
    "postgresql": Dialect(),
    "sqlite": Dialect(
        greatest="MAX",
        number="CAST({} AS DOUBLE PRECISION)",  # it stores NaN as NULL
        days="(julianday({}) - 2440587.5e0)",
        month="CAST(strftime('%m', {}) AS INTEGER)",
        weekday="((CAST(strftime('%w', {}) AS INTEGER) + 6) % 7)",
        hour="CAST(strftime('%H', {}) AS INTEGER)",
    ),
}


def to_sql(model: Any, dialect: str = "postgresql", output: str = "prediction") -> str:
    """A fitted model as one SQL expression.

    Parameters
    ----------
    model : estimator or Model
        Fitted on arrays, or on a table of numbers, categories and dates.
    dialect : {"postgresql", "duckdb", "sqlite"}, default="postgresql"
    output : {"prediction", "score", "probability"}, default="prediction"
        The target or label; the score of a model with one output; or the probability of the second class.

    Returns
    -------
    str
        An expression for a SELECT. Column names are quoted. NULL and NaN are missing values, which the
        expression fills as the model does; the result is NULL if the model does not accept missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OLSthRegressor
    >>> from streamsieve.export import to_sql
    >>> X = np.array([[0.0, 1], [1, 0], [2, 0], [3, 2], [4, 1]])
    >>> model = OLSthRegressor(k=1).fit(X, 2 * X[:, 0] + 1)
    >>> to_sql(model).startswith('(')
    True
    """
    if dialect not in DIALECTS:
        raise ValueError(f"dialect={dialect!r}; expected one of {', '.join(map(repr, DIALECTS))}.")
    formula = formula_of(model, lookups=True)
    d = DIALECTS[dialect]
    scores = [_score(formula, i, d) for i in range(len(formula.intercept))]
    if output == "prediction":
        return _prediction(formula, scores, d)
    if output not in ("score", "probability"):
        raise ValueError(f"output={output!r}; expected 'prediction', 'score' or 'probability'.")
    if len(scores) > 1:
        raise ValueError(f"output={output!r} is for models with one output; this one has {len(scores)}.")
    if output == "score":
        return scores[0]
    if formula.link != "logistic":
        raise ValueError("output='probability' is for classifiers of two classes with the logistic loss.")
    score = scores[0]  # exp of a large number is an error in some databases
    return f"CASE WHEN {score} < -7e2 THEN 0e0 ELSE 1e0 / (1e0 + EXP(-{score})) END"


def _prediction(formula: Formula, scores: list[str], d: Dialect) -> str:
    if not formula.classes:
        if len(scores) > 1:
            raise ValueError(f"A model with {len(scores)} targets is not a single expression; fit one each.")
        return f"EXP({scores[0]})" if formula.link == "exp" else scores[0]
    labels = [_literal(label) for label in formula.classes]
    if len(scores) == 1:
        if len(labels) == 1:
            return labels[0]
        score = scores[0]
        return f"CASE WHEN {score} > 0 THEN {labels[1]} WHEN {score} IS NOT NULL THEN {labels[0]} END"
    whens = " ".join(f"WHEN {score} THEN {label}" for score, label in zip(scores, labels))
    return f"CASE {d.greatest}({', '.join(scores)}) {whens} END"


def _score(formula: Formula, i: int, d: Dialect) -> str:
    if formula.lookups:
        terms = [_lookup(lookup, lookup.table[..., i], d) for lookup in formula.lookups]
    else:
        terms = [f"{_number(t.weight[i])} * {_value(t, d)}" for t in formula.terms if t.weight[i] != 0.0]
    return _sum([_number(formula.intercept[i]), *terms])


def _sum(terms: list[str]) -> str:
    """A sum in parentheses, nested: SQLite accepts expressions of a depth of at most 1,000."""
    if len(terms) <= _MOST_TERMS:
        return "(" + " + ".join(terms) + ")"
    half = len(terms) // 2
    return f"({_sum(terms[:half])} + {_sum(terms[half:])})"


def _lookup(lookup: Lookup, table: Any, d: Dialect, at: int = 0) -> str:
    """The number in a table by the levels of its terms, from the first term on."""
    value = _value(lookup.terms[at], d)
    last = at + 1 == len(lookup.terms)
    numbers = [_number(x) if last else _lookup(lookup, x, d, at + 1) for x in table]
    edges = lookup.edges[at]
    whens = " ".join(f"WHEN {value} < {_number(e)} THEN {x}" for e, x in zip(edges, numbers))
    return f"CASE WHEN {value} IS NULL THEN {numbers[-1]} {whens} ELSE {numbers[len(edges)]} END"


def _value(term: Term, d: Dialect) -> str:
    """What the weight of a term multiplies."""
    column = _name(term.column)
    if term.kind in ("number", "missing") or term.numeric:
        column = d.number.format(column)
    if term.kind == "missing":
        return f"CASE WHEN {column} IS NULL THEN 1e0 ELSE 0e0 END"
    if term.kind in ("number", "days"):
        value = column if term.kind == "number" else d.days.format(column)
        if term.fill is not None:
            value = f"COALESCE({value}, {_number(term.fill)})"
        if np.isinf(term.low) and np.isinf(term.high):
            return value
        low, high = _number(term.low), _number(term.high)  # not LEAST: NULL would become a limit
        return f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END"
    hit = f"{_part(term, d, column)} {'NOT ' if term.others else ''}IN ({_levels(term)})"
    if not term.levels:
        hit = "TRUE" if term.others else "FALSE"
    null = "1e0" if term.missing else "0e0"
    return f"CASE WHEN {column} IS NULL THEN {null} WHEN {hit} THEN 1e0 ELSE 0e0 END"


def _part(term: Term, d: Dialect, column: str) -> str:
    if term.kind == "category":
        return column
    template: str = getattr(d, term.kind)
    return template.format(column)


def _levels(term: Term) -> str:
    numbers: dict[str, Callable[[str], str]] = {
        "month": lambda level: str(MONTHS.index(level) + 1),
        "weekday": lambda level: str(WEEKDAYS.index(level)),
        "hour": str,
    }
    if term.kind == "category":
        return ", ".join(_number(float(level)) if term.numeric else _literal(level) for level in term.levels)
    return ", ".join(numbers[term.kind](level) for level in term.levels)


def _number(x: float) -> str:
    """All digits, as a floating-point literal: without an exponent some databases take it for a decimal."""
    text = repr(float(x))
    text = text if "e" in text else text + "e0"
    return f"({text})" if text.startswith("-") else text


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(label: Any) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, int | float):
        return repr(label)
    return "'" + str(label).replace("'", "''") + "'"
