"""Processor time of the default method beside what a user would have run instead, one thread each.

    python benchmarks/bench_cost.py [text] [classes] [wide] [sparse] [--repeats 1]

Ratios are of processor time in the same process, medians of repeats. `text` and `classes` need sms and isolet
of ../shared (or STREAMSIEVE_FRESH and STREAMSIEVE_DATA).
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bench_fresh import FOLDER
from quality import datasets
from streamsieve import SieveClassifier, SieveRegressor

Work = tuple[str, Callable[[], Any], str, Callable[[], Any], float]  # ours, theirs, and the ratio wanted


def text() -> Work:
    """k="auto" on sparse words."""
    with np.load(FOLDER / "sms.npz") as file:
        X = sp.csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        y = file["y"].astype(int)
    theirs = LogisticRegressionCV(
        Cs=10, cv=5, l1_ratios=(1,), solver="liblinear", scoring="neg_log_loss", use_legacy_attributes=False
    )
    return (
        f"sms, {X.shape[0]:,} x {X.shape[1]:,}, k='auto'",
        lambda: SieveClassifier(n_jobs=1).fit(X, y).coef_,
        "LogisticRegressionCV(l1)",
        lambda: theirs.fit(X, y),
        2.0,
    )


def classes() -> Work:
    """k="auto" with 26 classes."""
    data = datasets.sets()["isolet"].load(0)
    theirs = LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", use_legacy_attributes=False)
    X = StandardScaler().fit_transform(data.X)
    return (
        f"isolet, {X.shape[0]:,} x {X.shape[1]:,}, 26 classes, k='auto'",
        lambda: SieveClassifier(n_jobs=1).fit(data.X, data.y).coef_,
        "LogisticRegressionCV",
        lambda: theirs.fit(X, data.y),
        1.0,
    )


def wide() -> Work:
    """Regression with many more columns than rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 20_000)) + rng.normal(size=(500, 1))
    y = X[:, :10].sum(axis=1) + rng.normal(size=500)
    theirs = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=10), RidgeCV(np.logspace(-3, 5, 17)))
    return (
        "targets, 500 x 20,000, k=10",
        lambda: SieveRegressor(10, n_jobs=1).fit(X, y).coef_,
        "F + ridge",
        lambda: theirs.fit(X, y),
        3.0,
    )


def sparse() -> Work:
    """Sparse labels: learn and read."""
    rng = np.random.default_rng(0)
    n, p, nnz = 40_000, 10_000, 40
    columns = np.minimum((p * rng.random((n, nnz)) ** 2).astype(np.int32), p - 1)
    X = sp.csr_array((np.ones(n * nnz), columns.ravel(), np.arange(0, n * nnz + 1, nnz)), shape=(n, p))
    X.sum_duplicates()
    weight = np.zeros(p)
    weight[rng.choice(2_000, 100, replace=False)] = rng.normal(size=100) * 2
    margin = X @ weight
    y = (rng.random(n) < 1 / (1 + np.exp(np.median(margin) - margin))).astype(int)
    return (
        f"labels, {n:,} x {p:,}, {nnz} values a row, k=100",
        lambda: SieveClassifier(100, n_jobs=1).fit(X, y).coef_,
        "LogisticRegression(C=.01)",
        lambda: LogisticRegression(C=0.01, max_iter=1000).fit(X, y),
        2.0,
    )


WORKS = {"text": text, "classes": classes, "wide": wide, "sparse": sparse}


def seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("works", nargs="*", choices=[*WORKS, []])
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| work | seconds | beside | seconds | ratio | wanted |")
    print("|---|--:|---|--:|--:|--:|")
    for name in options.works or WORKS:
        ours_name, ours, theirs_name, theirs, wanted = WORKS[name]()
        pairs = [(seconds(ours), seconds(theirs)) for _ in range(options.repeats)]
        ratio = statistics.median(a / b for a, b in pairs)
        one, other = (statistics.median(column) for column in zip(*pairs))
        print(
            f"| {ours_name} | {one:.2f} | {theirs_name} | {other:.2f} | {ratio:.1f}x | {wanted:g}x |",
            flush=True,
        )


if __name__ == "__main__":
    main()
