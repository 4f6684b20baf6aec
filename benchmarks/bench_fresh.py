"""The default method on sets it was not developed on, beside what a user would have used instead.

    python benchmarks/bench_fresh.py [--sets wheat,musk] [--methods Sieve,F] [--k 10,50] [--splits 3]
    python benchmarks/bench_fresh.py --report

The sets are those of ../shared/fresh and ../shared/data (or STREAMSIEVE_FRESH and STREAMSIEVE_DATA), left
out where they are absent. Each is split at random into training rows, at most 1,000, and test rows, at most
5,000. k is given, or chosen ("auto"): beside l1 with a cross-validated strength, and ridge on all features.

Differences are paired: the mean over splits within a set and k, then the mean over sets with its standard
error. Each cell (set, split, k, method) is fitted in a process of its own and cached: a second run computes
what is missing.
"""

import argparse
import hashlib
import os

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded: a fork does not survive its threads
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from collections import defaultdict
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np
import scipy.sparse as sp

import streamsieve
from quality import datasets, peers
from quality.cells import OK, Cache, Cell, Result, run
from quality.datasets import Data, Set
from quality.methods import Fitted, Method, Problem
from quality.table import format_table, line

FOLDER = Path(os.environ.get("STREAMSIEVE_FRESH") or Path(datasets.FOLDER).parent / "fresh")
TRAIN, TEST = 1_000, 5_000  # rows, at most
FLOOR = -1.0  # least R² of a cell: one wild test row must not decide a mean
AUTO = 0  # in place of k where the method chooses
MEASURES = {"score": 100, "log_loss": 100, "auc": 100}  # and what they are multiplied by


def fresh_sets() -> list[Set]:
    found = []
    for path in sorted(FOLDER.glob("*.npz")):
        with np.load(path) as file:
            task, p = "targets" if str(file["task"]) == "r" else "labels", width(file)
        found.append(Set(path.stem, "real", task, p, datasets.N_SPLITS, partial(load_fresh, path)))
    return found


def width(file: "np.lib.npyio.NpzFile") -> int:
    return int(file["shape"][1] if "shape" in file else file["X"].shape[1])


def load_fresh(path: Path, split: int) -> Data:
    with np.load(path) as file:
        y = file["y"]
        if "shape" in file:
            X = sp.csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        else:
            X = file["X"]
        y = y.astype(float) if str(file["task"]) == "r" else y.astype(int)
    return cut(X, y, split)


def load_given(s: Set, split: int) -> Data:
    data = s.load(split)
    return Data(data.X[:TRAIN], data.y[:TRAIN], data.X_test, data.y_test)


def cut(X: "np.ndarray | sp.csr_array", y: np.ndarray, split: int) -> Data:
    """Three tenths to test on; of the others at most `TRAIN` to learn."""
    n_test = max(round(0.3 * len(y)), len(y) - TRAIN)
    data = datasets.cut(X, y, n_test, split)
    return Data(data.X, data.y, data.X_test[:TEST], data.y_test[:TEST])


def all_sets() -> list[Set]:
    given = [s for name, s in datasets.sets().items() if name in datasets.FILES]
    given = [Set(s.name, s.kind, s.task, s.p, datasets.N_SPLITS, partial(load_given, s)) for s in given]
    return fresh_sets() + given


def sieve(problem: Problem, **settings: object) -> Fitted:
    kind = streamsieve.SieveRegressor if problem.task == "targets" else streamsieve.SieveClassifier
    model = kind(problem.k or "auto", n_jobs=1, **settings).fit(problem.X, problem.y)
    columns = np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0))
    return Fitted(columns, model.predict, getattr(model, "predict_proba", None))


def version() -> str:
    """Of the sources of the sieve."""
    package, kernels = Path(streamsieve.__file__).parent, Path(__file__).resolve().parents[1] / "cpp"
    files = [*(package / "methods" / "sieve").glob("*.py"), *(kernels / "sieve").glob("*pp")]
    return hashlib.sha256(b"".join(f.read_bytes() for f in sorted(files))).hexdigest()[:16]


