"""
Drift and half-lives
====================

The coefficients of this stream oscillate. Averages of all rows describe a past that is over; averages with
a half-life follow the changes. If the half-life is too short, noise dominates.
"""

import matplotlib.pyplot as plt
import numpy as np

from streamsieve import OLSthRegressor, simulate

stream = simulate.drifting(20_000, p=40, k=4, T=100, lag=25, rows_per_step=100, block_size=500)
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
for half_life in (None, 1000, 100, 10):
    model, errors = OLSthRegressor(4, half_life=half_life), []
    for X, y in stream:
        if errors or hasattr(model, "method_"):
            errors.append(np.square(model.predict(X) - y).mean() ** 0.5)
        model.partial_fit(X, y)
    label = "everything" if half_life is None else f"half-life {half_life}"
    ax.plot(500 * np.arange(1, len(errors) + 1), errors, label=f"{label}: {np.mean(errors[5:]):.2f}")
ax.axhline(1, color="grey", ls="--", lw=0.8)
ax.set(xlabel="rows", ylabel="RMSE of the next 500 rows", title="The noise is 1")
ax.set_xticks(range(0, 20_001, 5000))
ax.legend(frameon=False, title="mean", loc="upper left", bbox_to_anchor=(1, 1))

# %%
# **Take home.** The half-life should be shorter than the time in which the stream changes, and longer
# than the number of rows that a model needs. `half_life="auto"` adapts it.
