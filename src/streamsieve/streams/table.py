"""The columns of a table: which is target, weight, feature, and the one-hot features of what is no number."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..clusters import hash_ids
from ..params import Advice
from ..rows import Rows
from .bad_data import BadData, shortened
from .examples import Examples
from .readers.base import Options, Reader

IGNORED = 2**31 - 1  # of cpp/text/csv.hpp
Codes = NDArray[np.int32]


class Table:
    """What becomes of each column, decided once from the header and from which columns hold text.

    Numbers come as two matrices, `features` and `others` (target, weight), and what is no number as codes
    into the values met. Features are the numbers in the order of the columns, then one for each value of a
    text column in the order met, row by row; or, where `feature_names` says so, exactly those, in that order.
    """

    def __init__(self, columns: Sequence[str], texts: Sequence[int], options: Options, file: str) -> None:
        self.columns, self.texts, self.file = list(columns), list(texts), file
        self.max_categories = options.max_categories
        self._at = {name: c for c, name in enumerate(self.columns)}
        if len(self._at) < len(self.columns):
            twice = next(name for c, name in enumerate(self.columns) if self._at[name] != c)
            raise BadData(f"two columns are called {shortened(twice)!r}; give each its own name", file, 1)
        is_text = set(self.texts)
        self.target = None if options.target is None else self._place(options.target, "target")
        self.weight = None if options.weight is None else self._place(options.weight, "weight")
        self.cluster = None if options.cluster is None else self._place(options.cluster, "cluster")
        special = [c for c in (self.target, self.cluster, self.weight) if c is not None]
        for name, c in (("weight", self.weight), ("cluster", self.cluster)):
            if c is not None and special.count(c) > 1:
                other = "target" if c == self.target else "cluster"
                raise BadData(f"one column cannot be both {other} and {name}", file, 1, self.columns[c])
        wanted = set(range(len(self.columns)))
        if options.columns is not None:
            wanted = {self._place(name, "column") for name in options.columns}
        wanted -= {self._place(name, "column to drop") for name in options.drop}
        wanted -= set(special)
        if self.weight is not None and self.weight in is_text:
            raise BadData("the weights are not numbers", file, column=self.columns[self.weight])
        self.fixed = options.feature_names is not None
        given = {name: j for j, name in enumerate(options.feature_names or ())}
        split = {name: self._split(name) for name in given}  # column and value of each name
        if self.fixed:
            is_text -= {c for c, value in split.values() if value is None}
            is_text |= {c for c, value in split.values() if value is not None}
            wanted = {c for c, _ in split.values()}
        met = [c for c in sorted(wanted) if c in is_text]
        if met and options.categories == "error":
            names = ", ".join(repr(shortened(self.columns[c])) for c in met[:5])
            raise BadData(
                f"{len(met)} columns are not numbers ({names}{', ...' if len(met) > 5 else ''})",
                file,
                column=self.columns[met[0]],
                advice=Advice(
                    "pass {} to encode or {} to leave them out",
                    ("categories", "onehot"),
                    ("categories", "drop"),
                ),
            )
        # wanted columns of text, where features are not given by name, and target and cluster if they are
        coded = [c for c in (self.target, self.cluster) if c in self.texts]
        self.text_columns = {*([] if self.fixed else met), *coded}
        self.categories = met if options.categories == "onehot" else []  # columns that are one-hot encoded
        self.numbers = [c for c in sorted(wanted) if c not in is_text]
        if self.fixed:
            self.numbers = [c for c, value in split.values() if value is None]
        if not self.numbers and not self.categories:
            raise BadData("no column is left for a feature beside target, weight and those dropped", file, 1)
        self.coded = [*self.categories, *(c for c in coded if c is not None)]
        self.others = [c for c in special if c not in self.texts]  # the weight last
        self.roles = np.full(len(self.columns), IGNORED, dtype=np.int32)
        self.roles[self.numbers + self.others] = np.arange(len(self.numbers) + len(self.others))
        self.roles[self.coded] = ~np.arange(len(self.coded), dtype=np.int32)
        self.names = list(given) or [self.columns[c] for c in self.numbers]
        self._where = np.array(
            [given.get(self.columns[c], j) for j, c in enumerate(self.numbers)], dtype=np.int64
        )
        self.met: list[tuple[int, str]] = []  # text column and value of each one-hot feature
        self._places: list[dict[str, int]] = [{} for _ in self.categories]
        for name, (c, value) in split.items():
            if value is not None:
                self._places[self.categories.index(c)][value] = given[name]

    def _split(self, name: str) -> tuple[int, str | None]:
        """The column of a feature by its name, and the value it stands for, if it is ``column=value``."""
        if name in self._at:
            return self._at[name], None
        for i, letter in enumerate(name):
            if letter == "=" and name[:i] in self._at:
                return self._at[name[:i]], name[i + 1 :]
        return self._place(name, "column for the feature"), None

    def _place(self, name: Any, what: str) -> int:
        if name in self._at:
            return self._at[name]
        p = len(self.columns)
        if isinstance(name, int) and not isinstance(name, bool) and -p <= name < p:
            return name % p
        near = difflib.get_close_matches(str(name), self.columns, n=3, cutoff=0.5)
        some = near or self.columns[:8]
        hint = (
            f"did you mean {' or '.join(repr(shortened(one)) for one in near)}?"
            if near
            else f"it has {', '.join(repr(shortened(one)) for one in some)}"
            + (", ..." if p > len(some) else "")
        )
        raise BadData(f"there is no {what} {name!r}; {hint}".rstrip("?"), self.file, 1, str(name))

    def used(self) -> list[str]:
        """Names of the columns that are looked at."""
        return [self.columns[c] for c in sorted({*self.numbers, *self.others, *self.coded})]

    def missing(self, how: int) -> NDArray[np.uint8]:
        """How each column takes a missing value: target, weight and cluster never do."""
        out = np.full(len(self.columns), how, dtype=np.uint8)
        out[[c for c in (self.target, self.weight, self.cluster) if c is not None]] = 0
        return out

    def meet(self, k: int, value: str) -> int:
        """The feature of a value of the k-th category column: a new one if it is met for the first time.

        Where the features are given there are no new ones, and -1 is none.
        """
        places = self._places[k]
        place = places.get(value)
        if place is None and self.fixed:
            return -1
        if place is None:
            column = self.columns[self.categories[k]]
            if len(places) >= self.max_categories:
                raise BadData(
                    f"more than {self.max_categories:,} different values, the last {value[:40]!r}",
                    self.file,
                    column=column,
                    advice=Advice("leave the column out ({}), or pass a larger {}", "drop", "max_categories"),
                )
            name = f"{column}={value}"
            if name in self._at:
                raise BadData(
                    f"its value {shortened(value)!r} makes the feature {shortened(name)!r}, which is a "
                    "column too",
                    self.file,
                    column=column,
                    advice=Advice("rename one, or leave it out ({})", "drop"),
                )
            place = places[value] = len(self.names)
            self.met.append((k, value))
            self.names.append(name)
        return place

    def examples(
        self,
        features: NDArray[np.float64],
        others: NDArray[np.float64],
        codes: Codes,
        values: Sequence[Sequence[str]],
    ) -> Examples:
        """Rows of numbers and of codes, column by column, into the values met."""
        w = None if self.weight is None else np.ascontiguousarray(others[:, self.others.index(self.weight)])
        if self.target is None:
            y: NDArray[Any] | None = None
        elif self.target in self.others:
            y = np.ascontiguousarray(others[:, self.others.index(self.target)])
        else:
            k = self.coded.index(self.target)
            y = np.array(values[k] or [""])[codes[:, k]]
        rows = self._encode(features, codes, values) if self.categories else Rows(features)
        return Examples(rows, y, w, self._clusters(others, codes, values))

    def _clusters(
        self, others: NDArray[np.float64], codes: Codes, values: Sequence[Sequence[str]]
    ) -> NDArray[np.int64] | None:
        if self.cluster is None:
            return None
        if self.cluster in self.others:
            return hash_ids(others[:, self.others.index(self.cluster)])
        k = self.coded.index(self.cluster)
        return hash_ids(np.array(values[k] or [""]))[codes[:, k]]

    def _encode(self, features: NDArray[np.float64], codes: Codes, values: Sequence[Sequence[str]]) -> Rows:
        n, m, k = len(features), len(self.numbers), len(self.categories)
        known = [np.array([self._places[c].get(value, -1) for value in values[c]] + [-1]) for c in range(k)]
        places = np.stack([known[c][codes[:, c]] for c in range(k)], axis=1)
        fresh = (places < 0) & (codes[:, :k] >= 0)
        if not self.fixed and fresh.any():
            for i, c in np.argwhere(fresh):  # row by row: the order does not depend on batches
                at = codes[i, c]
                if known[c][at] < 0:
                    known[c][at] = self.meet(int(c), values[c][at])
            places = np.stack([known[c][codes[:, c]] for c in range(k)], axis=1)
        places.sort(axis=1)
        columns = np.concatenate([np.broadcast_to(self._where, (n, m)), places], axis=1)
        data = np.concatenate([features, np.ones((n, k))], axis=1)
        data[columns < 0] = 0.0
        if self.fixed:
            order = np.argsort(columns, axis=1)
            columns, data = (np.take_along_axis(a, order, axis=1) for a in (columns, data))
        keep = data != 0
        indptr = np.zeros(n + 1, dtype=np.int32)
        np.cumsum(keep.sum(axis=1), out=indptr[1:])
        return Rows(p=0, csr=(indptr, columns[keep].astype(np.int32), data[keep]))

    def state(self) -> dict[str, Any]:
        return {"columns": self.columns, "texts": self.texts, "met": [list(pair) for pair in self.met]}

    @staticmethod
    def restored(state: dict[str, Any], known: int | None, options: Options, file: str) -> Table:
        """The table as it was when `known` values had been met; None: all."""
        table = Table(state["columns"], state["texts"], options, file)
        for k, value in state["met"][:known]:
            table.meet(k, value)
        return table


@dataclass
class TableReader(Reader):
    """A reader of rows with the same columns, of which the first settle what becomes of each."""

    table: Table | None = field(default=None, init=False)

    def state(self) -> dict[str, Any]:
        return {} if self.table is None else self.table.state()

    def restore(self, state: dict[str, Any], at: dict[str, Any]) -> None:
        self._settle(Table.restored(state, at.get("met"), self.options, self.title()) if state else None)

    def _settle(self, table: Table | None) -> None:
        self.table = table
        self.names = None if table is None else table.names
        self.width = 0 if table is None else len(table.names if table.fixed else table.numbers)
