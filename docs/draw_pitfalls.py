"""Draw the pictures of the page on pitfalls from its own blocks: `python docs/draw_pitfalls.py`."""

import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from run_blocks import Runner, blocks  # noqa: E402
from streamsieve.displays.style import BLUE, FAINT, INK, QUIET, RED  # noqa: E402


def bars(ax, values, colours, label, line=None):
    names = list(values)
    ax.barh(names, list(values.values()), color=colours, height=0.55)
    for i, value in enumerate(values.values()):
        ax.annotate(f"{value:.2f}", (value, i), (4, 0), textcoords="offset points", va="center", color=INK)
    if line is not None:
        ax.axvline(line, color=QUIET, lw=1, ls="--")
    ax.invert_yaxis()
    ax.set(xlabel=label, xlim=(0, max(1, *values.values()) * 1.12))


def splitting(ax, found):
    values = {
        "selected on all rows": found["wrong"].mean(),
        "selected inside each fold": found["right"].mean(),
    }
    bars(ax, values, [RED, BLUE], "accuracy; the labels are coin flips", 0.5)


def pvalues(ax, found):
    for y, name, colour in ((1, "naive", RED), (0, "honest", BLUE)):
        p = found[name].pvalue[found[name].support]
        ax.plot(p, np.full(len(p), y), "o", color=colour, alpha=0.8, ms=8)
    ax.axvline(0.05, color=QUIET, lw=1, ls="--")
    ax.set(yticks=[0, 1], yticklabels=["other rows", "same rows"], ylim=(-0.6, 1.6), xlim=(-0.03, 1.03))
    ax.set_xlabel("p-value of selected noise; the line is 0.05")


def copies(ax, found):
    share = found["chosen"]
    ax.bar(range(len(share)), share, color=[RED, RED, *[BLUE] * 8])
    ax.set(xlabel="feature; 0 and 1 are near copies", ylabel="share of samples", xticks=range(len(share)))


def sorted_rows(ax, found):
    bars(ax, found["accuracy"], [BLUE, RED], "accuracy on new rows")


def leakage(ax, found):
    bars(ax, found["scores"], [RED, BLUE], "R² on new rides")


def units(ax, found):
    for y, standardize in ((1, True), (0, False)):
        ax.plot(range(6), [y] * 6, "o", color=FAINT, ms=8, mfc="none")
        support = found["supports"][standardize]
        right = [j in (0, 1) for j in support]
        ax.scatter(support, [y] * len(support), c=[BLUE if r else RED for r in right], s=90, zorder=3)
    ax.set(yticks=[0, 1], yticklabels=["standardize=False", "standardize=True"], ylim=(-0.6, 1.6))
    ax.set_xlabel("feature; 0 and 1 matter most")


def correlated(ax, found):
    X, y = found["states"]["correlated"]
    r = [np.corrcoef(X[:, j], y)[0, 1] for j in range(X.shape[1])]
    ax.bar(range(len(r)), r, color=FAINT)
    ax.plot(found["alone"], [max(r) + 0.08] * 3, "v", color=RED, ms=8, label="one by one")
    ax.plot(found["together"], [max(r) + 0.16] * 3, "v", color=BLUE, ms=8, label="together")
    ax.set(xlabel="feature; 0, 1 and 2 matter", ylabel="correlation", xticks=range(0, len(r), 2))
    ax.set_ylim(0, 1.15)
    ax.legend(frameon=False, loc="upper right", ncols=2)


def size(ax, found):
    ax.plot(found["sizes"], found["inside"], color=FAINT, lw=2, label="training rows")
    ax.plot(found["sizes"], found["outside"], color=BLUE, lw=2, label="new rows")
    ax.axvline(5, color=QUIET, lw=1, ls="--")
    ax.set(xlabel="k; five features matter", ylabel="RMSE")
    ax.legend(frameon=False)


def drift(ax, found):
    for half_life, colour in ((None, RED), ("auto", BLUE)):
        values = found["errors"][half_life]
        ax.plot(
            250 * np.arange(1, len(values) + 1), values, color=colour, lw=2, label=f"half_life={half_life}"
        )
    ax.axvline(3000, color=QUIET, lw=1, ls="--")
    ax.set(xlabel="rows; the line is the change", ylabel="RMSE of the next rows", ylim=(0, None))
    ax.legend(frameon=False)


#: The picture of each section, in the order of the page.
PICTURES = {
    "splitting": splitting, "pvalues": pvalues, "copies": copies, "sorted": sorted_rows, "leakage": leakage,
    "units": units, "correlated": correlated, "k": size, "drift": drift,
}  # fmt: skip


def main() -> None:
    import matplotlib.pyplot as plt

    page = HERE / "guide" / "pitfalls.md"
    plt.rcParams |= {"font.size": 10, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": QUIET}
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder)
        runner.names["states"] = {}
        found = [block for block in blocks(page.read_text(encoding="utf-8")) if block.kind == "python"]
        runner.run(found[0])
        for (name, draw), block in zip(PICTURES.items(), found[1:], strict=True):
            runner.run(block)
            runner.names["states"][name] = runner.names["X"], runner.names["y"]
            figure, ax = plt.subplots(figsize=(5.6, 2.3), layout="constrained")
            ax.spines[["top", "right"]].set_visible(False)
            draw(ax, runner.names)
            figure.savefig(HERE / "pictures" / f"pitfall-{name}.png", dpi=120)
            plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    main()
