"""Finished runs that are resumed after their source has changed: all rows are learned, or it is refused."""

import gzip

import numpy as np

from streamsieve import read_checkpoint

from . import command
from .rules import Failure

METHODS = ["sieve", "olsth", "tsgd", "sfsa", "rda"]
CHANGES = [
    "nothing",
    "append",
    "append",
    "cut",
    "reverse",
    "edit",
    "prepend",
    "no newline",
    "new file",
    "gzip",
]
PIPED = ("nothing", "append", "cut", "reverse", "edit", "prepend", "no newline", "gzip")


def lines(rng, n):
    X = rng.normal(size=(n, 4)).round(3)
    return [",".join(map(str, [*x, round(x[1] - x[2], 3)])) + "\n" for x in X]


def run(number, seed, folder):
    rng = np.random.default_rng([seed, number])
    head, old, new = (
        "a,b,c,d,y\n",
        lines(rng, int(rng.choice([40, 300]))),
        lines(rng, int(rng.integers(1, 60))),
    )
    change = str(rng.choice(CHANGES))
    files = [folder / ("rows.csv.gz" if change == "gzip" else "rows.csv")]
    pack = (lambda text: gzip.compress(text.encode(), mtime=0)) if change == "gzip" else str.encode
    whole = pack(head + "".join(old))
    files[0].write_bytes(whole.rstrip(b"\n") if change == "no newline" else whole)
    out, checkpoint = folder / "out", folder / "checkpoint"
    for file in (out, checkpoint, folder / "more.csv"):
        file.unlink(missing_ok=True)
    words = ["--target", "y", "-k", "2", "--method", str(rng.choice(METHODS)), "-q"]
    words += ["--passes", "1"] if rng.random() < 0.5 else []
    words += ["--hold-out", "5"] if rng.random() < 0.2 else []
    words += ["-o", out, "--checkpoint", checkpoint]
    pipe = change in PIPED and "--hold-out" not in words and rng.random() < 0.3
    words += ["--format", "csv"] if pipe else []

    def fit(*more):
        source = ["-"] if pipe else files
        return command.run("fit", *source, *words, *more, input=files[0].read_bytes() if pipe else None)

    first = fit()
    if first.exit_code:
        raise Failure(f"{words}: {first.stderr}")
    before, rows = out.read_bytes(), read_checkpoint(out).about["rows"]
    text = {
        "nothing": None,
        "append": head + "".join(old + new),
        "cut": head + "".join(old[:-3]),
        "reverse": head + "".join(old[::-1]),
        "edit": head + "".join([old[1], *old[1:], *new]),
        "prepend": head + "".join(new + old),
        "no newline": (head + "".join(old)).rstrip("\n") + "7\n" + "".join(new),
        "new file": None,
        "gzip": head + "".join(old + new),
    }[change]
    if text is not None:
        files[0].write_bytes(pack(text))
    if change == "new file":
        (folder / "more.csv").write_text(head + "".join(new))
        files.append(folder / "more.csv")
    again = fit("--resume")
    if again.exit_code == 4:
        if change == "nothing" or out.read_bytes() != before:
            raise Failure(f"{change}: {again.stderr}")
        return
    now = read_checkpoint(out).about["rows"]
    grows = ["append", "new file", *(["gzip"] if pipe else [])]  # the rows of a pipe are compared unpacked
    if again.exit_code or change not in ["nothing", *grows]:
        raise Failure(f"{change}, {words}: exit code {again.exit_code}: {again.stderr}")
    if (now == rows) != (change == "nothing") and "--hold-out" not in words:
        raise Failure(f"{change}, {words}: {rows} rows were learned, now {now}")
