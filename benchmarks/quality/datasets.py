"""The data: files of real sets, scikit-learn's own, simulated designs, and distorted variants of a few."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn import datasets
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

SMALL = 500  # sets with fewer training rows are split several times
N_SPLITS = 100  # of these, at most
N_SEEDS = 3
N_NOISE = 300  # columns added to scikit-learn's sets

FOLDER = os.environ.get("STREAMSIEVE_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
FILES = {  # columns, training rows
    "dexter": (19_999, 300),
    "basehock": (26_214, 1_197),
    "arcene": (10_000, 100),
    "madelon": (500, 1_820),
    "colon": (2_000, 43),
    "allaml": (7_129, 50),
    "isolet": (617, 1_092),
    "tox171": (5_748, 119),
    "warppie": (2_420, 147),
    "lymphoma": (4_026, 67),
}
OWN = {  # of scikit-learn: loader, columns, rows
    "breast cancer": (datasets.load_breast_cancer, 30, 569),
    "wine": (datasets.load_wine, 13, 178),
    "digits": (datasets.load_digits, 64, 1_797),
    "diabetes": (datasets.load_diabetes, 10, 442),
}
# Task, signal, rows, columns; correlated features of which 100 are true.
DESIGNS = (
    ("targets", 1.0, 1_000, 1_000),
    ("targets", 0.1, 1_000, 1_000),
    ("targets", 0.1, 3_000, 1_000),
    ("targets", 0.01, 10_000, 1_000),
    ("targets", 0.01, 100_000, 1_000),
    ("labels", 1.0, 3_000, 1_000),
    ("labels", 1.0, 10_000, 1_000),
    ("labels", 0.1, 10_000, 1_000),
    ("labels", 0.01, 30_000, 1_000),
    ("targets", (0.05, 1.0), 10_000, 10_000),
    ("labels", 1.0, 30_000, 10_000),
)


@dataclass(frozen=True)
class Data:
    """One split: what is learned, what is predicted, and the true features where they are known."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    truth: np.ndarray | None = None


