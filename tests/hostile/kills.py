"""Runs that are killed, again and again, and resumed: the end is the model of a run that was left alone."""

import os
import signal
import subprocess
import sys
import time

import numpy as np

from streamsieve import load

from .rules import Failure

PROGRAM = [sys.executable, "-m", "streamsieve"]
METHODS = ["sgd", "olsth", "sfsa", "siht", "barda", "fobos", "stabilizedsgd", "sieve", "ftrlproximal"]
NEED_K = ("sfsa", "siht", "barda")


def run(number, seed, folder):
    rng = np.random.default_rng([seed, number])
    n, p = int(rng.choice([3000, 20_000])), 20
    X = rng.normal(size=(n, p)).round(3)
    rows = [f"{x[1] - 2 * x[4]:.3f} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x in X]
    source, out, checkpoint = folder / "rows.svm", folder / "out", folder / "checkpoint"
    source.write_text("\n".join(rows) + "\n")
    method = str(rng.choice(METHODS))
    words = ["fit", str(source), "--method", method, "-q", *(["-k", "5"] if method in NEED_K else [])]
    alone = folder / "alone"
    for file in (out, checkpoint, alone):
        file.unlink(missing_ok=True)
    subprocess.run([*PROGRAM, *words, "-o", str(alone)], check=True, timeout=100, capture_output=True)
    words += ["-o", str(out), "--checkpoint", str(checkpoint), "--every", f"{rng.choice([500, 2000])}rows"]
    kills = 0
    for _ in range(4):
        resume = ["--resume"] if checkpoint.exists() else []
        process = subprocess.Popen(
            [*PROGRAM, *words, *resume], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        before = stamp(checkpoint)
        limit = time.monotonic() + 60
        while process.poll() is None and stamp(checkpoint) == before and time.monotonic() < limit:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.03))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        _, errors = process.communicate()
        if process.returncode == 0:
            break
        if process.returncode != -signal.SIGKILL:
            raise Failure(f"{method}: exit code {process.returncode}: {errors.decode()}")
    else:
        resume = ["--resume"] if checkpoint.exists() else []
        done = subprocess.run([*PROGRAM, *words, *resume], capture_output=True, timeout=100, check=False)
        if done.returncode:
            raise Failure(f"{method}: exit code {done.returncode}: {done.stderr.decode()}")
    one, two = load(alone), load(out)
    different = list(one.method_.state.differences(two.method_.state))
    if different:
        raise Failure(f"{method}: another model after {kills} kills: {different}")
    if left := [name for name in os.listdir(folder) if name.endswith(".part")]:
        raise Failure(f"{method}: {left} are left after {kills} kills")


def stamp(file):
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None
