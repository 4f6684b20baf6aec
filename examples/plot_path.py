"""
A solution path
===============

One pass over a stream gives running averages, and these give models of every size. Each line is a feature.
It starts at the size at which the feature enters. Ten features matter, and ten stand out.
"""

from streamsieve import PathDisplay, RunningAverages, path, simulate

averages = RunningAverages()
for X, y in simulate.correlated(4000, p=100, k=10, signal=(0.2, 0.6)):
    averages.update(X, y)

PathDisplay.from_path(path(averages, "olsth"))

# %%
# **Take home.** Look at the path before you fix k. If the criteria have a clear minimum, the size is
# well determined.
