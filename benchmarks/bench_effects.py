"""Shapes and pairs beside trees' importances and mutual information: features found, and what they predict.

    python benchmarks/bench_effects.py [--parts designs,wide,slow,madelon,real,growth,pvalues] [--seeds 5]

`designs`: simulated, fresh seeds; found are true features among the k selected. `wide`: three exclusive ors
among 5,000 features. `slow`: Boruta and explainable boosting on two designs. `madelon`: its 20 columns, and
five nearest neighbours on those selected. `real`: the dense sets of ../shared/fresh (or STREAMSIEVE_FRESH),
k = 10, two splits. `growth`: time and memory as rows and features double. `pvalues`:
additive designs in which no pair has a p-value below 0.05. "own" is the score of the method's own model
(accuracy or R2, in percent) on rows not learned; trees have it of all features. "trees" is LightGBM on the k
columns that a method selects. Seconds are processor time, one thread. What does not install is left out.
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import importlib.util
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bench_fresh import FOLDER
from quality import datasets
from streamsieve import SieveClassifier, SieveRegressor

FIRST_SEED = 101
MADELON = (28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453, 455, 472, 475, 493)
TRAIN, TEST = 2000, 5000  # rows of real sets, at most
SPLITS = 2
LEVEL = 0.05


class Data(NamedTuple):
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    k: int
    labels: bool
    true: tuple[int, ...] = ()


# ---------------------------------------------------------------- designs


def sample(g: np.random.Generator, margin: Any, labels: bool, noise: float) -> Any:
    if labels:
        return (g.random(len(margin)) < 1 / (1 + np.exp(-margin))).astype(int)
    return margin + noise * g.normal(size=len(margin))


def mixed(X: Any) -> Any:
    """On correlated columns: two lines, two bowls, two steps and two products."""
    a, b, c, d, e, f, h, i, j, k = X[:, ::30].T
    return a - b + 0.7 * (c**2 + d**2) + np.sign(e - 0.5) + np.sign(f + 0.5) + h * i - j * k


def columns(g: np.random.Generator, n: int, p: int, rho: float = 0.0) -> Any:
    X = g.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + (1 - rho**2) ** 0.5 * X[:, j]
    return X


#: Rows, features, k, labels, correlation, margin, noise.
DESIGNS: dict[str, tuple[int, int, int, bool, float, Callable[..., Any], float]] = {
    "friedman1": (
        2000, 100, 5, False, 0.0,
        lambda X: 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
        + 5 * X[:, 4], 1.0,
    ),
    "exclusive or": (
        5000, 500, 6, True, 0.0,
        lambda X: 1.5 * (np.sign(X[:, 0:6:2]) * np.sign(X[:, 1:6:2])).sum(axis=1), 0.0,
    ),
    "bowls": (2000, 200, 5, False, 0.0, lambda X: (X[:, :5] ** 2).sum(axis=1), 3.0),
    "thresholds": (
        2000, 200, 5, True, 0.0, lambda X: 2 * np.sign(X[:, :5] - 0.5).sum(axis=1) + 3, 0.0,
    ),
    "ring": (
        2000, 100, 2, True, 0.0, lambda X: 4 * (np.abs((X[:, :2] ** 2).sum(axis=1) - 1.5) < 0.8) - 2.0, 0.0,
    ),
    "mixed, AR .8": (3000, 300, 10, False, 0.8, mixed, 2.0),
    "lines": (2000, 200, 5, False, 0.5, lambda X: X[:, :5].sum(axis=1), 2.0),
    "lines, labels": (2000, 200, 5, True, 0.5, lambda X: X[:, :5].sum(axis=1), 0.0),
}  # fmt: skip


def simulate(name: str, seed: int) -> Data:
    n, p, k, labels, rho, margin, noise = DESIGNS[name]
    g = np.random.default_rng(seed)
    X = g.random((n + 2000, p)) if name == "friedman1" else columns(g, n + 2000, p, rho)
    y = sample(g, margin(X), labels, noise)
    true = tuple(range(0, 300, 30)) if name.startswith("mixed") else tuple(range(k))
    return Data(X[:n], y[:n], X[n:], y[n:], k, labels, true)


def madelon() -> Data:
    d = datasets.sets()["madelon"].load(0)
    y, y_test = (np.unique(a, return_inverse=True)[1] for a in (d.y, d.y_test))
    X, X_test = (a.toarray() if hasattr(a, "toarray") else a for a in (d.X, d.X_test))
    return Data(X, y, X_test, y_test, 20, True, MADELON)


def real_sets() -> Iterator[tuple[str, list[Data]]]:
    """The dense sets, each with its splits."""
    for path in sorted(FOLDER.glob("*.npz")):
        with np.load(path) as file:
            if "X" not in file:
                continue
            X, y, labels = file["X"], file["y"], str(file["task"]) == "c"
        cut, splits = min(int(0.7 * len(y)), TRAIN), []
        for split in range(SPLITS):
            order = np.random.default_rng(FIRST_SEED + split).permutation(len(y))
            a, b = order[:cut], order[cut : cut + TEST]
            splits.append(Data(X[a], y[a], X[b], y[b], 10, labels))
        yield path.stem, splits


# ---------------------------------------------------------------- methods


def score(model: Any, data: Data, at: Any = slice(None)) -> float:
    return 100 * float(model.score(data.X_test[:, at], data.y_test))


def sieve(effects: str) -> Callable[[Data], tuple[Any, float]]:
    def fit(data: Data) -> tuple[Any, float]:
        kind = SieveClassifier if data.labels else SieveRegressor
        model = kind(data.k, effects=effects, n_jobs=1).fit(data.X, data.y)
        return model.get_support(indices=True), score(model, data)

    return fit


def trees(data: Data) -> Any:
    import lightgbm

    kind = lightgbm.LGBMClassifier if data.labels else lightgbm.LGBMRegressor
    return kind(n_estimators=200, learning_rate=0.08, n_jobs=1, verbose=-1, importance_type="gain")


def best(importance: Any, k: int) -> Any:
    return np.sort(np.argsort(-np.asarray(importance), kind="stable")[:k])


def lightgbm_gain(data: Data) -> tuple[Any, float]:
    model = trees(data).fit(data.X, data.y)
    return best(model.feature_importances_, data.k), score(model, data)


def forest(data: Data) -> tuple[Any, float]:
    kind = RandomForestClassifier if data.labels else RandomForestRegressor
    few = {} if data.labels else {"max_features": 1 / 3}
    model = kind(100, n_jobs=1, random_state=0, min_samples_leaf=3, **few).fit(data.X, data.y)
    return best(model.feature_importances_, data.k), score(model, data)


def information(data: Data) -> tuple[Any, None]:
    measure = mutual_info_classif if data.labels else mutual_info_regression
    return best(measure(data.X, data.y, random_state=0), data.k), None


def boruta(data: Data) -> tuple[Any, None]:
    from boruta import BorutaPy

    kind = RandomForestClassifier if data.labels else RandomForestRegressor
    model = BorutaPy(kind(n_jobs=1, max_depth=5), n_estimators=100, max_iter=30, random_state=0)
    model.fit(data.X, data.y)
    worth = np.where(model.support_, np.nanmean(model.importance_history_, axis=0), -np.inf)
    return best(worth, min(data.k, int(model.support_.sum()))), None


def boosting(data: Data) -> tuple[Any, float]:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if data.labels else ExplainableBoostingRegressor
    model = kind(n_jobs=1, outer_bags=4).fit(data.X, data.y)
    worth = np.zeros(data.X.shape[1])
    for features, size in zip(model.term_features_, model.term_importances()):
        worth[list(features)] += size
    return best(worth, data.k), score(model, data)


METHODS: dict[str, tuple[Callable[[Data], tuple[Any, Any]], str | None]] = {
    "effects='auto'": (sieve("auto"), None),
    "effects='linear'": (sieve("linear"), None),
    "LightGBM": (lightgbm_gain, "lightgbm"),
    "random forest": (forest, None),
    "mutual information": (information, None),
    "Boruta": (boruta, "boruta"),
    "explainable boosting": (boosting, "interpret"),
}
SLOW = ("Boruta", "explainable boosting")
ONCE = ("random forest", "mutual information")  # minutes a seed
Cells = dict[str, list[tuple[float, ...]]]  # by method, each seed


def installed(name: str) -> bool:
    module = METHODS[name][1]
    return module is None or importlib.util.find_spec(module) is not None


def run(name: str, data: Data) -> tuple[float, float, float, float]:
    """Found, own score, trees' score on the selected, seconds."""
    start = time.process_time()
    selected, own = METHODS[name][0](data)
    seconds = time.process_time() - start
    found = len(set(map(int, selected)) & set(data.true)) if data.true else np.nan
    common = np.nan
    if len(selected) and installed("LightGBM"):
        common = score(trees(data).fit(data.X[:, selected], data.y), data, selected)
    return found, np.nan if own is None else own, common, seconds


