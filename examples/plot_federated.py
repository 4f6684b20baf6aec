"""
Five hospitals, one model, no shared rows
=========================================

Each hospital computes running averages of its own rows and sends them once. The sum of the averages gives
the model of all rows, or of any group of hospitals. If a hospital leaves, its averages are subtracted.
"""

import matplotlib.pyplot as plt
import numpy as np

from streamsieve import RunningAverages, extract, metrics, simulate

design = {"p": 60, "k": 6, "signal": 0.15}
stream = simulate.correlated(None, **design)
sizes = [120, 100, 100, 80, 70]  # rows of each hospital
starts = np.cumsum([0, *sizes])
sites = [
    RunningAverages().update(*stream.take(n, start=int(at))) for n, at in zip(sizes, starts)
]  # only these averages leave a hospital: 60 x 60 numbers, not a row
X_test, y_test = stream.take(4000, start=10_000)

alone = [metrics.r2(y_test, extract.ofsa(site, k=6).predict(X_test)) for site in sites]
together = []
total = RunningAverages()
for site in sites:
    total = total.merge(site)
    together.append(metrics.r2(y_test, extract.ofsa(total, k=6).predict(X_test)))

pooled = RunningAverages().update(*stream.take(sum(sizes)))
np.testing.assert_allclose(extract.ofsa(total, k=6).coef, extract.ofsa(pooled, k=6).coef)
left = extract.ofsa(total.subtract(sites[0]), k=6)  # the first hospital withdraws
without_first = metrics.r2(y_test, left.predict(X_test))

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
at = np.arange(5)
ax.bar(at, alone, 0.6, color="0.8", label="each hospital alone")
ax.plot(at, together, "o-", label="the first ones together")
ax.axhline(without_first, linestyle="--", color="C1", label="all but the first")
ax.set(xlabel="hospital", ylabel="R² on new rows")
ax.set_xticks(at, [f"{j + 1}: {n} rows" for j, n in enumerate(sizes)])
ax.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1), fontsize=11)

# %%
# **Take home.** Small sites gain most. Together, the hospitals have a model that none of them could fit
# alone, and no row leaves its site.
