"""Digests of the weights of every estimator on fixed data: `python tests/digests.py [--write]`.

Compares with `digests.json`, or writes it: what a change of structure must not change. Weights are rounded to
nine digits, so that the last bits of another BLAS do not count: they are the same for every
`OPENBLAS_CORETYPE`, with NumPy's vector units switched off (`NPY_DISABLE_CPU_FEATURES`), and on a processor
without AVX-512 (`valgrind --tool=none python tests/digests.py`). `COARSE` is rounded to two decimals of the
largest weight: its kernels sum over rows in single precision, in an order that depends on the width of the
processor's vectors (`cpp/sieve/tile_kernels.hpp`), which moves weights of classes that are nearly separable,
as these are, by up to 4e-4 of their size.
"""

import hashlib
import inspect
import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import streamsieve

FILE = Path(__file__).with_name("digests.json")
COARSE = "SieveClassifier"


def rows(classes, n=300, p=40):
    rng = np.random.default_rng(0)
    X = (
        (3 * rng.normal(size=(n, p)) + rng.normal(size=p))
        * (rng.random((n, p)) < 0.5)
        * rng.uniform(0.1, 9, p)
    )
    target = X[:, 3] - 2 * X[:, 7] + X[:, 11] + 0.1 * rng.normal(size=n)
    return X, np.digitize(target, np.quantile(target, np.arange(1, classes) / classes)) if classes else target


def digest(model):
    values = np.concatenate([np.ravel(model.coef_), np.ravel(model.intercept_)])
    if type(model).__name__ == COARSE:
        values = np.round(values / np.abs(values).max(), 2)
    text = " ".join(f"{value + 0.0:.9g}" for value in values)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digests():
    out = {}
    for name in sorted(streamsieve.__all__):
        if not name.endswith(("Regressor", "Classifier")):
            continue
        kind = getattr(streamsieve, name)
        options = {"k": 5} if "k" in inspect.signature(kind).parameters else {}
        for classes in (2, 3) if name.endswith("Classifier") else (0,):
            X, y = rows(classes)
            for layout, data in (("dense", X), ("csr", sp.csr_array(X))):
                model = kind(**options)
                for at in range(0, len(y), 70):
                    labels = {"classes": np.unique(y)} if classes else {}
                    model.partial_fit(data[at : at + 70], y[at : at + 70], **labels)
                out[f"{name} {classes} {layout}"] = digest(model)
    return out


if __name__ == "__main__":
    found = digests()
    if "--write" in sys.argv:
        FILE.write_text(json.dumps(found, indent=0) + "\n")
    stored = json.loads(FILE.read_text())
    changed = [name for name in sorted(stored.keys() | found.keys()) if stored.get(name) != found.get(name)]
    print("\n".join([*changed, f"{len(changed)} of {len(stored)} changed"]))
    sys.exit(bool(changed))
