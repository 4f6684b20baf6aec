"""Shared by the displays: colours, axes, and the import of matplotlib with a helpful error."""

from __future__ import annotations

from typing import Any

import numpy as np

INK, QUIET, FAINT = "#444b55", "#7f8c9b", "#b3bac5"
BLUE, RED, GREEN = "#0b6e99", "#d1495b", "#2e7d4f"


def axes_for(ax: Any, n: int, size: tuple[float, float]) -> list[Any]:
    """The axes to draw on: `ax`, or `n` axes of a new figure of this size."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("matplotlib is missing; pip install 'streamsieve[plot]'.") from None
        _, ax = plt.subplots(1, n, figsize=size, layout="constrained")
    axes = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    return axes


def title(ax: Any, text: str) -> None:
    ax.set_title(text, loc="left", fontsize=11)
