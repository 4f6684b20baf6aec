"""Interpreters as nobody tests with (-OO, -X dev, no home, another locale) print what the usual one does."""

import os
import subprocess
import sys

import numpy as np

from streamsieve.cli import VERBS
from streamsieve.methods import ESTIMATORS

from .rules import Failure

FLAGS = [["-O"], ["-OO"], ["-OO"], ["-X", "dev"], ["-W", "error::RuntimeWarning"], ["-B", "-s"], []]
ENVIRONMENTS = [{}, {"HOME": None}, {"LC_ALL": "C"}, {"PYTHONHASHSEED": "0"}, {"TERM": None, "COLUMNS": "1"}]

LEARN = """
import sys, numpy as np, streamsieve
name, file = sys.argv[1:]
kind = getattr(streamsieve, name)
X = np.random.default_rng(0).normal(size=(300, 6))
y = X[:, 1] - 2 * X[:, 4]
model = kind(**({"k": 2} if "k" in kind().get_params() else {})).fit(X, y > 0 if "Classifier" in name else y)
streamsieve.save(model, file)
model = streamsieve.load(file).partial_fit(X, y > 0 if "Classifier" in name else y)
print(model, model.get_support(indices=True), model.predict(X)[:3])
"""


def run(number, seed, folder):
    rng = np.random.default_rng([seed, number])
    flags, changes = FLAGS[rng.integers(len(FLAGS))], ENVIRONMENTS[rng.integers(len(ENVIRONMENTS))]
    (folder / "rows.csv").write_text("a,b,y\n" + "1,2.5,1\n3,1.5,3\n2,0.5,2\n2,0.5,3\n" * 20)
    verb = str(rng.choice(["", *VERBS]))
    words = [
        ["-c", LEARN, str(rng.choice(list(ESTIMATORS))), str(folder / "model")],
        ["-m", "streamsieve", *([verb] if verb else []), "--help"],
        ["-m", "streamsieve", "select", "rows.csv", "--target", "y", "-q", "-k", "1"],
    ][rng.choice([0, 0, 1, 2])]
    environment = {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
    plain = shell([sys.executable, *words], os.environ | {"COLUMNS": changes.get("COLUMNS", "80")}, folder)
    other = shell(
        [sys.executable, *flags, *words], environment | {"COLUMNS": changes.get("COLUMNS", "80")}, folder
    )
    if plain.returncode or other.returncode or plain.stdout != other.stdout:
        raise Failure(
            f"python {' '.join(flags)} with {changes} prints something else of {words[-4:]}:\n"
            f"{plain.stdout[-500:]}\n{other.stdout[-500:]}\n{plain.stderr[-500:]}\n{other.stderr[-1500:]}"
        )


def shell(words, environment, folder):
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
