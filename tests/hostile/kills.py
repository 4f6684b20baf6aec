"""Runs that are killed, again and again, and resumed: the end is the model of a run that was left alone."""

import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np

from streamsieve import load

from .rules import Failure

PROGRAM = [sys.executable, "-m", "streamsieve"]
METHODS = ["sgd", "olsth", "sfsa", "siht", "barda", "fobos", "stabilizedsgd", "sieve", "ftrlproximal"]
NEED_K = ("sfsa", "siht", "barda")
MARK = "HOSTILE_RUN"  # in the environment of a run and its workers


MERGED = ["sieve", "olsth", "olasso"]  # methods that learn unit by unit
WAYS = ["checkpoint", "shard", "workers", "checkpoint"]


def run(number, seed, folder):
    rng = np.random.default_rng([seed, number])
    n, p = int(rng.choice([3000, 20_000])), 20
    X = rng.normal(size=(n, p)).round(3)
    rows = [f"{x[1] - 2 * x[4]:.3f} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x in X]
    source = folder / "rows.svm"
    source.write_text("\n".join(rows) + "\n")
    way = WAYS[number % len(WAYS)]
    way = "shard" if way == "workers" and find_spec("distributed") is None else way
    method, kills = (resumed if way == "checkpoint" else by_units)(rng, way, source, folder)
    one, two = load(folder / "alone"), load(folder / "out")
    different = list(one.method_.state.differences(two.method_.state))
    if different:
        raise Failure(f"{way}, {method}: another model after {kills} kills: {different}")
    if left := [str(file) for file in folder.rglob("*.part")]:
        raise Failure(f"{way}, {method}: {left} are left after {kills} kills")


def resumed(rng, way, source, folder):  # noqa: ARG001
    """Kill runs that write checkpoints, after some of these; the method, and how often."""
    method = str(rng.choice(METHODS))
    words = ["fit", str(source), "--method", method, "-q", *(["-k", "5"] if method in NEED_K else [])]
    out, checkpoint, alone = folder / "out", folder / "checkpoint", folder / "alone"
    for file in (out, checkpoint, alone):
        file.unlink(missing_ok=True)
    finish([*words, "-o", str(alone)])
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
            return method, kills
        if process.returncode != -signal.SIGKILL:
            raise Failure(f"{method}: exit code {process.returncode}: {errors.decode()}")
    finish([*words, *(["--resume"] if checkpoint.exists() else [])])
    return method, kills


def by_units(rng, way, source, folder):
    """Kill runs of shards, or with workers, at any time: what they have written is whole, or not there."""
    method, units, kills = str(rng.choice(MERGED)), folder / "units", 0
    shutil.rmtree(units, ignore_errors=True)
    words = ["fit", str(source), "--method", method, "-k", "5", "-q", "--unit", "300KB"]
    kept = ["--unit-folder", str(units)]

    def commands(name):
        if way == "workers":
            return [([*words, "--workers", "2"], folder / name)]
        shards = [folder / f"{name}{i}" for i in (1, 2)]
        learn = [([*words, "--shard", f"{i}/2"], file) for i, file in enumerate(shards, 1)]
        return [*learn, (["merge", *map(str, shards)], folder / name)]

    for (alone, first), (again, out) in zip(commands("alone"), commands("out")):
        for file in (first, out):
            file.unlink(missing_ok=True)
        began = time.monotonic()
        finish([*alone, "-o", str(first)])
        seconds = time.monotonic() - began
        again = [*again, *(kept if again[0] == "fit" else []), "-o", str(out)]
        for _ in range(2):
            process = subprocess.Popen(
                [*PROGRAM, *again],
                stderr=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, MARK: str(folder)},
            )
            time.sleep(rng.uniform(0, seconds))
            process.kill()
            kills += process.wait() != 0
            if out.exists():
                load(out)
            check_gone(folder)
        finish(again)
    return method, kills


def finish(words):
    """Let a command run to its end."""
    done = subprocess.run([*PROGRAM, *words], capture_output=True, timeout=200, check=False)
    if done.returncode:
        raise Failure(f"{words}: exit code {done.returncode}: {done.stderr.decode()}")


def check_gone(folder, seconds=60):
    """Failure if processes of a run outlive it: its workers must notice that it was killed."""
    limit = time.monotonic() + seconds
    while left := [pid for pid in os.listdir("/proc") if pid.isdigit() and marked(pid, folder)]:
        if time.monotonic() > limit:
            raise Failure(f"processes {left} are left {seconds} s after their run was killed")
        time.sleep(0.2)


def marked(pid, folder):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK}={folder}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def stamp(file):
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None