@dataclass(frozen=True)
class Set:
    """A set by name; `load(split)` reads it."""

    name: str
    kind: Literal["real", "design", "variant"]
    task: Literal["labels", "targets"]
    p: int
    n_splits: int
    load: Callable[[int], Data]
    k: int | None = None  # the only k asked of it
    base: "Set | None" = None  # of a variant: the set as it is

    def budgets(self, ks: list[int]) -> list[int]:
        """Those of ks that leave something out; half of the features where none does."""
        return [self.k] if self.k else [k for k in ks if k < self.p] or [self.p // 2]


def sets() -> dict[str, Set]:
    """All sets by name; those whose files are absent are left out."""
    found = [file_set(name) for name in FILES if (Path(FOLDER) / f"{name}.train.svm.gz").exists()]
    for name in OWN:
        found += [own_set(name, 0), own_set(name, N_NOISE)]
    found += [design_set(*design) for design in DESIGNS] + [sparse_design_set()]
    by_name = {s.name: s for s in found}
    for name, k in (("isolet", 50), ("allaml", 50), ("warppie", 50), ("breast cancer", 10)):
        if name in by_name:
            found += [variant_set(by_name[name], how, k) for how in VARIANTS]
    if "basehock" in by_name:  # the file is sorted by label
        found.append(variant_set(by_name["basehock"], "shuffled", 50))
    labels = by_name["labels .1, n=10,000"]
    found.append(variant_set(replace(labels, n_splits=N_SEEDS), "shifted", 100))
    return {s.name: s for s in found}


def file_set(name: str) -> Set:
    p, n = FILES[name]
    return Set(name, "real", "labels", p, N_SPLITS if n < SMALL else 1, partial(_load_file, name))


def own_set(name: str, noise: int) -> Set:
    _, p, n = OWN[name]
    task = "targets" if name == "diabetes" else "labels"
    n_splits = N_SPLITS if 0.7 * n < SMALL else 1
    title = f"{name} + noise" if noise else name
    return Set(title, "real", task, p + noise, n_splits, partial(_load_own, name, noise))


def design_set(task: str, signal: Any, n: int, p: int) -> Set:
    low = f"{signal[0]:g} to {signal[1]:g}" if isinstance(signal, tuple) else f"{signal:g}"
    title = f"{task} {low}, n={n:,}".replace(" 0.", " .") + (f", p={p:,}" if p > 1_000 else "")
    return Set(title, "design", task, p, N_SEEDS, partial(_load_design, task, signal, n, p), k=100)


def sparse_design_set() -> Set:
    return Set("sparse labels, n=100,000, p=20,000", "design", "labels", 20_000, N_SEEDS, _load_sparse, k=200)


def variant_set(base: Set, how: str, k: int) -> Set:
    p = base.p * (2 if how == "duplicated" else 1)
    name = f"{base.name}, {how}"
    return replace(
        base, name=name, kind="variant", p=p, k=k, base=base, load=partial(_load_variant, base, how)
    )


def _load_file(name: str, split: int) -> Data:
    """The given split, then stratified ones of the same sizes."""
    p = FILES[name][0]
    parts = [Path(FOLDER) / f"{name}.{part}.svm.gz" for part in ("train", "test")]
    X, y, X_test, y_test = datasets.load_svmlight_files(parts, n_features=p, zero_based=False)
    if X.nnz > 0.1 * X.shape[0] * p:
        X, X_test = X.toarray(), X_test.toarray()
    data = Data(X, y.astype(int), X_test, y_test.astype(int))
    if split == 0:
        return data
    X = sp.vstack([X, X_test], format="csr") if sp.issparse(X) else np.vstack([X, X_test])
    return cut(X, np.concatenate([data.y, data.y_test]), len(y_test), split)


def _load_own(name: str, noise: int, split: int) -> Data:
    X, y = OWN[name][0](return_X_y=True)
    X = np.hstack([X, np.random.default_rng(split).normal(size=(len(X), noise))])
    return cut(X, y, round(0.3 * len(X)), split)


def cut(X: Any, y: np.ndarray, n_test: int, seed: int) -> Data:
    kind = ShuffleSplit if y.dtype.kind == "f" else StratifiedShuffleSplit
    train, test = next(kind(1, test_size=n_test, random_state=seed).split(X, y))
    return Data(X[train], y[train], X[test], y[test])


def _load_design(task: str, signal: Any, n: int, p: int, split: int) -> Data:
    from streamsieve import simulate

    kind = "regression" if task == "targets" else "classification"
    stream = simulate.correlated(
        n, p=p, k=100, signal=signal, task=kind, random_state=1_000 + split, dtype=np.float32
    )
    return _read(stream)


def _load_sparse(split: int) -> Data:
    from streamsieve import simulate

    return _read(simulate.sparse(100_000, p=20_000, k=200, nnz=400, random_state=1_000 + split))


def _read(stream: Any) -> Data:
    X, y = stream.take(stream.n)
    return Data(X, y, *stream.take(1_000, start=stream.n), truth=stream.support)


def _load_variant(base: Set, how: str, split: int) -> Data:
    data = base.load(split)
    return VARIANTS[how](data) if how in VARIANTS else shuffled(data)


def shifted(data: Data) -> Data:
    """Every column moved by 20 of its deviations."""
    shift = (20 * data.X.std(axis=0)).astype(data.X.dtype)
    return replace(data, X=data.X + shift, X_test=data.X_test + shift)


def scaled(data: Data) -> Data:
    """Columns in units from a thousandth to a thousand."""
    unit = (10 ** np.random.default_rng(0).uniform(-3, 3, data.X.shape[1])).astype(data.X.dtype)
    return replace(data, X=data.X * unit, X_test=data.X_test * unit)


def heavy(data: Data) -> Data:
    """The cubes of the standardised columns: the order of values stays, the tails grow."""
    mean, sd = data.X.mean(axis=0), data.X.std(axis=0)
    sd[sd == 0] = 1
    return replace(data, X=((data.X - mean) / sd) ** 3, X_test=((data.X_test - mean) / sd) ** 3)


def by_label(data: Data) -> Data:
    """Training rows in the order of their labels."""
    order = np.argsort(data.y, kind="stable")
    return replace(data, X=data.X[order], y=data.y[order])


def duplicated(data: Data) -> Data:
    """Every column twice."""
    return replace(data, X=np.hstack([data.X, data.X]), X_test=np.hstack([data.X_test, data.X_test]))


def shuffled(data: Data) -> Data:
    """Training rows in random order."""
    order = np.random.default_rng(0).permutation(len(data.y))
    return replace(data, X=data.X[order], y=data.y[order])


VARIANTS: dict[str, Callable[[Data], Data]] = {
    "shifted": shifted,
    "scaled": scaled,
    "heavy-tailed": heavy,
    "sorted": by_label,
    "duplicated": duplicated,
}
