"""
When a selection has settled
============================

Every block is predicted before it is learned ("test, then train"). The right panel shows how many features
enter or leave the selection. When this number reaches zero, the selection has settled.
"""

from streamsieve import PrequentialDisplay, SFSARegressor, simulate

stream = simulate.correlated(30_000, p=300, k=15, signal=(0.2, 1.0))
PrequentialDisplay.from_estimator(SFSARegressor(15), stream)

# %%
# **Take home.** A falling error does not mean that the features are final. Stop, or keep the features
# fixed, only when no feature enters or leaves any more.
