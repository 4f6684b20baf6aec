"""How much does a model cost beyond one Cholesky factorisation? Run: python benchmarks/bench_extract.py

Ratios to SciPy's cho_factor (+ cho_solve) of the same p x p matrix, in the same run.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy.testing import assert_allclose
from scipy.linalg import cho_factor, cho_solve

from streamsieve.averages.extract.ofsa import ofsa
from streamsieve.averages.extract.olsth import olsth
from streamsieve.averages.path import path
from streamsieve.averages.running import RunningAverages
from streamsieve.averages.standardize import Standardized


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


def interleaved(tasks: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median seconds of each task; one round runs them all, so that the machine's moods hit all alike."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for _ in range(repeats):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(t) for name, t in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--p", type=int, default=1000)
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=31)
    args = parser.parse_args()
    s, X, y = simulate(args.n, args.p, args.k, seed=0)
    r = s.r[:, 0]

    # Answers first: the weights that rank, and least squares on the support by the data themselves.
    beta = cho_solve(cho_factor(s.R), r)
    model = olsth(s, args.k)
    assert set(model.support) == set(np.argsort(-abs(beta), kind="stable")[: args.k])
    D = np.column_stack([np.ones(len(X)), X[:, model.support]])
    w = np.linalg.lstsq(D, y, rcond=None)[0]
    assert_allclose(model.coef[model.support], w[1:], rtol=1e-6)
    whole = path(s)
    assert_allclose(whole.rss[args.k], ((y - D @ w) ** 2).sum(), rtol=1e-6)
    assert_allclose(whole.coef(args.k), model.coef, rtol=1e-6, atol=1e-9)
    assert len(set(ofsa(s, args.k).support) & set(range(0, args.p, args.p // args.k))) >= 0.98 * args.k

    averages = RunningAverages().update(X, y)
    assert_allclose(olsth(averages, args.k).coef, model.coef, rtol=1e-6, atol=1e-9)
    crowded = replace(s, n=2.0 * args.p)  # so few rows that the first fit takes a ridge
    t = interleaved(
        {
            "cho_factor": lambda: cho_factor(s.R),
            "cho_factor + cho_solve": lambda: cho_solve(cho_factor(s.R), r),
            "olsth": lambda: olsth(s, args.k),
            "from averages": lambda: olsth(averages, args.k),
            "path": lambda: path(s).best_k("bic"),
            "ofsa": lambda: ofsa(s, args.k),
            "crowded": lambda: olsth(crowded, args.k),
        },
        args.repeats,
    )
    try:
        from threadpoolctl import threadpool_info

        threads = max((i["num_threads"] for i in threadpool_info()), default=1)
    except ImportError:
        threads = 0
    print(
        f"p={args.p}, n={args.n}, k={args.k}, median of {args.repeats}, BLAS threads {threads or 'unknown'}"
    )
    print(f"numpy {np.__version__}, scipy {scipy.__version__}")
    solve, factor = t["cho_factor + cho_solve"], t["cho_factor"]
    print(f"cho_factor {1e3 * factor:.1f} ms, with cho_solve {1e3 * solve:.1f} ms")
    print(f"olsth, one k:            {t['olsth'] / solve:.2f}x cho_factor + cho_solve")
    print(f"  standardisation too:   {t['from averages'] / solve:.2f}x cho_factor + cho_solve")
    print(f"olsth path, {len(whole)} models: {t['path'] / solve:.2f}x cho_factor + cho_solve")
    print(f"ofsa, 500 steps:         {t['ofsa'] / factor:.2f}x cho_factor")
    print(f"olsth with a ridge:      {t['crowded'] / solve:.2f}x cho_factor + cho_solve (n <= 4 p)")


if __name__ == "__main__":
    main()
