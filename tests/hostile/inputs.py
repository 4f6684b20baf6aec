"""Malformed text: CSV and svmlight as editors, spreadsheets and other programs leave them."""

import numpy as np

from . import command
from .rules import Failure

WORDS = [
    "",
    " ",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "1e400",
    "-1e400",
    "1e-400",
    "0x10",
    "1_000",
    "1,5",
    "1;5",
    "--1",
    "+-1",
]
WORDS += [
    "1e",
    ".",
    "-",
    "e5",
    "1.2.3",
    "NULL",
    "None",
    "true",
    '"',
    '""',
    '"1"',
    '"1',
    "\x00",
    "\ufeff1",
    "１",
    "1\u00a0",
]
WORDS += [
    "9" * 400,
    "0." + "0" * 400 + "1",
    "1" * 100_000,
    "\x1b[31m",
    "a\rb",
    "#1",
    "1:1",
    "1e75",
    "1e-160",
    "١",
]
INDICES = [
    "0",
    "-1",
    "2147483647",
    "2147483648",
    "99999999999999999999",
    "1.5",
    "",
    "a",
    "1:1",
    "qid",
    "1 ",
    "01",
]
ENDS = ["\n", "\r\n", "\r", "\n\r", "\n\n", "\x85", "\u2028"]


def table(rng):
    """A CSV file with some of its cells, lines or ends changed."""
    X = rng.normal(size=(40, 4)).round(3)
    lines = ["a,b,c,d,y", *(",".join(map(str, [*x, round(x[1] - x[2], 3)])) for x in X)]
    for _ in range(rng.integers(0, 4)):
        at = int(rng.integers(len(lines)))
        cells = lines[at].split(",")
        change = rng.integers(9)
        if change == 0:
            cells[rng.integers(len(cells))] = WORDS[rng.integers(len(WORDS))]
        elif change == 1:
            cells = cells[:-1]
        elif change == 2:
            cells.append("1")
        elif change == 3:
            cells = [""]
        elif change == 4:
            cells[0] = cells[-1]
        elif change == 5:
            cells[rng.integers(len(cells))] = "x" * int(rng.choice([100, 2_000_000]))
        elif change == 6:
            cells = ["\\N"] * len(cells)
        elif change == 7:
            cells = [f' "{cell}"' for cell in cells]
        else:
            cells = [WORDS[rng.integers(len(WORDS))] for _ in cells]
        lines[at] = ",".join(cells)
    end = ENDS[rng.integers(len(ENDS))] if rng.random() < 0.3 else "\n"
    text = end.join(lines) + (end if rng.random() < 0.8 else "")
    return text.replace(",", str(rng.choice([",", ",", ",", ";", "\t", " ", "|"])))


def svmlight(rng):
    """An svmlight file with some of its labels, indices or values changed."""
    X = rng.normal(size=(40, 4)).round(3)
    lines = [f"{round(x[1] - x[2], 3)} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x in X]
    for _ in range(rng.integers(0, 4)):
        at = int(rng.integers(len(lines)))
        label, *entries = lines[at].split(" ")
        change = rng.integers(8)
        if change == 0:
            label = WORDS[rng.integers(len(WORDS))]
        elif change == 1:
            entries[rng.integers(len(entries))] = f"2:{WORDS[rng.integers(len(WORDS))]}"
        elif change == 2:
            entries[rng.integers(len(entries))] = f"{INDICES[rng.integers(len(INDICES))]}:1"
        elif change == 3:
            entries = entries[::-1]
        elif change == 4:
            entries = entries + entries
        elif change == 5:
            entries = [WORDS[rng.integers(len(WORDS))]]
        elif change == 6:
            entries = []
        else:
            entries.append("# " + WORDS[rng.integers(len(WORDS))])
        lines[at] = " ".join([label, *entries])
    end = ENDS[rng.integers(len(ENDS))] if rng.random() < 0.3 else "\n"
    return end.join(lines) + (end if rng.random() < 0.8 else "")


OPTIONS = [
    [],
    [],
    [],
    ["--on-bad-row", "skip"],
    ["--missing", "zero"],
    ["--missing", "mean"],
    ["--drop", "a"],
]
OPTIONS += [["--categorical", "b"], ["--hold-out", "5"], ["--passes", "2"], ["--shuffle-buffer", "10"]]
OPTIONS += [["--memory", "1MB"], ["--delimiter", ";"]]


def run(number, seed, folder):
    rng = np.random.default_rng([seed, number])
    svm = rng.random() < 0.5
    source = folder / ("rows.svm" if svm else "rows.csv")
    text = svmlight(rng) if svm else table(rng)
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"]))
    source.write_bytes(text.encode(encoding, errors="replace"))
    words = list(OPTIONS[rng.integers(len(OPTIONS))])
    words += ["--method", str(rng.choice(["sgd", "olsth", "sieve", "sfsa"]))]
    done = command.fit([source], folder / "out", *words, *([] if svm else ["--target", "y"]))
    if done.exit_code == 3 and source.name not in done.stderr.replace("\n", ""):
        raise Failure(f"an error that does not name the file: {done.stderr}")
    if any(mark in done.output for mark in "\x1b\x00"):
        raise Failure(f"control characters reach the terminal: {done.output!r}")
