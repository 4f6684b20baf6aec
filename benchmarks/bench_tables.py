"""Tables as people have them: the default command beside a pipeline of scikit-learn, on the same split.

    python benchmarks/bench_tables.py [--tables FOLDER] [--only NAME]

Every fifth row is left out. `streamsieve fit FILE --target Y` learns the others, with no other option, and
`streamsieve predict` predicts those left out. The pipeline has the columns as pandas reads them: numbers get
their mean where they are missing and are scaled, other columns get their mode and are one-hot encoded
(max_categories=50); then LogisticRegression, or RidgeCV. Printed are accuracy or R2 of both, and processor
seconds of the whole commands and of the pipeline alone.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

#: Target, task, and how pandas reads the file.
TABLES = {
    "adult": ("salary", "classes", {}),
    "avocado": ("AveragePrice", "number", {}),
    "bank-full": ("y", "classes", {"sep": ";"}),
    "diamonds": ("price", "number", {}),
    "houseprices": ("SalePrice", "number", {}),
    "spam": ("v1", "classes", {"encoding": "latin-1"}),
    "taxis": ("tip", "number", {}),
    "telco": ("Churn", "classes", {}),
    "titanic_raw": ("survived", "classes", {}),
    "winered": ("quality", "number", {"sep": ";"}),
}
FOLDER = Path(__file__).resolve().parents[2] / "shared" / "tables"  # beside the repository


def split(file, read, folder):
    """The rows to learn and those left out, as files byte for byte as they were, and as frames."""
    frame = pd.read_csv(file, **read)
    raw = file.read_bytes().splitlines(keepends=True)
    raw[-1] = raw[-1].rstrip(b"\r\n") + b"\n"
    out = held(len(frame))
    if len(raw) != len(frame) + 1:  # cells with line ends: written anew
        for name, some in (("train", ~out), ("test", out)):
            frame[some].to_csv(folder / f"{name}.csv", index=False, sep=read.get("sep", ","))
    else:
        for name, which in (("train", False), ("test", True)):
            rows = (row for row, left_out in zip(raw[1:], out) if left_out == which)
            (folder / f"{name}.csv").write_bytes(raw[0] + b"".join(rows))
    return frame[~out], frame[out]


def held(n):
    return np.random.default_rng(0).permutation(n) % 5 == 0


def ours(folder, target, task):
    command = [sys.executable, "-m", "streamsieve"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    model = folder / "model.sieve"
    fit = [*command, "fit", str(folder / "train.csv"), "--target", target, "-o", str(model), "-q"]
    subprocess.run(fit, check=True, capture_output=True)
    done = subprocess.run(
        [*command, "predict", str(model), str(folder / "test.csv"), "-q"],
        check=True,
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    values = done.stdout.splitlines()[1:]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (np.array(values) if task == "classes" else np.array(values, dtype=float)), seconds


def theirs(train, test, target, task):
    start = time.process_time()
    X, Z = (part.drop(columns=target) for part in (train, test))
    X = X.loc[:, X.notna().any()]
    number = X.select_dtypes("number").columns
    word = X.columns.difference(number)
    encode = OneHotEncoder(max_categories=50, handle_unknown="infrequent_if_exist")
    columns = ColumnTransformer(
        [
            ("number", make_pipeline(SimpleImputer(), StandardScaler()), number),
            ("word", make_pipeline(SimpleImputer(strategy="most_frequent"), encode), word),
        ]
    )
    model = LogisticRegression(max_iter=1000) if task == "classes" else RidgeCV(np.logspace(-3, 3, 13))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = make_pipeline(columns, model).fit(X, train[target]).predict(Z[X.columns])
    return predicted, time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path, default=FOLDER)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    print(f"{'table':14}{'rows':>8}{'ours':>9}{'theirs':>9}{'gap':>9}{'s':>7}{'s':>7}")
    gaps = []
    for name, (target, task, read) in TABLES.items():
        file = args.tables / f"{name}.csv"
        if not file.exists() or (args.only and name not in args.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            train, test = split(file, read, Path(folder))
            predicted, seconds = ours(Path(folder), target, task)
        other, their_seconds = theirs(train, test, target, task)
        y = test[target]
        if task == "classes":
            figures = accuracy_score(y.astype(str), predicted), accuracy_score(y, other)
        else:
            figures = r2_score(y, predicted), r2_score(y, other)
        gaps.append(figures[0] - figures[1])
        print(
            f"{name:14}{len(train) + len(test):8,}{figures[0]:9.4f}{figures[1]:9.4f}{gaps[-1]:+9.4f}"
            f"{seconds:7.1f}{their_seconds:7.1f}",
            flush=True,
        )
    if gaps:
        print(f"gap: mean {np.mean(gaps):+.4f} (target -0.005), worst {min(gaps):+.4f} (target -0.03)")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
