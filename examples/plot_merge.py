"""
Averages that merge and forget a bad day
========================================

Three machines read one part of the stream each. Their merged averages are those of the whole stream. A day
with broken sensors is subtracted afterwards.
"""

import matplotlib.pyplot as plt
import numpy as np

from streamsieve import RunningAverages, extract, simulate

stream = simulate.correlated(6000, p=50, k=5, signal=0.5, block_size=1000)
machines = [RunningAverages(), RunningAverages(), RunningAverages()]
bad_day = RunningAverages()
for i, (X, y) in enumerate(stream):
    machines[i % 3].update(X, y)
    if i == 4:
        broken = np.where(np.arange(50) == stream.support[0], 25.0, X)
        bad_day.update(broken, y)
        machines[1].update(broken, y)

total = machines[0].merge(machines[1]).merge(machines[2])
with_it = extract.ofsa(total, k=5).coef.copy()
without = extract.ofsa(total.subtract(bad_day), k=5).coef

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
at = np.arange(5)
for shift, coef, label in ((-0.2, with_it, "with the bad day"), (0.0, without, "subtracted")):
    ax.bar(at + shift, coef[stream.support], 0.2, label=label)
ax.bar(at + 0.2, stream.coef[stream.support], 0.2, label="truth")
ax.set(xlabel="true feature", ylabel="weight")
ax.set_xticks(at, stream.support)
ax.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))

# %%
# **Take home.** Averages can be added and subtracted. Store them by day or by site, and decide later
# which rows count.
