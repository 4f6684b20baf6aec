"""Row-wise learners against scikit-learn's and river's SGD, one thread, median processor times in one run.

    python benchmarks/bench_learners.py [--rows 50000] [--repeats 5]

Both sides include their own validation. Data: Gaussian values at random places, labels from a linear model;
once more with every tenth column shifted by 20 deviations, which learners centre.
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded

import statistics
import time
import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier as Theirs

import streamsieve
from streamsieve import SGDClassifier, SIHTClassifier

try:
    import river
    from river import linear_model as river_linear
except ImportError:
    river = None


def timed(repeats, clock=time.process_time, **runs):
    """Median processor seconds of each run; they take turns, so that a busy moment hits all of them."""
    times = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = clock()
            run()
            times[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def sparse_rows(n, p, nnz, seed=0):
    """CSR rows with nnz values each, one in each of nnz equal stretches of the p columns."""
    rng = np.random.default_rng(seed)
    stretch = p // nnz
    indices = rng.integers(0, stretch, (n, nnz), dtype=np.int32) + np.arange(nnz, dtype=np.int32) * stretch
    indptr = np.arange(0, n * nnz + 1, nnz, dtype=np.int32)
    X = sp.csr_array((rng.normal(size=n * nnz), indices.ravel(), indptr), shape=(n, p))
    return X, np.where(X @ (rng.normal(size=p) * (rng.random(p) < 0.1)) > 0, 1, -1)


def shifted(X):
    """The same rows with 20 and Gaussian noise added to every tenth column, zeros included."""
    rng = np.random.default_rng(1)
    n, p = X.shape
    columns = np.arange(0, p, 10, dtype=np.int32)
    noise = rng.normal(20, 1, n * len(columns))
    indptr = np.arange(0, len(noise) + 1, len(columns), dtype=np.int32)
    return sp.csr_array(X + sp.csr_array((noise, np.tile(columns, n), indptr), shape=X.shape))


def once(model, X, y):
    """One pass of a fresh model of the same parameters: `fit` goes on until its loss falls no more."""
    return type(model)(**model.get_params()).partial_fit(X, y, classes=(-1, 1))


def line(name, ratio, target, what, bound=""):
    """A ratio and its target; where it is missed, what bounds it."""
    verdict = "ok" if ratio >= target else f"BELOW{': ' * bool(bound)}{bound}"
    print(f"{ratio:6.2f}x {what:42} (target {target:g}x, {verdict})  {name}", flush=True)


def theirs():
    return Theirs(loss="log_loss", penalty="l2", max_iter=1, shuffle=False, tol=None)


#: Rows a second as a ratio to scikit-learn's SGD, on sparse rows.
TARGETS = {
    "SGD": 1.2,
    "TSGD": 0.6,
    "SFSA": 0.4,
    "SIHT": 0.4,
    "FTRLProximal": 0.5,
    "BARDA": 0.45,
    "FOBOS": 0.7,
    "RDA": 0.8,
    "OFS": 0.6,
    "SOFS": 0.4,
}
OPTIONS = {"SGD": {"alpha": 1e-4}, "FTRLProximal": {}, "FOBOS": {}, "RDA": {}}


def learners(n):
    made = {name: getattr(streamsieve, f"{name}Classifier") for name in TARGETS}
    options = OPTIONS | {"SFSA": {"k": 100, "maturity": n // 25, "ladder": False}}
    return {name: kind(**options.get(name, {"k": 100})) for name, kind in made.items()}


def compare(X, y, where, targets, repeats):
    """Rows a second of the learners that have a target, as ratios to scikit-learn's in turns.

    Where a target is missed, the ratio on rows that are neither centred nor scaled tells how much of it is
    the preparation of the columns, and how much the check of the rows and the learner's own steps.
    """
    ours = {name: model for name, model in learners(len(y)).items() if name in targets}
    agree(theirs().fit(X, y), once(ours["SGD"], X, y), X, y)
    runs = {"theirs": lambda: theirs().fit(X, y)}
    t = timed(repeats, **runs, **{name: partial(once, model, X, y) for name, model in ours.items()})
    missed = [name for name, target in targets.items() if t["theirs"] / t[name] < target]
    plain = {name: clone(ours[name]).set_params(standardize=False) for name in missed}
    without = timed(repeats, **runs, **{name: partial(once, model, X, y) for name, model in plain.items()})
    print(f"        sklearn: {t['theirs'] / len(y) * 1e6:.2f} us a row")
    for name, target in targets.items():
        bound = f"{without['theirs'] / without[name]:.2f}x with standardize=False" if name in plain else ""
        line(name, t["theirs"] / t[name], target, f"rows/s of sklearn SGD, {where}", bound)


def passes(n, repeats):
    X, y = sparse_rows(n, 10_000, 200)
    compare(X, y, f"CSR {n:,} x 10,000, 200 nnz", TARGETS, repeats)
    few = n // 5
    half = {name: target / 2 for name, target in TARGETS.items()}
    compare(shifted(X[:few]), y[:few], f"CSR {few:,} x 10,000, tenth column + 20", half, repeats)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 1000))
    y = np.where(X @ rng.normal(size=1000) > 0, 1, -1)
    compare(X, y, f"dense {n:,} x 1,000", {"SGD": 2.0}, repeats)
    X[:, ::10] += 20
    compare(X, y, f"dense {n:,} x 1,000, tenth column + 20", {"SGD": 1.0}, repeats)
    far_columns(n, repeats)


def far_columns(n, repeats):
    """Over p = 10^7 columns, where random reads miss the caches."""
    X, y = sparse_rows(n, 10_000_000, 200)
    ours = {name: model for name, model in learners(n).items() if name in ("SGD", "SFSA", "SIHT")}
    ours["SIHT, standardize=False"] = SIHTClassifier(100, standardize=False)
    t = timed(max(3, repeats // 2), **{name: partial(once, m, X, y) for name, m in ours.items()})
    for name, target in (("SFSA", 1 / 3), ("SIHT", 0.25), ("SIHT, standardize=False", 0.25)):
        line(name, t["SGD"] / t[name], target, "rows/s of our SGD, the same over p = 10^7")
    blocks = [(X[a : a + 1000], y[a : a + 1000]) for a in range(0, n, 1000)]

    def stream(model):
        for block in blocks:
            model.partial_fit(*block, classes=(-1, 1))

    t = timed(max(3, repeats // 2), SGD=lambda: stream(ours["SGD"]), SIHT=lambda: stream(ours["SIHT"]))
    line("SIHT", t["SGD"] / t["SIHT"], 0.25, "rows/s of our SGD, p = 10^7, 1,000 rows a call")


def agree(a, b, X, y):
    """Two steps of their own, one problem: neither may be the better model by much."""
    scores = a.score(X[:5000], y[:5000]), b.score(X[:5000], y[:5000])
    assert scores[1] > scores[0] - 0.02, scores


def one_row(repeats):
    X, y = sparse_rows(300, 1_000_000, 100)
    rows = [(X[[i]], y[i : i + 1]) for i in range(300)]
    runs = {}
    for name, model in {
        "theirs": Theirs(loss="log_loss"),
        "SGD": SGDClassifier(),
        "SGD, eta=0.1": SGDClassifier(eta=0.1),
        "SIHT": SIHTClassifier(100),
    }.items():
        model.partial_fit(X[:200], y[:200], classes=[-1, 1])  # columns have their units from here on
        few = rows if name != "theirs" else rows[:30]
        runs[name] = lambda model=model, few=few: [model.partial_fit(x, t) for x, t in few]
    t = timed(repeats, **runs)
    for name in list(runs)[1:]:
        ratio = (t["theirs"] / 30) / (t[name] / 300)
        print(f"        {name}: {t[name] / 300 * 1e6:.1f} us a call, sklearn {t['theirs'] / 30 * 1e6:.1f} us")
        line(name, ratio, 15.0, "sklearn's one-row partial_fit, p = 10^6")


def learn_one(repeats):
    if river is None:
        print("        river is not installed (pip install river): learn_one is not compared")
        return
    rng = np.random.default_rng(0)
    rows = [({f"x{j}": v for j, v in enumerate(rng.normal(size=200))}, bool(i % 2)) for i in range(200)]
    runs = {}
    for name, model in {
        "theirs": river_linear.LogisticRegression(),
        "SGD": SGDClassifier(),
        "SIHT": SIHTClassifier(20),
    }.items():
        runs[name] = lambda model=model: [model.learn_one(x, y) for _ in range(5) for x, y in rows]
        runs[name]()
    t = timed(2 * repeats + 1, **runs)
    for name in ("SGD", "SIHT"):
        line(
            name,
            t["theirs"] / t[name],
            2.0,
            f"river's learn_one, 200 features ({t[name] / 1000 * 1e6:.0f} us)",
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, river {river and river.__version__}")
    print(f"one thread, medians of {args.repeats}")
    one_row(args.repeats)
    learn_one(args.repeats)
    passes(args.rows, args.repeats)
