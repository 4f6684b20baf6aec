"""Draw the pictures of the guides on constraints and drift: `python docs/draw_guides.py [FOLDER]`."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

from streamsieve import AveragesBank, RunningAverages
from streamsieve.methods.averages.olasso import OLasso
from streamsieve.statistics.linear_model import as_standardized


def draw_constraints(file):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    X[:, 0] += 0.9 * X[:, 1]
    y = 0.5 * X[:, 0] - 0.4 * X[:, 1] + 0.3 * X[:, 2] + rng.normal(size=2000)
    averages = RunningAverages().update(X, y)
    figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    for ax, positive in zip(axes, (False, True)):
        alphas, betas = OLasso().solutions(as_standardized(averages, constraints={"positive": positive}))
        weights = np.hstack([beta.toarray() for beta in betas])
        for j, name in enumerate(("sun", "rain", "price", None, None, None)):
            ax.plot(alphas, weights[j], color=f"C{j}" if name else "C7", label=name, lw=1.8 if name else 0.8)
        ax.set(xscale="log", xlabel="penalty", title="positive=True" if positive else "free")
        ax.invert_xaxis()
    axes[0].set_ylabel("weight")
    axes[0].legend(frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def draw_drift(file):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(1)
    b = np.tile(rng.normal(size=8), (16_000, 1))
    b[4000:] = rng.normal(size=8)
    b[8000:] += 0.004 * rng.normal(size=(8000, 8)).cumsum(axis=0)
    X = rng.normal(size=b.shape)
    bank = AveragesBank().update(X, (X * b).sum(axis=1) + rng.normal(size=len(X)))
    figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
    bank.plot(ax)
    figure.savefig(file, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"
    draw_constraints(folder / "constraints.png")
    draw_drift(folder / "drift.png")
