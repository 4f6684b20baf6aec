"""The figure of a stabilized fit: `plot` of its estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

_PANELS = (
    ("stable", "stable features", "#0b6e99"),
    ("gravity", "gravity $g_0$", "#d1495b"),
    ("rejection", "rejection rate $\\beta$", "#7f8c9b"),
)


def plot(self: Any, ax: Any = None) -> Any:
    """Draw the stable set, gravity and rejection rate against the stages, and selection probabilities.

    Needs matplotlib (``pip install 'streamsieve[plot]'``).

    Parameters
    ----------
    ax : array of four matplotlib axes or None
        None makes a new figure.

    Returns
    -------
    array of the axes
    """
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(1, 4, figsize=(15, 3.6), layout="constrained")
    axes = np.asarray(ax, dtype=object).ravel()
    if len(axes) != 4:
        raise ValueError(f"ax has {len(axes)} axes; the figure needs 4.")
    history = self.history_
    for each, (name, label, colour) in zip(axes, _PANELS):
        each.plot(history["stage"], history[name], color=colour, lw=1.6)
        each.set_xlabel("stage")
        each.set_ylabel(label)
        each.set_ylim(bottom=0)
    if len(history["stable"]) and history["stable"].max() > 50:
        axes[0].set_yscale("symlog", linthresh=10)
    chosen = self.get_support()
    probability = self.selection_probabilities_[chosen]
    order = np.argsort(-probability, kind="stable")
    axes[3].plot(np.arange(1, len(order) + 1), probability[order], ".", color="#444b55", ms=4)
    axes[3].axhline(self.threshold, color="#d1495b", lw=1, ls="--")
    axes[3].set_ylim(0, 1.03)
    axes[3].set_xlabel("features in the model, by rank")
    axes[3].set_ylabel("selection probability")
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    axes[0].set_title(f"{len(order)} of {self.n_features_in_} features", loc="left", fontsize=11)
    return ax
