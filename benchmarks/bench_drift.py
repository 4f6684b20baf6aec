"""Real streams, each row predicted before it is learned: accuracy beside river and beside the last label.

    python benchmarks/bench_drift.py

The streams are those that river carries: phishing, image segments, and electricity, which it downloads,
unless STREAMSIEVE_ELECTRICITY names a CSV with the class in the last column. Seconds are of the processor.
"""

import csv
import os

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from river import compose, datasets, linear_model, multiclass, preprocessing

import streamsieve as ss

Stream = tuple[np.ndarray, np.ndarray]


def electricity() -> Stream:
    path = os.environ.get("STREAMSIEVE_ELECTRICITY")
    if path is None:
        return of_river(datasets.Elec2())
    with open(path) as file:
        rows = np.array([[float(v) for v in row] for row in list(csv.reader(file))[1:]])
    return rows[:, :-1], rows[:, -1].astype(int)


def of_river(stream: Any) -> Stream:
    pairs = list(stream)
    X = np.array([[float(v) for v in row.values()] for row, _ in pairs])
    return X, np.unique([str(label) for _, label in pairs], return_inverse=True)[1]


def ours(kind: Any, **options: Any) -> Callable[[Stream], float]:
    def accuracy(stream: Stream) -> float:
        X, y = stream
        given = {name: X.shape[1] if value == "p" else value for name, value in options.items()}
        blocks = ((X[at : at + 500], y[at : at + 500]) for at in range(0, len(X), 500))
        return float(ss.prequential(kind(**given), blocks, classes=np.unique(y)).points[-1].accuracy)

    return accuracy


def rivers(make: Callable[[], Any]) -> Callable[[Stream], float]:
    def accuracy(stream: Stream) -> float:
        X, y = stream
        model = make() if y.max() == 1 else multiclass.OneVsRestClassifier(make())
        model, right = compose.Pipeline(preprocessing.StandardScaler(), model), 0
        for row, label in zip(X.tolist(), y.tolist()):
            x = dict(enumerate(row))
            right += model.predict_one(x) == label
            model.learn_one(x, label)
        return right / len(y)

    return accuracy


METHODS: dict[str, Callable[[Stream], float]] = {
    "last label": lambda stream: float(np.mean(stream[1][1:] == stream[1][:-1])),
    "PassiveAggressive, all features": ours(ss.PassiveAggressiveClassifier, k="p"),
    "SGD": ours(ss.SGDClassifier),
    "OLSth, half_life='auto', all features": ours(ss.OLSthClassifier, k="p", half_life="auto"),
    "Sieve": ours(ss.SieveClassifier, n_jobs=1),
    "river PAClassifier": rivers(linear_model.PAClassifier),
    "river LogisticRegression": rivers(linear_model.LogisticRegression),
}


def streams() -> Iterator[tuple[str, Stream]]:
    yield "phishing", of_river(datasets.Phishing())
    yield "segments", of_river(datasets.ImageSegments())
    try:
        yield "electricity", electricity()
    except OSError as error:
        print(f"electricity is left out: {error}")


def main() -> None:
    warnings.simplefilter("ignore")
    found = list(streams())
    about = [f"{name}, {len(y):,} x {X.shape[1]}, {y.max() + 1} classes" for name, (X, y) in found]
    print("## Accuracy in percent, seconds in brackets\n")
    print(f"| method | {' | '.join(about)} |")
    print(f"|---|{'---|' * len(found)}")
    for name, measure in METHODS.items():
        cells = []
        for _, stream in found:
            begin = time.process_time()
            accuracy = measure(stream)
            cells.append(f"{100 * accuracy:.1f} ({time.process_time() - begin:.1f})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
