"""A process that may take little more memory than it has: a model, or a MemoryError in words, and no hang."""

import subprocess
import sys

import numpy as np

from streamsieve.methods import ESTIMATORS

from .rules import Failure

#: Learns with so many megabytes left, then with enough: the end must be that of a model that met no limit.
LEARN = """
import resource, sys
import numpy as np, scipy.linalg, streamsieve
name, left, p, *effects = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
kind = getattr(streamsieve, name)
X = np.random.default_rng(0).normal(size=(400, p))
y = X[:, 1] - 2 * X[:, 4]
y = y > 0 if name.endswith("Classifier") else y
options = {"k": 2} if "k" in kind().get_params() else {}
options |= {"effects": effects[0]} if effects else {}
learn = lambda model: model.partial_fit(X, y, **({"classes": [False, True]} if y.dtype == bool else {}))
model = kind(**options)
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
most = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (now + (left << 20), most))
try:
    learn(model).predict(X)
    print("learned")
except MemoryError as error:
    assert len(str(error)) > 15, error
    print("refused:", error)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
if not hasattr(model, "n_features_in_"):
    learn(model)
assert np.array_equal(model.predict(X), learn(kind(**options)).predict(X))
"""


def run(number, seed, folder):
    rng = np.random.default_rng([seed, number])
    name, left = str(rng.choice(list(ESTIMATORS))), int(rng.choice([0, 1, 3, 10, 30, 45, 60, 70, 100, 150]))
    p = int(rng.choice([20, 300, 800]))
    words = [sys.executable, "-c", LEARN, name, str(left), str(p)]
    words += [str(rng.choice(["linear", "shapes", "auto"]))] if name.startswith("Sieve") else []
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=90, check=False)
    except subprocess.TimeoutExpired:
        raise Failure(f"{name}, p={p}: no answer with {left} MB left") from None
    if done.returncode:
        raise Failure(
            f"{name}, p={p}, {left} MB left: {done.returncode}\n{done.stdout}\n{done.stderr[-1500:]}"
        )
