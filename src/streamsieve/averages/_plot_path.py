"""The picture of a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .path import Criterion, Path

COLOURS = {"aic": "#7f8c9b", "bic": "#0b6e99", "ebic": "#d1495b"}
GRAPH_POINTS = 80
LABELS = 8


def plot_path(path: Path, ax: Any, criterion: Criterion) -> Any:
    """Draw coefficients and criteria on a pair of axes, or the criteria on one."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    axes = np.atleast_1d(np.asarray(ax, dtype=object))
    if len(axes) > 1:
        _coefficients(path, axes[0], criterion)
    _criteria(path, axes[-1], criterion)
    for each in axes[:2]:
        each.spines[["top", "right"]].set_visible(False)
        each.set_xlabel("features in the model, k")
        if path.k[-1] > 50:
            each.set_xscale("symlog", linthresh=10, linscale=0.5)
            each.set_xlim(path.k[0], path.k[-1])
            ticks = [t for t in (0, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if t <= path.k[-1]]
            each.set_xticks(ticks, [str(t) for t in ticks])
            each.minorticks_off()
    return ax


def _coefficients(path: Path, ax: Any, criterion: Criterion) -> None:
    s, best = path._s, path.best_k(criterion)
    wanted = np.unique(np.round(np.geomspace(1, len(path), GRAPH_POINTS)).astype(int) - 1)
    sizes = np.unique(np.r_[path.k[wanted], best])
    scale = np.where(s.y_scale > 0, s.y_scale, 1.0)
    # Standardised weights, so that features of any unit share one axis; of several targets, the first.
    paths = np.array([np.atleast_2d(path.coef(int(k)))[0] * s.x_scale / scale[0] for k in sizes])
    chosen = path.support(best)
    at_best = paths[int(np.searchsorted(sizes, best))]
    drawn = np.where(paths != 0, paths, np.nan)  # a line begins where its feature enters
    others = np.setdiff1d(np.flatnonzero(paths.any(axis=0)), chosen)
    ax.plot(sizes, drawn[:, others], color="#b3bac5", lw=0.6, alpha=0.5, zorder=1)
    # Near saturation weights run away; the picture is about models up to the chosen one.
    seen = paths[sizes <= max(best, 1)] if len(chosen) else paths
    low, high = min(seen.min(), 0.0), max(seen.max(), 0.0)
    room = 0.12 * ((high - low) or 1.0)
    ax.set_ylim(low - room, high + room)
    if len(chosen):
        import matplotlib as mpl

        ranked = chosen[np.argsort(-at_best[chosen], kind="stable")]
        colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.85, len(chosen)))
        for j, colour in zip(ranked, colours):
            ax.plot(sizes, drawn[:, j], color=colour, lw=1.5, zorder=2)
            enters = int(np.flatnonzero(paths[:, j])[0])
            ax.plot(sizes[enters], paths[enters, j], "o", color=colour, ms=3, zorder=2)
        if len(chosen) <= LABELS:
            _label(ax, s, sizes[-1], paths[-1], ranked, colours)
    ax.axhline(0, color="#444b55", lw=0.6)
    ax.axvline(best, color=COLOURS[criterion], lw=1, ls="--", zorder=3)
    ax.set_ylabel("standardised weight")
    many = "feature" if best == 1 else "features"
    ax.set_title(f"{path.method}: {best} {many} by {criterion.upper()}", loc="left", fontsize=11)


def _label(ax: Any, s: Any, x: float, y: Any, features: Any, colours: Any) -> None:
    """Names at the ends of the lines, pushed apart where they would overlap."""
    low, high = ax.get_ylim()
    gap = 0.05 * (high - low)
    at = high + gap
    for j, colour in sorted(zip(features, colours), key=lambda pair: -y[pair[0]]):
        at = min(at - gap, y[j])
        name = f"x{j}" if s.feature_names is None else str(s.feature_names[j])
        ax.annotate(name, (x, at), xytext=(5, 0), textcoords="offset points", va="center", color=colour,
                    fontsize=8, annotation_clip=False)  # fmt: skip


def _criteria(path: Path, ax: Any, criterion: Criterion) -> None:
    meaningful = path.k <= max(path.n / 2, path.k[0])
    curves = {name: getattr(path, name) - getattr(path, name)[meaningful].min() for name in COLOURS}
    for name, curve in curves.items():
        strong = name == criterion
        ax.plot(path.k[meaningful], curve[meaningful], color=COLOURS[name], lw=2.2 if strong else 1.2,
                label=name.upper(), zorder=3 if strong else 2)  # fmt: skip
    best = path.best_k(criterion)
    ax.plot(best, 0, "o", color=COLOURS[criterion], ms=7, mec="white", mew=1.2, zorder=5, clip_on=False)
    ax.annotate(
        f"k = {best}", (best, 0), xytext=(0, 14), textcoords="offset points", ha="center",
        color=COLOURS[criterion], fontweight="bold", zorder=6,
        bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.85},
    )  # fmt: skip
    top = max(float(np.median(c[meaningful])) for c in curves.values())
    highest = max(float(c[meaningful].max()) for c in curves.values())
    ax.set_ylim(0, min(highest, 4 * top) * 1.15 or 1.0)
    ax.set_ylabel("above the lowest")
    ax.set_title("Criteria", loc="left", fontsize=11)
    ax.legend(frameon=False, loc="upper center", ncols=3)