def head(title: str, names: list[str], cells: str = "Found of k · own · trees · seconds, means") -> None:
    print(f"\n## {title}\n\n{cells}.\n")
    print("| | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|", flush=True)


def line(row: str, cells: Cells, names: list[str]) -> None:
    shown = []
    for name in names:
        means = np.nanmean(np.array(cells.get(name) or [[np.nan] * 4]), axis=0)
        shown.append(" · ".join("-" if np.isnan(mean) else f"{mean:.1f}" for mean in means))
    print(f"| {row} | " + " | ".join(shown) + " |", flush=True)


def gaps(rows: dict[str, Cells], at: int, one: str, other: str) -> dict[str, float]:
    """For each set: how much one method is above another, mean of the splits."""
    return {
        name: float(np.mean([a[at] - b[at] for a, b in zip(c[one], c[other])])) for name, c in rows.items()
    }


def paired(rows: dict[str, Cells], at: int, one: str, other: str) -> str:
    found = list(gaps(rows, at, one, other).values())
    return f"{np.mean(found):+.2f} ± {np.std(found) / len(found) ** 0.5:.2f} ({len(found)} sets)"


def designs(names: list[str], which: Iterable[str], seeds: int) -> None:
    for name in which:
        cells: Cells = {}
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            for method in names:
                if method not in ONCE or seed == FIRST_SEED:
                    cells.setdefault(method, []).append(run(method, simulate(name, seed)))
        n, p, k, *_ = DESIGNS[name]
        line(f"{name}, {n:,} x {p}, k {k}", cells, names)


