"""Commands in this process, and files for them, for the tests of the command line."""

import gzip
import sys

import numpy as np
from click.testing import CliRunner

from streamsieve.cli import main

N, P = 12_000, 12
PROGRAM = [sys.executable, "-m", "streamsieve"]
LIMIT = 120  # seconds that a child process may take: then it hangs


def run(*words, **options):
    return CliRunner().invoke(main, [str(word) for word in words], **options)


def good(*words, **options):
    done = run(*words, **options)
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done


def table(done):
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [dict(zip(head, row)) for row in rows]


def write_files(folder):
    """The same rows as CSV (with a column of words) and, with labels, as svmlight."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)).round(3)
    colour = rng.choice(["red", "green", "blue"], N)
    y = X[:, 3] - 2 * X[:, 7] + (colour == "red") + 0.5 * rng.normal(size=N)
    lines = [",".join([*(f"x{j}" for j in range(P)), "colour", "y"])]
    lines += [",".join([*map(str, x), c, f"{t:.5f}"]) for x, c, t in zip(X, colour, y)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    with gzip.open(folder / "rows.csv.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    words = [",".join([*(f"x{j}" for j in range(P)), "kind"])]
    words += [",".join([*map(str, x), "high" if t > 1 else "low" if t < -1 else "mid"]) for x, t in zip(X, y)]
    (folder / "words.csv").write_text("\n".join(words) + "\n")
    keep = np.abs(X) > 0.6
    lines = [
        f"{1 if t > 0 else -1} " + " ".join(f"{j + 1}:{x[j]}" for j in np.flatnonzero(k))
        for x, t, k in zip(X, y, keep)
    ]
    (folder / "rows.svm").write_text("\n".join(lines) + "\n")
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f"x{j}": X[:, j] for j in range(P)} | {"y": y}
    pq.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=3000)
    return folder
