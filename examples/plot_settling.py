"""
The support settling along a stream
===================================

Test, then train: every block is predicted before it is learned. On the right, what enters and leaves the
selection as rows come; the fewer, the more settled it is.
"""

from streamsieve import PrequentialDisplay, SFSARegressor, simulate

stream = simulate.correlated(30_000, p=300, k=15, signal=(0.2, 1.0))
PrequentialDisplay.from_estimator(SFSARegressor(15), stream)
