"""Resident memory under `partial_fit`: printed as it goes, and flat once a model has settled.

python -m tests.hostile memory --minutes 10 [--family NAME]
"""

import argparse
import time

import numpy as np
import scipy.sparse as sp

import streamsieve
from streamsieve.methods import METHODS

P, ROWS = 2000, 200
#: Growth of the peak from the first half of the time to the second that is not flat any more, in MB.
MOST = 8.0


def resident():
    """Resident memory in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def watch(entry, minutes, report=print):
    """Learn from calls of all sizes for some minutes; growth of the peak in MB in the second half of them."""
    task = entry.tasks[0]
    kind = getattr(streamsieve, entry.estimators[task])
    options = {"k": 10} if "k" in kind._params else {}
    options |= {"memory": "16MB"} if "memory" in kind._params else {}
    p = 200 if entry.name in ("OLST", "OLSTThenTSGD") else P
    model, rng = kind(**options), np.random.default_rng(0)
    S = sp.random_array((ROWS, p), density=0.02, format="csr", rng=rng)
    X = rng.normal(size=(20, p))
    began = last = time.monotonic()
    calls, rows, peaks = 0, 0, [resident(), 0.0]  # of the two halves
    while (now := time.monotonic()) - began < 60 * minutes:
        sizes = (1, 7, ROWS)
        batch = X if calls % 50 == 0 else S[: sizes[calls % 3]]
        y = np.asarray(batch[:, [3]].sum(axis=1)).ravel() - 2 * np.asarray(batch[:, [7]].sum(axis=1)).ravel()
        if task == "classification":
            model.partial_fit(batch, y > 0, classes=[False, True])
        else:
            model.partial_fit(batch, y)
        calls, rows = calls + 1, rows + len(y)
        if calls % 500 == 0:
            model.predict(batch)
        half = int(now - began > 30 * minutes)
        peaks[half] = max(peaks[half], resident())
        if now - last > max(6 * minutes, 1):
            last = now
            report(f"{entry.name:18} {now - began:6.0f} s {rows:12,} rows {resident():8.1f} MB", flush=True)
    return peaks[1] - peaks[0]


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.hostile memory", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for each method")
    parser.add_argument(
        "--family", help="flagship, averages, stochastic, budgeted, regularised or stabilized"
    )
    parser.add_argument("--each", action="store_true", help="every method, not one of each family")
    options = parser.parse_args(arguments)
    seen, grown = set(), []
    for entry in METHODS.values():
        if (options.family or entry.family) != entry.family or (entry.family in seen and not options.each):
            continue
        seen.add(entry.family)
        more = watch(entry, options.minutes)
        flat = more < MOST
        grown += [] if flat else [entry.name]
        print(f"{entry.family}, {entry.name}: {more:+.1f} MB {'flat' if flat else 'NOT FLAT'}", flush=True)
    return 1 if grown else 0
