"""How time and memory grow with rows, features, non-zeros, k and classes, beside what is promised.

    python benchmarks/bench_growth.py [--quick] [--picture FILE]

Each quantity goes over three decades (k and classes over two) while the others stay. Printed are processor
seconds of `partial_fit` and of reading the coefficients, peak megabytes of NumPy's memory, and the exponents
of a line through the logarithms of the upper half: below it the fixed cost of a call shows. A promise is what
the method's page says of the cost; an exponent of time above it by more than 0.15 is marked.
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
import tracemalloc

import numpy as np
import scipy.sparse as sp

import streamsieve

#: What is promised, as exponents of time: by method, then by quantity.
PROMISED = {
    "Sieve": {"n": 1, "p": 1, "nnz": 1, "k": 1, "classes": 1},
    "OFSA": {"n": 1, "p": 2, "k": 0, "classes": 1},
    "SFSA": {"n": 1, "p": 0, "nnz": 1, "k": 0, "classes": 1},
    "BARDA": {"n": 1, "p": 0, "nnz": 1, "k": 0, "classes": 1},
}
#: Rows, features, non-zeros a row, k, classes: where each quantity starts and what the others are meanwhile.
BASE = {"n": 2_000, "p": 2_000, "nnz": 20, "k": 10, "classes": 2}
SIZES = {
    "n": [100, 1_000, 10_000, 100_000],
    "p": [100, 1_000, 10_000, 100_000],
    "nnz": [1, 10, 100, 1_000],
    "k": [1, 10, 100],
    "classes": [2, 20, 100],
}
DENSE = {
    "n": [100, 1_000, 10_000, 100_000],
    "p": [10, 100, 1_000, 2_000],
    "k": [1, 10, 100],
    "classes": [2, 20, 100],
}


def rows(n, p, nnz, classes, dense):
    rng = np.random.default_rng(0)
    if dense:
        X = rng.normal(size=(n, p))
        signal = X[:, :5].sum(axis=1)
    else:
        nnz = min(nnz, p)
        j = np.sort(rng.integers(0, p // nnz, (n, nnz)) + np.arange(nnz) * (p // nnz), axis=1)
        X = sp.csr_array((rng.normal(size=n * nnz), j.ravel(), np.arange(n + 1) * nnz), shape=(n, p))
        signal = X[:, : max(5, p // 10)].sum(axis=1)
    noisy = signal + 0.1 * rng.normal(size=n)
    return X, np.digitize(noisy, np.quantile(noisy, np.arange(1, classes) / classes))


def measure(method, n, p, nnz, k, classes):
    """Processor seconds and peak megabytes of learning rows and reading the coefficients."""
    X, y = rows(n, p, nnz, classes, method == "OFSA")
    kind = getattr(streamsieve, f"{method}Classifier")
    labels = np.arange(classes)
    seconds = []
    while len(seconds) < 3 and sum(seconds) < 1:
        model = kind(k=min(k, p))
        start = time.process_time()
        model.partial_fit(X, y, classes=labels)
        model.coef_  # noqa: B018
        seconds.append(time.process_time() - start)
    tracemalloc.start()
    kind(k=min(k, p)).partial_fit(X, y, classes=labels).coef_  # noqa: B018
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return min(seconds), peak


def exponent(sizes, values):
    upper = slice((len(sizes) - 1) // 2, None)
    return np.polyfit(np.log(sizes[upper]), np.log(np.maximum(values[upper], 1e-6)), 1)[0]


def draw(file, found):
    """Seconds against each quantity, one line a method; dotted, the growth that is promised."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "growth"  # the same bytes for the same figures
    from matplotlib import pyplot as plt

    names = list(BASE)
    figure, panels = plt.subplots(
        1, len(names), figsize=(3 * len(names), 3), sharey=True, layout="constrained"
    )
    for name, axes in zip(names, panels, strict=True):
        for at, (method, promised) in enumerate(PROMISED.items()):
            if name not in promised:
                continue
            sizes, seconds = found[method, name]
            axes.plot(sizes, seconds, "o-", color=f"C{at}", label=method)
            last = seconds[-1] * (np.array(sizes) / sizes[-1]) ** promised[name]
            axes.plot(sizes, last, ":", color=f"C{at}")
        axes.set(xscale="log", yscale="log", xlabel=name)
    panels[0].set_ylabel("processor seconds")
    panels[0].legend(fontsize="small")
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="leave out the largest size of each quantity")
    parser.add_argument("--picture", help="draw the seconds, dotted the promised growth, into this SVG file")
    given = parser.parse_args()
    quick, drawn = given.quick, {}
    measure("SFSA", 100, 100, 10, 5, 2)  # imports
    for method, promised in PROMISED.items():
        base = BASE | ({"p": 100} if method == "OFSA" else {})
        print(
            f"\n{method}, classifier, {', '.join(f'{name} = {value:,}' for name, value in base.items())}",
            flush=True,
        )
        print(f"{'':10}{'size':>9}{'seconds':>10}{'peak MB':>9}   time grows as, promised, memory grows as")
        for name, power in promised.items():
            sizes = (DENSE if method == "OFSA" else SIZES)[name]
            sizes = sizes[:-1] if quick else sizes
            found = [measure(method, **(base | {name: size})) for size in sizes]
            drawn[method, name] = sizes, [seconds for seconds, _ in found]
            for size, (seconds, peak) in zip(sizes, found, strict=True):
                print(f"{name if size == sizes[0] else '':10}{size:9,}{seconds:10.4f}{peak:9.1f}", end="")
                if size == sizes[-1]:
                    seconds, peaks = (np.array(column) for column in zip(*found, strict=True))
                    time_power, memory_power = exponent(sizes, seconds), exponent(sizes, peaks)
                    mark = "  ABOVE" if time_power > power + 0.15 else ""
                    print(
                        f"   {name}^{time_power:.2f}, {name}^{power}, {name}^{memory_power:.2f}{mark}", end=""
                    )
                print(flush=True)
    if given.picture:
        draw(given.picture, drawn)


if __name__ == "__main__":
    main()
