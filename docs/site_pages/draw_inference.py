"""The picture of the guide to inference, naive intervals beside honest ones.

    python docs/site_pages/draw_inference.py

From each of six streams OFSA selects 20 of 200 features, of which 10 have a weight. Drawn are the 95%
intervals of the others, whose weight is 0.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib.figure import Figure

from streamsieve import FoldAverages, extract
from streamsieve.methods import inference

OUT = Path(__file__).parent.parent / "pictures" / "inference.png"
HIT, MISS = "#0b6e99", "#d1495b"


def intervals() -> dict[str, np.ndarray]:
    """Intervals of the features that were selected and have no weight, by how they were made."""
    found: dict[str, list[np.ndarray]] = {"naive": [], "split": []}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 200))
        y = 0.3 * X[:, :10].sum(axis=1) + rng.normal(size=1000)
        folds = FoldAverages(20).update(X, y)
        for name, model in (
            ("naive", extract.ofsa(folds.total(), 20)),
            ("split", inference.split(folds, "ofsa", 20, random_state=seed)),
        ):
            found[name].append(model.conf_int()[model.support[model.support >= 10]])
    return {name: np.concatenate(each) for name, each in found.items()}


def main() -> None:
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    titles = {"naive": "all rows select and estimate", "split": "half selects, the other half estimates"}
    for ax, (name, inside) in zip(figure.subplots(1, 2, sharey=True), intervals().items()):
        low, high = inside[np.argsort(inside.mean(axis=1))].T
        covered = (low <= 0) & (high >= 0)
        at = np.arange(len(low))
        for on, colour in ((covered, HIT), (~covered, MISS)):
            ax.vlines(at[on], low[on], high[on], color=colour, lw=2)
        ax.axhline(0, color="0.3", lw=0.8)
        held = f"{covered.sum()} of {len(at)} intervals hold the truth, 0"
        ax.set_title(f"{titles[name]}:\n{held}", fontsize=10)
        ax.set_xticks([])
        ax.set_xlabel("selected features without weight")
        ax.spines[["top", "right"]].set_visible(False)
        print(f"{name}: {covered.sum()} of {len(at)} cover 0")
    figure.axes[0].set_ylabel("95% interval of the weight")
    figure.savefig(OUT, dpi=110)


if __name__ == "__main__":
    main()
