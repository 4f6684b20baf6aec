"""Draw the pictures of the guides on constraints and drift: `python docs/draw_guides.py [FOLDER]`."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_diabetes

from streamsieve import AveragesBank, RunningAverages
from streamsieve.methods.averages.olasso import OLasso
from streamsieve.statistics.linear_model import as_standardized


def draw_constraints(file):
    import matplotlib.pyplot as plt

    X, y = load_diabetes(return_X_y=True, scaled=False)
    averages = RunningAverages().update(X, y)
    lipids = ("cholesterol", "LDL", "HDL", "cholesterol/HDL", "triglycerides")
    signs = {"positive": [4, 5], "bounds": {6: (None, 0)}}
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
    for ax, constraints in zip(axes, (None, signs)):
        alphas, betas = OLasso().solutions(as_standardized(averages, constraints=constraints))
        weights = np.hstack([beta.toarray() for beta in betas])
        for j, name in enumerate(lipids):
            ax.plot(alphas, weights[4 + j], color=f"C{j}", label=name, lw=1.8)
        ax.set(xscale="log", xlabel="penalty", title="with signs" if constraints else "free")
        ax.invert_xaxis()
    axes[0].set_ylabel("weight")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
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
