"""Rows as dicts from Python, each with the features it has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ...core.params import Advice, ParamError
from ...core.rows import Rows
from ..bad_data import BadData
from ..examples import Examples
from .base import TABLE, Batch, Format, Reader

PIECE = 1024  # rows converted to arrays at a time


@dataclass
class Dicts(Reader):
    """A feature for each key of a number and each ``key=value`` of a string, in order of appearance."""

    source: Iterable[Mapping[str, Any]]

    def __post_init__(self) -> None:
        self.again = not isinstance(self.source, Iterator)
        if self.options.target is not None and self.options.target == self.options.weight:
            raise ParamError("weight", self.options.weight, "expected another key than the target.")
        self.restore({}, {})

    def fingerprint(self) -> Any:
        return "dicts"

    def title(self) -> str:
        return "the dicts"

    def state(self) -> dict[str, Any]:
        return {"names": self._met}

    def restore(self, state: dict[str, Any], at: dict[str, Any]) -> None:
        self.names = []
        self._met: list[list[str | None]] = []  # key and value (None: a number) of each feature
        self._places: dict[tuple[str, str | None], int] = {}
        self._values: dict[str, int] = {}  # how many strings a key has had
        self._fixed = self.options.feature_names is not None
        for name in self.options.feature_names or ():  # a string's feature is found by its name
            self._places[name, None] = len(self.names)
            self.names.append(name)
        self.width = len(self.names)
        for key, value in state.get("names", [])[: at.get("met")]:
            self._place(key, value)

    def _place(self, key: str, value: str | None) -> int:
        place = self._places.get((key, value))
        if place is None and self._fixed:
            return -1
        if place is None:
            assert self.names is not None
            if value is not None:
                self._values[key] = self._values.get(key, 0) + 1
                if self._values[key] > self.options.max_categories:
                    most = self.options.max_categories
                    raise BadData(
                        f"more than {most:,} different values, the last {value[:40]!r}",
                        self.title(),
                        column=key,
                        advice=Advice("leave it out ({}), or pass a larger {}", "drop", "max_categories"),
                    )
            place = self._places[key, value] = len(self.names)
            self._met.append([key, value])
            self.names.append(key if value is None else f"{key}={value}")
        return place

    def batches(self, at: dict[str, Any]) -> Iterator[Batch]:
        first = at.get("row", 0)
        piece: list[Mapping[str, Any]] = []
        for number, row in enumerate(self.source):
            if number < first:
                continue
            piece.append(row)
            if len(piece) == PIECE:
                yield self._batch(piece, number + 1 - PIECE)
                piece = []
        if piece:
            yield self._batch(piece, number + 1 - len(piece))

    def _batch(self, piece: list[Mapping[str, Any]], first: int) -> Batch:
        options, met, bad = self.options, len(self._met), 0
        ends, indices, data = [0], list[int](), list[float]()
        y, weights = list[Any](), list[float]()
        for number, row in enumerate(piece, first):
            try:
                entries, target, weight = self._row(row, number)
            except BadData as error:
                bad += options.bad(error)
                continue
            for place, x in sorted((self._place(key, value), x) for key, value, x in entries):
                if place >= 0:
                    indices.append(place)
                    data.append(x)
            ends.append(len(indices))
            y.append(target)
            weights.append(weight)
        csr = np.array(ends, np.int32), np.array(indices, np.int32), np.array(data, np.float64)
        numbers = all(isinstance(t, Real) for t in y)
        targets = None if options.target is None else np.array(y, dtype=np.float64 if numbers else np.str_)
        w = None if options.weight is None else np.array(weights, np.float64)
        return Batch({"row": first, "met": met}, Examples(Rows(p=0, csr=csr), targets, w), bad, 0)

    def _row(self, row: Any, number: int) -> tuple[list[tuple[str, str | None, float]], Any, float]:
        options, where = self.options, (self.title(), number + 1)
        if not isinstance(row, Mapping):
            raise BadData(f"row {number + 1:,} is a {type(row).__name__}; expected a dict", *where)
        entries, target, weight = list[tuple[str, str | None, float]](), None, 1.0
        for name in (options.target, options.weight):
            if name is not None and _missing(row.get(name)):
                raise BadData(f"row {number + 1:,} has no value for {name!r}", *where, name)
        for key, value in row.items():
            named = key in (options.target, options.weight)
            if not named and (
                key in options.drop or (options.columns is not None and key not in options.columns)
            ):
                continue
            if _missing(value):
                if options.missing not in ("keep", "zero"):
                    raise BadData(f"row {number + 1:,} holds a missing value", *where, key)
                x = math.nan
            elif isinstance(value, Real):
                x = float(value)
            elif isinstance(value, str) and key != options.weight:
                x = 1.0
            else:
                raise BadData(f"row {number + 1:,} holds {value!r}, not a number or a string", *where, key)
            if math.isinf(x) or (key == options.weight and x < 0):
                raise BadData(f"row {number + 1:,} holds {x!r}", *where, key, repr(x))
            if key == options.target:
                target = value if isinstance(value, str) else x
            elif key == options.weight:
                weight = x
            elif isinstance(value, str):
                if options.categories == "error":
                    raise BadData(f"row {number + 1:,} holds {value!r}, not a number", *where, key, value)
                if options.categories == "onehot":
                    entries.append((f"{key}={value}", None, 1.0) if self._fixed else (key, value, 1.0))
            elif options.missing == "keep" or not math.isnan(x):
                entries.append((key, None, x))
        return entries, target, weight


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and math.isnan(value))


DICTS = Format("dicts", Dicts, TABLE)
