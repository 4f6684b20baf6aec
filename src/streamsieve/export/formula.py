"""What a fitted model computes, as plain data: scores are intercepts plus one term for each selected feature.

A term reads one column, as the schema of the model does: missing values are filled, a category is 0 or 1, and
values are clipped if the model clips them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..sources.schema import MISSING, OTHER, Column, Schema
from ..training.model import Model

#: Kinds of columns that exports cannot compute.
REFUSED = {"text": "text", "time": "a time of day"}


@dataclass(frozen=True)
class Term:
    """A selected feature and its weight in each output.

    Attributes
    ----------
    feature, column : str
        Its name, and the column of the table that it is computed from.
    kind : {"number", "missing", "category", "days", "month", "weekday", "hour"}
        Value of the term: the number; 1 if the number is missing; 1 if the value, or the month, weekday or
        hour of the date, is one of `levels`; days since 1970-01-01.
    weight : tuple of float
        One for each output.
    fill : float or None
        Replacement of a missing number or date; None if a missing value is an error.
    low, high : float
        Limits to which values are clipped.
    levels : tuple of str
        Of a category.
    others : bool
        If True, a category is 1 for all values except `levels`.
    missing : bool
        Whether a category is 1 if the value is missing.
    numeric : bool
        Whether the levels of a category are numbers.
    """

    feature: str
    column: str
    kind: str
    weight: tuple[float, ...]
    fill: float | None = None
    low: float = -np.inf
    high: float = np.inf
    levels: tuple[str, ...] = ()
    others: bool = False
    missing: bool = False
    numeric: bool = False


@dataclass(frozen=True)
class Lookup:
    """A shape or a pair: contributions of the levels of one or two terms to the scores.

    Attributes
    ----------
    terms : tuple of Term
    edges : tuple of arrays
        Ascending edges of each term: the level of a value is the number of edges that are not above it.
    table : array (levels, outputs) or (levels, levels, outputs)
        The last level of each term is that of a missing value.
    """

    terms: tuple[Term, ...]
    edges: tuple[Any, ...]
    table: Any


@dataclass(frozen=True)
class Formula:
    """A model: `intercept` plus the sum of the terms, or of the lookups, are the scores.

    Attributes
    ----------
    terms : tuple of Term
    intercept : tuple of float
        One for each output.
    link : {"identity", "exp", "logistic", "softmax", "ratio", "sign"}
        Function from scores to predictions: targets ("identity", "exp"), or probabilities of the classes by
        the logistic function (one output), by the softmax, or by logistic functions divided by their sum
        ("ratio"); "sign" for labels without probabilities.
    classes : tuple
        Labels; empty for targets.
    """

    terms: tuple[Term, ...]
    intercept: tuple[float, ...]
    link: str
    classes: tuple[Any, ...] = ()
    lookups: tuple[Lookup, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Columns that the terms read, each once."""
        return list(dict.fromkeys(term.column for term in self.terms))


def formula_of(model: Any, *, lookups: bool = False) -> Formula:
    """The formula of a fitted estimator or model; ValueError for a model that is not a sum of such terms, or
    for shapes and pairs unless `lookups` are supported.

    Columns without names are called x0, x1, ...
    """
    held = model if isinstance(model, Model) else model._to_model()
    if not held.started:
        raise ValueError(f"{held.name} has not learned any rows; fit it before it is exported.")
    coef, intercept = held.coefficients()
    support = np.flatnonzero(coef.any(axis=0))
    if held.method.interactions:
        raise ValueError(
            "A model with interactions=True cannot be exported: its terms are products of columns."
        )
    if not held.method.linear and not lookups:
        raise ValueError("A model of shapes or pairs is exported as SQL only; or pass effects='linear'.")
    fills, (low, high) = held.method.fills(), held.method.limits(support)
    schema = Schema.from_plain(held.about["schema"]) if "schema" in held.about else None
    sources = None if schema is None else _sources(schema)
    names = held.feature_names
    terms = []
    for at, j in enumerate(support.tolist()):
        weight = tuple(coef[:, j].tolist())
        bounds: dict[str, Any] = {"low": float(low[at]), "high": float(high[at])}
        fill = None if fills is None else float(fills[j])
        if sources is not None:
            source = sources[j]
            if source["kind"] in REFUSED:
                raise ValueError(
                    f"The model reads {source['column']!r} as {REFUSED[source['kind']]}, which exports "
                    "cannot compute; leave the column out, or make it a category."
                )
            if np.isnan(source.get("fill", 0.0)):  # the schema leaves missing numbers to the method
                source = source | {"fill": fill}
            terms.append(Term(weight=weight, **source | bounds))
            continue
        name = f"x{j}" if names is None else str(list(names)[j])
        terms.append(Term(name, name, "number", weight, fill, **bounds))
    classes = () if held.classes is None else tuple(held.classes.tolist())
    return Formula(
        tuple(terms), tuple(intercept.tolist()), _link(held), classes, _lookups(held, support, terms)
    )


