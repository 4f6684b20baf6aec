"""`AveragesBank.plot`."""

from __future__ import annotations

from typing import Any

import numpy as np


def plot_bank(bank: Any, ax: Any) -> Any:
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.subplots(figsize=(7, 3), layout="constrained")[1]
    rows, life, error = bank.trace_.T
    longest = bank.half_lives[np.isfinite(bank.half_lives)].max(initial=1.0)
    ax.step(rows, np.minimum(life, 2 * longest), where="post", color="C0")
    ax.set_yscale("log")
    ax.set_xlabel("rows")
    ax.set_ylabel("half-life (rows)", color="C0")
    beside = ax.twinx()
    beside.plot(rows, error, color="C7", lw=0.8)
    beside.set_ylabel("squared error before learning", color="C7")
    for i, row in enumerate(bank.drift_):
        ax.axvline(row, color="C3", ls="--", lw=1, label="drift" if i == 0 else None)
    if bank.drift_:
        ax.legend(loc="upper left", frameon=False)
    return ax