def neighbours(names: list[str]) -> None:
    """madelon: the usual cells, and nearest neighbours on the selected columns."""
    data, cells = madelon(), {}
    head("madelon, k 20", names, "Found of 20 · own · trees · nearest neighbours")
    for name in names:
        selected, own = METHODS[name][0](data)
        common = [
            score(model.fit(data.X[:, selected], data.y), data, selected)
            for model in ([trees(data)] if installed("LightGBM") else [])
            + [make_pipeline(StandardScaler(), KNeighborsClassifier(5))]
        ]
        found = len(set(map(int, selected)) & set(data.true))
        cells[name] = [(found, np.nan if own is None else own, *([np.nan, *common][-2:]))]
    line(f"{len(data.y):,} x {data.X.shape[1]}", cells, names)


def real(names: list[str]) -> None:
    rows: dict[str, Cells] = {}
    head(f"Real sets, k 10, {SPLITS} splits", names)
    for name, splits in real_sets():
        rows[name] = {method: [run(method, data) for data in splits] for method in names}
        line(f"{name}, {len(splits[0].y):,} x {splits[0].X.shape[1]}", rows[name], names)
    auto, linear, gain = "effects='auto'", "effects='linear'", "LightGBM"
    if not rows or not {auto, linear} <= set(names):
        return
    print(f"\nOwn score, auto less linear: {paired(rows, 1, auto, linear)}.")
    worst = sorted(gaps(rows, 1, auto, linear).items(), key=lambda entry: entry[1])[:3]
    print(f"\nLeast: {', '.join(f'{name} {gap:+.2f}' for name, gap in worst)}.")
    if gain in names:
        print(f"\nTrees on the k, auto less LightGBM's k: {paired(rows, 2, auto, gain)}.")
        print(f"\nTrees on the k, linear less LightGBM's k: {paired(rows, 2, linear, gain)}.")


# ---------------------------------------------------------------- growth


def peak(name: str, data: Data) -> tuple[float, float]:
    """Seconds, and memory in MB beside the data, of a process of its own."""

    def child(pipe: Any) -> None:
        with open("/proc/self/statm") as file:
            before = int(file.read().split()[1]) * resource.getpagesize()
        start = time.process_time()
        METHODS[name][0](data)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        pipe.send((time.process_time() - start, (most - before) / 2**20))

    context = multiprocessing.get_context("fork")
    mine, other = context.Pipe()
    process = context.Process(target=child, args=(other,))
    process.start()
    out: tuple[float, float] = mine.recv()
    process.join()
    return out


