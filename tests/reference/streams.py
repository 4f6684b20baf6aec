"""The text formats read row by row in plain Python, by the rules that `read` states."""

import csv
import io
import math

MISSING = ("", "nan", "na", "n/a", "null", "?", "<na>", "#n/a")


class Bad(ValueError):
    pass


def number(text, missing="error"):
    """Python's float of plain decimal text; None for a value that is left out."""
    if text.lower() in MISSING:
        if missing == "error":
            raise Bad(text)
        return math.nan if missing == "keep" else None
    if not text.isascii() or set(text) - set("0123456789+-.eE"):
        raise Bad(text)
    try:
        x = float(text)
    except ValueError:
        raise Bad(text) from None
    if math.isinf(x):
        raise Bad(text)
    return x


def svmlight_row(line, zero_based=False, missing="error", n_features=2**31 - 1):
    """(label, [(index, value), ...]) of a line, or None where it holds no row."""
    tokens = line.split("#")[0].replace("\t", " ").split(" ")
    tokens = [token for token in tokens if token]
    if not tokens:
        return None
    label, *pairs = tokens
    y = number(label)
    if pairs and pairs[0].startswith("qid:"):
        if not pairs[0][4:].removeprefix("-").isdigit():
            raise Bad(pairs[0])
        pairs = pairs[1:]
    row = {}
    for pair in pairs:
        index, colon, value = pair.partition(":")
        if not colon or not (index.isascii() and index.isdigit()) or not value:
            raise Bad(pair)
        j = int(index) - (not zero_based)
        if not 0 <= j < n_features:
            raise Bad(pair)
        x = number(value, missing)
        if x is not None:
            if j in row:
                raise Bad(pair)
            row[j] = x
    return y, sorted(row.items())


def svmlight(text, skip=False, **rules):
    """All rows of a text, how many bad ones were skipped, and whether it stopped at one."""
    rows, bad = [], 0
    for line in text.split("\n"):
        try:
            row = svmlight_row(line.removesuffix("\r"), **rules)
        except Bad:
            if not skip:
                return rows, bad, True
            bad += 1
        else:
            if row is not None:
                rows.append(row)
    return rows, bad, False


def csv_rows(text, target, kinds, missing="mean", delimiter=","):
    """Names, rows and targets of well-formed CSV whose columns are numbers or categories.

    Numbers come in file order, then one feature for each category of a column but for the most frequent one,
    the more frequent first. A word among numbers is missing; a missing category is called "missing".
    """
    header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    cells = {name: [row[c].strip(" \t") for row in rows] for c, name in enumerate(header)}

    def value(cell):
        try:
            return number(cell, "keep")
        except Bad:
            return math.nan

    numbers = [name for name in header if kinds.get(name) == "number"]
    columns = {}
    for name in numbers:
        values = [value(cell) for cell in cells[name]]
        known = [x for x in values if x == x]
        fill = {"keep": math.nan, "zero": 0.0, "mean": math.fsum(known) / max(1, len(known))}[missing]
        columns[name] = [fill if x != x else x for x in values]
    for name in header:
        if kinds.get(name) != "category":
            continue
        values = ["missing" if cell.lower() in MISSING else cell for cell in cells[name]]
        met = dict.fromkeys(cell for cell in values if cell != "missing")
        met |= {"missing": None} if "missing" in values else {}
        ranked = sorted(met, key=lambda level: -values.count(level))
        for level in ranked[1:]:
            columns[f"{name}={level}"] = [float(cell == level) for cell in values]
    y = [value(cell) for cell in cells[target]]
    return list(columns), [list(row) for row in zip(*columns.values())], cells[target] if y[0] != y[0] else y