def methods(name: str) -> list[Method]:
    """The sieve, by this name, selectors of k features, and models that choose their number or take all."""
    rename = {"F + logistic": "F", "l1 path + refit": "l1", "RFE(LinearSVC)": "RFE", "abess": "abess"}
    found = [m for m in peers.peers()[0] if m.name in rename]
    return [
        Method(name, sieve, version(), ours=True),
        Method(f"{name}, auto", sieve, version(), ours=True, takes_k=False),
        Method(f"{name}, 1se", sieve, version(), {"criterion": "1se"}, ours=True, takes_k=False),
        Method(f"{name}, ebic", sieve, version(), {"criterion": "ebic"}, ours=True, takes_k=False),
        *(Method(rename[m.name], m.fit, m.version, m.settings) for m in found),
        Method("OMP", peers.matching_pursuit, "1", refuses=peers.pursuit_refuses),
        Method("l1-CV", peers.lasso_cv, "2", takes_k=False),
        Method("ridge", peers.ridge, "1", takes_k=False),
    ]


# ---------------------------------------------------------------- tables

Cells = dict[tuple[str, int], dict[str, dict[int, Result]]]  # by set and k, method, split


def by_cell(results: list[tuple[Cell, Result]], task: str) -> Cells:
    found: Cells = defaultdict(lambda: defaultdict(dict))
    for cell, result in results:
        if cell.set.task == task and not result.status.startswith("refused"):
            k = cell.k if cell.method.takes_k else AUTO
            found[cell.set.name, k][cell.method.name][cell.split] = result
    return found


def value(result: Result, measure: str) -> float | None:
    """Accuracy or R² (a fit that failed has that of the best constant), log-loss, or AUC."""
    if result.status != OK:
        return result.chance if measure == "score" else None
    found = getattr(result, measure)
    return max(found, FLOOR) if measure == "score" else found


def differences(cells: Cells, one: str, other: str, measure: str) -> dict[str, list[float]]:
    """`one` minus `other`, by set: means over splits, one for each k."""
    found: dict[str, list[float]] = defaultdict(list)
    for (name, _), row in cells.items():
        pairs = [
            (value(row[one][s], measure), value(row[other][s], measure))
            for s in row.get(one, {})
            if s in row.get(other, {})
        ]
        pairs = [(a, b) for a, b in pairs if a is not None and b is not None]
        if pairs:
            found[name].append(fmean(a - b for a, b in pairs) * MEASURES[measure])
    return found


def mean_and_error(by_set: dict[str, list[float]]) -> str:
    """Over sets: each counts once, however many k it has."""
    means = [fmean(values) for values in by_set.values()]
    if not means:
        return ""
    error = np.std(means, ddof=1) / len(means) ** 0.5 if len(means) > 1 else float("nan")
    return f"{fmean(means):+.2f} ± {error:.2f}"


def paired_table(cells: Cells, base: str, others: list[str]) -> str:
    """The sieve minus each other method, over the sets that both have."""
    rows = []
    for other in others:
        by = {m: differences(cells, base, other, m) for m in MEASURES}
        if by["score"]:
            better = sum(fmean(v) > 0 for v in by["score"].values())
            counts = [f"{better} of {len(by['score'])}", str(sum(map(len, by["score"].values())))]
            rows.append([other, *(mean_and_error(by[m]) for m in MEASURES), *counts])
    heads = [f"{base} minus", "points", "log-loss, .01", "AUC, points", "sets where better", "cells"]
    return format_table(heads, rows)


def best_of(cells: Cells, base: str, pair: tuple[str, str]) -> str:
    """The sieve minus the better of two in each set."""
    by: dict[str, list[float]] = {}
    one, other = (differences(cells, base, m, "score") for m in pair)
    for name in one.keys() & other.keys():
        by[name] = [min(a, b) for a, b in zip(one[name], other[name])]
    return mean_and_error(by)


def method_table(cells: Cells, names: list[str]) -> str:
    """Score, features, stability and seconds of each method over the cells that all of them have."""
    shared = [row for row in cells.values() if all(n in row for n in names)]
    rows = []
    for name in names:
        each = [list(row[name].values()) for row in shared]
        scores = [fmean(value(r, "score") for r in rs) for rs in each]
        losses = [r.log_loss for rs in each for r in rs if r.log_loss is not None]
        sizes = [max(r.n_features, 1) for rs in each for r in rs if r.n_features is not None]
        seconds = [r.seconds for rs in each for r in rs if r.seconds is not None]
        rows.append([
            name, f"{100 * fmean(scores):.1f}", f"{fmean(losses):.3f}" if losses else "",
            f"{np.exp(np.mean(np.log(sizes))):.0f}", stability(each),
            f"{np.median(seconds):.2f}", f"{max(seconds):.1f}",
        ])  # fmt: skip
    heads = ["method", "mean", "log-loss", "features", "Jaccard", "median s", "largest s"]
    return f"{len(shared)} cells\n\n{format_table(heads, rows)}"


