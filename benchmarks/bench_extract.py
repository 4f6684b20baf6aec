"""How much does a model cost beyond one Cholesky factorisation?

    python benchmarks/bench_extract.py [--p 1000] [--n 5000] [--k 100] [--repeats 31]
    python benchmarks/bench_extract.py --table 1000 2000 [--only omcp] [--ratios 0.1 1] [--repeats 3]
        [--share 50] [--signal 1] [--processor-time]

Ratios to SciPy's Cholesky factorisation of the same p x p matrix, in the same run. The second form prints
every extractor at n / p of 0.1, 0.5, 1 and 4, for k = p / SHARE; of a single repeat nothing is run
beforehand. On a busy machine, OMP_NUM_THREADS=1 and --processor-time compare what one thread computes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.testing import assert_allclose
from scipy.linalg import cho_factor, cho_solve

from streamsieve.methods.averages import extract
from streamsieve.methods.averages.ofsa import ofsa
from streamsieve.methods.averages.olsth import olsth
from streamsieve.methods.averages.path import path
from streamsieve.statistics.running import RunningAverages
from streamsieve.statistics.standardize import Standardized

RATIOS = (0.1, 0.5, 1.0, 4.0)  # n / p
LIMIT = 10  # factorisations that a model may cost


def simulate(n: int, p: int, k: int, seed: int) -> tuple[Standardized, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    y = X[:, :: p // k].sum(1) + rng.normal(size=n)
    Z = np.column_stack([X, y])
    C = np.corrcoef(Z.T)
    scale = Z.std(0)
    mean = Z.mean(0)
    s = Standardized(
        np.ascontiguousarray(C[:p, :p]), C[:p, p:].copy(), np.ones(p, bool), mean[:p], scale[:p], mean[p:],
        scale[p:], float(n),
    )  # fmt: skip
    return s, X, y


def averages_of(n: int, p: int, k: int, signal: float, seed: int) -> Standardized:
    """Averages of the same design from their distribution (Bartlett 1933), O(p^3) whatever n."""
    rng = np.random.default_rng(seed)
    left, size = n - 1, p + 2
    if left < size:
        G = rng.normal(size=(left, size))
    else:
        G = np.triu(rng.normal(size=(size, size)), 1)
        G[np.diag_indices(size)] = np.sqrt(rng.chisquare(left - np.arange(size)))
    X, e = G[:, :p] + G[:, [p]], G[:, p + 1]
    y = signal * X[:, :: p // k].sum(1) + e
    x_scale, y_scale = np.sqrt((X**2).sum(0) / n), np.sqrt((y**2).sum() / n)
    X /= x_scale
    r = X.T @ (y / (n * y_scale))
    zero, one = np.zeros(p), np.ones(1)
    return Standardized(
        X.T @ X / n, r[:, None], np.ones(p, bool), zero, x_scale, 0 * one, y_scale * one, float(n)
    )


def interleaved(
    tasks: dict[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of each task; one round runs them all, so that the machine's moods hit all alike."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    if repeats > 1:  # the first run loads what the others have
        for task in tasks.values():
            task()
    for _ in range(repeats):
        for name, task in tasks.items():
            start = clock()
            task()
            times[name].append(clock() - start)
    return {name: statistics.median(t) for name, t in times.items()}


def table(
    sizes: list[int],
    only: list[str] | None,
    ratios: list[float],
    share: int,
    signal: float,
    repeats: int,
    clock: Callable[[], float],
) -> None:
    """Seconds of every extractor over seconds of a factorisation, each beside factorisations of its own."""
    names = only or list(extract.__all__)
    print(f"{'':>16}" + "".join(f"{f'n/p={ratio:g}':>10}" for ratio in ratios) + "   factorisations, at most")
    for p in sizes:
        k = p // share
        costs: dict[str, list[float]] = {name: [] for name in names}
        units = []
        for ratio in ratios:
            s = averages_of(int(ratio * p), p, k, signal, seed=p)
            A = s.R + np.diag(np.full(p, 0.1))
            for name in names:
                arguments = (s,) if name == "ols" else (s, k)
                task = partial(getattr(extract, name), *arguments)
                unit = partial(cho_factor, A, check_finite=False)
                t = interleaved({"unit": unit, name: task}, repeats, clock)
                costs[name].append(t[name] / t["unit"])
                units.append(t["unit"])
        print(
            f"p={p}, k={k}, signal {signal:g}: a factorisation takes {1e3 * statistics.median(units):.1f} ms"
        )
        for name, cost in costs.items():
            verdict = "ok" if max(cost) <= LIMIT else "ABOVE"
            print(f"{name:>16}" + "".join(f"{c:10.2f}" for c in cost) + f"   {LIMIT}, {verdict}", flush=True)


def one(n: int, p: int, k: int, repeats: int) -> None:
    """One design in detail."""
    s, X, y = simulate(n, p, k, seed=0)
    r = s.r[:, 0]

    # Answers first: the weights that rank, and least squares on the support by the data themselves.
    beta = cho_solve(cho_factor(s.R), r)
    model = olsth(s, k)
    assert set(model.support) == set(np.argsort(-abs(beta), kind="stable")[:k])
    D = np.column_stack([np.ones(len(X)), X[:, model.support]])
    w = np.linalg.lstsq(D, y, rcond=None)[0]
    assert_allclose(model.coef[model.support], w[1:], rtol=1e-6)
    whole = path(s)
    assert_allclose(whole.rss[k], ((y - D @ w) ** 2).sum(), rtol=1e-6)
    assert_allclose(whole.coef(k), model.coef, rtol=1e-6, atol=1e-9)
    assert len(set(ofsa(s, k).support) & set(range(0, p, p // k))) >= 0.98 * k

    averages = RunningAverages().update(X, y)
    assert_allclose(olsth(averages, k).coef, model.coef, rtol=1e-6, atol=1e-9)
    crowded = replace(s, n=2.0 * p)  # so few rows that the first fit takes a ridge
    t = interleaved(
        {
            "cho_factor": lambda: cho_factor(s.R),
            "cho_factor + cho_solve": lambda: cho_solve(cho_factor(s.R), r),
            "olsth": lambda: olsth(s, k),
            "from averages": lambda: olsth(averages, k),
            "path": lambda: path(s).best_k("bic"),
            "ofsa": lambda: ofsa(s, k),
            "crowded": lambda: olsth(crowded, k),
        },
        repeats,
    )
    print(f"p={p}, n={n}, k={k}, median of {repeats}")
    solve, factor = t["cho_factor + cho_solve"], t["cho_factor"]
    print(f"cho_factor {1e3 * factor:.1f} ms, with cho_solve {1e3 * solve:.1f} ms")
    print(f"olsth, one k:            {t['olsth'] / solve:.2f}x cho_factor + cho_solve")
    print(f"  standardisation too:   {t['from averages'] / solve:.2f}x cho_factor + cho_solve")
    print(f"olsth path, {len(whole)} models: {t['path'] / solve:.2f}x cho_factor + cho_solve")
    print(f"ofsa, 500 steps:         {t['ofsa'] / factor:.2f}x cho_factor")
    print(f"olsth with a ridge:      {t['crowded'] / solve:.2f}x cho_factor + cho_solve (n <= 4 p)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--p", type=int, default=1000)
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--table", type=int, nargs="+", metavar="P")
    parser.add_argument("--ratios", type=float, nargs="+", default=RATIOS, metavar="N/P")
    parser.add_argument("--share", type=int, default=50, help="p / k of the table")
    parser.add_argument("--signal", type=float, default=1.0, help="weight of each real feature, noise 1")
    parser.add_argument("--processor-time", action="store_true")
    parser.add_argument("--only", nargs="+", choices=extract.__all__)
    args = parser.parse_args()
    threads = os.environ.get("OMP_NUM_THREADS", "unset")
    print(f"numpy {np.__version__}, scipy {scipy.__version__}, OMP_NUM_THREADS={threads}")
    if args.table:
        warnings.simplefilter("ignore")
        clock = time.process_time if args.processor_time else time.perf_counter
        table(args.table, args.only, args.ratios, args.share, args.signal, args.repeats or 3, clock)
    else:
        one(args.n, args.p, args.k, args.repeats or 31)


if __name__ == "__main__":
    main()
