"""
How many true features methods find
===================================

20 of 200 features matter, and any two features have a correlation of 0.5. All methods extract their models
from the same running averages, after 200, 400, ... rows.
"""

import matplotlib.pyplot as plt

from streamsieve import RunningAverages, extract, metrics, simulate

names = ("ofsa", "olsth", "omcp", "oadaptivelasso", "obestsubset", "olasso")
found = {name: [] for name in names}
sizes = (200, 400, 800, 1600, 3200)
stream, averages = simulate.correlated(3200, p=200, k=20, signal=0.3, block_size=200), RunningAverages()
for X, y in stream:
    averages.update(X, y)
    if averages.n_samples_ in sizes:
        for name in names:
            model = getattr(extract, name)(averages, k=20)
            found[name].append(metrics.detection_rate(model.support, stream.support))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, rates in found.items():
    ax.plot(sizes, rates, "o-", label=name)
ax.set(xscale="log", xlabel="rows", ylabel="true features found", ylim=(0, 1.03))
ax.set_xticks(sizes, [str(n) for n in sizes])
ax.minorticks_off()
ax.legend(frameon=False)

# %%
# **Take home.** With correlated features the lasso needs several times as many rows as the other methods
# to find the same features.
