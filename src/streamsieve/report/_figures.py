"""Figures as SVG text, to stand in a page: drawn by matplotlib, with the page's own fonts."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

INK, QUIET, BLUE, ORANGE, GREEN = "#1b1f24", "#8b949e", "#2563a8", "#c2571a", "#2e7d4f"


def _axes(columns: int, height: float = 3.0) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # no pyplot: no display, and nothing global

    figure = Figure(figsize=(9.2, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(QUIET)
        ax.tick_params(colors=QUIET, labelcolor=INK, labelsize=9)
        ax.grid(True, axis="y", color="#e6e9ec", linewidth=0.8)
        ax.set_axisbelow(True)
    return figure, axes


def _svg(figure: Any, label: str) -> str:
    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "streamsieve", "font.family": "sans-serif"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = re.sub(r"<metadata>.*?</metadata>", "", out.getvalue(), flags=re.DOTALL)
    head = f'<svg role="img" aria-label="{label}" class="figure"'
    return text[text.index("<svg") :].replace("<svg", head, 1)


def criteria(walk: Any, best: dict[str, int], selected: int) -> str:
    """AIC, BIC, EBIC and R^2 against the number of features, as far as they say something."""
    figure, (left, right) = _axes(2)
    most = max(3 * max(best["bic"], best["ebic"], selected, 5), 12)
    shown = walk.k <= min(most, walk.k[-1])
    k = walk.k[shown]
    for name, color in (("aic", QUIET), ("ebic", ORANGE), ("bic", BLUE)):
        values = getattr(walk, name)[shown]
        left.plot(k, values - values.min(), color=color, linewidth=1.8, label=name.upper())
    left.set_yscale("symlog", linthresh=10)
    left.axvline(best["bic"], color=BLUE, linewidth=0.9, linestyle=":")
    left.annotate(
        f"k = {best['bic']}", (best["bic"], 1), xycoords=("data", "axes fraction"), xytext=(4, -10),
        textcoords="offset points", fontsize=9, color=BLUE,
    )  # fmt: skip
    left.set_title("above the lowest of each", fontsize=10, color=INK, loc="left")
    left.legend(frameon=False, fontsize=9)
    rss = np.asarray(walk.rss).reshape(len(walk.k), -1)
    r2 = 1 - (rss / np.where(rss[0] > 0, rss[0], 1.0)).mean(axis=1)
    right.plot(k, r2[shown], color=GREEN, linewidth=1.8)
    right.axvline(selected, color=GREEN, linewidth=0.9, linestyle=":")
    right.annotate(
        f"this model, {selected}", (selected, 0.02), xycoords=("data", "axes fraction"), xytext=(4, 0),
        textcoords="offset points", fontsize=9, color=GREEN,
    )  # fmt: skip
    right.set_title("share of the variance explained, R²", fontsize=10, color=INK, loc="left")
    for ax in (left, right):
        ax.set_xlabel("features", fontsize=9, color=INK)
    return _svg(figure, "AIC, BIC and EBIC, and R squared, against the number of features")


def curve(points: list[dict[str, Any]]) -> str:
    """A test-then-train curve: the measure on the left, the selection on the right."""
    figure, (left, right) = _axes(2)
    rows = np.array([point["rows"] for point in points])
    for name, color in (
        ("recent_rmse", BLUE), ("recent_accuracy", BLUE), ("recent_auc", ORANGE), ("recent_loss", QUIET),
    ):  # fmt: skip
        values = np.array(
            [np.nan if point.get(name) is None else point[name] for point in points], dtype=float
        )
        if np.isfinite(values).any() and not (name == "recent_loss" and "recent_rmse" in points[-1]):
            label = name.removeprefix("recent_")
            label = {"rmse": "RMSE", "auc": "AUC"}.get(label, label)
            left.plot(rows, values, color=color, marker="o", markersize=3.5, linewidth=1.8, label=label)
    left.set_title("predicted before learned, since the point before", fontsize=10, color=INK, loc="left")
    left.legend(frameon=False, fontsize=9)
    right.plot(
        rows, [p["support"] for p in points], color=GREEN, marker="o", markersize=3.5, label="selected"
    )
    changed = [p["entered"] + p["left"] for p in points[1:]]
    if changed:
        right.plot(rows[1:], changed, color=ORANGE, marker="o", markersize=3.5, label="entered or left")
    right.set_ylim(bottom=0)
    right.set_title("features", fontsize=10, color=INK, loc="left")
    right.legend(frameon=False, fontsize=9)
    for ax in (left, right):
        ax.set_xlabel("rows", fontsize=9, color=INK)
        if len(rows) > 2 and rows[-1] > 20 * rows[0]:
            ax.set_xscale("log")
    return _svg(figure, "Measures of the stream predicted before it was learned")