def _lookups(model: Model, support: Any, terms: list[Term]) -> tuple[Lookup, ...]:
    """Shapes and pairs of a model; none where it is linear."""
    method: Any = model.method
    if method.linear:
        return ()
    tables, term = method.tables, dict(zip(support.tolist(), terms))
    found = tables.answer
    edges = {j: row[np.isfinite(row)] for j, row in zip(tables.features.tolist(), tables.edges)}
    shapes = [((j,), table) for j, table in zip(found.features.tolist(), found.tables)]
    pairs = [(tuple(pair), table) for pair, table in zip(found.pairs.tolist(), found.pair_tables)]
    return tuple(
        Lookup(tuple(term[j] for j in at), tuple(edges[j] for j in at), table) for at, table in shapes + pairs
    )


def _link(model: Model) -> str:
    if model.task_name == "regression":
        return "exp" if model.method.loss == "poisson" else "identity"
    if not model.has_probabilities:
        return "sign"
    if model.q == 1:
        return "logistic"
    return "softmax" if model.softmax else "ratio"


def _sources(schema: Schema) -> list[dict[str, Any]]:
    """The terms of all features of a schema without their weights, in the order of the features."""
    numbers = schema.numbers
    out: list[dict[str, Any]] = [
        {"feature": c.name, "column": c.name, "kind": "number", "fill": c.fill} for c in numbers
    ]
    out += [
        {"feature": f"{c.name}={MISSING}", "column": c.name, "kind": "missing"}
        for c in numbers
        if c.indicator
    ]
    for column in schema.coded:
        if column.kind == "category":
            out += _levels(column, column.name, "category")
        elif column.kind == "date" and column.format != "time":
            if column.indicator:
                name = f"{column.name} days"
                out.append({"feature": name, "column": column.name, "kind": "days", "fill": column.fill})
            if column.levels:  # a date is missing if it has no month
                name = f"{column.name}={MISSING}"
                out.append({"feature": name, "column": column.name, "kind": "month", "missing": True})
            for part in column.parts:
                out += _levels(part, column.name, part.name.rsplit(" ", 1)[1])
        else:
            kind = "text" if column.kind == "text" else "time"
            out += [{"feature": name, "column": column.name, "kind": kind} for name in column.features()]
    return out


def _levels(column: Column, source: str, kind: str) -> list[dict[str, Any]]:
    """The features of a column of categories, as `sources.table` encodes them."""
    known = tuple(
        level
        for level in dict.fromkeys((*column.levels, column.reference, *column.merged))
        if level not in (OTHER, MISSING)
    )
    out = []
    for level in column.levels:
        # values that are not known are "other"; missing ones are too, where they have no feature of their own
        others = level == OTHER
        missing = level == MISSING or (
            others and MISSING not in (*column.levels, column.reference, *column.merged)
        )
        named = known if others else (level,)
        out.append(
            {
                "feature": f"{column.name}={level}", "column": source, "kind": kind, "levels": named,
                "others": others, "missing": missing, "numeric": column.format == "number",
            }
        )  # fmt: skip
    return out
