"""The schema of a table, inferred from some of its rows."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.params import Advice
from ..core.rows import unique_labels
from ..core.words import counted
from .bad_data import BadData, shortened
from .cells import (
    CERTAIN,
    FORMATS,
    MONTHLY,
    PARTS,
    Array,
    as_days,
    as_numbers,
    bucket_of,
    iso,
    labels_of,
    words_of,
)
from .readers.base import Options
from .schema import LEFT_OUT, MISSING, OTHER, Column, Schema, digits, place_of
from .together import Together, Words, as_words

JUDGED = 20  # minimum number of rows to call a column constant, a copy or an identifier
MAJORITY = 0.99  # share of the cells that decides the kind of a column; the others are read as missing
MIXED = 0.9  # share of numbers above which words among them raise an error instead of being read as missing
CODES, CODE_ROWS = 20, 5  # up to 20 distinct values, in five rows each on average, are codes of a feature,
#   not damaged numbers: 1, 2, 3, 4, 1OT; a target may have as many labels
UNIQUE = 0.9  # share of distinct words above which a column is an identifier
RARE_ROWS, RARE_SHARE = 10, 0.01  # a value in fewer rows is pooled: its weight has an error of a third of the
#   noise, or more; of small tables a hundredth of the rows, so that values of a few rows stay
TEXT_WORDS = 2.0  # mean number of words per cell from which mostly distinct cells are text
TEXT_SHARE = 0.5  # share of such cells, and of those with a word that is not rare
MOST_WORDS = 5000  # words of a text column that have a feature each; others share
BUCKETS = 1024  # features, by their hash

#: Names of times, which may count from 1 as row numbers do: t, Month, day_of_year, ...
_TIME = re.compile(
    r"(?:^|[^a-z])(?:t|time|date|year|quarter|month|week|day|hour|minute|second|period|trend)s?(?:$|[^a-z])",
    re.IGNORECASE,
)
#: Names of whole numbers that are identifiers, where nearly all differ: id, user_id, PassengerId, ...
_IDENTIFIER = re.compile(
    r"(?i:(?:^|[^a-z])(?:id|key|index|idx|nr|no|code|uuid|guid|row_?names?)$)|[a-z](?:Id|ID|Key|Nr|No)$"
)


@dataclass
class Sample:
    """Rows from which a schema is inferred.

    Attributes
    ----------
    names : list of str
    columns : list
        For each column, numbers (an array, NaN if missing) or `Words`; None for other types (lists,
        structures).
    rows : int
    coverage : {"whole", "spread", "head"}
        Whether these are all rows, rows from all parts of the source, or its first rows.
    found : dict
        Detected properties of a text file: its delimiter, encoding, ...
    """

    names: list[str]
    columns: list[Array | Words | None]
    rows: int
    coverage: str
    found: dict[str, str]

    @property
    def rare(self) -> float:
        """Minimum number of rows of a value that is not pooled."""
        return min(RARE_ROWS, RARE_SHARE * self.rows)


def infer(sample: Sample, options: Options, file: str) -> Schema:
    """The schema of a table, from some of its rows and the options for its columns."""
    return _Inference(sample, options, file).schema()


def plain_schema(names: Sequence[str], options: Options, file: str) -> Schema:
    """The schema of columns that are all numbers; every column is used."""
    inference = _Inference(Sample(list(names), [None] * len(names), 0, "whole", {}), options, file)
    columns = []
    for c, name in enumerate(names):
        kind = inference.special.get(c, "dropped" if c in inference.dropped else "number")
        columns.append(Column(name, kind))
    inference.check(columns)
    return Schema(tuple(columns))


def has_decimal_comma(columns: Sequence[Array | Words | None]) -> bool:
    """Whether some column has numbers with a decimal comma."""
    for values in columns:
        if not isinstance(values, Words) or not len(values.values):
            continue
        some = values.values[:200]
        if np.mean(as_numbers(some, "comma").word) > 1 - MAJORITY:
            continue
        commas = [value for value in some if "," in value]
        # 1,234 may be either; a comma before other than three digits, or after 0 or a point, is decimal
        if commas and np.mean(as_numbers(commas, "grouped").word) > 1 - MAJORITY:
            return True
    return False


class MixedColumn(Exception):
    """Too many words among the numbers of a column to read them as missing."""

    def __init__(self, column: int, word: str, numbers: int, cells: int) -> None:
        super().__init__(word)
        self.column, self.word, self.numbers, self.cells = column, word, numbers, cells

    def bad_data(self, names: Sequence[str], file: str, line: int | None = None) -> BadData:
        return BadData(
            f"{shortened(self.word)!r} is not a number, as {self.numbers:,} of the {self.cells:,} cells of "
            "its column are",
            file,
            line,
            names[self.column],
            self.word,
            Advice(
                "correct it, pass {} for a column of words, {} to read its words as missing, or {}",
                "categorical",
                "numeric",
                ("on_bad_row", "skip"),
            ),
        )


class _Inference:
    def __init__(self, sample: Sample, options: Options, file: str) -> None:
        self.sample, self.options, self.file = sample, options, file
        self.judges = sample.rows >= JUDGED
        names, places = sample.names, {name: c for c, name in enumerate(sample.names)}
        self.special: dict[int, str] = {}
        for role in ("target", "weight", "cluster"):
            given = getattr(options, role)
            if given is None:
                continue
            c = place_of(given, places, role, file)
            if c in self.special:
                other = self.special[c]
                raise BadData(f"one column cannot be both {other} and {role}", file, 1, names[c])
            self.special[c] = role
        self.forced: dict[int, str] = {}
        for kind, given in (
            ("category", options.categorical), ("number", options.numeric), ("text", options.text),
            ("date", options.date),
        ):  # fmt: skip
            for name in given:
                self.forced[place_of(name, places, "column", file)] = kind
        dropped = {place_of(name, places, "column to drop", file) for name in options.drop}
        chosen = {place_of(name, places, "column", file) for name in options.columns or ()}
        self.dropped = dropped | ({*range(len(names))} - chosen if options.columns is not None else set())
        #: Columns named by the user are used even if they are constant or look like identifiers.
        self.named = chosen | set(self.forced)
        self.comma = has_decimal_comma(sample.columns)
        self.refused: list[str] = []  # columns of words, where there may be none
        self.mixed: dict[int, str] = {}  # columns of words most of which are numbers, and how many

    def schema(self) -> Schema:
        sample = self.sample
        columns = [self._column(c) for c in range(len(sample.names))]
        notes: list[str] = []
        for c, role in self.special.items():
            second = f"{sample.names[c]} (2)"
            if second in sample.names:
                notes.append(
                    f"two columns are called {shortened(sample.names[c], 40)!r}: the first is the {role}, "
                    f"the other one the feature {shortened(second, 40)!r}"
                )
        for c, how in self.mixed.items():
            if columns[c].kind in ("category", "identifier"):
                notes.append(
                    f"{shortened(columns[c].name, 40)!r} is read as words: {how}; name it as numeric to read "
                    "these as missing"
                )
        if self.judges:
            target = next((c for c, role in self.special.items() if role == "target"), None)
            together = Together(sample.columns, columns, target, self.named)
            if sample.coverage != "head":
                together.leave_out_copies()
                notes += together.leave_out_same_levels()
            notes += together.leaks(JUDGED)
            columns = together.columns
        found = dict(sample.found) | ({"decimal": "comma"} if self.comma else {})
        self.check(columns)
        return Schema(tuple(columns), sample.rows, sample.coverage, tuple(found.items()), notes=tuple(notes))

    def check(self, columns: list[Column]) -> None:
        """Raise BadData where columns are refused, or none is left."""
        if self.refused:
            names = ", ".join(repr(shortened(name)) for name in self.refused[:5])
            more = ", ..." if len(self.refused) > 5 else ""
            raise BadData(
                f"{len(self.refused)} columns are not numbers ({names}{more})",
                self.file,
                column=self.refused[0],
                advice=Advice(
                    "pass {} to encode or {} to leave them out",
                    ("categories", "onehot"),
                    ("categories", "drop"),
                ),
            )
        if not any(column.features() for column in columns):
            gone = [column for column in columns if column.kind in LEFT_OUT and column.note]
            why = ", ".join(f"{shortened(column.name, 40)!r}: {column.note}" for column in gone[:5])
            raise BadData(
                "no column is left as a feature, apart from target, weight and the columns left out"
                + (f" ({why})" if why else ""),
                self.file,
                1,
                advice=Advice("pass the columns to use in {}", "columns") if why else None,
            )
        features = Counter(name for column in columns for name in column.features())
        twice = next((name for name, count in features.items() if count > 1), None)
        if twice is not None:
            raise BadData(
                f"two columns make a feature {shortened(twice)!r}",
                self.file,
                advice=Advice("rename one, or leave it out ({})", "drop"),
            )

    # ---------------------------------------------------------------- one column

    def _column(self, c: int) -> Column:
        name, values = self.sample.names[c], self.sample.columns[c]
        if c in self.special:
            return self._special_column(c, name, values)
        if c in self.dropped:
            return Column(name, "dropped", "not asked for")
        if values is None:
            return Column(name, "unread", "neither numbers, words nor dates")
        missing = int(np.isnan(values).sum() if not isinstance(values, Words) else (values.codes < 0).sum())
        kind = self.forced.get(c)
        if self.judges and missing == self.sample.rows and kind is None:
            return Column(name, "empty", "no values", missing)
        if not isinstance(values, Words):
            return self._of_numbers(c, name, values, missing, kind)
        if kind in (None, "number"):
            number = self._number_among_words(c, values, forced=kind == "number")
            if number is not None:
                style, x, odd = number
                gaps = int(np.isnan(x).sum())
                found = self._of_numbers(c, name, x, gaps, "number")
                note = found.note
                if odd:
                    note = note.replace(" missing,", f" missing, {odd:,} of them words,", 1)
                return replace(found, note=note, style=style, odd=odd, missing=gaps - odd)
        if self.options.categories == "error" and kind is None:
            self.refused.append(name)
        if kind in (None, "date"):
            found_date = self._date(name, values, missing, forced=kind == "date")
            if found_date is not None:
                return found_date
        if kind in (None, "text"):
            text = self._text(name, values, missing, forced=kind == "text")
            if text is not None:
                return text
        return self._category(c, name, values, missing)

    def _special_column(self, c: int, name: str, values: Array | Words | None) -> Column:
        role = self.special[c]
        if role == "cluster":
            return Column(name, role, note="words" if isinstance(values, Words) else "")
        if values is None:
            raise BadData(f"the {role} has neither numbers nor words", self.file, column=name)
        if not isinstance(values, Words):
            gone = int(np.isnan(values).sum())
            kind = "words" if self.forced.get(c) == "category" else ""
            return Column(name, role, note=kind, missing=gone)
        style, odd = "plain", 0
        number = None
        if self.forced.get(c) != "category":
            number = self._number_among_words(c, values, forced=self.forced.get(c) == "number")
        if number is not None:
            style, x, odd = number
            return Column(name, role, style=style, odd=odd, missing=int(np.isnan(x).sum()) - odd)
        if role == "weight":
            raise BadData("the weights are not numbers", self.file, column=name)
        return Column(name, role, note="words", missing=int((values.codes < 0).sum()))

    # ---------------------------------------------------------------- numbers

    def _number_among_words(self, c: int, values: Words, *, forced: bool) -> tuple[str, Array, int] | None:
        """The number format, the numbers of all rows, and the number of words among them.

        None for a column of words.
        """
        if not len(values.values):
            return ("plain", np.full(self.sample.rows, np.nan), 0) if forced else None
        counts = values.counts()
        best: tuple[float, str, Any] = (-1.0, "plain", None)
        # with decimal commas, 1.234 means 1234
        for style in ("comma", "plain") if self.comma else ("plain", "grouped"):
            found = as_numbers(values.values, style)
            numbers = float(counts @ (~found.word & ~found.missing))
            if numbers > best[0]:
                best = (numbers, style, found)
        numbers, style, found = best
        cells = float(counts @ ~found.missing)
        if numbers == 0 and not forced:
            return None
        share = numbers / cells if cells else 1.0
        if not forced and share < MAJORITY:
            name = self.sample.names[c]
            if self.judges and _IDENTIFIER.search(name) and len(counts) >= UNIQUE * cells:
                return None  # 14, 15, 15A
            few = len(counts) <= min(CODES, cells / CODE_ROWS)
            codes = few and self.judges and c not in self.special
            if share >= MIXED and not self.options.skip_bad and not codes:
                first = int(np.flatnonzero(found.word)[0])
                raise MixedColumn(c, values.values[first], int(numbers), int(cells))
            if share < MIXED or codes:
                if 2 * numbers > cells:
                    word = shortened(values.values[int(np.flatnonzero(found.word)[0])])
                    self.mixed[c] = f"{numbers:,.0f} of {cells:,.0f} cells are numbers, others like {word!r}"
                return None
        x = np.append(found.x, np.nan)[values.codes]
        return style, x, int(counts @ found.word)

    def _of_numbers(self, c: int, name: str, x: Array, missing: int, kind: str | None) -> Column:
        """A column of numbers; `kind` comes from the user or from its cells."""
        if kind == "category":
            return replace(self._category(c, name, as_words(x), missing), format="number")
        known = x[~np.isnan(x)] if missing else x
        # only whole numbers can be dates or identifiers: sorting the others took a fifth of reading a file
        whole = unique_labels(known) if _are_whole(known) else None
        if self.judges and c not in self.named:
            constant = len(known) > 0 and known.min() == known.max() and self.sample.coverage != "head"
            if constant and not missing:
                return Column(name, "constant", f"always {digits(float(known[0]))}", missing)
            if not missing and whole is not None and len(whole) > 1:
                left_out = self._needless_number(c, name, known, whole)
                if left_out is not None:
                    return left_out
            if constant:
                return replace(self._category(c, name, as_words(x), missing), format="number")
        if kind == "date" or (kind is None and whole is not None and self._are_dates(whole)):
            found = self._date(name, as_words(x), missing, forced=kind == "date")
            if found is not None:
                return found
        with np.errstate(all="ignore"):
            fill = float(known.mean()) if len(known) else 0.0
        if not np.isfinite(fill):
            fill = float(np.sort(known)[len(known) // 2])
        how = self.options.missing
        if how in ("zero", "keep"):
            fill = 0.0 if how == "zero" else float("nan")
        indicator = how == "indicator" and self.sample.rare <= missing
        note = f"{missing:,} missing, replaced by {digits(fill)}" if missing and how != "keep" else ""
        return Column(name, "number", note, missing, fill=fill, indicator=indicator)

    def _needless_number(self, c: int, name: str, known: Array, distinct: Array) -> Column | None:
        """A column of whole numbers without information: an index, an identifier."""
        if name == f"column {c + 1}" or re.fullmatch(r"Unnamed: \d+", name):
            return Column(name, "index", "whole numbers without a name, as pandas writes its index")
        with np.errstate(over="ignore"):
            steps = np.diff(known)
        named = _IDENTIFIER.search(name) is not None
        # row numbers count from 0 or 1; years do not, and like other times they may have a trend
        counts = abs(steps[0]) == 1 and distinct[0] in (0, 1) and not _TIME.search(name)
        if len(distinct) == len(known) and (steps == steps[0]).all() and (counts or named):
            return Column(name, "identifier", f"whole numbers in steps of {digits(float(steps[0]))}")
        if len(distinct) >= UNIQUE * len(known) and named:
            return Column(name, "identifier", f"{counted(len(distinct), 'number')} in {len(known):,} rows")
        return None

    def _are_dates(self, distinct: Array) -> bool:
        """Whether whole numbers are dates such as 20150327."""
        if not self.judges or len(distinct) < 2 or distinct[0] < 19000101 or distinct[-1] > 21001231:
            return False
        return not np.isnan(as_days([str(int(x)) for x in distinct], "yearmonthday")).any()

    # ---------------------------------------------------------------- dates

    def _date(self, name: str, words: Words, missing: int, *, forced: bool) -> Column | None:
        if not len(words.values):
            return None
        counts = words.counts()
        some = words.values[:50]
        best: tuple[float, str, Any] = (0.0, "", None)
        for format in FORMATS if self.judges or forced else CERTAIN:
            if not np.isfinite(as_days(some, format)).sum() * 2 > len(some):
                continue
            days = as_days(words.values, format)
            good = float(counts @ np.isfinite(days))
            if good > best[0]:
                best = (good, format, days)
        good, format, days = best
        if good < MAJORITY * counts.sum() and not (forced and good):
            if forced:
                raise BadData(
                    f"{words.values[0]!r} is not a date in a known format: {', '.join(FORMATS)}",
                    self.file,
                    column=name,
                )
            return None
        days = np.append(days, np.nan)[words.codes]
        known = days[np.isfinite(days)]
        parts = []
        for part in PARTS:
            if (part != "hour" and format == "time") or (part == "weekday" and format in MONTHLY):
                continue
            labels = labels_of(part, known)
            if len(set(labels)) < 2:
                continue
            codes = np.full(len(days), -1, dtype=np.int32)
            found = list(dict.fromkeys(labels))
            at = {label: code for code, label in enumerate(found)}
            codes[np.isfinite(days)] = [at[label] for label in labels]
            one = self._category(-1, f"{name} {part}", Words(found, codes), 0, part=True)
            if one.levels:
                parts.append(one)
        odd = int(counts.sum() - good)
        levels = (MISSING,) if 0 < self.sample.rare <= missing + odd else ()
        span = f"{iso(known.min())} to {iso(known.max())}" if format != "time" else "of the day"
        varies = format == "time" or np.floor(known.min()) < np.floor(known.max())
        if not (varies or parts or levels):
            return Column(name, "constant", f"always {span.split(' ')[0]}", missing)
        return Column(
            name, "date", f"{format}, {span}", missing, odd, fill=float(known.mean()), indicator=bool(varies),
            format=format, parts=tuple(parts), levels=levels,
        )  # fmt: skip

    # ---------------------------------------------------------------- words

    def _category(self, c: int, name: str, words: Words, missing: int, *, part: bool = False) -> Column:
        """The values that are not rare, except the most frequent one; or the reason to leave the column
        out."""
        counts, options = words.counts(), self.options
        if options.categories == "drop" and c not in self.named and not part:
            return Column(name, "dropped", "words, with categories='drop'", missing)
        rows = int(counts.sum())
        if self.judges and c not in self.named and not part:
            if len(counts) == 1 and not missing and self.sample.coverage != "head":
                return Column(name, "constant", f"always {shortened(words.values[0], 40)!r}", missing)
            if len(counts) >= UNIQUE * rows and rows >= JUDGED:
                note = f"{counted(len(counts), 'value')} in {rows:,} rows"
                return Column(name, "identifier", note, missing)
        rare = self.sample.rare
        order = np.argsort(-counts, kind="stable")
        kept = [i for i in order.tolist() if counts[i] >= rare][: options.max_categories]
        pooled = rows - int(counts[kept].sum())
        levels = {words.values[i]: int(counts[i]) for i in kept}
        for label, more in ((MISSING, missing), (OTHER, pooled)):
            if more:
                levels[label] = levels.get(label, 0) + more
        ranked = sorted(levels, key=lambda level: -levels[level])
        reference = ranked[0] if ranked else OTHER
        used = [level for level in ranked[1:] if levels[level] >= rare]
        if OTHER not in levels and self.sample.coverage == "head":
            used.append(OTHER)
        if not used and c in self.named and len(counts) > 1:  # as requested, even if they are rare
            kept = order.tolist()[: options.max_categories]
            reference, *used = [words.values[i] for i in kept]
        rest = len(counts) - len(kept)
        note = f"compared with {shortened(reference, 30)!r}"
        note += f"; {rest:,} rare values are {OTHER!r}" if rest > 1 and OTHER in used else ""
        if not used:
            note = f"{counted(len(counts), 'value')}"
            fewer = f"in fewer than {counted(math.ceil(rare), 'row')}"
            note += f", all but one {fewer}" if len(counts) > 1 else " only"
            if reference == OTHER:
                note = f"{counted(len(counts), 'value')} in {rows:,} rows, each {fewer}"
            return Column(name, "identifier" if reference == OTHER else "constant", note, missing)
        return Column(name, "category", note, missing, levels=tuple(used), reference=reference)

    def _text(self, name: str, words: Words, missing: int, *, forced: bool) -> Column | None:
        """A column of texts that mostly differ; None if the column is not text."""
        counts = words.counts()
        rows = int(counts.sum())
        if not forced:
            rarely = counts < max(self.sample.rare, 2)
            if not self.judges or self.options.categories != "onehot" or not rows:
                return None
            if counts[rarely].sum() < TEXT_SHARE * rows:
                return None
            some = words.values[:1000]
            # 2015-000123, 12:30:05 and 192.168.0.1 have no words
            words_in = sum(not word.isdigit() for text in some for word in words_of(text))
            if words_in < TEXT_WORDS * len(some):
                return None
        cells = [Counter(words_of(text)) for text in words.values]
        frequency: Counter[str] = Counter()
        for cell, count in zip(cells, counts.tolist()):
            for word in cell:
                frequency[word] += count
        least = max(self.sample.rare, 2 if self.judges else 1)
        common = [(word, n) for word, n in frequency.most_common() if n >= least]
        if not forced:
            known = {word for word, _ in common}
            covered = sum(n for cell, n in zip(cells, counts.tolist()) if not known.isdisjoint(cell))
            if covered < TEXT_SHARE * rows:
                return None
        named, rest = common[:MOST_WORDS], common[MOST_WORDS:]
        # a word that occurs in nearly all texts is not informative
        tfidf = self.options.words == "tfidf"
        weights = [float(np.log((1 + rows) / (1 + n)) + 1) for _, n in named] if tfidf else []
        buckets: tuple[str, ...] = ()
        if rest:
            shared: list[list[str]] = [[] for _ in range(BUCKETS)]
            for word, _ in rest:
                shared[bucket_of(word, BUCKETS)].append(word)
            buckets = tuple(
                f"{i} ({', '.join(some[:3])}{', ...' if len(some) > 3 else ''})"
                for i, some in enumerate(shared)
            )
        if not named:
            return Column(name, "identifier", "text without repeated words", missing)
        note = f"{counted(len(named), 'word')}" + (f", {len(rest):,} rarer ones hashed" if rest else "")
        return Column(
            name, "text", note, missing, words=tuple(word for word, _ in named), weights=tuple(weights),
            buckets=buckets,
        )  # fmt: skip


def _are_whole(x: Array) -> bool:
    """Whether all numbers are whole; of most columns the first ones show that they are not."""
    return all(np.array_equal(part, np.floor(part)) for part in (x[:100], x))
