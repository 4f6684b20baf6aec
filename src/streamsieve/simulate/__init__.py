"""Streams of simulated data whose truth is known: the designs of the papers' experiments.

Each is a stream of blocks ``(X, y)``: any number of rows in constant memory, the same rows for the same seed
whatever the block size.

>>> from streamsieve import simulate
>>> stream = simulate.correlated(2500, p=50, k=5)
>>> [X.shape for X, y in stream]
[(1000, 50), (1000, 50), (500, 50)]
>>> X_test, y_test = stream.take(500, start=stream.n)  # rows the stream itself never yields
"""

from ._correlated import Correlated as correlated
from ._dependent import Dependent as dependent
from ._drifting import Drifting as drifting
from ._pricing import Pricing as pricing
from ._sparse import Sparse as sparse
from .stream import Stream

__all__ = ["Stream", "correlated", "dependent", "drifting", "pricing", "sparse"]
