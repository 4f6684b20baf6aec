"""A disk that is full at some byte: the old file stays, the error says so, nothing is left behind."""

import os
import resource
import subprocess
import sys

import numpy as np

from .rules import Failure

PROGRAM = [sys.executable, "-m", "streamsieve"]
LEARN = ["--target", "y", "--method", "olsth", "-k", "2"]
VERBS = {
    "fit": ["fit", "rows.csv", *LEARN, "-o", "{}"],
    "checkpoint": ["fit", "rows.csv", *LEARN, "-o", "other", "--checkpoint", "{}", "--every", "1rows"],
    "select": ["select", "rows.csv", *LEARN, "-o", "{}"],
    "path": ["path", "rows.csv", "--target", "y", "-o", "{}"],
    "predict": ["predict", "model", "rows.csv", "-o", "{}"],
    "evaluate": ["evaluate", "rows.csv", *LEARN, "-o", "{}"],
    "merge": ["merge", "model", "-o", "{}"],
    "report": ["report", "model", "-o", "{}"],
}


def shell(folder, words, most=None):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return subprocess.run(
        [*PROGRAM, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=None if most is None else limit,
    )


def run(number, seed, folder):
    rng = np.random.default_rng([seed, number])
    X = rng.normal(size=(300, 8)).round(3)
    rows = ["a,b,c,d,e,f,g,h,y", *(",".join(map(str, [*x, round(x[1] - x[4], 3)])) for x in X)]
    (folder / "rows.csv").write_text("\n".join(rows) + "\n")
    verb = str(rng.choice(list(VERBS)))
    words = [word.format("out") for word in VERBS[verb]]
    for name in ("out", "other", "model"):
        (folder / name).unlink(missing_ok=True)
    for made in (["fit", "rows.csv", *LEARN, "-o", "model"], words):
        done = shell(folder, [*made, "-q"] if made[0] != "merge" else made)
        if done.returncode:
            raise Failure(f"{verb}: exit code {done.returncode}: {done.stderr}")
    old = (folder / "out").read_bytes()
    (folder / "other").unlink(missing_ok=True)
    most = int(rng.integers(0, len(old)))
    done = shell(folder, words, most)
    if done.returncode in (0, 2) or "Traceback" in done.stderr or "File too large" not in done.stderr:
        raise Failure(f"{verb} with {most} bytes: exit code {done.returncode}: {done.stderr}")
    if (folder / "out").read_bytes() != old:
        raise Failure(f"{verb}: a full disk has changed the old file")
    if left := [name for name in os.listdir(folder) if name.endswith(".part")]:
        raise Failure(f"{verb}: {left} are left")
