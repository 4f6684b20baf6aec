"""Cells of text as numbers, dates and words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .bad_data import MISSING_VALUE

Array = NDArray[np.float64]

#: How numbers are written, in the order of `Style` in cpp/text/number.hpp: 1234.5, 1.234,5 and $1,234.5.
STYLES = ("plain", "comma", "grouped")


class Numbers(NamedTuple):
    """Texts read as numbers; NaN for other cells, which `missing` and `word` distinguish."""

    x: Array
    missing: NDArray[np.bool_]
    word: NDArray[np.bool_]


def as_numbers(values: Sequence[str], style: str = "plain") -> Numbers:
    x, fault = np.empty(len(values)), np.empty(len(values), dtype=np.uint8)
    _core.numbers(list(values), STYLES.index(style), x, fault)
    x[fault != 0] = np.nan
    return Numbers(x, fault == MISSING_VALUE, (fault != 0) & (fault != MISSING_VALUE))


#: Words for a missing value, and errors of spreadsheets; as in cpp/text/number.hpp.
_MISSING = frozenset(
    (
        "",
        "nan",
        "na",
        "n/a",
        "null",
        "?",
        "<na>",
        "#n/a",
        "#div/0!",
        "#value!",
        "#ref!",
        "#name?",
        "#num!",
        "#null!",
    )
)


def is_missing(value: str) -> bool:
    """Whether a word means a missing value in any column."""
    return value.strip(" \t").lower() in _MISSING


# ---------------------------------------------------------------- dates

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = r"(?P<b>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = (
    r"(?:[T ,]+(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2}(?:\.\d+)?))?\s*(?P<p>[ap]\.?m\.?)?"
    r"\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_DAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[., ]+)?"

#: Formats of dates: a name for each and what it looks like. Time zones are left out.
FORMATS = {
    "year-month-day": r"(?P<Y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})" + _TIME,
    "yearmonthday": r"(?P<Y>(?:19|20)\d{2})(?P<m>\d{2})(?P<d>\d{2})"
    r"(?:T?(?P<H>\d{2})(?P<M>\d{2})(?P<S>\d{2})?Z?)?",
    "month/day/year": r"(?P<m>\d{1,2})([-/.])(?P<d>\d{1,2})\2(?P<Y>\d{4}|\d{2})" + _TIME,
    "day/month/year": r"(?P<d>\d{1,2})([-/.])(?P<m>\d{1,2})\2(?P<Y>\d{4}|\d{2})" + _TIME,
    "day month year": _DAY + rf"(?P<d>\d{{1,2}})[- .]+{_NAME}[- ,]+(?P<Y>\d{{4}}|\d{{2}})" + _TIME,
    "month day, year": _DAY + rf"{_NAME}[-\s]+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[-,\s]+(?P<Y>\d{{4}})" + _TIME,
    "year-month": r"(?P<Y>(?:19|20)\d{2})[-/](?P<m>\d{2})",
    "month year": rf"{_NAME}[- ](?P<Y>\d{{4}})",
    "year month": rf"(?P<Y>\d{{4}})[- ]{_NAME}",
    "year week": r"(?P<Y>(?:19|20)\d{2})[- :/]?W(?P<w>\d{1,2})",
    "year quarter": r"(?P<Y>(?:19|20)\d{2})[- :/]?Q(?P<q>[1-4])",
    "time": r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2}(?:\.\d+)?))?\s*(?P<p>[ap]\.?m\.?)?",
}
#: Formats that cannot be confused with other values.
CERTAIN = ("year-month-day", "day month year", "month day, year")
#: Formats without a day.
MONTHLY = ("year-month", "month year", "year month", "year week", "year quarter")
ZONE = re.compile(r"[A-Za-z+-]")  # behind the T before the time
_EPOCH = date(1970, 1, 1).toordinal()


def as_days(values: Sequence[str], format: str) -> Array:
    """Days since 1970-01-01, with the time as a fraction; NaN for text that does not match the format."""
    if format == "year-month-day" and all(
        value[4:5] == value[7:8] == "-" and not ZONE.search(value, 11) for value in values
    ):  # 20240305 is a year to NumPy, and 2024-03 a month; it would convert to UTC
        try:
            seconds = np.array(list(values), dtype="datetime64[ms]")
            return np.asarray(seconds.astype(np.int64) / 86_400_000) if len(values) else np.empty(0)
        except ValueError:
            pass  # one of them has another format
    match = re.compile(FORMATS[format], re.IGNORECASE).fullmatch
    return np.array([_days(match(value.strip())) for value in values], dtype=np.float64)


def _days(match: re.Match[str] | None) -> float:
    if match is None:
        return np.nan
    part = match.groupdict()
    day = 0
    if part.get("Y") is not None:
        year = int(part["Y"])
        if year < 100:
            year += 2000 if year < 69 else 1900  # as POSIX has it
        try:
            if part.get("w"):
                found = date.fromisocalendar(year, int(part["w"]), 1)
            elif part.get("q"):
                found = date(year, 3 * int(part["q"]) - 2, 1)
            else:
                month = int(part["m"]) if part.get("m") else _MONTHS.index(part["b"].lower()) + 1
                found = date(year, month, int(part.get("d") or 1))
        except ValueError:
            return np.nan
        day = found.toordinal() - _EPOCH
    hour, minute, second = int(part.get("H") or 0), int(part.get("M") or 0), float(part.get("S") or 0)
    if part.get("p"):
        hour = hour % 12 + (12 if part["p"][0] in "pP" else 0)
    if hour > 24 or minute > 59 or second >= 61:
        return np.nan
    return day + (hour + (minute + second / 60) / 60) / 24


#: The parts of a date that become categories, from days since 1970-01-01.
PARTS: dict[str, Callable[[Array], NDArray[np.int64]]] = {
    "month": lambda days: _whole(days).astype("datetime64[M]").astype(np.int64) % 12 + 1,
    "weekday": lambda days: (np.floor(days).astype(np.int64) + 3) % 7,
    "hour": lambda days: np.floor((days - np.floor(days)) * 24 + 1e-6).astype(np.int64),
}
_LABELS = {
    "month": ("", *(name.capitalize() for name in _MONTHS)),
    "weekday": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
}


def _whole(days: Array) -> NDArray[np.datetime64]:
    return np.floor(days).astype(np.int64).astype("datetime64[D]")


def labels_of(part: str, days: Array) -> list[str]:
    """A part of each date, as its feature is called."""
    numbers = PARTS[part](days).tolist()
    names = _LABELS.get(part)
    return [str(number) if names is None else names[number] for number in numbers]


def iso(days: float) -> str:
    """A day as people read it."""
    return str(np.datetime64(int(np.floor(days)), "D"))


# ---------------------------------------------------------------- words

_WORD = re.compile(r"\w\w+")  # as scikit-learn's vectorizers have it: two letters or digits, or more


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def bucket_of(word: str, buckets: int) -> int:
    """The same for a word on every machine and in every run."""
    return zlib.crc32(word.encode()) % buckets
