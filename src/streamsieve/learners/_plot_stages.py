"""The picture of a stabilized fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .stabilized import StabilizedSGD

_PANELS = (
    ("stable", "stable features", "#0b6e99"),
    ("gravity", "gravity $g_0$", "#d1495b"),
    ("rejection", "rejection rate $\\beta$", "#7f8c9b"),
)


def plot_stages(model: StabilizedSGD, ax: Any) -> Any:
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(1, 4, figsize=(15, 3.6), layout="constrained")
    axes = np.asarray(ax, dtype=object).ravel()
    if len(axes) != 4:
        raise ValueError(f"ax has {len(axes)} axes; the picture needs 4.")
    history = model.history_
    for each, (name, label, colour) in zip(axes, _PANELS):
        each.plot(history["stage"], history[name], color=colour, lw=1.6)
        each.set_xlabel("stage")
        each.set_ylabel(label)
        each.set_ylim(bottom=0)
    if len(history["stable"]) and history["stable"].max() > 50:
        axes[0].set_yscale("symlog", linthresh=10)
    chosen = model.get_support()
    probability = model.selection_probabilities_[chosen]
    order = np.argsort(-probability, kind="stable")
    axes[3].plot(np.arange(1, len(order) + 1), probability[order], ".", color="#444b55", ms=4)
    axes[3].axhline(model.pi, color="#d1495b", lw=1, ls="--")
    axes[3].set_ylim(0, 1.03)
    axes[3].set_xlabel("features in the model, by rank")
    axes[3].set_ylabel("selection probability")
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    axes[0].set_title(f"{len(order)} of {model.n_features_in_} features", loc="left", fontsize=11)
    return ax
