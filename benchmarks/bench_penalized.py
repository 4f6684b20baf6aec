"""How fast are the penalised paths, at solutions at least as good? Baselines: scikit-learn and skglm.

Prints the ratio of the baseline's time to ours (medians). The lasso's objective must be no higher than the
baseline's at every lambda; MCP has several minima, so there the comparison is printed.

    python benchmarks/bench_penalized.py [--repeats 5] [--processor-time]

On a busy machine, OMP_NUM_THREADS=1 and --processor-time compare what one thread computes.
"""

import argparse
import os
import platform
import time
import warnings

import numpy as np
import scipy
import sklearn
from sklearn.linear_model import lasso_path

from streamsieve.methods.averages.olasso import OLasso
from streamsieve.methods.averages.omcp import OMCP
from streamsieve.statistics.standardize import Standardized

P, GAMMA = 1000, 3.0


def data(n, alpha, seed):
    """[Sun] section 4.1: x = alpha z 1 + u, and every tenth weight 1; centred and scaled."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, P)) + alpha * rng.standard_normal((n, 1))
    y = X[:, 9::10].sum(1) + rng.standard_normal(n)
    X, y = X - X.mean(0), y - y.mean()
    return np.asfortranarray(X / X.std(0)), y / y.std()


def averages(X, y):
    n = len(X)
    R, one = X.T @ X / n, np.ones(1)
    zero = np.zeros(P)
    return Standardized(R, X.T @ y[:, None] / n, np.ones(P, bool), zero, zero + 1, 0 * one, one, float(n))


def medians(functions, repeats, clock):
    """Median seconds and last result of each, taken in turns so that a busy machine slows all alike."""
    times, results = [[] for _ in functions], [None for _ in functions]
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = clock()
            results[i] = function()
            times[i].append(clock() - start)
    return [float(np.median(t)) for t in times], results


def fit(s, b):
    return b @ (s.R @ b) / 2 - b @ s.r[:, 0]


def lasso(n, alpha, repeats, clock):
    X, y = data(n, alpha, n)
    s = averages(X, y)
    gram, Xy = X.T @ X, X.T @ y
    lams = np.abs(Xy).max() / n * np.geomspace(1, 1e-3, 100)
    (theirs_s, ours_s), ((_, theirs, _), (_, ours)) = medians(
        [
            lambda: lasso_path(X, y, precompute=gram, Xy=Xy, alphas=lams),
            lambda: OLasso().solutions(s, alphas=lams),
        ],
        repeats,
        clock,
    )
    gap = [
        fit(s, ours[i].toarray()[:, 0]) + lam * np.abs(ours[i].data).sum()
        - fit(s, theirs[:, i]) - lam * np.abs(theirs[:, i]).sum()
        for i, lam in enumerate(lams)
    ]  # fmt: skip
    assert max(gap) <= 1e-13, max(gap)
    print(
        f"{theirs_s / ours_s:6.1f}x scikit-learn lasso_path(precompute=gram)  n={n}, correlation "
        f"{alpha**2 / (1 + alpha**2):.1f}: {1e3 * theirs_s:.0f} / {1e3 * ours_s:.0f} ms, {len(lams)} lams, "
        f"up to {ours[-1].nnz} features; our objective lower by up to {-min(gap):.1e}"
    )


def mcp(n, alpha, repeats, clock):
    from skglm import MCPRegression

    X, y = data(n, alpha, n)
    s = averages(X, y)
    lams = np.abs(s.r).max() * np.geomspace(1, 1e-3, 100)[1:]
    model = MCPRegression(gamma=GAMMA, fit_intercept=False, warm_start=True)

    def path():
        coefs = []
        model.coef_ = np.zeros(P)
        for lam in lams:
            model.alpha = lam
            coefs.append(model.fit(X, y).coef_.copy())
        return coefs

    model.alpha = lams[0]
    model.fit(X, y)  # compiles
    (theirs_s, ours_s), (theirs, (_, ours)) = medians(
        [path, lambda: OMCP(gamma=GAMMA).solutions(s, alphas=lams)], repeats, clock
    )

    def objective(b, lam):
        size = np.minimum(np.abs(b), GAMMA * lam)
        return fit(s, b) + (size * (lam - size / (2 * GAMMA))).sum()

    gap = np.array(
        [objective(a.toarray()[:, 0], lam) - objective(b, lam) for a, b, lam in zip(ours, theirs, lams)]
    )
    print(
        f"{theirs_s / ours_s:6.1f}x skglm MCPRegression(gamma={GAMMA:g}, warm, compiled)  n={n}, correlation "
        f"{alpha**2 / (1 + alpha**2):.1f}: {1e3 * theirs_s:.0f} / {1e3 * ours_s:.0f} ms, {len(lams)} lams; "
        f"our objective no higher at {(gap <= 1e-9).sum()}, higher by up to {max(gap.max(), 0):.1e}"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--processor-time", action="store_true")
    args = parser.parse_args()
    repeats, clock = args.repeats, time.process_time if args.processor_time else time.perf_counter
    warnings.simplefilter("ignore")  # the baselines' own convergence warnings
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}, {os.cpu_count()} cores, "
        f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}; p={P}, medians of {repeats}, "
        f"{'processor time' if args.processor_time else 'wall clock'}"
    )
    for n in (3000, 10_000):
        for alpha in (1.0, 0.0):
            lasso(n, alpha, repeats, clock)
            mcp(n, alpha, repeats, clock)


if __name__ == "__main__":
    main()