def growth(names: list[str]) -> None:
    """Exclusive ors of six features: rows double, then features."""
    head("Growth: three exclusive ors, k 6", names, "Seconds · MB beside the data")
    sizes = [(n, 200) for n in (5000, 10_000, 20_000, 40_000)] + [(5000, p) for p in (400, 800, 1600, 3200)]
    for n, p in sizes:
        g = np.random.default_rng(FIRST_SEED)
        X = g.normal(size=(n + 500, p)).astype(np.float32)
        y = sample(g, DESIGNS["exclusive or"][5](X), True, 0.0)
        data = Data(X[:n], y[:n], X[n:], y[n:], 6, True, tuple(range(6)))
        line(f"{n:,} x {p:,}", {name: [peak(name, data)] for name in names}, names)


def wide(names: list[str]) -> None:
    """Exclusive ors of six features among 5,000."""
    head("Three exclusive ors, 20,000 x 5,000, k 6", names)
    g = np.random.default_rng(FIRST_SEED)
    X = g.standard_normal((22_000, 5000), dtype=np.float32)
    y = sample(g, DESIGNS["exclusive or"][5](X), True, 0.0)
    data = Data(X[:20_000], y[:20_000], X[20_000:], y[20_000:], 6, True, tuple(range(6)))
    line("one seed", {name: [run(name, data)] for name in names}, names)


# ---------------------------------------------------------------- p-values


def additive(kind: str, seed: int) -> tuple[Any, Any, bool]:
    """Four shapes among 20 columns and no pair; rows, targets, whether these are labels."""
    g = np.random.default_rng(seed)
    X = columns(g, 1500, 20, 0.0 if kind == "independent" else 0.7)
    margin = X[:, 0] + X[:, 3] ** 2 + np.sign(X[:, 6]) + np.sin(2 * X[:, 9])
    if kind == "labels":
        return X, sample(g, margin, True, 0.0), True
    scale = np.exp((X[:, 3] + X[:, 4]) / 2) if kind == "heteroskedastic" else 1.0
    return X, margin + scale * g.normal(size=len(X)), False


def pvalues(runs: int) -> None:
    print(f"\n## P-values of pairs where there are none: 1,500 x 20, k 10, {runs} runs\n")
    print("| design | runs without a p-value below 0.05 |\n|---|---|")
    for kind in ("independent", "correlated", "heteroskedastic", "labels"):
        silent = 0
        for seed in range(FIRST_SEED, FIRST_SEED + runs):
            X, y, labels = additive(kind, seed)
            model = (SieveClassifier if labels else SieveRegressor)(10, effects="pairs").fit(X, y)
            silent += all(term.pvalue is None or term.pvalue >= LEVEL for term in model.terms_)
        print(f"| {kind} | {silent} of {runs} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default="designs,wide,slow,madelon,real,growth,pvalues")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=40, help="of each additive design")
    parser.add_argument("--designs", default=",".join(DESIGNS), help="by their first words")
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted = [name for name in METHODS if name in options.methods.split(",") and installed(name)]
    usual = [name for name in wanted if name not in SLOW]
    fast = [name for name in usual if name not in ONCE]
    chosen = [name for name in DESIGNS if name.split(",")[0] in options.designs.split(",")]
    for part in options.parts.split(","):
        if part == "designs":
            head(f"Simulated designs, {options.seeds} seeds; {' and '.join(ONCE)} one", usual)
            designs(usual, chosen, options.seeds)
        elif part == "slow":
            names = [name for name in ("effects='auto'", *SLOW) if installed(name)]
            head("Slow methods, one seed", names)
            designs(names, ("friedman1", "ring"), 1)
        elif part == "madelon" and "madelon" in datasets.sets():
            neighbours(usual)
        elif part == "real":
            real(fast)
        elif part in ("growth", "wide"):
            (growth if part == "growth" else wide)([name for name in fast if name != "effects='linear'"])
        elif part == "pvalues":
            pvalues(options.runs)


if __name__ == "__main__":
    main()
