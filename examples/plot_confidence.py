"""
A confidence band
=================

Running averages count their rows, so a model from them has standard errors. The band is the 95 % interval
of one weight while the stream is read. The dashed line is the true weight. The errors are conditional on
the selection.
"""

import matplotlib.pyplot as plt
import numpy as np

from streamsieve import RunningAverages, extract, simulate

stream = simulate.correlated(8000, p=60, k=5, signal=0.3, block_size=250)
feature, averages, rows, weights, errors = int(stream.support[0]), RunningAverages(), [], [], []
for X, y in stream:
    averages.update(X, y)
    model = extract.ofsa(averages, k=5)
    if feature in model.support:
        rows.append(averages.n_samples_)
        weights.append(model.coef[feature])
        errors.append(model.stderr[feature])

weights, errors = np.array(weights), np.array(errors)
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
ax.fill_between(rows, weights - 1.96 * errors, weights + 1.96 * errors, alpha=0.25)
ax.plot(rows, weights)
ax.axhline(stream.coef[feature], color="grey", ls="--", lw=0.8)
ax.set(xlabel="rows", ylabel=f"weight of feature {feature}", title="Estimate and its 95% interval")

# %%
# **Take home.** The width of the interval falls with the square root of the number of rows. Read the
# interval at a row count that was fixed in advance. To look after every row, use `inference.anytime`.
