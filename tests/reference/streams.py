"""The text formats read row by row in plain Python, by the rules that `read` states."""

import csv
import io
import math

MISSING = ("", "nan", "na", "n/a", "null")


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


def csv_rows(text, target, missing="error", delimiter=","):
    """Names, rows and targets of well-formed CSV: numbers in file order, then column=value as met."""
    header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    at = header.index(target)

    def is_number(cell):
        try:
            number(cell.strip(), "keep")
        except Bad:
            return False
        return True

    for c in range(len(header)):  # numbers with a few texts among them
        cells = [row[c] for row in rows[:1000] if row[c].strip(" \t").lower() not in MISSING]
        texts = [cell for cell in cells if not is_number(cell)]
        if texts and len(cells) - len(texts) >= 9 * len(texts):
            raise Bad(texts[0])
    kinds = [all(is_number(row[c]) for row in rows[:1000]) for c in range(len(header))]
    numbers = [c for c in range(len(header)) if c != at and kinds[c]]
    texts = [c for c in range(len(header)) if c != at and not kinds[c]]
    names = [header[c] for c in numbers]
    X, y = [], []
    for row in rows:
        x = {}
        for j, c in enumerate(numbers):
            value = number(row[c].strip(), missing)
            x[j] = 0.0 if value is None else value
        for c in texts:
            cell = row[c].strip(" \t")
            if cell.lower() in MISSING:
                if missing == "error":
                    raise Bad(cell)
                continue
            name = f"{header[c]}={cell}"
            if name not in names:
                names.append(name)
            x[names.index(name)] = 1.0
        X.append(x)
        y.append(number(row[at].strip()) if kinds[at] else row[at].strip(" \t"))
    return names, X, y
