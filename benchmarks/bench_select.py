"""What does `streamsieve select FILE` give without an option: how many features, how good, how long?

    python benchmarks/bench_select.py [--sets colon,dexter]

For each of the real sets of bench_quality.py: `select` on the training file, then `fit` on it and `predict`
on the rows left out, each a command with no other option. Beside it, with as many features, selection by F
with logistic regression as scikit-learn has them by default; and the best constant.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from quality.datasets import FILES, FOLDER


def command(*words: object) -> str:
    words = [sys.executable, "-m", "streamsieve", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def measure(name: str) -> None:
    train, test = (Path(FOLDER) / f"{name}.{part}.svm.gz" for part in ("train", "test"))
    started = time.perf_counter()
    table = command("select", train, "--quiet")
    seconds = time.perf_counter() - started
    k = len(table.splitlines()) - 1
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        command("fit", train, "--quiet", "-o", model)
        lines = command("predict", model, test).splitlines()
    p = FILES[name][0]
    X, y = load_svmlight_file(str(train), n_features=p, zero_based=False)
    X_test, y_test = load_svmlight_file(str(test), n_features=p, zero_based=False)
    guess = np.array([float(line.split("\t")[0]) for line in lines[1:]])
    peer = make_pipeline(SelectKBest(f_classif, k=k), StandardScaler(with_mean=False), LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = peer.fit(X, y).score(X_test, y_test)
    classes, counts = np.unique(y, return_counts=True)
    chance = np.mean(y_test == classes[counts.argmax()])
    print(
        f"{name:9} {p:7,} {len(y):6,} {len(classes):8} {k:9} {100 * np.mean(guess == y_test):9.1f} "
        f"{100 * theirs:13.1f} {100 * chance:8.1f} {seconds:8.1f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", default=",".join(FILES), help="separated by commas")
    args = parser.parse_args()
    print("set      columns   rows  classes  selected  accuracy  F + logistic  constant  seconds")
    for name in args.sets.split(","):
        measure(name)


if __name__ == "__main__":
    main()
