"""
The support settling along a stream
===================================

Test, then train: every block is predicted before it is learned. On the right, the number of features that
enter or leave the selection; when it reaches zero, the selection has settled.
"""

from streamsieve import PrequentialDisplay, SFSARegressor, simulate

stream = simulate.correlated(30_000, p=300, k=15, signal=(0.2, 1.0))
PrequentialDisplay.from_estimator(SFSARegressor(15), stream)

# %%
# **Take home.** A falling error does not mean that the features are final. Stop, or freeze the features,
# when nothing enters or leaves any more.