def stability(each: list[list[Result]]) -> str:
    """Mean Jaccard index of the features selected on two splits."""
    found = []
    for results in each:
        sets = [set(r.columns) for r in results if r.columns is not None]
        found += [len(a & b) / max(len(a | b), 1) for a, b in combinations(sets, 2)]
    return f"{fmean(found):.2f}" if found else ""


def set_table(cells: Cells, names: list[str]) -> str:
    """Means over splits, features in brackets."""
    rows = []
    for (name, k), row in sorted(cells.items()):
        shown = []
        for method in names:
            results = list(row.get(method, {}).values())
            sizes = [r.n_features for r in results if r.n_features is not None]
            score = f"{100 * fmean(value(r, 'score') for r in results):.1f}" if results else ""
            shown.append(f"{score} ({fmean(sizes):.0f})" if sizes and k == AUTO else score)
        rows.append([name, "auto" if k == AUTO else str(k), *shown])
    return format_table(["set", "k", *names], rows)


def report(results: list[tuple[Cell, Result]], base: str) -> str:
    text = []
    for task, score in (("targets", "R²"), ("labels", "accuracy")):
        cells = by_cell(results, task)
        given = {at: row for at, row in cells.items() if at[1] != AUTO}
        auto = {at: row for at, row in cells.items() if at[1] == AUTO}
        for title, part, first in (("k given", given, base), ("k chosen", auto, f"{base}, auto")):
            names = list(dict.fromkeys(m for row in part.values() for m in row))
            if first not in names:
                continue
            others = [n for n in names if n != first]
            text += [f"## {task.capitalize()}, {title}: {score}\n", paired_table(part, first, others), ""]
            if {"l1-CV", "ridge"} <= set(names):
                pair = best_of(part, first, ("l1-CV", "ridge"))
                text += [f"{first} minus the better of l1-CV and ridge in each set: {pair}", ""]
            text += [method_table(part, [first, *others]), "", set_table(part, [first, *others]), ""]
    return "\n".join(text)


def main() -> None:
    args = options()
    sets = [s for s in all_sets() if not args.sets or s.name in args.sets]
    if not sets:
        raise SystemExit(f"no set in {FOLDER} or {datasets.FOLDER} matches {args.sets}.")
    chosen = [m for m in methods(args.name) if not args.methods or m.name in args.methods]
    cells = [
        Cell(s, split, k, m)
        for split in range(args.splits)
        for s in sorted(sets, key=lambda s: s.p)  # narrow ones first: a run that is stopped has many sets
        for m in chosen
        for k in (s.budgets(args.k) if m.takes_k else [AUTO])
        if k < s.p
    ]
    cache = Cache(args.cache, args.retry)
    if not args.report:
        todo = sum(cache.find(c, args.limit) is None for c in cells)
        print(f"{len(cells)} cells, {todo} to compute, at most {args.limit:g} s each")
        for i, result in enumerate(run(cells, cache, args.limit, args.memory), 1):
            print(f"{i}/{todo} {line(result)}", flush=True)
    found = [(c, r) for c in cells if (r := cache.find(c))]
    print(f"{len({s.name for s in sets})} sets, {args.splits} splits, {len(found)} of {len(cells)} cells\n")
    print(report(found, args.name))


def options() -> argparse.Namespace:
    def words(text: str) -> list[str]:
        return [word.strip() for word in text.split(";" if ";" in text else ",")]

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=words, help="names, separated by , or ;")
    parser.add_argument("--methods", type=words, help="names; 'Sieve, auto' needs a ;")
    parser.add_argument("--k", type=lambda text: [int(k) for k in words(text)], default=[5, 10, 50, 100])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--name", default="Sieve", help="of the sieve of this checkout, in tables and cache")
    parser.add_argument("--limit", type=float, default=300, help="processor seconds of a cell")
    parser.add_argument("--memory", type=float, default=4_000, help="MB of address space for a fit")
    parser.add_argument("--cache", type=Path, default=Path(__file__).parent / "fresh.jsonl")
    parser.add_argument("--retry", action="store_true", help="compute cells again that ended in an error")
    parser.add_argument("--report", action="store_true", help="print what the cache has, compute nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
