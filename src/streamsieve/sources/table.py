"""Application of a schema: which cells of a table are read, and their features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Rows
from ..statistics.folds import hash_ids
from .cells import STYLES, Array, as_days, as_numbers, bucket_of, labels_of, words_of
from .examples import Examples
from .infer import MAJORITY, Sample, infer
from .readers.base import Options, Reader
from .schema import MISSING, OTHER, Column, Schema, digits, place_of
from .together import Words, as_words

IGNORED = 2**31 - 1  # of cpp/text/csv.hpp
ERROR, FILL, LEAVE_OUT = 0, 1, 2  # Gap of cpp/text/csv.hpp
Codes = NDArray[np.int32]


class Entries(NamedTuple):
    """Features and their values, in CSR: of each of some cells, or of each of some rows."""

    length: NDArray[np.int64]
    place: NDArray[np.int64]
    value: Array


class Table:
    """The columns of a source that are read according to a schema.

    Numbers come as two matrices, `features` and `others` (target, weight), and other input as codes into the
    list of values. Features are those of `feature_names`, if given, else those of the schema, in its order.

    Attributes
    ----------
    columns : list of str
        Columns of the source; they may differ in number and order from those of the schema.
    numbers, others, coded : list of int
        Columns read as numbers that are features, as numbers that are not, and as codes.
    roles, gaps, styles, fills : arrays
        Of each column, for `_core.csv`.
    """

    def __init__(self, columns: Sequence[str], schema: Schema, options: Options, file: str) -> None:
        self.columns, self.schema, self.file = list(columns), schema, file
        self._at = {name: c for c, name in enumerate(self.columns)}
        self.skips_unlabelled = options.missing != "error"
        all_names = schema.feature_names
        wanted = None if options.feature_names is None else list(options.feature_names)
        self.names = all_names if wanted is None else wanted
        self._place: NDArray[np.int64] | None = None  # of each feature of the schema among the names
        if wanted is not None:
            given = {name: j for j, name in enumerate(wanted)}
            self._place = np.array([given.get(name, -1) for name in all_names], dtype=np.int64)
        start = 0
        number, indicated, encoded = [], [], []
        for column in schema.numbers:
            number.append((column, start))
            start += 1
        for column in schema.numbers:
            if column.indicator:
                indicated.append((column, start))
                start += 1
        for column in schema.coded:
            encoded.append((column, start))
            start += len(column.features())
        self._indicated = {column.name: j for column, j in indicated if self._wants(j, 1)}
        self._numbers = [
            (column, j) for column, j in number if self._wants(j, 1) or column.name in self._indicated
        ]
        self._coded = [(column, j) for column, j in encoded if self._wants(j, len(column.features()))]
        self.target = self._special("target", options.target)
        self.weight = self._special("weight", options.weight)
        self.cluster = self._special("cluster", options.cluster)
        words = {column.name for column in schema.kind("target", "cluster") if column.note == "words"}
        coded = [c for c in (self.target, self.cluster) if c is not None and self.columns[c] in words]
        self.numbers = [self._find(column) for column, _ in self._numbers]
        self.coded = [self._find(column) for column, _ in self._coded] + coded
        special = [c for c in (self.target, self.cluster, self.weight) if c is not None]
        self.others = [c for c in special if c not in coded]  # the weight last
        self._rules(options)
        self.unknown: dict[str, tuple[int, str]] = {}  # rows with unknown values by column, and one of them

    def _wants(self, start: int, count: int) -> bool:
        return self._place is None or bool((self._place[start : start + count] >= 0).any())

    def _special(self, role: str, given: Any) -> int | None:
        if given is None:
            return None
        known = self.schema.kind(role)
        name = known[0].name if known and given not in self._at else given
        return place_of(name, self._at, role, self.file)

    def _find(self, column: Column) -> int:
        return place_of(column.name, self._at, "column for the feature", self.file)

    def _rules(self, options: Options) -> None:
        """The settings of the columns for the compiled parser."""
        p = len(self.columns)
        self.roles = np.full(p, IGNORED, dtype=np.int32)
        self.roles[self.numbers + self.others] = np.arange(len(self.numbers) + len(self.others))
        self.roles[self.coded] = ~np.arange(len(self.coded), dtype=np.int32)
        self.gaps = np.full(p, ERROR if options.missing == "error" else FILL, dtype=np.uint8)
        for c in (self.target, self.weight, self.cluster):
            if c is not None:
                self.gaps[c] = LEAVE_OUT if c == self.target and self.skips_unlabelled else ERROR
        self.styles = np.zeros(p, dtype=np.uint8)
        self.fills = np.zeros(p)
        for (column, _), c in zip(self._numbers, self.numbers):
            self.fills[c] = np.nan if column.name in self._indicated else column.fill
        for column in self.schema.columns:
            if column.name in self._at:
                self.styles[self._at[column.name]] = STYLES.index(column.style)

    @cached_property
    def plain_schema(self) -> dict[str, Any]:
        """The schema as JSON: part of the position after every block."""
        return self.schema.plain()

    def used(self) -> list[str]:
        """Names of the columns that are read."""
        return [self.columns[c] for c in sorted({*self.numbers, *self.others, *self.coded})]

    def style(self, c: int) -> str:
        return STYLES[self.styles[c]]

    # ---------------------------------------------------------------- rows

    def examples(
        self, features: Array, others: Array, codes: Codes, values: Sequence[Sequence[str]]
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
        for k, (column, _) in enumerate(self._coded):
            self._count_unknown(column, values[k], codes[:, k])
        rows = self._rows(features, codes, values)
        return Examples(rows, y, w, self._clusters(others, codes, values))

    def _clusters(
        self, others: Array, codes: Codes, values: Sequence[Sequence[str]]
    ) -> NDArray[np.int64] | None:
        if self.cluster is None:
            return None
        if self.cluster in self.others:
            return hash_ids(others[:, self.others.index(self.cluster)])
        k = self.coded.index(self.cluster)
        return hash_ids(np.array(values[k] or [""]))[codes[:, k]]

    def _count_unknown(self, column: Column, values: Sequence[str], codes: Codes) -> None:
        """Count rows with a value without a feature, which is read as the most frequent one."""
        known = {*column.levels, column.reference, *column.merged}
        if column.kind != "category" or column.format or not column.reference or OTHER in known:
            return
        new = [code for code, value in enumerate(values) if value not in known]
        if new:
            rows, example = self.unknown.get(column.name, (0, values[new[0]]))
            self.unknown[column.name] = rows + int(np.isin(codes, new).sum()), example

    def _rows(self, features: Array, codes: Codes, values: Sequence[Sequence[str]]) -> Rows:
        if not self._coded and not self._indicated:
            return Rows(features if self._place is None else self._picked(features))
        parts = [self._of_numbers(features)]
        parts += [
            entries_of_rows(encode(column, values[k], first), codes[:, k])
            for k, (column, first) in enumerate(self._coded)
        ]
        return self._stacked(parts, len(features))

    def _picked(self, features: Array) -> Array:
        """The numbers of the features asked for, in their order."""
        assert self._place is not None
        out = np.zeros((len(features), len(self.names)))
        out[:, [self._place[j] for _, j in self._numbers]] = features
        return out

    def _of_numbers(self, features: Array) -> Entries:
        """The numbers that are not 0, and indicators of those that are missing."""
        places = [j for _, j in self._numbers]
        if self._indicated:
            gone = np.isnan(features)
            at = [k for k, (column, _) in enumerate(self._numbers) if column.name in self._indicated]
            fill = np.array([column.fill for column, _ in self._numbers])
            features = np.where(gone, fill, features)
            features = np.concatenate([features, gone[:, at]], axis=1)
            places += [self._indicated[self._numbers[k][0].name] for k in at]
        keep = features != 0
        index = np.broadcast_to(np.array(places, dtype=np.int64), features.shape)[keep]
        return Entries(keep.sum(axis=1), index, features[keep])

    def _stacked(self, parts: list[Entries], n: int) -> Rows:
        """The entries of each row from all parts, in the order of the features."""
        length = sum((part.length for part in parts), np.zeros(n, dtype=np.int64))
        indptr = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(length, out=indptr[1:])
        index, value = np.empty(indptr[-1], dtype=np.int64), np.empty(indptr[-1])
        before = indptr[:-1].copy()
        for part in parts:
            own = np.cumsum(part.length) - part.length
            to = np.repeat(before - own, part.length) + np.arange(len(part.place))
            index[to], value[to] = part.place, part.value
            before += part.length
        if self._place is not None:
            index = self._place[index]
            keep = index >= 0
            rows = np.repeat(np.arange(n), length)[keep]
            order = np.lexsort((index[keep], rows))
            index, value = index[keep][order], value[keep][order]
            np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
        return Rows(p=len(self.names), csr=(indptr.astype(np.int32), index.astype(np.int32), value))


# ---------------------------------------------------------------- cells into features


def entries_of_rows(cells: Entries, codes: Codes) -> Entries:
    """The entries of rows whose cells have these codes; the last of the cells is the missing one, -1."""
    length = cells.length[codes]
    start = (np.cumsum(cells.length) - cells.length)[codes]
    own = np.cumsum(length) - length
    at = np.repeat(start - own, length) + np.arange(int(length.sum()))
    return Entries(length, cells.place[at], cells.value[at])


def encode(column: Column, values: Sequence[str], first: int) -> Entries:
    """The features, from number `first` on, of each value of a column, and of a missing one."""
    return _ENCODERS[column.kind](column, values, first)


def _category(column: Column, values: Sequence[str | None], first: int) -> Entries:
    places = {level: first + j for j, level in enumerate(column.levels)}
    places |= dict.fromkeys((column.reference, *column.merged), -1)
    if column.format == "number":
        x = as_numbers([value or "" for value in values]).x.tolist()
        values = [None if v != v else digits(v) for v in x]
    unknown = places.get(OTHER, -1)
    missing = places.get(MISSING, unknown)
    at = [missing if value is None else places.get(value, unknown) for value in values]
    index = np.array([*at, missing], dtype=np.int64)
    used = index >= 0
    return Entries(used.astype(np.int64), index[used], np.ones(int(used.sum())))


def _date(column: Column, values: Sequence[str], first: int) -> Entries:
    days = np.append(as_days(values, column.format), np.nan)
    known = np.isfinite(days)
    parts = []
    if column.indicator:
        filled = np.where(known, days, column.fill)
        parts.append(Entries(np.ones(len(days), dtype=np.int64), np.full(len(days), first), filled))
        first += 1
    if column.levels:
        missing = ~known
        parts.append(Entries(missing.astype(np.int64), np.full(missing.sum(), first), np.ones(missing.sum())))
        first += 1
    for part in column.parts:
        labels: list[str | None] = [None] * len(days)
        names = labels_of(part.name.rsplit(" ", 1)[1], days[known])
        for i, label in zip(np.flatnonzero(known).tolist(), names):
            labels[i] = label
        found = _category(part, labels[:-1], first)
        parts.append(found)
        first += len(part.levels)
    return _joined(parts, len(days))


def _joined(parts: list[Entries], n: int) -> Entries:
    """The entries of each cell from all parts."""
    rows = np.concatenate([np.repeat(np.arange(n), part.length) for part in parts])
    order = np.argsort(rows, kind="stable")
    index = np.concatenate([part.place for part in parts])[order]
    value = np.concatenate([part.value for part in parts])[order]
    return Entries(np.bincount(rows, minlength=n), index, value)


def _text(column: Column, values: Sequence[str], first: int) -> Entries:
    places = {word: j for j, word in enumerate(column.words)}
    buckets = len(column.buckets)
    length, index, value = [], list[int](), list[float]()
    for text in values:
        found: Counter[int] = Counter()
        for word in words_of(text):
            j = places.get(word, -1)
            if j < 0 and buckets:
                j = len(places) + bucket_of(word, buckets)
            if j >= 0:
                found[j] += 1
        at = sorted(found)
        counts = np.array([found[j] for j in at], dtype=np.float64)
        if column.weights and at:
            weight = np.array([column.weights[j] if j < len(places) else column.weights[-1] for j in at])
            counts *= weight
            counts /= np.sqrt(counts @ counts)
        length.append(len(at))
        index += [first + j for j in at]
        value += counts.tolist()
    return Entries(np.array([*length, 0]), np.array(index, dtype=np.int64), np.array(value))


_ENCODERS: dict[str, Callable[[Column, Any, int], Entries]] = {
    "category": _category,
    "date": _date,
    "text": _text,
}


def with_moments(schema: Schema, sample: Sample) -> Schema:
    """The schema with mean and standard deviation of its features over its rows."""
    at = {name: c for c, name in enumerate(sample.names)}
    mean, square = list[Array](), list[Array]()
    n = max(1, sample.rows)
    gaps = []
    for column in schema.numbers:
        x = _numbers_of(sample.columns[at[column.name]], column.style)
        gone = np.isnan(x)
        known = x[~gone]
        scale = max(float(np.abs(known).max(initial=0.0)), 1e-300)  # squares may overflow
        fill = column.fill / scale
        if np.isnan(fill):  # missing numbers are left to the method, which uses the mean
            fill = float((known / scale).mean()) if len(known) else 0.0
        x = np.where(gone, fill, x / scale)
        mean.append(np.array([x.sum() / n * scale]))
        square.append(np.array([np.std(x) * scale if len(x) else 0.0]))
        if column.indicator:
            gaps.append(gone.sum() / n)
    share = np.array(gaps)
    mean.append(share)
    square.append(np.sqrt(share * (1 - share)))
    for column in schema.coded:
        values = sample.columns[at[column.name]]
        words = values if isinstance(values, Words) else as_words(values)  # type: ignore[arg-type]
        entries = entries_of_rows(encode(column, words.values, 0), words.codes)
        p = len(column.features())
        first = np.bincount(entries.place, entries.value, p) / n
        centre = first[entries.place]
        # about the mean, or the days of dates would cancel
        about = np.bincount(entries.place, (entries.value - centre) ** 2, p)
        zeros = n - np.bincount(entries.place, minlength=p)
        mean.append(first)
        square.append(np.sqrt((about + zeros * first**2) / n))
    return replace(
        schema,
        mean=tuple(np.concatenate(mean).tolist()) if mean else (),
        deviation=tuple(np.concatenate(square).tolist()) if square else (),
    )


def _numbers_of(values: Array | Words | None, style: str) -> Array:
    assert values is not None
    if not isinstance(values, Words):
        return values
    return np.append(as_numbers(values.values, style).x, np.nan)[values.codes]


def schema_of(sample: Sample, options: Options, file: str) -> Schema:
    """The schema given by `feature_names`, or else the one inferred from the rows."""
    if options.feature_names is None:
        return with_moments(infer(sample, options, file), sample)
    at = {name: c for c, name in enumerate(sample.names)}
    levels: dict[str, list[str]] = {}
    numeric = []
    for name in options.feature_names:
        column, value = _split(name, at, file)
        if value is None:
            numeric.append(column)
        else:
            levels.setdefault(column, []).append(value)
    narrow = options.but(
        columns=(*numeric, *levels), numeric=tuple(numeric), categorical=tuple(levels), text=(), date=(),
        drop=(), categories="onehot",
    )  # fmt: skip
    schema = infer(sample, narrow, file)
    columns = tuple(
        replace(column, kind="category", levels=tuple(levels[column.name]), reference="")
        if column.name in levels
        else column
        for column in schema.columns
    )
    return with_moments(replace(schema, columns=columns), sample)


def _split(name: str, at: dict[str, int], file: str) -> tuple[str, str | None]:
    """The column of a feature by its name, and its value, if it is called ``column=value``."""
    if name in at:
        return name, None
    for i, letter in enumerate(name):
        if letter == "=" and name[:i] in at:
            return name[:i], name[i + 1 :]
    place_of(name, at, "column for the feature", file)
    raise AssertionError  # pragma: no cover


# ---------------------------------------------------------------- readers of tables


@dataclass
class TableReader(Reader):
    """A reader of rows with the same columns, with a schema from some rows or from a model."""

    table: Table | None = field(default=None, init=False)
    odd: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), init=False)
    rows: int = field(default=0, init=False)

    @property
    def schema(self) -> Schema | None:
        return None if self.table is None else self.table.schema

    def odd_cells(self) -> dict[str, int]:
        """Words among the numbers of a column, which were read as missing."""
        if self.table is None:
            return {}
        return {self.table.columns[c]: int(self.odd[c]) for c in np.flatnonzero(self.odd)}

    def unknown_values(self) -> dict[str, tuple[int, str]]:
        """Rows with a value that the schema does not know, by column, and one such value."""
        return {} if self.table is None else self.table.unknown

    def state(self) -> dict[str, Any]:
        if self.table is None:
            return {}
        return {"columns": self.table.columns, "schema": self.table.plain_schema}

    def restore(self, state: dict[str, Any], at: dict[str, Any]) -> None:  # noqa: ARG002
        self.settle(
            Table(state["columns"], Schema.from_plain(state["schema"]), self.options, self.title())
            if state
            else None
        )

    def settle(self, table: Table | None) -> None:
        self.table = table
        self.names = None if table is None else table.names
        self.width = 0 if table is None else len(table.names)
        self.odd, self.rows = np.zeros(0 if table is None else len(table.columns), dtype=np.int64), 0

    def table_of(self, columns: Sequence[str], sample: Callable[[], Sample], file: str) -> Table:
        """The table of a source with these columns; a sample is taken if no schema is known."""
        if self.table is None:
            schema = self.options.schema
            self.settle(Table(columns, schema or schema_of(sample(), self.options, file), self.options, file))
        assert self.table is not None
        return self.table

    def too_many_odd(self, odd: NDArray[np.int64], rows: int) -> int | None:
        """Count words among the numbers of more rows; a column that has more than one in a hundred."""
        assert self.table is not None
        self.odd, self.rows = self.odd + odd, self.rows + rows
        most = (1 - MAJORITY) * max(self.rows, self.table.schema.rows)
        forced = {
            self.table.columns.index(name) for name in self.options.numeric if name in self.table.columns
        }
        if self.options.skip_bad:
            return None
        return next((int(c) for c in np.flatnonzero(self.odd > most) if c not in forced), None)
